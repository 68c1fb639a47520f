//! GRU-D (Che et al. 2018, *Recurrent neural networks for multivariate time series with missing
//! values*, Scientific Reports): a gated recurrent unit whose inputs and state decay.
//!
//! With the mask m and δ the time since each channel was last observed (since the first time of the
//! series if it never was):
//!
//! ```text
//!   γ_x = exp(-max(0, w ⊙ δ + b))        x̂ = m ⊙ x + (1 - m) ⊙ (γ_x ⊙ x_last + (1 - γ_x) ⊙ x̄)
//!   γ_h = exp(-max(0, W δ + b_h))        h_k = GRU(γ_h ⊙ h_{k-1}, [x̂, m])
//!   o(t) = g(γ_h(t) ⊙ h_k)  for t_k ≤ t < t_{k+1}
//! ```
//!
//! Followed from the paper: one rate of input decay a channel, rates of the state from all δ, the mask
//! in every gate. Chosen here:
//! - x̄, the empirical mean, is a trained vector that starts at 0. For scaled data that is the empirical
//!   mean itself; for data in their own units training finds what serves the same purpose.
//! - A time without an observation is answered by the decayed state (the paper only classifies).
//! - The gates have a hidden layer, as those of the ODE-RNN (linear in the paper).
//!
//! max(0, ·) has a kink: where a rate crosses 0 inside an interval the slope of o jumps, and its
//! derivative there is the one of the side without decay. A compensated curve is C² elsewhere.

use super::checks;
use super::compensated::{Compensation, CompensationSettings};
use super::network::{Batch, Network, Observed, Prediction, Trace};
use super::rows::{codes_at, entries, traces, widths};
use super::sequence::{Reading, Sequence, read};
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::data::Random;
use crate::nn::{
    Activation, Dense, Float, GatedCell, Graph, Initializer, Layer, Mlp, ParameterId,
    ParameterRole, Parameters, Var,
};
use crate::{EndRule, Error, Jets};
use serde::{Deserialize, Serialize};

/// Shape and behaviour of a GRU-D.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct GruDConfig {
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

impl Default for GruDConfig {
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

impl GruDConfig {
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
        checks::output_only("a GRU-D", &self.compensation_settings())
    }
}

/// A GRU-D; its numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct GruD {
    config: GruDConfig,
    cell: GatedCell,
    decoder: Mlp,
    /// max(0, W δ + b_h).
    rate: Dense,
    /// w, b and x̄, each [1, channels].
    input_rate: ParameterId,
    input_bias: ParameterId,
    mean: ParameterId,
}

impl GruD {
    /// The networks, with parameters drawn from `seed` and added to the store.
    pub fn new<T: Float>(config: &GruDConfig, parameters: &mut Parameters<T>, seed: u64) -> Self {
        let initializer = Initializer::Normal(config.initial_std_dev);
        let random = &mut Random::new(seed);
        let (channels, hidden) = (config.channels, config.hidden);
        let sizes = [hidden, 2 * channels, config.cell];
        let cell = GatedCell::new(parameters, "cell", sizes, initializer, random);
        let decoder = Mlp::new(
            parameters,
            "decoder",
            &widths(hidden, &config.decoder, channels),
            [config.activation, Activation::Identity],
            initializer,
            random,
        );
        let relu = Activation::Relu;
        let rate = Dense::new(
            parameters,
            "rate",
            [channels, hidden],
            relu,
            initializer,
            random,
        );
        let mut vector = |name: &str, role, initializer| {
            parameters.add(name, role, [1, channels], initializer, random)
        };
        Self {
            config: config.clone(),
            cell,
            decoder,
            rate,
            input_rate: vector("input-rate.gain", ParameterRole::Gain, initializer),
            input_bias: vector("input-rate.bias", ParameterRole::Bias, Initializer::Zeros),
            mean: vector("mean", ParameterRole::Bias, Initializer::Zeros),
        }
    }
}

