//! Fills a series: its holes, or the times asked for.

use super::bands::BandCalibration;
use super::bounds::Bounds;
use super::interpolator::{Curve, Interpolator};
use crate::Error;
use crate::data::{Filled, Series};

/// What is asked of a series beside its holes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Asked {
    /// Nothing: missing cells are filled.
    #[default]
    Holes,
    /// Rows added so that no two are further apart than this, counted from the row before.
    Every(f64),
    /// Rows at multiples of this from the first row, and no others.
    Grid(f64),
    /// Rows at these times, increasing.
    At(Vec<f64>),
    /// Rows at these times, increasing, and no others.
    OnlyAt(Vec<f64>),
}

/// Everything needed to fill series.
#[derive(Clone, Debug)]
pub struct Filler {
    /// The interpolator of every channel.
    pub interpolators: Vec<Interpolator>,
    /// Bounds of what is filled in.
    pub limits: Bounds,
    /// What is asked.
    pub asked: Asked,
    /// Longer gaps stay empty.
    pub longest_gap: Option<f64>,
    /// Outside its first and last value a channel is filled with the nearer of them.
    pub extrapolate: bool,
    /// BandCalibration around filled values.
    pub bands: Option<BandCalibration>,
}

/// What is filled in at the times asked for; blocks are [times, channels].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Values within limits, NaN where nothing is filled in.
    pub values: Vec<f64>,
    /// Lower and upper ends of the bands, if they are wanted.
    pub bands: Option<[Vec<f64>; 2]>,
    /// The curves themselves, everywhere.
    pub curve: Curve,
}

impl Asked {
    /// Times of new rows, and the rows that stay (`None`: all).
    #[must_use]
    pub fn rows(&self, series: &Series) -> (Vec<f64>, Option<Vec<usize>>) {
        let times = series.times();
        match self {
            Self::Holes => (Vec::new(), None),
            Self::Every(step) => {
                let between = times
                    .windows(2)
                    .flat_map(|pair| inside(pair[0], pair[1], *step));
                (between.collect(), None)
            }
            Self::Grid(step) => split(series, &grid(times, *step)),
            Self::At(asked) => (split(series, asked).0, None),
            Self::OnlyAt(asked) => split(series, asked),
        }
    }
}

/// Times between two rows, `step` apart; none within half a step of the second.
fn inside(from: f64, to: f64, step: f64) -> impl Iterator<Item = f64> {
    let count = ((to - from) / step - 0.5).ceil().max(1.0) as usize - 1;
    (1..=count).map(move |k| from + k as f64 * step)
}

fn grid(times: &[f64], step: f64) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Vec::new();
    };
    // A thousandth of a step of tolerance, so that rounding does not lose the last row.
    let count = ((last - first) / step + 1e-3).floor() as usize;
    (0..=count).map(|k| first + k as f64 * step).collect()
}

/// Asked times that are no rows yet, and the rows that were asked for.
fn split(series: &Series, asked: &[f64]) -> (Vec<f64>, Option<Vec<usize>>) {
    let times = series.times();
    let row = |time: &f64| times.binary_search_by(|t| t.total_cmp(time));
    let new = asked.iter().filter(|time| row(time).is_err());
    let kept = asked.iter().filter_map(|time| row(time).ok());
    (new.copied().collect(), Some(kept.collect()))
}

