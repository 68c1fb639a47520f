//! Smooth, trainable interpolation of time series with gaps.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod compensate;
mod error;
mod lanes;
mod parallel;
mod path;
mod real;
pub mod spline;

pub use compensate::{
    BatchInputs, BatchKnots, BatchQuery, Compensator, EndRule, Gradient, Options, Plan, Role,
    Workspace, compensate,
};
pub use error::Error;
pub use path::{Jets, Path, Side, Sum};
pub use real::Real;
pub use spline::{Kind, PiecewiseCubic};
