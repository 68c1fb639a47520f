//! One computation and its gradient: a small tape.
//!
//! A [`Graph`] records fused operations in the order they run; each result is a matrix
//! [rows, columns] named by a [`Var`]. [`Graph::backward`] walks the record from its end and
//! adds the gradients of the parameters into one flat [`Gradient`]. Models are composed from
//! the operations in `ops/` and contain no gradients of their own.
//!
//! ```text
//!   let mut graph = Graph::new(&mut memory, &parameters);
//!   let h = graph.input(rows, columns, &numbers);
//!   let y = mlp.forward(&mut graph, h);
//!   let loss = graph.square(y, None, None, 1.0);
//!   graph.backward(loss, &mut gradient);
//! ```
//!
//! **Weight gradients are deferred.** A weight of a neural ODE is used hundreds of times; its
//! uses are kept (block in, gradient out) until they fill one pass of `outer_product` (128
//! rows), and are then summed in one product.

use super::arch;
use super::float::Float;
use super::kernel::{Aligned, ROWS_PER_PASS, Use, outer_product};
use super::memory::{Memory, Node, PendingUse, Pool, Var};
use super::ops::{Op, Workspaces};
use super::parameters::{ParameterId, Parameters};
use pulp::Arch;

/// Uses summed in one product at most.
const FLUSH_USES: usize = 64;

/// Gradient of a loss with respect to all [`Parameters`], in the same flat order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient<T> {
    /// One number for each parameter number.
    pub values: Vec<T>,
}

impl<T: Float> Gradient<T> {
    /// A gradient of zero for `parameters`.
    #[must_use]
    pub fn zeros(parameters: &Parameters<T>) -> Self {
        Self {
            values: vec![T::ZERO; parameters.values().len()],
        }
    }

    /// Its Euclidean length, summed in double precision.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.values
            .iter()
            .map(|g| g.to_f64() * g.to_f64())
            .sum::<f64>()
            .sqrt()
    }
}

/// A computation being recorded.
#[derive(Debug)]
pub struct Graph<'a, T: Float> {
    pub(crate) memory: &'a mut Memory<T>,
    pub(crate) parameters: &'a Parameters<T>,
    pub(crate) arch: Arch,
    recording: bool,
}

impl<'a, T: Float> Graph<'a, T> {
    /// Starts a computation that can be differentiated, in memory kept from earlier ones.
    pub fn new(memory: &'a mut Memory<T>, parameters: &'a Parameters<T>) -> Self {
        memory.clear();
        Self {
            memory,
            parameters,
            arch: arch::best(),
            recording: true,
        }
    }

    /// Starts a computation without gradients: inner results are forgotten as it goes.
    pub fn forward_only(memory: &'a mut Memory<T>, parameters: &'a Parameters<T>) -> Self {
        let mut graph = Self::new(memory, parameters);
        graph.recording = false;
        graph
    }

