//! Small operations, number by number: sum, difference, product, factor and shift, the GRU's
//! blend, columns side by side and apart, and weighted squares (the loss).

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::Op;

impl<T: Float> Graph<'_, T> {
    /// a ⊙ b.
    pub fn product(&mut self, a: Var, b: Var) -> Var {
        self.pointwise(Op::Product { a, b }, a, b, |a, b| a * b)
    }

    /// a + b.
    pub fn sum(&mut self, a: Var, b: Var) -> Var {
        self.pointwise(Op::Sum { a, b }, a, b, |a, b| a + b)
    }

    /// a - b.
    pub fn difference(&mut self, a: Var, b: Var) -> Var {
        self.pointwise(Op::Difference { a, b }, a, b, |a, b| a - b)
    }

    /// factor · x.
    pub fn scale(&mut self, x: Var, factor: f64) -> Var {
        self.affine(x, factor, 0.0)
    }

    /// factor · x + shift.
    pub fn affine(&mut self, x: Var, factor: f64, shift: f64) -> Var {
        let (rows, columns, tracked) = self.shape_of(x);
        let mut block = self.copy_of(x);
        let (by, plus) = (T::from_f64(factor), T::from_f64(shift));
        block.iter_mut().for_each(|y| *y = by * *y + plus);
        self.push(Op::Affine { x, factor }, rows, columns, block, tracked)
    }

    fn pointwise(&mut self, op: Op, a: Var, b: Var, f: impl Fn(T, T) -> T) -> Var {
        let (rows, columns, tracked) = self.shape_of(a);
        assert_eq!(self.node(b).len(), rows * columns, "operands of one shape");
        let tracked = tracked || self.node(b).tracked;
        let mut block = self.memory.pool.take(rows * columns);
        let pairs = self.value(a).iter().zip(self.value(b));
        block
            .iter_mut()
            .zip(pairs)
            .for_each(|(y, (&a, &b))| *y = f(a, b));
        self.push(op, rows, columns, block, tracked)
    }

    /// (1 - gate) ⊙ a + gate ⊙ b: the last line of a gated recurrent unit.
    pub fn blend(&mut self, gate: Var, a: Var, b: Var) -> Var {
        let (rows, columns, _) = self.shape_of(a);
        let tracked = [gate, a, b].iter().any(|&v| self.node(v).tracked);
        let mut block = self.memory.pool.take(rows * columns);
        let inputs = self
            .value(gate)
            .iter()
            .zip(self.value(a).iter().zip(self.value(b)));
        block
            .iter_mut()
            .zip(inputs)
            .for_each(|(y, (&z, (&a, &b)))| *y = (T::ONE - z) * a + z * b);
        self.push(Op::Blend { gate, a, b }, rows, columns, block, tracked)
    }

    /// Columns of a, then columns of b.
    pub fn concat(&mut self, a: Var, b: Var) -> Var {
        let (rows, left, tracked) = self.shape_of(a);
        let right = self.columns(b);
        assert_eq!(self.rows(b), rows, "operands with as many rows");
        let tracked = tracked || self.node(b).tracked;
        let columns = left + right;
        let mut block = self.memory.pool.take(rows * columns);
        for r in 0..rows {
            let line = &mut block[r * columns..(r + 1) * columns];
            line[..left].copy_from_slice(&self.value(a)[r * left..(r + 1) * left]);
            line[left..].copy_from_slice(&self.value(b)[r * right..(r + 1) * right]);
        }
        self.push(Op::Concat { a, b }, rows, columns, block, tracked)
    }

    /// Columns `first..first + count` of x.
    ///
    /// # Panics
    /// If x has not so many.
    pub fn columns_of(&mut self, x: Var, first: usize, count: usize) -> Var {
        let (rows, all, tracked) = self.shape_of(x);
        assert!(
            first + count <= all,
            "{count} columns from {first} of {all}"
        );
        let mut block = self.memory.pool.take(rows * count);
        for r in 0..rows {
            let source = &self.value(x)[r * all + first..][..count];
            block[r * count..(r + 1) * count].copy_from_slice(source);
        }
        self.push(Op::Columns { x, first }, rows, count, block, tracked)
    }

    /// scale · Σ weight · (x - target)², one number; target and weights are constants of the
    /// shape of x (0 and 1 if left out). Summed in double precision.
    pub fn square(&mut self, x: Var, target: Option<Var>, weights: Option<Var>, scale: f64) -> Var {
        let total: f64 = (0..self.node(x).len())
            .map(|i| {
                let goal = target.map_or(T::ZERO, |t| self.value(t)[i]);
                let weight = weights.map_or(T::ONE, |w| self.value(w)[i]);
                let miss = self.value(x)[i] - goal;
                (weight * miss * miss).to_f64()
            })
            .sum();
        let mut block = self.memory.pool.take(1);
        block[0] = T::from_f64(scale * total);
        let tracked = self.node(x).tracked;
        self.push(
            Op::Square {
                x,
                target,
                weights,
                scale,
            },
            1,
            1,
            block,
            tracked,
        )
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn product(&mut self, a: Var, b: Var, g: Vec<T>) {
        self.add_each(a, |nodes, i| nodes[b.index()].block[i] * g[i]);
        self.add_each(b, |nodes, i| nodes[a.index()].block[i] * g[i]);
        self.pool.give(g);
    }

    pub(crate) fn sum(&mut self, a: Var, b: Var, g: Vec<T>) {
        self.add_each(a, |_, i| g[i]);
        self.add_each(b, |_, i| g[i]);
        self.pool.give(g);
    }

    pub(crate) fn difference(&mut self, a: Var, b: Var, g: Vec<T>) {
        self.add_each(a, |_, i| g[i]);
        self.add_each(b, |_, i| -g[i]);
        self.pool.give(g);
    }

    pub(crate) fn affine(&mut self, x: Var, factor: f64, g: Vec<T>) {
        let factor = T::from_f64(factor);
        self.add_each(x, |_, i| factor * g[i]);
        self.pool.give(g);
    }

    pub(crate) fn columns(&mut self, y: Var, x: Var, first: usize, g: Vec<T>) {
        if self.tracked(x) {
            let (all, count) = (self.nodes[x.index()].columns, self.nodes[y.index()].columns);
            let len = self.nodes[y.index()].len();
            let lines = self.slot(x).chunks_exact_mut(all);
            for (line, g) in lines.zip(g[..len].chunks_exact(count)) {
                let target = &mut line[first..first + count];
                target.iter_mut().zip(g).for_each(|(sum, &g)| *sum += g);
            }
        }
        self.pool.give(g);
    }

    pub(crate) fn blend(&mut self, gate: Var, a: Var, b: Var, g: Vec<T>) {
        self.add_each(a, |nodes, i| (T::ONE - nodes[gate.index()].block[i]) * g[i]);
        self.add_each(b, |nodes, i| nodes[gate.index()].block[i] * g[i]);
        self.add_each(gate, |nodes, i| {
            (nodes[b.index()].block[i] - nodes[a.index()].block[i]) * g[i]
        });
        self.pool.give(g);
    }

    pub(crate) fn concat(&mut self, a: Var, b: Var, g: Vec<T>) {
        let (left, right) = (self.nodes[a.index()].columns, self.nodes[b.index()].columns);
        let columns = left + right;
        self.add_each(a, |_, i| g[i / left * columns + i % left]);
        self.add_each(b, |_, i| g[i / right * columns + left + i % right]);
        self.pool.give(g);
    }

    pub(crate) fn square(
        &mut self,
        x: Var,
        target: Option<Var>,
        weights: Option<Var>,
        scale: f64,
        g: Vec<T>,
    ) {
        let factor = T::from_f64(2.0 * scale) * g[0];
        self.add_each(x, |nodes, i| {
            let goal = target.map_or(T::ZERO, |t| nodes[t.index()].block[i]);
            let weight = weights.map_or(T::ONE, |w| nodes[w.index()].block[i]);
            factor * weight * (nodes[x.index()].block[i] - goal)
        });
        self.pool.give(g);
    }
}
