//! Settings of an ODE-RNN. The defaults are the paper's appendix D.

use crate::EndRule;
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::model::checks;
use crate::model::{Compensation, CompensationSettings};
use crate::nn::Activation;
use crate::ode::Solver;
use serde::{Deserialize, Serialize};

/// How slope and curvature of the prediction are found at the knots.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Derivatives {
    /// By jets, Hessian included.
    #[default]
    Exact,
    /// By jets, leaving out the Hessian of the decoder: ö = ∂g/∂h · h''. The paper's tables
    /// appear to use this.
    NoHessian,
    /// By differences along the flow with this Δ, as in the paper's appendix C.
    Numerical(f64),
}

/// Which derivatives keep their value but pass no gradient (the paper's table 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopGradient {
    /// None: everything is trained.
    #[default]
    None,
    /// The slope.
    Slope,
    /// The curvature.
    Curvature,
    /// Both.
    Both,
}

/// Shape and behaviour of an ODE-RNN.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct OdeRnnConfig {
    /// Channels of the data; at least 1. Default 1.
    pub channels: usize,
    /// Size of the hidden state. Default 15.
    pub hidden: usize,
    /// Widths of the hidden layers of f. Default four of 300.
    pub dynamics: Vec<usize>,
    /// Widths of the hidden layers of g. Default one of 300.
    pub decoder: Vec<usize>,
    /// Width of the hidden layer of the cell's three gate networks. Default 100.
    pub cell: usize,
    /// Activation of the hidden layers of f and g. Default tanh, as Theorem 2 asks.
    pub activation: Activation,
    /// Standard deviation of the initial weights. Default 0.1, as in the reference code.
    #[serde(alias = "initial-deviation")]
    pub initial_std_dev: f64,
    /// What is compensated. Default the output: CSSC.
    #[serde(alias = "method")]
    pub compensation: Compensation,
    /// Whether a second walk comes back from the end, so that a prediction knows both its
    /// past and its future (beyond the paper). Default false.
    pub two_sided: bool,
    /// How slopes and curvatures are found. Default exact.
    pub derivatives: Derivatives,
    /// Which of them pass no gradient. Default none.
    #[serde(alias = "blocked")]
    pub stop_gradient: StopGradient,
    /// Whether curvatures count as zero everywhere, also in the end rule. Default false.
    pub drop_curvature: bool,
    /// What holds at the two ends. Default `compensation`: the curve keeps the prediction's own
    /// curvature there, which trained better (PAPER.md).
    pub end_rule: EndRule,
    /// Jumps folded in a hole before one is pinned; none: all are folded.
    pub max_fold: Option<usize>,
    /// Weight α of the squared compensation in the loss. Default 1000.
    pub compensation_weight: f64,
    /// Solver of h' = f(h). Default Euler.
    pub solver: Solver,
    /// Longest step of the solver, in the model's time. Default 0.1.
    pub step: f64,
}

impl Default for OdeRnnConfig {
    fn default() -> Self {
        Self {
            channels: 1,
            hidden: 15,
            dynamics: vec![300; 4],
            decoder: vec![300],
            cell: 100,
            activation: Activation::Tanh,
            initial_std_dev: 0.1,
            compensation: Compensation::Output,
            two_sided: false,
            derivatives: Derivatives::Exact,
            stop_gradient: StopGradient::None,
            drop_curvature: false,
            end_rule: EndRule::Compensation,
            max_fold: Some(DEFAULT_MAX_FOLD),
            compensation_weight: 1000.0,
            solver: Solver::Euler,
            step: 0.1,
        }
    }
}

impl OdeRnnConfig {
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
        checks::layers(&[("dynamics", &self.dynamics), ("decoder", &self.decoder)])?;
        checks::positive(&[
            ("step", self.step),
            ("initial-std-dev", self.initial_std_dev),
        ])?;
        checks::not_negative(&[("compensation-weight", self.compensation_weight)])?;
        match self.derivatives {
            Derivatives::Numerical(step) => checks::positive(&[("numerical", step)]),
            _ => Ok(()),
        }
    }
}
