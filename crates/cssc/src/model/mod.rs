//! The models: ODE-RNN, CSSC and hidden CSSC, one- or two-sided.

mod config;
pub(crate) mod container;
mod curve_options;
mod interpolate;
mod limits;
mod network;
mod predict;
mod saved;
mod walk;
mod windowed;
mod windows;

pub use config::{Compensation, Derivatives, ModelConfig, StopGradient};
pub use curve_options::CurveOptions;
pub use interpolate::{Bands, Interpolation};
pub use network::Network;
pub use predict::{Observed, Prediction, Request};
pub use saved::{Model, ModelInfo};
