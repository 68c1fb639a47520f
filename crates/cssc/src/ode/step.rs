//! One step of a batch, each row with its own Δt; its gradient is the exact gradient of the
//! discrete step, since it is made of recorded operations.

use super::tableau::Tableau;
use crate::nn::{Float, Graph, Layer, Mlp, Trace, Var};

/// What a step leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The state at the end of the step.
    pub end: Var,
    /// If traced: the first evaluation, f at the start, with all that a tangent pass needs.
    pub start: Option<Trace>,
}

/// Advances `state` `[rows, hidden]` by `lengths` `[rows]` along h' = f(h).
pub fn advance<T: Float>(
    graph: &mut Graph<'_, T>,
    dynamics: &Mlp,
    tableau: &Tableau,
    state: Var,
    lengths: &[T],
    traced: bool,
) -> Step {
    let start = traced.then(|| dynamics.forward_traced(graph, state));
    let first = start.map_or_else(|| dynamics.forward(graph, state), |trace| trace.output);
    let mut slopes = [first; 8];
    for (i, row) in tableau.stages.iter().enumerate() {
        let at = combine(graph, state, &slopes, row, lengths);
        slopes[i + 1] = dynamics.forward(graph, at);
    }
    Step {
        end: combine(graph, state, &slopes, tableau.weights, lengths),
        start,
    }
}

fn combine<T: Float>(
    graph: &mut Graph<'_, T>,
    state: Var,
    slopes: &[Var],
    factors: &[f64],
    lengths: &[T],
) -> Var {
    let mut terms = [(state, T::ZERO); 8];
    let mut count = 0;
    for (&slope, &factor) in slopes.iter().zip(factors) {
        if factor != 0.0 {
            terms[count] = (slope, T::from_f64(factor));
            count += 1;
        }
    }
    graph.add_scaled(state, &terms[..count], lengths)
}
