//! Batches in parallel, bit for bit the same with any number of threads.
//!
//! A batch is cut into shards of [`SHARD`] series, whatever the number of threads. Each shard
//! has its own memory and its own gradient; the gradients are summed in the order of the
//! shards. (Threads inside one small matrix product would cost more than they bring.)

use super::sample::Sample;
use crate::Error;
use crate::data::Random;
use crate::model::{Batch, Network, Observed, Prediction, TrainingStep};
use crate::nn::{Float, Gradient, Graph, Memory, Parameters};
use rayon::prelude::*;

/// Series in a shard.
pub const SHARD: usize = 25;

/// Shards that are scored together.
const SCORED_TOGETHER: usize = 8;

/// Memory and gradient of every shard, kept between batches.
#[derive(Debug)]
pub struct ParallelBatch<T> {
    workers: Vec<Worker<T>>,
}

#[derive(Debug)]
struct Worker<T> {
    memory: Memory<T>,
    gradient: Gradient<T>,
}

/// What the loss of a batch depends on beside the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossStep {
    /// Weight w of |x - ô|², 1 in the paper.
    pub fit_weight: f64,
    /// Optimiser steps made so far, and in all.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Seed of the draws a network makes.
    pub seed: u64,
}

impl Default for LossStep {
    fn default() -> Self {
        Self {
            fit_weight: 1.0,
            step: 0,
            steps: 1,
            seed: 0,
        }
    }
}

impl LossStep {
    /// The draws that a network makes for one shard of [`SHARD`] series in this step.
    #[must_use]
    pub fn draws(&self, shard: usize) -> Random {
        draws(self.seed, self.step, shard)
    }
}

/// The draws of a network for one shard of a step: a stream of its own, so that bits do not depend on
/// the number of threads. Other streams of the same seed choose batches and observations.
fn draws(seed: u64, step: u64, shard: usize) -> Random {
    const NETWORKS: u64 = 0x6e65_7477_6f72_6b73;
    Random::stream(seed ^ NETWORKS, (step << 16) | shard as u64)
}

/// The step whose draws are used where predictions are scored.
const SCORING: u64 = (1 << 48) - 1;

/// Errors of a prediction, summed over series, points and channels that count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// Mean squared error over all points: the primary metric.
    pub mse_all: f64,
    /// Over the points that were not shown.
    pub mse_hidden: f64,
    /// Mean absolute error over the points that were not shown.
    pub mae_hidden: f64,
    /// Points and channels that counted, and how many of them were not shown.
    pub counts: (usize, usize),
}

impl<T: Float> Default for ParallelBatch<T> {
    fn default() -> Self {
        Self {
            workers: Vec::new(),
        }
    }
}

