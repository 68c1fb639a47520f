//! The fixed workloads of `cssc bench`: sizes of the paper's appendix D on made data.
//!
//! | workload | one iteration |
//! |---|---|
//! | `field` | 100 Euler steps of h' = f(h), batch 50, loss on all states, backward |
//! | `ode-rnn` | a training step: 100 grid points, 30 observed, cell, decoder, loss, backward, AdaMax |
//! | `cssc-10`, `-30`, `-50` | the same with exact derivatives and compensation, so many observed |
//! | `hidden-10`, `-30`, `-50` | the same with the compensation of the state |
//! | `infer` | the forward pass of `ode-rnn` |
//! | `latent-ode`, `gru-ode-bayes` | a training step of these systems, Euler steps, 30 observed |
//! | `ragged` | 50 series of 30 points at 1,500 different times, forward and backward |
//! | `load` | reading and checking a model file of the default sizes |
//! | `cssc-d1` … `cssc-d1000`, `hidden-d1` … | `cssc-30`, `hidden-30` with so many channels, batch 25 |
//!
//! Times and values are rounded to `f32` once, so that a file of inputs holds them exactly.

use cssc::Error;
use cssc::data::{Dataset, Random, Scaler, Series};
use cssc::model::{
    Batch, Compensation, GruOdeBayesConfig, LatentOdeConfig, Model, ModelConfig, Network, Observed,
    OdeRnnConfig,
};
use cssc::nn::{Activation, Gradient, Graph, Initializer, Memory, Mlp, Parameters};
use cssc::ode::{Solver, advance};
use cssc::train::{AdaMax, Control, LossStep, ParallelBatch, SHARD, Sample, TrainConfig, fit};
use rayon::prelude::*;
use safetensors::tensor::{Dtype, TensorView};
use std::f64::consts::TAU;
use std::io;
use std::path::Path;

const BATCH: usize = 50;
const POINTS: usize = 100;
const GRID_STEP: f64 = 0.05;
const RAGGED_POINTS: usize = 30;
const HIDDEN: usize = 15;
const RATE: f64 = 0.005;
/// One step of the solver from each point to the next.
const WHOLE_GAP: f64 = 1e9;
/// Half of a training, where all terms of a loss count.
const AT: LossStep = LossStep {
    fit_weight: 1.0,
    step: 1,
    steps: 2,
    seed: 0,
};

/// What is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    Field,
    OdeRnn,
    Cssc(usize),
    Hidden(usize),
    Infer,
    Ragged,
    Load,
    Channels(Compensation, usize),
    LatentOde,
    GruOdeBayes,
}

impl Workload {
    pub const ALL: [(&'static str, Self); 21] = [
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

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, workload)| *workload)
    }

    pub fn prepare(self) -> Program {
        let mut random = Random::new(1);
        match self {
            Self::Field => Program::Field(Box::new(Field::new(&mut random))),
            Self::OdeRnn => {
                Program::train(Compensation::None, grid(30, BATCH, 1, &mut random), true)
            }
            Self::Cssc(observed) => Program::train(
                Compensation::Output,
                grid(observed, BATCH, 1, &mut random),
                true,
            ),
            Self::Hidden(observed) => Program::train(
                Compensation::Hidden,
                grid(observed, BATCH, 1, &mut random),
                true,
            ),
            Self::Infer => Program::Infer(Box::new(Infer::new(grid(30, BATCH, 1, &mut random)))),
            Self::Ragged => Program::train(Compensation::None, ragged(&mut random), false),
            Self::Load => Program::Load(Box::new(Load::new())),
            Self::LatentOde => {
                let config = LatentOdeConfig {
                    solver: Solver::Euler,
                    step: WHOLE_GAP,
                    ..LatentOdeConfig::default()
                };
                Program::of(config, grid(30, BATCH, 1, &mut random), true)
            }
            Self::GruOdeBayes => {
                let config = GruOdeBayesConfig {
                    step: WHOLE_GAP,
                    ..GruOdeBayesConfig::default()
                };
                Program::of(config, grid(30, BATCH, 1, &mut random), true)
            }
            Self::Channels(method, channels) => {
                Program::train(method, grid(30, SHARD, channels, &mut random), true)
            }
        }
    }
}

/// A workload made ready; [`Program::run`] is one iteration.
pub enum Program {
    Field(Box<Field>),
    Train(Box<Train>),
    Infer(Box<Infer>),
    Load(Box<Load>),
}

/// A named array for the comparison with other programs.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

impl Program {
    fn train(method: Compensation, samples: Vec<Sample>, optimise: bool) -> Self {
        let channels = samples[0].targets.len() / samples[0].query.len();
        let config = OdeRnnConfig {
            channels,
            compensation: method,
            end_rule: cssc::EndRule::Output,
            solver: Solver::Euler,
            step: WHOLE_GAP,
            ..OdeRnnConfig::default()
        };
        Self::of(config, samples, optimise)
    }

