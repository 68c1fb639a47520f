//! Settings of a Latent-ODE. Sizes are those of the public code for the hopper, as far as it says.

use crate::EndRule;
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::model::checks;
use crate::model::{Compensation, CompensationSettings};
use crate::nn::Activation;
use crate::ode::Solver;
use serde::{Deserialize, Serialize};

/// Epochs of the public code's training, which its weight of KL is told in.
const EPOCHS: f64 = 300.0;
/// Epochs without KL.
const EPOCHS_WITHOUT: f64 = 10.0;
/// What is missing of the full weight shrinks by this in an epoch.
const SHRINKING: f64 = 0.99;
/// More curves than this change their mean by less than the model is wrong, and cost memory each.
const MOST_SAMPLES: usize = 100;

/// Shape and behaviour of a Latent-ODE.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LatentOdeConfig {
    /// Channels of the data; at least 1. Default 1.
    pub channels: usize,
    /// Size of the state z of the decoder. Default 15.
    pub latent: usize,
    /// Size of the state of the encoder. Default 30.
    pub hidden: usize,
    /// Widths of the hidden layers of the encoder's field. Default four of 300.
    pub encoder_dynamics: Vec<usize>,
    /// Width of the hidden layer of the encoder's three gate networks. Default 100.
    pub cell: usize,
    /// Widths of the hidden layers between the encoder and (μ, ln σ²). Default one of 100.
    pub posterior: Vec<usize>,
    /// Widths of the hidden layers of f. Default four of 300.
    pub dynamics: Vec<usize>,
    /// Widths of the hidden layers of g. Default one of 300.
    pub decoder: Vec<usize>,
    /// Activation of all hidden layers. Default tanh.
    pub activation: Activation,
    /// Standard deviation of the initial weights. Default 0.1.
    pub initial_std_dev: f64,
    /// Standard deviation s of the noise of an observation, in the model's units. Default 0.01.
    pub observation_std_dev: f64,
    /// What KL is multiplied by beside its growing weight; 1 is the ELBO. Default 1.
    pub divergence_weight: f64,
    /// Curves whose mean is the answer outside the training; at least 1. Default 3.
    pub samples: usize,
    /// What is compensated: the output, or nothing. Default nothing.
    pub compensation: Compensation,
    /// What holds at the two ends. Default `compensation`.
    pub end_rule: EndRule,
    /// Jumps folded in a hole before one is pinned; none: all are folded.
    pub max_fold: Option<usize>,
    /// Weight α of the squared compensation in the loss. Default 1000.
    pub compensation_weight: f64,
    /// Solver of the decoder; the encoder takes Euler steps. Default midpoint.
    pub solver: Solver,
    /// Longest step of both, in the model's time. Default 0.1.
    pub step: f64,
}

impl Default for LatentOdeConfig {
    fn default() -> Self {
        Self {
            channels: 1,
            latent: 15,
            hidden: 30,
            encoder_dynamics: vec![300; 4],
            cell: 100,
            posterior: vec![100],
            dynamics: vec![300; 4],
            decoder: vec![300],
            activation: Activation::Tanh,
            initial_std_dev: 0.1,
            observation_std_dev: 0.01,
            divergence_weight: 1.0,
            samples: 3,
            compensation: Compensation::None,
            end_rule: EndRule::Compensation,
            max_fold: Some(DEFAULT_MAX_FOLD),
            compensation_weight: 1000.0,
            solver: Solver::Midpoint,
            step: 0.1,
        }
    }
}

impl LatentOdeConfig {
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
            ("latent", self.latent),
            ("hidden", self.hidden),
            ("cell", self.cell),
        ])?;
        if !(1..=MOST_SAMPLES).contains(&self.samples) {
            return Err(format!(
                "`samples` is {}; give a number from 1 to {MOST_SAMPLES}",
                self.samples
            ));
        }
        checks::layers(&[
            ("encoder-dynamics", &self.encoder_dynamics),
            ("posterior", &self.posterior),
            ("dynamics", &self.dynamics),
            ("decoder", &self.decoder),
        ])?;
        checks::positive(&[
            ("step", self.step),
            ("initial-std-dev", self.initial_std_dev),
            ("observation-std-dev", self.observation_std_dev),
        ])?;
        checks::not_negative(&[("divergence-weight", self.divergence_weight)])?;
        checks::output_only("a Latent-ODE", &self.compensation_settings())
    }

    /// What KL is multiplied by in the loss of a step, in units of the mean of |x - o|².
    pub(crate) fn divergence_factor(&self, step: u64, steps: u64) -> f64 {
        let epoch = EPOCHS * step as f64 / steps.max(1) as f64;
        let grown = 1.0 - SHRINKING.powf((epoch - EPOCHS_WITHOUT).max(0.0));
        2.0 * self.observation_std_dev.powi(2) * self.divergence_weight * grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_the_divergence_waits_and_then_grows_to_nearly_one() {
        let config = LatentOdeConfig {
            observation_std_dev: 0.5_f64.sqrt(),
            ..LatentOdeConfig::default()
        };
        assert_eq!(config.divergence_factor(0, 3000), 0.0);
        assert_eq!(config.divergence_factor(100, 3000), 0.0);
        let middle = config.divergence_factor(1500, 3000);
        assert!((middle - (1.0 - 0.99_f64.powi(140))).abs() < 1e-12);
        assert!(config.divergence_factor(3000, 3000) > 0.94);
    }
}
