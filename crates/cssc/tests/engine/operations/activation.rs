//! Activations, and how first and second derivatives pass them.
//!
//! The operands are a, a', a''; the *source* that `tangent` and `curve` take is φ(a), or a
//! itself for SiLU, GELU and sine.

use super::{Matrix, Operation};
use cssc::nn::{Activation, Float, Graph, Var};

fn source<T: Float>(graph: &mut Graph<'_, T>, a: Var, activation: Activation) -> Var {
    if activation.source_is_input() {
        a
    } else {
        graph.activate(a, activation)
    }
}

/// φ(a).
pub(crate) struct Activate(pub(crate) Activation);

impl Operation for Activate {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(5, 7, 11)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.activate(operands[0], self.0)
    }
}

/// φ'(a) ⊙ a'.
pub(crate) struct Tangent(pub(crate) Activation);

impl Operation for Tangent {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(5, 7, 12), Matrix::random(5, 7, 13)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let source = source(graph, operands[0], self.0);
        graph.tangent(source, operands[1], self.0)
    }
}

/// (source, row) of each row of [`TangentRows`]: some twice.
pub(crate) const PICKS: [(usize, usize); 5] = [(1, 2), (0, 0), (1, 2), (0, 1), (1, 0)];

/// φ'(s) ⊙ a' with rows s picked from two sources.
pub(crate) struct TangentRows(pub(crate) Activation);

impl Operation for TangentRows {
    fn operands(&self) -> Vec<Matrix> {
        vec![
            Matrix::random(2, 7, 17),
            Matrix::random(3, 7, 18),
            Matrix::random(5, 7, 19),
        ]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let sources = [0, 1].map(|i| source(graph, operands[i], self.0));
        graph.tangent_rows(&sources, PICKS, operands[2], self.0)
    }
}

/// φ'(a) ⊙ a'' + φ''(a) ⊙ a'².
pub(crate) struct Curve(pub(crate) Activation);

impl Operation for Curve {
    fn operands(&self) -> Vec<Matrix> {
        (14..17).map(|seed| Matrix::random(5, 7, seed)).collect()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let source = source(graph, operands[0], self.0);
        graph.curve(source, operands[1], operands[2], self.0)
    }
}
