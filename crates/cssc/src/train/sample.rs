//! What a model sees of a series, and what it is asked.

use crate::data::{Random, Series};
use serde::{Deserialize, Serialize};

/// How many points of a series are shown in training; the first and the last always are.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// This part of the points, between 0 and 1.
    Fraction(f64),
    /// So many points.
    Count(usize),
}

impl Observation {
    fn count(self, points: usize) -> usize {
        let wanted = match self {
            Self::Fraction(part) => (part * points as f64).round() as usize,
            Self::Count(count) => count,
        };
        wanted.clamp(2.min(points), points)
    }
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
    /// Which query times are shown.
    pub shown: Vec<bool>,
}

impl Sample {
    /// Shows the points `indices` (increasing) of `series` and asks for all of its points.
    #[must_use]
    pub fn new(series: &Series, indices: &[usize]) -> Self {
        let mut shown = vec![false; series.len()];
        indices.iter().for_each(|&i| shown[i] = true);
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

    /// Shows randomly chosen points.
    #[must_use]
    pub fn draw(series: &Series, observation: Observation, random: &mut Random) -> Self {
        let points = series.len();
        let count = observation.count(points);
        if points < 3 {
            return Self::new(series, &(0..points).collect::<Vec<_>>());
        }
        Self::new(series, &random.observed_points(points, count))
    }
}
