//! One step of a batch, each row with its own Δt; its gradient is the exact gradient of the
//! discrete step, since it is made of recorded operations.

use super::field::Field;
use super::tableau::Tableau;
use crate::nn::{Float, Graph, Var};

/// `state` `[rows, width]` after a step of `lengths` `[rows]` along h' = f(h).
pub fn advance<T: Float, F: Field<T> + ?Sized>(
    graph: &mut Graph<'_, T>,
    field: &F,
    tableau: &Tableau,
    state: Var,
    lengths: &[T],
) -> Var {
    let flow = field.flow(graph, state);
    advance_from(graph, field, tableau, [state, flow], lengths)
}

/// The same where `flow` = f(`state`) is known already, from a trace for instance.
pub fn advance_from<T: Float, F: Field<T> + ?Sized>(
    graph: &mut Graph<'_, T>,
    field: &F,
    tableau: &Tableau,
    [state, flow]: [Var; 2],
    lengths: &[T],
) -> Var {
    let stages = tableau.evaluations();
    let sources = evaluate(graph, field, tableau, [state, flow], stages, lengths);
    let end = combine(graph, &sources, true, tableau.weights, lengths);
    graph.give_vars(sources);
    end
}

/// [`advance`], and the difference to the embedded method of lower order, if the table has
/// one: an estimate of the error of that method in this step, `[rows, width]`.
pub fn advance_with_error<T: Float, F: Field<T> + ?Sized>(
    graph: &mut Graph<'_, T>,
    field: &F,
    tableau: &Tableau,
    state: Var,
    lengths: &[T],
) -> (Var, Option<Var>) {
    let Some(embedded) = tableau.embedded else {
        return (advance(graph, field, tableau, state, lengths), None);
    };
    let flow = field.flow(graph, state);
    let stages = 1 + tableau.stages.len();
    let sources = evaluate(graph, field, tableau, [state, flow], stages, lengths);
    let end = combine(graph, &sources, true, tableau.weights, lengths);
    let weight = |weights: &[f64], i: usize| weights.get(i).copied().unwrap_or(0.0);
    let differences: Vec<f64> = (0..stages)
        .map(|i| weight(tableau.weights, i) - weight(embedded.weights, i))
        .collect();
    let error = combine(graph, &sources, false, &differences, lengths);
    graph.give_vars(sources);
    (end, Some(error))
}

/// The state and the first `stages` evaluations k₁, k₂, …
fn evaluate<T: Float, F: Field<T> + ?Sized>(
    graph: &mut Graph<'_, T>,
    field: &F,
    tableau: &Tableau,
    [state, flow]: [Var; 2],
    stages: usize,
    lengths: &[T],
) -> Vec<Var> {
    let mut sources = graph.take_vars();
    sources.extend([state, flow]);
    for factors in &tableau.stages[..stages - 1] {
        let at = combine(graph, &sources, true, factors, lengths);
        sources.push(field.flow(graph, at));
    }
    sources
}

/// h (if `from_state`, else 0) + Δt Σ_j factor_j k_j for `sources` = h, k₁, k₂, …
fn combine<T: Float>(
    graph: &mut Graph<'_, T>,
    sources: &[Var],
    from_state: bool,
    factors: &[f64],
    lengths: &[T],
) -> Var {
    graph.mix(sources, |rows| {
        for (r, &length) in lengths.iter().enumerate() {
            if from_state {
                rows.term(0, r, T::ONE);
            }
            for (j, &factor) in factors.iter().enumerate() {
                if factor != 0.0 {
                    rows.term(j + 1, r, length * T::from_f64(factor));
                }
            }
            rows.end_row();
        }
    })
}
