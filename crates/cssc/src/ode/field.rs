//! What is integrated: h' = f(h), and what a smooth curve needs of it, h'' = (∂f/∂h) f.
//!
//! A field is composed from the operations of [`Graph`], so it needs no gradient of its own.
//! Time itself does not enter: a field that depends on it carries it as a channel of h.

use crate::nn::{Float, Graph, Layer, Mlp, Trace, Var};
use std::fmt::Debug;

/// The right-hand side of h' = f(h).
pub trait Field<T: Float>: Debug + Send + Sync {
    /// Width of h.
    fn width(&self) -> usize;

    /// f at `state` `[rows, width]`: `[rows, width]`.
    fn flow(&self, graph: &mut Graph<'_, T>, state: Var) -> Var;
}

/// A field whose derivative along a direction is known.
///
/// A walk evaluates f anyway. [`SmoothField::trace`] keeps what the derivative needs (results
/// on the record, no copies), so that h'' at the states of the walk costs the tangent only.
pub trait SmoothField<T: Float>: Field<T> {
    /// What is kept of an evaluation: results on the record.
    type Trace: Copy + Debug + Send + Sync;

    /// f at `state`, and what a tangent there needs.
    fn trace(&self, graph: &mut Graph<'_, T>, state: Var) -> (Var, Self::Trace);

    /// (∂f/∂h) v at the traced states, for v = `direction` `[rows, width]`: with v = f it is h''.
    fn tangent(&self, graph: &mut Graph<'_, T>, trace: &Self::Trace, direction: Var) -> Var;

    /// The same where row i of `direction` belongs to row `picks[i].1` of trace `picks[i].0`.
    fn tangent_rows(
        &self,
        graph: &mut Graph<'_, T>,
        traces: &[Self::Trace],
        picks: &[(usize, usize)],
        direction: Var,
    ) -> Var;
}

impl<T: Float> Field<T> for Mlp {
    fn width(&self) -> usize {
        self.inputs()
    }

    fn flow(&self, graph: &mut Graph<'_, T>, state: Var) -> Var {
        self.forward(graph, state)
    }
}

impl<T: Float> SmoothField<T> for Mlp {
    type Trace = Trace;

    fn trace(&self, graph: &mut Graph<'_, T>, state: Var) -> (Var, Trace) {
        let trace = self.forward_traced(graph, state);
        (trace.output, trace)
    }

    fn tangent(&self, graph: &mut Graph<'_, T>, trace: &Trace, direction: Var) -> Var {
        self.tangent(graph, trace, direction)
    }

    fn tangent_rows(
        &self,
        graph: &mut Graph<'_, T>,
        traces: &[Trace],
        picks: &[(usize, usize)],
        direction: Var,
    ) -> Var {
        self.tangent_rows(graph, traces, picks, direction)
    }
}
