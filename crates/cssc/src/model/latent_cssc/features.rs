//! Times relative to their series, as smooth features.
//!
//! With s(t) = (t - t₀)/(t_n - t₀) from 0 to 1 over the observations, the features are sin(kπs) and
//! cos(kπs) for k = 1, 2, …, and the logarithm of the span, so that series of different lengths can be
//! told apart. Their derivatives by t are known in closed form.

use crate::Jets;
use crate::nn::{Float, Graph, Var};
use std::f64::consts::PI;

/// First time and length of one series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Span {
    start: f64,
    length: f64,
}

impl Span {
    /// The span of times in any order; that of a single one has length 1.
    pub(super) fn of(times: &[f64]) -> Self {
        let start = times.iter().copied().fold(f64::INFINITY, f64::min);
        let end = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let length = if end > start { end - start } else { 1.0 };
        Self { start, length }
    }

    /// From 0 at the first observation to 1 at the last.
    pub(super) fn relative(&self, time: f64) -> f64 {
        (time - self.start) / self.length
    }

    /// What tells two spans apart.
    pub(super) fn bits(&self) -> [u64; 2] {
        [self.start, self.length].map(f64::to_bits)
    }

    /// How fast the relative time grows.
    pub(super) fn rate(&self) -> f64 {
        1.0 / self.length
    }
}

/// Number of features of a time.
pub(super) fn count(frequencies: usize) -> usize {
    2 * frequencies + 1
}

/// Appends the `derivative`-th derivative by time of the features at `time`.
pub(super) fn append<T: Float>(
    numbers: &mut Vec<T>,
    frequencies: usize,
    span: Span,
    time: f64,
    derivative: u8,
) {
    // Sine and cosine of every multiple from the one before: exact to a few units of the last place, and far cheaper.
    let (first_sin, first_cos) = (PI * span.relative(time)).sin_cos();
    let (mut sin, mut cos) = (0.0, 1.0);
    for k in 1..=frequencies {
        (sin, cos) = (
            sin * first_cos + cos * first_sin,
            cos * first_cos - sin * first_sin,
        );
        let rate = k as f64 * PI * span.rate();
        let [sine, cosine] = match derivative {
            0 => [sin, cos],
            1 => [rate * cos, -rate * sin],
            _ => [-rate * rate * sin, -rate * rate * cos],
        };
        numbers.push(T::from_f64(sine));
        numbers.push(T::from_f64(cosine));
    }
    let length = if derivative == 0 {
        span.length.ln()
    } else {
        0.0
    };
    numbers.push(T::from_f64(length));
}

/// Features of the times of many series, each with its span, as one block of the `derivative`.
fn block<T: Float>(
    graph: &mut Graph<'_, T>,
    frequencies: usize,
    times: &[(Span, f64)],
    derivative: u8,
) -> Var {
    let mut numbers = Vec::with_capacity(times.len() * count(frequencies));
    for &(span, time) in times {
        append(&mut numbers, frequencies, span, time, derivative);
    }
    graph.input(times.len(), count(frequencies), &numbers)
}

/// Features without derivatives.
pub(super) fn values<T: Float>(
    graph: &mut Graph<'_, T>,
    frequencies: usize,
    times: &[(Span, f64)],
) -> Var {
    block(graph, frequencies, times, 0)
}

/// Features with their derivatives.
pub(super) fn jets<T: Float>(
    graph: &mut Graph<'_, T>,
    frequencies: usize,
    times: &[(Span, f64)],
) -> Jets<Var> {
    Jets {
        value: block(graph, frequencies, times, 0),
        slope: block(graph, frequencies, times, 1),
        curvature: block(graph, frequencies, times, 2),
    }
}
