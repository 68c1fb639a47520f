//! How many jumps should be folded before one is pinned? Measures `max_fold` on a channel with
//! one hole: the truth is sin t, the prediction is off by a wave of height 0.05 whose phase
//! is new after every jump. Prints the error of the smoothed curve inside the hole (root mean
//! square over the hole and over 200 draws) for several numbers of jumps, first in a hole that
//! grows with them (jumps about 0.25 apart), then in a hole of length 4.
//!
//! ```text
//! cargo run --release -p cssc --no-default-features --example max_fold
//! ```

use cssc::{CompensationOptions, Error, Jets, Path, Side, Sum, compensate};

const DRAWS: u64 = 200;
const JUMPS: [usize; 8] = [1, 2, 5, 10, 20, 40, 80, 160];
const FOLDS: [Option<usize>; 9] = [
    Some(0),
    Some(1),
    Some(2),
    Some(4),
    Some(6),
    Some(8),
    Some(12),
    Some(24),
    None,
];
/// The channel is observed every 0.5 from -2 to the hole's start at 0, and for 2 after its end.
const SPACING: f64 = 0.5;

/// sin t plus a wave of height 0.05 with a phase of its own on each interval.
struct Predicted {
    knots: Vec<f64>,
    phases: Vec<f64>,
}

impl Path for Predicted {
    fn channels(&self) -> usize {
        1
    }

    fn start(&self) -> f64 {
        self.knots[0]
    }

    fn end(&self) -> f64 {
        self.knots[self.knots.len() - 1]
    }

    fn sample_into(&self, times: &[f64], side: Side, into: &mut Jets) -> Result<(), Error> {
        into.reset(times.len());
        for (i, &t) in times.iter().enumerate() {
            let passed = self.knots.partition_point(|&knot| match side {
                Side::Left => knot < t,
                Side::Right => knot <= t,
            });
            let phase = self.phases[passed.saturating_sub(1)];
            let (wave, turned) = (0.05 * (t + phase).sin(), 0.05 * (t + phase).cos());
            into.value[i] = t.sin() + wave;
            into.slope[i] = t.cos() + turned;
            into.curvature[i] = -t.sin() - wave;
        }
        Ok(())
    }
}

/// Uniform numbers in [0, 1) (SplitMix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Mean squared errors inside the hole: of the prediction, then of the smoothed curve for each
/// of `FOLDS`.
fn squared_errors(jumps: usize, width: f64, seed: u64) -> Result<Vec<f64>, Error> {
    let mut state = seed;
    let outside = (0..5).map(|k| SPACING * f64::from(k));
    let mut knots: Vec<f64> = outside.flat_map(|away| [-away, width + away]).collect();
    // One jump in each of equal parts of the hole, at a random place in it.
    let mut place = |k: usize| width * (k as f64 + 0.05 + 0.9 * uniform(&mut state)) / jumps as f64;
    knots.extend((0..jumps).map(&mut place));
    knots.sort_by(f64::total_cmp);
    let phases = knots
        .iter()
        .map(|_| std::f64::consts::TAU * uniform(&mut state))
        .collect();
    let inside = |t: f64| 0.0 < t && t < width;
    let values: Vec<f64> = knots
        .iter()
        .map(|&t| if inside(t) { f64::NAN } else { t.sin() })
        .collect();
    let predicted = Predicted {
        knots: knots.clone(),
        phases,
    };
    let left = predicted.sample(&knots, Side::Left)?;
    let right = predicted.sample(&knots, Side::Right)?;
    let query: Vec<f64> = (0..400)
        .map(|i| width * (f64::from(i) + 0.5) / 400.0)
        .collect();
    let error = |path: &dyn Path| -> Result<f64, Error> {
        let found = path.sample(&query, Side::Right)?.value;
        let squares = found
            .iter()
            .zip(&query)
            .map(|(found, t)| (found - t.sin()).powi(2));
        Ok(squares.sum::<f64>() / query.len() as f64)
    };
    let mut errors = vec![error(&predicted)?];
    for max_fold in FOLDS {
        let options = CompensationOptions {
            max_fold,
            ..CompensationOptions::default()
        };
        let c = compensate(
            &knots,
            1,
            &values,
            left.as_slices(),
            right.as_slices(),
            options,
        )?;
        errors.push(error(&Sum::new(&predicted, c)?)?);
    }
    Ok(errors)
}

/// One table: a row for each number of jumps, in a hole as wide as `width` says.
fn table(title: &str, width: impl Fn(usize) -> f64) -> Result<(), Error> {
    let names = FOLDS.map(|fold| fold.map_or("none".into(), |fold| fold.to_string()));
    println!("{title}\n\n| jumps | prediction | {} |", names.join(" | "));
    println!("|{}", "---|".repeat(FOLDS.len() + 2));
    for jumps in JUMPS {
        let mut sums = vec![0.0; FOLDS.len() + 1];
        for seed in 0..DRAWS {
            let errors = squared_errors(jumps, width(jumps), seed)?;
            sums.iter_mut()
                .zip(errors)
                .for_each(|(sum, error)| *sum += error);
        }
        let cells: Vec<String> = sums
            .iter()
            .map(|sum| format!("{:.4}", (sum / DRAWS as f64).sqrt()))
            .collect();
        println!("| {jumps} | {} |", cells.join(" | "));
    }
    println!();
    Ok(())
}

fn main() -> Result<(), Error> {
    table("Jumps about 0.25 apart, columns max_fold:", |jumps| {
        0.25 * (jumps + 1) as f64
    })?;
    table("A hole of length 4, columns max_fold:", |_| 4.0)
}
