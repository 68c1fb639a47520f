//! Terms of a loss between normal distributions, for models that say how sure they are.
//!
//! A variance is always given by its logarithm s. `weights` [rows, columns] are constants, 0 where
//! nothing counts.

use crate::nn::{Activation, Float, Graph, Var};

/// Mean and logarithm of the variance, each [rows, columns].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussian {
    pub(crate) mean: Var,
    pub(crate) log_variance: Var,
}

impl Gaussian {
    /// Standard deviation e^(s/2).
    pub(crate) fn std_dev<T: Float>(&self, graph: &mut Graph<'_, T>) -> Var {
        let half = graph.scale(self.log_variance, 0.5);
        graph.activate(half, Activation::Exp)
    }

    /// (x - mean)/e^(s/2): how many standard deviations the values are away.
    pub(crate) fn standardize<T: Float>(&self, graph: &mut Graph<'_, T>, values: Var) -> Var {
        let half = graph.scale(self.log_variance, -0.5);
        let precision = graph.activate(half, Activation::Exp);
        let miss = graph.difference(values, self.mean);
        graph.product(miss, precision)
    }

    /// scale · Σ weight · (error² + s)/2: the negative log-likelihood of values that are so many
    /// standard deviations away, but for its constant.
    pub(crate) fn surprise<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        error: Var,
        weights: Var,
        scale: f64,
    ) -> Var {
        let far = graph.square(error, None, Some(weights), 0.5 * scale);
        let wide = weighted_sum(graph, self.log_variance, Some(weights), 0.5 * scale);
        graph.sum(far, wide)
    }

    /// scale · Σ weight · KL(this ‖ N(`values`, `std_dev`²)); 0 without `values`.
    pub(crate) fn divergence<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        (values, std_dev): (Option<Var>, f64),
        weights: Option<Var>,
        scale: f64,
    ) -> Var {
        let factor = 0.5 * scale / (std_dev * std_dev);
        let own = self.std_dev(graph);
        let apart = values.map_or(self.mean, |values| graph.difference(self.mean, values));
        let apart = graph.square(apart, None, weights, factor);
        let wide = graph.square(own, None, weights, factor);
        let narrow = weighted_sum(graph, self.log_variance, weights, -0.5 * scale);
        let count: f64 = match weights {
            Some(weights) => graph.value(weights).iter().map(|w| w.to_f64()).sum(),
            None => graph.value(self.mean).len() as f64,
        };
        let sum = graph.sum(apart, wide);
        let sum = graph.sum(sum, narrow);
        graph.affine(sum, 1.0, scale * count * (std_dev.ln() - 0.5))
    }
}

/// scale · Σ weight · x, one number, from sums of squares: 4x = (x + 1)² - (x - 1)².
fn weighted_sum<T: Float>(
    graph: &mut Graph<'_, T>,
    x: Var,
    weights: Option<Var>,
    scale: f64,
) -> Var {
    let mut around = |target: f64, scale: f64| {
        let (rows, columns) = (graph.rows(x), graph.columns(x));
        let target = graph.input(rows, columns, &vec![T::from_f64(target); rows * columns]);
        graph.square(x, Some(target), weights, scale)
    };
    let (above, below) = (around(-1.0, 0.25 * scale), around(1.0, -0.25 * scale));
    graph.sum(above, below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Memory, Parameters};

    /// By hand, for means 1 and 2, standard deviations 2 and 3, values 3 and 5, weights 1 and 0.5.
    #[test]
    fn likelihood_and_divergence_agree_with_the_arithmetic_by_hand() {
        let (mut memory, parameters) = (Memory::new(), Parameters::<f64>::new());
        let graph = &mut Graph::new(&mut memory, &parameters);
        let mut input = |numbers: [f64; 2]| graph.input(1, 2, &numbers);
        let mean = input([1.0, 2.0]);
        let log_variance = input([4.0_f64.ln(), 9.0_f64.ln()]);
        let (values, weights) = (input([3.0, 5.0]), input([1.0, 0.5]));
        let gaussian = Gaussian { mean, log_variance };
        let error = gaussian.standardize(graph, values);
        let close = |found: f64, expected: f64| {
            assert!(
                (found - expected).abs() < 1e-12,
                "{found} is not {expected}"
            );
        };
        close(graph.value(error)[0], 1.0);
        close(graph.value(error)[1], 1.0);
        let surprise = gaussian.surprise(graph, error, weights, 10.0);
        let expected = 0.5 * (1.0 + 4.0_f64.ln()) + 0.25 * (1.0 + 9.0_f64.ln());
        close(graph.value(surprise)[0], 10.0 * expected);
        // ln(σ₂/σ₁) + (σ₁² + (μ₁ - μ₂)²)/(2σ₂²) - 1/2 with σ₂ = 0.5
        let to = (Some(values), 0.5);
        let divergence = gaussian.divergence(graph, to, Some(weights), 10.0);
        let first = (0.25_f64).ln() + (4.0 + 4.0) / 0.5 - 0.5;
        let second = (0.5_f64 / 3.0).ln() + (9.0 + 9.0) / 0.5 - 0.5;
        close(graph.value(divergence)[0], 10.0 * (first + 0.5 * second));
    }
}
