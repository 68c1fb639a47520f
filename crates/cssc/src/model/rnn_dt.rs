//! RNN-Δt: a gated recurrent unit that is told how much time has passed.
//!
//! The "classic RNN" baseline of Rubanova et al. 2019 (*Latent ODEs for irregularly-sampled time
//! series*), as the paper's table uses it. With x (0 where missing), the mask m and Δ the time since
//! the observation before (0 at the first):
//!
//! ```text
//!   h_k = GRU(h_{k-1}, [x_k, m_k, Δ_k])        o(t) = g([h_k, t - t_k])  for t_k ≤ t < t_{k+1}
//! ```
//!
//! Open in the source: how a time without an observation is answered. The public code feeds its own
//! prediction back at every asked time, so an answer depends on what else is asked. Here g reads the
//! time since the last observation, which can say the same and is a function of t alone. The
//! cell's gates are networks with a hidden layer, as those of the ODE-RNN (`nn/cell.rs`).

use super::checks;
use super::compensated::{Compensation, CompensationSettings};
use super::network::{Batch, Network, Observed, Prediction, Trace};
use super::rows::{cell_inputs, traces, widths};
use super::sequence::{Reading, Sequence, read};
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::data::Random;
use crate::nn::{Activation, Float, GatedCell, Graph, Initializer, Layer, Mlp, Parameters, Var};
use crate::{EndRule, Error, Jets};
use serde::{Deserialize, Serialize};

/// Shape and behaviour of an RNN-Δt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct RnnDtConfig {
    /// Channels of the data; at least 1. Default 1.
    pub channels: usize,
    /// Size of the hidden state. Default 100.
    pub hidden: usize,
    /// Widths of the hidden layers of g. Default one of 300.
    pub decoder: Vec<usize>,
    /// Width of the hidden layer of the cell's three gate networks. Default 100.
    pub cell: usize,
    /// Activation of the hidden layers of g. Default tanh.
    pub activation: Activation,
    /// Standard deviation of the initial weights. Default 0.1.
    pub initial_std_dev: f64,
    /// What is compensated: the output, or nothing. Default nothing.
    pub compensation: Compensation,
    /// What holds at the two ends. Default `compensation`.
    pub end_rule: EndRule,
    /// Jumps folded in a hole before one is pinned; none: all are folded.
    pub max_fold: Option<usize>,
    /// Weight α of the squared compensation in the loss. Default 1000.
    pub compensation_weight: f64,
}

impl Default for RnnDtConfig {
    fn default() -> Self {
        Self {
            channels: 1,
            hidden: 100,
            decoder: vec![300],
            cell: 100,
            activation: Activation::Tanh,
            initial_std_dev: 0.1,
            compensation: Compensation::None,
            end_rule: EndRule::Compensation,
            max_fold: Some(DEFAULT_MAX_FOLD),
            compensation_weight: 1000.0,
        }
    }
}

impl RnnDtConfig {
    /// What is compensated, and how.
    #[must_use]
    pub fn compensation_settings(&self) -> CompensationSettings {
        CompensationSettings {
            compensation: self.compensation,
            end_rule: self.end_rule,
            max_fold: self.max_fold,
            weight: self.compensation_weight,
        }
    }

    /// What is wrong with these settings, if anything.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        checks::sizes(&[
            ("channels", self.channels),
            ("hidden", self.hidden),
            ("cell", self.cell),
        ])?;
        checks::layers(&[("decoder", &self.decoder)])?;
        checks::positive(&[("initial-std-dev", self.initial_std_dev)])?;
        checks::output_only("an RNN-Δt", &self.compensation_settings())
    }
}

/// An RNN-Δt; its numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct RnnDt {
    config: RnnDtConfig,
    cell: GatedCell,
    decoder: Mlp,
}

impl RnnDt {
    /// The networks, with parameters drawn from `seed` and added to the store.
    pub fn new<T: Float>(config: &RnnDtConfig, parameters: &mut Parameters<T>, seed: u64) -> Self {
        let initializer = Initializer::Normal(config.initial_std_dev);
        let random = &mut Random::new(seed);
        let sizes = [config.hidden, 2 * config.channels + 1, config.cell];
        let cell = GatedCell::new(parameters, "cell", sizes, initializer, random);
        let widths = widths(config.hidden + 1, &config.decoder, config.channels);
        let activations = [config.activation, Activation::Identity];
        let decoder = Mlp::new(
            parameters,
            "decoder",
            &widths,
            activations,
            initializer,
            random,
        );
        Self {
            config: config.clone(),
            cell,
            decoder,
        }
    }
}

impl<T: Float> Network<T> for RnnDt {
    fn compensation(&self) -> CompensationSettings {
        self.config.compensation_settings()
    }

    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        _: &mut Random,
    ) -> Result<Prediction, Error> {
        let settings = self.config.compensation_settings();
        let sequence = Sequence::new(batch.series);
        let states = self.states(graph, batch.series, &sequence);
        let readings = sequence.at_query(settings.last_side());
        let inputs = decoder_inputs(graph, batch.series, &states, &readings);
        let values = self.decoder.forward(graph, inputs);
        let limits = (settings.compensation == Compensation::Output)
            .then(|| sequence.limits(|at| self.jets(graph, batch.series, &states, at)));
        settings.complete(graph, batch, sequence.order, values, limits)
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        let settings = self.config.compensation_settings();
        let sequence = Sequence::new(series);
        let states = self.states(graph, series, &sequence);
        let readings = sequence.at_query(settings.last_side());
        let signal = (!readings.is_empty()).then(|| self.jets(graph, series, &states, &readings));
        let limits = (settings.compensation == Compensation::Output)
            .then(|| sequence.limits(|at| self.jets(graph, series, &states, at)));
        Ok(Some(traces(
            graph,
            series,
            &sequence.order,
            signal,
            limits,
            None,
        )))
    }
}

impl RnnDt {
    /// The states after each knot.
    fn states<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        sequence: &Sequence<'_>,
    ) -> Vec<Var> {
        let mut numbers = Vec::new();
        sequence.states(graph, self.config.hidden, |graph, state, items, knot| {
            let knots = items.iter().map(|&item| (item, knot));
            let elapsed = |(item, knot): (usize, usize), numbers: &mut Vec<T>| {
                let times = series[item].times;
                numbers.push(T::from_f64(times[knot] - times[knot.max(1) - 1]));
            };
            let inputs = cell_inputs(graph, series, knots, &mut numbers, elapsed);
            self.cell.forward(graph, state, inputs)
        })
    }

    /// o, ȯ, ö: the state stands still, the time since grows evenly.
    fn jets<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        states: &[Var],
        readings: &[Reading],
    ) -> Jets<Var> {
        let value = decoder_inputs(graph, series, states, readings);
        let mut rates = vec![T::ZERO; self.config.hidden + 1];
        rates[self.config.hidden] = T::ONE;
        let slope = graph.input(readings.len(), rates.len(), &rates.repeat(readings.len()));
        let curvature = graph.zeros_like(slope);
        self.decoder.jet(
            graph,
            Jets {
                value,
                slope,
                curvature,
            },
        )
    }
}

/// [h, t - t_k] for each reading.
fn decoder_inputs<T: Float>(
    graph: &mut Graph<'_, T>,
    series: &[Observed<'_>],
    states: &[Var],
    readings: &[Reading],
) -> Var {
    let state = read(graph, states, readings);
    let since: Vec<T> = (readings.iter())
        .map(|at| T::from_f64(at.time - series[at.item].times[at.knot]))
        .collect();
    let since = graph.input(readings.len(), 1, &since);
    graph.concat(state, since)
}
