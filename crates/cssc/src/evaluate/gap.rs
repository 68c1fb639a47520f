//! Stretches in which a channel has no value: cells that are empty, and rows that are not there.

use crate::data::{Dataset, Series};
use serde::Serialize;
#[cfg(feature = "nn")]
use std::collections::BTreeMap;

/// A stretch between two neighbouring values of a channel in which something is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Number of the series.
    pub series: usize,
    /// Number of the channel.
    pub channel: usize,
    /// Time of the value before it.
    pub start: f64,
    /// Time of the value after it.
    pub end: f64,
    /// Cells inside it that are empty; 0 when rows are missing and not cells.
    pub cells: usize,
}

impl Gap {
    /// How long it is, from value to value.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.end - self.start
    }

    /// Whether it is at most `longest` long, if there is such a limit.
    #[must_use]
    pub fn is_within(&self, longest: Option<f64>) -> bool {
        longest.is_none_or(|longest| is_within(self.start, self.end, longest))
    }
}

/// Whether two times are at most `longest` apart, but for the rounding of times: a gap of six hours
/// is to pass `6h`, and one of 0.3 in steps of 0.1.
pub(crate) fn is_within(start: f64, end: f64, longest: f64) -> bool {
    let rounding = 4.0 * f64::EPSILON * start.abs().max(end.abs());
    end - start <= longest * (1.0 + 1e-9) + rounding
}

/// All gaps of a data set, found once for all that needs them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    /// Inside the observed range of every channel, in order of series, channel and time.
    pub all: Vec<Gap>,
    /// Median distance of neighbouring rows over all series; `None` without two rows in any.
    pub typical: Option<f64>,
}

/// What is missing in one channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelGaps {
    /// Name of the channel.
    pub column: String,
    /// Cells without a value, wherever they are.
    pub missing_cells: usize,
    /// Gaps between values.
    pub gaps: usize,
    /// Those of them in which rows are missing and not cells.
    pub missing_rows: usize,
    /// Length of the longest, 0 if there is none.
    pub longest_gap: f64,
}

impl Gaps {
    /// Finds them.
    ///
    /// Rows count as missing where two neighbouring ones are further apart than is usual for the
    /// series: by half when the series is regular, five times when it is not.
    #[must_use]
    pub fn find(dataset: &Dataset) -> Self {
        let mut all = Vec::new();
        for (number, series) in dataset.series().iter().enumerate() {
            let usual = usual_distance(series);
            for channel in 0..series.channels() {
                find_in(series, number, channel, usual, &mut all);
            }
        }
        let mut distances: Vec<f64> = dataset.series().iter().flat_map(distances).collect();
        let typical = quantile(&mut distances, 0.5);
        Self { all, typical }
    }

    /// What is missing in every channel of the data set they were found in.
    #[must_use]
    pub fn by_channel(&self, dataset: &Dataset) -> Vec<ChannelGaps> {
        let rows = dataset.rows();
        let names = dataset.channel_names().iter().enumerate();
        let mut channels: Vec<ChannelGaps> = names
            .map(|(channel, name)| ChannelGaps {
                column: name.clone(),
                missing_cells: rows - dataset.known(channel).count(),
                gaps: 0,
                missing_rows: 0,
                longest_gap: 0.0,
            })
            .collect();
        for gap in &self.all {
            let channel = &mut channels[gap.channel];
            channel.gaps += 1;
            channel.missing_rows += usize::from(gap.cells == 0);
            channel.longest_gap = channel.longest_gap.max(gap.length());
        }
        channels
    }

    /// Gaps of one series that begin and end together, in order of series and time.
    #[cfg(feature = "nn")]
    pub(crate) fn shared(&self) -> Vec<Vec<Gap>> {
        let mut together: BTreeMap<(usize, u64, u64), Vec<Gap>> = BTreeMap::new();
        for &gap in &self.all {
            let key = (gap.series, gap.start.to_bits(), gap.end.to_bits());
            together.entry(key).or_default().push(gap);
        }
        together.into_values().collect()
    }
}

