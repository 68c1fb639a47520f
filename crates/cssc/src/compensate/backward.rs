//! The gradient of the compensation: from a gradient with respect to c at any times to the
//! gradients with respect to the observations and all six limits.
//!
//! For fixed times c = L(x, o±, ȯ±, ö±) with a linear map L, and this is $L^T$: every
//! step of the forward pass transposed, in reverse order. The matrix is symmetric, so the same
//! factors serve.
//!
//! With $g_0 \dots g_3$ the gradient with respect to the cubic of an own interval, $z$ the solution for
//! the right-hand side $g_M$ and $z_0 = z_m = 0$:
//!
//! ```text
//!   g_M[i]    = -h_i/3 g1[i] + g2[i]/2 - g3[i]/(6 h_i)  +  g_jump[i]      (left end of i, right end of i-1)
//!   g_jump[i+1] = -h_i/6 g1[i] + g3[i]/(6 h_i)                            then  -= h_i (z_i + 2 z_{i+1})
//!   g_chord[i]  = g1[i] + 6 (z_i - z_{i+1})
//!   g_slope[i]  = 6 z_i
//! ```
//!
//! Cost: as the forward pass. Reference: transpose of the paper's eq. (SSC) and (comput_M).

use super::fold::PackJets;
use super::options::EndRule;
use super::plan::{Group, OwnKnot, Plan};
use crate::error::{Error, check_length, check_query};
use crate::lanes::{Lanes, Pack, for_each_pack, row, row_mut};
use crate::path::{Jets, Side};
use crate::real::Real;
use crate::spline::{Cursor, PiecewiseCubic};

/// Memory for [`Plan::backward`], reused from call to call.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// The gradient with respect to the coefficients of the pieces.
    pieces: PiecewiseCubic,
}

/// Gradients with respect to the inputs of [`Plan::forward`], each a time-major block
/// `[knots, channels]`. Inputs that are not read get 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gradient<S = Vec<f64>> {
    /// With respect to the observations.
    pub values: S,
    /// With respect to the left limits.
    pub left: Jets<S>,
    /// With respect to the right limits.
    pub right: Jets<S>,
}

impl<T: Real> Gradient<Vec<T>> {
    /// Blocks of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Gradient {
            values: vec![T::default(); len],
            left: Jets::zeros(len),
            right: Jets::zeros(len),
        }
    }

    /// The same blocks, borrowed for writing.
    pub fn as_mut_slices(&mut self) -> Gradient<&mut [T]> {
        Gradient {
            values: &mut self.values,
            left: self.left.as_mut_slices(),
            right: self.right.as_mut_slices(),
        }
    }
}

impl<T: Real> Gradient<&mut [T]> {
    pub(super) fn check_lengths(&mut self, expected: usize) -> Result<(), Error> {
        for (name, block) in self.named_mut() {
            check_length(name, block.len(), expected, "knots x channels")?;
        }
        Ok(())
    }

    fn named_mut(&mut self) -> [(&'static str, &mut [T]); 7] {
        [
            ("gradient of values", self.values),
            ("gradient of left value", self.left.value),
            ("gradient of left slope", self.left.slope),
            ("gradient of left curvature", self.left.curvature),
            ("gradient of right value", self.right.value),
            ("gradient of right slope", self.right.slope),
            ("gradient of right curvature", self.right.curvature),
        ]
    }
}

impl Plan {
    /// The gradients of a function of `c(query)` seen from `side`, given its gradient with
    /// respect to these values, `[query, channels]`. Query times are sorted as for
    /// [`PiecewiseCubic::values_into`]. `into` is overwritten.
    ///
    /// # Errors
    /// If the query decreases or is not finite, or lengths do not fit.
    pub fn backward<T: Real>(
        &self,
        query: &[f64],
        side: Side,
        gradient: &[T],
        workspace: &mut Workspace,
        into: Gradient<&mut [T]>,
    ) -> Result<(), Error> {
        self.check_not_empty()?;
        check_query(query)?;
        let expected = query.len() * self.channels();
        check_length(
            "gradient",
            gradient.len(),
            expected,
            "query times x channels",
        )?;
        let pieces = &mut workspace.pieces;
        pieces.prepare(self.times(), self.channels());
        pieces.clear_coefficients();
        let mut cursor = Cursor::default();
        for (q, &time) in query.iter().enumerate() {
            let piece = cursor.advance(self.times(), time, side);
            pieces.add_powers(piece, time, row(gradient, q, self.channels()));
        }
        self.transpose(pieces, into)
    }

