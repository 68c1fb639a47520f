//! One panel: a channel with its curves and points, or its compensation.

use crate::canvas::{Anchor, PAPER};
use crate::canvas::{
    COMPENSATION, Canvas, FILLED, GAP, HAIRLINE, OBSERVED, PREDICTED, Place, QUIET, SMOOTHED,
    Stroke, TextStyle, rectangle,
};
use crate::content::{ChannelPicture, Curve, Points};
use crate::decimate;
use crate::ticks::{self, Tick};
use std::ops::Range;

pub(crate) const SMOOTHED_LINE: Stroke = Stroke::new(SMOOTHED, 1.6);
pub(crate) const PREDICTED_LINE: Stroke = Stroke::new(PREDICTED, 1.0).dashed(4.0, 2.5);
/// How opaque a band is.
pub(crate) const BAND: f32 = 0.16;
const TICK_TEXT: f32 = 11.0;

/// Where a panel stands and what it spans.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) left: f32,
    pub(crate) right: f32,
    pub(crate) top: f32,
    pub(crate) bottom: f32,
    pub(crate) times: (f64, f64),
    pub(crate) values: (f64, f64),
}

impl Panel {
    /// The place of a time and a value; what lies outside is moved to the edge.
    fn place(&self, time: f64, value: f64) -> Place {
        let part = |(start, end): (f64, f64), at: f64| {
            let part = (at - start) / (end - start);
            if part.is_finite() {
                part.clamp(0.0, 1.0) as f32
            } else {
                0.5
            }
        };
        let x = self.left + part(self.times, time) * (self.right - self.left);
        let y = self.bottom - part(self.values, value) * (self.bottom - self.top);
        (x, y)
    }

    /// Buckets of the decimation: one a pixel.
    fn buckets(&self) -> usize {
        (self.right - self.left) as usize
    }

    /// Marks of the value axis.
    pub(crate) fn value_ticks(&self) -> Vec<Tick> {
        let most = ((self.bottom - self.top) / 32.0).max(3.0) as usize;
        ticks::of_numbers(self.values.0, self.values.1, most)
    }

    /// Gaps, then lines and labels of the values, and lines at `times`.
    pub(crate) fn draw_ground(&self, gaps: &[(f64, f64)], times: &[Tick], canvas: &mut dyn Canvas) {
        for &(start, end) in gaps {
            let ((left, _), (right, _)) = (self.place(start, 0.0), self.place(end, 0.0));
            if right - left >= 0.5 {
                let outline = rectangle((left, self.top), (right, self.bottom));
                canvas.area(&outline, GAP);
            }
        }
        for tick in times {
            let (x, _) = self.place(tick.at, 0.0);
            let line = [(x, self.top), (x, self.bottom)];
            canvas.line(&line, Stroke::new(HAIRLINE, 1.0));
        }
        let style = TextStyle::new(TICK_TEXT, QUIET, Anchor::End);
        for tick in self.value_ticks() {
            let (_, y) = self.place(0.0, tick.at);
            canvas.line(
                &[(self.left, y), (self.right, y)],
                Stroke::new(HAIRLINE, 1.0),
            );
            canvas.text((self.left - 7.0, y + 0.36 * TICK_TEXT), &tick.label, style);
        }
    }

    /// Labels of the time axis under the panel.
    pub(crate) fn draw_times(&self, times: &[Tick], canvas: &mut dyn Canvas) {
        let style = TextStyle::new(TICK_TEXT, QUIET, Anchor::Middle);
        for tick in times {
            let (x, _) = self.place(tick.at, 0.0);
            canvas.text((x, self.bottom + 16.0), &tick.label, style);
            if let Some(context) = &tick.context {
                canvas.text((x, self.bottom + 30.0), context, style.bold());
            }
        }
    }

    /// Everything known about a channel.
    pub(crate) fn draw_channel(&self, channel: &ChannelPicture, canvas: &mut dyn Canvas) {
        if let Some(curve) = &channel.curve {
            if let Some((lower, upper)) = &curve.band {
                self.draw_band(&curve.times, lower, upper, canvas);
            }
            if let Some(predicted) = &curve.predicted {
                self.draw_line(&curve.times, predicted, PREDICTED_LINE, canvas);
            }
            self.draw_line(&curve.times, &curve.smoothed, SMOOTHED_LINE, canvas);
        }
        let points = [&channel.observed, &channel.filled];
        let radius = self.radius(points.map(|points| points.times.len()).iter().sum());
        canvas.dots(
            &self.places(&channel.observed, radius),
            radius,
            OBSERVED.faded(if radius < 1.5 { 0.5 } else { 1.0 }),
        );
        let filled = self.places(&channel.filled, radius);
        if radius > 2.0 {
            canvas.dots(&filled, radius + 1.0, PAPER);
        }
        canvas.dots(&filled, radius.max(1.5), FILLED);
    }

