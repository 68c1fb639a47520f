//! Predictions that know more than the near past and future: the season and the other channels.
//!
//! On real tables most of what is missing can be known from elsewhere: the same hour yesterday, the other
//! sensors. For a missing value at t in a gap from t_p to t_n, the *departure from the chord* of
//! any function y known around the gap is y(t) - (1-W) y(t_p) - W y(t_n), W = (t - t_p)/(t_n - t_p). The departure
//! of the channel itself is regressed on those of everything else, on values that were hidden in the
//! pattern of the gaps (method notes, section 12). Then
//!
//! ```text
//! value = chord + regression          o brings the shape, c brings it through the known values
//! ```
//!
//! | file | |
//! |---|---|
//! | `lookup` | channels without holes: lines, or first guesses, between known values |
//! | `piece` | the stretch between two known values, and departures from its chord |
//! | `covariance`, `kriging` | how a channel varies over time, and the best linear guess from the values around |
//! | `period`, `profile` | periods of calendar and data, and the mean course over one |
//! | `columns` | which channels move together, and the factors they share |
//! | `joint` | what all other channels together lead to expect |
//! | `memory` | what several methods find in the same data, found once |
//! | `design` | the features |
//! | `levels` | more of them, for trees |
//! | `ridge` | least squares with a penalty, chosen by cross-validation |
//! | `trees` | boosted regression trees |
//! | `regression` | learns, and predicts |
//! | `level` | what a channel is where nothing of its own is looked at |
//! | `compensated` | that as the prediction of a compensation |
//! | `edge` | the same beyond the first and the last known value |
//! | `stations` | series that share their times, side by side |

mod columns;
mod compensated;
mod covariance;
mod design;
mod edge;
mod joint;
mod kriging;
mod level;
mod levels;
mod lookup;
mod memory;
mod period;
mod piece;
mod profile;
mod regression;
mod stations;
mod trees;

use crate::Error;
use crate::data::{Dataset, Series};

pub use compensated::{Compensated, Residuals};
pub use edge::predict_edges;
pub use kriging::Kriging;
use memory::Key;
pub use memory::Memory;
pub use regression::{Learner, Regression};

/// A series as all data there are.
fn alone(series: &Series) -> Result<Dataset, Error> {
    let names = (0..series.channels()).map(|channel| channel.to_string());
    Dataset::new(names.collect(), vec![series.clone()])
}

/// What a regression may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// The values around the gap.
    pub own: bool,
    /// The same channel at other times of the same phase.
    pub season: bool,
    /// The other channels.
    pub others: bool,
    /// Factors that many channels share.
    pub factors: bool,
}

/// What is known about the data beside their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictOptions {
    /// Times are seconds of dates: day, week and year are tried as periods.
    pub seconds: bool,
    /// Periods in the unit of the times. Default: those of the calendar, and what the data show.
    pub periods: Vec<f64>,
    /// Whether rows that are missing are to be filled as well as cells. Default false: gaps of missing rows
    /// teach nothing where there are others.
    pub absent_rows: bool,
    /// Seed of what is hidden to learn from.
    pub seed: u64,
    /// What methods made with clones of these options find once for all of them.
    pub memory: Memory,
}

impl PredictOptions {
    /// The periods that data with this `usual` distance of rows may have: those given, or of the calendar and what the
    /// data show.
    #[must_use]
    pub fn periods_of(&self, data: &Dataset, usual: f64) -> Vec<f64> {
        let given: Vec<u64> = self.periods.iter().map(|one| one.to_bits()).collect();
        let key = Key::of(data).with(&(usual.to_bits(), self.seconds, given));
        let find = || period::periods(data, usual, self.seconds, &self.periods);
        self.memory.periods.find(key, find)
    }
}
