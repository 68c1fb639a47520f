//! The training loop.
//!
//! Every draw of chance is a function of the seed and the step number, and a batch is a
//! function of both, so the position in the training *is* the random state: a resumed run
//! continues bit for bit as if it had never stopped.
//!
//! A loss or gradient that is not finite undoes the last step, halves the rate and goes on;
//! after [`MOST_RECOVERIES`] times the training ends with an error.

use super::optimizer::{Optimizer, OptimizerKind, OptimizerState};
use super::parallel::{LossStep, ParallelBatch, Scores};
use super::rate::RateSchedule;
use super::sample::{Masking, Sample};
use crate::Error;
use crate::data::{Dataset, Random};
use crate::model::{Compensation, Model, ModelConfig, Network, checks};
use crate::nn::{Gradient, InstructionSet, Parameters};
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Recoveries from numbers that are not finite before a training is given up.
pub const MOST_RECOVERIES: u32 = 5;

/// Settings of a training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct TrainConfig {
    /// Optimiser steps. Default 6,000.
    pub steps: u64,
    /// Series in a batch. Default 50.
    pub batch: usize,
    /// The optimiser: `adamax` (the paper's, default), `adam`, or `muon`.
    pub optimizer: OptimizerKind,
    /// Part of a weight that is taken off at each step, times the rate. Default 0.
    pub weight_decay: f64,
    /// Base learning rate. Default 0.01.
    pub rate: f64,
    /// How it changes. Default one cycle, rising for 5 % of the steps, down to a thousandth.
    pub schedule: RateSchedule,
    /// Weight of |x - ô|² in the loss towards the end: it grows from 1, evenly in its logarithm,
    /// between 40 % and 70 % of the steps. First the prediction is trained, then the curve.
    /// Default 1, as in the paper; helps where much is observed.
    pub late_fit_weight: f64,
    /// Largest Euclidean norm of the gradient; longer ones are shortened. Default none.
    pub clip: Option<f64>,
    /// What is shown of a series each time it is used. Default 30 %.
    #[serde(alias = "observation")]
    pub masking: Masking,
    /// Points of a series that are asked for in a step, drawn anew each time; at least 1. Default none: all.
    /// Where a point is dear, as a frame of a video is, few of many series teach more in the same time.
    pub asked: Option<usize>,
    /// Steps between validations. Default 250.
    pub validate_every: u64,
    /// Validations without improvement after which training stops. Default none.
    pub patience: Option<u32>,
    /// Most time to be spent, in seconds; the training then ends as if finished. Default none.
    pub seconds: Option<f64>,
    /// Seed of everything random. Default 0.
    pub seed: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            steps: 6000,
            batch: 50,
            optimizer: OptimizerKind::AdaMax,
            weight_decay: 0.0,
            rate: 0.01,
            schedule: RateSchedule::OneCycle {
                rise: 0.05,
                floor: 0.001,
            },
            late_fit_weight: 1.0,
            clip: None,
            masking: Masking::Fraction(0.3),
            asked: None,
            validate_every: 250,
            patience: None,
            seconds: None,
            seed: 0,
        }
    }
}

impl TrainConfig {
    /// These settings, with those instead that `model` learns better with.
    ///
    /// # Errors
    /// If the model names a setting that there is not.
    pub fn suited_to(&self, model: &ModelConfig) -> Result<Self, Error> {
        #[derive(Serialize, Deserialize)]
        struct Part {
            training: TrainConfig,
        }
        let mut settings = Settings::default();
        for pair in model.training_settings() {
            settings.set(&format!("training.{pair}"))?;
        }
        let training = self.clone();
        Ok(settings.over(&Part { training })?.training)
    }

    /// How `model` was trained.
    ///
    /// # Errors
    /// If its file does not tell.
    pub fn of(model: &Model) -> Result<Self, Error> {
        let config: Self = from_json(&model.info().training)?;
        config.check().map_err(Error::Setting)?;
        Ok(config)
    }

    /// Weight of |x - ô|² in the loss of `step`.
    fn fit_weight(&self, step: u64) -> f64 {
        let part = step as f64 / self.steps.max(1) as f64;
        let grown = ((part - 0.4) / 0.3).clamp(0.0, 1.0);
        self.late_fit_weight.powf(grown)
    }

