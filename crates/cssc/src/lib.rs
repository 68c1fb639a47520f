//! Smooth, trainable interpolation of time series with gaps.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

#[cfg(feature = "nn")]
pub mod batch;
pub mod compensate;
pub mod data;
mod error;
#[cfg(feature = "nn")]
mod files;
mod lanes;
#[cfg(feature = "nn")]
pub mod model;
#[cfg(feature = "nn")]
pub mod nn;
#[cfg(feature = "nn")]
pub mod ode;
mod path;
mod real;
pub mod spline;
#[cfg(feature = "nn")]
pub mod train;

pub use compensate::{
    BatchInputs, BatchKnots, BatchQuery, Compensator, EndRule, Gradient, Options, Plan, Role,
    Workspace, compensate,
};
pub use error::Error;
pub use path::{Jets, Path, Side, Sum};
pub use real::Real;
pub use spline::{Kind, PiecewiseCubic};

/// Compiles and runs the code in the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
