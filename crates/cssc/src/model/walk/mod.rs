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
use crate::ode::{Item, Schedule, Stepping};

/// The steps of a batch. In training they end at the times asked (`stop_at_query`), for a curve they
/// do not look at them.
pub(crate) fn schedule(series: &[Observed<'_>], longest: f64, stop_at_query: bool) -> Schedule {
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
    Schedule::new(&items, stepping)
}

/// The series of each row.
pub(crate) fn order(schedule: &Schedule) -> Vec<usize> {
    schedule.rows.iter().map(|row| row.item).collect()
}
