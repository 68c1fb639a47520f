//! What people see while cells are trained: a line now and then, with the time that is left.

use super::schedule::Event;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time between two lines about one cell.
const EVERY: Duration = Duration::from_secs(10);

/// Keeps track of all cells in training.
#[derive(Debug)]
pub struct Progress {
    begun: Instant,
    /// Cells that are wanted, have their result, and had it before.
    counts: (usize, usize, usize),
    cells: BTreeMap<String, Seen>,
}

#[derive(Debug)]
struct Seen {
    begun: Instant,
    first_step: u64,
    told: Instant,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            counts: (0, 0, 0),
            cells: BTreeMap::new(),
        }
    }
}

impl Progress {
    /// A line about an event, if it is time for one.
    pub fn tell(&mut self, event: &Event<'_>) -> Option<String> {
        match event {
            Event::Begin { wanted, done } => {
                self.counts = (*wanted, *done, *done);
                Some(format!("{wanted} results wanted, {done} there."))
            }
            Event::Step { name, standing } => {
                let now = Instant::now();
                let seen = self.cells.entry((*name).to_owned()).or_insert(Seen {
                    begun: now,
                    first_step: standing.step,
                    told: now,
                });
                if now.duration_since(seen.told) < EVERY {
                    return None;
                }
                seen.told = now;
                let made = (standing.step - seen.first_step).max(1) as u32;
                let left = (standing.steps - standing.step) as u32;
                let left = now.duration_since(seen.begun) * left / made;
                Some(format!(
                    "{name}: step {} of {}, rate {}, {} left",
                    standing.step,
                    standing.steps,
                    standing.rate,
                    readable(left)
                ))
            }
            Event::Done { result } => {
                self.counts.1 += 1;
                let (wanted, done, before) = self.counts;
                let each = self.begun.elapsed() / (done - before) as u32;
                // A training that a figure needs is not one of a number that are wanted.
                let standing = match wanted.checked_sub(done) {
                    None => String::new(),
                    Some(0) => format!(" ({done} of {wanted} done)"),
                    Some(left) => {
                        let left = readable(each * left as u32);
                        format!(" ({done} of {wanted} done, about {left} left)")
                    }
                };
                Some(format!(
                    "{} {} {} % seed {}: {:.6} in {}{standing}",
                    result.dataset,
                    result.method,
                    result.observed,
                    result.seed,
                    result.mse_all,
                    readable(Duration::from_secs_f64(result.seconds))
                ))
            }
            Event::Failed { name, error } => Some(format!("{name}: {error}")),
        }
    }
}

fn readable(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
