//! A trained model applied to a series: the curve at any times.
//!
//! The walk steps from knot to knot, never longer than the model's step, and does not look at
//! what is asked: between its stops the state is the quintic of [`crate::ode::hermite`], so
//! the answer at a time does not depend on the other times asked, and the curve is C²
//! everywhere, not only at the knots. Everything runs in `f64`: in `f32` the
//! second derivative of the quintic on a short step would drown in rounding (a state's
//! 6·10⁻⁸ divided by the square of the step).

use super::config::Compensation;
use super::curve_options::CurveOptions;
use super::predict::Observed;
use super::saved::Model;
use super::windowed::Walked;
use crate::Error;
use crate::compensate::Plan;
use crate::data::Series;
use crate::nn::Memory;
use crate::smooth::{SmoothOptions, smooth};
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
    /// How sure the curve is, if it was asked to pass near the observations.
    pub bands: Option<Bands>,
}

/// How sure a curve is, in the user's units; see [`Smoothed`](crate::Smoothed).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Bands {
    /// Standard deviation of the curve at the times asked, [times, channels].
    pub std_devs: Vec<f64>,
    /// λ of each channel.
    pub penalties: Vec<f64>,
    /// Standard deviation of the noise of an observation of weight 1, for each channel.
    pub noise: Vec<f64>,
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
    pub fn interpolate(&self, series: &Series, times: &[f64]) -> Result<Interpolation, Error> {
        self.interpolate_as(self.network.config.compensation, series, times)
    }

    /// Like [`Model::interpolate`] with another method than the model was trained with: the
    /// paper's pre-hoc (trained with the compensation, applied without) and post-hoc (trained
    /// without, applied with) strategies.
    ///
    /// # Errors
    /// As [`Model::interpolate`].
    pub fn interpolate_as(
        &self,
        method: Compensation,
        series: &Series,
        times: &[f64],
    ) -> Result<Interpolation, Error> {
        let options = CurveOptions {
            method: Some(method),
            ..CurveOptions::default()
        };
        self.interpolate_with(series, times, &options)
    }

    /// The curve of `series` at increasing `times` as the options say: with another method,
    /// near noisy observations instead of through them, or in windows for a long series.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use cssc::{SmoothOptions, data::Series, model::{CurveOptions, Model}};
    /// let model = Model::load("sine.cssc".as_ref())?;
    /// let series = Series::new(None, 1, vec![0.0, 0.4, 1.1], vec![1.0, 1.9, 0.2])?;
    /// let options = CurveOptions {
    ///     smoothing: Some(SmoothOptions::default()),
    ///     window: Some(500),
    ///     ..CurveOptions::default()
    /// };
    /// let curve = model.interpolate_with(&series, &[0.1, 0.2, 0.3], &options)?;
    /// println!("{:?} ± {:?}", curve.smoothed.value, curve.bands.map(|bands| bands.std_devs));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Model::interpolate`], and if the options do not fit the model or the series.
    pub fn interpolate_with(
        &self,
        series: &Series,
        times: &[f64],
        options: &CurveOptions,
    ) -> Result<Interpolation, Error> {
        self.apply(options, series, times, &mut Memory::new())
    }

    /// Many series, in parallel; results in their order.
    ///
    /// # Errors
    /// As [`Model::interpolate`], for the first series that fails.
    pub fn interpolate_all<'s>(
        &self,
        series: impl IntoParallelIterator<Item = (&'s Series, &'s [f64]), Iter: IndexedParallelIterator>,
    ) -> Result<Vec<Interpolation>, Error> {
        let options = CurveOptions::default();
        series
            .into_par_iter()
            .map_init(Memory::new, |memory, (series, times)| {
                self.apply(&options, series, times, memory)
            })
            .collect()
    }

    fn apply(
        &self,
        options: &CurveOptions,
        series: &Series,
        times: &[f64],
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, Error> {
        self.check(series, times, options)?;
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
        let smoothing = options.scaled_smoothing(&self.network.config, self.unit(), &rows);
        let curve = self.curve(options, smoothing.as_ref(), &observed, memory)?;
        Ok(curve.in_user_units(self, times.len(), inside, channels))
    }

    /// How long the model's unit of time is for the user.
    fn unit(&self) -> f64 {
        let scaler = &self.about.scaler;
        scaler.unscale_time(1.0) - scaler.unscale_time(0.0)
    }

    fn check(&self, series: &Series, times: &[f64], options: &CurveOptions) -> Result<(), Error> {
        let weights = options.smoothing.as_ref().and_then(|s| s.weights.as_ref());
        if let Some(weights) = weights {
            let (found, expected) = (weights.len(), series.values().len());
            crate::error::check_length("weights", found, expected, "times x channels")?;
        }
        let channels = self.network.config.channels;
        if series.channels() != channels {
            return Err(Error::Setting(format!(
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
        options: &CurveOptions,
        smoothing: Option<&SmoothOptions>,
        observed: &Observed<'_>,
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, Error> {
        let method = options.method(&self.network.config)?;
        let windows = options.windows(&self.network.config, observed.times.len())?;
        let walked = self.walk_windows(method, observed, &windows, memory);
        let mut bands = None;
        let smoothed = match (method, smoothing) {
            (Compensation::None, _) => walked.predicted.clone(),
            (Compensation::Output, None) => {
                let c = self.compensation(observed, &walked, Some(observed.values))?;
                add(&walked.predicted, &c.sample(observed.query, Side::Right)?)
            }
            (Compensation::Output, Some(smoothing)) => {
                let (c, sure) = near(observed, &walked, smoothing)?;
                bands = Some(sure);
                add(&walked.predicted, &c.sample(observed.query, Side::Right)?)
            }
            (Compensation::Hidden, _) => {
                let c = self.compensation(observed, &walked, None)?;
                let states = add(&walked.states, &c.sample(observed.query, Side::Right)?);
                self.decode(&states, memory)
            }
        };
        let predicted = walked.predicted.value;
        let pairs = smoothed.value.iter().zip(&predicted);
        let compensation = pairs.map(|(a, b)| a - b).collect();
        Ok(Interpolation {
            smoothed,
            predicted,
            compensation,
            bands,
        })
    }

    /// The compensation through `values`, NaN where missing, or through the walk's states.
    fn compensation(
        &self,
        observed: &Observed<'_>,
        walked: &Walked,
        values: Option<&[f64]>,
    ) -> Result<PiecewiseCubic, Error> {
        let mask: Option<Vec<bool>> =
            values.map(|values| values.iter().map(|x| !x.is_nan()).collect());
        let options = self.network.config.options();
        let plan = Plan::new(observed.times, walked.width, mask.as_deref(), options)?;
        // Observations in full precision; states as the walk left them.
        let values = values.unwrap_or(&walked.values);
        let (left, right) = (walked.left.as_slices(), walked.right.as_slices());
        let mut c = PiecewiseCubic::default();
        plan.forward(values, left, right, &mut c)?;
        Ok(c)
    }
}

/// The compensation that brings the curve near the observations, and how sure it is.
fn near(
    observed: &Observed<'_>,
    walked: &Walked,
    options: &SmoothOptions,
) -> Result<(PiecewiseCubic, Bands), Error> {
    let (left, right) = (walked.left.as_slices(), walked.right.as_slices());
    let values = observed.values;
    let smoothed = smooth(observed.times, walked.width, values, left, right, options)?;
    let bands = Bands {
        std_devs: smoothed.std_devs(observed.query)?,
        penalties: smoothed.penalties,
        noise: smoothed.noise,
    };
    Ok((smoothed.compensation, bands))
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
        let unit = model.unit();
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
            bands: self.bands.as_ref().map(|bands| Bands {
                std_devs: spread(&bands.std_devs, &|j, x| difference(j, x).abs()),
                penalties: bands.penalties.iter().map(|x| x * unit.powi(3)).collect(),
                noise: (bands.noise.iter().enumerate())
                    .map(|(j, &x)| difference(j, x).abs())
                    .collect(),
            }),
        }
    }
}
