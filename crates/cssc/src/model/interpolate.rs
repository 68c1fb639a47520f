//! A trained model applied to a series: the curve at any times.
//!
//! The walk steps from knot to knot, never longer than the model's step, and does not look at
//! what is asked: between its stops the state is the quintic of [`crate::ode::hermite`], so
//! the answer at a time does not depend on the other times asked, and the curve is C²
//! everywhere, not only at the knots. Everything runs in `f64`: in `f32` the
//! second derivative of the quintic on a short step would drown in rounding (a state's
//! 6·10⁻⁸ divided by the square of the step).

use super::config::Method;
use super::error::ModelError;
use super::limits::decode_exactly;
use super::predict::{Observed, Request};
use super::saved::Model;
use crate::batch::{Schedule, Stepping};
use crate::compensate::Plan;
use crate::data::Series;
use crate::nn::{Graph, KnotLimits, Memory, Var};
use crate::{Jets, Path, PiecewiseCubic, Side};
use rayon::prelude::*;

/// A curve at the times asked, in the user's units; every block [times, channels]. Times
/// before the first or after the last observation of the series get NaN.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Interpolation {
    /// ô with its slope and curvature.
    pub smoothed: Jets<Vec<f64>>,
    /// o, the networks' own prediction, after its update at a knot (at the last: before).
    pub predicted: Vec<f64>,
    /// c = ô - o. For hidden CSSC, whose compensation acts inside, the difference it makes.
    pub compensation: Vec<f64>,
}

impl Model {
    /// The curve of `series` at increasing `times`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use cssc::{data::Series, model::Model};
    /// let model = Model::load("sine.cssc".as_ref())?;
    /// let series = Series::new(None, 1, vec![0.0, 0.4, 1.1], vec![1.0, 1.9, 0.2])?;
    /// let curve = model.interpolate(&series, &[0.1, 0.2, 0.3])?;
    /// println!("{:?}, slopes {:?}", curve.smoothed.value, curve.smoothed.slope);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the series has other channels than the model or no observation, or times decrease.
    pub fn interpolate(&self, series: &Series, times: &[f64]) -> Result<Interpolation, ModelError> {
        self.interpolate_as(self.network.config.method, series, times)
    }

    /// Like [`Model::interpolate`] with another method than the model was trained with: the
    /// paper's pre-hoc (trained with the compensation, applied without) and post-hoc (trained
    /// without, applied with) strategies.
    ///
    /// # Errors
    /// As [`Model::interpolate`].
    pub fn interpolate_as(
        &self,
        method: Method,
        series: &Series,
        times: &[f64],
    ) -> Result<Interpolation, ModelError> {
        self.apply(method, series, times, &mut Memory::new())
    }

