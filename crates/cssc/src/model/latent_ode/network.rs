//! The networks of a Latent-ODE, and its prediction.

use super::config::LatentOdeConfig;
use crate::data::Random;
use crate::model::gaussian::Gaussian;
use crate::model::network::{Batch, Network, Observed, Prediction, Trace};
use crate::model::ode_rnn::Walker;
use crate::model::rows::{traces, widths};
use crate::model::walk::{Direction, Manner, Pick, SidedJets, States, Walk, order, schedule};
use crate::model::{Compensation, CompensationSettings};
use crate::nn::{Activation, Float, Graph, Initializer, Layer, Mlp, Parameters, Var};
use crate::ode::{Row, Schedule, Solver};
use crate::{EndRule, Error, Jets, Side};

/// Seed of the draws that make the answers outside the training.
const FIXED_DRAWS: u64 = 0x6c61_7465_6e74;

/// Standard deviation of z_0 before the training. With 1, that of the prior, a sample says nothing of its
/// series at first, and the decoder learns to ignore it.
const START_STD_DEV: f64 = 0.1;

/// A Latent-ODE; its numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct LatentOde {
    config: LatentOdeConfig,
    encoder: Walker,
    posterior: Mlp,
    dynamics: Mlp,
    decoder: Mlp,
}

impl LatentOde {
    /// The networks, with parameters drawn from `seed` and added to the store.
    pub fn new<T: Float>(
        config: &LatentOdeConfig,
        parameters: &mut Parameters<T>,
        seed: u64,
    ) -> Self {
        let initializer = Initializer::Normal(config.initial_std_dev);
        let random = &mut Random::new(seed);
        let encoder = Walker::new(
            parameters,
            "encoder.",
            &widths(config.hidden, &config.encoder_dynamics, config.hidden),
            [config.channels, config.cell],
            config.activation,
            initializer,
            random,
        );
        let mut network = |name: &str, widths: &[usize]| {
            let activations = [config.activation, Activation::Identity];
            Mlp::new(parameters, name, widths, activations, initializer, random)
        };
        let latent = config.latent;
        Self {
            config: config.clone(),
            encoder,
            posterior: network(
                "posterior",
                &widths(config.hidden, &config.posterior, 2 * latent),
            ),
            dynamics: network("dynamics", &widths(latent, &config.dynamics, latent)),
            decoder: network("decoder", &widths(latent, &config.decoder, config.channels)),
        }
    }
}

impl<T: Float> Network<T> for LatentOde {
    fn compensation(&self) -> CompensationSettings {
        self.config.compensation_settings()
    }

    fn sees_future(&self) -> bool {
        true
    }

    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        random: &mut Random,
    ) -> Result<Prediction, Error> {
        let settings = self.config.compensation_settings();
        let schedule = schedule(batch.series, self.config.step, true)?;
        let posterior = self.encode(graph, batch.series)?;
        let draws = match batch.training {
            Some(_) => Draws::fresh(batch.series.len(), self.config.latent, random),
            None => self.fixed_draws(batch.series.len()),
        };
        let compensated = settings.compensation == Compensation::Output;
        // Slopes and curvatures do not jump, so only the rule at the ends can ask for them.
        let traced = compensated && settings.end_rule == EndRule::Output;
        let curves = self.flow(graph, &schedule, posterior, &draws, traced);
        let states = curves.states.at_query(graph, &curves.schedule, Side::Right);
        let values = self.decoder.forward(graph, states);
        let values = curves.mean(graph, values, |row| row.places.len());
        let limits = compensated.then(|| self.limits(graph, &curves, traced));
        let mut prediction = settings.complete(graph, batch, order(&schedule), values, limits)?;
        if let Some(at) = batch.training {
            let factor = at.scale * self.config.divergence_factor(at.step, at.steps);
            let divergence = posterior.divergence(graph, (None, 1.0), None, factor);
            prediction.add_penalty(graph, divergence);
        }
        Ok(prediction)
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        let schedule = schedule(series, self.config.step, false)?;
        let posterior = self.encode(graph, series)?;
        let draws = self.fixed_draws(series.len());
        let curves = self.flow(graph, &schedule, posterior, &draws, true);
        let asked = series.iter().any(|series| !series.query.is_empty());
        let signal = asked.then(|| {
            let states = &curves.states;
            let jets = states.jets_at_query(graph, &curves.schedule, Side::Right);
            let output = self.decoder.jet(graph, jets);
            output.map(|block| curves.mean(graph, block, |row| row.places.len()))
        });
        let limits = (self.config.compensation == Compensation::Output)
            .then(|| self.limits(graph, &curves, true));
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

/// Standard normal numbers, `samples` rows of the width of z for each series.
#[derive(Debug)]
struct Draws {
    samples: usize,
    numbers: Vec<f64>,
}

impl Draws {
    fn fresh(series: usize, latent: usize, random: &mut Random) -> Self {
        let numbers = (0..series * latent).map(|_| random.normal(0.0, 1.0));
        Self {
            samples: 1,
            numbers: numbers.collect(),
        }
    }
}

/// The curves of z of a batch: rows of one series one after the other.
#[derive(Debug)]
struct Curves<'a, T: Float> {
    samples: usize,
    schedule: Schedule,
    states: States<'a, T, Mlp>,
}

