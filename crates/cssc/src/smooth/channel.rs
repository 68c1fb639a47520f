//! One channel's smoothing problem, and its answer for a given penalty.

use super::kalman::GaussianState;
use super::options::Penalty;
use super::penalty::cross_validated;
use crate::numeric::lanes::Pack;

/// Knots of a block: what is known at each of them stays in the processor's own memory.
const BLOCK: usize = 256;

/// A knot at which the curve is drawn towards a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knot {
    /// Index among all knots of the series.
    pub(super) index: usize,
    pub(super) time: f64,
    pub(super) target: f64,
    pub(super) weight: f64,
    /// Is the target the prediction's own?
    pub(super) pinned: bool,
    /// By how much the slope of the motion changes here.
    pub(super) kick: f64,
}

/// The own knots of one channel, in the order of time.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    pub(super) knots: Vec<Knot>,
}

/// The answer for one channel.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// λ.
    pub(super) penalty: f64,
    /// Intensity of the motion's white noise; NaN if it cannot be known.
    pub(super) intensity: f64,
    /// The values of the curve at the own knots.
    pub(super) values: Vec<f64>,
}

/// Sums over the observed knots, from which GCV and the size of the noise follow. With
/// λu = w(x - s) and λD = w(1 - a):
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) count: usize,
    /// Σ u²/w.
    squares: f64,
    /// Σ D/w.
    freedom: f64,
}

impl Sums {
    /// Generalised cross-validation; λ cancels, so that it is right for λ = 0 too.
    pub(super) fn score(&self) -> f64 {
        self.count as f64 * self.squares / (self.freedom * self.freedom)
    }

    /// σ²/λ, with σ² = Σ w(x - s)² / Σ(1 - a).
    fn intensity(&self) -> f64 {
        self.squares / self.freedom
    }
}

impl Channel {
    /// Smooths with the penalty asked for.
    pub(super) fn fit(&self, penalty: Penalty) -> Fit {
        let penalty = match penalty {
            Penalty::Given(penalty) => penalty,
            Penalty::CrossValidated => cross_validated(self),
        };
        let mut sums = [Sums::default()];
        let mut values: Vec<f64> = self.knots.iter().map(|knot| knot.target).collect();
        self.leave_one_out([penalty], |i, force, stiffness| {
            values[i] -= force.0[0] * penalty / self.knots[i].weight;
            add(&mut sums, &self.knots[i], force, stiffness);
        });
        Fit {
            penalty,
            intensity: sums[0].intensity(),
            values,
        }
    }

    /// The sums for each of the penalties.
    pub(super) fn sums<const W: usize>(&self, penalties: [f64; W]) -> [Sums; W] {
        let mut sums = [Sums::default(); W];
        self.leave_one_out(penalties, |i, force, stiffness| {
            add(&mut sums, &self.knots[i], force, stiffness);
        });
        sums
    }

    /// Calls `visit(i, u, D)` for every knot, from the last to the first. With m and V mean
    /// and variance of its value given all *other* knots, D = 1/(V + λ/w), u = D(x - m).
    ///
    /// What the past knows is kept at the first knot of every block only and found again
    /// inside the block that is walked: that is quicker than going through main memory twice.
    fn leave_one_out<const W: usize>(
        &self,
        penalties: [f64; W],
        mut visit: impl FnMut(usize, Pack<W>, Pack<W>),
    ) {
        let starts = self.past_at_blocks(penalties);
        let mut block = Vec::with_capacity(BLOCK);
        let mut future = GaussianState::DIFFUSE;
        for (number, (knots, start)) in self.knots.chunks(BLOCK).zip(starts).enumerate().rev() {
            block.clear();
            self.past(penalties, number, start, |past| block.push(past));
            for (j, (knot, past)) in knots.iter().zip(&block).enumerate().rev() {
                let i = number * BLOCK + j;
                if let Some(next) = self.knots.get(i + 1) {
                    // Seen from the left of a knot: its kick is still to come.
                    future = future.advance(next.time - knot.time).kick(knot.kick);
                }
                let variance = knot.variance(penalties);
                match past.with(&future) {
                    None => visit(i, Pack::ZERO, Pack::ZERO),
                    Some([mean, others]) => {
                        let stiffness = Pack([1.0; W]) / (others + variance);
                        let off = Pack([knot.target; W]) - mean;
                        visit(i, off * stiffness, stiffness);
                    }
                }
                future = future.observe(knot.target, variance);
            }
        }
    }

