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

/// 2a - (a - b).
pub(crate) struct Difference;

impl Operation for Difference {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 42), Matrix::random(4, 5, 43)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let once = graph.difference(operands[0], operands[1]);
        let doubled = graph.scale(operands[0], 2.0);
        graph.difference(doubled, once)
    }
}

/// -0.7 x + 0.4.
pub(crate) struct Affine;

impl Operation for Affine {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 44)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.affine(operands[0], -0.7, 0.4)
    }
}

/// The middle columns, twice.
pub(crate) struct Columns;

impl Operation for Columns {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, 5, 45)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let [left, right] = [1, 2].map(|first| graph.columns_of(operands[0], first, 2));
        graph.product(left, right)
    }
}
