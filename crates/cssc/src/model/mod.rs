//! The models: ODE-RNN, CSSC and hidden CSSC, one- or two-sided.

mod config;
mod limits;
mod network;
mod predict;
mod walk;

pub use config::{Blocked, Derivatives, Method, ModelConfig};
pub use network::Network;
pub use predict::{Observed, Prediction, Request};
