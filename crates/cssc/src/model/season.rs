//! What the calendar explains: waves of the periods of day, week and year, taken off before a network looks.
//!
//! A network sees times from the start of its window only, so it cannot know the hour. For every channel
//!
//! $$ s(t) = \sum_k a_k \sin(2\pi t / P_k) + b_k \cos(2\pi t / P_k), \qquad P_k = P,\, P/2,\, P/3 \dots $$
//!
//! is fitted to what is known, by least squares with a penalty chosen on stretches of time left out. The network
//! learns and predicts x - s, and the curve is ô + s: s has all derivatives, so the curve stays C² and passes
//! through every observation. Where the calendar tells nothing, s is 0.
//!
//! The phase as channels of their own beside the data, known at every row, was tried first: hidden CSSC then had twice
//! the error (DESIGN.md has the numbers).

use super::interpolate::Interpolation;
use crate::Error;
use crate::data::{Dataset, Series};
use crate::numeric::vector::dot;
use crate::ridge::{Moments, cross_validated};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Most waves of a period.
const MOST_WAVES: u32 = 12;
/// A wave is at least so many rows long.
const FEWEST_ROWS: f64 = 4.0;
/// Waves whose lengths differ by less than this part are one.
const SAME: f64 = 0.01;
/// Stretches of time that are left out in turn.
const FOLDS: usize = 8;

/// Waves of every channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Season {
    /// How long each wave is, in the unit of the times.
    pub lengths: Vec<f64>,
    /// Factors of sine and cosine of each wave, channel by channel.
    pub factors: Vec<f64>,
}

impl Season {
    /// The season of `data` whose rows are `usual`ly so far apart, with these periods; none if no channel has one.
    #[must_use]
    pub fn fit(data: &Dataset, periods: &[f64], usual: f64) -> Option<Self> {
        let lengths = lengths(periods, usual);
        if lengths.is_empty() {
            return None;
        }
        let ends = data.series().iter().filter_map(|series| {
            let times = series.times();
            Some((*times.first()?, *times.last()?))
        });
        let (start, end) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| {
            (all.0.min(one.0), all.1.max(one.1))
        });
        let fold = |time: f64| {
            let part = (time - start) / (end - start).max(f64::MIN_POSITIVE);
            ((part * FOLDS as f64) as usize).min(FOLDS - 1)
        };
        let width = 2 * lengths.len();
        let mut season = Self {
            lengths,
            factors: Vec::with_capacity(width * data.channels()),
        };
        let mut waves = vec![0.0; width];
        for channel in 0..data.channels() {
            let mut folds = vec![Moments::new(width); FOLDS];
            for series in data.series() {
                let (times, values) = series.observed(channel);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                for (&time, value) in times.iter().zip(values) {
                    season.waves(time, &mut waves);
                    folds[fold(time)].add(&waves, value - mean);
                }
            }
            let folds: Vec<&Moments> = folds.iter().collect();
            let nothing = vec![vec![0.0; width]; FOLDS + 1];
            let found = cross_validated(&folds, width, &nothing).pop();
            season.factors.extend(found.unwrap_or_default());
        }
        let is_known = season.factors.iter().all(|factor| factor.is_finite());
        let is_some = season.factors.iter().any(|&factor| factor != 0.0);
        (is_known && is_some).then_some(season)
    }

    /// What is wrong with it for so many channels, if anything.
    ///
    /// # Errors
    /// Names what it is, and what it may be.
    pub fn check(&self, channels: usize) -> Result<(), String> {
        let expected = 2 * self.lengths.len() * channels;
        if self.factors.len() != expected {
            return Err(format!(
                "its season has {} factors, and {channels} channels need {expected}",
                self.factors.len()
            ));
        }
        match self.lengths.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
            Some(x) => Err(format!(
                "its season has a wave of length {x}; it must be a positive number"
            )),
            None => match self.factors.iter().find(|x| !x.is_finite()) {
                Some(x) => Err(format!("its season has the factor {x}")),
                None => Ok(()),
            },
        }
    }

    /// Sine and cosine of every wave.
    fn waves(&self, time: f64, waves: &mut [f64]) {
        for (pair, length) in waves.chunks_exact_mut(2).zip(&self.lengths) {
            let (sin, cos) = (TAU * (time / length).fract()).sin_cos();
            pair.copy_from_slice(&[sin, cos]);
        }
    }

    /// A derivative of s at all `times`, added to `values` [times, channels].
    pub(super) fn add_derivative(&self, order: u32, times: &[f64], values: &mut [f64]) {
        let mut waves = vec![0.0; 2 * self.lengths.len()];
        let speeds = self.lengths.iter();
        let speeds: Vec<f64> = speeds.map(|one| (TAU / one).powi(order as i32)).collect();
        let channels = self.factors.len() / waves.len();
        for (&time, row) in times.iter().zip(values.chunks_exact_mut(channels)) {
            self.waves(time, &mut waves);
            for (pair, speed) in waves.chunks_exact_mut(2).zip(&speeds) {
                // The derivative of sine is cosine, that of cosine is -sine.
                let [sin, cos] = [pair[0], pair[1]];
                let turned = match order % 4 {
                    0 => [sin, cos],
                    1 => [cos, -sin],
                    2 => [-sin, -cos],
                    _ => [-cos, sin],
                };
                pair.copy_from_slice(&turned.map(|wave| speed * wave));
            }
            for (sum, factors) in row.iter_mut().zip(self.factors.chunks_exact(waves.len())) {
                *sum += dot(factors, &waves);
            }
        }
    }

    /// The series without its season.
    ///
    /// # Errors
    /// Only if the series cannot be rebuilt, which would be a fault of this library.
    pub fn taken_off(&self, series: &Series) -> Result<Series, Error> {
        let mut season = vec![0.0; series.values().len()];
        self.add_derivative(0, series.times(), &mut season);
        let values = series.values().iter().zip(season).map(|(x, s)| x - s);
        series.with_values(values.collect())
    }

    /// The data without their season.
    ///
    /// # Errors
    /// As [`Season::taken_off`].
    pub fn taken_off_all(&self, data: &Dataset) -> Result<Dataset, Error> {
        let series = data.series().iter().map(|series| self.taken_off(series));
        let names = data.channel_names().to_vec();
        Dataset::new(names, series.collect::<Result<_, _>>()?)
    }

    /// Puts the season back into a curve at `times`.
    pub(super) fn put_back(&self, times: &[f64], curve: &mut Interpolation) {
        let smoothed = &mut curve.smoothed;
        self.add_derivative(0, times, &mut curve.predicted);
        self.add_derivative(0, times, &mut smoothed.value);
        self.add_derivative(1, times, &mut smoothed.slope);
        self.add_derivative(2, times, &mut smoothed.curvature);
    }
}

