//! The best linear guess from the values around a gap, by how the channel varies over time (kriging, or a Gaussian process).
//!
//! With K the covariances of the neighbouring values v, k(t) theirs with the value at t, and a mean μ that is not known,
//!
//! $$ \hat x(t) = \mu + k(t)^\top K^{-1} (v - \mu 1), \qquad \mu = \frac{1^\top K^{-1} v}{1^\top K^{-1} 1}. $$
//!
//! It is a straight line for a random walk, nearly a spline for a smooth curve, a mean of neighbours for noise; and in a gap
//! that is long for the channel it goes back to the mean, where a spline goes on with slopes that have long changed. The
//! covariance comes from all pairs of known values (`covariance`), so that even of a single long gap something is known.
//!
//! Neighbours are the nearest known values on either side, and farther ones at growing distances: what lies between them says
//! little more.

use super::covariance::Covariance;
use super::piece::around;
use crate::Error;
use crate::data::{Dataset, Series};
use crate::evaluate::{Curve, Interpolator, set_column};
use crate::ridge::cholesky_solve;
use rayon::prelude::*;
use std::sync::Arc;

/// Which known values on either side of a gap are its neighbours, counted from it.
const NEIGHBOURS: [usize; 8] = [0, 1, 2, 3, 5, 8, 13, 21];
/// Added to the variance, so that nearly equal rows can be told apart.
const ROUNDING: f64 = 1e-9;

/// The method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kriging;

impl Interpolator for Kriging {
    fn name(&self) -> &str {
        "kriging"
    }

    /// Learned from this series alone.
    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let data = super::alone(series)?;
        Learned::of(&data).curve(series, channels, times)
    }

    fn fitted_to(&self, data: &Dataset) -> Result<Option<Arc<dyn Interpolator>>, Error> {
        Ok(Some(Arc::new(Learned::of(data))))
    }
}

/// The covariances of all channels.
#[derive(Clone, Debug)]
struct Learned {
    covariances: Vec<Option<Covariance>>,
}

impl Learned {
    fn of(data: &Dataset) -> Self {
        Self {
            covariances: covariances(data, data.typical_step().unwrap_or(0.0)),
        }
    }
}

/// Of every channel, where pairs of values tell one.
pub(super) fn covariances(data: &Dataset, usual: f64) -> Vec<Option<Covariance>> {
    (0..data.channels())
        .into_par_iter()
        .map(|channel| Covariance::of(data, channel, usual))
        .collect()
}

impl Interpolator for Learned {
    fn name(&self) -> &str {
        Kriging.name()
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let columns: Vec<Vec<f64>> = channels
            .par_iter()
            .map(|&channel| {
                let (knots, known) = series.observed(channel);
                let covariance = self.covariances.get(channel).and_then(Option::as_ref);
                column(&knots, &known, covariance, times)
            })
            .collect();
        let mut values = vec![f64::NAN; times.len() * channels.len()];
        for (place, column) in columns.iter().enumerate() {
            set_column(&mut values, channels.len(), place, column);
        }
        Ok(values.into())
    }
}

/// Straight lines where no covariance is known.
pub(super) fn column(
    knots: &[f64],
    known: &[f64],
    covariance: Option<&Covariance>,
    times: &[f64],
) -> Vec<f64> {
    let mut entered: Option<(f64, Guess)> = None;
    let value = |&time: &f64| {
        let piece = match around(knots, known, time) {
            Ok(piece) => piece,
            Err(value) => return value,
        };
        let Some(covariance) = covariance else {
            return piece.chord(piece.part(time));
        };
        let guess = match entered.take() {
            Some((start, guess)) if start == piece.start => guess,
            _ => Guess::new(covariance, knots, known, piece.start),
        };
        let value = guess.at(covariance, time);
        entered = Some((piece.start, guess));
        value
    };
    times.iter().map(value).collect()
}

/// The places of the neighbours of the gap behind a time.
pub(super) fn neighbours(knots: &[f64], behind: f64) -> impl Iterator<Item = usize> + use<> {
    let (after, count) = (knots.partition_point(|&knot| knot <= behind), knots.len());
    let left = NEIGHBOURS.iter().rev();
    let left = left.filter_map(move |&far| after.checked_sub(far + 1));
    let right = NEIGHBOURS.iter().map(move |&far| after + far);
    left.chain(right.filter(move |&place| place < count))
}

/// What is known of a gap: neighbours, and what each of them counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    times: Vec<f64>,
    weights: Vec<f64>,
    mean: f64,
}

impl Guess {
    /// Of the gap behind a time: the last known value that is not later, and the first that is, are its ends. Before the first
    /// known value and behind the last there is one end.
    pub(super) fn new(covariance: &Covariance, knots: &[f64], known: &[f64], behind: f64) -> Self {
        let (times, values): (Vec<f64>, Vec<f64>) = neighbours(knots, behind)
            .map(|place| (knots[place], known[place]))
            .unzip();
        let count = times.len();
        let mut lower = vec![0.0; count * count];
        for row in 0..count {
            for column in 0..row {
                lower[row * count + column] = covariance.at(times[row] - times[column]);
            }
            lower[row * count + row] = 1.0 + ROUNDING;
        }
        // Near the mean of the neighbours numbers are small.
        let middle = values.iter().sum::<f64>() / count.max(1) as f64;
        let mut weights: Vec<f64> = values.iter().map(|value| value - middle).collect();
        let mut ones = vec![1.0; count];
        cholesky_solve(&mut lower.clone(), count, &mut weights);
        cholesky_solve(&mut lower, count, &mut ones);
        let mean = weights.iter().sum::<f64>() / ones.iter().sum::<f64>();
        for (weight, one) in weights.iter_mut().zip(&ones) {
            *weight -= mean * one;
        }
        Self {
            times,
            weights,
            mean: middle + mean,
        }
    }

