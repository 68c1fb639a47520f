//! Settings of a GRU-ODE-Bayes.

use crate::EndRule;
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::model::checks;
use crate::model::{Compensation, CompensationSettings};
use crate::nn::Activation;
use crate::ode::Solver;
use serde::{Deserialize, Serialize};

/// Shape and behaviour of a GRU-ODE-Bayes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct GruOdeBayesConfig {
    /// Channels of the data; at least 1. Default 1.
    pub channels: usize,
    /// Size of the hidden state. Default 100.
    pub hidden: usize,
    /// Widths of the hidden layers of p. Default one of 300.
    pub decoder: Vec<usize>,
    /// Numbers that the update reads of each channel. Default 25.
    pub prepared: usize,
    /// Width of the hidden layer of the update's three gate networks. Default 100.
    pub cell: usize,
    /// Activation of the hidden layers of p. Default tanh.
    pub activation: Activation,
    /// Standard deviation of the initial weights. Default 0.1.
    pub initial_std_dev: f64,
    /// Standard deviation s of the noise of an observation, in the model's units. Default 0.01.
    pub observation_std_dev: f64,
    /// Weight of the model's own loss beside the squared error. Default 0.01.
    pub likelihood_weight: f64,
    /// Weight of KL in the model's own loss. Default 0.0001.
    pub mixing: f64,
    /// What is compensated: the output, or nothing. Default nothing.
    pub compensation: Compensation,
    /// What holds at the two ends. Default `compensation`.
    pub end_rule: EndRule,
    /// Jumps folded in a hole before one is pinned; none: all are folded.
    pub max_fold: Option<usize>,
    /// Weight α of the squared compensation in the loss. Default 1000.
    pub compensation_weight: f64,
    /// Solver of the flow. Default Euler.
    pub solver: Solver,
    /// Longest step of the solver, in the model's time. Default 0.1.
    pub step: f64,
}

impl Default for GruOdeBayesConfig {
    fn default() -> Self {
        Self {
            channels: 1,
            hidden: 100,
            decoder: vec![300],
            prepared: 25,
            cell: 100,
            activation: Activation::Tanh,
            initial_std_dev: 0.1,
            observation_std_dev: 0.01,
            likelihood_weight: 0.01,
            mixing: 0.0001,
            compensation: Compensation::None,
            end_rule: EndRule::Compensation,
            max_fold: Some(DEFAULT_MAX_FOLD),
            compensation_weight: 1000.0,
            solver: Solver::Euler,
            step: 0.1,
        }
    }
}

impl GruOdeBayesConfig {
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
            ("prepared", self.prepared),
            ("cell", self.cell),
        ])?;
        checks::layers(&[("decoder", &self.decoder)])?;
        checks::positive(&[
            ("step", self.step),
            ("initial-std-dev", self.initial_std_dev),
            ("observation-std-dev", self.observation_std_dev),
        ])?;
        checks::not_negative(&[
            ("likelihood-weight", self.likelihood_weight),
            ("mixing", self.mixing),
        ])?;
        checks::output_only("a GRU-ODE-Bayes", &self.compensation_settings())
    }
}
