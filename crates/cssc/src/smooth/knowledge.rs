//! What the observations on one side of a place tell about value and slope there: one step of
//! a Kalman filter whose start is exact ignorance.
//!
//! The motion is $\ddot v$ = white noise of intensity 1. A usual filter keeps mean and
//! covariance P of (value, slope). Here P is kept as a fraction, $P = p/u$, together with
//! $d = u \det P$, because
//!
//! - with no or one observation P is infinite, which is $u = 0$ and nothing special;
//! - every update of $(u, p_{11}, p_{12}, p_{22}, d)$ is a sum of positive terms, so each of
//!   them is accurate to some ulps, for any gaps, weights and λ. A covariance updated by
//!   subtraction loses digits when a short gap follows a long one.
//!
//! The information matrix is $\mathrm{adj}(p)/d$.

/// Knowledge of value and slope from one side; slopes count in the direction of the walk, so
/// that knowledge from the future is the same thing with time reversed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knowledge {
    unit: f64,
    value: f64,
    mixed: f64,
    slope: f64,
    determinant: f64,
    /// The most probable value and slope; arbitrary where nothing is known.
    mean: [f64; 2],
}

impl Knowledge {
    /// Before anything is observed.
    pub(super) const NONE: Self = Knowledge {
        unit: 0.0,
        value: 0.0,
        mixed: 0.0,
        slope: 0.0,
        determinant: 1.0,
        mean: [0.0; 2],
    };

    /// After an observation of the value with noise of this variance.
    #[inline]
    pub(super) fn observe(self, observed: f64, variance: f64) -> Self {
        let total = self.value + variance * self.unit;
        if total == 0.0 {
            // The first observation; the slope stays unknown.
            return Knowledge {
                slope: self.slope * variance + self.determinant,
                determinant: variance * self.determinant,
                mean: [observed, 0.0],
                ..Knowledge::NONE
            };
        }
        let scale = 1.0 / total;
        let kept = variance * scale;
        let surprise = (observed - self.mean[0]) * scale;
        Knowledge {
            unit: 1.0,
            value: kept * self.value,
            mixed: kept * self.mixed,
            slope: kept * self.slope + self.determinant * scale,
            determinant: kept * self.determinant,
            mean: [
                self.mean[0] + self.value * surprise,
                self.mean[1] + self.mixed * surprise,
            ],
        }
    }

    /// The same seen from `gap` further on.
    #[inline]
    pub(super) fn advance(self, gap: f64) -> Self {
        let Knowledge {
            unit,
            value,
            mixed,
            slope,
            determinant,
            mean,
        } = self;
        let third = gap * gap / 3.0;
        let spread = value + gap * mixed + third * slope + unit * gap * gap * gap / 12.0;
        Knowledge {
            unit,
            value: value + gap * (2.0 * mixed + gap * slope + unit * third),
            mixed: mixed + gap * (slope + unit * gap * 0.5),
            slope: slope + unit * gap,
            determinant: determinant + gap * spread,
            mean: [mean[0] + gap * mean[1], mean[1]],
        }
    }

    /// After a known change of the slope.
    #[inline]
    pub(super) fn kick(mut self, slope: f64) -> Self {
        self.mean[1] += slope;
        self
    }

    /// Mean and variance of the value from both sides' knowledge at the same place; `None` if
    /// together they do not know it.
    #[inline]
    pub(super) fn with(&self, future: &Self) -> Option<[f64; 2]> {
        let (a, b) = (self, future);
        let total = a.unit * b.determinant
            + b.unit * a.determinant
            + a.slope * b.value
            + a.value * b.slope
            + 2.0 * a.mixed * b.mixed;
        if total == 0.0 {
            return None;
        }
        let scale = 1.0 / total;
        let by_value = a.value * b.slope + a.mixed * b.mixed + b.unit * a.determinant;
        let by_slope = a.value * b.mixed + a.mixed * b.value;
        let change = by_value * (b.mean[0] - a.mean[0]) + by_slope * (-b.mean[1] - a.mean[1]);
        let variance = a.value * b.determinant + b.value * a.determinant;
        Some([a.mean[0] + change * scale, variance * scale])
    }
}
