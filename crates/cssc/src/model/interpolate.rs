//! A trained model applied to a series: the curve at any times, in the user's units.
//!
//! A network does not look at what is asked (an ODE-RNN steps from knot to knot and is a quintic
//! between its stops, see [`crate::ode::hermite`]), so the answer at a time does not depend on the
//! other times asked, and the curve is C² everywhere, not only at the knots.

use super::curve::Applied;
use super::curve_options::CurveOptions;
use super::file::Model;
use super::network::Observed;
use crate::data::Series;
use crate::nn::Memory;
use crate::{Error, Jets};
use std::borrow::Cow;
use std::ops::Range;

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

/// A series and times asked in a model's units.
pub(super) struct Scaled {
    /// Rows of the series in which something is observed.
    rows: Vec<usize>,
    knots: Vec<f64>,
    values: Vec<f64>,
    query: Vec<f64>,
    /// Which of the times asked lie among the knots.
    pub(super) inside: Range<usize>,
}

impl Scaled {
    pub(super) fn observed(&self) -> Observed<'_> {
        Observed::new(&self.knots, &self.values, &self.query)
    }
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
        self.interpolate_with(series, times, &CurveOptions::default())
    }

    /// The curve of `series` at increasing `times` as the options say: near noisy observations instead of through them, or in windows for a long series.
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

    fn apply(
        &self,
        options: &CurveOptions,
        series: &Series,
        times: &[f64],
        memory: &mut Memory<f64>,
    ) -> Result<Interpolation, Error> {
        self.check(series, times, options)?;
        let scaled = self.scaled(&*self.without_season(series)?, times);
        let observed = scaled.observed();
        let channels = series.channels();
        let settings = self.network.compensation();
        let smoothing =
            options.scaled_smoothing(settings.max_fold, channels, self.unit(), &scaled.rows);
        let applied = Applied {
            network: &*self.network,
            parameters: &self.precise,
        };
        let curve = applied.curve(options, smoothing.as_ref(), &observed, memory)?;
        let mut curve = curve.in_user_units(self, times.len(), scaled.inside, channels);
        if let Some(season) = &self.info.season {
            season.put_back(times, &mut curve);
        }
        Ok(curve)
    }

    /// The series as the networks see it.
    pub(super) fn without_season<'a>(&self, series: &'a Series) -> Result<Cow<'a, Series>, Error> {
        Ok(match &self.info.season {
            Some(season) => Cow::Owned(season.taken_off(series)?),
            None => Cow::Borrowed(series),
        })
    }

    /// The rows of `series` in which something is observed, in the model's units, and those of the `times` that lie among
    /// them.
    pub(super) fn scaled(&self, series: &Series, times: &[f64]) -> Scaled {
        let scaler = &self.info.scaler;
        let rows: Vec<usize> = (0..series.len())
            .filter(|&i| series.row(i).iter().any(|x| !x.is_nan()))
            .collect();
        let knots: Vec<f64> = rows
            .iter()
            .map(|&i| scaler.time(series.times()[i]))
            .collect();
        let values = rows
            .iter()
            .flat_map(|&i| series.row(i).iter().enumerate())
            .map(|(channel, &x)| scaler.value(channel, x))
            .collect();
        let first = times.partition_point(|&t| scaler.time(t) < knots[0]);
        let end = times.partition_point(|&t| scaler.time(t) <= knots[knots.len() - 1]);
        let inside = first..end.max(first);
        let query = times[inside.clone()].iter().map(|&t| scaler.time(t));
        Scaled {
            query: query.collect(),
            rows,
            knots,
            values,
            inside,
        }
    }

    /// How long the model's unit of time is for the user.
    pub(super) fn unit(&self) -> f64 {
        let scaler = &self.info.scaler;
        scaler.unscale_time(1.0) - scaler.unscale_time(0.0)
    }

    pub(super) fn check(
        &self,
        series: &Series,
        times: &[f64],
        options: &CurveOptions,
    ) -> Result<(), Error> {
        let weights = options.smoothing.as_ref().and_then(|s| s.weights.as_ref());
        if let Some(weights) = weights {
            let (found, expected) = (weights.len(), series.values().len());
            crate::error::check_length("weights", found, expected, "times x channels")?;
        }
        let channels = self.info.model.channels();
        if series.channels() != channels {
            return Err(Error::Setting(format!(
                "the series has {} channels, the model was trained with {channels} ({}); give \
                 the same columns in the same order",
                series.channels(),
                crate::data::listed(&self.info.channel_names)
            )));
        }
        if series.values().iter().all(|x| x.is_nan()) {
            let ends = (series.times().first(), series.times().last());
            return Err(crate::Error::NoObservation {
                knots: series.len(),
                start: *ends.0.unwrap_or(&f64::NAN),
                end: *ends.1.unwrap_or(&f64::NAN),
            });
        }
        crate::error::check_query(times)
    }
}

impl Interpolation {
    /// From a prediction and, where something is compensated, the curve made of it.
    pub(crate) fn new(smoothed: Option<Jets>, predicted: Jets, bands: Option<Bands>) -> Self {
        let smoothed = smoothed.unwrap_or_else(|| predicted.clone());
        let predicted = predicted.value;
        let pairs = smoothed.value.iter().zip(&predicted);
        let compensation = pairs.map(|(a, b)| a - b).collect();
        Self {
            smoothed,
            predicted,
            compensation,
            bands,
        }
    }

    /// Unscales a curve known at the times `inside`, with NaN at the other `count` times.
    fn in_user_units(
        &self,
        model: &Model,
        count: usize,
        inside: Range<usize>,
        channels: usize,
    ) -> Self {
        let scaler = &model.info.scaler;
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
