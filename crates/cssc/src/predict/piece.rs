//! The stretch between two neighbouring known values of a channel, and departures from its chord.
//!
//! With W = (t - start)/length a departure is y(t) - (1-W) y(start) - W y(end): it vanishes at both
//! ends, so whatever is added to the chord leaves the known values as they are.

use crate::spline::makima_slope;

/// A stretch between two neighbouring known values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    /// Times of its ends.
    pub(super) start: f64,
    pub(super) end: f64,
    /// Values at its ends.
    pub(super) first: f64,
    pub(super) last: f64,
    /// Slopes before it: of the stretch just before, and of the one before that.
    pub(super) before: [f64; 2],
    /// Slopes after it.
    pub(super) after: [f64; 2],
}

impl Piece {
    /// The stretch behind the known value number `at`.
    pub(super) fn new(knots: &[f64], known: &[f64], at: usize) -> Self {
        let chord = |k: usize| (known[k + 1] - known[k]) / (knots[k + 1] - knots[k]);
        let own = chord(at);
        let left = |step: usize| at.checked_sub(step).map(chord);
        let right = |step: usize| (at + step + 1 < knots.len()).then(|| chord(at + step));
        // Beyond the ends slopes go on changing as they did, the rule of Akima's splines.
        let beyond = |nearer: f64, next: f64| 2.0 * nearer - next;
        let before = left(1).unwrap_or(beyond(own, right(1).unwrap_or(own)));
        let after = right(1).unwrap_or(beyond(own, left(1).unwrap_or(own)));
        let before = [before, left(2).unwrap_or(beyond(before, own))];
        let after = [after, right(2).unwrap_or(beyond(after, own))];
        Self {
            start: knots[at],
            end: knots[at + 1],
            first: known[at],
            last: known[at + 1],
            before,
            after,
        }
    }

    /// What lies beyond the first or the last known value, whichever is nearer to `time`: a stretch
    /// without length, whose chord is that value. Slopes are those of the last step and of the last four.
    pub(super) fn beyond(knots: &[f64], known: &[f64], time: f64) -> Self {
        let last = knots.len() - 1;
        let at = if time < knots[0] { 0 } else { last };
        let slope = |steps: usize| {
            let other = if at == 0 {
                steps.min(last)
            } else {
                last - steps.min(last)
            };
            match knots[at] - knots[other] {
                0.0 => 0.0,
                run => (known[at] - known[other]) / run,
            }
        };
        Self {
            start: knots[at],
            end: knots[at],
            first: known[at],
            last: known[at],
            before: [slope(1), slope(4)],
            after: [0.0; 2],
        }
    }

    /// Whether it lies beyond the known values.
    pub(super) fn is_edge(&self) -> bool {
        self.start == self.end
    }

    pub(super) fn length(&self) -> f64 {
        self.end - self.start
    }

    /// The part of the stretch that lies before `time`.
    pub(super) fn part(&self, time: f64) -> f64 {
        if self.is_edge() {
            return 0.0;
        }
        (time - self.start) / self.length()
    }

    /// The straight line between its ends.
    pub(super) fn chord(&self, part: f64) -> f64 {
        (1.0 - part) * self.first + part * self.last
    }

    fn slope(&self) -> f64 {
        (self.last - self.first) / self.length()
    }

    /// Departure of the cubic that leaves its start with slope `before` (the chord's at its end).
    pub(super) fn bend_before(&self, part: f64, before: f64) -> f64 {
        self.length() * part * (1.0 - part) * (1.0 - part) * (before - self.slope())
    }

    /// Departure of the cubic that reaches its end with slope `after` (the chord's at its start).
    pub(super) fn bend_after(&self, part: f64, after: f64) -> f64 {
        -self.length() * part * part * (1.0 - part) * (after - self.slope())
    }

    /// Departure of the modified Akima spline.
    pub(super) fn makima(&self, part: f64) -> f64 {
        let own = self.slope();
        let [b1, b2] = self.before;
        let [a1, a2] = self.after;
        let left = makima_slope([b2, b1, own, a1]);
        let right = makima_slope([b1, own, a1, a2]);
        self.bend_before(part, left) + self.bend_after(part, right)
    }
}

/// The two known values around a time; otherwise what is known there, or NaN outside.
pub(super) fn around(knots: &[f64], known: &[f64], time: f64) -> Result<Piece, f64> {
    let after = knots.partition_point(|&knot| knot < time);
    if knots.get(after) == Some(&time) {
        return Err(known[after]);
    }
    if after == 0 || after == knots.len() {
        return Err(f64::NAN);
    }
    Ok(Piece::new(knots, known, after - 1))
}

/// A departure from values at both ends.
pub(super) fn departure(part: f64, value: f64, ends: [f64; 2]) -> f64 {
    value - (1.0 - part) * ends[0] - part * ends[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Path, PiecewiseCubic, Side, SplineKind};

    #[test]
    fn the_departure_of_makima_is_that_of_the_whole_spline() {
        let knots = [0.0, 1.0, 2.0, 5.0, 6.0, 7.0, 9.0];
        let known = [1.0, 3.0, 2.0, 4.0, -1.0, 0.5, 2.0];
        let spline = PiecewiseCubic::fit(&knots, 1, &known, SplineKind::Makima).unwrap();
        for at in 0..knots.len() - 1 {
            let piece = Piece::new(&knots, &known, at);
            for part in [0.0, 0.25, 0.7, 1.0] {
                let time = piece.start + part * piece.length();
                let wanted = spline.sample(&[time], Side::Left).unwrap().value[0];
                let found = piece.chord(part) + piece.makima(part);
                assert!(
                    (found - wanted).abs() < 1e-12,
                    "{at} {part}: {found} {wanted}"
                );
            }
        }
    }
}
