//! The networks of a model: f, g and the cell, for one direction or two.

use super::config::ModelConfig;
use crate::data::Random;
use crate::nn::{Activation, Float, GatedCell, Initializer, Mlp, Parameters};

/// The networks that walk in one direction: h' = f(h) and the update at an observation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Walker {
    pub(crate) dynamics: Mlp,
    pub(crate) cell: GatedCell,
}

/// The networks of a model; their numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    pub(crate) config: ModelConfig,
    pub(crate) forward: Walker,
    pub(crate) backward: Option<Walker>,
    pub(crate) decoder: Mlp,
}

impl Network {
    /// New networks with parameters drawn from `seed`.
    #[must_use]
    pub fn new<T: Float>(config: &ModelConfig, seed: u64) -> (Self, Parameters<T>) {
        let initializer = Initializer::Normal(config.initial_std_dev);
        let (network, mut parameters) = Self::build(config, initializer, seed);
        parameters.pack();
        (network, parameters)
    }

    /// Networks whose parameters are all zero and not packed, to be filled from a file.
    pub(crate) fn empty<T: Float>(config: &ModelConfig) -> (Self, Parameters<T>) {
        Self::build(config, Initializer::Zeros, 0)
    }

    fn build<T: Float>(
        config: &ModelConfig,
        initializer: Initializer,
        seed: u64,
    ) -> (Self, Parameters<T>) {
        let mut parameters = Parameters::new();
        let mut random = Random::new(seed);
        let walker = |prefix: &str, parameters: &mut Parameters<T>, random: &mut Random| {
            Walker::new(parameters, config, prefix, initializer, random)
        };
        let forward = walker("", &mut parameters, &mut random);
        let sides = if config.two_sided { 2 } else { 1 };
        let widths = widths(sides * config.hidden, &config.decoder, config.channels);
        let activations = [config.activation, Activation::Identity];
        let decoder = Mlp::new(
            &mut parameters,
            "decoder",
            &widths,
            activations,
            initializer,
            &mut random,
        );
        let backward = config
            .two_sided
            .then(|| walker("backward.", &mut parameters, &mut random));
        let network = Self {
            config: config.clone(),
            forward,
            backward,
            decoder,
        };
        (network, parameters)
    }

    /// The settings they were made from.
    #[must_use]
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }
}

impl Walker {
    fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &ModelConfig,
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
