//! How values of a channel hang together over time: its variogram, and a covariance that says the same.
//!
//! Half the mean square by which values a time h apart differ,
//!
//! $$ \gamma(h) = \tfrac12\, E\,(x(t + h) - x(t))^2, $$
//!
//! needs no mean and no complete rows: every pair of known values is a witness, not only what was hidden. A covariance must be
//! positive definite, so γ is not used as it is measured; it is written as a sum of Matérn functions with weights w ≥ 0, which
//! is positive definite by itself:
//!
//! $$ \gamma(h) \approx w_0 + \sum_k w_k\,(1 - \rho_k(h)), \qquad
//!    \rho(u) = e^{-u},\; (1 + u)\,e^{-u},\; (1 + u + u^2/3)\,e^{-u}, \qquad u = \sqrt{2\nu}\,h/\tau, $$
//!
//! rough (ν = 1/2), once and twice differentiable (3/2, 5/2), with times τ from one row to twice the series, doubling. A random walk, whose
//! best curve is the straight line, and a smooth curve, whose best one is nearly a spline, are both among them; w₀ is noise. Weights are those
//! whose *relative* errors are smallest, since what happens within a few rows decides about most gaps and is the smallest part of
//! γ.

use crate::data::Dataset;
use crate::numeric::vector::dot;
use crate::ridge::cholesky_solve;

/// Lags are half an octave apart; a pair counts for a lag if its distance differs by at most this part.
const LAGS_OF_OCTAVE: f64 = 2.0;
const NEAR: f64 = 0.2;
/// Fewest pairs of a lag, and about the most.
const FEWEST_PAIRS: usize = 20;
const MOST_PAIRS: usize = 20_000;
/// Fewest lags that tell a covariance.
const FEWEST_LAGS: usize = 3;
/// Covariances at so many multiples of the usual step are kept.
const KEPT: usize = 1024;
/// Below this part of a step a distance is a multiple of it.
const ROUNDING: f64 = 1e-6;

/// A covariance of one channel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Covariance {
    /// In units of the variance; the rest of it is noise.
    atoms: Vec<Atom>,
    usual: f64,
    /// At multiples of the usual step: rows mostly come at a steady pace.
    kept: Vec<f64>,
}

/// A Matérn function: weight·(1 + u·first + u²·second)·e^(-u), u = rate·h.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Atom {
    weight: f64,
    rate: f64,
    first: f64,
    second: f64,
}

/// γ at one distance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lag {
    distance: f64,
    half_square: f64,
    pairs: usize,
}

impl Covariance {
    /// What the pairs of known values of a channel show; `usual` is the step between rows. `None` where there are too few, or
    /// where the channel does not change.
    pub(super) fn of(data: &Dataset, channel: usize, usual: f64) -> Option<Self> {
        let lags = variogram(data, channel, usual);
        let rows = data.rows() as f64;
        let longest = lags.last()?.distance;
        if lags.len() < FEWEST_LAGS {
            return None;
        }
        let mut atoms = Vec::new();
        let mut tau = usual;
        while tau <= 4.0 * longest {
            atoms.extend(Atom::of_time(tau));
            tau *= 2.0;
        }
        let scale = |lag: &Lag| {
            let apart = rows / (1.0 + lag.distance / usual);
            apart.min(lag.pairs as f64).max(1.0).sqrt() / lag.half_square
        };
        let column = |at: &dyn Fn(&Lag) -> f64| -> Vec<f64> {
            lags.iter().map(|lag| scale(lag) * at(lag)).collect()
        };
        let mut columns: Vec<Vec<f64>> = atoms
            .iter()
            .map(|atom| column(&|lag| 1.0 - atom.at(lag.distance)))
            .collect();
        columns.push(column(&|_| 1.0));
        let target = column(&|lag| lag.half_square);
        let mut weights = non_negative(&columns, &target);
        let noise = weights.pop()?;
        for (atom, weight) in atoms.iter_mut().zip(weights) {
            atom.weight = weight;
        }
        atoms.retain(|atom| atom.weight > 0.0);
        let mut found = Self {
            atoms,
            usual,
            kept: Vec::new(),
        };
        let all = noise + found.sum(0.0);
        if !(all.is_finite() && all > 0.0) {
            return None;
        }
        found.atoms.iter_mut().for_each(|atom| atom.weight /= all);
        found.kept = (0..KEPT)
            .map(|step| found.sum(step as f64 * usual))
            .collect();
        Some(found)
    }

