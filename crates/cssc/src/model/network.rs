//! THE SEAM: what a model must do to be trained, saved, applied and compared like all others.
//!
//! A network turns the observations of a batch into values at the times asked, recorded on a
//! [`Graph`] so that they can be trained ([`Network::predict`]). That is all that is needed. A
//! network that also tells its one-sided limits ([`Network::trace`]) gets the rest for nothing: curves
//! with derivatives, the exact and the noise-aware compensation, bands, and windows over long series
//! with one compensation for all of them.
//!
//! ```text
//!                        ┌─ train: loss, optimiser, checkpoints      predict, random
//!   config ─ build ─> Network
//!                        └─ Model: curves at any time, files          trace, decode
//! ```
//!
//! A network has no numbers of its own: they are in [`Parameters`](crate::nn::Parameters), whose layout does not depend on
//! what is compensated. So the paper's pre-hoc and post-hoc strategies are another network over the
//! same parameters ([`Model::with_compensation`](super::Model::with_compensation)).

use super::compensated::{Compensation, CompensationSettings};
use crate::data::Random;
use crate::nn::{Float, Graph, Var};
use crate::{Error, Jets};
use std::fmt::Debug;
use std::ops::Range;

/// The observations of one series, in the model's units, and the times asked for.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// Strictly increasing times of the observations.
    pub times: &'a [f64],
    /// Values [times, channels]; NaN is missing.
    pub values: &'a [f64],
    /// Times asked for, increasing, between the first and the last observation.
    pub query: &'a [f64],
    /// The same values as learned numbers, where another network made them ([`Frames`](super::Frames)): a network
    /// reads them from here, so that gradients reach the one that made them.
    pub codes: Option<Codes>,
}

/// Rows of a block, one for each observation of a series.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    /// The block.
    pub block: Var,
    /// The row of the first observation.
    pub first: usize,
}

impl<'a> Observed<'a> {
    /// Observed numbers as they are.
    #[must_use]
    pub const fn new(times: &'a [f64], values: &'a [f64], query: &'a [f64]) -> Self {
        Self {
            times,
            values,
            query,
            codes: None,
        }
    }

    /// The knots `knots` alone, asked at the times numbered `asked`.
    #[must_use]
    pub fn part(&self, knots: &Range<usize>, asked: &Range<usize>) -> Observed<'a> {
        let channels = self.values.len() / self.times.len();
        Observed {
            times: &self.times[knots.clone()],
            values: &self.values[knots.start * channels..knots.end * channels],
            query: &self.query[asked.clone()],
            codes: self.codes.map(|codes| Codes {
                first: codes.first + knots.start,
                ..codes
            }),
        }
    }
}

/// Series that are predicted together.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The series.
    pub series: &'a [Observed<'a>],
    /// Where the training stands; none where predictions are only scored.
    pub training: Option<TrainingStep>,
}

/// Where a training stands, for terms of the loss that only the network knows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrainingStep {
    /// Optimiser steps made so far.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// What every term of the loss is multiplied by: one over the points asked of the whole batch, of
    /// which these series may be a part.
    pub scale: f64,
}

/// A recorded prediction: a block over the query times of all series.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// What the network answers, [queries, channels].
    pub values: Var,
    /// What is added to the loss, one number: α|c|², a Kullback-Leibler term, … Only in training.
    pub penalty: Option<Var>,
    /// The series in the order of the block.
    pub order: Vec<usize>,
}

/// What a network tells of one series, in the model's units: its signal (what is compensated: the
/// output, or for hidden compensation the state) with derivatives by time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// The signal at the times asked [queries, width]: at a knot after its update. Right of the last knot
    /// the output has no curve: what is compensated is read before its update there.
    pub signal: Jets,
    /// Limits at the knots, if something is compensated.
    pub limits: Option<Limits>,
}

/// A signal on both sides of every knot, each [knots, width].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Limits {
    /// What the compensated signal passes through; NaN is missing. Empty: the observations.
    pub values: Vec<f64>,
    /// Before each knot's update.
    pub left: Jets,
    /// After it.
    pub right: Jets,
}

/// A model that can be trained: see the top of this page.
pub trait Network<T: Float>: Debug + Send + Sync {
    /// What is compensated, and how.
    fn compensation(&self) -> CompensationSettings {
        CompensationSettings::NONE
    }

    /// Whether the prediction at a time knows later observations, so that windows of a long series must
    /// overlap on both sides.
    fn sees_future(&self) -> bool {
        false
    }

    /// Whether the signal of a trace is not the output yet and has to be decoded. By default: if it is the state.
    fn decodes(&self) -> bool {
        self.compensation().compensation == Compensation::Hidden
    }

    /// Predicts a batch. `random` is a stream of (seed, step, part of the batch), so that bits do not
    /// depend on the number of threads.
    ///
    /// # Errors
    /// If a series cannot be predicted: nothing observed, or numbers that are not finite.
    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        random: &mut Random,
    ) -> Result<Prediction, Error>;

    /// The signal of every series with its derivatives, in the order of `series`; none where the network
    /// gives values only. It must not depend on what is asked, nor on the other series.
    ///
    /// # Errors
    /// As [`Network::predict`].
    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        let _ = (graph, series);
        Ok(None)
    }

    /// The same for a curve that passes near noisy observations: without what a network does only to pass through them. By
    /// default that is nothing.
    ///
    /// # Errors
    /// As [`Network::predict`].
    fn trace_near(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        self.trace(graph, series)
    }

    /// From the signal to the output; by default they are the same.
    fn decode(&self, graph: &mut Graph<'_, T>, signal: Jets<Var>) -> Jets<Var> {
        let _ = graph;
        signal
    }
}
