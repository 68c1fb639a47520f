//! AdaMax (Kingma and Ba 2014, section 7.1), the paper's optimiser.
//!
//! ```text
//!   m ← β₁m + (1 - β₁)g      u ← max(β₂u, |g|)      θ ← θ - rate/(1 - β₁ᵗ) · m/(u + ε)
//! ```

use crate::nn::Float;
use serde::{Deserialize, Serialize};

const EPSILON: f64 = 1e-8;

/// The state of the optimiser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaMax<T> {
    /// Decay of the mean of gradients, 0.9.
    pub beta_mean: f64,
    /// Decay of their largest size, 0.999.
    pub beta_size: f64,
    /// Steps made.
    pub steps: u64,
    #[serde(skip)]
    pub(crate) mean: Vec<T>,
    #[serde(skip)]
    pub(crate) size: Vec<T>,
}

impl<T: Float> AdaMax<T> {
    /// A new optimiser for `count` numbers.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self {
            beta_mean: 0.9,
            beta_size: 0.999,
            steps: 0,
            mean: vec![T::ZERO; count],
            size: vec![T::ZERO; count],
        }
    }

    /// One step: changes `parameters` by `gradient` times `factor` (for clipping).
    pub fn step(&mut self, parameters: &mut [T], gradient: &[T], factor: f64, rate: f64) {
        self.steps += 1;
        let correction = 1.0
            - self
                .beta_mean
                .powi(i32::try_from(self.steps).unwrap_or(i32::MAX));
        let rate = T::from_f64(rate / correction);
        let (keep, add) = (
            T::from_f64(self.beta_mean),
            T::from_f64(1.0 - self.beta_mean),
        );
        let (shrink, epsilon) = (T::from_f64(self.beta_size), T::from_f64(EPSILON));
        let factor = T::from_f64(factor);
        let state = self.mean.iter_mut().zip(&mut self.size);
        for ((x, &g), (mean, size)) in parameters.iter_mut().zip(gradient).zip(state) {
            let g = g * factor;
            *mean = keep * *mean + add * g;
            *size = (shrink * *size).maximum(g.abs());
            *x -= rate * *mean / (*size + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: with g = 2 at both steps, m = 0.2 then 0.38, u = 2 then 2; the corrections are
    /// 0.1 and 0.19, so that each step is exactly the rate (but for ε).
    #[test]
    fn a_constant_gradient_moves_by_the_rate() {
        let mut optimizer = AdaMax::<f64>::new(1);
        let mut x = [1.0];
        for expected in [0.9, 0.8] {
            optimizer.step(&mut x, &[2.0], 1.0, 0.1);
            assert!((x[0] - expected).abs() < 1e-8, "{}", x[0]);
        }
    }
}
