//! The rough part of what is left over, given to o as narrow bumps.
//!
//! An exact curve passes the noise of observations on: where two of them are close, the spline of the residuals
//! r_k = x_k - o(t_k) swings far out beside them. Even with a perfect o this is most of the error on toy-v1. So a part
//! p_k of every residual becomes a bump of o that ends before the neighbouring observations, and c has only the rest to
//! carry:
//!
//! ```text
//! o'(t) = o(t) + Σ p_k φ((t - t_k)/g_k)      φ(u) = (1 - u²)³ inside |u| < 1, 0 outside: twice differentiable
//! p = r - r',   r' smoother than r by sweeps   r_k <- r_k - b_k (r_k - line through the residuals beside it)
//! ```
//!
//! g_k is the smaller gap beside t_k; the gates b in (0, 1), one a sweep, are read from the observation's token and the
//! gaps beside it, and are trained with everything else. A smooth r has nothing to give: where two observations are
//! close, r and the line differ by as little as their gap. (A part of r_k itself would tear close neighbours apart: that
//! was tried, and the curve swung out of all bounds.)
//!
//! o' is smooth and has no jumps, so Theorem 1 holds as before: ô passes through all observations and is C². The loss
//! counts bumps with c, α|ô - o|², so that o stays a prediction by itself.

use super::config::LatentCsscConfig;
use super::decoder::Flow;
use super::encoder::linear;
use super::features::Span;
use crate::data::Random;
use crate::model::Observed;
use crate::model::rows::codes_of;
use crate::nn::{Activation, Dense, Float, Graph, Layer, Parameters, Var};

/// Where the gates begin: nearly closed.
const CLOSED: f64 = -3.0;
/// Gaps enter as logarithms of their share of the series, this many of them.
const GAPS: usize = 2;

/// The gates.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Bumps {
    channels: usize,
    sweeps: usize,
    of_token: Dense,
    of_gaps: Dense,
}

/// For every place the bumps over it: knot, and value, slope and curvature of φ there.
pub(super) struct Reach {
    entries: Vec<(usize, [f64; 3])>,
    offsets: Vec<usize>,
}

/// What is known of the knots of a batch, as blocks of numbers.
struct Knots<T> {
    /// Observations, 0 where there is none, and whether there is one.
    values: Vec<T>,
    seen: Vec<T>,
    /// Whether the observation has one on both sides in its channel.
    between: Vec<T>,
    /// Shares of the line to the two neighbours, where there are two.
    line: Vec<Option<[f64; 2]>>,
    gaps: Vec<T>,
}

impl Bumps {
    pub(super) fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &LatentCsscConfig,
        random: &mut Random,
    ) -> Self {
        let gates = config.sweeps * config.channels;
        let bumps = Self {
            channels: config.channels,
            sweeps: config.sweeps,
            of_token: linear(parameters, "bumps.token", [config.width, gates], random),
            of_gaps: linear(parameters, "bumps.gaps", [GAPS, gates], random),
        };
        for name in ["bumps.token", "bumps.gaps"] {
            parameters.embed(name);
        }
        if !parameters.is_blank()
            && let Some(id) = parameters.find("bumps.token.bias")
        {
            let range = parameters.range(id);
            parameters.values_mut()[range].fill(T::from_f64(CLOSED));
        }
        bumps
    }

    /// The bumps at all places, for o there; `knots` are the places of the observations.
    pub(super) fn forward<T: Float, F: Flow<T>>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        tokens: Var,
        knots: &[usize],
        (curve, reach): (F, &Reach),
    ) -> F {
        let about = Knots::<T>::of(series, self.channels);
        let rows = knots.len();
        let [seen, between] =
            [&about.seen, &about.between].map(|numbers| graph.input(rows, self.channels, numbers));
        let values = codes_of(graph, series)
            .unwrap_or_else(|| graph.input(rows, self.channels, &about.values));
        let at_knots = graph.collect(&[curve.value()], knots.iter().map(|&place| (0, place)));
        let residual = graph.difference(values, at_knots);
        let residual = graph.product(residual, seen);
        let gaps = graph.input(rows, GAPS, &about.gaps);
        let gates = self.of_token.forward(graph, tokens);
        let more = self.of_gaps.forward(graph, gaps);
        let gates = graph.sum(gates, more);
        let gates = graph.activate(gates, Activation::Sigmoid);
        let mut smoother = residual;
        for sweep in 0..self.sweeps {
            let line = about.lines(graph, smoother);
            let rough = graph.difference(smoother, line);
            let rough = graph.product(rough, between);
            let gate = graph.columns_of(gates, sweep * self.channels, self.channels);
            let part = graph.product(gate, rough);
            smoother = graph.difference(smoother, part);
        }
        let height = graph.difference(residual, smoother);
        F::reached(graph, height, reach)
    }
}

