//! Walks of a batch: a flow between stops, an update at knots, and how their states are read.
//!
//! | file | |
//! |---|---|
//! | `record` | the state from step to step and from knot to knot, for any [`SmoothField`](crate::ode::SmoothField) |
//! | `states` | the states of one walk or two, at the times asked and on both sides of the knots |
//! | `knots` | which limits at the knots are computed |

mod knots;
mod record;
mod states;

pub(crate) use knots::{KnotPicks, SidedJets};
pub(crate) use record::{Direction, Manner, Pick, Walk};
pub(crate) use states::States;

use super::network::Observed;
use crate::Error;
use crate::ode::{Item, Schedule, Stepping};

/// Most steps of a batch. Windows of rows as far apart as in training take a few thousand; each step costs
/// some kilobytes of activations.
const MOST_STEPS: f64 = (1 << 18) as f64;

/// The steps of a batch. In training they end at the times asked (`stop_at_query`), for a curve they
/// do not look at them.
///
/// # Errors
/// If there would be more than memory is for: times in another unit than the model was trained with, or
/// a step that makes no sense.
pub(crate) fn schedule(
    series: &[Observed<'_>],
    longest: f64,
    stop_at_query: bool,
) -> Result<Schedule, Error> {
    let length = |s: &Observed<'_>| s.times[s.times.len() - 1] - s.times[0];
    let steps = series.iter().map(length).sum::<f64>() / longest;
    if steps > MOST_STEPS || steps.is_nan() {
        return Err(Error::Setting(format!(
            "the times of the data would take {steps:.2e} steps of the model's length {longest}: they are much \
             further apart than those it was trained on; give times in the unit of the training, or train a \
             model on such data"
        )));
    }
    let items: Vec<Item<'_>> = (series.iter())
        .map(|s| Item {
            knots: s.times,
            query: s.query,
        })
        .collect();
    let stepping = Stepping {
        longest,
        stop_at_query,
    };
    Ok(Schedule::new(&items, stepping))
}

/// The series of each row.
pub(crate) fn order(schedule: &Schedule) -> Vec<usize> {
    schedule.rows.iter().map(|row| row.item).collect()
}