impl LatentOde {
    /// The posterior of z_0, a row for each series in their order.
    fn encode<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Gaussian, Error> {
        let schedule = schedule(series, self.config.step, false)?;
        let manner = Manner {
            tableau: Solver::Euler.tableau(),
            direction: Direction::Backward,
            traced: false,
        };
        let walk = self.encoder.walk(graph, manner, series, &schedule);
        let mut picks = vec![None; series.len()];
        for (row, plan) in schedule.rows.iter().enumerate() {
            picks[plan.item] = Some(Pick {
                row,
                stop: 0,
                side: walk.updated_side(),
            });
        }
        let last = walk.states(graph, picks.into_iter().flatten());
        let both = self.posterior.forward(graph, last);
        let latent = self.config.latent;
        let log_variance = graph.columns_of(both, latent, latent);
        Ok(Gaussian {
            mean: graph.columns_of(both, 0, latent),
            log_variance: graph.affine(log_variance, 1.0, 2.0 * START_STD_DEV.ln()),
        })
    }

    /// The same numbers for every series.
    fn fixed_draws(&self, series: usize) -> Draws {
        let (samples, latent) = (self.config.samples, self.config.latent);
        let mut random = Random::new(FIXED_DRAWS);
        let one: Vec<f64> = (0..samples * latent)
            .map(|_| random.normal(0.0, 1.0))
            .collect();
        Draws {
            samples,
            numbers: one.repeat(series),
        }
    }

    /// z from z_0 = μ + σ ε on.
    fn flow<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        posterior: Gaussian,
        draws: &Draws,
        traced: bool,
    ) -> Curves<'_, T> {
        let samples = draws.samples;
        let rows = schedule.rows.iter();
        let schedule = Schedule {
            rows: rows.flat_map(|row| vec![row.clone(); samples]).collect(),
        };
        let latent = self.config.latent;
        let items = || schedule.rows.iter().map(|row| row.item);
        let numbers: Vec<T> = (schedule.rows.iter().enumerate())
            .flat_map(|(place, row)| {
                let draw = row.item * samples + place % samples;
                &draws.numbers[draw * latent..(draw + 1) * latent]
            })
            .map(|&x| T::from_f64(x))
            .collect();
        let mean = graph.collect(&[posterior.mean], items().map(|item| (0, item)));
        let std_dev = posterior.std_dev(graph);
        let std_dev = graph.collect(&[std_dev], items().map(|item| (0, item)));
        let draws = graph.input(schedule.rows.len(), latent, &numbers);
        let away = graph.product(std_dev, draws);
        let start = graph.sum(mean, away);
        let manner = Manner {
            tableau: self.config.solver.tableau(),
            direction: Direction::Forward,
            traced,
        };
        let walk = Walk::record(graph, &self.dynamics, manner, &schedule, start, None);
        Curves {
            samples,
            schedule,
            states: States { walks: vec![walk] },
        }
    }

    /// o has no jumps: both sides of a knot are the same. Without `derivatives` they count as 0.
    fn limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        curves: &Curves<'_, T>,
        derivatives: bool,
    ) -> SidedJets {
        let rows = curves.schedule.rows.iter().enumerate();
        let picks: Vec<Pick> = rows
            .flat_map(|(row, plan)| {
                let side = Side::Right;
                let stops = plan.knot_stops.iter();
                stops.map(move |&stop| Pick { row, stop, side })
            })
            .collect();
        let output = if derivatives {
            let states = curves.states.jets(graph, &picks, true);
            self.decoder.jet(graph, states)
        } else {
            let states = curves.states.read(graph, picks.iter().copied());
            let value = self.decoder.forward(graph, states);
            let zeros = graph.zeros_like(value);
            Jets {
                value,
                slope: zeros,
                curvature: zeros,
            }
        };
        let both = output.map(|block| curves.mean(graph, block, |row| row.knot_stops.len()));
        SidedJets {
            left: both,
            right: both,
        }
    }
}

impl<T: Float> Curves<'_, T> {
    /// The mean over the samples of each series, where each of its rows has `count` rows of `block`.
    fn mean(&self, graph: &mut Graph<'_, T>, block: Var, count: impl Fn(&Row) -> usize) -> Var {
        if self.samples == 1 {
            return block;
        }
        let factor = T::from_f64(1.0 / self.samples as f64);
        graph.mix(&[block], |rows| {
            let mut first = 0;
            for series in self.schedule.rows.chunks(self.samples) {
                let count = count(&series[0]);
                for i in 0..count {
                    for sample in 0..self.samples {
                        rows.term(0, first + sample * count + i, factor);
                    }
                    rows.end_row();
                }
                first += self.samples * count;
            }
        })
    }
}
