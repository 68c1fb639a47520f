//! What the observations on one side of a place tell about value and slope there: one step of
//! a GaussianState filter whose start is exact ignorance.
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
//!
//! `W` penalties λ are walked at the same time: one step waits for the one before it, several
//! side by side do not wait for each other.

use crate::numeric::lanes::Pack;

/// GaussianState of value and slope from one side, for `W` penalties; slopes count in the
/// direction of the walk, so that kalman from the future is the same thing with time reversed.
#[derive(Debug, Clone, Copy)]
pub(super) struct GaussianState<const W: usize> {
    /// 0 until two observations have come, then 1.
    unit: f64,
    value: Pack<W>,
    mixed: Pack<W>,
    slope: Pack<W>,
    determinant: Pack<W>,
    /// The most probable value and slope; arbitrary where nothing is known.
    mean: [Pack<W>; 2],
}

impl<const W: usize> GaussianState<W> {
    /// Before anything is observed.
    pub(super) const DIFFUSE: Self = GaussianState {
        unit: 0.0,
        value: Pack::ZERO,
        mixed: Pack::ZERO,
        slope: Pack::ZERO,
        determinant: Pack([1.0; W]),
        mean: [Pack::ZERO; 2],
    };

    /// After an observation of the value with noise of this variance.
    #[inline(always)]
    pub(super) fn observe(self, observed: f64, variance: Pack<W>) -> Self {
        let total = self.value + variance * self.unit;
        if self.unit == 0.0 && self.value.0[0] == 0.0 {
            // The first observation; the slope stays unknown.
            return GaussianState {
                slope: self.determinant,
                determinant: variance * self.determinant,
                mean: [Pack([observed; W]), Pack::ZERO],
                ..GaussianState::DIFFUSE
            };
        }
        let scale = Pack([1.0; W]) / total;
        let kept = variance * scale;
        let surprise = (Pack([observed; W]) - self.mean[0]) * scale;
        GaussianState {
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
    #[inline(always)]
    pub(super) fn advance(self, gap: f64) -> Self {
        let GaussianState {
            unit,
            value,
            mixed,
            slope,
            determinant,
            mean,
        } = self;
        let grown = |factor: f64| Pack([unit * factor; W]);
        let third = gap * gap / 3.0;
        let spread = value + mixed * gap + slope * third + grown(gap * gap * gap / 12.0);
        GaussianState {
            unit,
            value: value + (mixed * 2.0 + slope * gap + grown(third)) * gap,
            mixed: mixed + (slope + grown(0.5 * gap)) * gap,
            slope: slope + grown(gap),
            determinant: determinant + spread * gap,
            mean: [mean[0] + mean[1] * gap, mean[1]],
        }
    }

    /// After a known change of the slope.
    #[inline(always)]
    pub(super) fn kick(mut self, slope: f64) -> Self {
        self.mean[1] += Pack([slope; W]);
        self
    }

    /// Mean and variance of the value from both sides' kalman at the same place; `None` if
    /// together they do not know it.
    #[inline(always)]
    pub(super) fn with(&self, future: &Self) -> Option<[Pack<W>; 2]> {
        let (a, b) = (self, future);
        let total = b.determinant * a.unit
            + a.determinant * b.unit
            + a.slope * b.value
            + a.value * b.slope
            + a.mixed * b.mixed * 2.0;
        if total.0[0] == 0.0 {
            return None;
        }
        let scale = Pack([1.0; W]) / total;
        let by_value = a.value * b.slope + a.mixed * b.mixed + a.determinant * b.unit;
        let by_slope = a.value * b.mixed + a.mixed * b.value;
        let change = by_value * (b.mean[0] - a.mean[0]) - by_slope * (b.mean[1] + a.mean[1]);
        let variance = a.value * b.determinant + b.value * a.determinant;
        Some([a.mean[0] + change * scale, variance * scale])
    }
}
