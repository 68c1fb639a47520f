//! y = φ(x), number by number.

use super::super::activation::Activation;
use super::super::chain;
use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::Op;

impl<T: Float> Graph<'_, T> {
    /// φ of every number of `x`.
    pub fn activate(&mut self, x: Var, activation: Activation) -> Var {
        let (rows, columns, tracked) = self.shape_of(x);
        let mut block = self.copy_of(x);
        activation.apply(self.arch, &mut block[..rows * columns]);
        self.push(
            Op::Activate { x, activation },
            rows,
            columns,
            block,
            tracked,
        )
    }

    pub(crate) fn shape_of(&self, x: Var) -> (usize, usize, bool) {
        let node = self.node(x);
        (node.rows, node.columns, node.tracked)
    }

    pub(crate) fn copy_of(&mut self, x: Var) -> Vec<T> {
        let len = self.node(x).len();
        let mut block = self.memory.pool.take(len);
        block[..len].copy_from_slice(self.value(x));
        block
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn activate(&mut self, y: Var, x: Var, activation: Activation, mut g: Vec<T>) {
        let source = if activation.source_is_input() { x } else { y };
        let len = self.nodes[y.index()].len();
        let source = self.nodes[source.index()].value();
        chain::pull_back(self.arch, activation, source, &mut g[..len], None);
        self.add_each(x, |_, i| g[i]);
        self.pool.give(g);
    }
}
