//! The engine: differentiable layers, fast on a CPU.

mod activation;
mod arch;
mod cell;
mod chain;
mod float;
mod graph;
mod kernel;
mod memory;
mod mlp;
mod ops;
mod parameters;

pub use activation::Activation;
pub use arch::{InstructionSet, InstructionSetError};
pub use cell::GatedCell;
pub use float::Float;
pub use graph::{Gradient, Graph};
pub use memory::{Memory, Var};
pub(crate) use mlp::parts;
pub use mlp::{Jet, Mlp, Trace};
pub use ops::{KnotLimits, Linear, SeriesKnots};
pub use parameters::{Initializer, ParameterId, ParameterInfo, Parameters};