    /// That of two values, without their noise, in units of the variance.
    pub(super) fn at(&self, distance: f64) -> f64 {
        let steps = distance / self.usual;
        let whole = (steps + 0.5) as usize; // `round` is a call where a processor of any age is meant
        match self.kept.get(whole) {
            Some(&kept) if (steps - whole as f64).abs() < ROUNDING => kept,
            _ => self.sum(distance),
        }
    }

    fn sum(&self, distance: f64) -> f64 {
        let parts = self.atoms.iter();
        parts.map(|atom| atom.weight * atom.at(distance)).sum()
    }
}

impl Atom {
    /// Of each smoothness, with this time.
    fn of_time(tau: f64) -> [Self; 3] {
        let atom = |twice: f64, first: f64, second: f64| Self {
            weight: 0.0,
            rate: twice.sqrt() / tau,
            first,
            second,
        };
        [
            atom(1.0, 0.0, 0.0),
            atom(3.0, 1.0, 0.0),
            atom(5.0, 1.0, 1.0 / 3.0),
        ]
    }

    /// Its correlation.
    fn at(&self, distance: f64) -> f64 {
        let u = self.rate * distance;
        (1.0 + u * (self.first + u * self.second)) * (-u).exp()
    }
}

/// γ at distances half an octave apart, up to half of the longest series.
fn variogram(data: &Dataset, channel: usize, usual: f64) -> Vec<Lag> {
    let known: Vec<(Vec<f64>, Vec<f64>)> = data
        .series()
        .iter()
        .map(|series| series.observed(channel))
        .collect();
    let span = |(knots, _): &(Vec<f64>, Vec<f64>)| match knots[..] {
        [first, .., last] => last - first,
        _ => 0.0,
    };
    let longest = 0.5 * known.iter().map(span).fold(0.0, f64::max);
    let count: usize = known.iter().map(|(knots, _)| knots.len()).sum();
    let every = count.div_ceil(MOST_PAIRS).max(1);
    let mut lags = Vec::new();
    let mut before = 0.0;
    for number in 0.. {
        let steps = (f64::from(number) / LAGS_OF_OCTAVE).exp2().round();
        if usual.is_nan() || usual <= 0.0 || steps * usual > longest {
            break;
        }
        if steps == before {
            continue;
        }
        before = steps;
        let wanted = steps * usual;
        let (mut distance, mut square, mut pairs) = (0.0, 0.0, 0);
        for (knots, values) in &known {
            let mut other = 0;
            for one in (0..knots.len()).step_by(every) {
                let off = |other: usize| (knots[other] - knots[one] - wanted).abs();
                other = other.max(one);
                while other + 1 < knots.len() && off(other + 1) <= off(other) {
                    other += 1;
                }
                if off(other) <= NEAR * wanted {
                    distance += knots[other] - knots[one];
                    square += (values[other] - values[one]).powi(2);
                    pairs += 1;
                }
            }
        }
        let n = pairs as f64;
        if pairs >= FEWEST_PAIRS && square > 0.0 && square.is_finite() {
            lags.push(Lag {
                distance: distance / n,
                half_square: 0.5 * square / n,
                pairs,
            });
        }
    }
    lags
}