/// Waves of every period and its parts, each once: the seventh of a week is a day.
fn lengths(periods: &[f64], usual: f64) -> Vec<f64> {
    let mut lengths: Vec<f64> = Vec::new();
    for period in periods {
        let parts = (1..=MOST_WAVES).map(|part| period / f64::from(part));
        for length in parts.take_while(|length| *length >= FEWEST_ROWS * usual) {
            if !lengths.iter().any(|one| (one / length - 1.0).abs() < SAME) {
                lengths.push(length);
            }
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    const DAY: f64 = 86_400.0;

    /// Two channels of 40 days, hourly, with holes: one has a day and a week, the other is noise.
    fn data() -> Dataset {
        let mut random = Random::new(5);
        let times: Vec<f64> = (0..960).map(|k| 1.7e9 + 3600.0 * f64::from(k)).collect();
        let values = times.iter().flat_map(|&time| {
            let day = (TAU * time / DAY).sin() + 0.3 * (2.0 * TAU * time / DAY).cos();
            let week = (TAU * time / (7.0 * DAY)).cos();
            let hole = random.unit() < 0.2;
            let (x, noise) = (5.0 + 2.0 * day + week, random.normal(0.0, 1.0));
            [if hole { f64::NAN } else { x + 0.1 * noise }, noise]
        });
        let series = Series::new(None, 2, times.clone(), values.collect()).unwrap();
        Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap()
    }

    #[test]
    fn day_and_week_are_taken_off_and_noise_is_let_alone() {
        let data = data();
        let season = Season::fit(&data, &[DAY, 7.0 * DAY], 3600.0).unwrap();
        // The day has 6 waves of at least four hours; of the week's 12 one is the day.
        assert_eq!(season.lengths.len(), 17);
        season.check(2).unwrap();
        let [before, after] = [&data, &season.taken_off_all(&data).unwrap()].map(|data| {
            [0, 1].map(|channel| {
                let (_, values) = data.series()[0].observed(channel);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64
            })
        });
        assert!(after[0] < 0.015 && before[0] > 2.0, "{before:?} {after:?}");
        assert!(
            (after[1] / before[1] - 1.0).abs() < 0.03,
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let season = Season {
            lengths: vec![4.0, 7.0],
            factors: vec![1.0, -2.0, 0.5, 0.25, 0.0, 1.0, 3.0, 0.0],
        };
        let at = |order: u32, time: f64| {
            let mut row = [0.0; 2];
            season.add_derivative(order, &[time], &mut row);
            row
        };
        for time in [-3.3, 0.0, 1.7, 250.1] {
            for order in 0..4 {
                let h = 1e-4;
                let (before, after) = (at(order, time - h), at(order, time + h));
                for (channel, found) in at(order + 1, time).into_iter().enumerate() {
                    let slope = (after[channel] - before[channel]) / (2.0 * h);
                    assert!(
                        (found - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                        "{order}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_none_is_none_and_what_is_wrong_is_refused() {
        let noise = data().only(1).unwrap();
        assert_eq!(Season::fit(&noise, &[], 3600.0), None);
        assert_eq!(Season::fit(&noise, &[2.0 * 3600.0], 3600.0), None);
        let season = |length: f64, factor: f64| Season {
            lengths: vec![length],
            factors: vec![factor, 1.0],
        };
        season(4.0, 1.0).check(1).unwrap();
        for (wrong, channels, words) in [
            (season(4.0, 1.0), 2, "has 2 factors, and 2 channels need 4"),
            (season(0.0, 1.0), 1, "wave of length 0"),
            (season(4.0, f64::NAN), 1, "the factor NaN"),
        ] {
            let problem = wrong.check(channels).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
