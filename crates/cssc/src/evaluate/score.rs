//! Errors on what was hidden.

use crate::data::Dataset;
use crate::data::scale::mean_and_deviation;
use serde::{Deserialize, Serialize};

/// Errors in units of the channel's standard deviation, so that channels can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Mean squared error: 1 is as good as the mean of the channel.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Values that counted.
    #[serde(rename = "values")]
    pub count: usize,
}

impl Score {
    /// Of errors in standard deviations.
    #[must_use]
    pub fn new(errors: impl IntoIterator<Item = f64>) -> Self {
        let mut sums = Self::default();
        errors.into_iter().for_each(|error| sums.add(error));
        sums.divided()
    }

    /// Adds an error to sums that are not divided yet.
    pub(super) fn add(&mut self, error: f64) {
        self.mse += error * error;
        self.mae += error.abs();
        self.count += 1;
    }

    /// Of all values that counted in `scores` together.
    #[must_use]
    pub fn pooled(scores: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for score in scores {
            all.mse += score.mse * score.count as f64;
            all.mae += score.mae * score.count as f64;
            all.count += score.count;
        }
        all.divided()
    }

    /// From sums to means.
    pub(super) fn divided(mut self) -> Self {
        let count = self.count.max(1) as f64;
        self.mse /= count;
        self.mae /= count;
        self
    }
}

/// Standard deviation of the known values of every channel; 1 where there is none.
#[must_use]
pub fn std_devs(dataset: &Dataset) -> Vec<f64> {
    (0..dataset.channels())
        .map(|channel| mean_and_deviation(dataset, channel).1)
        .collect()
}

/// The mean in units of its standard error; 0 where there is nothing.
pub(crate) fn sureness(gains: &[f64]) -> f64 {
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
    let sure = mean / (squares / (count * (count - 1.0))).sqrt();
    if sure.is_nan() { 0.0 } else { sure }
}

/// The slope of y on x from (Σxx, Σxy) of every witness, and how many times its standard error it is (the jackknife: one
/// witness after the other is left out). A witness where much happens counts more, but is no reason for doubt if it says the same.
pub(crate) fn slope(witnesses: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let (xx, xy) = witnesses
        .clone()
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if xx <= 0.0 {
        return (0.0, 0.0);
    }
    let used = witnesses.filter(|one| one.0 > 1e-9 * xx);
    let without = |one: (f64, f64)| (xy - one.1) / (xx - one.0).max(1e-9 * xx);
    let others: Vec<f64> = used.map(without).collect();
    let count = others.len() as f64;
    if count < 2.0 {
        return (xy / xx, 0.0);
    }
    let mean = others.iter().sum::<f64>() / count;
    let squares: f64 = others.iter().map(|other| (other - mean).powi(2)).sum();
    let error = (squares * (count - 1.0) / count).sqrt();
    let slope = xy / xx;
    (slope, (slope / error.max(1e-6)).clamp(-1e6, 1e6))
}

/// How many standard errors a gain must be to be followed a little, and as a whole.
const UNSURE: f64 = 0.5;
const SURE: f64 = 2.0;

/// How far to follow a gain that is `sure` times its standard error, 0 to 1, told by so many witnesses. Few of them tell
/// their own scatter badly, as in Student's distribution.
pub(crate) fn believed(sure: f64, witnesses: usize) -> f64 {
    let count = witnesses as f64;
    let needed = SURE * ((count + 3.0) / (count - 1.0)).sqrt();
    ((sure - UNSURE) / (needed - UNSURE)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_means_and_pool_by_their_counts() {
        let two = Score::new([1.0, -3.0]);
        assert_eq!((two.mse, two.mae, two.count), (5.0, 2.0, 2));
        let one = Score::new([2.0]);
        assert_eq!(Score::pooled([two, one]), Score::new([1.0, -3.0, 2.0]));
        assert_eq!(Score::new([]), Score::default());
    }
}
