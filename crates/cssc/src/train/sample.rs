//! What a model sees of a series, and what it is asked.

use crate::data::{Random, Series};
use serde::{Deserialize, Serialize};

/// Which points of a series are shown in training; the first and the last always are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Masking {
    /// This part of the points, between 0 and 1, chosen one by one.
    Fraction(f64),
    /// So many points, chosen one by one.
    Count(usize),
    /// This part of the cells, between 0 and 1: every channel by itself, also the first and
    /// the last point.
    Cells(f64),
    /// All but runs of neighbouring points, as gaps are: runs of lengths drawn from `lengths`
    /// until the part `hidden` of the points is hidden.
    Runs {
        /// The part of the points that is hidden, above 0, below 1.
        hidden: f64,
        /// Lengths of runs, each equally likely.
        lengths: Vec<usize>,
    },
}

impl Masking {
    /// The points shown of `points`, increasing.
    fn draw(&self, points: usize, random: &mut Random) -> Vec<usize> {
        let count = match *self {
            Self::Fraction(part) | Self::Cells(part) => (part * points as f64).round() as usize,
            Self::Count(count) => count,
            Self::Runs {
                hidden,
                ref lengths,
            } => {
                return outside_runs(points, hidden, lengths, random);
            }
        };
        random.observed_points(points, count.clamp(2.min(points), points))
    }
}

/// Points outside runs that are laid at random between the first and the last point.
fn outside_runs(points: usize, hidden: f64, lengths: &[usize], random: &mut Random) -> Vec<usize> {
    let Some(inner) = points.checked_sub(2).filter(|inner| *inner > 0) else {
        return (0..points).collect();
    };
    let wanted = ((hidden * points as f64).round() as usize).clamp(1, inner);
    let mut shown = vec![true; points];
    let mut count = 0;
    while count < wanted {
        let length = lengths[random.below(lengths.len())].clamp(1, inner);
        let start = 1 + random.below(inner - length + 1);
        for place in &mut shown[start..start + length] {
            count += usize::from(*place);
            *place = false;
        }
    }
    (0..points).filter(|&point| shown[point]).collect()
}

/// A series with the observations that are shown and the points that count.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Times of the observations shown.
    pub times: Vec<f64>,
    /// Their values [times, channels]; NaN is missing.
    pub values: Vec<f64>,
    /// Times asked for.
    pub query: Vec<f64>,
    /// True values there [query, channels]; NaN does not count.
    pub targets: Vec<f64>,
    /// Which of the targets are shown [query, channels].
    pub shown: Vec<bool>,
}

impl Sample {
    /// Shows the points `indices` (increasing) of `series` and asks for all of its points.
    #[must_use]
    pub fn new(series: &Series, indices: &[usize]) -> Self {
        let channels = series.channels();
        let mut shown = vec![false; series.len() * channels];
        for &i in indices {
            shown[i * channels..(i + 1) * channels].fill(true);
        }
        Self {
            times: indices.iter().map(|&i| series.times()[i]).collect(),
            values: indices
                .iter()
                .flat_map(|&i| series.row(i))
                .copied()
                .collect(),
            query: series.times().to_vec(),
            targets: series.values().to_vec(),
            shown,
        }
    }

    /// Shows every cell with probability `part`, and all if none would be shown.
    fn draw_cells(series: &Series, part: f64, random: &mut Random) -> Self {
        let channels = series.channels();
        let mut sample = Self::new(series, &[]);
        for (shown, value) in sample.shown.iter_mut().zip(series.values()) {
            *shown = random.unit() < part && !value.is_nan();
        }
        if !sample.shown.contains(&true) {
            return Self::new(series, &(0..series.len()).collect::<Vec<_>>());
        }
        for (row, shown) in sample.shown.chunks(channels).enumerate() {
            if shown.contains(&true) {
                sample.times.push(series.times()[row]);
                let cells = series.row(row).iter().zip(shown);
                let cells = cells.map(|(&value, &shown)| if shown { value } else { f64::NAN });
                sample.values.extend(cells);
            }
        }
        sample
    }

    /// Shows randomly chosen points.
    #[must_use]
    pub fn draw(series: &Series, masking: &Masking, random: &mut Random) -> Self {
        let points = series.len();
        if points < 3 {
            return Self::new(series, &(0..points).collect::<Vec<_>>());
        }
        if let Masking::Cells(part) = masking {
            return Self::draw_cells(series, *part, random);
        }
        Self::new(series, &masking.draw(points, random))
    }

    /// Asks for `count` of the points only, chosen at random.
    #[must_use]
    pub fn asking(mut self, count: usize, random: &mut Random) -> Self {
        let points = self.query.len();
        if count >= points {
            return self;
        }
        let channels = self.targets.len() / points;
        let mut chosen: Vec<usize> = (0..points).collect();
        random.shuffle(&mut chosen);
        chosen.truncate(count);
        chosen.sort_unstable();
        let rows = || {
            chosen
                .iter()
                .map(|&row| row * channels..(row + 1) * channels)
        };
        self.query = chosen.iter().map(|&row| self.query[row]).collect();
        self.targets = rows().flat_map(|row| &self.targets[row]).copied().collect();
        self.shown = rows().flat_map(|row| &self.shown[row]).copied().collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_points_asked_values_and_marks_come_along() {
        let times: Vec<f64> = (0..9).map(f64::from).collect();
        let values: Vec<f64> = (0..18).map(f64::from).collect();
        let series = Series::new(None, 2, times, values).expect("increasing times");
        let whole = Sample::new(&series, &[0, 4, 8]);
        let mut seen = [false; 9];
        for seed in 0..40 {
            let sample = whole.clone().asking(3, &mut Random::new(seed));
            assert_eq!(
                (&sample.times, &sample.values),
                (&whole.times, &whole.values)
            );
            assert_eq!(sample.query.len(), 3);
            assert!(sample.query.is_sorted_by(|a, b| a < b));
            for (i, &time) in sample.query.iter().enumerate() {
                seen[time as usize] = true;
                assert_eq!(sample.targets[2 * i..][..2], [2.0 * time, 2.0 * time + 1.0]);
                assert_eq!(sample.shown[2 * i..][..2], [time % 4.0 == 0.0; 2]);
            }
        }
        assert_eq!(seen, [true; 9]);
        assert_eq!(whole.clone().asking(9, &mut Random::new(0)), whole);
    }
}
