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
//! One sweep forward (fold, right-hand side, elimination) and one back (moments, pieces,
//! unfolding); what the second needs waits in the pieces' own memory. Both touch each input
//! in order, so long series run at the speed of memory.

use super::fold::{Inputs, PackJets, jump};
use super::options::EndRule;
use super::plan::{Group, OwnKnot, Plan};
use super::validate;
use crate::error::Error;
use crate::lanes::{Lanes, Pack, for_each_pack};
use crate::path::{Jets, Side};
use crate::real::Real;
use crate::spline::{PiecewiseCubic, cubic_from_moments};

impl Plan {
    /// The compensation for `values` and the one-sided limits of the prediction at the knots,
    /// each a time-major block `[knots, channels]`, as a piecewise cubic between all knots.
    ///
    /// `values` are read only where the plan says observed. The left limits at the first knot
    /// are never read. The right limits at the last knot are read only for the value a channel
    /// is pinned to ([`Options::last_value`](super::Options::last_value)). A series of one
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
            for_each_pack!(channels, lanes => {
                let sweep = Sweep { plan: self, group, lanes: &lanes, inputs: &inputs };
                finite &= sweep.run(into);
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

impl<const W: usize, T: Real> Sweep<'_, W, T> {
    /// Writes the pieces of these channels; false if a number that was read is not finite.
    fn run(&self, into: &mut PiecewiseCubic) -> bool {
        if self.group.own.len() == 1 {
            return self.constant(into);
        }
        let finite = self.eliminate(into);
        self.substitute(into);
        finite
    }

    fn constant(&self, into: &mut PiecewiseCubic) -> bool {
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

    /// Forward sweep: leaves `[start, chord, eliminated moment, curvature jump at the end]` in
    /// the piece of each own interval. False if a number that was read is not finite.
    fn eliminate(&self, into: &mut PiecewiseCubic) -> bool {
        let (own, times) = (&self.group.own, self.plan.times());
        let last = own.len() - 1;
        let mut right = self.inputs.limit(self.lanes, Side::Right, 0);
        let mut target = self.target(own[0]);
        let mut eliminated = self.first_moment(right);
        let mut read = total(right) + target;
        let (mut gap_before, mut chord_before, mut jump_before) = (0.0, Pack::ZERO, right);
        for i in 0..last {
            let (a, b) = (own[i].index, own[i + 1].index);
            let gap = times[b] - times[a];
            let start = target - right.value;
            let left = self.inputs.folded_left(self.lanes, times, a, b);
            target = self.target(own[i + 1]);
            let chord = (target - left.value - start) * (1.0 / gap);
            let jump = if i + 1 < last {
                right = self.inputs.limit(self.lanes, Side::Right, b);
                jump(right, left)
            } else {
                self.last_jump(b, left)
            };
            if i > 0 {
                let rhs = (chord - chord_before + jump_before.slope) * 6.0
                    - jump_before.curvature * (2.0 * gap_before)
                    - jump.curvature * gap;
                eliminated = self.group.matrix.eliminate(i, rhs, eliminated);
            }
            into.store(a, self.lanes, [start, chord, eliminated, jump.curvature]);
            read += total(left) + total(right) + target;
            (gap_before, chord_before, jump_before) = (gap, chord, jump);
        }
        all_finite(read)
    }

    /// Backward sweep: moments, pieces and what lies between own knots.
    fn substitute(&self, into: &mut PiecewiseCubic) {
        let (own, times) = (&self.group.own, self.plan.times());
        let mut after = Pack::ZERO;
        for i in (0..own.len() - 1).rev() {
            let (a, b) = (own[i].index, own[i + 1].index);
            let [start, chord, eliminated, curvature_jump] = into.load(a, self.lanes);
            let moment = self.group.matrix.substitute(i, eliminated, after);
            let ends = [moment, after + curvature_jump];
            let cubic = cubic_from_moments(start, chord, ends, times[b] - times[a]);
            self.inputs.unfold(self.lanes, (a, b), cubic, into);
            after = moment;
        }
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
    fn first_moment(&self, right: PackJets<W>) -> Pack<W> {
        match self.plan.options().end_rule {
            EndRule::Output => -right.curvature,
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

#[inline(always)]
fn total<const W: usize>(jets: PackJets<W>) -> Pack<W> {
    jets.value + jets.slope + jets.curvature
}

/// False if one of the numbers is not finite (or so large that it hardly matters).
fn all_finite<const W: usize>(pack: Pack<W>) -> bool {
    pack.0.iter().all(|x| x.is_finite())
}