    /// The gradients of a function of the pieces of c, given its gradient with respect to
    /// their coefficients, `[pieces, 4, channels]`. `into` is overwritten.
    ///
    /// # Errors
    /// If lengths do not fit.
    pub fn backward_pieces<T: Real>(
        &self,
        gradient: &[T],
        workspace: &mut Workspace,
        into: Gradient<&mut [T]>,
    ) -> Result<(), Error> {
        self.check_not_empty()?;
        let pieces = &mut workspace.pieces;
        pieces.prepare(self.times(), self.channels());
        pieces.set_coefficients(gradient)?;
        self.transpose(pieces, into)
    }

    fn transpose<T: Real>(
        &self,
        pieces: &mut PiecewiseCubic,
        mut into: Gradient<&mut [T]>,
    ) -> Result<(), Error> {
        into.check_lengths(self.times().len() * self.channels())?;
        for (_, block) in into.named_mut() {
            block.fill(T::default());
        }
        for (channels, group) in self.groups() {
            for_each_pack!(channels, lanes => {
                let sweep = Transposed { plan: self, group, lanes: &lanes };
                sweep.run(pieces, &mut into);
            });
        }
        Ok(())
    }
}

/// One pack of channels of one group.
struct Transposed<'a, const W: usize> {
    plan: &'a Plan,
    group: &'a Group,
    lanes: &'a Lanes<W>,
}

