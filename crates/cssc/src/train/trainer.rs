//! The training loop.
//!
//! Every draw of chance is a function of the seed and the step number, and a batch is a
//! function of both, so the position in the training *is* the random state: a resumed run
//! continues bit for bit as if it had never stopped.
//!
//! A loss or gradient that is not finite undoes the last step, halves the rate and goes on;
//! after [`MOST_RECOVERIES`] times the training ends with an error.

use super::adamax::AdaMax;
use super::rate::RateSchedule;
use super::sample::{Observation, Sample};
use super::shards::{Scores, Shards};
use crate::batch::Stepping;
use crate::data::{Dataset, Random};
use crate::model::{Method, ModelConfig, ModelError, Network};
use crate::nn::{Gradient, InstructionSet, Parameters};
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
    pub observation: Observation,
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
            rate: 0.01,
            schedule: RateSchedule::OneCycle {
                rise: 0.05,
                floor: 0.001,
            },
            late_fit_weight: 1.0,
            clip: None,
            observation: Observation::Fraction(0.3),
            validate_every: 250,
            patience: None,
            seconds: None,
            seed: 0,
        }
    }
}

impl TrainConfig {
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
        if self.batch == 0 {
            return Err("`batch` is 0; give at least 1".into());
        }
        if self.validate_every == 0 {
            return Err("`validate-every` is 0; give at least 1".into());
        }
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return Err(format!("`rate` is {}; give a positive number", self.rate));
        }
        if !(self.late_fit_weight > 0.0 && self.late_fit_weight.is_finite()) {
            let weight = self.late_fit_weight;
            return Err(format!(
                "`late-fit-weight` is {weight}; give a positive number"
            ));
        }
        if self.clip.is_some_and(|clip| clip.is_nan() || clip <= 0.0) {
            return Err("`clip` must be a positive number".into());
        }
        match &self.observation {
            Observation::Fraction(part) | Observation::Cells(part)
                if !(*part > 0.0 && *part <= 1.0) =>
            {
                Err(format!(
                    "the observed fraction is {part}; give a number above 0, at most 1"
                ))
            }
            Observation::Count(count) if *count < 2 => {
                Err(format!("the observed count is {count}; give at least 2"))
            }
            Observation::Runs { hidden, .. } if !(*hidden > 0.0 && *hidden < 1.0) => Err(format!(
                "the hidden fraction is {hidden}; give a number between 0 and 1"
            )),
            Observation::Runs { lengths, .. } if lengths.is_empty() => {
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

/// Parameters with the state of the optimiser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    pub(crate) values: Vec<f32>,
    pub(crate) optimizer: AdaMax<f32>,
}

/// A training in progress.
#[derive(Debug)]
pub struct Trainer<'d> {
    pub(crate) config: TrainConfig,
    pub(crate) network: Network,
    pub(crate) parameters: Parameters<f32>,
    pub(crate) optimizer: AdaMax<f32>,
    pub(crate) last_good: Option<Weights>,
    pub(crate) best: Option<Vec<f32>>,
    pub(crate) summary: Summary,
    pub(crate) rate_factor: f64,
    pub(crate) validations_since_best: u32,
    train: &'d Dataset,
    validation: Vec<Sample>,
    shards: Shards<f32>,
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
    ) -> Result<Self, ModelError> {
        model.check().map_err(ModelError::Setting)?;
        config.check().map_err(ModelError::Setting)?;
        if train.is_empty() {
            return Err(ModelError::Setting(
                "there is no series to train on; give at least one".into(),
            ));
        }
        if train.channels() != model.channels {
            return Err(ModelError::Setting(format!(
                "the data have {} channels and the model {}; set `channels` to {}",
                train.channels(),
                model.channels,
                train.channels()
            )));
        }
        let (network, parameters) = Network::new(model, config.seed);
        let mut random = Random::stream(config.seed, u64::MAX);
        let validation = validation
            .series()
            .iter()
            .map(|series| Sample::draw(series, &config.observation, &mut random))
            .collect();
        Ok(Self {
            config: config.clone(),
            network,
            optimizer: AdaMax::new(parameters.values().len()),
            gradient: Gradient::zeros(&parameters),
            parameters,
            last_good: None,
            best: None,
            summary: Summary::default(),
            rate_factor: 1.0,
            validations_since_best: 0,
            train,
            validation,
            shards: Shards::new(),
        })
    }

    /// The networks.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
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
    ) -> Result<(), ModelError> {
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
    pub fn into_best(mut self) -> (Network, Parameters<f32>, Summary) {
        if let Some(best) = &self.best {
            self.parameters.values_mut().copy_from_slice(best);
            self.parameters.pack();
        }
        (self.network, self.parameters, self.summary)
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
    fn step(&mut self) -> Result<Progress, ModelError> {
        let span = tracing::debug_span!("step", step = self.summary.steps);
        let _entered = span.enter();
        let batch = self.batch();
        let factor = self
            .config
            .schedule
            .factor(self.summary.steps, self.config.steps);
        let rate = self.config.rate * factor * self.rate_factor;
        let fit_weight = self.config.fit_weight(self.summary.steps);
        let loss = self.shards.loss(
            &self.network,
            &self.parameters,
            &batch,
            fit_weight,
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
            optimizer: AdaMax::new(0),
        });
        kept.values.clear();
        kept.values.extend_from_slice(self.parameters.values());
        kept.optimizer.clone_from(&self.optimizer);
        let gradient = &self.gradient.values;
        self.optimizer
            .step(self.parameters.values_mut(), gradient, clip, rate);
        self.parameters.pack();
    }

    /// Undoes the last step and halves the rate.
    fn recover(&mut self, cause: Option<crate::Error>) -> Result<u32, ModelError> {
        self.summary.recoveries += 1;
        if self.summary.recoveries > MOST_RECOVERIES {
            return Err(ModelError::Diverged {
                step: self.summary.steps,
                cause,
            });
        }
        if let Some(good) = &self.last_good {
            self.parameters.values_mut().copy_from_slice(&good.values);
            self.parameters.pack();
            self.optimizer.clone_from(&good.optimizer);
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
            .map(|&i| Sample::draw(&series[i], &self.config.observation, &mut random))
            .collect()
    }

    fn validate(&mut self) -> Result<Option<Scores>, ModelError> {
        if self.validation.is_empty() {
            return Ok(None);
        }
        let span = tracing::info_span!("validate", step = self.summary.steps);
        let _entered = span.enter();
        let scores = self.score(&self.validation.clone(), self.network.config().method)?;
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
    pub fn score(&mut self, samples: &[Sample], method: Method) -> Result<Scores, ModelError> {
        let stepping = Stepping {
            longest: self.network.config().step,
            stop_at_query: true,
        };
        Ok(self
            .shards
            .score(&self.network, &self.parameters, samples, method, stepping)?)
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