impl Filler {
    /// Fills a series.
    ///
    /// # Errors
    /// If the series does not fit an interpolator.
    pub fn fill(&self, series: &Series) -> Result<Filled, Error> {
        let channels = series.channels();
        let (new_times, kept) = self.asked.rows(series);
        let holes: Vec<usize> = (0..series.len())
            .filter(|&row| series.row(row).iter().any(|value| value.is_nan()))
            .collect();
        let mut query: Vec<f64> = holes.iter().map(|&row| series.times()[row]).collect();
        query.extend_from_slice(&new_times);
        query.sort_by(f64::total_cmp);
        let Answer { values, bands, .. } = self.at(series, &query)?;
        let mut filled = Filled {
            values: series.values().to_vec(),
            new_values: vec![f64::NAN; new_times.len() * channels],
            new_times,
            kept,
            ..Filled::default()
        };
        let empty = |rows: usize| [(); 2].map(|()| vec![f64::NAN; rows * channels]);
        if bands.is_some() {
            filled.bands = Some(empty(series.len()));
            filled.new_bands = Some(empty(filled.new_times.len()));
        }
        // Where row `row` of the series, or of the new rows, is found among the answers.
        let place = |time: f64| query.partition_point(|&t| t < time) * channels;
        let cells = |row: usize| row * channels..(row + 1) * channels;
        for &row in &holes {
            let from = place(series.times()[row]);
            for channel in 0..channels {
                let at = row * channels + channel;
                if !series.values()[at].is_nan() {
                    continue;
                }
                filled.values[at] = values[from + channel];
                if let (Some(to), Some(bands)) = (&mut filled.bands, &bands) {
                    (0..2).for_each(|end| to[end][at] = bands[end][from + channel]);
                }
            }
        }
        for row in 0..filled.new_times.len() {
            let from = place(filled.new_times[row]);
            filled.new_values[cells(row)].copy_from_slice(&values[from..from + channels]);
            if let (Some(to), Some(bands)) = (&mut filled.new_bands, &bands) {
                for end in 0..2 {
                    to[end][cells(row)].copy_from_slice(&bands[end][from..from + channels]);
                }
            }
        }
        Ok(filled)
    }

    /// Values and bands at increasing times, as they are filled in.
    ///
    /// # Errors
    /// If the series does not fit an interpolator.
    pub fn at(&self, series: &Series, times: &[f64]) -> Result<Answer, Error> {
        let channels = series.channels();
        if times.is_empty() {
            return Ok(Answer {
                bands: self.bands.as_ref().map(|_| Default::default()),
                ..Answer::default()
            });
        }
        let curve = self.curve(series, times)?;
        let mut values = curve.values.clone();
        let mut bands = match &self.bands {
            None => None,
            Some(bands) => {
                let std_devs = super::interpolator::predictive_std_devs(series, times)?;
                let end = |sign: f64| {
                    let ends = values.iter().zip(&std_devs).enumerate();
                    let ends = ends.map(|(at, (value, std_dev))| {
                        let channel = at % channels;
                        let end = value + sign * bands.factors[channel] * std_dev;
                        self.limits.clamp(channel, end)
                    });
                    ends.collect::<Vec<f64>>()
                };
                Some([end(-1.0), end(1.0)])
            }
        };
        for channel in 0..channels {
            let (knots, known) = series.observed(channel);
            for (row, &time) in times.iter().enumerate() {
                let at = row * channels + channel;
                values[at] = self.cell(channel, &knots, &known, time, values[at]);
                if values[at].is_nan() {
                    bands
                        .iter_mut()
                        .flatten()
                        .for_each(|end| end[at] = f64::NAN);
                }
            }
        }
        Ok(Answer {
            values,
            bands,
            curve,
        })
    }

    /// The curves of the channels, each by its own interpolator.
    fn curve(&self, series: &Series, times: &[f64]) -> Result<Curve, Error> {
        let channels = series.channels();
        let size = times.len() * channels;
        let mut merged = Curve {
            values: vec![f64::NAN; size],
            ..Curve::default()
        };
        let mut done: Vec<bool> = vec![false; channels];
        for first in 0..channels {
            if done[first] {
                continue;
            }
            let method = self.interpolators[first].method();
            let curve = self.interpolators[first].curve(series, times)?;
            for channel in first..channels {
                if self.interpolators[channel].method() != method {
                    continue;
                }
                done[channel] = true;
                let copy = |to: &mut Vec<f64>, from: &[f64]| {
                    let rows = to.iter_mut().zip(from).skip(channel).step_by(channels);
                    rows.for_each(|(to, from)| *to = *from);
                };
                copy(&mut merged.values, &curve.values);
                let parts = [
                    (&mut merged.predicted, &curve.predicted),
                    (&mut merged.compensation, &curve.compensation),
                ];
                for (to, from) in parts {
                    if let Some(from) = from {
                        copy(to.get_or_insert_with(|| vec![f64::NAN; size]), from);
                    }
                }
            }
        }
        Ok(merged)
    }

