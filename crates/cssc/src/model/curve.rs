//! The curve of one series from any network, in the model's units.
//!
//! Everything runs in `f64`: in `f32` the second derivative of the quintic between two short steps
//! would drown in rounding (a state's 6·10⁻⁸ divided by the square of the step).
//!
//! A long series is cut into windows (`windows.rs`). They go in batches of fixed size, batches in
//! parallel, so that the result is the same on any number of threads; activations live no longer than
//! their batch. On every interval the signal is that of the one window responsible for it, and one
//! compensation of the whole series takes away what jumps between them.

use super::compensated::Compensation;
use super::curve_options::CurveOptions;
use super::interpolate::{Bands, Interpolation};
use super::network::{Batch, Limits, Network, Observed, Trace};
use super::windows::Window;
use crate::compensate::Plan;
use crate::data::Random;
use crate::nn::{Graph, Memory, Parameters};
use crate::smooth::{SmoothOptions, smooth};
use crate::{CompensationOptions, Error, Jets, Path, PiecewiseCubic, Side};
use rayon::prelude::*;
use std::ops::Range;

/// Windows that go through the network together.
const BATCH: usize = 8;

/// Times that are decoded together.
const DECODED: usize = 1024;

/// Times that are asked of a window in one go; a window that is asked more is walked several times.
const ASKED: usize = 2048;

/// A network with its numbers, ready to give curves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Applied<'a> {
    pub(crate) network: &'a dyn Network<f64>,
    pub(crate) parameters: &'a Parameters<f64>,
}

/// What a network tells of a whole series.
#[derive(Debug, Default)]
struct Signal {
    /// At the times asked, [times, width].
    at_query: Jets,
    /// Limits at the knots.
    limits: Option<Limits>,
}

