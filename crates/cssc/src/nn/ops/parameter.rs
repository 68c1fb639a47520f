//! A parameter as an operand: learned start states, queries, rows to be added.

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::super::parameters::ParameterId;
use super::Op;

impl<T: Float> Graph<'_, T> {
    /// The numbers of a parameter in its shape. Weights that rows are multiplied by do not come
    /// this way but through [`Graph::linear`].
    pub fn parameter(&mut self, id: ParameterId) -> Var {
        let [rows, columns] = self.parameters.shape(id);
        let mut block = self.memory.pool.take(rows * columns);
        block[..rows * columns].copy_from_slice(self.parameters.get(id));
        self.push(Op::Parameter(id), rows, columns, block, true)
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn parameter(&mut self, id: ParameterId, g: Vec<T>) {
        let target = &mut self.gradient.values[self.parameters.range(id)];
        target.iter_mut().zip(&g).for_each(|(sum, &g)| *sum += g);
        self.pool.give(g);
    }
}
