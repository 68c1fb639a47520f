//! The networks of an ODE-RNN: f, g and the cell, for one direction or two.

use super::config::OdeRnnConfig;
use crate::data::Random;
use crate::model::network::Observed;
use crate::model::rows::{cell_inputs, widths, zeros};
use crate::model::walk::{Manner, Walk};
use crate::nn::{Activation, Float, GatedCell, Graph, Initializer, Mlp, Parameters, Var};
use crate::ode::Schedule;

/// The networks that walk in one direction: h' = f(h) and the update at an observation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Walker {
    pub(crate) dynamics: Mlp,
    pub(crate) cell: GatedCell,
}

/// An ODE-RNN, plain or compensated; its numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct OdeRnn {
    pub(crate) config: OdeRnnConfig,
    pub(crate) forward: Walker,
    pub(crate) backward: Option<Walker>,
    pub(crate) decoder: Mlp,
}

impl OdeRnn {
    /// The networks, with parameters drawn from `seed` and added to the store.
    pub fn new<T: Float>(config: &OdeRnnConfig, parameters: &mut Parameters<T>, seed: u64) -> Self {
        let initializer = Initializer::Normal(config.initial_std_dev);
        let mut random = Random::new(seed);
        let walker = |prefix: &str, parameters: &mut Parameters<T>, random: &mut Random| {
            let widths = widths(config.hidden, &config.dynamics, config.hidden);
            let sizes = [config.channels, config.cell];
            let activation = config.activation;
            Walker::new(
                parameters,
                prefix,
                &widths,
                sizes,
                activation,
                initializer,
                random,
            )
        };
        let forward = walker("", parameters, &mut random);
        let sides = if config.two_sided { 2 } else { 1 };
        let widths = widths(sides * config.hidden, &config.decoder, config.channels);
        let activations = [config.activation, Activation::Identity];
        let decoder = Mlp::new(
            parameters,
            "decoder",
            &widths,
            activations,
            initializer,
            &mut random,
        );
        let backward = config
            .two_sided
            .then(|| walker("backward.", parameters, &mut random));
        Self {
            config: config.clone(),
            forward,
            backward,
            decoder,
        }
    }
}

impl Walker {
    /// Adds `PREFIXdynamics` and `PREFIXcell` to the store; the widths are those of f.
    pub(crate) fn new<T: Float>(
        parameters: &mut Parameters<T>,
        prefix: &str,
        widths: &[usize],
        [channels, cell]: [usize; 2],
        activation: Activation,
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        let activations = [activation, Activation::Identity];
        let name = format!("{prefix}dynamics");
        let dynamics = Mlp::new(parameters, &name, widths, activations, initializer, random);
        let sizes = [widths[0], 2 * channels, cell];
        let name = format!("{prefix}cell");
        let cell = GatedCell::new(parameters, &name, sizes, initializer, random);
        Self { dynamics, cell }
    }

    /// The walk over a batch. Before its first observation the state is 0.
    pub(crate) fn walk<'a, T: Float>(
        &'a self,
        graph: &mut Graph<'_, T>,
        manner: Manner<'a>,
        series: &[Observed<'_>],
        schedule: &Schedule,
    ) -> Walk<'a, T, Mlp> {
        let start = zeros(graph, schedule.rows.len(), self.dynamics.inputs());
        let mut numbers = Vec::new();
        let mut update = |graph: &mut Graph<'_, T>, state: Var, knots: &[(usize, usize)]| {
            let knots = knots.iter().copied();
            let inputs = cell_inputs(graph, series, knots, &mut numbers, |_, _| ());
            self.cell.forward(graph, state, inputs)
        };
        let field = &self.dynamics;
        Walk::record(graph, field, manner, schedule, start, Some(&mut update))
    }
}
