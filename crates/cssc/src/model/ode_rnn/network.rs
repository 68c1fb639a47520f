//! The networks of an ODE-RNN: f, g and the cell, for one direction or two.

use super::config::OdeRnnConfig;
use crate::data::Random;
use crate::nn::{Activation, Float, GatedCell, Initializer, Mlp, Parameters};

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
            Walker::new(parameters, config, prefix, initializer, random)
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
    fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &OdeRnnConfig,
        prefix: &str,
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        let widths = widths(config.hidden, &config.dynamics, config.hidden);
        let activations = [config.activation, Activation::Identity];
        let name = format!("{prefix}dynamics");
        let dynamics = Mlp::new(parameters, &name, &widths, activations, initializer, random);
        let sizes = [config.hidden, 2 * config.channels, config.cell];
        let cell = GatedCell::new(
            parameters,
            &format!("{prefix}cell"),
            sizes,
            initializer,
            random,
        );
        Self { dynamics, cell }
    }
}

fn widths(inputs: usize, hidden: &[usize], outputs: usize) -> Vec<usize> {
    let mut widths = vec![inputs];
    widths.extend_from_slice(hidden);
    widths.push(outputs);
    widths
}
