//! Scores of methods on what was hidden, and the choice for every channel.

use super::bounds::Bounds;
use super::hold_out::{Hidden, HoldOut};
use super::interpolator::Interpolator;
use super::method::Method;
use crate::Error;
use crate::data::Dataset;
use crate::data::scale::mean_and_deviation;

/// Errors in units of the channel's standard deviation, so that channels can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Mean squared error: 1 is as good as the mean of the channel.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Values that counted.
    pub count: usize,
}

/// A method on all that was hidden.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodScore {
    /// The method.
    pub method: Method,
    /// Over all channels.
    pub all: Score,
    /// For every channel.
    pub channels: Vec<Score>,
}

/// Methods side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// One row a method, in the order in which they were given.
    pub methods: Vec<MethodScore>,
    /// The method chosen for every channel.
    pub chosen: Vec<Method>,
    /// What the chosen methods reach together.
    pub together: Score,
}

/// Standard deviation of the known values of every channel; 1 where there is none.
#[must_use]
pub fn std_devs(dataset: &Dataset) -> Vec<f64> {
    (0..dataset.channels())
        .map(|channel| mean_and_deviation(dataset, channel).1)
        .collect()
}

/// What an interpolator says of every hidden value, within limits.
///
/// # Errors
/// If the data do not fit the interpolator.
pub fn predict_hidden(
    interpolator: &Interpolator,
    held: &HoldOut,
    limits: &Bounds,
) -> Result<Vec<f64>, Error> {
    let found = held.ask(|series, times| Ok(interpolator.curve(series, times)?.values))?;
    let limited = held.hidden.iter().zip(found);
    Ok(limited
        .map(|(hidden, value)| limits.apply(hidden.channel, value))
        .collect())
}

impl Score {
    /// Of `predicted` for the hidden values that `counts` lets through.
    pub fn new(
        hidden: &[Hidden],
        predicted: &[f64],
        std_devs: &[f64],
        counts: impl Fn(&Hidden) -> bool,
    ) -> Self {
        let mut score = Self::default();
        for (hidden, predicted) in hidden.iter().zip(predicted) {
            if !counts(hidden) {
                continue;
            }
            let error = (predicted - hidden.value) / std_devs[hidden.channel];
            score.mse += error * error;
            score.mae += error.abs();
            score.count += 1;
        }
        let count = score.count.max(1) as f64;
        Self {
            mse: score.mse / count,
            mae: score.mae / count,
            count: score.count,
        }
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
        let count = all.count.max(1) as f64;
        all.mse /= count;
        all.mae /= count;
        all
    }
}

impl MethodScore {
    /// Scores of what a method said.
    #[must_use]
    pub fn new(method: Method, hidden: &[Hidden], predicted: &[f64], std_devs: &[f64]) -> Self {
        let score = |channel| Score::new(hidden, predicted, std_devs, |h| h.channel == channel);
        Self {
            method,
            all: Score::new(hidden, predicted, std_devs, |_| true),
            channels: (0..std_devs.len()).map(score).collect(),
        }
    }
}

/// A method this near to the best is as good: the difference is luck of the draw.
const AS_GOOD: f64 = 1.02;

impl Comparison {
    /// Chooses for every channel the first method whose squared error is within 2 % of the
    /// smallest one, but never one that is worse than straight lines. So give the simpler methods
    /// first. A channel of which nothing was hidden gets the method that is best over all.
    #[must_use]
    pub fn new(methods: Vec<MethodScore>) -> Self {
        let channels = methods.first().map_or(0, |m| m.channels.len());
        let best = |error: &dyn Fn(&MethodScore) -> f64| {
            let finite = methods.iter().map(error).filter(|error| error.is_finite());
            let least = finite.fold(f64::INFINITY, f64::min);
            let linear = methods.iter().find(|m| m.method == Method::Linear);
            let enough = (AS_GOOD * least).min(linear.map_or(f64::INFINITY, error));
            let found = methods.iter().find(|m| error(m) <= enough.max(least));
            found.map_or(Method::Linear, |m| m.method)
        };
        let overall = best(&|m| m.all.mse);
        let choose = |channel: usize| {
            let known = methods.iter().any(|m| m.channels[channel].count > 0);
            if known {
                best(&|m| m.channels[channel].mse)
            } else {
                overall
            }
        };
        let chosen: Vec<Method> = (0..channels).map(choose).collect();
        let scores = chosen.iter().enumerate().filter_map(|(channel, method)| {
            let row = methods.iter().find(|m| m.method == *method)?;
            Some(row.channels[channel])
        });
        let together = Score::pooled(scores);
        Self {
            methods,
            chosen,
            together,
        }
    }

    /// The row of a method.
    #[must_use]
    pub fn method(&self, method: Method) -> Option<&MethodScore> {
        self.methods.iter().find(|row| row.method == method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Series;
    use crate::fill::{HoldOutOptions, Pattern};

    /// A parabola in channel a, a zigzag in channel b.
    fn data() -> Dataset {
        let values = (0..200).flat_map(|k| {
            let t = f64::from(k) * 0.1;
            let zigzag = if k % 20 < 10 { k % 20 } else { 20 - k % 20 };
            [t * t, f64::from(zigzag)]
        });
        let values = values.collect();
        let times = (0..200).map(|k| f64::from(k) * 0.1).collect();
        let series = Series::new(None, 2, times, values).unwrap();
        Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap()
    }

    #[test]
    fn every_channel_gets_the_method_that_finds_its_values_again() {
        let data = data();
        let options = HoldOutOptions {
            pattern: Pattern::Single,
            ..HoldOutOptions::default()
        };
        let held = HoldOut::new(&data, &options).unwrap();
        let std_devs = std_devs(&held.visible);
        let limits = Bounds::none(2);
        let score = |method| {
            let interpolator = Interpolator::plain(method).unwrap();
            let found = predict_hidden(&interpolator, &held, &limits).unwrap();
            assert_eq!(found.len(), held.hidden.len());
            MethodScore::new(method, &held.hidden, &found, &std_devs)
        };
        let methods = [Method::Linear, Method::Natural].map(score);
        let comparison = Comparison::new(methods.to_vec());
        assert_eq!(comparison.chosen, [Method::Natural, Method::Linear]);
        for row in &comparison.methods {
            assert!(comparison.together.mse <= AS_GOOD * row.all.mse);
            assert_eq!(row.all.count, held.hidden.len());
        }
    }

    #[test]
    fn the_simplest_of_the_best_is_chosen_but_never_one_worse_than_straight_lines() {
        let row = |method, mse| {
            let (mae, count) = (0.0, 10);
            let all = Score { mse, mae, count };
            let channels = vec![all];
            MethodScore {
                method,
                all,
                channels,
            }
        };
        let chosen = |errors: [f64; 4]| {
            use Method::{Linear, Makima, Natural, Previous};
            let methods = [Previous, Linear, Makima, Natural];
            let rows = methods.into_iter().zip(errors).map(|(m, e)| row(m, e));
            Comparison::new(rows.collect()).chosen[0]
        };
        assert_eq!(chosen([3.0, 2.0, 1.01, 1.0]), Method::Makima);
        assert_eq!(chosen([3.0, 2.0, 1.03, 1.0]), Method::Natural);
        assert_eq!(chosen([1.01, 1.0, 1.5, 2.0]), Method::Linear);
        assert_eq!(chosen([f64::NAN, 0.0, 0.0, 0.0]), Method::Linear);
        assert_eq!(chosen([f64::NAN; 4]), Method::Linear);
    }
}
