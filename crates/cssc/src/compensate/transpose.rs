//! The transposed solve: from the gradient with respect to the pieces of c to the gradients with
//! respect to everything they were computed from.
//!
//! Every step of the forward sweeps is transposed, in reverse order. The matrix is symmetric, so
//! the same factors serve. With $g_0, \dots, g_3$ the gradient with respect to the cubic of an
//! own interval, and $z$ the solution for the right-hand side $g_M$ with $z_0 = z_m = 0$:
//!
//! ```text
//!   g_M[i]      =  g2[i]/2 - h_i g1[i]/3 - g3[i]/(6 h_i) + g_jump[i]     (its left, its right interval)
//!   g_jump[i+1] =  g3[i]/(6 h_i) - h_i g1[i]/6              - h_i (z_i + 2 z_{i+1})
//!   g_chord[i]  =  g1[i] + 6 (z_i - z_{i+1})
//!   g_slope[i]  =  6 z_i
//! ```
//!
//! Reference: the transpose of the paper's eq. (SSC) and (comput_M).

use super::backward::InputGradients;
use super::fold::PackJets;
use super::options::EndRule;
use super::plan::{Group, OwnKnot, Plan};
use crate::numeric::lanes::{Lanes, Pack};
use crate::numeric::parallel::both;
use crate::numeric::real::Real;
use crate::path::{Jets, Side};
use crate::spline::PieceRows;

/// The gradients at consecutive knots, numbered as in the whole series.
pub(super) struct GradientRows<'a, T> {
    blocks: InputGradients<&'a mut [T]>,
    first: usize,
}

impl<'a, T: Real> GradientRows<'a, T> {
    /// The gradients at all knots.
    pub(super) fn new(blocks: &'a mut InputGradients<&mut [T]>) -> Self {
        GradientRows {
            blocks: blocks.reborrow(),
            first: 0,
        }
    }

    fn split_at(self, knot: usize, channels: usize) -> (Self, Self) {
        let (before, after) = self.blocks.split_at((knot - self.first) * channels);
        (
            GradientRows {
                blocks: before,
                first: self.first,
            },
            GradientRows {
                blocks: after,
                first: knot,
            },
        )
    }
}

/// One pack of channels of one group.
pub(super) struct Transposed<'a, const W: usize> {
    pub(super) plan: &'a Plan,
    pub(super) group: &'a Group,
    pub(super) lanes: &'a Lanes<W>,
}

/// The gradients with respect to what an own interval is made from.
struct Interval<const W: usize> {
    /// The mismatch at its left end.
    start: Pack<W>,
    /// The mismatch and the jumps at its right end.
    end: PackJets<W>,
}

