//! A method, ready to give curves.

use super::hold_out::HoldOut;
use super::method::Method;
use crate::Error;
use crate::data::Series;
use crate::model::{Compensation, CurveOptions, Model};
use crate::smooth::smoothing_spline;
use crate::{Path, PiecewiseCubic, Side, SmoothOptions, SplineKind};
use std::sync::Arc;

/// A method with all it needs.
#[derive(Clone, Debug)]
pub enum Interpolator {
    /// The value before.
    Previous,
    /// A plain spline through the values.
    Plain(SplineKind),
    /// The cubic smoothing spline, as strong as cross-validation says.
    Smoothing,
    /// A trained model; `smooth` asks for the noise-aware form.
    Model {
        /// The model.
        model: Arc<Model>,
        /// Near the values instead of through them.
        smooth: bool,
    },
}

/// A curve at the times asked for, all blocks [times, channels]; NaN outside the first and the
/// last value of a channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The curve.
    pub values: Vec<f64>,
    /// What a model predicts by itself.
    pub predicted: Option<Vec<f64>>,
    /// What was added to it.
    pub compensation: Option<Vec<f64>>,
}

impl Interpolator {
    /// The interpolator of a method that needs no training.
    #[must_use]
    pub fn plain(method: Method) -> Option<Self> {
        match method {
            Method::Previous => Some(Self::Previous),
            Method::Smoothing => Some(Self::Smoothing),
            _ => method.kind().map(Self::Plain),
        }
    }

    /// The method it is.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::Previous => Method::Previous,
            Self::Plain(SplineKind::Makima) => Method::Makima,
            Self::Plain(SplineKind::Linear) => Method::Linear,
            Self::Plain(_) => Method::Natural,
            Self::Smoothing => Method::Smoothing,
            Self::Model { smooth: true, .. } => Method::SmoothCssc,
            Self::Model { model, .. } => match model.info().model.compensation() {
                Compensation::Hidden => Method::HiddenCssc,
                _ => Method::Cssc,
            },
        }
    }

    /// How a trained model is applied; `None` for a method without one.
    #[must_use]
    pub fn curve_options(&self) -> Option<CurveOptions> {
        match self {
            Self::Model { model, smooth } => Some(curve_options(model, *smooth)),
            _ => None,
        }
    }

    /// The curve of `series` at increasing `times`.
    ///
    /// # Errors
    /// If the series does not fit the model.
    pub fn curve(&self, series: &Series, times: &[f64]) -> Result<Curve, Error> {
        let mut curve = match self {
            Self::Model { model, smooth } => from_model(model, *smooth, series, times)?,
            _ => Curve {
                values: self.by_channel(series, times)?,
                ..Curve::default()
            },
        };
        blank_outside(&mut curve, series, times);
        Ok(curve)
    }

    /// Every channel by itself, through its own values.
    fn by_channel(&self, series: &Series, times: &[f64]) -> Result<Vec<f64>, Error> {
        let channels = series.channels();
        let mut values = vec![f64::NAN; times.len() * channels];
        for channel in 0..channels {
            let (knots, known) = series.observed(channel);
            if knots.is_empty() {
                continue;
            }
            let found = match self {
                Self::Previous => previous(&knots, &known, times),
                Self::Smoothing => {
                    let spline = smoothing_spline(&knots, 1, &known, &SmoothOptions::default())?;
                    spline.compensation.sample(times, Side::Left)?.value
                }
                Self::Plain(kind) => {
                    let spline = PiecewiseCubic::fit(&knots, 1, &known, *kind)?;
                    spline.sample(times, Side::Left)?.value
                }
                Self::Model { .. } => unreachable!("models treat all channels at once"),
            };
            let places = values.iter_mut().skip(channel).step_by(channels);
            places.zip(found).for_each(|(place, value)| *place = value);
        }
        Ok(values)
    }
}

fn previous(knots: &[f64], known: &[f64], times: &[f64]) -> Vec<f64> {
    let value = |&time: &f64| {
        let after = knots.partition_point(|&knot| knot <= time);
        known[after.max(1) - 1]
    };
    times.iter().map(value).collect()
}

