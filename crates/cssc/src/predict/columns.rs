//! Which channels move together: the ones that help each other in gaps.
//!
//! At rows spread over the data every channel's departure from its own chord over a stretch as long as a
//! usual gap is taken. The correlations of these departures say which channels are worth looking at,
//! and their principal directions are the factors of the low-rank prediction: with loadings Λ, noise ψ
//! and the departures z of the channels that are known at a time,
//!
//! $$ f = (\Lambda_A^T\Lambda_A + \psi I)^{-1}\Lambda_A^T z_A, \qquad z_j = \Lambda_j f. $$

use super::lookup::{Dense, row_from};
use crate::data::Dataset;
use crate::numeric::vector::dot;
use crate::ridge::cholesky_solve;
use rayon::prelude::*;

/// Most rows at which departures are taken, and products that are worth the time.
const MOST_ROWS: usize = 2000;
const MOST_PRODUCTS: usize = 400_000_000;
/// Correlations of fewer pairs than this count half.
const FEW_PAIRS: f64 = 20.0;
/// Most channels that a channel is regressed on, and that tell its factors.
const MOST_OTHERS: usize = 12;
const MOST_LOADED: usize = 40;
/// A channel that correlates less is not looked at.
const LEAST_CORRELATION: f64 = 0.05;
/// Fewest channels that have factors, and most factors.
const FEWEST_CHANNELS: usize = 6;
const MOST_FACTORS: usize = 8;
/// Departures beyond so many standard deviations count as that many.
const CLIP: f64 = 4.0;

/// For every channel, what it moves together with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    /// Others by the strength of their correlation, at most twelve.
    pub(super) others: Vec<Vec<usize>>,
    pub(super) factors: Option<Factors>,
}

/// Factors shared by the channels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factors {
    count: usize,
    /// [channels, count].
    loadings: Vec<f64>,
    /// Standard deviations of departures.
    scales: Vec<f64>,
    noise: f64,
    /// For every channel the others that tell its factors.
    pub(super) loaded: Vec<Vec<usize>>,
}

impl Columns {
    /// Of data whose gaps are usually `length` long.
    pub(super) fn new(data: &Dataset, length: f64, low_rank: bool) -> Self {
        let channels = data.channels();
        if channels < 2 {
            return Self {
                others: vec![Vec::new(); channels],
                factors: None,
            };
        }
        let (departures, scales) = departures(data, 0.5 * length);
        let correlations: Vec<Vec<f64>> = (0..channels)
            .into_par_iter()
            .map(|j| {
                (0..channels)
                    .map(|k| correlation(&departures, j, k))
                    .collect()
            })
            .collect();
        let nearest = |j: usize, most: usize| {
            let size = |k: &usize| correlations[j][*k].abs();
            let mut others: Vec<usize> = (0..channels)
                .filter(|&k| k != j && size(&k) > LEAST_CORRELATION)
                .collect();
            others.sort_by(|a, b| size(b).total_cmp(&size(a)));
            others.truncate(most);
            others
        };
        let by_channel = |most: usize| (0..channels).map(|j| nearest(j, most)).collect();
        let factors = (low_rank && channels >= FEWEST_CHANNELS)
            .then(|| Factors::new(&correlations, scales, by_channel(MOST_LOADED)));
        Self {
            others: by_channel(MOST_OTHERS),
            factors: factors.filter(|factors| factors.count > 0),
        }
    }
}

/// Departures of all channels at rows spread over the data in units of their standard deviations, one
/// list a channel (NaN where one is not known), and these.
fn departures(data: &Dataset, half: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let channels = data.channels();
    let rows = data.rows();
    let most = (MOST_PRODUCTS / (channels * channels)).clamp(64, MOST_ROWS);
    let every = rows.div_ceil(most).max(1);
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); channels];
    let all: Vec<Dense<'_>> = data.series().iter().map(Dense::new).collect();
    let all = all.iter();
    let all = all.flat_map(|dense| (0..dense.series.len()).map(move |row| (dense, row)));
    for (dense, row) in all.step_by(every) {
        let series = dense.series;
        let time = series.times()[row];
        let ends = [time - half, time + half].map(|end| (end, row_from(series, end)));
        for (channel, found) in found.iter_mut().enumerate() {
            let [start, end] = ends.map(|(time, row)| dense.look(channel, time, row));
            let departure = match (series.value(row, channel), start, end) {
                (Some(value), Some(start), Some(end)) => value - 0.5 * (start.value + end.value),
                _ => f64::NAN,
            };
            found.push(departure);
        }
    }
    let scales: Vec<f64> = found.iter_mut().map(|column| scale(column)).collect();
    (found, scales)
}

/// Divides by the standard deviation, clips, and gives it.
fn scale(column: &mut [f64]) -> f64 {
    let known = column.iter().filter(|value| !value.is_nan());
    let count = known.clone().count().max(1) as f64;
    let squares: f64 = known.map(|value| value * value).sum();
    let scale = (squares / count).sqrt();
    if scale > 0.0 {
        let divide = |value: &mut f64| *value = (*value / scale).clamp(-CLIP, CLIP);
        column.iter_mut().for_each(divide);
    }
    scale
}

