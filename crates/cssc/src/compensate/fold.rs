//! Folding: the jumps of a prediction between two neighbouring knots of a channel.
//!
//! Between own knots a < b the compensation is one cubic minus, after each folded jump at
//! $t_k$, the parabola with the jump's value, slope and curvature. So the third derivative of c
//! stays continuous there and $\hat o$ is still C². With $s = t_b - t_k$ the jumps enter
//! Theorem 1 through changed left limits at $t_b$:
//!
//! $$ o(t_b^-) \mathrel{-}= r + \dot r s + \ddot r s^2/2,\qquad
//!    \dot o(t_b^-) \mathrel{-}= \dot r + \ddot r s,\qquad
//!    \ddot o(t_b^-) \mathrel{-}= \ddot r. $$

use crate::numeric::lanes::{Lanes, Pack};
use crate::numeric::real::Real;
use crate::path::{Jets, Side};
use crate::spline::{PieceRows, shift};

/// Value, slope and curvature of some channels at one knot.
pub(super) type PackJets<const W: usize> = Jets<Pack<W>>;

/// `right - left`.
#[inline(always)]
pub(super) fn jump<const W: usize>(right: PackJets<W>, left: PackJets<W>) -> PackJets<W> {
    Jets {
        value: right.value - left.value,
        slope: right.slope - left.slope,
        curvature: right.curvature - left.curvature,
    }
}

/// Observations and the limits of the prediction at the knots, each `[knots, channels]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inputs<'a, T> {
    pub(super) channels: usize,
    pub(super) values: &'a [T],
    pub(super) left: Jets<&'a [T]>,
    pub(super) right: Jets<&'a [T]>,
}

impl<T: Real> Inputs<'_, T> {
    #[inline(always)]
    pub(super) fn value<const W: usize>(&self, lanes: &Lanes<W>, knot: usize) -> Pack<W> {
        lanes.gather(self.values, knot)
    }

    #[inline(always)]
    pub(super) fn limit<const W: usize>(
        &self,
        lanes: &Lanes<W>,
        side: Side,
        knot: usize,
    ) -> PackJets<W> {
        let limits = match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        };
        Jets {
            value: lanes.gather(limits.value, knot),
            slope: lanes.gather(limits.slope, knot),
            curvature: lanes.gather(limits.curvature, knot),
        }
    }

    #[inline(always)]
    fn jump_at<const W: usize>(&self, lanes: &Lanes<W>, knot: usize) -> PackJets<W> {
        jump(
            self.limit(lanes, Side::Right, knot),
            self.limit(lanes, Side::Left, knot),
        )
    }

    /// The left limits at knot `b` with all jumps between `a` and `b` folded in.
    #[inline(always)]
    pub(super) fn folded_left<const W: usize>(
        &self,
        lanes: &Lanes<W>,
        times: &[f64],
        a: usize,
        b: usize,
    ) -> PackJets<W> {
        let mut left = self.limit(lanes, Side::Left, b);
        for knot in a + 1..b {
            let s = times[b] - times[knot];
            let jump = self.jump_at(lanes, knot);
            left.value -= jump.value + (jump.slope + jump.curvature * (0.5 * s)) * s;
            left.slope -= jump.slope + jump.curvature * s;
            left.curvature -= jump.curvature;
        }
        left
    }

    /// Writes the pieces between `a` and `b`: the cubic found for `a`, re-expanded about each
    /// knot, without the jumps so far.
    #[inline(always)]
    pub(super) fn unfold<const W: usize>(
        &self,
        lanes: &Lanes<W>,
        times: &[f64],
        (a, b): (usize, usize),
        mut cubic: [Pack<W>; 4],
        into: &mut PieceRows<'_>,
    ) {
        into.store(a, lanes, cubic);
        for knot in a + 1..b {
            cubic = shift(cubic, times[knot] - times[knot - 1]);
            let jump = self.jump_at(lanes, knot);
            cubic[0] -= jump.value;
            cubic[1] -= jump.slope;
            cubic[2] -= jump.curvature * 0.5;
            into.store(knot, lanes, cubic);
        }
    }
}
