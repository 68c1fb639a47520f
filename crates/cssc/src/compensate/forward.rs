//! From observations and limits to the pieces of the compensation.
//!
//! For one channel with own knots $0, 1, \dots, m$, gaps $h_i$ and prescribed values
//! $y_i$, after folding: mismatches $\epsilon_i^+ = y_i - o_i^+$, $\epsilon_i^- = y_i - o_i^-$,
//! chords $\sigma_i = (\epsilon_{i+1}^- - \epsilon_i^+)/h_i$, jumps $\dot r_i, \ddot r_i$ and
//! the moments $M_i = \ddot c(t_i^+)$,
//!
//! $$ h_{i-1}M_{i-1} + 2(h_{i-1}+h_i)M_i + h_iM_{i+1}
//!    = 6(\sigma_i - \sigma_{i-1} + \dot r_i) - 2h_{i-1}\ddot r_i - h_i\ddot r_{i+1}. $$
//!
//! This is row i of the paper's system times $\tau_{i-1}+\tau_i$, which makes it symmetric. At
//! the last knot $M_m := 0$ and $\ddot r_m := \ddot c(t_m^-)$ by the end rule. Only jumps and
//! mismatches enter, so a perfect prediction gives exactly c = 0 with
//! [`EndRule::Compensation`].
//!
//! One sweep from both ends to the middle (fold, right-hand side, elimination) and one back
//! (moments, pieces, unfolding); what the second needs waits in the pieces' own memory. The two
//! halves of a long series run at the same time.

use super::fold::{Inputs, PackJets, jump};
use super::options::EndRule;
use super::plan::{Group, OwnKnot, Plan};
use super::validate;
use crate::error::Error;
use crate::numeric::lanes::{Lanes, Pack, for_each_pack};
use crate::numeric::parallel::both;
use crate::numeric::real::Real;
use crate::path::{Jets, Side};
use crate::spline::{PieceRows, PiecewiseCubic, cubic_from_moments};

impl Plan {
    /// The compensation for `values` and the one-sided limits of the prediction at the knots,
    /// each a time-major block `[knots, channels]`, as a piecewise cubic between all knots.
    ///
    /// `values` are read only where the plan says observed. The left limits at the first knot
    /// are never read. The right limits at the last knot are read only for the value a channel
    /// is pinned to ([`CompensationOptions::last_value`](super::CompensationOptions::last_value)). A series of one
    /// knot gets the constant $x - o$.
    ///
    /// # Errors
    /// If lengths do not fit, or a number that is read is not finite.
    pub fn forward<T: Real>(
        &self,
        values: &[T],
        left: Jets<&[T]>,
        right: Jets<&[T]>,
        into: &mut PiecewiseCubic,
    ) -> Result<(), Error> {
        self.check_not_empty()?;
        let inputs = Inputs {
            channels: self.channels(),
            values,
            left,
            right,
        };
        validate::lengths(&inputs, self.times().len())?;
        into.prepare(self.times(), self.channels());
        let mut finite = true;
        for (channels, group) in self.groups() {
            for_each_pack!(channels, self.channels(), lanes => {
                let sweep = Sweep { plan: self, group, lanes: &lanes, inputs: &inputs };
                finite &= sweep.run(into.rows_mut());
            });
        }
        // The sweeps only notice that something is wrong; this finds out what.
        if finite {
            Ok(())
        } else {
            validate::finite(self, &inputs)
        }
    }
}

/// One pack of channels of one group.
struct Sweep<'a, const W: usize, T> {
    plan: &'a Plan,
    group: &'a Group,
    lanes: &'a Lanes<W>,
    inputs: &'a Inputs<'a, T>,
}

/// What is read at an own knot.
#[derive(Clone, Copy)]
struct Knot<const W: usize> {
    /// The limits of the prediction on its right.
    right: PackJets<W>,
    /// The value the smoothed curve passes through.
    target: Pack<W>,
}

/// What is known about the compensation between two neighbouring own knots before it is solved.
#[derive(Clone, Copy)]
struct Interval<const W: usize> {
    gap: f64,
    /// The mismatch at the left end.
    start: Pack<W>,
    /// The slope of the chord between the mismatches at both ends.
    chord: Pack<W>,
    /// The jump of the prediction at the right end, after folding.
    jump: PackJets<W>,
    /// Something that is finite only if everything that was read is.
    read: Pack<W>,
}

