//! Least squares with a penalty, from sums that are gathered once.
//!
//! With features X and targets y only XᵀX, Xᵀy and yᵀy are kept. They add up, so a model without one
//! of the folds, and its error on that fold, cost no second look at the data:
//!
//! $$ \beta = \beta_0 + (A + \lambda D)^{-1}(b - A\beta_0),\qquad D = \operatorname{diag}(A),\qquad
//!    \text{error} = y^Ty - 2\beta^Tb + \beta^TA\beta $$
//!
//! The penalty is relative to each feature's own sum of squares, so units do not matter.

use crate::numeric::vector::{LANES, Loops, dot, vectorized};

/// Strengths that are tried, from none to nothing but the prior.
const STRENGTHS: [f64; 8] = [1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.07, 0.5, 4.0];
/// A weaker penalty must bring this much of the error.
const WORTH: f64 = 0.998;

/// Sums over samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    width: usize,
    gram: Vec<f64>,
    cross: Vec<f64>,
    pub(crate) square: f64,
    pub(crate) count: usize,
}

impl Moments {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            gram: vec![0.0; width * width],
            cross: vec![0.0; width],
            square: 0.0,
            count: 0,
        }
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, features: &[f64], target: f64) {
        vectorized(Adding {
            sums: self,
            features,
            target,
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
    pub(crate) fn total<'a>(all: impl IntoIterator<Item = &'a Self>, width: usize) -> Self {
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
    pub(crate) fn error(&self, beta: &[f64]) -> f64 {
        let product = self.times(beta);
        self.square - 2.0 * dot(beta, &self.cross) + dot(beta, &product)
    }

    /// Σxx and Σxy of what `beta` predicts, x, and the targets, y.
    pub(crate) fn follow(&self, beta: &[f64]) -> (f64, f64) {
        (dot(beta, &self.times(beta)), dot(beta, &self.cross))
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

/// A sample that is added to the sums of products.
struct Adding<'a> {
    sums: &'a mut Moments,
    features: &'a [f64],
    target: f64,
}

impl Loops for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.sums.width;
        for (row, &one) in self.features.iter().enumerate() {
            if one != 0.0 {
                let gram = &mut self.sums.gram[row * width..][..=row];
                for (sum, other) in gram.iter_mut().zip(self.features) {
                    *sum += one * other;
                }
                self.sums.cross[row] += one * self.target;
            }
        }
    }
}

/// Rows of a factor that are found side by side: their sums do not wait for each other.
const ABREAST: usize = 4;

/// Solves in place, for a positive definite matrix whose lower half is given.
pub(crate) fn cholesky_solve(lower: &mut [f64], width: usize, right: &mut [f64]) {
    vectorized(Solving {
        lower,
        width,
        right,
    });
}

struct Solving<'a> {
    lower: &'a mut [f64],
    width: usize,
    right: &'a mut [f64],
}

impl Loops for Solving<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            lower,
            width,
            right,
        } = self;
        for first in (0..width).step_by(ABREAST) {
            let (above, rows) = lower.split_at_mut(first * width);
            if first + ABREAST <= width {
                let rows = &mut rows[..ABREAST * width];
                for column in 0..first {
                    let other = &above[column * width..][..=column];
                    let sums = dots(rows, width, &other[..column]);
                    for (row, sum) in sums.into_iter().enumerate() {
                        let entry = &mut rows[row * width + column];
                        *entry = (*entry - sum) / other[column];
                    }
                }
            }
            for row in first..width.min(first + ABREAST) {
                let known = if first + ABREAST <= width { first } else { 0 };
                let (above, own) = lower.split_at_mut(row * width);
                for column in known..row {
                    let other = &above[column * width..][..=column];
                    let sum = own[column] - dot(&own[..column], &other[..column]);
                    own[column] = sum / other[column];
                }
                let sum = own[row] - dot(&own[..row], &own[..row]);
                // Rounding may leave nothing of a feature that others repeat.
                own[row] = sum.max(1e-300).sqrt();
            }
        }
        for row in 0..width {
            let own = &lower[row * width..][..=row];
            right[row] = (right[row] - dot(&own[..row], &right[..row])) / own[row];
        }
        for row in (0..width).rev() {
            let own = &lower[row * width..][..=row];
            right[row] /= own[row];
            let (above, found) = right.split_at_mut(row);
            for (above, entry) in above.iter_mut().zip(own) {
                *above -= entry * found[0];
            }
        }
    }
}

/// [`dot`] of the beginning of each of some rows of a matrix with `other`, bit for bit.
#[inline(always)]
fn dots(rows: &[f64], width: usize, other: &[f64]) -> [f64; ABREAST] {
    let length = other.len();
    let mut begins = [other; ABREAST];
    for (row, begin) in begins.iter_mut().enumerate() {
        *begin = &rows[row * width..][..length];
    }
    let whole = length - length % LANES;
    let mut sums = [[0.0; LANES]; ABREAST];
    for start in (0..whole).step_by(LANES) {
        let b = &other[start..start + LANES];
        for (sums, row) in sums.iter_mut().zip(begins) {
            let a = &row[start..start + LANES];
            for lane in 0..LANES {
                sums[lane] += a[lane] * b[lane];
            }
        }
    }
    let mut dots = [0.0; ABREAST]; // `array::from_fn` became a function of its own, for any processor
    for row in 0..ABREAST {
        let rest = begins[row][whole..].iter().zip(&other[whole..]);
        let rest: f64 = rest.map(|(a, b)| a * b).sum();
        dots[row] = sums[row].iter().sum::<f64>() + rest;
    }
    dots
}

/// Coefficients with the strength that predicts left-out folds best, near `priors` (that of all folds
/// last, one without each fold before it); and those without each fold, for whoever goes on. The prior
/// itself stays where nothing is better.
pub(crate) fn cross_validated(
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
    let mut chosen = None;
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
            (least, best, chosen) = (error, found, Some(strength));
        }
    }
    if let Some(strength) = chosen {
        best.push(total.solve(strength, &priors[folds.len()]));
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

    /// Of all widths, so that rows abreast and those left over both take part.
    #[test]
    fn what_is_solved_fits_its_equations() {
        let mut random = Random::new(4);
        for width in 1..14 {
            let mut sums = Moments::new(width);
            for _ in 0..3 * width {
                let x: Vec<f64> = (0..width).map(|_| random.normal(0.0, 1.0)).collect();
                sums.add(&x, random.normal(0.0, 1.0));
            }
            let mut found = sums.cross.clone();
            cholesky_solve(&mut sums.gram.clone(), width, &mut found);
            for (product, wanted) in sums.times(&found).iter().zip(&sums.cross) {
                assert!(
                    (product - wanted).abs() < 1e-9,
                    "{width}: {product} {wanted}"
                );
            }
        }
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
