//! A long series in parts, each filled with the rows around it in sight.
//!
//! ```text
//! series   ├──────────────────────────────────────────────────────────┤
//! part                     ├────────────┤                               is filled
//! in sight         ● ●├────┴────────────┴────┤     ●●
//!                  ▲        margins                ▲
//!                  the nearest known values of a channel that has few of them in the margin
//! ```
//!
//! What decides about a gap is near it: the moments of a spline fade by a factor of 0.27 from knot to knot, a
//! smoothing spline and a model look back a few hundred rows, a season a few periods. So the memory and the work for
//! a part do not grow with the series, and parts can be filled at the same time. A series that is not long is one part.

use super::filler::Answer;
use crate::Error;
use crate::data::{Filled, Series};
use std::borrow::Cow;
use std::ops::Range;

/// Series of at most so many rows are filled whole.
const LONG: usize = 500_000;
/// Most rows of a part, and fewest where there are many channels; between them as many as make so many cells.
const MOST_ROWS: usize = 200_000;
const FEWEST_ROWS: usize = 25_000;
const CELLS: usize = 1_000_000;
/// A margin has this part of the rows of a part: with 200,000 rows of a minute it is five weeks.
const MARGIN: usize = 4;
/// Known values of every channel in sight on either side, wherever they are.
const KNOWN: usize = 64;
/// Parts that are filled at the same time, the channels of each in parallel; their number is fixed, so that memory is too.
pub(super) const PARTS_AT_ONCE: usize = 2;

/// Rows to be filled, and the new rows between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    rows: Range<usize>,
    /// Numbers of the new rows.
    new: Range<usize>,
    margin: usize,
}

impl Part {
    /// All parts of a series that gets rows at `new_times`.
    pub(super) fn all(series: &Series, new_times: &[f64]) -> Vec<Self> {
        let rows = match series.len() <= LONG {
            true => series.len().max(1),
            false => (CELLS / series.channels().max(1)).clamp(FEWEST_ROWS, MOST_ROWS),
        };
        Self::of_size(series, new_times, rows)
    }

    /// The same with `rows` rows each.
    pub(super) fn of_size(series: &Series, new_times: &[f64], rows: usize) -> Vec<Self> {
        let times = series.times();
        let part = |start: usize| {
            let end = times.len().min(start + rows);
            let before = |time: f64| new_times.partition_point(|&t| t < time);
            let first = if start == 0 { 0 } else { before(times[start]) };
            let last = times.get(end).map_or(new_times.len(), |&time| before(time));
            Self {
                rows: start..end,
                new: first..last,
                margin: rows / MARGIN,
            }
        };
        (0..times.len().max(1)).step_by(rows).map(part).collect()
    }

    /// The number of its rows in the series.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Which of the new rows are its own.
    pub(super) fn added(&self) -> Range<usize> {
        self.new.clone()
    }

