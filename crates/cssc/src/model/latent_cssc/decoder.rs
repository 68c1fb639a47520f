//! From times asked to the curve o(t): the same steps for values and for values with derivatives.

use super::bumps::Reach;
use super::config::LatentCsscConfig;
use super::encoder::{feed_forward, linear};
use super::features::{self, Span};
use crate::Jets;
use crate::data::Random;
use crate::nn::{Activation, AttentionGroups, Dense, Float, Graph, Layer, Mlp, Parameters, Var};
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Size of the output's weights at the beginning, as a part of the usual.
const START_OF_OUTPUT: f64 = 0.3;

/// What passes the decoder: values, or values with their derivatives by time.
pub(super) trait Flow<T: Float>: Copy {
    /// Features of times.
    fn features(graph: &mut Graph<'_, T>, frequencies: usize, times: &[(Span, f64)]) -> Self;

    /// phase + s·frequency for rows of a block per series: the arguments of sines.
    fn angles(graph: &mut Graph<'_, T>, places: &[(usize, Span, f64)], code: [Var; 2]) -> Self;

    /// A row of each series for its times.
    fn constant(graph: &mut Graph<'_, T>, places: &[(usize, Span, f64)], rows: Var) -> Self;

    /// The values alone.
    fn value(self) -> Var;

    /// Bumps of heights [knots, channels] at all places.
    fn reached(graph: &mut Graph<'_, T>, height: Var, reach: &Reach) -> Self;

    /// Some of the rows, in any order and as often as wanted.
    fn rows(self, graph: &mut Graph<'_, T>, rows: &[usize]) -> Self;

    /// The sine of every number.
    fn sine(self, graph: &mut Graph<'_, T>) -> Self;

    /// A layer.
    fn pass(self, graph: &mut Graph<'_, T>, layer: &impl Layer<T>) -> Self;

    /// The sum of both.
    fn plus(self, graph: &mut Graph<'_, T>, other: Self) -> Self;

    /// What the queries see.
    fn attend(
        self,
        graph: &mut Graph<'_, T>,
        seen: [Var; 2],
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Self;
}

impl<T: Float> Flow<T> for Var {
    fn features(graph: &mut Graph<'_, T>, frequencies: usize, times: &[(Span, f64)]) -> Self {
        features::values(graph, frequencies, times)
    }

    fn angles(graph: &mut Graph<'_, T>, places: &[(usize, Span, f64)], code: [Var; 2]) -> Self {
        graph.mix(&code, |rows| {
            for &(series, span, time) in places {
                let relative = T::from_f64(span.relative(time));
                rows.term(0, series, T::ONE)
                    .term(1, series, relative)
                    .end_row();
            }
        })
    }

    fn constant(graph: &mut Graph<'_, T>, places: &[(usize, Span, f64)], rows: Var) -> Self {
        graph.collect(&[rows], places.iter().map(|&(series, ..)| (0, series)))
    }

    fn value(self) -> Var {
        self
    }

    fn reached(graph: &mut Graph<'_, T>, height: Var, reach: &Reach) -> Self {
        reach.mix(graph, height, 0)
    }

    fn rows(self, graph: &mut Graph<'_, T>, rows: &[usize]) -> Self {
        graph.collect(&[self], rows.iter().map(|&row| (0, row)))
    }

    fn sine(self, graph: &mut Graph<'_, T>) -> Self {
        graph.activate(self, Activation::Sine)
    }

    fn pass(self, graph: &mut Graph<'_, T>, layer: &impl Layer<T>) -> Self {
        layer.forward(graph, self)
    }

    fn plus(self, graph: &mut Graph<'_, T>, other: Self) -> Self {
        graph.sum(self, other)
    }

    fn attend(
        self,
        graph: &mut Graph<'_, T>,
        [keys, values]: [Var; 2],
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Self {
        graph.attention([self, keys, values], heads, groups)
    }
}

impl<T: Float> Flow<T> for Jets<Var> {
    fn features(graph: &mut Graph<'_, T>, frequencies: usize, times: &[(Span, f64)]) -> Self {
        features::jets(graph, frequencies, times)
    }

    fn angles(graph: &mut Graph<'_, T>, places: &[(usize, Span, f64)], code: [Var; 2]) -> Self {
        let value = Var::angles(graph, places, code);
        let slope = graph.mix(&code, |rows| {
            for &(series, span, _) in places {
                rows.term(1, series, T::from_f64(span.rate())).end_row();
            }
        });
        Jets {
            value,
            slope,
            curvature: graph.zeros_like(slope),
        }
    }

    fn constant(graph: &mut Graph<'_, T>, places: &[(usize, Span, f64)], rows: Var) -> Self {
        let value = Var::constant(graph, places, rows);
        let zeros = graph.zeros_like(value);
        Jets {
            value,
            slope: zeros,
            curvature: zeros,
        }
    }

    fn value(self) -> Var {
        self.value
    }

    fn reached(graph: &mut Graph<'_, T>, height: Var, reach: &Reach) -> Self {
        Jets {
            value: reach.mix(graph, height, 0),
            slope: reach.mix(graph, height, 1),
            curvature: reach.mix(graph, height, 2),
        }
    }

    fn rows(self, graph: &mut Graph<'_, T>, rows: &[usize]) -> Self {
        self.map(|var| var.rows(graph, rows))
    }

    fn sine(self, graph: &mut Graph<'_, T>) -> Self {
        let sine = Activation::Sine;
        let value = graph.activate(self.value, sine);
        let from_input = sine.source_is_input();
        let source = if from_input { self.value } else { value };
        Jets {
            value,
            slope: graph.tangent(source, self.slope, sine),
            curvature: graph.curve(source, self.slope, self.curvature, sine),
        }
    }

    fn pass(self, graph: &mut Graph<'_, T>, layer: &impl Layer<T>) -> Self {
        layer.jet(graph, self)
    }

    fn plus(self, graph: &mut Graph<'_, T>, other: Self) -> Self {
        self.zip(other, |a, b| graph.sum(a, b))
    }

    fn attend(
        self,
        graph: &mut Graph<'_, T>,
        seen: [Var; 2],
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Self {
        graph.attention_jet(self, seen, heads, groups)
    }
}

/// The decoder.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Decoder {
    heads: usize,
    frequencies: usize,
    time: Dense,
    code: Dense,
    angles: Dense,
    second_sines: Dense,
    sines: Dense,
    code_shift: Dense,
    queries: Dense,
    seen: [Dense; 2],
    merge: Dense,
    network: Mlp,
    output: Dense,
}

impl Decoder {
    pub(super) fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &LatentCsscConfig,
        random: &mut Random,
    ) -> Self {
        let (width, sines, code) = (config.width, config.sines, config.code);
        let mut dense = |parameters: &mut Parameters<T>, part: &str, sizes: [usize; 2]| {
            linear(parameters, &format!("decoder.{part}"), sizes, random)
        };
        let features = features::count(config.frequencies);
        let time = dense(parameters, "time", [features, width]);
        let code_layer = dense(parameters, "code", [width, code]);
        let angles = dense(parameters, "angles", [code, 2 * sines]);
        let decoder = Self {
            heads: config.heads,
            frequencies: config.frequencies,
            time,
            code: code_layer,
            angles,
            second_sines: dense(parameters, "second-sines", [sines, sines]),
            sines: dense(parameters, "sines", [sines, width]),
            code_shift: dense(parameters, "code-shift", [code, width]),
            queries: dense(parameters, "queries", [width, width]),
            seen: ["keys", "values"].map(|part| dense(parameters, part, [width, width])),
            merge: dense(parameters, "merge", [width, width]),
            output: dense(parameters, "output", [width, config.channels]),
            network: feed_forward(parameters, "decoder.network", config, random),
        };
        for name in ["time", "code", "angles", "sines", "output"] {
            parameters.embed(&format!("decoder.{name}"));
        }
        set_start(parameters, config, random);
        decoder
    }

    /// o at the places asked (series, its span, time), which stand series by series.
    pub(super) fn forward<T: Float, F: Flow<T>>(
        &self,
        graph: &mut Graph<'_, T>,
        tokens: Var,
        groups: AttentionGroups<'_>,
        places: &[(usize, Span, f64)],
    ) -> F {
        let mean = graph.group_means(tokens, groups.keys);
        let code = self.code.forward(graph, mean);
        let angles = self.angles.forward(graph, code);
        let half = graph.columns(angles) / 2;
        let parts = [0, half].map(|first| graph.columns_of(angles, first, half));
        let (times, time_of) = distinct(places);

        let angles = F::angles(graph, places, parts);
        let sines = angles
            .sine(graph)
            .pass(graph, &self.second_sines)
            .sine(graph)
            .pass(graph, &self.sines);
        let shift = self.code_shift.forward(graph, code);
        let shift = F::constant(graph, places, shift);
        let h = F::features(graph, self.frequencies, &times)
            .pass(graph, &self.time)
            .rows(graph, &time_of)
            .plus(graph, sines)
            .plus(graph, shift);
        let seen = self.seen.map(|dense| dense.forward(graph, tokens));
        let seen = h
            .pass(graph, &self.queries)
            .attend(graph, seen, self.heads, groups)
            .pass(graph, &self.merge);
        let h = h.plus(graph, seen);
        let more = h.pass(graph, &self.network);
        h.plus(graph, more).pass(graph, &self.output)
    }
}

/// The times of all places, each once, and the number of every place's own: series on one grid share what depends on
/// time alone.
fn distinct(places: &[(usize, Span, f64)]) -> (Vec<(Span, f64)>, Vec<usize>) {
    let mut numbers = HashMap::new();
    let mut times = Vec::new();
    let number = |&(_, span, time): &(usize, Span, f64)| {
        *numbers
            .entry((span.bits(), time.to_bits()))
            .or_insert_with(|| {
                times.push((span, time));
                times.len() - 1
            })
    };
    let time_of = places.iter().map(number).collect();
    (times, time_of)
}

/// Phases at random, frequencies from 0 to the fastest: otherwise all sines would begin as one. What is
/// seen of the observations begins with no effect, so that the decoder starts as sines of the code and
/// learns to look; and its output begins small.
fn set_start<T: Float>(
    parameters: &mut Parameters<T>,
    config: &LatentCsscConfig,
    random: &mut Random,
) {
    if parameters.is_blank() {
        return;
    }
    let mut part = |name: &str, f: &mut dyn FnMut(&mut [T])| {
        if let Some(id) = parameters.find(name) {
            let range = parameters.range(id);
            f(&mut parameters.values_mut()[range]);
        }
    };
    part("decoder.merge.weight", &mut |weight| weight.fill(T::ZERO));
    let smaller = T::from_f64(START_OF_OUTPUT);
    part("decoder.output.weight", &mut |weight| {
        weight.iter_mut().for_each(|x| *x *= smaller);
    });
    part("decoder.angles.bias", &mut |bias| {
        let (phases, frequencies) = bias.split_at_mut(config.sines);
        for phase in phases {
            *phase = T::from_f64(random.uniform(0.0, TAU));
        }
        for (i, frequency) in frequencies.iter_mut().enumerate() {
            let part = i as f64 / (config.sines.max(2) - 1) as f64;
            *frequency = T::from_f64(part * config.fastest_sine);
        }
    });
}