impl<T: Float> ParallelBatch<T> {
    /// No memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes held for activations.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.workers
            .iter()
            .map(|worker| worker.memory.bytes())
            .sum()
    }

    /// The loss of a batch, its gradient added up in `gradient` (which is overwritten).
    ///
    /// The loss is the mean over all points asked of w|x - ô|² (norms over channels, channels without a
    /// true value left out), plus what the network adds, such as α|c|² (equation 14).
    ///
    /// # Errors
    /// If the prediction is not finite or a sample shows nothing.
    pub fn loss(
        &mut self,
        network: &dyn Network<T>,
        parameters: &Parameters<T>,
        batch: &[Sample],
        at: LossStep,
        gradient: &mut Gradient<T>,
    ) -> Result<f64, Error> {
        let points: usize = batch.iter().map(|sample| sample.query.len()).sum();
        let scale = 1.0 / points as f64;
        let training = Some(TrainingStep {
            step: at.step,
            steps: at.steps,
            scale,
        });
        let results = self.each(parameters, batch, |worker, shard, part| {
            worker.gradient.values.fill(T::ZERO);
            let mut graph = Graph::new(&mut worker.memory, parameters);
            let series = &observed(part);
            let mut random = at.draws(shard);
            let prediction =
                network.predict(&mut graph, &Batch { series, training }, &mut random)?;
            let (targets, weights) = targets::<T>(part, &prediction);
            let columns = graph.columns(prediction.values);
            let rows = targets.len() / columns;
            let targets = graph.input(rows, columns, &targets);
            let weights = graph.input(rows, columns, &weights);
            let fit = scale * at.fit_weight;
            let mut loss = graph.square(prediction.values, Some(targets), Some(weights), fit);
            if let Some(penalty) = prediction.penalty {
                loss = graph.sum(loss, penalty);
            }
            graph.backward(loss, &mut worker.gradient);
            Ok(graph.value(loss)[0].to_f64())
        });
        let losses = results.into_iter().collect::<Result<Vec<f64>, Error>>()?;
        let shards = losses.len();
        self.sum_gradients(shards, gradient);
        Ok(losses.iter().sum())
    }

    /// Adds the shards' gradients in their order, each number by one thread.
    fn sum_gradients(&self, shards: usize, gradient: &mut Gradient<T>) {
        const PART: usize = 1 << 14;
        let workers = &self.workers[..shards];
        gradient
            .values
            .par_chunks_mut(PART)
            .enumerate()
            .for_each(|(i, part)| {
                part.fill(T::ZERO);
                for worker in workers {
                    let values = &worker.gradient.values[i * PART..];
                    part.iter_mut().zip(values).for_each(|(sum, &g)| *sum += g);
                }
            });
    }

    /// Predictions against the targets of all samples.
    ///
    /// # Errors
    /// If a prediction is not finite or a sample shows nothing.
    pub fn score(
        &mut self,
        network: &dyn Network<T>,
        parameters: &Parameters<T>,
        samples: &[Sample],
        seed: u64,
    ) -> Result<Scores, Error> {
        let mut sums = Sums::default();
        // As many shards at a time as there may be memory for.
        for (number, batch) in samples.chunks(SHARD * SCORED_TOGETHER).enumerate() {
            let parts = self.each(parameters, batch, |worker, shard, part| {
                let mut graph = Graph::forward_only(&mut worker.memory, parameters);
                let batch = Batch {
                    series: &observed(part),
                    training: None,
                };
                let mut random = draws(seed, SCORING, number * SCORED_TOGETHER + shard);
                let prediction = network.predict(&mut graph, &batch, &mut random)?;
                let values = graph.value(prediction.values);
                Ok(Sums::of(part, &prediction, values))
            });
            for part in parts {
                sums.add(&part?);
            }
        }
        Ok(sums.scores())
    }

    /// Runs `f` on every shard of `batch`, in parallel; results in the order of the shards.
    fn each<R: Send>(
        &mut self,
        parameters: &Parameters<T>,
        batch: &[Sample],
        f: impl Fn(&mut Worker<T>, usize, &[Sample]) -> Result<R, Error> + Sync,
    ) -> Vec<Result<R, Error>> {
        let shards = batch.len().div_ceil(SHARD);
        while self.workers.len() < shards {
            let gradient = Gradient::zeros(parameters);
            self.workers.push(Worker {
                memory: Memory::new(),
                gradient,
            });
        }
        let parts = (0..shards).map(|i| &batch[i * SHARD..batch.len().min((i + 1) * SHARD)]);
        self.workers[..shards]
            .par_iter_mut()
            .zip(parts.collect::<Vec<_>>())
            .enumerate()
            .map(|(shard, (worker, part))| f(worker, shard, part))
            .collect()
    }
}

fn observed(samples: &[Sample]) -> Vec<Observed<'_>> {
    samples
        .iter()
        .map(|s| Observed::new(&s.times, &s.values, &s.query))
        .collect()
}

/// True values and weights (0 where there is none) in the order of the prediction.
fn targets<T: Float>(samples: &[Sample], prediction: &Prediction) -> (Vec<T>, Vec<T>) {
    let numbers = || prediction.order.iter().flat_map(|&i| &samples[i].targets);
    let targets = numbers()
        .map(|&x| if x.is_nan() { T::ZERO } else { T::from_f64(x) })
        .collect();
    let weights = numbers()
        .map(|x| if x.is_nan() { T::ZERO } else { T::ONE })
        .collect();
    (targets, weights)
}

#[derive(Clone, Copy, Default)]
struct Sums {
    square: f64,
    hidden_square: f64,
    hidden_absolute: f64,
    count: usize,
    hidden_count: usize,
}

impl Sums {
    fn of<T: Float>(samples: &[Sample], prediction: &Prediction, values: &[T]) -> Self {
        let mut sums = Self::default();
        let mut values = values.iter();
        for &item in &prediction.order {
            let sample = &samples[item];
            for (i, &target) in sample.targets.iter().enumerate() {
                let value = values.next().expect("a value for every target").to_f64();
                if target.is_nan() {
                    continue;
                }
                let miss = value - target;
                sums.square += miss * miss;
                sums.count += 1;
                if !sample.shown[i] {
                    sums.hidden_square += miss * miss;
                    sums.hidden_absolute += miss.abs();
                    sums.hidden_count += 1;
                }
            }
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        self.square += other.square;
        self.hidden_square += other.hidden_square;
        self.hidden_absolute += other.hidden_absolute;
        self.count += other.count;
        self.hidden_count += other.hidden_count;
    }

    fn scores(&self) -> Scores {
        Scores {
            mse_all: self.square / self.count as f64,
            mse_hidden: self.hidden_square / self.hidden_count as f64,
            mae_hidden: self.hidden_absolute / self.hidden_count as f64,
            counts: (self.count, self.hidden_count),
        }
    }
}