impl<const W: usize> Transposed<'_, W> {
    fn run<T: Real>(&self, pieces: &mut PiecewiseCubic, into: &mut Gradient<&mut [T]>) {
        let first = self.group.own[0];
        if self.group.own.len() == 1 {
            let start = pieces.load(0, self.lanes)[0];
            return self.write_start(first, start, self.plan.options().last_value, into);
        }
        self.eliminate(pieces);
        let (start, first_moment) = self.substitute(pieces, into);
        self.write_start(first, start, Side::Right, into);
        if self.plan.options().end_rule == EndRule::Output {
            self.write(-first_moment, 0, into.right.curvature);
        }
    }

    /// Forward sweep: transposes the unfolding and the formula of the pieces, and eliminates.
    /// Leaves `[g_start, g_chord, eliminated g_moment, g_jump at the end]` in each own piece.
    fn eliminate(&self, pieces: &mut PiecewiseCubic) {
        let (own, times) = (&self.group.own, self.plan.times());
        let (mut eliminated, mut jump_before) = (Pack::ZERO, Pack::ZERO);
        for i in 0..own.len() - 1 {
            let (a, b) = (own[i].index, own[i + 1].index);
            let gap = times[b] - times[a];
            self.transpose_unfold(a, b, pieces);
            let [g0, g1, g2, g3] = pieces.load(a, self.lanes);
            let third = g3 * (1.0 / (6.0 * gap));
            let moment = g2 * 0.5 - g1 * (gap / 3.0) - third + jump_before;
            let jump = third - g1 * (gap / 6.0);
            if i > 0 {
                eliminated = self.group.matrix.eliminate(i, moment, eliminated);
                pieces.store(a, self.lanes, [g0, g1, eliminated, jump]);
            } else {
                pieces.store(a, self.lanes, [g0, g1, moment, jump]);
            }
            jump_before = jump;
        }
    }

    /// Adds to the piece at `a` what the pieces re-expanded from it receive.
    #[inline(always)]
    fn transpose_unfold(&self, a: usize, b: usize, pieces: &mut PiecewiseCubic) {
        for k in (a + 1..b).rev() {
            let by = self.plan.times()[k] - self.plan.times()[k - 1];
            let later = shift_transposed(pieces.load(k, self.lanes), by);
            let mut cubic = pieces.load(k - 1, self.lanes);
            cubic
                .iter_mut()
                .zip(later)
                .for_each(|(sum, term)| *sum += term);
            pieces.store(k - 1, self.lanes, cubic);
        }
    }

    /// Backward sweep: solves, and writes the gradients at all knots but the first. Returns
    /// the gradients with respect to the mismatch and the moment right of the first knot.
    fn substitute<T: Real>(
        &self,
        pieces: &PiecewiseCubic,
        into: &mut Gradient<&mut [T]>,
    ) -> (Pack<W>, Pack<W>) {
        let (own, times) = (&self.group.own, self.plan.times());
        let (mut after, mut start_after) = (Pack::ZERO, Pack::ZERO);
        for i in (1..own.len()).rev() {
            let (a, b) = (own[i - 1].index, own[i].index);
            let gap = times[b] - times[a];
            let [g_start, g_chord, eliminated, g_jump] = pieces.load(a, self.lanes);
            let (solved, first_moment) = match i {
                1 => (Pack::ZERO, eliminated - after * gap),
                _ => (
                    self.group.matrix.substitute(i - 1, eliminated, after),
                    Pack::ZERO,
                ),
            };
            let end = (g_chord + (solved - after) * 6.0) * (1.0 / gap);
            let at_end = Jets {
                value: end,
                slope: after * 6.0,
                curvature: g_jump - (solved + after * 2.0) * gap,
            };
            self.write_end(own[i], start_after, at_end, into);
            self.write_folded(a, b, at_end, pieces, into);
            (after, start_after) = (solved, g_start - end);
            if i == 1 {
                return (start_after, first_moment);
            }
        }
        unreachable!("a series of one knot has no interval and is handled apart")
    }

    /// The gradients at an own knot other than the first: `start` is with respect to the
    /// mismatch on its right, `end` with respect to the mismatch on its left and the jump.
    #[inline(always)]
    fn write_end<T: Real>(
        &self,
        knot: OwnKnot,
        start: Pack<W>,
        end: PackJets<W>,
        into: &mut Gradient<&mut [T]>,
    ) {
        let k = knot.index;
        let is_last = k + 1 == self.plan.times().len();
        let mut left = end.map(|gradient| -gradient);
        if knot.pinned {
            match self.plan.options().last_value {
                Side::Left if is_last => left.value = Pack::ZERO,
                _ => self.write(end.value, k, into.right.value),
            }
        } else {
            self.write(start + end.value, k, into.values);
        }
        if !is_last {
            if !knot.pinned {
                self.write(-start, k, into.right.value);
            }
            self.write(end.slope, k, into.right.slope);
            self.write(end.curvature, k, into.right.curvature);
        } else if self.plan.options().end_rule == EndRule::Compensation {
            // The kept curvature and the one taken away are the same number.
            left.curvature = Pack::ZERO;
        }
        self.write(left.value, k, into.left.value);
        self.write(left.slope, k, into.left.slope);
        self.write(left.curvature, k, into.left.curvature);
    }

    /// The gradients at the knots folded between `a` and `b`: through the left limits at `b`
    /// and through the pieces from which the jump was taken away.
    #[inline(always)]
    fn write_folded<T: Real>(
        &self,
        a: usize,
        b: usize,
        end: PackJets<W>,
        pieces: &PiecewiseCubic,
        into: &mut Gradient<&mut [T]>,
    ) {
        for k in a + 1..b {
            let s = self.plan.times()[b] - self.plan.times()[k];
            let [g0, g1, g2, _] = pieces.load(k, self.lanes);
            let value = end.value - g0;
            let slope = end.value * s + end.slope - g1;
            let curvature = (end.value * (0.5 * s) + end.slope) * s + end.curvature - g2 * 0.5;
            self.write(value, k, into.right.value);
            self.write(slope, k, into.right.slope);
            self.write(curvature, k, into.right.curvature);
            self.write(-value, k, into.left.value);
            self.write(-slope, k, into.left.slope);
            self.write(-curvature, k, into.left.curvature);
        }
    }

    /// The gradients of the mismatch at the first knot, taken with the prediction from `side`.
    fn write_start<T: Real>(
        &self,
        knot: OwnKnot,
        start: Pack<W>,
        side: Side,
        into: &mut Gradient<&mut [T]>,
    ) {
        if knot.pinned {
            return;
        }
        self.write(start, 0, into.values);
        match side {
            Side::Left => self.write(-start, 0, into.left.value),
            Side::Right => self.write(-start, 0, into.right.value),
        }
    }

    #[inline(always)]
    fn write<T: Real>(&self, gradient: Pack<W>, knot: usize, block: &mut [T]) {
        self.lanes
            .scatter(gradient, row_mut(block, knot, self.plan.channels()));
    }
}

/// The transpose of [`shift`](crate::spline::shift).
#[inline(always)]
fn shift_transposed<const W: usize>(gradient: [Pack<W>; 4], by: f64) -> [Pack<W>; 4] {
    let [g0, g1, g2, g3] = gradient;
    [
        g0,
        g1 + g0 * by,
        g2 + (g1 * 2.0 + g0 * by) * by,
        g3 + ((g2 + g1 * by) * 3.0 + g0 * (by * by)) * by,
    ]
}
