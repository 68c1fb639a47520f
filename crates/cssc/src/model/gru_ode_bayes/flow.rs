//! The continuous gated recurrent unit (De Brouwer et al. 2019, eq. 3), as a field.
//!
//! ```text
//!   h' = (1 - z) ⊙ (n - h)      r = σ(R h)   z = σ(Z h)   n = tanh(N (r ⊙ h))
//! ```
//!
//! Along v, with a dot for the derivative: ṙ = r(1 - r) ⊙ Rv, ż likewise, ṅ = (1 - n²) ⊙ N(ṙ ⊙ h + r ⊙ v),
//! and (∂f/∂h) v = (1 - z) ⊙ (ṅ - v) - ż ⊙ (n - h).

use crate::data::Random;
use crate::nn::{Activation, Float, Graph, Initializer, Linear, Parameters, Var};
use crate::ode::{Field, SmoothField};

/// R, Z and N with their biases.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct GruFlow {
    reset: Linear,
    update: Linear,
    candidate: Linear,
}

/// The gates of an evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gates {
    state: Var,
    reset: Var,
    update: Var,
    candidate: Var,
}

impl GruFlow {
    /// Adds `NAME.reset`, `NAME.update` and `NAME.candidate` to the store.
    pub(crate) fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        hidden: usize,
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        let mut gate = |part: &str| {
            let name = format!("{name}.{part}");
            Linear::new(parameters, &name, hidden, hidden, initializer, random)
        };
        Self {
            reset: gate("reset"),
            update: gate("update"),
            candidate: gate("candidate"),
        }
    }
}

impl<T: Float> Field<T> for GruFlow {
    fn width(&self) -> usize {
        self.reset.inputs()
    }

    fn flow(&self, graph: &mut Graph<'_, T>, state: Var) -> Var {
        self.trace(graph, state).0
    }
}

impl<T: Float> SmoothField<T> for GruFlow {
    type Trace = Gates;

    fn trace(&self, graph: &mut Graph<'_, T>, state: Var) -> (Var, Gates) {
        let reset = graph.linear(state, &self.reset, Activation::Sigmoid);
        let update = graph.linear(state, &self.update, Activation::Sigmoid);
        let kept = graph.product(reset, state);
        let candidate = graph.linear(kept, &self.candidate, Activation::Tanh);
        let next = graph.blend(update, candidate, state);
        let flow = graph.difference(next, state);
        let gates = Gates {
            state,
            reset,
            update,
            candidate,
        };
        (flow, gates)
    }

    fn tangent(&self, graph: &mut Graph<'_, T>, gates: &Gates, direction: Var) -> Var {
        let mut gate = |layer: &Linear, value: Var| {
            let slope = graph.linear_tangent(direction, layer);
            graph.tangent(value, slope, Activation::Sigmoid)
        };
        let (reset, update) = (
            gate(&self.reset, gates.reset),
            gate(&self.update, gates.update),
        );
        let turned = graph.product(reset, gates.state);
        let moved = graph.product(gates.reset, direction);
        let kept = graph.sum(turned, moved);
        let candidate = graph.linear_tangent(kept, &self.candidate);
        let candidate = graph.tangent(gates.candidate, candidate, Activation::Tanh);
        let next = graph.blend(gates.update, candidate, direction);
        let pull = graph.difference(gates.state, gates.candidate);
        let pull = graph.product(update, pull);
        let change = graph.difference(next, direction);
        graph.sum(change, pull)
    }

    fn tangent_rows(
        &self,
        graph: &mut Graph<'_, T>,
        traces: &[Gates],
        picks: &[(usize, usize)],
        direction: Var,
    ) -> Var {
        let mut rows = |part: fn(&Gates) -> Var| {
            let sources: Vec<Var> = traces.iter().map(part).collect();
            graph.collect(&sources, picks.iter().copied())
        };
        let gates = Gates {
            state: rows(|gates| gates.state),
            reset: rows(|gates| gates.reset),
            update: rows(|gates| gates.update),
            candidate: rows(|gates| gates.candidate),
        };
        self.tangent(graph, &gates, direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Memory;

    /// h'' = (∂f/∂h) f against a difference of f along the flow.
    #[test]
    fn the_tangent_is_the_derivative_of_the_flow() {
        let mut parameters = Parameters::<f64>::new();
        let random = &mut Random::new(4);
        let flow = GruFlow::new(&mut parameters, "flow", 5, Initializer::Normal(0.8), random);
        for x in parameters.values_mut() {
            *x += random.normal(0.0, 0.3);
        }
        parameters.pack();
        let mut memory = Memory::new();
        let mut graph = Graph::new(&mut memory, &parameters);
        let numbers: Vec<f64> = (0..10).map(|_| random.uniform(-1.0, 1.0)).collect();
        let state = graph.input(2, 5, &numbers);
        let (slope, gates) = flow.trace(&mut graph, state);
        let tangent = flow.tangent(&mut graph, &gates, slope);
        let picks = [(0, 1), (0, 0)];
        let turned = graph.collect(&[slope], picks);
        let turned = flow.tangent_rows(&mut graph, &[gates], &picks, turned);
        let mut at = |step: f64| {
            let moved = graph.add_scaled(state, &[(slope, 1.0)], &[step, step]);
            let flow = flow.flow(&mut graph, moved);
            graph.value(flow).to_vec()
        };
        let (after, before) = (at(1e-6), at(-1e-6));
        for i in 0..10 {
            let expected = (after[i] - before[i]) / 2e-6;
            let found = graph.value(tangent)[i];
            assert!((found - expected).abs() < 1e-8, "{found} is not {expected}");
            assert_eq!(graph.value(turned)[(i + 5) % 10], found);
        }
    }
}
