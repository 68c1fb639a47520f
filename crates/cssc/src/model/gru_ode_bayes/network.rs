//! The networks of a GRU-ODE-Bayes, and its prediction.

use super::config::GruOdeBayesConfig;
use super::flow::GruFlow;
use crate::data::Random;
use crate::model::gaussian::Gaussian;
use crate::model::network::{Batch, Network, Observed, Prediction, Trace};
use crate::model::rows::{codes_at, entries, known, shown, traces, widths};
use crate::model::walk::{Direction, KnotPicks, Manner, SidedJets, States, Walk, order, schedule};
use crate::model::{Compensation, CompensationSettings};
use crate::nn::{
    Activation, Dense, Float, GatedCell, Graph, Initializer, Layer, Mlp, ParameterId,
    ParameterRole, Parameters, Var,
};
use crate::ode::Schedule;
use crate::{Error, Jets};

/// A GRU-ODE-Bayes; its numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct GruOdeBayes {
    config: GruOdeBayesConfig,
    flow: GruFlow,
    /// From the state to mean and logarithm of the variance of all channels.
    belief: Mlp,
    /// What the update reads of each channel.
    prepare: Vec<Dense>,
    cell: GatedCell,
    start: ParameterId,
}

/// What is observed now, each [rows, channels].
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// 0 where missing.
    values: Var,
    mask: Var,
}

impl GruOdeBayes {
    /// The networks, with parameters drawn from `seed` and added to the store.
    pub fn new<T: Float>(
        config: &GruOdeBayesConfig,
        parameters: &mut Parameters<T>,
        seed: u64,
    ) -> Self {
        let initializer = Initializer::Normal(config.initial_std_dev);
        let random = &mut Random::new(seed);
        let (channels, hidden) = (config.channels, config.hidden);
        let flow = GruFlow::new(parameters, "flow", hidden, initializer, random);
        let belief = Mlp::new(
            parameters,
            "belief",
            &widths(hidden, &config.decoder, 2 * channels),
            [config.activation, Activation::Identity],
            initializer,
            random,
        );
        let prepare = (0..channels)
            .map(|channel| {
                let name = format!("prepare.{channel}");
                let sizes = [4, config.prepared];
                let glorot = Initializer::Glorot;
                Dense::new(parameters, &name, sizes, Activation::Relu, glorot, random)
            })
            .collect();
        let sizes = [hidden, channels * config.prepared, config.cell];
        let cell = GatedCell::new(parameters, "cell", sizes, initializer, random);
        let shape = [1, hidden];
        let start = parameters.add("start", ParameterRole::Bias, shape, initializer, random);
        Self {
            config: config.clone(),
            flow,
            belief,
            prepare,
            cell,
            start,
        }
    }
}

impl<T: Float> Network<T> for GruOdeBayes {
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
        let compensated = settings.compensation == Compensation::Output;
        let schedule = schedule(batch.series, self.config.step, true)?;
        let mut terms = Vec::new();
        let weight = batch
            .training
            .map(|at| at.scale * self.config.likelihood_weight);
        let own_loss = weight.map(|weight| (weight, &mut terms));
        let states = self.walk(graph, batch.series, &schedule, compensated, own_loss);
        let query = states.at_query(graph, &schedule, settings.last_side());
        let values = self.mean(graph, query);
        let limits = compensated.then(|| self.limits(graph, &schedule, &states));
        let mut prediction = settings.complete(graph, batch, order(&schedule), values, limits)?;
        for term in terms {
            prediction.add_penalty(graph, term);
        }
        Ok(prediction)
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        let settings = self.config.compensation_settings();
        let schedule = schedule(series, self.config.step, false)?;
        let states = self.walk(graph, series, &schedule, true, None);
        let asked = series.iter().any(|series| !series.query.is_empty());
        let signal = asked.then(|| {
            let states = states.jets_at_query(graph, &schedule, settings.last_side());
            self.mean_jets(graph, states)
        });
        let limits = (settings.compensation == Compensation::Output)
            .then(|| self.limits(graph, &schedule, &states));
        Ok(Some(traces(
            graph,
            series,
            &order(&schedule),
            signal,
            limits,
            None,
        )))
    }
}