    /// A training iteration of any model.
    fn of(config: impl Into<ModelConfig>, samples: Vec<Sample>, optimise: bool) -> Self {
        let (network, parameters) = build(config);
        Self::Train(Box::new(Train {
            gradient: Gradient::zeros(&parameters),
            optimizer: optimise.then(|| AdaMax::new(parameters.values().len())),
            shards: ParallelBatch::new(),
            network,
            parameters,
            samples,
            loss: f64::NAN,
        }))
    }

    /// One iteration.
    pub fn run(&mut self) -> Result<(), Error> {
        match self {
            Self::Field(field) => field.run(),
            Self::Train(train) => train.run()?,
            Self::Infer(infer) => infer.run()?,
            Self::Load(load) => load.run(),
        }
        Ok(())
    }

    /// Inputs, parameters and the outcome of one iteration.
    pub fn arrays(&mut self) -> Result<Vec<Array>, Error> {
        match self {
            Self::Field(field) => {
                field.run();
                let initial = array("initial", &[BATCH, HIDDEN], field.initial.clone());
                let mut arrays = vec![initial];
                arrays.extend(outcome(&field.parameters, &field.total, field.loss));
                Ok(arrays)
            }
            Self::Train(train) => {
                let before = train.parameters.clone();
                train.run()?;
                let mut arrays = series_arrays(&train.samples);
                arrays.push(draws(train.samples.len()));
                arrays.extend(outcome(&before, &train.gradient, train.loss));
                Ok(arrays)
            }
            Self::Infer(infer) => {
                infer.run()?;
                let mut arrays = series_arrays(&infer.samples);
                arrays.extend(parameter_arrays(&infer.parameters));
                arrays.push(array("predicted", &[BATCH, POINTS], infer.predicted()));
                Ok(arrays)
            }
            Self::Load(_) => Ok(Vec::new()),
        }
    }
}

/// The bare field, without cell and decoder.
pub struct Field {
    dynamics: Mlp,
    parameters: Parameters<f32>,
    initial: Vec<f32>,
    shards: Vec<(Memory<f32>, Gradient<f32>, f64)>,
    total: Gradient<f32>,
    loss: f64,
}

impl Field {
    fn new(random: &mut Random) -> Self {
        let mut parameters = Parameters::new();
        let dynamics = Mlp::new(
            &mut parameters,
            "dynamics",
            &[HIDDEN, 300, 300, 300, 300, HIDDEN],
            [Activation::Tanh, Activation::Identity],
            Initializer::Normal(0.1),
            random,
        );
        parameters.pack();
        let initial = (0..BATCH * HIDDEN)
            .map(|_| random.normal(0.0, 1.0) as f32)
            .collect();
        let shards = (0..BATCH.div_ceil(SHARD))
            .map(|_| (Memory::new(), Gradient::zeros(&parameters), 0.0))
            .collect();
        let total = Gradient::zeros(&parameters);
        Self {
            dynamics,
            parameters,
            initial,
            shards,
            total,
            loss: f64::NAN,
        }
    }

    fn run(&mut self) {
        let Self {
            dynamics,
            parameters,
            initial,
            shards,
            ..
        } = self;
        let parts = initial.par_chunks(SHARD * HIDDEN);
        shards
            .par_iter_mut()
            .zip(parts)
            .for_each(|((memory, gradient, loss), part)| {
                let rows = part.len() / HIDDEN;
                gradient.values.fill(0.0);
                let mut graph = Graph::new(memory, parameters);
                let mut state = graph.input(rows, HIDDEN, part);
                let lengths = vec![GRID_STEP as f32; rows];
                let tableau = Solver::Euler.tableau();
                let states: Vec<_> = (0..POINTS)
                    .map(|_| {
                        state = advance(&mut graph, dynamics, tableau, state, &lengths);
                        state
                    })
                    .collect();
                let picks = (0..POINTS).flat_map(|step| (0..rows).map(move |row| (step, row)));
                let all = graph.collect(&states, picks);
                let scale = 1.0 / (BATCH * POINTS * HIDDEN) as f64;
                let mean = graph.square(all, None, None, scale);
                graph.backward(mean, gradient);
                *loss = f64::from(graph.value(mean)[0]);
            });
        self.total.values.fill(0.0);
        for (_, gradient, _) in &self.shards {
            let pairs = self.total.values.iter_mut().zip(&gradient.values);
            pairs.for_each(|(sum, g)| *sum += g);
        }
        self.loss = self.shards.iter().map(|shard| shard.2).sum();
    }
}

