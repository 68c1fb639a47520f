//! The memory of a computation, kept between iterations.
//!
//! Blocks go back to a pool when a computation ends, so that after the first iteration
//! nothing is asked from the system: an iteration costs its activations and no more.

use super::float::Float;
use super::kernel::Aligned;
use super::ops::{Op, Workspaces};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A value of the computation: a matrix [rows, columns].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var(pub(crate) u32);

impl Var {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
pub(crate) struct Node<T> {
    pub(crate) op: Op,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// At least rows·columns long (pool blocks come in sizes); empty when already given back.
    pub(crate) block: Vec<T>,
    /// Whether a gradient can flow through here to a parameter or a tracked input.
    pub(crate) tracked: bool,
}

impl<T> Node<T> {
    pub(crate) fn len(&self) -> usize {
        self.rows * self.columns
    }

    pub(crate) fn value(&self) -> &[T] {
        &self.block[..self.rows * self.columns]
    }
}

/// Sizes need no protection against chosen keys, and blocks are asked for thousands of times
/// an iteration: one multiplication.
#[derive(Debug, Default)]
struct SizeHasher(u64);

impl Hasher for SizeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(byte.into()));
    }

    fn write_usize(&mut self, size: usize) {
        self.0 = (self.0 ^ size as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Blocks by size, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Pool<T> {
    free: HashMap<usize, Vec<Vec<T>>, BuildHasherDefault<SizeHasher>>,
    /// Numbers handed out by the system so far (not by the pool).
    pub(crate) allocated: usize,
}

impl<T: Float> Pool<T> {
    /// A block of at least `len` numbers with any content.
    pub(crate) fn take(&mut self, len: usize) -> Vec<T> {
        let size = len.next_multiple_of(64).max(64);
        if let Some(block) = self.free.get_mut(&size).and_then(Vec::pop) {
            return block;
        }
        self.allocated += size;
        vec![T::ZERO; size]
    }

    pub(crate) fn give(&mut self, block: Vec<T>) {
        if !block.is_empty() {
            self.free.entry(block.len()).or_default().push(block);
        }
    }
}

/// A use of a weight whose gradient is not yet added: x is still a node, dy is kept here.
#[derive(Debug)]
pub(crate) struct PendingUse<T> {
    pub(crate) x: Var,
    pub(crate) rows: usize,
    pub(crate) dy: Vec<T>,
}

/// The memory of one shard's computations; see [`super::Graph`].
#[derive(Debug)]
pub struct Memory<T> {
    pub(crate) nodes: Vec<Node<T>>,
    pub(crate) pool: Pool<T>,
    /// Gradients of nodes; empty where none has arrived.
    pub(crate) gradients: Vec<Vec<T>>,
    /// What operations keep for their gradients beside their results.
    pub(crate) workspaces: Workspaces<T>,
    /// By weight.
    pub(crate) pending: Vec<Vec<PendingUse<T>>>,
    pub(crate) scratch: Aligned<T>,
    /// A list to be lent; see `Graph::take_vars`.
    pub(crate) vars: Vec<Var>,
}

impl<T: Float> Default for Memory<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            pool: Pool {
                free: HashMap::default(),
                allocated: 0,
            },
            gradients: Vec::new(),
            workspaces: Workspaces::default(),
            pending: Vec::new(),
            scratch: Aligned::default(),
            vars: Vec::new(),
        }
    }
}

impl<T: Float> Memory<T> {
    /// Empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes taken from the system for blocks so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pool.allocated * size_of::<T>()
    }

    pub(crate) fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            self.pool.give(node.block);
        }
        for gradient in self.gradients.drain(..) {
            self.pool.give(gradient);
        }
        self.workspaces.clear();
    }
}