    /// What is filled in at one time of one channel.
    fn cell(&self, channel: usize, knots: &[f64], known: &[f64], time: f64, value: f64) -> f64 {
        let after = knots.partition_point(|&knot| knot < time);
        if knots.get(after) == Some(&time) {
            return known[after];
        }
        if after == 0 || after == knots.len() {
            let nearest = if after == 0 {
                known.first()
            } else {
                known.last()
            };
            let nearest = nearest.copied().unwrap_or(f64::NAN);
            return if self.extrapolate { nearest } else { f64::NAN };
        }
        let gap = knots[after] - knots[after - 1];
        // A thousandth of tolerance: a gap of six hours is to pass `6h`.
        if self
            .longest_gap
            .is_some_and(|longest| gap > longest * 1.001)
        {
            return f64::NAN;
        }
        self.limits.apply(channel, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplineKind;

    const NAN: f64 = f64::NAN;

    fn filler(channels: usize) -> Filler {
        Filler {
            interpolators: vec![Interpolator::Plain(SplineKind::Linear); channels],
            limits: Bounds::none(channels),
            asked: Asked::Holes,
            longest_gap: None,
            extrapolate: false,
            bands: None,
        }
    }

    /// One channel: missing, 0, missing, 2, missing x 3, 10, missing at times 0..8.
    fn series() -> Series {
        let values = vec![NAN, 0.0, NAN, 2.0, NAN, NAN, NAN, 10.0, NAN];
        Series::new(None, 1, (0..9).map(f64::from).collect(), values).unwrap()
    }

    /// Equal, where NaN equals NaN.
    fn same(found: &[f64], wanted: &[f64]) {
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"));
    }

    #[test]
    fn holes_inside_are_filled_and_the_outside_stays_empty() {
        let filled = filler(1).fill(&series()).unwrap();
        same(
            &filled.values,
            &[NAN, 0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, NAN],
        );
        assert!(filled.new_times.is_empty() && filled.kept.is_none());
    }

    #[test]
    fn long_gaps_stay_empty_and_the_outside_is_filled_on_request() {
        let mut filler = filler(1);
        filler.longest_gap = Some(2.0);
        filler.extrapolate = true;
        let filled = filler.fill(&series()).unwrap();
        same(
            &filled.values,
            &[0.0, 0.0, 1.0, 2.0, NAN, NAN, NAN, 10.0, 10.0],
        );
    }

    #[test]
    fn rows_are_added_in_gaps_counted_from_the_row_before() {
        let series = Series::new(None, 1, vec![0.0, 1.0, 4.6, 5.0], vec![0.0, 1.0, 4.6, 5.0]);
        let mut filler = filler(1);
        filler.asked = Asked::Every(1.0);
        let filled = filler.fill(&series.unwrap()).unwrap();
        assert_eq!(filled.new_times, [2.0, 3.0, 4.0]);
        for (value, wanted) in filled.new_values.iter().zip([2.0, 3.0, 4.0]) {
            assert!((value - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn a_grid_keeps_only_its_rows() {
        let series = Series::new(None, 1, vec![0.0, 1.5, 2.0, 3.0], vec![0.0, 1.5, 2.0, 3.0]);
        let mut filler = filler(1);
        filler.asked = Asked::Grid(1.0);
        let filled = filler.fill(&series.unwrap()).unwrap();
        assert_eq!(filled.new_times, [1.0]);
        assert_eq!(filled.kept, Some(vec![0, 2, 3]));
    }

    #[test]
    fn times_asked_for_get_rows_even_where_there_is_nothing_to_say() {
        let mut filler = filler(1);
        filler.asked = Asked::OnlyAt(vec![-1.0, 2.5, 3.0]);
        let filled = filler.fill(&series()).unwrap();
        assert_eq!(filled.new_times, [-1.0, 2.5]);
        same(&filled.new_values, &[NAN, 1.5]);
        assert_eq!(filled.kept, Some(vec![3]));
    }
}