    /// The guess at a time.
    pub(super) fn at(&self, covariance: &Covariance, time: f64) -> f64 {
        let parts = self.times.iter().zip(&self.weights);
        let parts = parts.map(|(other, weight)| weight * covariance.at((time - other).abs()));
        self.mean + parts.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn table(values: Vec<f64>) -> Dataset {
        let times = (0..values.len()).map(|row| row as f64).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        Dataset::new(vec!["x".into()], vec![series]).unwrap()
    }

    fn ask(data: &Dataset, times: &[f64]) -> Vec<f64> {
        let learned = Kriging.fitted_to(data).unwrap().unwrap();
        learned
            .curve(&data.series()[0], &[0], times)
            .unwrap()
            .values
    }

    /// A gap of ten in a random walk is a straight line, of a hundred in noise the mean, of ten in a smooth curve the curve.
    #[test]
    fn a_line_for_a_walk_the_mean_for_noise_a_curve_for_a_curve() {
        let mut random = Random::new(4);
        let gap = 500..510;
        let hide = |values: Vec<f64>, gap: &std::ops::Range<usize>| {
            let hidden = |(row, value)| if gap.contains(&row) { f64::NAN } else { value };
            table(values.into_iter().enumerate().map(hidden).collect())
        };
        let mut state = 0.0;
        let walk: Vec<f64> = (0..1000)
            .map(|_| {
                state += random.normal(0.0, 1.0);
                state
            })
            .collect();
        let (first, last) = (walk[499], walk[510]);
        let found = ask(&hide(walk, &gap), &[502.0, 507.0]);
        for (found, part) in found.iter().zip([3.0 / 11.0, 8.0 / 11.0]) {
            let line = first + part * (last - first);
            assert!((found - line).abs() < 0.3, "{found} {line}");
        }

        let noise: Vec<f64> = (0..1000).map(|_| random.normal(5.0, 1.0)).collect();
        let found = ask(&hide(noise, &(400..500)), &[450.0]);
        assert!((found[0] - 5.0).abs() < 0.6, "{found:?}");

        let curve = |row: f64| (0.05 * row).sin() + 0.5 * (0.033 * row).cos();
        let smooth = (0..1000).map(|row| curve(f64::from(row))).collect();
        let found = ask(&hide(smooth, &gap), &[504.0, 505.5]);
        for (found, time) in found.iter().zip([504.0, 505.5]) {
            assert!(
                (found - curve(time)).abs() < 1e-3,
                "{found} {}",
                curve(time)
            );
        }
    }

    /// Against the dense equations with an unknown mean, solved with the condition that weights sum to one.
    #[test]
    fn the_guess_solves_the_equations_of_ordinary_kriging() {
        let mut random = Random::new(7);
        let mut state = 0.0;
        let values: Vec<f64> = (0..400)
            .map(|_| {
                state = 0.9 * state + random.normal(0.0, 1.0);
                state + random.normal(3.0, 0.3)
            })
            .collect();
        let data = table(values);
        let covariance = Covariance::of(&data, 0, 1.0).unwrap();
        let knots = [0.0, 1.0, 2.5, 7.0, 8.0];
        let known = [1.0, 2.0, 0.5, 4.0, 3.0];
        let guess = Guess::new(&covariance, &knots, &known, 2.5);
        let time = 4.4;
        // [K 1; 1' 0] [w; m] = [k; 1], by elimination.
        let size = knots.len() + 1;
        let mut rows: Vec<Vec<f64>> = (0..size)
            .map(|a| {
                let entry = |b: usize| match (a < size - 1, b < size - 1) {
                    (true, true) if a == b => 1.0 + ROUNDING,
                    (true, true) => covariance.at((knots[a] - knots[b]).abs()),
                    (false, false) => 0.0,
                    _ => 1.0,
                };
                let right = if a < size - 1 {
                    covariance.at((knots[a] - time).abs())
                } else {
                    1.0
                };
                (0..size).map(entry).chain([right]).collect()
            })
            .collect();
        for pivot in 0..size {
            let best = (pivot..size)
                .max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()))
                .unwrap();
            rows.swap(pivot, best);
            let own = rows[pivot].clone();
            for (number, row) in rows.iter_mut().enumerate() {
                if number != pivot {
                    let factor = row[pivot] / own[pivot];
                    row.iter_mut()
                        .zip(&own)
                        .for_each(|(to, from)| *to -= factor * from);
                }
            }
        }
        let wanted: f64 = (0..size - 1)
            .map(|k| rows[k][size] / rows[k][k] * known[k])
            .sum();
        let found = guess.at(&covariance, time);
        assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    }
}