    /// Many series, in parallel; results in their order.
    ///
    /// # Errors
    /// As [`Model::interpolate`], for the first series that fails.
    pub fn interpolate_all<'s>(
        &self,
        series: impl IntoParallelIterator<Item = (&'s Series, &'s [f64]), Iter: IndexedParallelIterator>,
    ) -> Result<Vec<Interpolation>, ModelError> {
        let method = self.network.config.method;
        series
            .into_par_iter()
            .map_init(Memory::new, |memory, (series, times)| {
                self.apply(method, series, times, memory)
            })
            .collect()
    }

    fn apply(
        &self,
        method: Method,
        series: &Series,
        times: &[f64],
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, ModelError> {
        self.check(series, times)?;
        let scaler = &self.about.scaler;
        let channels = series.channels();
        let rows: Vec<usize> = (0..series.len())
            .filter(|&i| series.row(i).iter().any(|x| !x.is_nan()))
            .collect();
        let knots: Vec<f64> = rows
            .iter()
            .map(|&i| scaler.time(series.times()[i]))
            .collect();
        let values: Vec<f64> = rows
            .iter()
            .flat_map(|&i| series.row(i).iter().enumerate())
            .map(|(channel, &x)| scaler.value(channel, x))
            .collect();
        let first = times.partition_point(|&t| scaler.time(t) < knots[0]);
        let end = times.partition_point(|&t| scaler.time(t) <= knots[knots.len() - 1]);
        let inside = first..end.max(first);
        let query: Vec<f64> = times[inside.clone()]
            .iter()
            .map(|&t| scaler.time(t))
            .collect();
        let observed = Observed {
            times: &knots,
            values: &values,
            query: &query,
        };
        let curve = self.curve(method, &observed, memory)?;
        Ok(curve.in_user_units(self, times.len(), inside, channels))
    }

    fn check(&self, series: &Series, times: &[f64]) -> Result<(), ModelError> {
        let channels = self.network.config.channels;
        if series.channels() != channels {
            return Err(ModelError::Setting(format!(
                "the series has {} channels, the model was trained with {channels} ({}); give \
                 the same columns in the same order",
                series.channels(),
                self.about.channel_names.join(", ")
            )));
        }
        if series.values().iter().all(|x| x.is_nan()) {
            let ends = (series.times().first(), series.times().last());
            return Err(crate::Error::NoObservation {
                knots: series.len(),
                start: *ends.0.unwrap_or(&f64::NAN),
                end: *ends.1.unwrap_or(&f64::NAN),
            }
            .into());
        }
        Ok(crate::error::check_query(times)?)
    }

    /// The curve in the model's units.
    fn curve(
        &self,
        method: Method,
        observed: &Observed<'_>,
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, ModelError> {
        let network = &self.network;
        let stepping = Stepping {
            longest: network.config.step,
            stop_at_query: false,
        };
        let series = [*observed];
        let request = Request {
            series: &series,
            stepping,
            method,
        };
        let schedule = request.schedule();
        let mut graph = Graph::forward_only(memory, &self.precise);
        let graph = &mut graph;
        let states = network.walk(graph, &request, &schedule, true);
        let last = if method == Method::OdeRnn {
            Side::Right
        } else {
            Side::Left
        };
        let at_query = states.jets_at_query(graph, &schedule, last, 2);
        let state = Jets {
            value: at_query[0],
            slope: at_query[1],
            curvature: at_query[2],
        };
        let decoded = decode_exactly(graph, &network.decoder, state);
        let predicted = decoded.map(|var| numbers(graph, var));
        let smoothed = match method {
            Method::OdeRnn => predicted.clone(),
            Method::Cssc => {
                let limits = network.cssc_limits(graph, &request, &schedule, &states);
                let c = self.compensation(graph, observed, &schedule, limits, true)?;
                add(&predicted, &c.sample(observed.query, Side::Right)?)
            }
            Method::HiddenCssc => {
                let limits = network.hidden_limits(graph, &schedule, &states);
                let c = self.compensation(graph, observed, &schedule, limits, false)?;
                let hidden = state.map(|var| numbers(graph, var));
                let hidden = add(&hidden, &c.sample(observed.query, Side::Right)?);
                let columns = graph.columns(state.value);
                let rows = observed.query.len();
                let hidden = hidden.map(|block| graph.input(rows, columns, &block));
                let decoded = decode_exactly(graph, &network.decoder, hidden);
                decoded.map(|var| numbers(graph, var))
            }
        };
        let compensation = smoothed
            .value
            .iter()
            .zip(&predicted.value)
            .map(|(a, b)| a - b)
            .collect();
        Ok(Interpolation {
            smoothed,
            predicted: predicted.value,
            compensation,
        })
    }

    fn compensation(
        &self,
        graph: &Graph<'_, f64>,
        observed: &Observed<'_>,
        schedule: &Schedule,
        limits: KnotLimits,
        holes: bool,
    ) -> Result<PiecewiseCubic, ModelError> {
        debug_assert_eq!(schedule.rows.len(), 1, "one series at a time");
        let mask: Vec<bool> = observed.values.iter().map(|x| !x.is_nan()).collect();
        let options = self.network.config.options();
        let channels = graph.columns(limits.values);
        let plan = Plan::new(
            observed.times,
            channels,
            holes.then_some(&mask[..]),
            options,
        )?;
        let [left, right] = [limits.left, limits.right].map(|l| l.map(|var| numbers(graph, var)));
        // Observations in full precision; states as the walk left them.
        let states = numbers(graph, limits.values);
        let values = if holes { observed.values } else { &states[..] };
        let mut c = PiecewiseCubic::default();
        plan.forward(values, left.as_slices(), right.as_slices(), &mut c)?;
        Ok(c)
    }
}

fn numbers(graph: &Graph<'_, f64>, var: Var) -> Vec<f64> {
    graph.value(var).to_vec()
}

fn add(a: &Jets<Vec<f64>>, b: &Jets<Vec<f64>>) -> Jets<Vec<f64>> {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
    Jets {
        value: sum(&a.value, &b.value),
        slope: sum(&a.slope, &b.slope),
        curvature: sum(&a.curvature, &b.curvature),
    }
}

impl Interpolation {
    /// Unscales a curve known at the times `inside`, with NaN at the other `count` times.
    fn in_user_units(
        &self,
        model: &Model,
        count: usize,
        inside: std::ops::Range<usize>,
        channels: usize,
    ) -> Self {
        let scaler = &model.about.scaler;
        let unit = scaler.unscale_time(1.0) - scaler.unscale_time(0.0);
        let spread = |block: &[f64], user: &dyn Fn(usize, f64) -> f64| {
            let mut all = vec![f64::NAN; count * channels];
            let part = &mut all[inside.start * channels..inside.end * channels];
            for (i, (target, &x)) in part.iter_mut().zip(block).enumerate() {
                *target = user(i % channels, x);
            }
            all
        };
        let value = |channel: usize, x: f64| scaler.unscale_value(channel, x);
        let difference = |channel: usize, x: f64| x * scaler.scales()[channel];
        Self {
            smoothed: Jets {
                value: spread(&self.smoothed.value, &value),
                slope: spread(&self.smoothed.slope, &|j, x| difference(j, x) / unit),
                curvature: spread(&self.smoothed.curvature, &|j, x| {
                    difference(j, x) / (unit * unit)
                }),
            },
            predicted: spread(&self.predicted, &value),
            compensation: spread(&self.compensation, &difference),
        }
    }
}