fn from_model(model: &Model, smooth: bool, series: &Series, times: &[f64]) -> Result<Curve, Error> {
    if series.values().iter().all(|value| value.is_nan()) {
        let nothing = vec![f64::NAN; times.len() * series.channels()];
        return Ok(Curve {
            values: nothing,
            ..Curve::default()
        });
    }
    let options = curve_options(model, smooth);
    let found = match smooth {
        true => model
            .with_compensation(Compensation::Output)?
            .interpolate_with(series, times, &options)?,
        false => model.interpolate_with(series, times, &options)?,
    };
    Ok(Curve {
        values: found.smoothed.value,
        predicted: Some(found.predicted),
        compensation: Some(found.compensation),
    })
}

/// How a model is applied to people's series: long ones in windows.
fn curve_options(model: &Model, smooth: bool) -> CurveOptions {
    let warm_up = 50;
    let sides = if model.network().sees_future() { 2 } else { 1 };
    CurveOptions {
        smoothing: smooth.then(SmoothOptions::default),
        window: Some((sides + 4) * warm_up),
        warm_up,
    }
}

/// Deviations of values at `times`, as the noise-aware form knows them [times, channels].
pub(super) fn predictive_std_devs(series: &Series, times: &[f64]) -> Result<Vec<f64>, Error> {
    let channels = series.channels();
    let mut std_devs = vec![f64::NAN; times.len() * channels];
    for channel in 0..channels {
        let (knots, known) = series.observed(channel);
        if knots.is_empty() {
            continue;
        }
        let spline = smoothing_spline(&knots, 1, &known, &SmoothOptions::default())?;
        let noise = spline.noise[0];
        let places = std_devs.iter_mut().skip(channel).step_by(channels);
        for (place, std_dev) in places.zip(spline.std_devs(times)?) {
            *place = std_dev.hypot(noise);
        }
    }
    Ok(std_devs)
}

/// Deviations of all hidden values, as the noise-aware form knows them.
///
/// # Errors
/// Only if a spline cannot be fitted, which would be a fault of this library.
pub fn hidden_std_devs(held: &HoldOut) -> Result<Vec<f64>, Error> {
    held.ask(predictive_std_devs)
}

/// Outside its first and last value a channel has no curve.
fn blank_outside(curve: &mut Curve, series: &Series, times: &[f64]) {
    let channels = series.channels();
    for channel in 0..channels {
        let known = |&row: &usize| series.value(row, channel).is_some();
        let first = (0..series.len()).find(known);
        let last = (0..series.len()).rev().find(known);
        let range = match (first, last) {
            (Some(first), Some(last)) => series.times()[first]..=series.times()[last],
            _ => f64::INFINITY..=f64::NEG_INFINITY,
        };
        for (row, time) in times.iter().enumerate() {
            if range.contains(time) {
                continue;
            }
            let place = row * channels + channel;
            curve.values[place] = f64::NAN;
            let parts = [&mut curve.predicted, &mut curve.compensation];
            for block in parts.into_iter().flatten() {
                block[place] = f64::NAN;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Channel a: 0, 2, missing, 6 at times 0..3; channel b only at 1 and 2.
    fn series() -> Series {
        let nan = f64::NAN;
        let values = vec![0.0, nan, 2.0, 5.0, nan, 7.0, 6.0, nan];
        Series::new(None, 2, vec![0.0, 1.0, 2.0, 3.0], values).unwrap()
    }

    #[test]
    fn every_plain_method_fills_inside_and_leaves_the_outside_empty() {
        for method in Method::ALL {
            let Some(interpolator) = Interpolator::plain(method) else {
                continue;
            };
            assert_eq!(interpolator.method(), method);
            let curve = interpolator
                .curve(&series(), &[-1.0, 1.0, 1.5, 2.5])
                .unwrap();
            let nan: Vec<bool> = curve.values.iter().map(|x| x.is_nan()).collect();
            assert_eq!(nan, [true, true, false, false, false, false, false, true]);
            if method != Method::Smoothing {
                assert!((curve.values[2] - 2.0).abs() < 1e-12, "{method}");
            }
        }
        let linear = Interpolator::plain(Method::Linear).unwrap();
        let curve = linear.curve(&series(), &[1.5]).unwrap();
        assert_eq!(curve.values, [3.0, 6.0]);
        let curve = Interpolator::Previous.curve(&series(), &[1.5]).unwrap();
        assert_eq!(curve.values, [2.0, 5.0]);
    }
}
