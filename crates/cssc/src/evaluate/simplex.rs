//! Weights that are not negative and sum to one, near those beforehand, from sums of squares and products.
//!
//! $$ w = \arg\min\; \frac{n}{N\sigma^2} \sum_{i=1}^{N} (y_i - w\cdot f_i)^2 + \frac{|w - w_0|^2}{\tau^2} $$
//!
//! with σ² what the weights leave, found in turns with them, and n the gaps that speak (`combine`).

use crate::numeric::vector::dot;

/// A method that leaves so many times what the reference does, and once more for every so many gaps that say so, has no part:
/// where few gaps speak its small weights are luck, and its errors in another gap may be a thousand times as large.
const WORST: f64 = 1.5;
const GAPS_OF_ONCE: f64 = 10.0;
/// The size of errors and weights are found in turns.
const TURNS: usize = 4;
/// Passes over all pairs of methods; the weights stand still long before.
const MOST_PASSES: usize = 200;

/// Sums of squares and products of the methods' answers.
pub(super) struct Normal {
    gram: Vec<f64>,
    cross: Vec<f64>,
    square: f64,
    count: f64,
    /// Gaps that speak.
    pub(super) gaps: f64,
}

impl Normal {
    pub(super) fn new(methods: usize) -> Self {
        Self {
            gram: vec![0.0; methods * methods],
            cross: vec![0.0; methods],
            square: 0.0,
            count: 0.0,
            gaps: 0.0,
        }
    }

    pub(super) fn sample(&mut self, row: &[f64], target: f64, factor: f64) {
        for (a, one) in row.iter().enumerate() {
            let gram = &mut self.gram[a * row.len()..][..row.len()];
            let products = gram.iter_mut().zip(row);
            products.for_each(|(sum, other)| *sum += factor * one * other);
            self.cross[a] += factor * one * target;
        }
        self.square += factor * target * target;
        self.count += 1.0;
    }

    /// One over the mean square of the targets, which are the errors of the reference.
    pub(super) fn unit(&self) -> f64 {
        if self.square > 0.0 {
            self.count / self.square
        } else {
            0.0
        }
    }

    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        let sums = self.gram.iter_mut().zip(&other.gram);
        sums.for_each(|(sum, more)| *sum += factor * more);
        let sums = self.cross.iter_mut().zip(&other.cross);
        sums.for_each(|(sum, more)| *sum += factor * more);
        self.square += factor * other.square;
        self.count += other.count;
        self.gaps += other.gaps;
    }

    /// The mean square that weights leave, a little more where few gaps speak.
    fn left(&self, weights: &[f64]) -> f64 {
        let methods = weights.len();
        let rows = self.gram.chunks(methods);
        let both: f64 = rows
            .zip(weights)
            .map(|(row, weight)| weight * dot(row, weights))
            .sum();
        let sum = (self.square - 2.0 * dot(weights, &self.cross) + both).max(0.0);
        sum / self.count.max(1.0) * (1.0 + 3.0 / self.gaps.max(1e-9))
    }

    /// Whether a method leaves so much more than the reference that it has no part.
    fn is_hopeless(&self, method: usize) -> bool {
        let own = self.gram[method * self.cross.len() + method];
        let most = WORST + self.gaps / GAPS_OF_ONCE;
        own - 2.0 * self.cross[method] > (most - 1.0) * self.square
    }

    /// The best weights of some methods, its `members`, that differ from the `prior` by about `apart`; the reference has those of hopeless methods.
    pub(super) fn solve(
        &self,
        apart: f64,
        prior: &[f64],
        reference: usize,
        members: &[usize],
    ) -> Vec<f64> {
        let mut prior = prior.to_vec();
        let is_able = |method: &usize| *method == reference || !self.is_hopeless(*method);
        let mut able = members.to_vec();
        able.retain(is_able);
        for method in (0..prior.len()).filter(|method| !able.contains(method)) {
            prior[reference] += std::mem::take(&mut prior[method]);
        }
        let mut weights = prior.clone();
        for _ in 0..TURNS {
            let pull = self.left(&weights) * self.count / self.gaps.max(1e-9) / (apart * apart);
            weights = self.pulled(pull, &prior, &able);
        }
        weights
    }

    /// The best weights on the simplex, pulled to the `prior`: two of the methods that are `able` at a time exchange what
    /// brings the sum of squares down most.
    fn pulled(&self, pull: f64, prior: &[f64], able: &[usize]) -> Vec<f64> {
        let methods = prior.len();
        let mut weights = prior.to_vec();
        let gram =
            |a: usize, b: usize| self.gram[a * methods + b] + if a == b { pull } else { 0.0 };
        let slope = |a: usize| {
            let own: f64 = (0..methods).map(|b| gram(a, b) * weights[b]).sum();
            self.cross[a] + pull * prior[a] - own
        };
        let mut slopes: Vec<f64> = (0..methods).map(slope).collect();
        for _ in 0..MOST_PASSES {
            let mut moved: f64 = 0.0;
            for (number, &a) in able.iter().enumerate() {
                for &b in &able[..number] {
                    let bend = gram(a, a) - 2.0 * gram(a, b) + gram(b, b);
                    if bend <= 0.0 {
                        continue;
                    }
                    let step = ((slopes[a] - slopes[b]) / bend).clamp(-weights[a], weights[b]);
                    weights[a] += step;
                    weights[b] -= step;
                    for (m, slope) in slopes.iter_mut().enumerate() {
                        *slope -= step * (gram(m, a) - gram(m, b));
                    }
                    moved = moved.max(step.abs());
                }
            }
            if moved < 1e-6 {
                break;
            }
        }
        // What is left of a method that brings nothing is not worth asking it.
        let kept = |weight: &f64| if *weight < 0.01 { 0.0 } else { *weight };
        let kept: Vec<f64> = weights.iter().map(kept).collect();
        let sum: f64 = kept.iter().sum();
        kept.iter().map(|weight| weight / sum).collect()
    }
}