impl<const W: usize, T: Real> Sweep<'_, W, T> {
    /// Writes the pieces of these channels; false if a number that was read is not finite.
    fn run(&self, mut into: PieceRows<'_>) -> bool {
        let last = self.group.own.len() - 1;
        if last == 0 {
            return self.constant(into);
        }
        let middle = self.group.matrix.middle();
        let (mut above, mut below) = into.split_at(self.group.own[middle].index);
        let (down, up) = both(
            last,
            || self.eliminate_down(middle, &mut above),
            || self.eliminate_up(middle, &mut below),
        );
        let rhs = match &up.interval {
            Some(next) => right_hand_side(&down.interval, next),
            None => Pack::ZERO,
        };
        let moment = self
            .group
            .matrix
            .solve_middle(rhs, down.eliminated, up.eliminated);
        both(
            last,
            || self.substitute_up(middle, moment, &mut above),
            || self.substitute_down(middle, moment, &mut below),
        );
        all_finite(down.read + up.read)
    }

    fn constant(&self, mut into: PieceRows<'_>) -> bool {
        let predicted = self
            .inputs
            .limit(self.lanes, self.plan.options().last_value, 0)
            .value;
        let constant = self.target(self.group.own[0]) - predicted;
        into.store(
            0,
            self.lanes,
            [constant, Pack::ZERO, Pack::ZERO, Pack::ZERO],
        );
        all_finite(constant)
    }

    /// What is read at own knot `i` apart from the limits on its left.
    #[inline(always)]
    fn knot(&self, i: usize) -> Knot<W> {
        let own = &self.group.own;
        let right = if i + 1 < own.len() {
            self.inputs.limit(self.lanes, Side::Right, own[i].index)
        } else {
            Jets::default() // nothing right of the last knot is used
        };
        Knot {
            right,
            target: self.target(own[i]),
        }
    }

    /// The interval between own knots `i` and `i + 1`.
    #[inline(always)]
    fn interval(&self, i: usize, from: &Knot<W>, to: &Knot<W>) -> Interval<W> {
        let (own, times) = (&self.group.own, self.plan.times());
        let (a, b) = (own[i].index, own[i + 1].index);
        let gap = times[b] - times[a];
        let left = self.inputs.folded_left(self.lanes, times, a, b);
        let start = from.target - from.right.value;
        let end = to.target - left.value;
        let jump = if i + 2 < own.len() {
            jump(to.right, left)
        } else {
            self.last_jump(b, left)
        };
        let read =
            start + end + (from.right.slope + from.right.curvature) + (left.slope + left.curvature);
        Interval {
            gap,
            start,
            chord: (end - start) * (1.0 / gap),
            jump,
            read,
        }
    }

    /// Eliminates the rows before the middle. Leaves `[start, chord, eliminated moment,
    /// curvature jump at the end]` in the piece of each own interval.
    fn eliminate_down(&self, middle: usize, into: &mut PieceRows<'_>) -> Down<W> {
        let own = &self.group.own;
        let (first, mut to) = (self.knot(0), self.knot(1));
        let mut interval = self.interval(0, &first, &to);
        let mut read = interval.read;
        let mut eliminated = self.first_moment(&first);
        into.store(0, self.lanes, interval.waiting(eliminated));
        for (i, knot) in own.iter().enumerate().take(middle).skip(1) {
            let from = to;
            to = self.knot(i + 1);
            let next = self.interval(i, &from, &to);
            let rhs = right_hand_side(&interval, &next);
            eliminated = self.group.matrix.eliminate(i, rhs, eliminated);
            into.store(knot.index, self.lanes, next.waiting(eliminated));
            read += next.read;
            interval = next;
        }
        Down {
            interval,
            eliminated,
            read,
        }
    }

    /// Eliminates the rows after the middle, from the last one. There is no interval if the
    /// middle is the last knot.
    fn eliminate_up(&self, middle: usize, into: &mut PieceRows<'_>) -> Up<W> {
        let (own, last) = (&self.group.own, self.group.own.len() - 1);
        let mut up = Up {
            interval: None,
            eliminated: Pack::ZERO,
            read: Pack::ZERO,
        };
        let mut from = self.knot(last);
        for i in (middle..last).rev() {
            let to = from;
            from = self.knot(i);
            let interval = self.interval(i, &from, &to);
            if let Some(next) = &up.interval {
                let rhs = right_hand_side(&interval, next);
                up.eliminated = self.group.matrix.eliminate(i + 1, rhs, up.eliminated);
                into.store_square(own[i + 1].index, self.lanes, up.eliminated);
            }
            into.store(own[i].index, self.lanes, interval.waiting(Pack::ZERO));
            up.read += interval.read;
            up.interval = Some(interval);
        }
        up
    }

    /// Moments and pieces of the intervals before the middle.
    fn substitute_up(&self, middle: usize, moment: Pack<W>, into: &mut PieceRows<'_>) {
        let mut after = moment;
        for i in (0..middle).rev() {
            let [start, chord, eliminated, jump] = into.load(self.group.own[i].index, self.lanes);
            let moment = self.group.matrix.substitute(i, eliminated, after);
            self.write(i, start, chord, [moment, after + jump], into);
            after = moment;
        }
    }

    /// Moments and pieces of the intervals after the middle.
    fn substitute_down(&self, middle: usize, moment: Pack<W>, into: &mut PieceRows<'_>) {
        let (own, last) = (&self.group.own, self.group.own.len() - 1);
        let mut before = moment;
        for i in middle..last {
            let [start, chord, _, jump] = into.load(own[i].index, self.lanes);
            let moment = if i + 1 < last {
                let eliminated = into.load(own[i + 1].index, self.lanes)[2];
                self.group.matrix.substitute(i + 1, eliminated, before)
            } else {
                Pack::ZERO
            };
            self.write(i, start, chord, [before, moment + jump], into);
            before = moment;
        }
    }

    /// Writes the pieces of own interval `i` from its second derivatives at both ends.
    #[inline(always)]
    fn write(
        &self,
        i: usize,
        start: Pack<W>,
        chord: Pack<W>,
        ends: [Pack<W>; 2],
        into: &mut PieceRows<'_>,
    ) {
        let times = self.plan.times();
        let (a, b) = (self.group.own[i].index, self.group.own[i + 1].index);
        let cubic = cubic_from_moments(start, chord, ends, times[b] - times[a]);
        self.inputs.unfold(self.lanes, times, (a, b), cubic, into);
    }

    /// The value the smoothed curve passes through.
    #[inline(always)]
    fn target(&self, knot: OwnKnot) -> Pack<W> {
        if !knot.pinned {
            return self.inputs.value(self.lanes, knot.index);
        }
        let is_last = knot.index + 1 == self.plan.times().len();
        let side = if is_last {
            self.plan.options().last_value
        } else {
            Side::Right
        };
        self.inputs.limit(self.lanes, side, knot.index).value
    }

    /// The curvature of c just right of the first knot.
    fn first_moment(&self, first: &Knot<W>) -> Pack<W> {
        match self.plan.options().end_rule {
            EndRule::Output => -first.right.curvature,
            EndRule::Compensation => Pack::ZERO,
        }
    }

    /// What stands for the jump at the last knot: its curvature is that of the last cubic
    /// there, before the folded jumps are taken away again.
    fn last_jump(&self, knot: usize, folded_left: PackJets<W>) -> PackJets<W> {
        let kept = match self.plan.options().end_rule {
            EndRule::Output => Pack::ZERO,
            EndRule::Compensation => self.inputs.limit(self.lanes, Side::Left, knot).curvature,
        };
        Jets {
            curvature: kept - folded_left.curvature,
            ..folded_left
        }
    }
}

/// What the elimination of the upper half hands to the middle row.
struct Down<const W: usize> {
    interval: Interval<W>,
    eliminated: Pack<W>,
    read: Pack<W>,
}

/// What the elimination of the lower half hands to the middle row.
struct Up<const W: usize> {
    interval: Option<Interval<W>>,
    eliminated: Pack<W>,
    read: Pack<W>,
}

impl<const W: usize> Interval<W> {
    /// What waits in the memory of the piece until the moments are known.
    #[inline(always)]
    fn waiting(&self, eliminated: Pack<W>) -> [Pack<W>; 4] {
        [self.start, self.chord, eliminated, self.jump.curvature]
    }
}

/// The right-hand side of the row between two intervals.
#[inline(always)]
fn right_hand_side<const W: usize>(before: &Interval<W>, after: &Interval<W>) -> Pack<W> {
    (after.chord - before.chord + before.jump.slope) * 6.0
        - before.jump.curvature * (2.0 * before.gap)
        - after.jump.curvature * after.gap
}

/// False if one of the numbers is not finite (or so large that it hardly matters).
fn all_finite<const W: usize>(pack: Pack<W>) -> bool {
    pack.0.iter().all(|x| x.is_finite())
}
