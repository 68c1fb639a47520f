//! The fused operations: one page each, with its forward pass, its gradient and its tests.
//!
//! | operation | result |
//! |---|---|
//! | [`linear`] | φ(x·W + b), weights packed once per optimiser step |
//! | [`activate`] | φ(x) |
//! | [`jet`] | φ'(s)·x and φ'(s)·x₂ + φ''(s)·x₁²: how derivatives pass an activation |
//! | [`mix`] | rows as sums of factors times rows: Euler and Runge-Kutta steps, selecting, merging, Hermite |
//! | [`elementwise`] | product, the GRU's blend, columns side by side, sums of squares |
//! | [`compensate`] | the compensation of Theorem 1 at given times |

mod activate;
mod compensate;
mod elementwise;
mod jet;
mod linear;
mod mix;

pub(crate) use compensate::CompensationBlock;
pub use compensate::{KnotLimits, SeriesKnots};
pub use linear::Linear;
pub(crate) use mix::{MixEntry, MixRange};

use super::activation::Activation;
use super::float::Float;
use super::graph::Backward;
use super::memory::Var;
use super::parameters::ParameterId;

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
        }
    }
}
