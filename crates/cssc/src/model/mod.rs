//! The models: from observations to predictions, compensated or not.
//!
//! | file | |
//! |---|---|
//! | `network` | the seam: what a model must do |
//! | `config` | all models by their settings, the only place that knows every kind |
//! | `compensated` | what they share when their output or state is compensated |
//! | `ode_rnn` | ODE-RNN, CSSC and hidden CSSC, one- or two-sided |
//! | `rnn_dt`, `gru_d` | recurrent networks without a flow |
//! | `latent_ode` | an initial state from all observations, and its flow |
//! | `gru_ode_bayes` | a continuous gated recurrent unit that says how sure it is |
//! | `checks`, `rows`, `sequence`, `walk`, `gaussian` | what the models share |
//! | `latent_cssc` | our own: attention to all observations, a smooth decoder |
//! | `frames` | videos: an encoder and a decoder of frames around any of them |
//! | `windows`, `curve`, `curve_options`, `interpolate` | the curve of a series at any times |
//! | `season` | waves of day, week and year, taken off before a network looks |
//! | `times` | what times were in training |
//! | `container`, `file` | models on disk |

pub(crate) mod checks;
mod compensated;
mod config;
pub(crate) mod container;
mod curve;
mod curve_options;
mod file;
mod fourth_derivative;
mod frames;
mod gaussian;
mod gru_d;
mod gru_ode_bayes;
mod interpolate;
mod latent_cssc;
mod latent_ode;
mod network;
mod ode_rnn;
mod rnn_dt;
mod rows;
mod season;
mod sequence;
mod times;
mod walk;
mod windows;

pub use compensated::{Compensation, CompensationSettings, observations};
pub use config::{Built, CustomConfig, MODEL_METHODS, ModelConfig, ModelMethod, Precision};
pub use curve_options::CurveOptions;
pub use file::{Model, ModelInfo, Rebuilt};
pub use fourth_derivative::{Bound, Truth};
pub use frames::{FrameDecoder, FrameEncoder, Frames, FramesConfig};
pub use gru_d::{GruD, GruDConfig};
pub use gru_ode_bayes::{GruOdeBayes, GruOdeBayesConfig};
pub use interpolate::{Bands, Interpolation};
pub use latent_cssc::{LatentCssc, LatentCsscConfig};
pub use latent_ode::{LatentOde, LatentOdeConfig};
pub use network::{Batch, Codes, Limits, Network, Observed, Prediction, Trace, TrainingStep};
pub use ode_rnn::{Derivatives, OdeRnn, OdeRnnConfig, StopGradient};
pub use rnn_dt::{RnnDt, RnnDtConfig};
pub use season::Season;
pub use times::{TimeInfo, TimeKind};
