//! The models: ODE-RNN, CSSC and hidden CSSC, one- or two-sided.

mod config;
pub(crate) mod container;
mod error;
mod interpolate;
mod limits;
mod network;
mod predict;
mod saved;
mod walk;

pub use config::{Blocked, Derivatives, Method, ModelConfig};
pub use error::ModelError;
pub use interpolate::Interpolation;
pub use network::Network;
pub use predict::{Observed, Prediction, Request};
pub use saved::{About, Model};