    /// The rows of the series that are in sight.
    ///
    /// # Errors
    /// Only if a series cannot be rebuilt, which would be a fault of this library.
    pub(super) fn rows<'s>(&self, series: &'s Series) -> Result<Cow<'s, Series>, Error> {
        if self.rows == (0..series.len()) {
            return Ok(Cow::Borrowed(series));
        }
        let start = self.rows.start.saturating_sub(self.margin);
        let end = series.len().min(self.rows.end + self.margin);
        let mut rows: Vec<usize> = (start..end).collect();
        for channel in 0..series.channels() {
            let known = |row: &usize| series.value(*row, channel).is_some();
            let enough = |rows: Range<usize>| rows.into_iter().filter(known).take(KNOWN).count();
            let before = KNOWN - enough(start..self.rows.start);
            let after = KNOWN - enough(self.rows.end..end);
            rows.extend((0..start).rev().filter(known).take(before));
            rows.extend((end..series.len()).filter(known).take(after));
        }
        rows.sort_unstable();
        rows.dedup();
        series.take(&rows).map(Cow::Owned)
    }

    /// The times asked for, increasing: of rows with holes, and of new rows.
    pub(super) fn query(&self, series: &Series, new_times: &[f64]) -> Vec<f64> {
        let holes = self.rows.clone().filter(|&row| has_hole(series, row));
        let mut query: Vec<f64> = holes.map(|row| series.times()[row]).collect();
        query.extend_from_slice(&new_times[self.new.clone()]);
        query.sort_by(f64::total_cmp);
        query
    }

    /// Takes the answers over: `wanted` are the channels that were asked for.
    pub(super) fn copy(
        &self,
        series: &Series,
        wanted: &[usize],
        query: &[f64],
        answer: &Answer,
        filled: &mut Filled,
    ) {
        let channels = series.channels();
        // Where a time is found among the answers.
        let place = |time: f64| query.partition_point(|&t| t < time) * wanted.len();
        for row in self.rows.clone().filter(|&row| has_hole(series, row)) {
            let from = place(series.times()[row]);
            for (column, &channel) in wanted.iter().enumerate() {
                if series.value(row, channel).is_none() {
                    let at = row * channels + channel;
                    answer.copy(from + column, &mut filled.values, &mut filled.bands, at);
                }
            }
        }
        for row in self.new.clone() {
            let from = place(filled.new_times[row]);
            for column in 0..channels {
                let at = row * channels + column;
                let (values, bands) = (&mut filled.new_values, &mut filled.new_bands);
                answer.copy(from + column, values, bands, at);
            }
        }
    }
}

fn has_hole(series: &Series, row: usize) -> bool {
    series.row(row).iter().any(|value| value.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    /// Rows 0..40; the first channel is known everywhere, the second at 3 and 35 only.
    fn series() -> Series {
        let value = |row: u32| {
            [
                f64::from(row),
                if row == 3 || row == 35 { 7.0 } else { NAN },
            ]
        };
        Series::new(
            None,
            2,
            (0..40).map(f64::from).collect(),
            (0..40).flat_map(value).collect(),
        )
        .unwrap()
    }

    #[test]
    fn a_part_sees_its_margins_and_known_values_of_every_channel() {
        let series = series();
        let parts = Part::of_size(&series, &[-1.0, 7.5, 15.5, 50.0], 8);
        let ranges: Vec<_> = parts
            .iter()
            .map(|p| (p.rows.clone(), p.new.clone()))
            .collect();
        assert_eq!(
            ranges,
            [
                (0..8, 0..2),
                (8..16, 2..3),
                (16..24, 3..3),
                (24..32, 3..3),
                (32..40, 3..4)
            ]
        );
        let seen = parts[2].rows(&series).unwrap();
        // The first channel is known at all rows: 64 of them are taken, which is all there are.
        assert_eq!(seen.len(), 40);
        let values: Vec<f64> = (0..40)
            .map(|row| if row % 2 == 0 { 1.0 } else { NAN })
            .collect();
        let thin = Series::new(None, 1, series.times().to_vec(), values).unwrap();
        let seen = parts[2].rows(&thin).unwrap();
        let wanted = [0, 2, 4, 6, 8, 10, 12].into_iter().chain(14..26);
        let wanted: Vec<f64> = wanted
            .chain([26, 28, 30, 32, 34, 36, 38])
            .map(f64::from)
            .collect();
        assert_eq!(seen.times(), wanted);
    }

    #[test]
    fn a_series_that_is_not_long_is_one_part_and_seen_whole() {
        let series = series();
        let parts = Part::all(&series, &[0.5]);
        assert_eq!(parts.len(), 1);
        assert!(matches!(parts[0].rows(&series).unwrap(), Cow::Borrowed(_)));
        let query = parts[0].query(&series, &[0.5]);
        assert_eq!(query.len(), 39);
        assert_eq!(&query[..3], &[0.0, 0.5, 1.0]);
    }
}
