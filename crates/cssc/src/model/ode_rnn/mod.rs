//! ODE-RNN (Rubanova et al. 2019; paper eq. 1-4), plain or compensated: CSSC and hidden CSSC.
//!
//! | file | |
//! |---|---|
//! | `config` | settings |
//! | `network` | f, g and the cell, for one direction or two |
//! | `limits` | the limits of the prediction and of the state at the knots |
//! | `predict` | from observations to a prediction, recorded for training, and traced for curves |

mod config;
mod limits;
mod network;
mod predict;

pub use config::{Derivatives, OdeRnnConfig, StopGradient};
pub use network::OdeRnn;
pub(crate) use network::Walker;
