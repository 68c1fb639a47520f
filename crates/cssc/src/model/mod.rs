//! The models: from observations to predictions, compensated or not.
//!
//! | file | |
//! |---|---|
//! | `network` | the seam: what a model must do |
//! | `config` | all models by their settings, the only place that knows every kind |
//! | `compensated` | what they share when their output or state is compensated |
//! | `ode_rnn` | ODE-RNN, CSSC and hidden CSSC, one- or two-sided |
//! | `latent_cssc` | our own: attention to all observations, a smooth decoder |
//! | `windows`, `curve`, `curve_options`, `interpolate` | the curve of a series at any times |
//! | `container`, `file` | models on disk |

mod compensated;
mod config;
pub(crate) mod container;
mod curve;
mod curve_options;
mod file;
mod interpolate;
mod latent_cssc;
mod network;
mod ode_rnn;
mod windows;

pub use compensated::{Compensation, CompensationSettings, observations};
pub use config::{CustomConfig, MODEL_METHODS, ModelConfig, ModelMethod};
pub use curve_options::CurveOptions;
pub use file::{Model, ModelInfo};
pub use interpolate::{Bands, Interpolation};
pub use latent_cssc::{LatentCssc, LatentCsscConfig};
pub use network::{Batch, Limits, Network, Observed, Prediction, Trace, TrainingStep};
pub use ode_rnn::{Derivatives, OdeRnn, OdeRnnConfig, StopGradient};