fn find_in(series: &Series, number: usize, channel: usize, usual: f64, gaps: &mut Vec<Gap>) {
    let mut before: Option<(usize, f64)> = None;
    for (row, &time) in series.times().iter().enumerate() {
        if series.value(row, channel).is_none() {
            continue;
        }
        if let Some((last, start)) = before {
            let cells = row - last - 1;
            if cells > 0 || time - start > usual {
                gaps.push(Gap {
                    series: number,
                    channel,
                    start,
                    end: time,
                    cells,
                });
            }
        }
        before = Some((row, time));
    }
}

/// The distance above which neighbouring rows count as a gap.
fn usual_distance(series: &Series) -> f64 {
    let mut distances: Vec<f64> = distances(series).collect();
    let Some(median) = quantile(&mut distances, 0.5) else {
        return f64::INFINITY;
    };
    let most = quantile(&mut distances, 0.9).unwrap_or(median);
    if most <= 1.2 * median {
        1.5 * median
    } else {
        5.0 * median
    }
}

fn distances(series: &Series) -> impl Iterator<Item = f64> + '_ {
    series.times().windows(2).map(|pair| pair[1] - pair[0])
}

/// The value below which this part of the numbers lies; reorders them.
fn quantile(numbers: &mut [f64], part: f64) -> Option<f64> {
    let last = numbers.len().checked_sub(1)?;
    let place = (part * last as f64).round() as usize;
    Some(
        *numbers
            .select_nth_unstable_by(place.min(last), f64::total_cmp)
            .1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(times: Vec<f64>, values: Vec<f64>) -> Dataset {
        let series = Series::new(None, 1, times, values).unwrap();
        Dataset::new(vec!["x".into()], vec![series]).unwrap()
    }

    #[test]
    fn empty_cells_and_missing_rows_are_gaps_and_the_ends_are_not() {
        let nan = f64::NAN;
        let data = dataset(
            vec![0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 10.0, 11.0],
            vec![nan, 1.0, nan, nan, 1.0, 2.0, 3.0, nan],
        );
        let gaps = Gaps::find(&data);
        let found: Vec<_> = gaps.all.iter().map(|g| (g.start, g.end, g.cells)).collect();
        assert_eq!(found, [(1.0, 4.0, 2), (4.0, 9.0, 0)]);
        assert_eq!(gaps.typical, Some(1.0));
        let summary = ChannelGaps {
            column: "x".into(),
            missing_cells: 4,
            gaps: 2,
            missing_rows: 1,
            longest_gap: 5.0,
        };
        assert_eq!(gaps.by_channel(&data), [summary]);
    }

    #[test]
    fn a_gap_is_within_its_own_length_and_not_within_less() {
        let gap = |start, end| Gap {
            series: 0,
            channel: 0,
            start,
            end,
            cells: 1,
        };
        assert!(gap(0.0, 7200.0).is_within(Some(7200.0)));
        assert!(!gap(0.0, 7200.0).is_within(Some(7199.0)));
        assert!(!gap(0.0, 7200.01).is_within(Some(7200.0)));
        assert!(gap(0.1, 0.1 + 0.1 + 0.1 + 0.1).is_within(Some(0.3)));
        let now = 1_700_000_000.0;
        assert!(gap(now + 0.01, now + 0.02).is_within(Some(0.01)));
        assert!(gap(0.0, 9.0).is_within(None));
    }

    /// Distances 1, 2, 4, 2, 1 differ by themselves: only one above 5 x 2 would be a gap.
    #[test]
    fn irregular_times_are_not_gaps() {
        let data = dataset(vec![0.0, 1.0, 3.0, 7.0, 9.0, 10.0], vec![1.0; 6]);
        assert_eq!(Gaps::find(&data).all, []);
    }
}
