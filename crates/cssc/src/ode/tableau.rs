//! Explicit Runge-Kutta methods as tables of coefficients.
//!
//! ```text
//!   k_i = f(h + Δt Σ_{j<i} a_ij k_j)         h_next = h + Δt Σ b_i k_i
//! ```
//!
//! The equation does not depend on time itself, so the nodes c_i are not needed. A second row
//! of weights b̂ over the same evaluations is an *embedded* method of lower order: the
//! difference of both estimates the error of a step. A new method is a new table (Butcher 1964
//! for the notation), of any number of stages.

use serde::{Deserialize, Serialize};

/// Coefficients of an explicit Runge-Kutta method.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tableau {
    /// Order of convergence.
    pub order: u32,
    /// Rows a_i of the stages after the first.
    pub stages: &'static [&'static [f64]],
    /// Weights b of the stages; those of the last stages are 0 if left out.
    pub weights: &'static [f64],
    /// The method that estimates the error.
    pub embedded: Option<Embedded>,
}

/// A second method over the same evaluations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Embedded {
    /// Its order of convergence.
    pub order: u32,
    /// Its weights b̂.
    pub weights: &'static [f64],
}

impl Tableau {
    /// Evaluations of f that a step needs. A last stage that serves the error only is left out.
    #[must_use]
    pub fn evaluations(&self) -> usize {
        let last = self.weights.iter().rposition(|&weight| weight != 0.0);
        last.map_or(1, |last| last + 1)
    }
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
    /// Three evaluations, order 3, with an error of order 2 (Bogacki and Shampine 1989).
    BogackiShampine,
    /// Four evaluations, order 4 (Kutta 1901).
    Rk4,
    /// Six evaluations, order 5, with an error of order 4 (Dormand and Prince 1980).
    DormandPrince,
}

const EULER: Tableau = Tableau {
    order: 1,
    stages: &[],
    weights: &[1.0],
    embedded: None,
};

const MIDPOINT: Tableau = Tableau {
    order: 2,
    stages: &[&[0.5]],
    weights: &[0.0, 1.0],
    embedded: None,
};

const HEUN: Tableau = Tableau {
    order: 2,
    stages: &[&[1.0]],
    weights: &[0.5, 0.5],
    embedded: None,
};

const BOGACKI_SHAMPINE: Tableau = Tableau {
    order: 3,
    stages: &[&[0.5], &[0.0, 0.75], &[2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0]],
    weights: &[2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0],
    embedded: Some(Embedded {
        order: 2,
        weights: &[7.0 / 24.0, 0.25, 1.0 / 3.0, 0.125],
    }),
};

const RK4: Tableau = Tableau {
    order: 4,
    stages: &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    embedded: None,
};

const DORMAND_PRINCE: Tableau = Tableau {
    order: 5,
    stages: &[
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[
            19372.0 / 6561.0,
            -25360.0 / 2187.0,
            64448.0 / 6561.0,
            -212.0 / 729.0,
        ],
        &[
            9017.0 / 3168.0,
            -355.0 / 33.0,
            46732.0 / 5247.0,
            49.0 / 176.0,
            -5103.0 / 18656.0,
        ],
        &[
            35.0 / 384.0,
            0.0,
            500.0 / 1113.0,
            125.0 / 192.0,
            -2187.0 / 6784.0,
            11.0 / 84.0,
        ],
    ],
    weights: &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
    embedded: Some(Embedded {
        order: 4,
        weights: &[
            5179.0 / 57600.0,
            0.0,
            7571.0 / 16695.0,
            393.0 / 640.0,
            -92097.0 / 339200.0,
            187.0 / 2100.0,
            1.0 / 40.0,
        ],
    }),
};

impl Solver {
    /// All methods.
    pub const ALL: [Self; 6] = [
        Self::Euler,
        Self::Midpoint,
        Self::Heun,
        Self::BogackiShampine,
        Self::Rk4,
        Self::DormandPrince,
    ];

    /// Its coefficients.
    #[must_use]
    pub fn tableau(self) -> &'static Tableau {
        match self {
            Self::Euler => &EULER,
            Self::Midpoint => &MIDPOINT,
            Self::Heun => &HEUN,
            Self::BogackiShampine => &BOGACKI_SHAMPINE,
            Self::Rk4 => &RK4,
            Self::DormandPrince => &DORMAND_PRINCE,
        }
    }
}