fn build(config: impl Into<ModelConfig>) -> (Box<dyn Network<f32>>, Parameters<f32>) {
    let config: ModelConfig = config.into();
    let built = config.build(2);
    built.expect("settings of a workload are in range")
}

/// A training iteration of a whole model.
pub struct Train {
    network: Box<dyn Network<f32>>,
    parameters: Parameters<f32>,
    samples: Vec<Sample>,
    shards: ParallelBatch<f32>,
    gradient: Gradient<f32>,
    optimizer: Option<AdaMax<f32>>,
    loss: f64,
}

impl Train {
    fn run(&mut self) -> Result<(), Error> {
        let gradient = &mut self.gradient;
        self.loss = self.shards.loss(
            &*self.network,
            &self.parameters,
            &self.samples,
            AT,
            gradient,
        )?;
        if let Some(optimizer) = &mut self.optimizer {
            optimizer.step(self.parameters.values_mut(), &gradient.values, 1.0, RATE);
            self.parameters.pack();
        }
        Ok(())
    }
}

/// The forward pass alone.
pub struct Infer {
    network: Box<dyn Network<f32>>,
    parameters: Parameters<f32>,
    samples: Vec<Sample>,
    shards: Vec<(Memory<f32>, Vec<f32>, Vec<usize>)>,
}

impl Infer {
    fn new(samples: Vec<Sample>) -> Self {
        let config = OdeRnnConfig {
            compensation: Compensation::None,
            step: WHOLE_GAP,
            ..OdeRnnConfig::default()
        };
        let (network, parameters) = build(config);
        let shards = (0..BATCH.div_ceil(SHARD))
            .map(|_| (Memory::new(), Vec::new(), Vec::new()))
            .collect();
        Self {
            network,
            parameters,
            samples,
            shards,
        }
    }

    fn run(&mut self) -> Result<(), Error> {
        let Self {
            network,
            parameters,
            samples,
            shards,
        } = self;
        let parts = samples.par_chunks(SHARD);
        shards
            .par_iter_mut()
            .zip(parts)
            .try_for_each(|((memory, predicted, order), part)| {
                let series: Vec<Observed<'_>> = part
                    .iter()
                    .map(|s| Observed {
                        times: &s.times,
                        values: &s.values,
                        query: &s.query,
                    })
                    .collect();
                let mut graph = Graph::forward_only(memory, parameters);
                let batch = Batch {
                    series: &series,
                    training: None,
                };
                let prediction = network.predict(&mut graph, &batch, &mut Random::new(0))?;
                predicted.clear();
                predicted.extend_from_slice(graph.value(prediction.values));
                *order = prediction.order;
                Ok(())
            })
    }

    fn predicted(&self) -> Vec<f32> {
        let mut all = vec![0.0; BATCH * POINTS];
        for (i, (_, predicted, order)) in self.shards.iter().enumerate() {
            for (block, item) in predicted.chunks_exact(POINTS).zip(order) {
                let start = (i * SHARD + item) * POINTS;
                all[start..start + POINTS].copy_from_slice(block);
            }
        }
        all
    }
}

/// A model file of the default sizes, read again and again.
pub struct Load {
    file: tempfile::TempPath,
}

impl Load {
    fn new() -> Self {
        let random = &mut Random::new(1);
        let series: Vec<Series> = grid(30, 2, 1, random)
            .into_iter()
            .map(|s| Series::new(None, 1, s.query, s.targets).expect("made data are sound"))
            .collect();
        let data = Dataset::new(vec!["x".into()], series).expect("series of one channel");
        let config = TrainConfig {
            steps: 1,
            ..TrainConfig::default()
        };
        let scaler = Scaler::identity(1);
        let model = ModelConfig::default();
        let model = fit(&model, &config, &scaler, &data, &data, |_, _| {
            Control::Continue
        })
        .expect("one step on made data");
        let file = tempfile::NamedTempFile::new()
            .expect("a temporary file")
            .into_temp_path();
        model.save(&file).expect("a file that was just made");
        Self { file }
    }

    fn run(&mut self) {
        Model::load(&self.file).expect("the file that was just written");
    }
}

/// The numbers that a Latent-ODE draws for its initial states, [batch, latent].
fn draws(batch: usize) -> Array {
    let latent = LatentOdeConfig::default().latent;
    let shards = (0..batch).step_by(SHARD).enumerate();
    let numbers = shards.flat_map(|(shard, first)| {
        let mut random = AT.draws(shard);
        let count = (batch - first).min(SHARD) * latent;
        (0..count).map(move |_| random.normal(0.0, 1.0) as f32)
    });
    array("draws", &[batch, latent], numbers.collect())
}

