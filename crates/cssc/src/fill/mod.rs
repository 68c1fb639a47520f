//! From series with gaps to filled series that can be trusted.
//!
//! [`Imputer`] does all of it: it hides what is known, trains, compares every method of [`METHODS`]
//! on what was hidden ([`evaluate`](crate::evaluate)), and fills with what is best for each channel:
//! all of them, weighted for the length of the gap, with a simple one where that brings nothing.
//!
//! | file | |
//! |---|---|
//! | `plain` | methods that need no training |
//! | `trained` | a trained model as a method (`nn`) |
//! | `methods` | the registry: every method by name |
//! | `steps` | channels that move in steps, where no smooth curve can help |
//! | `combined` | all methods together, weighted |
//! | `asked` | which rows are wanted |
//! | `parts` | a long series in parts |
//! | `filler` | fills a series |
//! | `draw` | fills it as it might have been, again and again |
//! | `windows`, `learn`, `training` | from long series to trained models (`nn`) |
//! | `sample` | a part of a very long table |
//! | `imputer`, `fitted` | the choice of methods by evidence, and what came of it |
//!
//! Without the feature `nn` there are the plain methods.

mod asked;
mod combined;
mod draw;
mod filler;
mod fitted;
mod imputer;
#[cfg(feature = "nn")]
mod learn;
mod methods;
mod parts;
mod plain;
mod sample;
mod steps;
#[cfg(feature = "nn")]
mod trained;
#[cfg(feature = "nn")]
mod training;
#[cfg(feature = "nn")]
mod windows;

pub use crate::data::Filled;
pub use crate::evaluate::{Bound, Bounds};
pub use asked::Asked;
pub use combined::Combined;
pub use filler::{Answer, Filler};
pub use fitted::Fitted;
pub use imputer::{Event, Imputer};
#[cfg(feature = "nn")]
pub use learn::{LearnOptions, Learning};
pub use methods::{METHODS, Method};
pub use plain::{Previous, Smoothing, Spline};
pub use steps::{Steps, find_steps};
#[cfg(feature = "nn")]
pub use trained::ModelInterpolator;
#[cfg(feature = "nn")]
pub use training::Trained;
#[cfg(feature = "nn")]
pub use windows::Windows;
