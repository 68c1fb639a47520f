//! Least squares with a penalty, from sums that are gathered once.
//!
//! With features X and targets y only XᵀX, Xᵀy and yᵀy are kept. They add up, so a model without one
//! of the folds, and its error on that fold, cost no second look at the data:
//!
//! $$ \beta = \beta_0 + (A + \lambda D)^{-1}(b - A\beta_0),\qquad D = \operatorname{diag}(A),\qquad
//!    \text{error} = y^Ty - 2\beta^Tb + \beta^TA\beta $$
//!
//! The penalty is relative to each feature's own sum of squares, so units do not matter.

use crate::numeric::vector::vectorized;

/// Strengths that are tried, from none to nothing but the prior.
const STRENGTHS: [f64; 8] = [1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.07, 0.5, 4.0];
/// A weaker penalty must bring this much of the error.
const WORTH: f64 = 0.998;

/// Sums over samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Moments {
    width: usize,
    gram: Vec<f64>,
    cross: Vec<f64>,
    pub(super) square: f64,
    pub(super) count: usize,
}

impl Moments {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            gram: vec![0.0; width * width],
            cross: vec![0.0; width],
            square: 0.0,
            count: 0,
        }
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, features: &[f64], target: f64) {
        vectorized(|| {
            for (row, &one) in features.iter().enumerate() {
                if one != 0.0 {
                    let gram = &mut self.gram[row * self.width..][..=row];
                    let products = gram.iter_mut().zip(features);
                    products.for_each(|(sum, other)| *sum += one * other);
                    self.cross[row] += one * target;
                }
            }
        });
        self.square += target * target;
        self.count += 1;
    }

    /// Adds (`sign` 1) or takes away (-1) the sums of `other`.
    fn combine(&mut self, other: &Self, sign: f64) {
        let sums = self.gram.iter_mut().zip(&other.gram);
        sums.for_each(|(sum, more)| *sum += sign * more);
        let sums = self.cross.iter_mut().zip(&other.cross);
        sums.for_each(|(sum, more)| *sum += sign * more);
        self.square += sign * other.square;
        self.count = match sign > 0.0 {
            true => self.count + other.count,
            false => self.count - other.count,
        };
    }

    /// All sums together.
    pub(super) fn total<'a>(all: impl IntoIterator<Item = &'a Self>, width: usize) -> Self {
        let mut total = Self::new(width);
        all.into_iter().for_each(|one| total.combine(one, 1.0));
        total
    }

    fn without(&self, fold: &Self) -> Self {
        let mut rest = self.clone();
        rest.combine(fold, -1.0);
        rest
    }

    /// A β.
    fn times(&self, beta: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.width];
        for row in 0..self.width {
            for column in 0..row {
                let entry = self.gram[row * self.width + column];
                product[row] += entry * beta[column];
                product[column] += entry * beta[row];
            }
            product[row] += self.gram[row * self.width + row] * beta[row];
        }
        product
    }

    /// The sum of squared errors of `beta`.
    pub(super) fn error(&self, beta: &[f64]) -> f64 {
        let product = self.times(beta);
        self.square - 2.0 * dot(beta, &self.cross) + dot(beta, &product)
    }

    /// The coefficients for a strength of the penalty, near `prior`.
    fn solve(&self, strength: f64, prior: &[f64]) -> Vec<f64> {
        let width = self.width;
        let mut lower = self.gram.clone();
        let mut rest = self.times(prior);
        for row in 0..width {
            rest[row] = self.cross[row] - rest[row];
            let diagonal = &mut lower[row * width + row];
            *diagonal = if *diagonal > 0.0 {
                *diagonal * (1.0 + strength)
            } else {
                1.0 // a feature that never occurs has no say
            };
        }
        cholesky_solve(&mut lower, width, &mut rest);
        rest.iter()
            .zip(prior)
            .map(|(step, prior)| prior + step)
            .collect()
    }
}

/// Solves in place, for a positive definite matrix whose lower half is given.
pub(super) fn cholesky_solve(lower: &mut [f64], width: usize, right: &mut [f64]) {
    vectorized(|| {
        for row in 0..width {
            let (above, own) = lower.split_at_mut(row * width);
            for column in 0..row {
                let other = &above[column * width..][..=column];
                let sum = own[column] - dot(&own[..column], &other[..column]);
                own[column] = sum / other[column];
            }
            let sum = own[row] - dot(&own[..row], &own[..row]);
            // Rounding may leave nothing of a feature that others repeat.
            own[row] = sum.max(1e-300).sqrt();
        }
        for row in 0..width {
            let own = &lower[row * width..][..=row];
            right[row] = (right[row] - dot(&own[..row], &right[..row])) / own[row];
        }
        for row in (0..width).rev() {
            for k in row + 1..width {
                right[row] -= lower[k * width + row] * right[k];
            }
            right[row] /= lower[row * width + row];
        }
    });
}

