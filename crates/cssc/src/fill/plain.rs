//! Methods that need no training: each channel by itself, through or near its own values.

use crate::data::Series;
use crate::evaluate::{Curve, Interpolator, observation_std_devs, set_column};
use crate::smooth::smoothing_spline;
use crate::{Error, Path, PiecewiseCubic, Side, SmoothOptions, SplineKind};

/// The value before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Previous;

impl Interpolator for Previous {
    fn name(&self) -> &str {
        "previous"
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        Curve::by_channel(series, channels, times, |knots, known| {
            let value = |&time: &f64| {
                let after = knots.partition_point(|&knot| knot <= time);
                known[after.max(1) - 1]
            };
            Ok(times.iter().map(value).collect())
        })
    }
}

/// A spline through the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spline {
    name: &'static str,
    kind: SplineKind,
}

impl Spline {
    /// A spline of any kind, called `name`.
    #[must_use]
    pub const fn new(name: &'static str, kind: SplineKind) -> Self {
        Self { name, kind }
    }
}

impl Interpolator for Spline {
    fn name(&self) -> &str {
        self.name
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        Curve::by_channel(series, channels, times, |knots, known| {
            let spline = PiecewiseCubic::fit(knots, 1, known, self.kind)?;
            Ok(spline.sample(times, Side::Left)?.value)
        })
    }
}

/// The cubic smoothing spline, as strong as cross-validation says. It knows how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoothing;

impl Interpolator for Smoothing {
    fn name(&self) -> &str {
        "smoothing"
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let width = channels.len();
        let mut values = vec![f64::NAN; times.len() * width];
        let mut std_devs = values.clone();
        for (place, &channel) in channels.iter().enumerate() {
            let (knots, known) = series.observed(channel);
            if knots.is_empty() {
                continue;
            }
            let spline = smoothing_spline(&knots, 1, &known, &SmoothOptions::default())?;
            let column = spline.compensation.sample(times, Side::Left)?.value;
            set_column(&mut values, width, place, &column);
            let column = observation_std_devs(&spline, times)?;
            set_column(&mut std_devs, width, place, &column);
        }
        Ok(Curve {
            std_devs: Some(std_devs),
            ..values.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::curve_within;
    use crate::fill::METHODS;

    /// Channel a: 0, 2, missing, 6 at times 0..3; channel b only at 1 and 2.
    fn series() -> Series {
        let nan = f64::NAN;
        let values = vec![0.0, nan, 2.0, 5.0, nan, 7.0, 6.0, nan];
        Series::new(None, 2, vec![0.0, 1.0, 2.0, 3.0], values).unwrap()
    }

    #[test]
    fn every_plain_method_fills_inside_and_leaves_the_outside_empty() {
        for method in METHODS.iter() {
            let Some(interpolator) = method.plain() else {
                continue;
            };
            assert_eq!(interpolator.name(), method.name);
            let times = [-1.0, 1.0, 1.5, 2.5];
            let curve = curve_within(interpolator.as_ref(), &series(), &[0, 1], &times).unwrap();
            let nan: Vec<bool> = curve.values.iter().map(|x| x.is_nan()).collect();
            assert_eq!(nan, [true, true, false, false, false, false, false, true]);
            if !method.name.starts_with("smooth") {
                assert!((curve.values[2] - 2.0).abs() < 1e-12, "{}", method.name);
            }
        }
    }

    #[test]
    fn only_the_channels_asked_for_are_given_in_the_order_asked() {
        let linear = Spline::new("linear", SplineKind::Linear);
        let ask = |channels: &[usize]| linear.curve(&series(), channels, &[1.5]).unwrap().values;
        assert_eq!(ask(&[0, 1]), [3.0, 6.0]);
        assert_eq!(ask(&[1, 0]), [6.0, 3.0]);
        assert_eq!(ask(&[1]), [6.0]);
        let previous = Previous.curve(&series(), &[0, 1], &[1.5]).unwrap();
        assert_eq!(previous.values, [2.0, 5.0]);
    }
}
