//! Explicit Runge-Kutta methods as tables of coefficients.
//!
//! ```text
//!   k_i = f(h + Δt Σ_{j<i} a_ij k_j)         h_next = h + Δt Σ b_i k_i
//! ```
//!
//! The equation does not depend on time itself, so the nodes c_i are not needed. A new method
//! is a new table (Butcher 1964 for the notation).

use serde::{Deserialize, Serialize};

/// Coefficients of an explicit Runge-Kutta method.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tableau {
    /// Order of convergence.
    pub order: u32,
    /// Rows a_i of the stages after the first.
    pub stages: &'static [&'static [f64]],
    /// Weights b of the stages.
    pub weights: &'static [f64],
}

/// The methods that can be named in settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// One evaluation a step, order 1: the paper's and the reference code's choice.
    #[default]
    Euler,
    /// Two evaluations, order 2.
    Midpoint,
    /// Two evaluations, order 2 (explicit trapezoid).
    Heun,
    /// Four evaluations, order 4 (Kutta 1901).
    Rk4,
}

impl Solver {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::Euler, Self::Midpoint, Self::Heun, Self::Rk4];

    /// Its coefficients.
    #[must_use]
    pub fn tableau(self) -> &'static Tableau {
        match self {
            Self::Euler => &Tableau { order: 1, stages: &[], weights: &[1.0] },
            Self::Midpoint => &Tableau { order: 2, stages: &[&[0.5]], weights: &[0.0, 1.0] },
            Self::Heun => &Tableau { order: 2, stages: &[&[1.0]], weights: &[0.5, 0.5] },
            Self::Rk4 => &Tableau {
                order: 4,
                stages: &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
                weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
            },
        }
    }
}