    /// What is wrong with these settings, if anything.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        if !(1e-30..=1e30).contains(&self.rate) {
            return Err(format!(
                "`rate` is {}; give a positive number, from 1e-30 to 1e30",
                self.rate
            ));
        }
        if self.batch == 0 {
            return Err("`batch` is 0; give at least 1".into());
        }
        if self.asked == Some(0) {
            return Err("`asked` is 0; give at least 1, or leave it out to ask for all".into());
        }
        if self.validate_every == 0 {
            return Err("`validate-every` is 0; give at least 1".into());
        }
        checks::positive(&[
            ("late-fit-weight", self.late_fit_weight),
            ("clip", self.clip.unwrap_or(1.0)),
        ])?;
        checks::not_negative(&[
            ("weight-decay", self.weight_decay),
            ("seconds", self.seconds.unwrap_or(0.0)),
        ])?;
        self.schedule.check()?;
        match &self.masking {
            Masking::Fraction(part) | Masking::Cells(part) if !(*part > 0.0 && *part <= 1.0) => {
                Err(format!(
                    "the observed fraction is {part}; give a number above 0, at most 1"
                ))
            }
            Masking::Count(count) if *count < 2 => {
                Err(format!("the observed count is {count}; give at least 2"))
            }
            Masking::Runs { hidden, .. } if !(*hidden > 0.0 && *hidden < 1.0) => Err(format!(
                "the hidden fraction is {hidden}; give a number between 0 and 1"
            )),
            Masking::Runs { lengths, .. } if lengths.is_empty() => {
                Err("no lengths of runs are given; give at least one".into())
            }
            _ => Ok(()),
        }
    }
}

/// What a progress callback answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop after this step, leaving a checkpoint if one is kept.
    Stop,
}

/// What a progress callback sees after every step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Steps made so far.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Loss of this step's batch.
    pub loss: f64,
    /// Learning rate of this step.
    pub rate: f64,
    /// Scores on the validation series, if they were computed after this step.
    pub validation: Option<Scores>,
    /// Set when this step was undone because a number was not finite: how often so far.
    pub recovered: Option<u32>,
    /// Time since this run began.
    pub elapsed: Duration,
}

/// What became of a training.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Steps made.
    pub steps: u64,
    /// Best mean squared error over all points of the validation series, and its step.
    pub best_validation: Option<(f64, u64)>,
    /// Validation errors (step, mean squared error over all points).
    pub validations: Vec<(u64, f64)>,
    /// Steps undone because a number was not finite.
    pub recoveries: u32,
    /// Whether it ended early, by patience, time or request.
    pub stopped_early: bool,
}

impl Summary {
    /// What became of the training of `model`.
    ///
    /// # Errors
    /// If its file does not tell.
    pub fn of(model: &Model) -> Result<Self, Error> {
        from_json(&model.info().summary)
    }
}

fn from_json<A: serde::de::DeserializeOwned>(value: &serde_json::Value) -> Result<A, Error> {
    A::deserialize(value).map_err(|error| {
        Error::Setting(format!("the model does not tell of its training: {error}"))
    })
}

/// Parameters with the state of the optimiser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    pub(crate) values: Vec<f32>,
    pub(crate) optimizer: OptimizerState<f32>,
}

/// A training in progress.
#[derive(Debug)]
pub struct Trainer<'d> {
    pub(crate) config: TrainConfig,
    pub(crate) model: ModelConfig,
    network: Box<dyn Network<f32>>,
    pub(crate) parameters: Parameters<f32>,
    pub(crate) optimizer: Optimizer<f32>,
    pub(crate) last_good: Option<Weights>,
    pub(crate) best: Option<Vec<f32>>,
    pub(crate) summary: Summary,
    pub(crate) rate_factor: f64,
    pub(crate) validations_since_best: u32,
    pub(super) train: &'d Dataset,
    validation: Vec<Sample>,
    shards: ParallelBatch<f32>,
    gradient: Gradient<f32>,
}

impl<'d> Trainer<'d> {
    /// A new training on scaled data; `validation` may be empty.
    ///
    /// # Errors
    /// If settings are out of range or do not fit the data, or there is no series.
    pub fn new(
        model: &ModelConfig,
        config: &TrainConfig,
        train: &'d Dataset,
        validation: &Dataset,
    ) -> Result<Self, Error> {
        let (network, parameters) = model.build(config.seed)?;
        Self::with_network(model, network, parameters, config, train, validation)
    }

