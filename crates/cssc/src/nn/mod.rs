//! The engine: differentiable layers, fast on a CPU.

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
mod parameters;
mod reduce;
mod softmax;

pub use activation::Activation;
pub use cell::GatedCell;
pub use float::Float;
pub use graph::{Gradient, Graph};
pub use layer::{Dense, Layer};
pub use memory::{Memory, Var};
pub(crate) use mlp::parts;
pub use mlp::{Mlp, Trace};
pub use ops::{AttentionGroups, KnotLimits, LayerNorm, Linear, SeriesKnots};
pub use parameters::{Initializer, ParameterId, ParameterInfo, ParameterRole, Parameters};