    /// Whether this computation can be differentiated.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.recording
    }

    pub(crate) fn assert_not_recording(&self, what: &str) {
        assert!(
            !self.recording,
            "{what} has no gradient: use Graph::forward_only"
        );
    }

    /// The parameters of this computation.
    #[must_use]
    pub fn parameters(&self) -> &Parameters<T> {
        self.parameters
    }

    /// The numbers of a result, row by row.
    #[must_use]
    pub fn value(&self, var: Var) -> &[T] {
        self.node(var).value()
    }

    /// Rows of a result.
    #[must_use]
    pub fn rows(&self, var: Var) -> usize {
        self.node(var).rows
    }

    /// Columns of a result.
    #[must_use]
    pub fn columns(&self, var: Var) -> usize {
        self.node(var).columns
    }

    /// A constant matrix.
    pub fn input(&mut self, rows: usize, columns: usize, numbers: &[T]) -> Var {
        self.leaf(rows, columns, numbers, false)
    }

    /// A constant matrix whose gradient is wanted: see [`Graph::backward_with`].
    pub fn tracked_input(&mut self, rows: usize, columns: usize, numbers: &[T]) -> Var {
        self.leaf(rows, columns, numbers, true)
    }

    fn leaf(&mut self, rows: usize, columns: usize, numbers: &[T], tracked: bool) -> Var {
        assert_eq!(
            numbers.len(),
            rows * columns,
            "an input of {rows} x {columns}"
        );
        let mut block = self.memory.pool.take(numbers.len());
        block[..numbers.len()].copy_from_slice(numbers);
        self.push(Op::Leaf, rows, columns, block, tracked)
    }

    /// A constant matrix of zeros in the shape of `var`.
    pub fn zeros_like(&mut self, var: Var) -> Var {
        let (rows, columns) = (self.rows(var), self.columns(var));
        let mut block = self.memory.pool.take(rows * columns);
        block[..rows * columns].fill(T::ZERO);
        self.push(Op::Leaf, rows, columns, block, false)
    }

    /// The same numbers as a constant: no gradient flows back through here.
    pub fn detach(&mut self, var: Var) -> Var {
        let (rows, columns) = (self.rows(var), self.columns(var));
        let mut block = self.memory.pool.take(rows * columns);
        block[..rows * columns].copy_from_slice(self.value(var));
        self.push(Op::Leaf, rows, columns, block, false)
    }

    /// Says that `var` is not used any more by what follows. Without gradients its block is
    /// used again at once; while recording this does nothing.
    pub fn forget(&mut self, var: Var) {
        if !self.recording {
            let block = std::mem::take(&mut self.memory.nodes[var.index()].block);
            self.memory.pool.give(block);
        }
    }

    /// An empty list that keeps its memory between uses; give it back.
    pub(crate) fn take_vars(&mut self) -> Vec<Var> {
        let mut vars = std::mem::take(&mut self.memory.vars);
        vars.clear();
        vars
    }

    pub(crate) fn give_vars(&mut self, vars: Vec<Var>) {
        self.memory.vars = vars;
    }

    pub(crate) fn node(&self, var: Var) -> &Node<T> {
        &self.memory.nodes[var.index()]
    }

    /// The name the next result will have.
    pub(crate) fn next_var(&self) -> Var {
        Var(u32::try_from(self.memory.nodes.len()).expect("fewer than 2^32 operations"))
    }

    pub(crate) fn push(
        &mut self,
        op: Op,
        rows: usize,
        columns: usize,
        block: Vec<T>,
        tracked: bool,
    ) -> Var {
        let var = self.next_var();
        self.memory.nodes.push(Node {
            op,
            rows,
            columns,
            block,
            tracked,
        });
        var
    }

    /// Adds the gradient of `loss` (one number) into `gradient`.
    pub fn backward(&mut self, loss: Var, gradient: &mut Gradient<T>) {
        self.backward_with(loss, gradient, |_, _| {});
    }

    /// Like [`Graph::backward`]; `visit` also sees the gradient of every tracked input.
    pub fn backward_with(
        &mut self,
        loss: Var,
        gradient: &mut Gradient<T>,
        mut visit: impl FnMut(Var, &[T]),
    ) {
        assert!(self.recording, "a computation without gradients has none");
        assert_eq!(self.node(loss).len(), 1, "a loss is one number");
        let Memory {
            nodes,
            pool,
            gradients,
            workspaces,
            pending,
            scratch,
            ..
        } = &mut *self.memory;
        gradients.resize_with(nodes.len(), Vec::new);
        pending.resize_with(self.parameters.infos().len(), Vec::new);
        let mut backward = Backward {
            arch: self.arch,
            parameters: self.parameters,
            nodes,
            pool,
            gradients,
            workspaces,
            pending,
            scratch,
            gradient,
        };
        backward.seed(loss);
        for index in (0..=loss.index()).rev() {
            let block = std::mem::take(&mut backward.gradients[index]);
            if block.is_empty() {
                continue;
            }
            let node = &backward.nodes[index];
            if matches!(node.op, Op::Leaf) {
                visit(Var(index as u32), &block[..node.len()]);
                backward.pool.give(block);
            } else {
                backward.step(Var(index as u32), block);
            }
        }
        backward.flush_all();
    }
}

