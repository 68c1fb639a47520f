//! Values of a series around a time, as straight lines between what is known.

use crate::data::Series;

/// Rows that are looked at on either side for a known value; beyond them nothing is known. It bounds
/// the time of a look at a channel with long holes, and what is that far away says little.
const FAR: usize = 256;

/// A look at one channel at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// The value on the straight line between the known ones around.
    pub(super) value: f64,
    /// How far these are apart; 0 where the value itself is known.
    pub(super) hole: f64,
}

/// The first row that is not before `time`.
pub(super) fn row_from(series: &Series, time: f64) -> usize {
    series.times().partition_point(|&t| t < time)
}

/// What a channel is at `time`, whose row is `row` (see [`row_from`]); `None` where it has no known
/// value on one of the sides.
pub(super) fn look(series: &Series, channel: usize, time: f64, row: usize) -> Option<Look> {
    let times = series.times();
    let known = |row: &usize| series.value(*row, channel).is_some();
    let after = (row..times.len().min(row + FAR)).find(known)?;
    let at = |row: usize| series.row(row)[channel];
    if times[after] == time {
        return Some(Look {
            value: at(after),
            hole: 0.0,
        });
    }
    let before = (row.saturating_sub(FAR)..row).rev().find(known)?;
    let hole = times[after] - times[before];
    let part = (time - times[before]) / hole;
    Some(Look {
        value: (1.0 - part) * at(before) + part * at(after),
        hole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_the_value_itself_or_the_line_between_its_neighbours() {
        let nan = f64::NAN;
        let values = vec![nan, 1.0, nan, nan, 7.0, nan];
        let times = vec![0.0, 1.0, 2.0, 2.5, 4.0, 5.0];
        let series = Series::new(None, 1, times, values).unwrap();
        let at = |time| {
            look(&series, 0, time, row_from(&series, time)).map(|look| (look.value, look.hole))
        };
        assert_eq!(at(1.0), Some((1.0, 0.0)));
        assert_eq!(at(2.0), Some((3.0, 3.0)));
        assert!(at(3.0).is_some_and(|(value, hole)| (value - 5.0).abs() < 1e-12 && hole == 3.0));
        assert_eq!([0.5, 4.5, 9.0].map(at), [None; 3]);
    }
}