impl GruOdeBayes {
    /// The states of a batch. `own_loss`: the weight of the model's own loss, and its terms.
    fn walk<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        schedule: &Schedule,
        traced: bool,
        mut own_loss: Option<(f64, &mut Vec<Var>)>,
    ) -> States<'_, T, GruFlow> {
        let start = graph.parameter(self.start);
        let start = graph.activate(start, Activation::Tanh);
        let start = graph.collect(&[start], schedule.rows.iter().map(|_| (0, 0)));
        let mut update = |graph: &mut Graph<'_, T>, state: Var, knots: &[(usize, usize)]| {
            let seen = self.seen(graph, series, knots);
            let before = self.believe(graph, state);
            let error = before.standardize(graph, seen.values);
            let inputs = self.prepare(graph, seen, before, error);
            let new = self.cell.forward(graph, state, inputs);
            if let Some((weight, terms)) = &mut own_loss {
                terms.push(before.surprise(graph, error, seen.mask, *weight));
                let after = self.believe(graph, new);
                let goal = (Some(seen.values), self.config.observation_std_dev);
                let weight = *weight * self.config.mixing;
                terms.push(after.divergence(graph, goal, Some(seen.mask), weight));
            }
            new
        };
        let manner = Manner {
            tableau: self.config.solver.tableau(),
            direction: Direction::Forward,
            traced,
        };
        let walk = Walk::record(
            graph,
            &self.flow,
            manner,
            schedule,
            start,
            Some(&mut update),
        );
        States { walks: vec![walk] }
    }

    fn seen<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        knots: &[(usize, usize)],
    ) -> Seen {
        let entries = || {
            let knots = knots.iter();
            knots.flat_map(|&(item, knot)| entries(&series[item], knot))
        };
        let codes = codes_at(graph, series, knots.iter().copied());
        let mut block = |numbers: Vec<T>| graph.input(knots.len(), self.config.channels, &numbers);
        Seen {
            values: codes.unwrap_or_else(|| block(entries().map(|&x| shown(x)).collect())),
            mask: block(entries().map(|&x| known(x)).collect()),
        }
    }

    /// p(h), never surer than an observation.
    fn believe<T: Float>(&self, graph: &mut Graph<'_, T>, state: Var) -> Gaussian {
        let channels = self.config.channels;
        let least = 2.0 * self.config.observation_std_dev.ln();
        let both = self.belief.forward(graph, state);
        let free = graph.columns_of(both, channels, channels);
        let above = graph.affine(free, 1.0, -least);
        let above = graph.activate(above, Activation::Softplus);
        Gaussian {
            mean: graph.columns_of(both, 0, channels),
            log_variance: graph.affine(above, 1.0, least),
        }
    }

    /// What the update reads, [rows, channels · prepared]: nothing of channels that are missing.
    fn prepare<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        seen: Seen,
        before: Gaussian,
        error: Var,
    ) -> Var {
        let parts = [seen.values, before.mean, before.log_variance, error];
        let channels = self.config.channels;
        let mask = graph.value(seen.mask).to_vec();
        let mut all: Option<Var> = None;
        for (channel, layer) in self.prepare.iter().enumerate() {
            let [x, mean, log_variance, error] =
                parts.map(|block| graph.columns_of(block, channel, 1));
            let mut four = graph.concat(x, mean);
            for part in [log_variance, error] {
                four = graph.concat(four, part);
            }
            let read = layer.forward(graph, four);
            let read = graph.mix(&[read], |rows| {
                for (row, mask) in mask.chunks_exact(channels).enumerate() {
                    if mask[channel] != T::ZERO {
                        rows.term(0, row, T::ONE);
                    }
                    rows.end_row();
                }
            });
            all = Some(match all {
                Some(all) => graph.concat(all, read),
                None => read,
            });
        }
        all.expect("a model has at least one channel")
    }

    /// o of states.
    fn mean<T: Float>(&self, graph: &mut Graph<'_, T>, state: Var) -> Var {
        let both = self.belief.forward(graph, state);
        graph.columns_of(both, 0, self.config.channels)
    }

    fn mean_jets<T: Float>(&self, graph: &mut Graph<'_, T>, state: Jets<Var>) -> Jets<Var> {
        let both = self.belief.jet(graph, state);
        both.map(|block| graph.columns_of(block, 0, self.config.channels))
    }

    fn limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        states: &States<'_, T, GruFlow>,
    ) -> SidedJets {
        let knots = KnotPicks::new(schedule, true);
        let jets = states.jets(graph, &knots.picks, true);
        let output = self.mean_jets(graph, jets);
        knots.lay_out(graph, output)
    }
}
