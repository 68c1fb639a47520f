//! From a series to one smoothing problem a channel, by folding and pinning, and back.

use super::channel::{Channel, Knot};
use super::options::SmoothOptions;
use crate::compensate::{OwnKnot, Plan};
use crate::error::Error;
use crate::path::{Jets, Path};
use crate::spline::PiecewiseCubic;

/// The problems of all channels of a planned series.
pub(super) fn with_prediction(
    plan: &Plan,
    values: &[f64],
    left: Jets<&[f64]>,
    right: Jets<&[f64]>,
    options: &SmoothOptions,
) -> Vec<Channel> {
    let series = Series {
        plan,
        values,
        left,
        right,
        options,
    };
    let mut problems: Vec<Option<Channel>> = vec![None; plan.channels()];
    for (channels, group) in plan.groups() {
        for &channel in channels {
            problems[channel] = Some(series.channel(&group.own, channel));
        }
    }
    let planned = |problem: Option<Channel>| problem.expect("every channel belongs to a group");
    problems.into_iter().map(planned).collect()
}

/// The problems of all channels for a prediction that is zero and says nothing.
pub(super) fn without_prediction(
    times: &[f64],
    channels: usize,
    values: &[f64],
    options: &SmoothOptions,
) -> Vec<Channel> {
    let knot = |index: usize, channel: usize| {
        let at = index * channels + channel;
        let seen = Knot {
            index,
            time: times[index],
            target: values[at],
            weight: options.weight(at),
            pinned: false,
            kick: 0.0,
        };
        (!values[at].is_nan()).then_some(seen)
    };
    let problem = |channel| Channel {
        knots: (0..times.len())
            .filter_map(|index| knot(index, channel))
            .collect(),
    };
    (0..channels).map(problem).collect()
}

struct Series<'a> {
    plan: &'a Plan,
    values: &'a [f64],
    left: Jets<&'a [f64]>,
    right: Jets<&'a [f64]>,
    options: &'a SmoothOptions,
}

impl Series<'_> {
    fn channel(&self, own: &[OwnKnot], channel: usize) -> Channel {
        let place = |knot: usize| knot * self.plan.channels() + channel;
        let weights = own
            .iter()
            .filter(|knot| !knot.pinned)
            .map(|knot| self.options.weight(place(knot.index)));
        let (sum, count) = weights.fold((0.0, 0.0), |(sum, n), w| (sum + w, n + 1.0));
        let mean = if count > 0.0 { sum / count } else { 1.0 };
        let knot = |knot: &OwnKnot| Knot {
            index: knot.index,
            time: self.plan.times()[knot.index],
            target: self.target(knot, channel),
            weight: if knot.pinned {
                mean * self.options.pin_weight
            } else {
                self.options.weight(place(knot.index))
            },
            pinned: knot.pinned,
            kick: 0.0,
        };
        let mut knots: Vec<Knot> = own.iter().map(knot).collect();
        self.kick(&mut knots, channel);
        Channel { knots }
    }

    /// Masking or prediction, as [`Plan::forward`] does it.
    fn target(&self, knot: &OwnKnot, channel: usize) -> f64 {
        let at = knot.index * self.plan.channels() + channel;
        let is_last = knot.index + 1 == self.plan.times().len();
        match (knot.pinned, is_last, self.options.last_value) {
            (false, ..) => self.values[at],
            (true, true, crate::Side::Left) => self.left.value[at],
            (true, ..) => self.right.value[at],
        }
    }

    /// The kicks at inner knots: minus the changes of the slope of the prediction's chords,
    /// and its own jump of slope. Curvatures do not matter (see the module's page), so jumps
    /// are folded by value and slope alone.
    fn kick(&self, knots: &mut [Knot], channel: usize) {
        let (times, channels) = (self.plan.times(), self.plan.channels());
        let mut before: Option<[f64; 2]> = None; // chord, and slope at its end
        for i in 0..knots.len() - 1 {
            let (a, b) = (knots[i].index, knots[i + 1].index);
            let at = |knot: usize| knot * channels + channel;
            let mut value = self.left.value[at(b)];
            let mut slope = self.left.slope[at(b)];
            for knot in a + 1..b {
                let jump = |limits: fn(&Jets<&[f64]>, usize) -> f64| {
                    limits(&self.right, at(knot)) - limits(&self.left, at(knot))
                };
                let [jump, bend] = [jump(|l, at| l.value[at]), jump(|l, at| l.slope[at])];
                value -= jump + bend * (times[b] - times[knot]);
                slope -= bend;
            }
            let chord = (self.right.value[at(a)] - value) / (times[b] - times[a]);
            if let Some([chord_before, slope_before]) = before {
                let bend = self.right.slope[at(a)] - slope_before;
                knots[i].kick = chord_before - chord - bend;
            }
            before = Some([chord, slope]);
        }
    }
}

/// The same spline, straight before the first and after the last own knot of each channel.
pub(super) fn straight_outside(
    spline: &PiecewiseCubic,
    problems: &[Channel],
) -> Result<PiecewiseCubic, Error> {
    let (times, channels) = (spline.knots(), spline.channels());
    let mut coefficients = spline.coefficients().to_vec();
    for (j, channel) in problems.iter().enumerate() {
        let mut straighten = |piece: usize, from: f64, [value, slope]: [f64; 2]| {
            let line = [value + slope * (times[piece] - from), slope, 0.0, 0.0];
            for (power, number) in line.into_iter().enumerate() {
                coefficients[(piece * 4 + power) * channels + j] = number;
            }
        };
        let [first, last] = [0, channel.knots.len() - 1].map(|i| channel.knots[i]);
        for piece in 0..first.index.min(spline.pieces()) {
            let [value, slope, ..] = spline.piece(first.index.min(spline.pieces() - 1), j);
            straighten(piece, first.time, [value, slope]);
        }
        for piece in last.index..spline.pieces() {
            let [value, slope, ..] = spline.piece(last.index, j);
            straighten(piece, last.time, [value, slope]);
        }
    }
    PiecewiseCubic::new(times.to_vec(), channels, coefficients)
}
