//! The walks over the windows of one series, put together: the prediction at the times asked
//! and the limits at all knots, in the model's units.
//!
//! Windows go in batches of fixed size, batches in parallel, so that the result is the same on
//! any number of threads; activations live no longer than their batch.

use super::config::Compensation;
use super::limits::decode_exactly;
use super::predict::{Observed, Request};
use super::saved::Model;
use super::windows::Window;
use crate::nn::{Graph, KnotLimits, Memory, Var};
use crate::ode::{Schedule, Stepping};
use crate::{Jets, Side};
use rayon::prelude::*;
use std::ops::Range;

/// Windows walked together.
const BATCH: usize = 8;

/// Query times decoded together.
const DECODED: usize = 1024;

/// What the walks over a whole series tell.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// o at the times asked, [times, channels].
    pub(crate) predicted: Jets,
    /// The states there, [times, hidden]; only for hidden CSSC.
    pub(crate) states: Jets,
    /// What the curve passes through at the knots: observations or states.
    pub(crate) values: Vec<f64>,
    /// Limits at the knots of what is compensated, [knots, channels or hidden].
    pub(crate) left: Jets,
    pub(crate) right: Jets,
    /// Columns of the limits.
    pub(crate) width: usize,
}

/// What the walk over one window tells about what it is responsible for.
#[derive(Default)]
struct Part {
    predicted: Jets,
    states: Jets,
    limits: Option<PartLimits>,
}

/// Limits at all knots of a window's walk.
struct PartLimits {
    values: Vec<f64>,
    left: Jets,
    right: Jets,
}

impl Model {
    /// Walks through all windows.
    pub(crate) fn walk_windows(
        &self,
        method: Compensation,
        observed: &Observed<'_>,
        windows: &[Window],
        memory: &mut Memory<f64>,
    ) -> Walked {
        let asked: Vec<Range<usize>> = (windows.iter())
            .map(|window| asked_in(window, observed))
            .collect();
        let jobs: Vec<_> = windows.chunks(BATCH).zip(asked.chunks(BATCH)).collect();
        let run = |memory: &mut Memory<f64>, (windows, asked): (&[Window], &[Range<usize>])| {
            self.walk_batch(method, observed, windows, asked, memory)
        };
        let parts: Vec<Vec<Part>> = match jobs[..] {
            [only] => vec![run(memory, only)],
            _ => jobs
                .into_par_iter()
                .map_init(Memory::new, |memory, job| run(memory, job))
                .collect(),
        };
        let mut walked = Walked::new(method, observed, self);
        for (window, part) in windows.iter().zip(parts.into_iter().flatten()) {
            walked.add(window, part, observed.times.len());
        }
        walked
    }

    fn walk_batch(
        &self,
        method: Compensation,
        observed: &Observed<'_>,
        windows: &[Window],
        asked: &[Range<usize>],
        memory: &mut Memory<f64>,
    ) -> Vec<Part> {
        let network = &self.network;
        if method == Compensation::None && asked.iter().all(Range::is_empty) {
            return windows.iter().map(|_| Part::default()).collect();
        }
        let series: Vec<Observed<'_>> = (windows.iter().zip(asked))
            .map(|(window, asked)| observed.part(&window.walk, asked, network.config.channels))
            .collect();
        let request = Request {
            series: &series,
            stepping: Stepping {
                longest: network.config.step,
                stop_at_query: false,
            },
            method,
        };
        let schedule = request.schedule();
        let mut graph = Graph::forward_only(memory, &self.precise);
        let graph = &mut graph;
        let states = network.walk(graph, &request, &schedule, true);
        let at_query = (!asked.iter().all(Range::is_empty)).then(|| {
            let last = if method == Compensation::None {
                Side::Right
            } else {
                Side::Left
            };
            let jets = states.jets_at_query(graph, &schedule, last, 2);
            let state = Jets {
                value: jets[0],
                slope: jets[1],
                curvature: jets[2],
            };
            (decode_exactly(graph, &network.decoder, state), state)
        });
        let limits = match method {
            Compensation::None => None,
            Compensation::Output => Some(network.cssc_limits(graph, &request, &schedule, &states)),
            Compensation::Hidden => Some(network.hidden_limits(graph, &schedule, &states)),
        };
        let hidden = method == Compensation::Hidden;
        let decoded = at_query.map(|(decoded, _)| decoded);
        let state = at_query.filter(|_| hidden).map(|(_, state)| state);
        cut_rows(graph, &schedule, [decoded, state], limits)
    }

