//! Small operations, number by number.

use super::{Matrix, Operation};
use cssc::nn::{Float, Graph, Var};

/// a ⊙ b.
pub(crate) struct Product;

impl Operation for Product {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 31), Matrix::random(4, 5, 32)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.product(operands[0], operands[1])
    }
}

/// a ⊙ a: both operands get a share of one gradient.
pub(crate) struct ProductWithItself;

impl Operation for ProductWithItself {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 33)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.product(operands[0], operands[0])
    }
}

/// a + b + a.
pub(crate) struct Sum;

impl Operation for Sum {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 34), Matrix::random(4, 5, 35)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let once = graph.sum(operands[0], operands[1]);
        graph.sum(once, operands[0])
    }
}

/// (1 - gate) ⊙ a + gate ⊙ b.
pub(crate) struct Blend;

impl Operation for Blend {
    fn operands(&self) -> Vec<Matrix> {
        (36..39).map(|seed| Matrix::random(4, 5, seed)).collect()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.blend(operands[0], operands[1], operands[2])
    }
}

/// Columns of a, then of b.
pub(crate) struct Concat;

impl Operation for Concat {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 39), Matrix::random(4, 2, 40)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.concat(operands[0], operands[1])
    }
}

/// 0.3 Σ x² as a result of its own (with target and weights it is the loss of every check).
pub(crate) struct Square;

impl Operation for Square {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 41)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.square(operands[0], None, None, 0.3)
    }
}
