//! The fixed workloads of `cssc bench`: sizes of the paper's appendix D on made data.
//!
//! | workload | one iteration |
//! |---|---|
//! | `field` | 100 Euler steps of h' = f(h), batch 50, loss on all states, backward |
//! | `ode-rnn` | a training step: 100 grid points, 30 observed, cell, decoder, loss, backward, AdaMax |
//! | `cssc-10`, `-30`, `-50` | the same with exact derivatives and compensation, so many observed |
//! | `hidden-10`, `-30`, `-50` | the same with the compensation of the state |
//! | `infer` | the forward pass of `ode-rnn` |
//! | `latent-ode`, `gru-ode-bayes` | a training step of these systems with Euler steps |
//! | `latent-30` | a training step of latent CSSC, 30 of 100 points observed |
//! | `video` | 250 frames of 32 x 32 pixels through encoder and decoder of videos, loss on all pixels, backward |
//! | `ragged` | 50 series of 30 points at 1,500 different times, forward and backward |
//! | `load` | reading and checking a model file of the default sizes |
//! | `cssc-d1` … `cssc-d1000`, `hidden-d1` … | `cssc-30`, `hidden-30` with so many channels, batch 25 |

mod array;
mod field;
mod infer;
mod load;
mod samples;
mod train;
mod video;

pub use array::{Array, write_arrays};

use cssc::Error;
use cssc::data::Random;
use cssc::model::{Compensation, ModelConfig, Network};
use cssc::nn::Parameters;
use cssc::train::SHARD;
use field::Field;
use infer::Infer;
use load::Load;
use samples::{grid, ragged};
use train::Train;
use video::Video;

const BATCH: usize = 50;
const POINTS: usize = 100;
const GRID_STEP: f64 = 0.05;
/// One step of the solver from each point to the next.
const WHOLE_GAP: f64 = 1e9;

/// A workload made ready.
pub trait Program {
    /// One iteration.
    ///
    /// # Errors
    /// Those of the engine; made data give none.
    fn run(&mut self) -> Result<(), Error>;

    /// Inputs, parameters and the outcome of one iteration.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn arrays(&mut self) -> Result<Vec<Array>, Error>;
}

/// What is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// The bare field.
    Field,
    /// A training step without compensation.
    OdeRnn,
    /// A training step with so many points observed.
    Cssc(usize),
    /// The same with the compensation of the state.
    Hidden(usize),
    /// The forward pass alone.
    Infer,
    /// Series at times of their own.
    Ragged,
    /// Reading a model file.
    Load,
    /// A training step with so many channels.
    Channels(Compensation, usize),
    /// A training step of a Latent-ODE.
    LatentOde,
    /// A training step of a GRU-ODE-Bayes.
    GruOdeBayes,
    /// A training step of latent CSSC.
    LatentCssc,
    /// Frames to codes and back.
    Video,
}

impl Workload {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 23] = [
        ("field", Self::Field),
        ("ode-rnn", Self::OdeRnn),
        ("cssc-10", Self::Cssc(10)),
        ("cssc-30", Self::Cssc(30)),
        ("cssc-50", Self::Cssc(50)),
        ("hidden-10", Self::Hidden(10)),
        ("hidden-30", Self::Hidden(30)),
        ("hidden-50", Self::Hidden(50)),
        ("infer", Self::Infer),
        ("latent-ode", Self::LatentOde),
        ("gru-ode-bayes", Self::GruOdeBayes),
        ("latent-30", Self::LatentCssc),
        ("video", Self::Video),
        ("ragged", Self::Ragged),
        ("load", Self::Load),
        ("cssc-d1", Self::Channels(Compensation::Output, 1)),
        ("cssc-d10", Self::Channels(Compensation::Output, 10)),
        ("cssc-d100", Self::Channels(Compensation::Output, 100)),
        ("cssc-d1000", Self::Channels(Compensation::Output, 1000)),
        ("hidden-d1", Self::Channels(Compensation::Hidden, 1)),
        ("hidden-d10", Self::Channels(Compensation::Hidden, 10)),
        ("hidden-d100", Self::Channels(Compensation::Hidden, 100)),
        ("hidden-d1000", Self::Channels(Compensation::Hidden, 1000)),
    ];

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, workload)| *workload)
    }

    /// Makes its data and its model.
    #[must_use]
    pub fn prepare(self) -> Box<dyn Program> {
        let random = &mut Random::new(1);
        let train =
            |compensation, samples| Box::new(Train::compensated(compensation, samples, true));
        match self {
            Self::Field => Box::new(Field::new(random)),
            Self::OdeRnn => train(Compensation::None, grid(30, BATCH, 1, random)),
            Self::Cssc(observed) => train(Compensation::Output, grid(observed, BATCH, 1, random)),
            Self::Hidden(observed) => train(Compensation::Hidden, grid(observed, BATCH, 1, random)),
            Self::Infer => Box::new(Infer::new(grid(30, BATCH, 1, random))),
            Self::Ragged => Box::new(Train::compensated(
                Compensation::None,
                ragged(random),
                false,
            )),
            Self::Load => Box::new(Load::new()),
            Self::Video => Box::new(Video::new(random)),
            Self::LatentOde => Box::new(Train::latent_ode(grid(30, BATCH, 1, random))),
            Self::GruOdeBayes => Box::new(Train::gru_ode_bayes(grid(30, BATCH, 1, random))),
            Self::LatentCssc => Box::new(Train::latent_cssc(grid(30, BATCH, 1, random))),
            Self::Channels(compensation, channels) => {
                train(compensation, grid(30, SHARD, channels, random))
            }
        }
    }
}

fn build(config: impl Into<ModelConfig>) -> (Box<dyn Network<f32>>, Parameters<f32>) {
    let config: ModelConfig = config.into();
    let built = config.build(2);
    built.expect("settings of a workload are in range")
}
