//! C² cubic splines from their second derivatives ("moments").
//!
//! With gaps $h_i = t_{i+1}-t_i$, chord slopes $\sigma_i = (x_{i+1}-x_i)/h_i$ and moments $M_i$,
//! continuity of the slope at an inner point reads
//!
//! $$ h_{i-1} M_{i-1} + 2(h_{i-1}+h_i) M_i + h_i M_{i+1} = 6(\sigma_i - \sigma_{i-1}). $$
//!
//! The ends close it: natural, $M = 0$; clamped, $2h_0M_0 + h_0M_1 = 6(\sigma_0 - \dot x_0)$;
//! not-a-knot, $M_0 = M_1 + (M_1 - M_2)h_0/h_1$, which put into row 1 and scaled by
//! $h_1/(h_0+h_1)$ gives $(h_0 + 2h_1)M_1 + (h_1 - h_0)M_2$: still diagonally dominant.

use super::SplineKind;
use super::pieces::PiecewiseCubic;
use super::tridiagonal::Tridiagonal;
use crate::numeric::lanes::{Lanes, Pack};
use crate::numeric::real::Real;

/// The cubic on a gap from its value at the left end, the slope of its chord and its second
/// derivatives at both ends (the pieces of Theorem 1).
#[inline(always)]
pub(crate) fn cubic_from_moments<const W: usize>(
    start: Pack<W>,
    chord: Pack<W>,
    moments: [Pack<W>; 2],
    gap: f64,
) -> [Pack<W>; 4] {
    let [left, right] = moments;
    [
        start,
        chord - (left * 2.0 + right) * (gap / 6.0),
        left * 0.5,
        (right - left) * (1.0 / (6.0 * gap)),
    ]
}

/// The moment equations of one set of at least two points, factored.
#[derive(Debug)]
pub(crate) struct MomentSystem {
    kind: SplineKind,
    gaps: Vec<f64>,
    matrix: Tridiagonal,
}

impl MomentSystem {
    /// Factors the equations for points at the given times.
    pub(crate) fn new(times: &[f64], points: &[usize], kind: SplineKind) -> Self {
        let gaps: Vec<f64> = points
            .windows(2)
            .map(|pair| times[pair[1]] - times[pair[0]])
            .collect();
        let mut system = MomentSystem {
            kind,
            gaps,
            matrix: Tridiagonal::default(),
        };
        let mut matrix = std::mem::take(&mut system.matrix);
        matrix.factor(points.len(), |i| system.row(i));
        system.matrix = matrix;
        system
    }

    /// Row `i` of the matrix.
    fn row(&self, i: usize) -> [f64; 3] {
        let last = self.gaps.len();
        if i == 0 || i == last {
            return self.end_row(i);
        }
        let (before, after) = (self.gaps[i - 1], self.gaps[i]);
        match (self.kind == SplineKind::NotAKnot, i == 1, i + 1 == last) {
            (true, true, true) => [0.0, 3.0 * (before + after), 0.0],
            (true, true, false) => [0.0, before + 2.0 * after, after - before],
            (true, false, true) => [before - after, 2.0 * before + after, 0.0],
            _ => [before, 2.0 * (before + after), after],
        }
    }

    /// The first or last row. Where the end moment is 0 or follows from its neighbours the
    /// row says `M = 0`.
    fn end_row(&self, i: usize) -> [f64; 3] {
        match (self.kind, i) {
            (SplineKind::Clamped { .. }, 0) => [0.0, 2.0 * self.gaps[0], self.gaps[0]],
            (SplineKind::Clamped { .. }, _) => [self.gaps[i - 1], 2.0 * self.gaps[i - 1], 0.0],
            _ => [0.0, 1.0, 0.0],
        }
    }

    /// The right-hand side of row `i`, from the chord slopes beside the point.
    #[inline(always)]
    fn right_hand_side<const W: usize>(
        &self,
        i: usize,
        chord_before: Pack<W>,
        chord_after: Pack<W>,
    ) -> Pack<W> {
        let last = self.gaps.len();
        match self.kind {
            SplineKind::Clamped { start_slope, .. } if i == 0 => {
                (chord_after - Pack([start_slope; W])) * 6.0
            }
            SplineKind::Clamped { end_slope, .. } if i == last => {
                (Pack([end_slope; W]) - chord_before) * 6.0
            }
            _ if i == 0 || i == last => Pack::ZERO,
            SplineKind::NotAKnot if last > 2 && (i == 1 || i + 1 == last) => {
                let (before, after) = (self.gaps[i - 1], self.gaps[i]);
                let inner = if i == 1 { after } else { before };
                (chord_after - chord_before) * (6.0 * (inner / (before + after)))
            }
            _ => (chord_after - chord_before) * 6.0,
        }
    }

    /// Solves for some channels and stores each piece at the index of its left point.
    pub(crate) fn solve<const W: usize, T: Real>(
        &self,
        points: &[usize],
        lanes: &Lanes<W>,
        values: &[T],
        into: &mut PiecewiseCubic,
    ) {
        let last = self.gaps.len();
        let mut moments = Vec::with_capacity(points.len());
        let mut start = lanes.gather(values, points[0]);
        let mut chord_before = Pack::ZERO;
        for i in 0..last {
            let end = lanes.gather(values, points[i + 1]);
            let chord = (end - start) * (1.0 / self.gaps[i]);
            moments.push(self.right_hand_side(i, chord_before, chord));
            into.rows_mut()
                .store(points[i], lanes, [start, chord, Pack::ZERO, Pack::ZERO]);
            (start, chord_before) = (end, chord);
        }
        moments.push(self.right_hand_side(last, chord_before, Pack::ZERO));
        self.matrix.solve(&mut moments);
        self.free_ends(&mut moments);
        for i in 0..last {
            let [start, chord, _, _] = into.rows_mut().load(points[i], lanes);
            let ends = [moments[i], moments[i + 1]];
            let cubic = cubic_from_moments(start, chord, ends, self.gaps[i]);
            into.rows_mut().store(points[i], lanes, cubic);
        }
    }

    /// Not-a-knot: the end moments follow from their neighbours.
    fn free_ends<const W: usize>(&self, moments: &mut [Pack<W>]) {
        let last = self.gaps.len();
        if self.kind != SplineKind::NotAKnot || last == 1 {
            return;
        }
        // With three points both ends continue the one inner moment: a parabola.
        let inner = 2.min(last - 1);
        let ratio = self.gaps[0] / self.gaps[1];
        moments[0] = moments[1] + (moments[1] - moments[inner]) * ratio;
        let inner = (last - 2).max(1);
        let ratio = self.gaps[last - 1] / self.gaps[last - 2];
        moments[last] = moments[last - 1] + (moments[last - 1] - moments[inner]) * ratio;
    }
}