    /// The compensation, shaded down to zero.
    pub(crate) fn draw_compensation(&self, times: &[f64], values: &[f64], canvas: &mut dyn Canvas) {
        for run in self.runs(times, &[values]) {
            let (_, zero) = self.place(0.0, 0.0);
            let line: Vec<Place> = run
                .iter()
                .map(|&at| self.place(times[at], values[at]))
                .collect();
            let (Some(first), Some(last)) = (line.first(), line.last()) else {
                continue;
            };
            let mut outline = line.clone();
            outline.extend([(last.0, zero), (first.0, zero)]);
            canvas.area(&outline, COMPENSATION.faded(BAND));
            canvas.line(&line, Stroke::new(COMPENSATION, 1.2));
        }
    }

    fn draw_band(&self, times: &[f64], lower: &[f64], upper: &[f64], canvas: &mut dyn Canvas) {
        for run in self.runs(times, &[lower, upper]) {
            let side = |values: &[f64]| -> Vec<Place> {
                run.iter()
                    .map(|&at| self.place(times[at], values[at]))
                    .collect()
            };
            let mut outline = side(lower);
            outline.extend(side(upper).into_iter().rev());
            canvas.area(&outline, SMOOTHED.faded(BAND));
        }
    }

    fn draw_line(&self, times: &[f64], values: &[f64], stroke: Stroke, canvas: &mut dyn Canvas) {
        for run in self.runs(times, &[values]) {
            let places = run.iter().map(|&at| self.place(times[at], values[at]));
            canvas.line(&places.collect::<Vec<_>>(), stroke);
        }
    }

    /// The indices to draw, cut where a column is not known.
    fn runs(&self, times: &[f64], columns: &[&[f64]]) -> Vec<Vec<usize>> {
        let kept = decimate::kept(times, columns, self.buckets());
        let known = |&at: &usize| columns.iter().all(|column| column[at].is_finite());
        kept.split(|at| !known(at))
            .filter(|run| !run.is_empty())
            .map(<[usize]>::to_vec)
            .collect()
    }

    fn places(&self, points: &Points, radius: f32) -> Vec<Place> {
        let (times, values): (Vec<f64>, Vec<f64>) = points.known().unzip();
        // A bucket as wide as a dot: more would only hide each other.
        let buckets = self.buckets() as f32 / (2.0 * radius);
        let kept = decimate::kept(&times, &[&values], buckets as usize);
        kept.into_iter()
            .map(|at| self.place(times[at], values[at]))
            .collect()
    }

    /// Dots that do not drown each other.
    fn radius(&self, count: usize) -> f32 {
        let room = (self.right - self.left) / count.max(1) as f32;
        (0.3 * room).clamp(1.0, 3.0)
    }
}

/// Smallest and largest value to be shown: all points and ô, and o and bands unless they go far beyond.
pub(crate) fn value_range(channel: &ChannelPicture) -> (f64, f64) {
    let points = [&channel.observed, &channel.filled];
    let points = points.into_iter().flat_map(|points| points.values.iter());
    let curve = channel.curve.iter().flat_map(|curve| curve.smoothed.iter());
    let inner = range(points.chain(curve));
    let room = 0.5 * (inner.end - inner.start);
    let others = channel.curve.iter().flat_map(beside_smoothed);
    let outer = range(others.into_iter());
    let low = inner.start.min(outer.start.max(inner.start - room));
    let high = inner.end.max(outer.end.min(inner.end + room));
    padded(low, high)
}

/// Of the compensation; zero is always inside.
pub(crate) fn compensation_range(values: &[f64]) -> (f64, f64) {
    let found = range(values.iter());
    padded(found.start.min(0.0), found.end.max(0.0))
}

fn beside_smoothed(curve: &Curve) -> Vec<&f64> {
    let band = curve
        .band
        .iter()
        .flat_map(|(lower, upper)| lower.iter().chain(upper));
    curve.predicted.iter().flatten().chain(band).collect()
}

fn range<'a>(values: impl Iterator<Item = &'a f64>) -> Range<f64> {
    let known = values.copied().filter(|value| value.is_finite());
    known.fold(f64::INFINITY..f64::NEG_INFINITY, |range, value| {
        range.start.min(value)..range.end.max(value)
    })
}

fn padded(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let room = match high - low {
        0.0 => (0.1 * low.abs()).max(0.5),
        length => 0.07 * length,
    };
    (low - room, high + room)
}