impl<const W: usize> Transposed<'_, W> {
    /// Turns the gradient with respect to the pieces, which is used up, into `into`, which
    /// must be zero where nothing is written.
    pub(super) fn run<T: Real>(&self, mut pieces: PieceRows<'_>, mut into: GradientRows<'_, T>) {
        let (own, last) = (&self.group.own, self.group.own.len() - 1);
        if last == 0 {
            let start = pieces.load(0, self.lanes)[0];
            return self.write_first(start, self.plan.options().last_value, &mut into);
        }
        let middle = self.group.matrix.middle();
        let (mut above, mut below) = pieces.split_at(own[middle].index);
        let ((jump, eliminated_above), (moment, eliminated_below)) = both(
            last,
            || self.eliminate_down(middle, &mut above),
            || self.eliminate_up(middle, &mut below),
        );
        let rhs = if middle < last {
            moment + jump
        } else {
            Pack::ZERO
        };
        let solved = self
            .group
            .matrix
            .solve_middle(rhs, eliminated_above, eliminated_below);
        let (mut knots_above, mut knots_below) =
            into.split_at(own[middle].index, self.plan.channels());
        let (end, start) = both(
            last,
            || self.substitute_up(middle, solved, &above, &mut knots_above),
            || self.substitute_down(middle, solved, &below, &mut knots_below),
        );
        self.write_knot(own[middle], start, end, &mut knots_below);
    }

    /// Eliminates the rows before the middle. Leaves `[g_start, g_chord, eliminated g_moment,
    /// g_jump at the end]` in each own piece (in the first one g_moment as it is), and returns
    /// the last g_jump and row.
    fn eliminate_down(&self, middle: usize, pieces: &mut PieceRows<'_>) -> (Pack<W>, Pack<W>) {
        let (mut jump, mut eliminated) = (Pack::ZERO, Pack::ZERO);
        for i in 0..middle {
            let [start, chord, mut moment, next_jump] = self.transpose_piece(i, pieces);
            if i > 0 {
                eliminated = self.group.matrix.eliminate(i, moment + jump, eliminated);
                moment = eliminated;
            }
            let waiting = [start, chord, moment, next_jump];
            pieces.store(self.group.own[i].index, self.lanes, waiting);
            jump = next_jump;
        }
        (jump, eliminated)
    }

    /// Eliminates the rows after the middle, from the last one. Returns g_moment of the first
    /// interval and the last row.
    fn eliminate_up(&self, middle: usize, pieces: &mut PieceRows<'_>) -> (Pack<W>, Pack<W>) {
        let (own, last) = (&self.group.own, self.group.own.len() - 1);
        let (mut next_moment, mut eliminated) = (Pack::ZERO, Pack::ZERO);
        for i in (middle..last).rev() {
            let [start, chord, moment, jump] = self.transpose_piece(i, pieces);
            if i + 1 < last {
                eliminated = self
                    .group
                    .matrix
                    .eliminate(i + 1, next_moment + jump, eliminated);
                pieces.store_square(own[i + 1].index, self.lanes, eliminated);
            }
            pieces.store(own[i].index, self.lanes, [start, chord, moment, jump]);
            next_moment = moment;
        }
        (next_moment, eliminated)
    }

    /// `[g_start, g_chord, g_moment at the left end, g_jump at the right end]` of own interval
    /// `i` from the gradients with respect to its pieces.
    #[inline(always)]
    fn transpose_piece(&self, i: usize, pieces: &mut PieceRows<'_>) -> [Pack<W>; 4] {
        let (a, b) = (self.group.own[i].index, self.group.own[i + 1].index);
        let gap = self.plan.times()[b] - self.plan.times()[a];
        self.transpose_unfold(a, b, pieces);
        let [g0, g1, g2, g3] = pieces.load(a, self.lanes);
        let third = g3 * (1.0 / (6.0 * gap));
        [
            g0,
            g1,
            g2 * 0.5 - g1 * (gap / 3.0) - third,
            third - g1 * (gap / 6.0),
        ]
    }

    /// Adds to the piece at `a` what the pieces re-expanded from it receive.
    #[inline(always)]
    fn transpose_unfold(&self, a: usize, b: usize, pieces: &mut PieceRows<'_>) {
        for k in (a + 1..b).rev() {
            let by = self.plan.times()[k] - self.plan.times()[k - 1];
            let [l0, l1, l2, l3] = shift_transposed(pieces.load(k, self.lanes), by);
            let [g0, g1, g2, g3] = pieces.load(k - 1, self.lanes);
            pieces.store(k - 1, self.lanes, [g0 + l0, g1 + l1, g2 + l2, g3 + l3]);
        }
    }

    /// Solves the rows before the middle and writes the gradients there. Returns those at the
    /// right end of the last interval, for the middle knot.
    fn substitute_up<T: Real>(
        &self,
        middle: usize,
        solved: Pack<W>,
        pieces: &PieceRows<'_>,
        into: &mut GradientRows<'_, T>,
    ) -> PackJets<W> {
        let own = &self.group.own;
        let (mut after, mut at_middle, mut start) = (solved, None, Pack::ZERO);
        for i in (0..middle).rev() {
            let waiting = pieces.load(own[i].index, self.lanes);
            let solved = match i {
                0 => Pack::ZERO,
                _ => self.group.matrix.substitute(i, waiting[2], after),
            };
            let interval = self.interval(i, waiting, [solved, after], pieces, into);
            if at_middle.is_some() {
                self.write_knot(own[i + 1], start, interval.end, into);
            }
            at_middle.get_or_insert(interval.end);
            start = interval.start;
            if i == 0 && self.plan.options().end_rule == EndRule::Output {
                let gap = self.plan.times()[own[1].index] - self.plan.times()[0];
                let first_moment = waiting[2] - after * gap;
                self.lanes
                    .scatter(-first_moment, into.blocks.right.curvature, 0);
            }
            after = solved;
        }
        self.write_first(start, Side::Right, into);
        at_middle.expect("at least the first interval lies before the middle")
    }

    /// Solves the rows after the middle and writes the gradients there. Returns the one with
    /// respect to the mismatch right of the middle knot.
    fn substitute_down<T: Real>(
        &self,
        middle: usize,
        solved: Pack<W>,
        pieces: &PieceRows<'_>,
        into: &mut GradientRows<'_, T>,
    ) -> Pack<W> {
        let (own, last) = (&self.group.own, self.group.own.len() - 1);
        let (mut before, mut at_middle, mut end) = (solved, Pack::ZERO, Jets::default());
        for i in middle..last {
            let solved = if i + 1 < last {
                let eliminated = pieces.load(own[i + 1].index, self.lanes)[2];
                self.group.matrix.substitute(i + 1, eliminated, before)
            } else {
                Pack::ZERO
            };
            let waiting = pieces.load(own[i].index, self.lanes);
            let interval = self.interval(i, waiting, [before, solved], pieces, into);
            if i == middle {
                at_middle = interval.start;
            } else {
                self.write_knot(own[i], interval.start, end, into);
            }
            end = interval.end;
            before = solved;
        }
        if middle < last {
            self.write_knot(own[last], Pack::ZERO, end, into);
        }
        at_middle
    }

    /// The gradients of own interval `i`, given the solution at both ends; those at the knots
    /// folded in it are written.
    #[inline(always)]
    fn interval<T: Real>(
        &self,
        i: usize,
        [start, chord, _, jump]: [Pack<W>; 4],
        [left, right]: [Pack<W>; 2],
        pieces: &PieceRows<'_>,
        into: &mut GradientRows<'_, T>,
    ) -> Interval<W> {
        let (a, b) = (self.group.own[i].index, self.group.own[i + 1].index);
        let gap = self.plan.times()[b] - self.plan.times()[a];
        let value = (chord + (left - right) * 6.0) * (1.0 / gap);
        let curvature = jump - (left + right * 2.0) * gap;
        let end = Jets {
            value,
            slope: right * 6.0,
            curvature,
        };
        self.write_folded(a, b, end, pieces, into);
        Interval {
            start: start - value,
            end,
        }
    }

    /// The gradients at an own knot other than the first: `start` is with respect to the
    /// mismatch on its right, `end` with respect to the mismatch on its left and the jump.
    #[inline(always)]
    fn write_knot<T: Real>(
        &self,
        knot: OwnKnot,
        start: Pack<W>,
        end: PackJets<W>,
        into: &mut GradientRows<'_, T>,
    ) {
        let is_last = knot.index + 1 == self.plan.times().len();
        let (k, blocks) = (knot.index - into.first, &mut into.blocks);
        let mut left = Jets {
            value: -end.value,
            slope: -end.slope,
            curvature: -end.curvature,
        };
        if !knot.pinned {
            self.lanes.scatter(start + end.value, blocks.values, k);
        } else if is_last && self.plan.options().last_value == Side::Left {
            // The value pinned to and the one taken away are the same number.
            left.value = Pack::ZERO;
        } else {
            self.lanes.scatter(end.value, blocks.right.value, k);
        }
        if !is_last {
            if !knot.pinned {
                self.lanes.scatter(-start, blocks.right.value, k);
            }
            self.lanes.scatter(end.slope, blocks.right.slope, k);
            self.lanes.scatter(end.curvature, blocks.right.curvature, k);
        } else if self.plan.options().end_rule == EndRule::Compensation {
            // And so are the curvature kept and the one taken away.
            left.curvature = Pack::ZERO;
        }
        self.scatter_jets(left, &mut blocks.left, k);
    }

    /// The gradients at the knots folded between `a` and `b`: through the left limits at `b`
    /// and through the pieces from which the jump was taken away.
    #[inline(always)]
    fn write_folded<T: Real>(
        &self,
        a: usize,
        b: usize,
        end: PackJets<W>,
        pieces: &PieceRows<'_>,
        into: &mut GradientRows<'_, T>,
    ) {
        for knot in a + 1..b {
            let s = self.plan.times()[b] - self.plan.times()[knot];
            let [g0, g1, g2, _] = pieces.load(knot, self.lanes);
            let value = end.value - g0;
            let slope = end.value * s + end.slope - g1;
            let curvature = (end.value * (0.5 * s) + end.slope) * s + end.curvature - g2 * 0.5;
            let (k, blocks) = (knot - into.first, &mut into.blocks);
            self.scatter_jets(
                Jets {
                    value,
                    slope,
                    curvature,
                },
                &mut blocks.right,
                k,
            );
            let left = Jets {
                value: -value,
                slope: -slope,
                curvature: -curvature,
            };
            self.scatter_jets(left, &mut blocks.left, k);
        }
    }

    /// The gradients of the mismatch at the first knot, taken with the prediction from `side`.
    fn write_first<T: Real>(&self, start: Pack<W>, side: Side, into: &mut GradientRows<'_, T>) {
        if self.group.own[0].pinned {
            return;
        }
        let blocks = &mut into.blocks;
        self.lanes.scatter(start, blocks.values, 0);
        match side {
            Side::Left => self.lanes.scatter(-start, blocks.left.value, 0),
            Side::Right => self.lanes.scatter(-start, blocks.right.value, 0),
        }
    }

    #[inline(always)]
    fn scatter_jets<T: Real>(&self, jets: PackJets<W>, into: &mut Jets<&mut [T]>, k: usize) {
        self.lanes.scatter(jets.value, into.value, k);
        self.lanes.scatter(jets.slope, into.slope, k);
        self.lanes.scatter(jets.curvature, into.curvature, k);
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
