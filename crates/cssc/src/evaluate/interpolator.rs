//! The trait of everything that gives curves: plain methods, trained models, yours.

use crate::Error;
use crate::data::{Dataset, Series};
use crate::error::check_length;
use std::fmt::Debug;
use std::sync::Arc;

/// A method with all it needs, ready to give curves.
pub trait Interpolator: Debug + Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// The curves of some `channels` of `series` at increasing `times`.
    ///
    /// Only the channels asked for need to be computed. What is said outside the first and the
    /// last value of a channel does not count: [`curve_within`] leaves it out.
    ///
    /// # Errors
    /// If the series does not fit.
    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error>;

    /// The same method fitted to data, if it learns from all of them at once (a regression, a
    /// seasonal profile) and that takes seconds: before values are judged it is fitted to what is in
    /// sight then, before gaps are filled to everything. `None`: there is nothing to learn.
    ///
    /// # Errors
    /// If the data do not fit.
    fn fitted_to(&self, _data: &Dataset) -> Result<Option<Arc<dyn Interpolator>>, Error> {
        Ok(None)
    }
}

/// Curves at the times asked for; all blocks are [times, channels asked for], NaN where nothing
/// is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The curves.
    pub values: Vec<f64>,
    /// What a model predicts by itself.
    pub predicted: Option<Vec<f64>>,
    /// What was added to it.
    pub compensation: Option<Vec<f64>>,
    /// Standard deviations of new observations there, where the method knows them.
    pub std_devs: Option<Vec<f64>>,
}

impl From<Vec<f64>> for Curve {
    fn from(values: Vec<f64>) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }
}

impl Curve {
    /// Every channel by itself: `column` gets the times and values at which it is observed and
    /// gives the curve at all `times`. A channel that is never observed has no curve.
    ///
    /// # Errors
    /// The first that `column` gives.
    pub fn by_channel(
        series: &Series,
        channels: &[usize],
        times: &[f64],
        column: impl Fn(&[f64], &[f64]) -> Result<Vec<f64>, Error>,
    ) -> Result<Self, Error> {
        let mut values = vec![f64::NAN; times.len() * channels.len()];
        for (place, &channel) in channels.iter().enumerate() {
            let (knots, known) = series.observed(channel);
            if !knots.is_empty() {
                set_column(&mut values, channels.len(), place, &column(&knots, &known)?);
            }
        }
        Ok(values.into())
    }

    /// The same of some of the channels: `places` among those of a block `width` wide.
    #[must_use]
    pub fn columns(&self, width: usize, places: &[usize]) -> Self {
        let pick = |block: &Vec<f64>| {
            let rows = block.chunks(width.max(1));
            rows.flat_map(|row| places.iter().map(|&place| row[place]))
                .collect()
        };
        Self {
            values: pick(&self.values),
            predicted: self.predicted.as_ref().map(pick),
            compensation: self.compensation.as_ref().map(pick),
            std_devs: self.std_devs.as_ref().map(pick),
        }
    }

    /// Takes values and deviations of another curve where this one knows nothing.
    pub(crate) fn complete(&mut self, other: &Self) {
        let size = self.values.len();
        let mut std_devs = self.std_devs.take();
        for at in 0..size {
            if self.values[at].is_nan() && !other.values[at].is_nan() {
                self.values[at] = other.values[at];
                if let Some(told) = &other.std_devs {
                    std_devs.get_or_insert_with(|| vec![f64::NAN; size])[at] = told[at];
                }
            }
        }
        self.std_devs = std_devs;
    }

    /// Adds the curves at later times; a block that only one of them has is unknown in the other.
    pub(crate) fn append(&mut self, later: Self) {
        let (before, more) = (self.values.len(), later.values.len());
        let join = |all: &mut Option<Vec<f64>>, later: Option<Vec<f64>>| {
            if all.is_some() || later.is_some() {
                let all = all.get_or_insert_with(|| vec![f64::NAN; before]);
                all.extend(later.unwrap_or_else(|| vec![f64::NAN; more]));
            }
        };
        self.values.extend(later.values);
        join(&mut self.predicted, later.predicted);
        join(&mut self.compensation, later.compensation);
        join(&mut self.std_devs, later.std_devs);
    }

    fn blocks(&self) -> impl Iterator<Item = &Vec<f64>> {
        let more = [&self.predicted, &self.compensation, &self.std_devs];
        std::iter::once(&self.values).chain(more.into_iter().flatten())
    }

    fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        let more = [
            &mut self.predicted,
            &mut self.compensation,
            &mut self.std_devs,
        ];
        std::iter::once(&mut self.values).chain(more.into_iter().flatten())
    }
}

/// Writes a column of a block that is `width` wide.
pub(crate) fn set_column(block: &mut [f64], width: usize, place: usize, column: &[f64]) {
    let rows = block.iter_mut().skip(place).step_by(width);
    rows.zip(column).for_each(|(to, from)| *to = *from);
}

/// The curves of an interpolator with nothing outside the first and the last value of a channel.
///
/// # Errors
/// Those of the interpolator, and if a block it gives has a wrong size.
pub fn curve_within(
    interpolator: &dyn Interpolator,
    series: &Series,
    channels: &[usize],
    times: &[f64],
) -> Result<Curve, Error> {
    let mut curve = interpolator.curve(series, channels, times)?;
    let size = times.len() * channels.len();
    for block in curve.blocks() {
        check_length("a curve", block.len(), size, "times x channels")?;
    }
    for (place, &channel) in channels.iter().enumerate() {
        let known = |&row: &usize| series.value(row, channel).is_some();
        let first = (0..series.len()).find(known);
        let last = (0..series.len()).rev().find(known);
        let range = match (first, last) {
            (Some(first), Some(last)) => series.times()[first]..=series.times()[last],
            _ => f64::INFINITY..=f64::NEG_INFINITY,
        };
        let outside = times.iter().enumerate();
        for (row, _) in outside.filter(|(_, time)| !range.contains(time)) {
            let at = row * channels.len() + place;
            curve.blocks_mut().for_each(|block| block[at] = f64::NAN);
        }
    }
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives as many ones as it was told, whatever is asked.
    #[derive(Debug)]
    struct Ones(usize);

    impl Interpolator for Ones {
        fn name(&self) -> &str {
            "ones"
        }

        fn curve(&self, _: &Series, _: &[usize], _: &[f64]) -> Result<Curve, Error> {
            Ok(vec![1.0; self.0].into())
        }
    }

    #[test]
    fn the_outside_of_a_channel_is_left_out_and_a_wrong_size_is_an_error() {
        let values = vec![f64::NAN, 1.0, 2.0, 1.0, 3.0, f64::NAN];
        let series = Series::new(None, 2, vec![0.0, 1.0, 2.0], values).unwrap();
        let times = [0.0, 0.5, 1.5];
        let curve = curve_within(&Ones(3), &series, &[0], &times).unwrap();
        assert_eq!(format!("{:?}", curve.values), "[NaN, NaN, 1.0]");
        let curve = curve_within(&Ones(6), &series, &[1, 0], &times).unwrap();
        assert_eq!(
            format!("{:?}", curve.values),
            "[1.0, NaN, 1.0, NaN, NaN, 1.0]"
        );
        let wrong = curve_within(&Ones(4), &series, &[0], &times).unwrap_err();
        assert!(
            wrong.to_string().contains("4 entries, expected 3"),
            "{wrong}"
        );
    }
}