impl<T: Float> Network<T> for GruD {
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
        let memories = memories(batch.series);
        let states = self.states(graph, batch.series, &memories, &sequence);
        let readings = sequence.at_query(settings.last_side());
        let state = read(graph, &states, &readings);
        let elapsed = elapsed(graph, &memories, self.config.channels, &readings);
        let decayed = self.decay(graph, state, elapsed);
        let values = self.decoder.forward(graph, decayed);
        let limits = (settings.compensation == Compensation::Output)
            .then(|| sequence.limits(|at| self.jets(graph, &memories, &states, at)));
        settings.complete(graph, batch, sequence.order, values, limits)
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        let settings = self.config.compensation_settings();
        let sequence = Sequence::new(series);
        let memories = memories(series);
        let states = self.states(graph, series, &memories, &sequence);
        let readings = sequence.at_query(settings.last_side());
        let signal =
            (!readings.is_empty()).then(|| self.jets(graph, &memories, &states, &readings));
        let limits = (settings.compensation == Compensation::Output)
            .then(|| sequence.limits(|at| self.jets(graph, &memories, &states, at)));
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

impl GruD {
    /// The states after each knot.
    fn states<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        memories: &[Vec<Memory>],
        sequence: &Sequence<'_>,
    ) -> Vec<Var> {
        let [gain, bias, mean] =
            [self.input_rate, self.input_bias, self.mean].map(|id| graph.parameter(id));
        let channels = self.config.channels;
        sequence.states(graph, self.config.hidden, |graph, state, items, knot| {
            let mut block = |number: &dyn Fn(usize, usize) -> f64| {
                let numbers: Vec<T> = (items.iter())
                    .flat_map(|&item| (0..channels).map(move |j| (item, j)))
                    .map(|(item, j)| T::from_f64(number(item, j)))
                    .collect();
                graph.input(items.len(), channels, &numbers)
            };
            let last = |item: usize, j: usize| match knot {
                0 => Memory::none(&series[item]),
                _ => memories[item][(knot - 1) * channels + j],
            };
            let value = |item: usize, j: usize| entries(&series[item], knot)[j];
            let elapsed = block(&|item, j| series[item].times[knot] - last(item, j).time);
            let recalled = block(&|item, j| last(item, j).value.unwrap_or(0.0));
            let known = block(&|item, j| f64::from(u8::from(last(item, j).value.is_some())));
            let mask = block(&|item, j| f64::from(u8::from(!value(item, j).is_nan())));
            let shown = block(&|item, j| match value(item, j) {
                x if x.is_nan() => 0.0,
                x => x,
            });
            let knots = items.iter().map(|&item| (item, knot));
            let shown = codes_at(graph, series, knots).unwrap_or(shown);
            let every = |graph: &mut Graph<'_, T>, row: Var| {
                graph.collect(&[row], items.iter().map(|_| (0, 0)))
            };
            let gain = every(graph, gain);
            let rate = graph.product(elapsed, gain);
            let rate = graph.add_row(rate, bias);
            let rate = graph.activate(rate, Activation::Relu);
            let rate = graph.scale(rate, -1.0);
            let factor = graph.activate(rate, Activation::Exp);
            // A channel that was never seen is the mean.
            let factor = graph.product(factor, known);
            let mean = every(graph, mean);
            let guess = graph.blend(factor, mean, recalled);
            let imputed = graph.blend(mask, guess, shown);
            let inputs = graph.concat(imputed, mask);
            let state = self.decay(graph, state, elapsed);
            self.cell.forward(graph, state, inputs)
        })
    }

    /// γ_h ⊙ h.
    fn decay<T: Float>(&self, graph: &mut Graph<'_, T>, state: Var, elapsed: Var) -> Var {
        let rate = self.rate.forward(graph, elapsed);
        let rate = graph.scale(rate, -1.0);
        let factor = graph.activate(rate, Activation::Exp);
        graph.product(factor, state)
    }

    /// o, ȯ, ö: δ grows evenly, h stands still.
    fn jets<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        memories: &[Vec<Memory>],
        states: &[Var],
        readings: &[Reading],
    ) -> Jets<Var> {
        let state = read(graph, states, readings);
        let value = elapsed(graph, memories, self.config.channels, readings);
        let ones = vec![T::ONE; readings.len() * self.config.channels];
        let slope = graph.input(readings.len(), self.config.channels, &ones);
        let curvature = graph.zeros_like(slope);
        let elapsed = Jets {
            value,
            slope,
            curvature,
        };
        let rate = self.rate.jet(graph, elapsed);
        let rate = rate.map(|block| graph.scale(block, -1.0));
        let value = graph.activate(rate.value, Activation::Exp);
        let factor = Jets {
            value,
            slope: graph.tangent(value, rate.slope, Activation::Exp),
            curvature: graph.curve(value, rate.slope, rate.curvature, Activation::Exp),
        };
        let decayed = factor.map(|block| graph.product(block, state));
        self.decoder.jet(graph, decayed)
    }
}

/// What is remembered of a channel after a knot: when it was last observed, and its value there.
#[derive(Clone, Copy, Debug)]
struct Memory {
    time: f64,
    value: Option<f64>,
}

impl Memory {
    fn none(series: &Observed<'_>) -> Self {
        Self {
            time: series.times[0],
            value: None,
        }
    }
}

/// Of every series, [knots, channels].
fn memories(series: &[Observed<'_>]) -> Vec<Vec<Memory>> {
    let of_one = |series: &Observed<'_>| {
        let channels = series.values.len() / series.times.len();
        let mut last = vec![Memory::none(series); channels];
        let mut all = Vec::with_capacity(series.values.len());
        for (knot, &time) in series.times.iter().enumerate() {
            for (last, &x) in last.iter_mut().zip(entries(series, knot)) {
                if !x.is_nan() {
                    let value = Some(x);
                    *last = Memory { time, value };
                }
            }
            all.extend_from_slice(&last);
        }
        all
    };
    series.iter().map(of_one).collect()
}

/// δ at each reading, [readings, channels].
fn elapsed<T: Float>(
    graph: &mut Graph<'_, T>,
    memories: &[Vec<Memory>],
    channels: usize,
    readings: &[Reading],
) -> Var {
    let numbers: Vec<T> = (readings.iter())
        .flat_map(|at| {
            let last = &memories[at.item][at.knot * channels..(at.knot + 1) * channels];
            last.iter().map(|last| T::from_f64(at.time - last.time))
        })
        .collect();
    graph.input(readings.len(), channels, &numbers)
}
