//! The models: ODE-RNN, CSSC and hidden CSSC, one- or two-sided.

mod apply;
mod config;
pub(crate) mod container;
mod curve_options;
mod error;
mod interpolate;
mod limits;
mod network;
mod predict;
mod saved;
mod walk;
mod windows;

pub use config::{Blocked, Derivatives, Method, ModelConfig};
pub use curve_options::CurveOptions;
pub use error::ModelError;
pub use interpolate::{Bands, Interpolation};
pub use network::Network;
pub use predict::{Observed, Prediction, Request};
pub use saved::{About, Model};
