//! The gated recurrent unit that updates the state at an observation (paper eq. 3).
//!
//! With u = (observed values, 0 where missing; mask) and [·,·] side by side:
//!
//! ```text
//!   r = σ(R([h, u]))      z = σ(Z([h, u]))      n = tanh(N([r ⊙ h, u]))
//!   h⁺ = (1 - z) ⊙ n + z ⊙ h
//! ```
//!
//! R, Z, N are networks with one hidden tanh layer, as in the public code of Rubanova et al.
//! 2019 (there with a deviation as a second state, which the paper does not use).

use super::activation::Activation;
use super::float::Float;
use super::graph::Graph;
use super::layer::Layer;
use super::memory::Var;
use super::mlp::Mlp;
use super::parameters::{Initializer, Parameters};
use crate::data::Random;

/// A gated recurrent unit with gate networks.
#[derive(Clone, PartialEq, Debug)]
pub struct GatedCell {
    reset: Mlp,
    update: Mlp,
    candidate: Mlp,
}

impl GatedCell {
    /// Adds `NAME.reset`, `NAME.update` and `NAME.candidate` to the store, each
    /// (hidden + inputs)-width-hidden.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        [hidden, inputs, width]: [usize; 3],
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        let mut gate = |part: &str, last| {
            let widths = [hidden + inputs, width, hidden];
            let activations = [Activation::Tanh, last];
            Mlp::new(
                parameters,
                &format!("{name}.{part}"),
                &widths,
                activations,
                initializer,
                random,
            )
        };
        Self {
            reset: gate("reset", Activation::Sigmoid),
            update: gate("update", Activation::Sigmoid),
            candidate: gate("candidate", Activation::Tanh),
        }
    }

    /// The state after the update: `hidden` [rows, hidden], `inputs` [rows, inputs].
    pub fn forward<T: Float>(&self, graph: &mut Graph<'_, T>, hidden: Var, inputs: Var) -> Var {
        let both = graph.concat(hidden, inputs);
        let reset = self.reset.forward(graph, both);
        let update = self.update.forward(graph, both);
        let kept = graph.product(reset, hidden);
        let candidate_in = graph.concat(kept, inputs);
        let candidate = self.candidate.forward(graph, candidate_in);
        let next = graph.blend(update, candidate, hidden);
        for var in [both, reset, update, kept, candidate_in, candidate] {
            graph.forget(var);
        }
        next
    }
}