/// The x ≥ 0 for which Σ x·columns is nearest to the target, by the active set of Lawson and Hanson.
fn non_negative(columns: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    let count = columns.len();
    let sizes: Vec<f64> = columns
        .iter()
        .map(|column| dot(column, column).sqrt().max(f64::MIN_POSITIVE))
        .collect();
    let gram = |a: usize, b: usize| dot(&columns[a], &columns[b]) / (sizes[a] * sizes[b]);
    let gram: Vec<f64> = (0..count * count)
        .map(|at| gram(at / count, at % count))
        .collect();
    let cross: Vec<f64> = (0..count)
        .map(|at| dot(&columns[at], target) / sizes[at])
        .collect();
    let enough = 1e-9 * dot(target, target).sqrt();
    let mut found = vec![0.0; count];
    let mut active: Vec<usize> = Vec::new();
    // Each turn takes one more in; some go out again.
    for _ in 0..3 * count {
        let slope = |at: usize| cross[at] - dot(&gram[at * count..][..count], &found);
        let out = (0..count).filter(|at| !active.contains(at));
        let best = out.max_by(|&a, &b| slope(a).total_cmp(&slope(b)));
        let Some(best) = best.filter(|&best| slope(best) > enough) else {
            break;
        };
        active.push(best);
        while !active.is_empty() {
            let width = active.len();
            let mut lower: Vec<f64> = (0..width * width)
                .map(|at| gram[active[at / width] * count + active[at % width]])
                .collect();
            // Functions of neighbouring times are nearly the same.
            (0..width).for_each(|at| lower[at * width + at] += 1e-10);
            let mut next: Vec<f64> = active.iter().map(|&at| cross[at]).collect();
            cholesky_solve(&mut lower, width, &mut next);
            let reached = |(&at, &next): (&usize, &f64)| match next > 0.0 {
                true => 1.0,
                false => found[at] / (found[at] - next).max(f64::MIN_POSITIVE),
            };
            let part = active.iter().zip(&next).map(reached).fold(1.0, f64::min);
            for (&at, next) in active.iter().zip(&next) {
                found[at] += part * (next - found[at]);
            }
            if part >= 1.0 {
                break;
            }
            active.retain(|&at| {
                let stays = found[at] > 1e-12;
                if !stays {
                    found[at] = 0.0;
                }
                stays
            });
        }
    }
    found.iter().zip(&sizes).map(|(x, size)| x / size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Random, Series};

    fn data(values: Vec<f64>) -> Dataset {
        let times = (0..values.len()).map(|row| row as f64).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        Dataset::new(vec!["x".into()], vec![series]).unwrap()
    }

    /// An autoregressive series has the covariance e^(-h/τ); noise of a third of the variance is told apart from it.
    #[test]
    fn the_covariance_of_a_known_process_is_found_with_its_noise() {
        let mut random = Random::new(3);
        let keep: f64 = (-1.0f64 / 20.0).exp();
        let mut state = 0.0;
        let values = (0..40_000).map(|_| {
            state = keep * state + (1.0 - keep * keep).sqrt() * random.normal(0.0, 1.0);
            state + random.normal(0.0, 0.5f64.sqrt())
        });
        let found = Covariance::of(&data(values.collect()), 0, 1.0).unwrap();
        let noise = 1.0 - found.at(0.0);
        assert!((noise - 1.0 / 3.0).abs() < 0.04, "{found:?}");
        for distance in [1.0, 5.0, 20.0, 40.0, 7.5] {
            let wanted = 2.0 / 3.0 * (-distance / 20.0f64).exp();
            let at = found.at(distance);
            assert!((at - wanted).abs() < 0.05, "{distance}: {at} {wanted}");
        }
    }

    /// Against the least of all combinations on a fine grid.
    #[test]
    fn weights_are_the_best_that_are_not_negative() {
        let columns = [
            vec![1.0, 0.0, 1.0],
            vec![1.0, 1.0, 0.0],
            vec![0.5, 0.6, 0.4],
        ];
        let target = [1.0, -0.5, 2.0];
        let error = |x: &[f64]| -> f64 {
            let at = |row: usize| -> f64 { (0..3).map(|k| x[k] * columns[k][row]).sum() };
            (0..3).map(|row| (at(row) - target[row]).powi(2)).sum()
        };
        let found = non_negative(&columns, &target);
        assert!(found.iter().all(|&x| x >= 0.0));
        let grid = || (0..=40).map(|k| f64::from(k) * 0.05);
        let least = grid()
            .flat_map(|a| grid().flat_map(move |b| grid().map(move |c| [a, b, c])))
            .map(|x| error(&x))
            .fold(f64::INFINITY, f64::min);
        assert!(error(&found) <= least + 1e-9, "{found:?}");
    }

    #[test]
    fn nothing_is_told_by_few_values_or_by_one_that_never_changes() {
        assert_eq!(Covariance::of(&data(vec![1.0; 500]), 0, 1.0), None);
        assert_eq!(Covariance::of(&data(vec![0.0, 1.0, 4.0]), 0, 1.0), None);
    }
}