impl Reach {
    /// The bumps over the `places` (series, its span, time) of series that stand one after the other.
    pub(super) fn new(series: &[Observed<'_>], places: &[(usize, Span, f64)]) -> Self {
        let mut reach = Self {
            entries: Vec::new(),
            offsets: vec![0],
        };
        let firsts: Vec<usize> = series
            .iter()
            .scan(0, |sum, series| {
                let first = *sum;
                *sum += series.times.len();
                Some(first)
            })
            .collect();
        for &(number, _, time) in places {
            let times = series[number].times;
            let after = times.partition_point(|&knot| knot <= time);
            for knot in after.saturating_sub(1)..(after + 1).min(times.len()) {
                let gap = smaller_gap(times, knot);
                let u = (time - times[knot]) / gap;
                let left = 1.0 - u * u;
                if left > 0.0 {
                    let jet = [
                        left.powi(3),
                        -6.0 * u * left * left / gap,
                        left * (30.0 * u * u - 6.0) / (gap * gap),
                    ];
                    reach.entries.push((firsts[number] + knot, jet));
                }
            }
            reach.offsets.push(reach.entries.len());
        }
        reach
    }

    /// The sum of the bumps' `derivative` at every place, for heights [knots, channels].
    pub(super) fn mix<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        height: Var,
        derivative: usize,
    ) -> Var {
        graph.mix(&[height], |rows| {
            for range in self.offsets.windows(2) {
                for &(knot, jet) in &self.entries[range[0]..range[1]] {
                    rows.term(0, knot, T::from_f64(jet[derivative]));
                }
                rows.end_row();
            }
        })
    }
}

/// The smaller gap beside a knot; a single one has all the time there is.
fn smaller_gap(times: &[f64], knot: usize) -> f64 {
    let before = knot
        .checked_sub(1)
        .map(|before| times[knot] - times[before]);
    let after = times.get(knot + 1).map(|after| after - times[knot]);
    match (before, after) {
        (Some(before), Some(after)) => before.min(after),
        (Some(gap), None) | (None, Some(gap)) => gap,
        (None, None) => 1.0,
    }
}

impl<T: Float> Knots<T> {
    /// For every knot the line through its two neighbours.
    fn lines(&self, graph: &mut Graph<'_, T>, residual: Var) -> Var {
        graph.mix(&[residual], |rows| {
            for (knot, shares) in self.line.iter().enumerate() {
                if let Some([before, after]) = shares {
                    rows.term(0, knot - 1, T::from_f64(*before)).term(
                        0,
                        knot + 1,
                        T::from_f64(*after),
                    );
                }
                rows.end_row();
            }
        })
    }

    fn of(series: &[Observed<'_>], channels: usize) -> Self {
        let mut about = Self {
            values: Vec::new(),
            seen: Vec::new(),
            between: Vec::new(),
            line: Vec::new(),
            gaps: Vec::new(),
        };
        let flag = |seen: bool| if seen { T::ONE } else { T::ZERO };
        for series in series {
            let (times, values) = (series.times, series.values);
            let length = Span::of(times).rate().recip();
            let seen = |knot: usize, channel: usize| !values[knot * channels + channel].is_nan();
            for knot in 0..times.len() {
                let inner = knot > 0 && knot + 1 < times.len();
                for channel in 0..channels {
                    let here = seen(knot, channel);
                    let value = values[knot * channels + channel];
                    about
                        .values
                        .push(T::from_f64(if here { value } else { 0.0 }));
                    about.seen.push(flag(here));
                    let both = inner && seen(knot - 1, channel) && seen(knot + 1, channel);
                    about.between.push(flag(here && both));
                }
                about.line.push(inner.then(|| {
                    let part =
                        (times[knot] - times[knot - 1]) / (times[knot + 1] - times[knot - 1]);
                    [1.0 - part, part]
                }));
                // An end has no gap on one side: as wide as the series.
                let before = if knot > 0 {
                    times[knot] - times[knot - 1]
                } else {
                    length
                };
                let after = times
                    .get(knot + 1)
                    .map_or(length, |after| after - times[knot]);
                let share = |gap: f64| T::from_f64((gap / length).ln());
                about.gaps.extend([share(before), share(after)]);
            }
        }
        about
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bump_is_one_at_its_knot_and_nothing_at_the_others() {
        let series = [Observed::new(&[0.0, 1.0, 1.5, 4.0], &[0.0; 4], &[])];
        let span = Span::of(series[0].times);
        let times = [0.0, 0.5, 1.0, 1.25, 1.5, 3.0, 4.0];
        let places: Vec<_> = times.iter().map(|&time| (0, span, time)).collect();
        let reach = Reach::new(&series, &places);
        let of = |place: usize| &reach.entries[reach.offsets[place]..reach.offsets[place + 1]];
        for (place, knot) in [(0, 0), (2, 1), (4, 2), (6, 3)] {
            let found = of(place);
            assert_eq!(
                (found.len(), found[0].0, found[0].1[0]),
                (1, knot, 1.0),
                "{place}"
            );
        }
        // Between the two close knots both reach, each as far as the gap; far from all none does.
        let half = 0.75_f64.powi(3);
        let values: Vec<(usize, f64)> = of(3).iter().map(|(knot, jet)| (*knot, jet[0])).collect();
        assert_eq!(values, [(1, half), (2, half)]);
        assert_eq!(
            of(5).len(),
            1,
            "only the bump of the last knot is that wide"
        );
    }

    #[test]
    fn slope_and_curvature_of_a_bump_are_those_of_its_value() {
        let series = [Observed::new(&[0.0, 2.0], &[0.0; 2], &[])];
        let span = Span::of(series[0].times);
        let jet = |time: f64| Reach::new(&series, &[(0, span, time)]).entries[0].1;
        let h = 1e-5;
        for time in [0.1, 0.7, 1.3, 1.9] {
            let (before, here, after) = (jet(time - h), jet(time), jet(time + h));
            for derivative in 0..2 {
                let slope = (after[derivative] - before[derivative]) / (2.0 * h);
                assert!((slope - here[derivative + 1]).abs() < 1e-7, "{time}");
            }
        }
    }
}
