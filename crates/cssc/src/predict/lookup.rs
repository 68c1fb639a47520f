//! Values of a series around a time: what is known, and lines (or first guesses) between.
//!
//! ```text
//! channel    ●     ○     ○     ●     ○        known, missing
//! dense      1     2     3     4     -        straight lines between known values
//! holes      0     3     3     0     -        how far the known values around are apart
//! ```
//!
//! Made once for a series, so that a look at any channel and time costs no search.

use crate::data::Series;

/// A look at one channel at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// The value itself, or what stands for it.
    pub(super) value: f64,
    /// How far the known values around are apart; 0 where the value itself is known.
    pub(super) hole: f64,
}

/// All channels of a series without holes inside; beyond their first and last values nothing is known.
#[derive(Clone, Debug)]
pub(super) struct Dense<'a> {
    pub(super) series: &'a Series,
    /// [channels, rows]; NaN beyond the known values.
    values: Vec<f64>,
    holes: Vec<f64>,
}

/// The first row that is not before `time`. Rows mostly come at a steady pace: then it stands where a line says, or
/// beside it, and nothing is searched.
pub(super) fn row_from(series: &Series, time: f64) -> usize {
    let times = series.times();
    if let [first, .., last] = times {
        let part = (time - first) / (last - first);
        let guess = (part * (times.len() - 1) as f64 + 0.5) as usize;
        let first_from = |row: usize| {
            let before = row == 0 || times.get(row - 1).is_some_and(|&t| t < time);
            before && times.get(row).is_some_and(|&t| t >= time)
        };
        if let Some(row) = [guess, guess.saturating_add(1)]
            .into_iter()
            .find(|&row| first_from(row))
        {
            return row;
        }
    }
    times.partition_point(|&t| t < time)
}

impl<'a> Dense<'a> {
    /// Straight lines between the known values.
    pub(super) fn new(series: &'a Series) -> Self {
        let rows = series.len();
        let mut dense = Self {
            series,
            values: vec![f64::NAN; rows * series.channels()],
            holes: vec![f64::INFINITY; rows * series.channels()],
        };
        let times = series.times();
        for channel in 0..series.channels() {
            let values = &mut dense.values[channel * rows..][..rows];
            let holes = &mut dense.holes[channel * rows..][..rows];
            let mut before: Option<usize> = None;
            for row in 0..rows {
                let Some(value) = series.value(row, channel) else {
                    continue;
                };
                (values[row], holes[row]) = (value, 0.0);
                if let Some(start) = before {
                    let hole = times[row] - times[start];
                    for between in start + 1..row {
                        let part = (times[between] - times[start]) / hole;
                        values[between] = (1.0 - part) * values[start] + part * value;
                        holes[between] = hole;
                    }
                }
                before = Some(row);
            }
        }
        dense
    }

    /// One channel at all rows, to be filled with better guesses where it is not known.
    pub(super) fn channels_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_mut(self.series.len().max(1))
    }

    /// What a channel is at `time`, whose row is `row` (see [`row_from`]); `None` where it has no known
    /// value on one of the sides.
    pub(super) fn look(&self, channel: usize, time: f64, row: usize) -> Option<Look> {
        let times = self.series.times();
        let rows = times.len();
        if row >= rows {
            return None;
        }
        let at = channel * rows + row;
        if times[row] == time {
            let value = self.values[at];
            return (!value.is_nan()).then_some(Look {
                value,
                hole: self.holes[at],
            });
        }
        if row == 0 {
            return None;
        }
        let step = times[row] - times[row - 1];
        let part = (time - times[row - 1]) / step;
        let value = (1.0 - part) * self.values[at - 1] + part * self.values[at];
        (!value.is_nan()).then_some(Look {
            value,
            hole: self.holes[at - 1].max(self.holes[at]).max(step),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_that_of_a_search() {
        let steady: Vec<f64> = (0..40).map(|i| 3.0 + 0.1 * f64::from(i)).collect();
        let rough: Vec<f64> = (0..40).map(|i| f64::from(i * i)).collect();
        for times in [steady, rough, vec![2.0], vec![1.0, 4.0]] {
            let series = Series::new(None, 1, times.clone(), vec![0.0; times.len()]).unwrap();
            let beside = times
                .iter()
                .flat_map(|&t| [t, t.next_down(), t.next_up(), t + 0.03]);
            for time in beside.chain([-5.0, 1e9, f64::NEG_INFINITY, f64::INFINITY]) {
                let searched = times.partition_point(|&t| t < time);
                assert_eq!(row_from(&series, time), searched, "{time}");
            }
        }
    }

    #[test]
    fn a_look_is_the_value_itself_or_the_line_between_its_neighbours() {
        let nan = f64::NAN;
        let values = vec![nan, 1.0, nan, nan, 7.0, nan];
        let times = vec![0.0, 1.0, 2.0, 2.5, 4.0, 5.0];
        let series = Series::new(None, 1, times, values).unwrap();
        let dense = Dense::new(&series);
        let at = |time| {
            let look = dense.look(0, time, row_from(&series, time));
            look.map(|look| (look.value, look.hole))
        };
        assert_eq!(at(1.0), Some((1.0, 0.0)));
        assert_eq!(at(2.0), Some((3.0, 3.0)));
        assert!(at(3.0).is_some_and(|(value, hole)| (value - 5.0).abs() < 1e-12 && hole == 3.0));
        assert_eq!([0.5, 4.5, 9.0].map(at), [None; 3]);
    }
}
