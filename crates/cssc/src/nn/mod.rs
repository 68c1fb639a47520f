//! The engine: differentiable layers, fast on a CPU.
//!
//! - [`Parameters`]: all numbers that are learned, by name.
//! - [`Graph`]: one computation and its gradient. Its methods are the operations, and models
//!   are compositions of them: rows from rows ([`Graph::mix`], [`Graph::collect`],
//!   [`Graph::add_row`], [`Graph::group_means`]), number by number ([`Graph::sum`],
//!   [`Graph::difference`], [`Graph::product`], [`Graph::affine`], [`Graph::blend`],
//!   [`Graph::activate`]), columns ([`Graph::concat`], [`Graph::columns_of`]), layers
//!   ([`Graph::linear`], [`Graph::layer_norm`], [`Graph::attention`]), the compensation
//!   ([`Graph::compensate`]) and the loss ([`Graph::square`]).
//! - [`Layer`]: a function of rows with its time derivatives; [`Dense`], [`Mlp`],
//!   [`LayerNorm`] and [`Convolution`] are some.
//! - [`Memory`]: what a computation needs, kept for the next one.

mod activation;
mod arch;
mod cell;
mod chain;
mod elementary;
mod float;
mod graph;
mod kernel;
mod layer;
mod memory;
mod mlp;
mod ops;
mod orthogonalize;
mod parameters;
mod reduce;
mod softmax;
mod taylor;
mod window;

pub use activation::Activation;
pub use arch::{InstructionSet, InstructionSetError};
pub use cell::GatedCell;
pub use float::Float;
pub use graph::{Gradient, Graph};
pub use layer::{Dense, Layer};
pub use memory::{Memory, Var};
pub(crate) use mlp::parts;
pub use mlp::{Mlp, Trace};
pub use ops::{
    AttentionGroups, AveragePooling, Convolution, KnotLimits, LayerNorm, Linear, SeriesKnots,
};
pub(crate) use orthogonalize::Orthogonalizer;
pub use parameters::{Initializer, ParameterId, ParameterInfo, ParameterRole, Parameters};
pub use taylor::Taylor;
pub use window::{ImageShape, Kernel};