impl Applied<'_> {
    /// The curve in the model's units; `smoothing` as well.
    ///
    /// # Errors
    /// If the options do not fit the network, or a number is not finite.
    pub(crate) fn curve(
        &self,
        options: &CurveOptions,
        smoothing: Option<&SmoothOptions>,
        observed: &Observed<'_>,
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, Error> {
        let settings = self.network.compensation();
        let windows = options.windows(self.network.sees_future(), observed.times.len())?;
        if smoothing.is_some() && settings.compensation != Compensation::Output {
            return Err(Error::Setting(format!(
                "`smoothing` is for models whose output is compensated, and here it is {:?}; use \
                 `with_compensation`, or leave `smoothing` out",
                settings.compensation
            )));
        }
        let noisy = smoothing.is_some();
        let Some(signal) = self.signal(observed, &windows, noisy, memory)? else {
            return self.values_only(observed, &windows, noisy, memory);
        };
        let mut bands = None;
        let compensation = match (&signal.limits, smoothing) {
            (None, _) => None,
            (Some(limits), None) => Some(through(observed, limits, settings.options())?),
            (Some(limits), Some(smoothing)) => {
                let (c, sure) = near(observed, limits, smoothing)?;
                bands = Some(sure);
                Some(c)
            }
        };
        let corrected = match &compensation {
            None => None,
            Some(c) => Some(add(
                &signal.at_query,
                &c.sample(observed.query, Side::Right)?,
            )),
        };
        let decodes = self.network.decodes();
        let rows = observed.query.len();
        let decode = |signal: Jets, memory: &mut Memory<f64>| match decodes && rows > 0 {
            true => self.decode(&signal, signal.value.len() / rows, memory),
            false => signal,
        };
        let smoothed = corrected.map(|signal| decode(signal, memory));
        let predicted = decode(signal.at_query, memory);
        Ok(Interpolation::new(smoothed, predicted, bands))
    }

    /// The signal over all windows, or none if the network tells values only.
    fn signal(
        &self,
        observed: &Observed<'_>,
        windows: &[Window],
        near: bool,
        memory: &mut Memory<f64>,
    ) -> Result<Option<Signal>, Error> {
        let traces = self.in_batches(observed, windows, memory, |graph, series| match near {
            true => self.network.trace_near(graph, series),
            false => self.network.trace(graph, series),
        })?;
        let Some(traces) = traces.into_iter().collect::<Option<Vec<Vec<Trace>>>>() else {
            return Ok(None);
        };
        let knots = observed.times.len();
        let mut signal = Signal::default();
        let pieces = pieces(observed, windows);
        for ((window, _), trace) in pieces.iter().zip(traces.into_iter().flatten()) {
            signal.add(window, trace, knots);
        }
        Ok(Some(signal))
    }

    /// Runs `f` on batches of windows, in parallel; results in the order of the batches.
    fn in_batches<R: Send>(
        &self,
        observed: &Observed<'_>,
        windows: &[Window],
        memory: &mut Memory<f64>,
        f: impl Fn(&mut Graph<'_, f64>, &[Observed<'_>]) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let parts: Vec<Observed<'_>> = (pieces(observed, windows).iter())
            .map(|(window, asked)| observed.part(&window.walk, asked))
            .collect();
        let run = |memory: &mut Memory<f64>, series: &[Observed<'_>]| {
            f(&mut Graph::forward_only(memory, self.parameters), series)
        };
        let batches: Vec<&[Observed<'_>]> = parts.chunks(BATCH).collect();
        match batches[..] {
            [only] => Ok(vec![run(memory, only)?]),
            _ => batches
                .into_par_iter()
                .map_init(Memory::new, |memory, series| run(memory, series))
                .collect(),
        }
    }

    /// Values from what the network answers in training, window by window; no derivatives.
    fn values_only(
        &self,
        observed: &Observed<'_>,
        windows: &[Window],
        smoothing: bool,
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, Error> {
        if smoothing {
            return Err(Error::Setting(
                "`smoothing` needs the limits of the prediction, which this network does not tell; \
                 leave it out"
                    .into(),
            ));
        }
        let parts = self.in_batches(observed, windows, memory, |graph, series| {
            let batch = Batch {
                series,
                training: None,
            };
            let prediction = self.network.predict(graph, &batch, &mut Random::new(0))?;
            let columns = graph.columns(prediction.values);
            let mut rows = graph.value(prediction.values);
            let mut values: Vec<&[f64]> = vec![&[]; series.len()];
            for &item in &prediction.order {
                (values[item], rows) = rows.split_at(series[item].query.len() * columns);
            }
            Ok(values.concat())
        })?;
        let predicted = Jets {
            value: parts.concat(),
            ..Jets::default()
        };
        Ok(Interpolation::new(None, predicted, None))
    }

    /// The output of a signal [rows, width], as [rows, channels].
    fn decode(&self, signal: &Jets, columns: usize, memory: &mut Memory<f64>) -> Jets {
        let starts: Vec<usize> = (0..signal.value.len()).step_by(DECODED * columns).collect();
        let run = |memory: &mut Memory<f64>, start: usize| {
            let mut graph = Graph::forward_only(memory, self.parameters);
            let end = (start + DECODED * columns).min(signal.value.len());
            let part = signal
                .as_slices()
                .map(|block| graph.input((end - start) / columns, columns, &block[start..end]));
            let decoded = self.network.decode(&mut graph, part);
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

/// The windows with what is asked of each; a window that is asked much comes several times.
fn pieces<'w>(observed: &Observed<'_>, windows: &'w [Window]) -> Vec<(&'w Window, Range<usize>)> {
    let of_window = |window| {
        let asked = asked_in(window, observed);
        let count = asked.len().div_ceil(ASKED).max(1);
        (0..count).map(move |piece| {
            let start = asked.start + piece * ASKED;
            (window, start..(start + ASKED).min(asked.end))
        })
    };
    windows.iter().flat_map(of_window).collect()
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

impl Signal {
    /// Takes over what the next window is responsible for.
    fn add(&mut self, window: &Window, trace: Trace, knots: usize) {
        append(&mut self.at_query, &trace.signal);
        let Some(limits) = trace.limits else { return };
        let Window { walk, own } = window;
        let width = limits.left.value.len() / walk.len();
        let all = self.limits.get_or_insert_with(|| Limits {
            values: vec![
                0.0;
                if limits.values.is_empty() {
                    0
                } else {
                    knots * width
                }
            ],
            left: Jets::zeros(knots * width),
            right: Jets::zeros(knots * width),
        });
        let is_last = own.end + 1 == knots;
        // Right limits where its intervals begin, left limits where they end.
        let right = own.start..own.end + usize::from(is_last);
        let left = own.start + 1..own.end + 1;
        let copy = |into: &mut [f64], from: &[f64], rows: &Range<usize>| {
            let [start, end] = [rows.start, rows.end].map(|row| row * width);
            let offset = walk.start * width;
            into[start..end].copy_from_slice(&from[start - offset..end - offset]);
        };
        if !limits.values.is_empty() {
            copy(&mut all.values, &limits.values, &right);
        }
        let sides = [
            (&mut all.left, &limits.left, left),
            (&mut all.right, &limits.right, right),
        ];
        for (into, from, rows) in sides {
            copy(&mut into.value, &from.value, &rows);
            copy(&mut into.slope, &from.slope, &rows);
            copy(&mut into.curvature, &from.curvature, &rows);
        }
    }
}

/// The compensation through the observations, NaN where missing, or through the states given.
fn through(
    observed: &Observed<'_>,
    limits: &Limits,
    options: CompensationOptions,
) -> Result<PiecewiseCubic, Error> {
    let holes = limits.values.is_empty();
    let values = if holes {
        observed.values
    } else {
        &limits.values[..]
    };
    let mask: Option<Vec<bool>> = holes.then(|| values.iter().map(|x| !x.is_nan()).collect());
    let width = values.len() / observed.times.len();
    let plan = Plan::new(observed.times, width, mask.as_deref(), options)?;
    let mut c = PiecewiseCubic::default();
    plan.forward(
        values,
        limits.left.as_slices(),
        limits.right.as_slices(),
        &mut c,
    )?;
    Ok(c)
}

/// The compensation that brings the curve near the observations, and how sure it is.
fn near(
    observed: &Observed<'_>,
    limits: &Limits,
    options: &SmoothOptions,
) -> Result<(PiecewiseCubic, Bands), Error> {
    let (left, right) = (limits.left.as_slices(), limits.right.as_slices());
    let values = observed.values;
    let width = values.len() / observed.times.len();
    let smoothed = smooth(observed.times, width, values, left, right, options)?;
    let bands = Bands {
        std_devs: smoothed.std_devs(observed.query)?,
        penalties: smoothed.penalties,
        noise: smoothed.noise,
    };
    Ok((smoothed.compensation, bands))
}

fn add(a: &Jets, b: &Jets) -> Jets {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
    Jets {
        value: sum(&a.value, &b.value),
        slope: sum(&a.slope, &b.slope),
        curvature: sum(&a.curvature, &b.curvature),
    }
}

fn append(all: &mut Jets, part: &Jets) {
    all.value.extend_from_slice(&part.value);
    all.slope.extend_from_slice(&part.slope);
    all.curvature.extend_from_slice(&part.curvature);
}