    /// A new training of any network, also one from outside this library
    /// ([`ModelConfig::Custom`]).
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn with_network(
        model: &ModelConfig,
        network: Box<dyn Network<f32>>,
        parameters: Parameters<f32>,
        config: &TrainConfig,
        train: &'d Dataset,
        validation: &Dataset,
    ) -> Result<Self, Error> {
        config.check().map_err(Error::Setting)?;
        if train.is_empty() {
            return Err(Error::Setting(
                "there is no series to train on; give at least one".into(),
            ));
        }
        if train.channels() != model.channels() {
            return Err(Error::Setting(format!(
                "the data have {} channels and the model {}; set `channels` to {}",
                train.channels(),
                model.channels(),
                train.channels()
            )));
        }
        let mut random = Random::stream(config.seed, u64::MAX);
        let validation = validation
            .series()
            .iter()
            .map(|series| Sample::draw(series, &config.masking, &mut random))
            .collect();
        Ok(Self {
            config: config.clone(),
            model: model.clone(),
            network,
            optimizer: Optimizer::new(config.optimizer, config.weight_decay, parameters.infos()),
            gradient: Gradient::zeros(&parameters),
            parameters,
            last_good: None,
            best: None,
            summary: Summary::default(),
            rate_factor: 1.0,
            validations_since_best: 0,
            train,
            validation,
            shards: ParallelBatch::new(),
        })
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &dyn Network<f32> {
        &*self.network
    }

    /// The model's settings.
    #[must_use]
    pub fn model(&self) -> &ModelConfig {
        &self.model
    }

    /// The parameters as they are now.
    #[must_use]
    pub fn parameters(&self) -> &Parameters<f32> {
        &self.parameters
    }

    /// What became of the training so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Trains to the end, or until `progress` says stop.
    ///
    /// # Errors
    /// If numbers were not finite too often, with what to try.
    pub fn run(
        &mut self,
        mut progress: impl FnMut(&Self, &Progress) -> Control,
    ) -> Result<(), Error> {
        let set = InstructionSet::in_use();
        let span = tracing::info_span!("train", steps = self.config.steps, instructions = %set);
        let _entered = span.enter();
        let start = Instant::now();
        // An earlier part of this training may have been stopped; this one is not, so far.
        self.summary.stopped_early = false;
        while self.summary.steps < self.config.steps {
            let mut report = self.step()?;
            report.elapsed = start.elapsed();
            if report.step % self.config.validate_every == 0 || report.step == self.config.steps {
                report.validation = self.validate()?;
            }
            let out_of_time = self
                .config
                .seconds
                .is_some_and(|most| report.elapsed.as_secs_f64() >= most);
            let stopped = progress(self, &report) == Control::Stop;
            if stopped || out_of_time || self.out_of_patience() {
                self.summary.stopped_early = self.summary.steps < self.config.steps;
                break;
            }
        }
        Ok(())
    }

    /// The best parameters by validation, or the last ones if there is no validation.
    #[must_use]
    pub fn into_best(mut self) -> (Parameters<f32>, Summary) {
        if let Some(best) = &self.best {
            self.parameters.values_mut().copy_from_slice(best);
            self.parameters.pack();
        }
        (self.parameters, self.summary)
    }

    fn out_of_patience(&self) -> bool {
        self.config
            .patience
            .is_some_and(|patience| self.validations_since_best >= patience)
    }

    /// A number that tells data sets apart (FNV-1a over all times and values).
    pub(crate) fn fingerprint(&self) -> u64 {
        let numbers = self
            .train
            .series()
            .iter()
            .flat_map(|s| s.times().iter().chain(s.values()));
        let more = self
            .validation
            .iter()
            .flat_map(|s| s.query.iter().chain(&s.targets));
        let bytes = numbers.chain(more).flat_map(|x| x.to_bits().to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// One optimiser step.
    fn step(&mut self) -> Result<Progress, Error> {
        let span = tracing::debug_span!("step", step = self.summary.steps);
        let _entered = span.enter();
        let batch = self.batch();
        let factor = self
            .config
            .schedule
            .factor(self.summary.steps, self.config.steps);
        let rate = self.config.rate * factor * self.rate_factor;
        let at = LossStep {
            fit_weight: self.config.fit_weight(self.summary.steps),
            step: self.summary.steps,
            steps: self.config.steps,
            seed: self.config.seed,
        };
        let loss = self.shards.loss(
            &*self.network,
            &self.parameters,
            &batch,
            at,
            &mut self.gradient,
        );
        let norm = self.gradient.norm();
        self.summary.steps += 1;
        let mut report = Progress {
            step: self.summary.steps,
            steps: self.config.steps,
            loss: *loss.as_ref().unwrap_or(&f64::NAN),
            rate,
            validation: None,
            recovered: None,
            elapsed: Duration::ZERO,
        };
        if report.loss.is_finite() && norm.is_finite() {
            self.apply(rate, norm);
        } else {
            report.recovered = Some(self.recover(loss.err())?);
        }
        Ok(report)
    }

    fn apply(&mut self, rate: f64, norm: f64) {
        let clip = self.config.clip.map_or(1.0, |most| (most / norm).min(1.0));
        let kept = self.last_good.get_or_insert_with(|| Weights {
            values: Vec::new(),
            optimizer: OptimizerState::default(),
        });
        kept.values.clear();
        kept.values.extend_from_slice(self.parameters.values());
        self.optimizer.save(&mut kept.optimizer);
        let gradient = &self.gradient.values;
        self.optimizer
            .step(self.parameters.values_mut(), gradient, clip, rate);
        self.parameters.pack();
    }

    /// Undoes the last step and halves the rate.
    fn recover(&mut self, cause: Option<crate::Error>) -> Result<u32, Error> {
        self.summary.recoveries += 1;
        if self.summary.recoveries > MOST_RECOVERIES {
            return Err(Error::Diverged {
                step: self.summary.steps,
                cause: cause.map(Box::new),
            });
        }
        if let Some(good) = &self.last_good {
            self.parameters.values_mut().copy_from_slice(&good.values);
            self.parameters.pack();
            self.optimizer.restore(&good.optimizer);
        }
        self.rate_factor *= 0.5;
        Ok(self.summary.recoveries)
    }

    /// The samples of the next step: series in an order drawn anew every epoch, each with
    /// observations drawn anew.
    fn batch(&self) -> Vec<Sample> {
        let series = self.train.series();
        let size = self.config.batch.min(series.len());
        let batches = (series.len() / size) as u64;
        let (epoch, position) = (self.summary.steps / batches, self.summary.steps % batches);
        let mut order: Vec<usize> = (0..series.len()).collect();
        Random::stream(self.config.seed, 2 * epoch + 1).shuffle(&mut order);
        let mut random = Random::stream(self.config.seed, 2 * self.summary.steps);
        order[position as usize * size..][..size]
            .iter()
            .map(|&i| {
                let sample = Sample::draw(&series[i], &self.config.masking, &mut random);
                match self.config.asked {
                    Some(count) => sample.asking(count, &mut random),
                    None => sample,
                }
            })
            .collect()
    }

    fn validate(&mut self) -> Result<Option<Scores>, Error> {
        if self.validation.is_empty() {
            return Ok(None);
        }
        let span = tracing::info_span!("validate", step = self.summary.steps);
        let _entered = span.enter();
        let samples = std::mem::take(&mut self.validation);
        let scores = self.score(&samples);
        self.validation = samples;
        let scores = scores?;
        let step = self.summary.steps;
        self.summary.validations.push((step, scores.mse_all));
        if self
            .summary
            .best_validation
            .is_none_or(|(best, _)| scores.mse_all < best)
        {
            self.summary.best_validation = Some((scores.mse_all, step));
            self.best = Some(self.parameters.values().to_vec());
            self.validations_since_best = 0;
        } else {
            self.validations_since_best += 1;
        }
        Ok(Some(scores))
    }

    /// Scores of the parameters as they are now, stepping as in training.
    ///
    /// # Errors
    /// If a prediction is not finite.
    pub fn score(&mut self, samples: &[Sample]) -> Result<Scores, Error> {
        let seed = self.config.seed;
        self.shards
            .score(&*self.network, &self.parameters, samples, seed)
    }

    /// The same with something else compensated than in training.
    ///
    /// # Errors
    /// As [`Trainer::score`], and if the model cannot do that.
    pub fn score_as(
        &mut self,
        compensation: Compensation,
        samples: &[Sample],
    ) -> Result<Scores, Error> {
        let (network, _) = self.model.with_compensation(compensation)?.plan()?;
        let seed = self.config.seed;
        self.shards
            .score(&*network, &self.parameters, samples, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_the_fit_grows_in_the_middle() {
        let config = TrainConfig {
            steps: 100,
            late_fit_weight: 1e4,
            ..TrainConfig::default()
        };
        let weights = [0, 40, 55, 70, 99].map(|step| config.fit_weight(step));
        for (weight, expected) in weights.into_iter().zip([1.0, 1.0, 100.0, 1e4, 1e4]) {
            assert!((weight / expected - 1.0).abs() < 1e-9, "{weights:?}");
        }
        assert_eq!(TrainConfig::default().fit_weight(5000), 1.0);
    }
}