/// The state of a walk back over the record.
pub(crate) struct Backward<'a, T: Float> {
    pub(crate) arch: Arch,
    pub(crate) parameters: &'a Parameters<T>,
    pub(crate) nodes: &'a [Node<T>],
    pub(crate) pool: &'a mut Pool<T>,
    pub(crate) gradients: &'a mut [Vec<T>],
    pub(crate) workspaces: &'a mut Workspaces<T>,
    pending: &'a mut [Vec<PendingUse<T>>],
    pub(crate) scratch: &'a mut Aligned<T>,
    pub(crate) gradient: &'a mut Gradient<T>,
}

impl<T: Float> Backward<'_, T> {
    fn seed(&mut self, loss: Var) {
        let mut block = self.pool.take(1);
        block[0] = T::ONE;
        self.gradients[loss.index()] = block;
    }

    pub(crate) fn tracked(&self, var: Var) -> bool {
        self.nodes[var.index()].tracked
    }

    /// The gradient of `var` to be added to, starting from zero.
    pub(crate) fn slot(&mut self, var: Var) -> &mut [T] {
        let len = self.nodes[var.index()].len();
        let slot = &mut self.gradients[var.index()];
        if slot.is_empty() {
            *slot = self.pool.take(len);
            slot[..len].fill(T::ZERO);
        }
        &mut slot[..len]
    }

    /// Takes the gradient block of `var` out, and whether it has content; put it back with
    /// [`Backward::put`].
    pub(crate) fn take(&mut self, var: Var) -> (Vec<T>, bool) {
        let block = std::mem::take(&mut self.gradients[var.index()]);
        if block.is_empty() {
            (self.pool.take(self.nodes[var.index()].len()), false)
        } else {
            (block, true)
        }
    }

    /// Keeps the gradient of `var` if it is wanted. What another operand of the same name has
    /// put there meanwhile is added.
    pub(crate) fn put(&mut self, var: Var, mut block: Vec<T>) {
        if !self.tracked(var) {
            return self.pool.give(block);
        }
        let slot = &mut self.gradients[var.index()];
        block.iter_mut().zip(&*slot).for_each(|(sum, &g)| *sum += g);
        let before = std::mem::replace(slot, block);
        self.pool.give(before);
    }

    /// Adds `f(i)` to each number of the gradient of `var`, if it is wanted.
    pub(crate) fn add_each(&mut self, var: Var, f: impl Fn(&[Node<T>], usize) -> T) {
        if !self.tracked(var) {
            return;
        }
        let len = self.nodes[var.index()].len();
        let (mut block, used) = self.take(var);
        if used {
            block[..len]
                .iter_mut()
                .enumerate()
                .for_each(|(i, g)| *g += f(self.nodes, i));
        } else {
            block[..len]
                .iter_mut()
                .enumerate()
                .for_each(|(i, g)| *g = f(self.nodes, i));
        }
        self.put(var, block);
    }

    /// Keeps a use of `weight` for the next flush; takes over the block `dy`.
    pub(crate) fn defer(&mut self, weight: ParameterId, x: Var, dy: Vec<T>) {
        let rows = self.nodes[x.index()].rows;
        let list = &mut self.pending[weight.0];
        list.push(PendingUse { x, rows, dy });
        let waiting: usize = list.iter().map(|one| one.rows).sum();
        // Another such use would not fit.
        if waiting + rows > ROWS_PER_PASS || list.len() == FLUSH_USES {
            self.flush(weight);
        }
    }

    fn flush(&mut self, weight: ParameterId) {
        let [inputs, outputs] = self.parameters.shape(weight);
        let list = &mut self.pending[weight.0];
        let mut uses = [Use {
            x: &[][..],
            dy: &[][..],
        }; FLUSH_USES];
        for (slot, one) in uses.iter_mut().zip(&*list) {
            let x = self.nodes[one.x.index()].value();
            *slot = Use {
                x,
                dy: &one.dy[..one.rows * outputs],
            };
        }
        let target = &mut self.gradient.values[self.parameters.range(weight)];
        outer_product(
            self.arch,
            &uses[..list.len()],
            inputs,
            outputs,
            target,
            self.scratch,
        );
        for one in list.drain(..) {
            self.pool.give(one.dy);
        }
    }

    fn flush_all(&mut self) {
        for weight in 0..self.pending.len() {
            if !self.pending[weight].is_empty() {
                self.flush(ParameterId(weight));
            }
        }
    }
}