/// Eight sums side by side, which the processor can add at once; their order is always the same.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Coefficients with the strength that predicts left-out folds best, near `priors` (that of all folds
/// last, one without each fold before it); and those without each fold, for whoever goes on. The prior
/// itself stays where nothing is better.
pub(super) fn cross_validated(
    folds: &[&Moments],
    width: usize,
    priors: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let total = Moments::total(folds.iter().copied(), width);
    let rests: Vec<Moments> = folds.iter().map(|fold| total.without(fold)).collect();
    let mut best: Vec<Vec<f64>> = priors.to_vec();
    let errors = folds
        .iter()
        .zip(priors)
        .map(|(fold, prior)| fold.error(prior));
    let mut least = errors.sum::<f64>() * WORTH;
    for strength in STRENGTHS.into_iter().rev() {
        let found: Vec<Vec<f64>> = rests
            .iter()
            .zip(priors)
            .map(|(rest, prior)| rest.solve(strength, prior))
            .collect();
        let errors = folds
            .iter()
            .zip(&found)
            .map(|(fold, beta)| fold.error(beta));
        let error: f64 = errors.sum();
        if error < least {
            least = error;
            best = found;
            best.push(total.solve(strength, &priors[folds.len()]));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn folds(noise: f64) -> Vec<Moments> {
        let mut random = Random::new(3);
        let mut folds = vec![Moments::new(3); 4];
        for number in 0..400 {
            let x = [0, 1, 2].map(|_| random.normal(0.0, 1.0));
            let y = 2.0 * x[0] - x[1] + random.normal(0.0, noise);
            folds[number % 4].add(&x, y);
        }
        folds
    }

    #[test]
    fn a_line_without_noise_is_found_and_noise_alone_leaves_the_prior() {
        let folds = folds(0.0);
        let folds: Vec<&Moments> = folds.iter().collect();
        let zero = vec![vec![0.0; 3]; 5];
        let found = cross_validated(&folds, 3, &zero);
        for (found, wanted) in found[4].iter().zip([2.0, -1.0, 0.0]) {
            assert!((found - wanted).abs() < 1e-3, "{found}");
        }
        // One draw of pure noise may look like a line; many do not.
        let draws = 20;
        let mean: f64 = (0..draws)
            .map(|seed| size_for_noise(seed) / draws as f64)
            .sum();
        assert!(mean < 0.3, "{mean}");
    }

    /// The sum of the coefficients' sizes where there is nothing to find.
    fn size_for_noise(seed: u64) -> f64 {
        let mut random = Random::new(seed);
        let mut noise = vec![Moments::new(3); 4];
        for number in 0..40 {
            let x = [0, 1, 2].map(|_| random.normal(0.0, 1.0));
            noise[number % 4].add(&x, random.normal(0.0, 1.0));
        }
        let noise: Vec<&Moments> = noise.iter().collect();
        let prior = vec![vec![0.0; 3]; 5];
        let found = cross_validated(&noise, 3, &prior);
        found[4].iter().map(|b| b.abs()).sum()
    }

    #[test]
    fn the_error_from_the_sums_is_the_error_of_the_samples() {
        let mut sums = Moments::new(2);
        let samples = [([1.0, 2.0], 3.0), ([0.5, -1.0], 0.25), ([2.0, 0.0], -1.0)];
        samples.iter().for_each(|(x, y)| sums.add(x, *y));
        let beta = [0.5, -0.25];
        let direct = samples
            .iter()
            .map(|(x, y)| y - beta[0] * x[0] - beta[1] * x[1]);
        let direct: f64 = direct.map(|error| error * error).sum();
        assert!((sums.error(&beta) - direct).abs() < 1e-12);
    }

    #[test]
    fn a_feature_given_twice_or_never_does_no_harm() {
        let mut folds = vec![Moments::new(3); 2];
        for number in 0..100 {
            let x = f64::from(number % 7) - 3.0;
            folds[number as usize % 2].add(&[x, x, 0.0], 3.0 * x);
        }
        let folds: Vec<&Moments> = folds.iter().collect();
        let found = cross_validated(&folds, 3, &vec![vec![0.0; 3]; 3]);
        assert!((found[2][0] + found[2][1] - 3.0).abs() < 1e-2 && found[2][2] == 0.0);
    }
}
