//! How first and second time derivatives pass an activation (method notes, section 4).
//!
//! For y = φ(a(t)) with the source s of `Activation` (y itself, or a for SiLU, GELU, sine):
//!
//! ```text
//!   y'  = φ'(s) a'                     tangent(s, a')
//!   y'' = φ'(s) a'' + φ''(s) a'²       curve(s, a', a'')
//! ```
//!
//! Gradients: of a', a'' by the same factors, and of s by dφ'/ds and dφ''/ds.
//!
//! The sources of a tangent may be rows of earlier results (`tangent_rows`): the activations
//! of a walk are read where they lie, and their gradients go where the walk's own backward
//! pass meets them.

use super::super::activation::Activation;
use super::super::chain::{self, Collected};
use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::Op;
use super::mix::{MixRange, row_of};

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

    /// φ'(s) ⊙ x, where each row of s is a (source, row) of `picks`.
    pub fn tangent_rows(
        &mut self,
        sources: &[Var],
        picks: impl IntoIterator<Item = (usize, usize)>,
        x: Var,
        activation: Activation,
    ) -> Var {
        let (rows, columns, _) = self.shape_of(x);
        assert!(
            sources.iter().all(|&s| self.columns(s) == columns),
            "sources as wide as x"
        );
        let (range, count) = self.record_picks(sources, picks);
        assert_eq!(count, rows, "a source for every row of x");
        let mut block = self.memory.pool.take(rows * columns);
        for (r, out) in block[..rows * columns]
            .chunks_exact_mut(columns)
            .enumerate()
        {
            let (source, row) = self.picked(range, r);
            let source = row_of(self.value(source), columns, row);
            let x = row_of(self.value(x), columns, r as u32);
            chain::slope(self.arch, activation, [source, x], out);
        }
        let op = Op::TangentRows {
            sources: range,
            x,
            activation,
        };
        self.push(op, rows, columns, block, true)
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

    pub(crate) fn tangent_rows(
        &mut self,
        sources: MixRange,
        x: Var,
        activation: Activation,
        g: Vec<T>,
    ) {
        let nodes = self.nodes;
        let columns = nodes[x.index()].columns;
        let (mut block, used) = self.take(x);
        for r in 0..nodes[x.index()].rows {
            let (source, row) = self.picked(sources, r);
            let at = row as usize * columns;
            let values = [
                row_of(nodes[source.index()].value(), columns, row),
                row_of(nodes[x.index()].value(), columns, r as u32),
            ];
            let line = r * columns..(r + 1) * columns;
            let arch = self.arch;
            let targets = [
                Collected {
                    block: &mut self.slot(source)[at..at + columns],
                    used: true,
                },
                Collected {
                    block: &mut block[line.clone()],
                    used,
                },
            ];
            chain::slope_back(arch, activation, values, &g[line], targets);
        }
        self.put(x, block);
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