    /// g of states with their derivatives, [rows, hidden], as [rows, channels].
    pub(crate) fn decode(&self, states: &Jets, memory: &mut Memory<f64>) -> Jets {
        let decoder = &self.network.decoder;
        let columns = decoder.inputs();
        let starts: Vec<usize> = (0..states.value.len()).step_by(DECODED * columns).collect();
        let run = |memory: &mut Memory<f64>, start: usize| {
            let mut graph = Graph::forward_only(memory, &self.precise);
            let end = (start + DECODED * columns).min(states.value.len());
            let part = states
                .as_slices()
                .map(|block| graph.input((end - start) / columns, columns, &block[start..end]));
            let decoded = decode_exactly(&mut graph, decoder, part);
            decoded.map(|var| graph.value(var).to_vec())
        };
        let parts: Vec<Jets> = match starts[..] {
            [only] => vec![run(memory, only)],
            _ => starts
                .into_par_iter()
                .map_init(Memory::new, |memory, start| run(memory, start))
                .collect(),
        };
        let mut all = Jets::default();
        parts.iter().for_each(|part| append(&mut all, part));
        all
    }
}

impl<'a> Observed<'a> {
    /// The knots `walk` alone, asked at the times `asked`.
    fn part(&self, walk: &Range<usize>, asked: &Range<usize>, channels: usize) -> Observed<'a> {
        Observed {
            times: &self.times[walk.clone()],
            values: &self.values[walk.start * channels..walk.end * channels],
            query: &self.query[asked.clone()],
        }
    }
}

/// The query times in the intervals of a window, each with its start; the last window also has
/// the end of the series.
fn asked_in(window: &Window, observed: &Observed<'_>) -> Range<usize> {
    let (times, query) = (observed.times, observed.query);
    let before = |knot: usize| query.partition_point(|&t| t < times[knot]);
    let end = if window.own.end + 1 == times.len() {
        query.len()
    } else {
        before(window.own.end)
    };
    before(window.own.start)..end
}

/// What the rows of a batch tell, in the order of its windows.
fn cut_rows(
    graph: &Graph<'_, f64>,
    schedule: &Schedule,
    [decoded, state]: [Option<Jets<Var>>; 2],
    limits: Option<KnotLimits>,
) -> Vec<Part> {
    let (mut query, mut knot) = (0, 0);
    let mut parts: Vec<(usize, Part)> = Vec::with_capacity(schedule.rows.len());
    for row in &schedule.rows {
        let asked = query..query + row.places.len();
        let knots = knot..knot + row.knot_stops.len();
        (query, knot) = (asked.end, knots.end);
        let jets = |vars: Jets<Var>, rows: &Range<usize>| vars.map(|var| cut(graph, var, rows));
        let there = |vars: Option<Jets<Var>>| vars.map(|vars| jets(vars, &asked));
        let part = Part {
            predicted: there(decoded).unwrap_or_default(),
            states: there(state).unwrap_or_default(),
            limits: limits.map(|limits| PartLimits {
                values: cut(graph, limits.values, &knots),
                left: jets(limits.left, &knots),
                right: jets(limits.right, &knots),
            }),
        };
        parts.push((row.item, part));
    }
    parts.sort_by_key(|(item, _)| *item);
    parts.into_iter().map(|(_, part)| part).collect()
}

fn cut(graph: &Graph<'_, f64>, var: Var, rows: &Range<usize>) -> Vec<f64> {
    let columns = graph.columns(var);
    graph.value(var)[rows.start * columns..rows.end * columns].to_vec()
}

impl Walked {
    fn new(method: Compensation, observed: &Observed<'_>, model: &Model) -> Self {
        let width = match method {
            Compensation::None => 0,
            Compensation::Output => model.network.config.channels,
            Compensation::Hidden => model.network.decoder.inputs(),
        };
        let len = observed.times.len() * width;
        Self {
            values: vec![0.0; len],
            left: Jets::zeros(len),
            right: Jets::zeros(len),
            width,
            ..Self::default()
        }
    }

    /// Takes over what the next window is responsible for.
    fn add(&mut self, window: &Window, part: Part, knots: usize) {
        append(&mut self.predicted, &part.predicted);
        append(&mut self.states, &part.states);
        let Some(limits) = part.limits else { return };
        let Window { walk, own } = window;
        let is_last = own.end + 1 == knots;
        // Right limits where its intervals begin, left limits where they end.
        let right = own.start..own.end + usize::from(is_last);
        let left = own.start + 1..own.end + 1;
        let copy = |into: &mut [f64], from: &[f64], rows: &Range<usize>| {
            let [start, end] = [rows.start, rows.end].map(|row| row * self.width);
            let offset = walk.start * self.width;
            into[start..end].copy_from_slice(&from[start - offset..end - offset]);
        };
        copy(&mut self.values, &limits.values, &right);
        let sides = [
            (&mut self.left, &limits.left, left),
            (&mut self.right, &limits.right, right),
        ];
        for (into, from, rows) in sides {
            copy(&mut into.value, &from.value, &rows);
            copy(&mut into.slope, &from.slope, &rows);
            copy(&mut into.curvature, &from.curvature, &rows);
        }
    }
}

fn append(all: &mut Jets, part: &Jets) {
    all.value.extend_from_slice(&part.value);
    all.slope.extend_from_slice(&part.slope);
    all.curvature.extend_from_slice(&part.curvature);
}
