//! The fused operations: one page each, with its forward pass, its gradient and its tests.
//!
//! | operation | result |
//! |---|---|
//! | [`linear`] | φ(x·W + b), weights packed once per optimiser step |
//! | [`activate`] | φ(x) |
//! | [`jet`] | φ'(s)·x and φ'(s)·x₂ + φ''(s)·x₁²: how derivatives pass an activation |
//! | [`mix`] | rows as sums of factors times rows: Euler and Runge-Kutta steps, selecting, merging, Hermite |
//! | [`elementwise`] | sum, difference, product, factor and shift, the GRU's blend, columns side by side and apart, sums of squares |
//! | [`parameter`] | a parameter as an operand |
//! | [`layer_norm`] | rows with mean 0 and variance 1, and the jet of that |
//! | [`attention`] | multi-head softmax attention over ragged groups of rows |
//! | [`attention_jet`] | the same with value, slope and curvature in the queries |
//! | [`convolution`] | φ(x ∗ W + b) of images, and the transposed convolution |
//! | [`pooling`] | means over squares of images |
//! | [`compensate`] | the compensation of Theorem 1 at given times |
//!
//! # How to add an operation
//!
//! First see whether a composition of these will do: it needs no gradient of its own, and
//! `Layer` shows how to give it a name. If it has to be one pass over memory:
//!
//! 1. A file here. Its head says the formula, its gradient and the cost. A method of [`Graph`]
//!    checks shapes, takes a block from the pool, fills it and records it with `push`; a
//!    method of [`Backward`] gets the gradient `g` of the result, adds to the gradients of the
//!    operands that are tracked (`slot`, `take` and `put`, or `add_each`), and gives `g` back
//!    to the pool. Loops that should become vector code go through `Arch::dispatch`, as in
//!    `chain.rs`.
//! 2. A variant of [`Op`] with the operands, and an arm in [`Backward::step`].
//! 3. If it keeps more than its result (lists of rows, plans, statistics): a field of
//!    [`Workspaces`], cleared when a computation starts.
//! 4. A description in `tests/engine/operations/`: the gradient check and the others run it.
//!
//! No allocation once the memory is warm, and sums in an order that depends on nothing but the
//! shapes: so results are equal to the last bit on any number of threads.
//!
//! [`Graph`]: super::graph::Graph

mod activate;
mod attention;
mod attention_jet;
mod compensate;
mod convolution;
mod elementwise;
mod jet;
mod layer_norm;
mod linear;
mod mix;
mod parameter;
mod pooling;

pub use attention::AttentionGroups;
pub use compensate::{KnotLimits, SeriesKnots};
pub use convolution::Convolution;
pub use layer_norm::LayerNorm;
pub use linear::Linear;
pub use pooling::AveragePooling;

use super::activation::Activation;
use super::float::Float;
use super::graph::Backward;
use super::memory::Var;
use super::parameters::ParameterId;
use attention::{Attention, Attentions};
use compensate::Compensations;
use convolution::ConvolutionMap;
use mix::{MixRange, MixRecord};

/// An operation on the record, with its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Leaf,
    Linear {
        x: Var,
        weight: ParameterId,
        bias: Option<ParameterId>,
        activation: Activation,
    },
    Activate {
        x: Var,
        activation: Activation,
    },
    Tangent {
        source: Var,
        x: Var,
        activation: Activation,
    },
    TangentRows {
        sources: MixRange,
        x: Var,
        activation: Activation,
    },
    Curve {
        source: Var,
        first: Var,
        second: Var,
        activation: Activation,
    },
    Mix(MixRange),
    Product {
        a: Var,
        b: Var,
    },
    Blend {
        gate: Var,
        a: Var,
        b: Var,
    },
    Concat {
        a: Var,
        b: Var,
    },
    Square {
        x: Var,
        target: Option<Var>,
        weights: Option<Var>,
        scale: f64,
    },
    Sum {
        a: Var,
        b: Var,
    },
    Compensate {
        block: usize,
    },
    Difference {
        a: Var,
        b: Var,
    },
    Affine {
        x: Var,
        factor: f64,
    },
    Columns {
        x: Var,
        first: usize,
    },
    Parameter(ParameterId),
    LayerNorm {
        x: Var,
        gain: ParameterId,
        bias: ParameterId,
    },
    Attention(Attention),
    Convolution {
        x: Var,
        map: ConvolutionMap,
        biased: bool,
        activation: Activation,
    },
    Average {
        x: Var,
        pooling: AveragePooling,
    },
}

/// What operations keep for their gradients beside their results: lists of rows, plans. Kept
/// between iterations, so that a field is cleared and not freed.
#[derive(Debug)]
pub(crate) struct Workspaces<T> {
    mixes: MixRecord<T>,
    compensations: Compensations,
    attentions: Attentions<T>,
}

impl<T: Float> Default for Workspaces<T> {
    fn default() -> Self {
        Self {
            mixes: MixRecord::default(),
            compensations: Compensations::default(),
            attentions: Attentions::default(),
        }
    }
}

impl<T> Workspaces<T> {
    pub(crate) fn clear(&mut self) {
        self.mixes.clear();
        self.compensations.clear();
        self.attentions.clear();
    }
}

impl<T: Float> Backward<'_, T> {
    /// Passes the gradient `g` of the result `var` on to its operands.
    pub(crate) fn step(&mut self, var: Var, g: Vec<T>) {
        match self.nodes[var.index()].op {
            Op::Leaf => self.pool.give(g),
            Op::Linear {
                x,
                weight,
                bias,
                activation,
            } => {
                self.linear(var, x, weight, bias, activation, g);
            }
            Op::Activate { x, activation } => self.activate(var, x, activation, g),
            Op::Tangent {
                source,
                x,
                activation,
            } => self.tangent([source, x], activation, g),
            Op::TangentRows {
                sources,
                x,
                activation,
            } => self.tangent_rows(sources, x, activation, g),
            Op::Curve {
                source,
                first,
                second,
                activation,
            } => {
                self.curve([source, first, second], activation, g);
            }
            Op::Mix(range) => self.mix(var, range, g),
            Op::Product { a, b } => self.product(a, b, g),
            Op::Blend { gate, a, b } => self.blend(gate, a, b, g),
            Op::Concat { a, b } => self.concat(a, b, g),
            Op::Square {
                x,
                target,
                weights,
                scale,
            } => self.square(x, target, weights, scale, g),
            Op::Sum { a, b } => self.sum(a, b, g),
            Op::Compensate { block } => self.compensate(block, g),
            Op::Difference { a, b } => self.difference(a, b, g),
            Op::Affine { x, factor } => self.affine(x, factor, g),
            Op::Columns { x, first } => self.columns(var, x, first, g),
            Op::Parameter(id) => self.parameter(id, g),
            Op::LayerNorm { x, gain, bias } => self.layer_norm(x, [gain, bias], g),
            Op::Attention(attention) => self.attention(var, attention, g),
            Op::Convolution {
                x,
                map,
                biased,
                activation,
            } => self.convolution(var, x, map, biased, activation, g),
            Op::Average { x, pooling } => self.average(var, x, pooling, g),
        }
    }
}