/// Sine curves of some channels on a grid, `observed` points of each shown.
fn grid(observed: usize, batch: usize, channels: usize, random: &mut Random) -> Vec<Sample> {
    let times: Vec<f64> = (0..POINTS).map(|i| rounded(GRID_STEP * i as f64)).collect();
    (0..batch)
        .map(|_| {
            let shown = random.observed_points(POINTS, observed);
            curves(&times, &shown, channels, random)
        })
        .collect()
}

/// Sine curves at times of their own, every point shown.
fn ragged(random: &mut Random) -> Vec<Sample> {
    let mut places: Vec<usize> = (0..BATCH * RAGGED_POINTS).collect();
    random.shuffle(&mut places);
    let unit = GRID_STEP * POINTS as f64 / (BATCH * RAGGED_POINTS) as f64;
    places
        .chunks_exact_mut(RAGGED_POINTS)
        .map(|places| {
            places.sort_unstable();
            let times: Vec<f64> = places.iter().map(|&p| rounded(unit * p as f64)).collect();
            curves(&times, &(0..RAGGED_POINTS).collect::<Vec<_>>(), 1, random)
        })
        .collect()
}

fn curves(times: &[f64], shown: &[usize], channels: usize, random: &mut Random) -> Sample {
    let waves: Vec<(f64, f64)> = (0..channels)
        .map(|_| (random.uniform(0.4, 0.8), random.normal(1.0, 0.1)))
        .collect();
    let row = |time: f64| {
        waves
            .iter()
            .map(move |(frequency, level)| rounded((TAU * frequency * time).sin() + level))
    };
    let mut mask = vec![false; times.len() * channels];
    for &i in shown {
        mask[i * channels..(i + 1) * channels].fill(true);
    }
    Sample {
        times: shown.iter().map(|&i| times[i]).collect(),
        values: shown.iter().flat_map(|&i| row(times[i])).collect(),
        query: times.to_vec(),
        targets: times.iter().flat_map(|&time| row(time)).collect(),
        shown: mask,
    }
}

fn rounded(x: f64) -> f64 {
    f64::from(x as f32)
}

fn series_arrays(samples: &[Sample]) -> Vec<Array> {
    let points = samples[0].query.len();
    let shape = [samples.len(), points];
    let same_times = samples.iter().all(|s| s.query == samples[0].query);
    let times: Vec<f32> = if same_times {
        samples[0].query.iter().map(|&t| t as f32).collect()
    } else {
        samples
            .iter()
            .flat_map(|s| &s.query)
            .map(|&t| t as f32)
            .collect()
    };
    let times_shape = if same_times { &shape[1..] } else { &shape[..] };
    let values = samples
        .iter()
        .flat_map(|s| &s.targets)
        .map(|&x| x as f32)
        .collect();
    let masks = samples
        .iter()
        .flat_map(|s| &s.shown)
        .map(|&m| f32::from(u8::from(m)))
        .collect();
    vec![
        array("times", times_shape, times),
        array("values", &shape, values),
        array("masks", &shape, masks),
    ]
}

fn parameter_arrays(parameters: &Parameters<f32>) -> Vec<Array> {
    named_like(parameters, parameters.values(), "")
}

fn outcome(parameters: &Parameters<f32>, gradient: &Gradient<f32>, loss: f64) -> Vec<Array> {
    let mut arrays = parameter_arrays(parameters);
    arrays.extend(named_like(parameters, &gradient.values, "grad."));
    arrays.push(array("loss", &[], vec![loss as f32]));
    arrays
}

/// `values` cut and named like the parameters; a bias is a vector.
fn named_like(parameters: &Parameters<f32>, values: &[f32], prefix: &str) -> Vec<Array> {
    parameters
        .infos()
        .iter()
        .map(|info| {
            let shape = if info.name.ends_with(".bias") {
                &info.shape[1..]
            } else {
                &info.shape
            };
            array(
                &format!("{prefix}{}", info.name),
                shape,
                values[info.range.clone()].to_vec(),
            )
        })
        .collect()
}

fn array(name: &str, shape: &[usize], values: Vec<f32>) -> Array {
    Array {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values,
    }
}

/// Writes arrays to a safetensors file.
///
/// # Errors
/// Those of the file.
pub fn write_arrays(path: &Path, arrays: &[Array]) -> io::Result<()> {
    let bytes: Vec<Vec<u8>> = arrays
        .iter()
        .map(|a| a.values.iter().flat_map(|x| x.to_le_bytes()).collect())
        .collect();
    let views = arrays.iter().zip(&bytes).map(|(array, bytes)| {
        let view = TensorView::new(Dtype::F32, array.shape.clone(), bytes)
            .expect("as many numbers as the shape says");
        (array.name.clone(), view)
    });
    let file = safetensors::serialize(views, None).expect("names are unique and shapes fit");
    std::fs::write(path, file)
}
