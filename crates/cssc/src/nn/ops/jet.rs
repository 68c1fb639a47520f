//! How first and second time derivatives pass an activation (method notes, section 4).
//!
//! For y = φ(a(t)) with the source s of `Activation` (y itself, or a for SiLU):
//!
//! ```text
//!   y'  = φ'(s) a'                     tangent(s, a')
//!   y'' = φ'(s) a'' + φ''(s) a'²       curve(s, a', a'')
//! ```
//!
//! Gradients: of a', a'' by the same factors, and of s by dφ'/ds and dφ''/ds.

use super::super::activation::Activation;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::super::float::Float;
use super::Op;

impl<T: Float> Graph<'_, T> {
    /// φ'(source) ⊙ x.
    pub fn tangent(&mut self, source: Var, x: Var, activation: Activation) -> Var {
        let (rows, columns, tracked) = self.shape_of(x);
        let tracked = tracked || self.node(source).tracked;
        let mut block = self.memory.pool.take(rows * columns);
        let pairs = self.value(source).iter().zip(self.value(x));
        block.iter_mut().zip(pairs).for_each(|(y, (&s, &x))| *y = activation.slopes(s).first * x);
        self.push(Op::Tangent { source, x, activation }, rows, columns, block, tracked)
    }

    /// φ'(source) ⊙ second + φ''(source) ⊙ first².
    pub fn curve(&mut self, source: Var, first: Var, second: Var, activation: Activation) -> Var {
        let (rows, columns, _) = self.shape_of(first);
        let tracked = [source, first, second].iter().any(|&v| self.node(v).tracked);
        let mut block = self.memory.pool.take(rows * columns);
        let inputs = self.value(source).iter().zip(self.value(first).iter().zip(self.value(second)));
        block.iter_mut().zip(inputs).for_each(|(y, (&s, (&x1, &x2)))| {
            let slopes = activation.slopes(s);
            *y = slopes.first * x2 + slopes.second * x1 * x1;
        });
        self.push(Op::Curve { source, first, second, activation }, rows, columns, block, tracked)
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn tangent(&mut self, source: Var, x: Var, activation: Activation, g: Vec<T>) {
        self.add_each(x, |nodes, i| {
            activation.slopes(nodes[source.index()].block[i]).first * g[i]
        });
        self.add_each(source, |nodes, i| {
            let slopes = activation.slopes(nodes[source.index()].block[i]);
            slopes.first_by_source * nodes[x.index()].block[i] * g[i]
        });
        self.pool.give(g);
    }

    pub(crate) fn curve(
        &mut self,
        source: Var,
        first: Var,
        second: Var,
        activation: Activation,
        g: Vec<T>,
    ) {
        let two = T::from_f64(2.0);
        self.add_each(second, |nodes, i| {
            activation.slopes(nodes[source.index()].block[i]).first * g[i]
        });
        self.add_each(first, |nodes, i| {
            let slopes = activation.slopes(nodes[source.index()].block[i]);
            two * slopes.second * nodes[first.index()].block[i] * g[i]
        });
        self.add_each(source, |nodes, i| {
            let slopes = activation.slopes(nodes[source.index()].block[i]);
            let (x1, x2) = (nodes[first.index()].block[i], nodes[second.index()].block[i]);
            (slopes.first_by_source * x2 + slopes.second_by_source * x1 * x1) * g[i]
        });
        self.pool.give(g);
    }
}