/// Of two channels over the rows at which both are known, smaller where these are few.
fn correlation(departures: &[Vec<f64>], j: usize, k: usize) -> f64 {
    let (mut both, mut left, mut right, mut count) = (0.0, 0.0, 0.0, 0.0);
    for (a, b) in departures[j].iter().zip(&departures[k]) {
        if !(a * b).is_nan() {
            both += a * b;
            left += a * a;
            right += b * b;
            count += 1.0;
        }
    }
    let size = (left * right).sqrt();
    if size > 0.0 {
        both / size * count / (count + FEW_PAIRS)
    } else {
        0.0
    }
}

impl Factors {
    fn new(correlations: &[Vec<f64>], scales: Vec<f64>, loaded: Vec<Vec<usize>>) -> Self {
        let channels = correlations.len();
        let most = MOST_FACTORS.min(channels / 3);
        let (values, vectors) = principal(correlations, most);
        // A factor that explains less than one channel is noise (Kaiser's rule).
        let count = values.iter().filter(|&&value| value > 1.0).count();
        let mut loadings = vec![0.0; channels * count];
        for channel in 0..channels {
            for factor in 0..count {
                loadings[channel * count + factor] =
                    vectors[factor][channel] * values[factor].sqrt();
            }
        }
        let explained: f64 = values[..count].iter().sum();
        Self {
            count,
            loadings,
            scales,
            noise: (1.0 - explained / channels as f64).max(0.02),
            loaded,
        }
    }

    fn row(&self, channel: usize) -> &[f64] {
        &self.loadings[channel * self.count..][..self.count]
    }

    /// The departure of `channel` from those of the others, each with its channel.
    pub(super) fn predict(&self, channel: usize, known: &[(usize, f64)]) -> f64 {
        let count = self.count;
        let mut gram = [0.0; MOST_FACTORS * MOST_FACTORS];
        let mut right = [0.0; MOST_FACTORS];
        let gram = &mut gram[..count * count];
        for &(other, departure) in known {
            let scale = self.scales[other];
            if scale <= 0.0 {
                continue;
            }
            let row = self.row(other);
            for a in 0..count {
                right[a] += row[a] * departure / scale;
                for b in 0..=a {
                    gram[a * count + b] += row[a] * row[b];
                }
            }
        }
        (0..count).for_each(|a| gram[a * count + a] += self.noise);
        cholesky_solve(gram, count, &mut right[..count]);
        let parts = self.row(channel).iter().zip(&right);
        self.scales[channel] * parts.map(|(loading, factor)| loading * factor).sum::<f64>()
    }
}

/// The largest eigenvalues and their vectors of a symmetric matrix, by turning a few vectors with it
/// again and again.
fn principal(matrix: &[Vec<f64>], count: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = matrix.len();
    // Any start that is not orthogonal to what is sought; cosines of different frequency are not.
    let start =
        |factor: usize, k: usize| ((factor * k + k) as f64 * 0.7 + factor as f64).cos() + 0.1;
    let mut vectors: Vec<Vec<f64>> = (0..count)
        .map(|factor| (0..size).map(|k| start(factor, k)).collect())
        .collect();
    let mut values = vec![0.0; count];
    for _ in 0..40 {
        for factor in 0..count {
            let (done, rest) = vectors.split_at_mut(factor);
            let own = &mut rest[0];
            let turned: Vec<f64> = matrix.iter().map(|row| dot(row, own)).collect();
            values[factor] = dot(&turned, own);
            *own = turned;
            for other in done.iter() {
                let part = dot(own, other);
                own.iter_mut().zip(other).for_each(|(a, b)| *a -= part * b);
            }
            let length = dot(own, own).sqrt().max(f64::MIN_POSITIVE);
            own.iter_mut().for_each(|a| *a /= length);
        }
    }
    (values, vectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Random, Series};

    /// Eight channels of two factors: the first four move together, the last four against each other.
    fn data() -> Dataset {
        let mut random = Random::new(4);
        let rows = 500;
        let values = (0..rows).flat_map(|_| {
            let [a, b] = [0, 1].map(|_| random.normal(0.0, 1.0));
            let row = (0..8).map(|k| match k {
                0..4 => a + random.normal(0.0, 0.1),
                _ => b * if k % 2 == 0 { 1.0 } else { -2.0 } + random.normal(0.0, 0.1),
            });
            row.collect::<Vec<_>>()
        });
        let values = values.collect();
        let times = (0..rows).map(f64::from).collect();
        let series = Series::new(None, 8, times, values).unwrap();
        let names = (0..8).map(|k| k.to_string()).collect();
        Dataset::new(names, vec![series]).unwrap()
    }

    #[test]
    fn channels_that_move_together_are_found_and_factors_predict_them() {
        let columns = Columns::new(&data(), 2.0, true);
        let mut near = columns.others[5][..3].to_vec();
        near.sort_unstable();
        assert_eq!(near, [4, 6, 7]);
        let factors = columns.factors.unwrap();
        assert_eq!(factors.count, 2);
        let found = factors.predict(5, &[(4, 1.0), (6, 1.0), (0, 3.0), (1, 3.0)]);
        assert!((found + 2.0).abs() < 0.1, "{found}");
        assert_eq!(factors.predict(5, &[]), 0.0);
    }
}
