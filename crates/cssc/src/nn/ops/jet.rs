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
use super::super::chain::{self, Collected};
use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::Op;

impl<T: Float> Graph<'_, T> {
    /// φ'(source) ⊙ x.
    pub fn tangent(&mut self, source: Var, x: Var, activation: Activation) -> Var {
        let (rows, columns, tracked) = self.shape_of(x);
        let len = rows * columns;
        assert_eq!(self.node(source).len(), len, "a source of the shape of x");
        let tracked = tracked || self.node(source).tracked;
        let mut block = self.memory.pool.take(len);
        let operands = [source, x].map(|var| self.value(var));
        chain::slope(self.arch, activation, operands, &mut block[..len]);
        self.push(
            Op::Tangent {
                source,
                x,
                activation,
            },
            rows,
            columns,
            block,
            tracked,
        )
    }

    /// φ'(source) ⊙ second + φ''(source) ⊙ first².
    pub fn curve(&mut self, source: Var, first: Var, second: Var, activation: Activation) -> Var {
        let (rows, columns, _) = self.shape_of(first);
        let len = rows * columns;
        let vars = [source, first, second];
        assert!(
            vars.iter().all(|&v| self.node(v).len() == len),
            "operands of one shape"
        );
        let tracked = vars.iter().any(|&v| self.node(v).tracked);
        let mut block = self.memory.pool.take(len);
        let operands = vars.map(|var| self.value(var));
        chain::curvature(self.arch, activation, operands, &mut block[..len]);
        self.push(
            Op::Curve {
                source,
                first,
                second,
                activation,
            },
            rows,
            columns,
            block,
            tracked,
        )
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn tangent(&mut self, operands: [Var; 2], activation: Activation, g: Vec<T>) {
        let len = self.nodes[operands[0].index()].len();
        let mut lent = operands.map(|var| self.take(var));
        let values = operands.map(|var| self.nodes[var.index()].value());
        let targets = lent
            .each_mut()
            .map(|(block, used)| Collected { block, used: *used });
        chain::slope_back(self.arch, activation, values, &g[..len], targets);
        operands
            .into_iter()
            .zip(lent)
            .for_each(|(var, (block, _))| self.put(var, block));
        self.pool.give(g);
    }

    pub(crate) fn curve(&mut self, operands: [Var; 3], activation: Activation, g: Vec<T>) {
        let len = self.nodes[operands[0].index()].len();
        let mut lent = operands.map(|var| self.take(var));
        let values = operands.map(|var| self.nodes[var.index()].value());
        let targets = lent
            .each_mut()
            .map(|(block, used)| Collected { block, used: *used });
        chain::curvature_back(self.arch, activation, values, &g[..len], targets);
        operands
            .into_iter()
            .zip(lent)
            .for_each(|(var, (block, _))| self.put(var, block));
        self.pool.give(g);
    }
}