    /// What is known at the first knot of each block from those before it.
    fn past_at_blocks<const W: usize>(&self, penalties: [f64; W]) -> Vec<GaussianState<W>> {
        let blocks = self.knots.len().div_ceil(BLOCK);
        let mut starts = Vec::with_capacity(blocks);
        let mut past = GaussianState::DIFFUSE;
        for number in 0..blocks {
            starts.push(past);
            past = self.past(penalties, number, past, |_| ());
        }
        starts
    }

    /// Tells what is known at each knot of a block from those before it, given that of its
    /// first knot; returns that of the next block.
    #[inline(always)]
    fn past<const W: usize>(
        &self,
        penalties: [f64; W],
        number: usize,
        start: GaussianState<W>,
        mut tell: impl FnMut(GaussianState<W>),
    ) -> GaussianState<W> {
        let from = number * BLOCK;
        let mut past = start;
        for i in from..(from + BLOCK).min(self.knots.len()) {
            let knot = &self.knots[i];
            tell(past);
            past = past
                .observe(knot.target, knot.variance(penalties))
                .kick(knot.kick);
            if let Some(next) = self.knots.get(i + 1) {
                past = past.advance(next.time - knot.time);
            }
        }
        past
    }

    /// The posterior variance at sorted `times` for white noise of intensity 1, by way of
    /// `visit(index of the time, variance)`; NaN where nothing is known.
    pub(super) fn variances(&self, penalty: f64, times: &[f64], mut visit: impl FnMut(usize, f64)) {
        let knots = &self.knots;
        let variance = |i: usize| knots[i].variance([penalty]);
        let mut past = Vec::with_capacity(knots.len());
        let mut start = GaussianState::DIFFUSE;
        for number in 0..knots.len().div_ceil(BLOCK) {
            start = self.past([penalty], number, start, |known| past.push(known));
        }
        // From the last time back: what is known from the future goes along.
        let mut future = GaussianState::DIFFUSE;
        let mut ahead = knots.len(); // the first knot that `future` knows
        for (at, &time) in times.iter().enumerate().rev() {
            while ahead > 0 && knots[ahead - 1].time > time {
                ahead -= 1;
                let next = knots.get(ahead + 1);
                let gap = next.map_or(0.0, |next| next.time - knots[ahead].time);
                future = future.advance(gap).observe(0.0, variance(ahead));
            }
            let from_future = match knots.get(ahead) {
                Some(knot) => future.advance(knot.time - time),
                None => GaussianState::DIFFUSE,
            };
            let from_past = match ahead.checked_sub(1) {
                Some(i) => past[i]
                    .observe(0.0, variance(i))
                    .advance(time - knots[i].time),
                None => GaussianState::DIFFUSE,
            };
            let known = from_past.with(&from_future);
            visit(at, known.map_or(f64::NAN, |[_, variance]| variance.0[0]));
        }
    }
}

impl Knot {
    /// Of the noise with which its target is seen, for white noise of intensity 1.
    #[inline(always)]
    fn variance<const W: usize>(&self, penalties: [f64; W]) -> Pack<W> {
        Pack(penalties) * (1.0 / self.weight)
    }
}

/// Adds what one knot says to the sums, if it is observed.
#[inline(always)]
fn add<const W: usize>(sums: &mut [Sums; W], knot: &Knot, force: Pack<W>, stiffness: Pack<W>) {
    if knot.pinned {
        return;
    }
    let part = 1.0 / knot.weight;
    for (l, sums) in sums.iter_mut().enumerate() {
        sums.count += 1;
        sums.squares += force.0[l] * force.0[l] * part;
        sums.freedom += stiffness.0[l] * part;
    }
}
