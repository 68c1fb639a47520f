//! Smooth, trainable interpolation of time series with gaps.
//!
//! A model that walks through time, such as an ODE with a recurrent update, jumps at every
//! observation. This library adds the unique piecewise cubic that removes the jumps, so that
//! the curve is C² and passes through the observations, and trains both together
//! (*Cubic Spline Smoothing Compensation*, Shi, Bi, Liu and Xu 2021).
//!
//! The modules, in the order in which they use each other:
//!
//! | module | |
//! |---|---|
//! | [`Error`] | one error for everything, with its kind, its place and what would help |
//! | `settings` | defaults, below a file, below single settings |
//! | [`Path`] | a function of time: value and derivatives from the left or the right |
//! | [`spline`] | linear, natural, clamped, not-a-knot, modified Akima, monotone |
//! | [`compensate`](mod@compensate) | the compensation for any prediction, and its gradient |
//! | [`smooth`](mod@smooth) | the same for noisy observations: near them instead of through them, with bands |
//! | [`data`] | series with missing values, data sets, splits, scalers, people's tables |
//! | `nn` | layers with exact gradients and time derivatives, fast on a CPU |
//! | `ode` | fields, fixed-step solvers, the steps of many series in one block, the C² curve between |
//! | `model` | one seam for all models: ODE-RNN, CSSC, hidden CSSC, latent CSSC, …; model files; curves at any time |
//! | `train` | samples, loss, optimiser, checkpoints, `train::fit` |
//! | `evaluate` | how well methods find what is hidden from them: hold-out, scores, bands |
//! | `predict` | predictions that know the season and the other channels |
//! | `fill` | from series with gaps to filled ones: the methods, the choice by evidence |
//!
//! `nn`, `ode`, `model` and `train` come with the feature `nn`, the reading of files with `tables`,
//! `evaluate` and `fill` with either; without both the spline part stays, with two small
//! dependencies.
//!
//! Training a model and asking it for a curve:
//!
//! ```no_run
//! # #[cfg(feature = "nn")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cssc::data::{Dataset, Scaler, Series, TimeScaling, ValueScaling};
//! use cssc::model::ModelConfig;
//! use cssc::train::{Control, TrainConfig, fit};
//!
//! # let (training, validation) = (Dataset::new(vec![], vec![])?, Dataset::new(vec![], vec![])?);
//! let scaler = Scaler::fit(&training, ValueScaling::Standard, TimeScaling::TypicalGap(0.05))?;
//! let model = fit(
//!     &ModelConfig::default(),
//!     &TrainConfig::default(),
//!     &scaler,
//!     &training,
//!     &validation,
//!     |_, progress| {
//!         println!("step {} of {}: loss {}", progress.step, progress.steps, progress.loss);
//!         Control::Continue
//!     },
//! )?;
//! let series = Series::new(None, 1, vec![0.0, 0.4, 1.1], vec![1.0, 1.9, 0.2])?;
//! let curve = model.interpolate(&series, &[0.1, 0.2, 0.3])?;
//! println!("{:?}, slopes {:?}", curve.smoothed.value, curve.smoothed.slope);
//! # Ok(()) }
//! # #[cfg(not(feature = "nn"))]
//! # fn main() {}
//! ```
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

// A module uses only modules above it; `tests/module_order.rs` checks that. Empty lines keep rustfmt from sorting.

mod numeric;

mod error;

#[cfg(any(feature = "nn", feature = "tables"))]
pub mod settings;

#[cfg(any(feature = "nn", feature = "tables"))]
pub mod io;

mod path;

pub mod spline;

pub mod compensate;

pub mod smooth;

pub mod data;

#[cfg(any(feature = "nn", feature = "tables"))]
mod ridge;

#[cfg(feature = "nn")]
pub mod nn;

#[cfg(feature = "nn")]
pub mod ode;

#[cfg(feature = "nn")]
pub mod model;

#[cfg(feature = "nn")]
pub mod train;

#[cfg(any(feature = "nn", feature = "tables"))]
pub mod evaluate;

#[cfg(any(feature = "nn", feature = "tables"))]
pub mod predict;

#[cfg(any(feature = "nn", feature = "tables"))]
pub mod fill;

pub use compensate::{CompensationOptions, EndRule, compensate};
pub use data::{Dataset, Series};
pub use error::{Error, ErrorKind, Hint, Place, Problem};
#[cfg(any(feature = "nn", feature = "tables"))]
pub use fill::Imputer;
#[cfg(feature = "nn")]
pub use model::Model;
pub use numeric::real::Real;
pub use path::{Jets, Path, Side, Sum};
pub use smooth::{Penalty, SmoothOptions, Smoothed, smooth};
pub use spline::{PiecewiseCubic, SplineKind};

/// Compiles and runs the code in the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
