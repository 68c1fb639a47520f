//! A trained model as an interpolator, and how methods are made of models.

use crate::data::Series;
use crate::evaluate::{Curve, Interpolator};
use crate::model::{Compensation, CurveOptions, Model, ModelConfig};
use crate::{Error, SmoothOptions};
use std::ops::Range;

/// Observations a window of a long series walks before those it is responsible for.
const WARM_UP: usize = 50;
/// A series of more rows is walked in stretches of so many: what a model remembers of every row takes kilobytes.
const LONG: usize = 50_000;
const STRETCH: usize = 20_000;
/// Rows around a stretch that are walked with it: further ones do not reach into it.
const AROUND: usize = 4 * WARM_UP;

/// What a method makes of a model. Methods whose settings are equal share a training.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// Settings of the model by default.
    pub(super) config: fn() -> ModelConfig,
    /// Makes the interpolator.
    pub(super) apply: fn(Model) -> Result<ModelInterpolator, Error>,
}

impl Recipe {
    /// The settings of the method's model: those of `base` where it is of the same kind.
    pub(super) fn config(&self, base: &ModelConfig) -> ModelConfig {
        let default = (self.config)();
        if base.kind() != default.kind() {
            return default;
        }
        let mut config = base.clone();
        config.set_compensation(default.compensation());
        config
    }
}

/// A trained model; long series are walked in windows.
#[derive(Clone, Debug)]
pub struct ModelInterpolator {
    model: Model,
    name: String,
    options: CurveOptions,
}

impl ModelInterpolator {
    /// The model as it was trained.
    #[must_use]
    pub fn new(model: Model) -> Self {
        let sides = if model.network().sees_future() { 2 } else { 1 };
        let options = CurveOptions {
            window: Some((sides + 4) * WARM_UP),
            warm_up: WARM_UP,
            ..CurveOptions::default()
        };
        Self {
            name: model.info().model.method(),
            options,
            model,
        }
    }

    /// What the noise-aware form of a method is called.
    pub(super) fn smooth_name(method: &str) -> String {
        format!("smooth-{method}")
    }

    /// Near the values instead of through them, with the compensation of the output.
    ///
    /// # Errors
    /// If the output of the model cannot be compensated.
    pub fn smooth(model: Model) -> Result<Self, Error> {
        let name = Self::smooth_name(&model.info().model.method());
        let model = model.with_compensation(Compensation::Output)?;
        let mut smooth = Self::new(model).named(name);
        smooth.options.smoothing = Some(SmoothOptions::default());
        Ok(smooth)
    }

    /// The same with another name, for example that of its file.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How it is applied.
    #[must_use]
    pub fn options(&self) -> &CurveOptions {
        &self.options
    }
}

impl Interpolator for ModelInterpolator {
    fn name(&self) -> &str {
        &self.name
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        if series.len() <= LONG {
            return self.walk(series, channels, times);
        }
        let mut curve = Curve::default();
        for start in (0..series.len()).step_by(STRETCH) {
            let end = series.len().min(start + STRETCH);
            let asked = &times[asked_between(series, start, end, times)];
            if asked.is_empty() {
                continue;
            }
            let around: Vec<usize> =
                (start.saturating_sub(AROUND)..series.len().min(end + AROUND)).collect();
            let near = series.take(&around)?;
            let mut found = self.walk(&near, channels, asked)?;
            bridge(series, &near, channels, asked, &mut found.values);
            curve.append(found);
        }
        Ok(curve)
    }
}

impl ModelInterpolator {
    /// A model treats all channels at once; those asked for are kept.
    fn walk(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        if series.values().iter().all(|value| value.is_nan()) {
            return Ok(vec![f64::NAN; times.len() * channels.len()].into());
        }
        let found = self.model.interpolate_with(series, times, &self.options)?;
        let all = Curve {
            predicted: Some(found.predicted),
            compensation: Some(found.compensation),
            ..found.smoothed.value.into()
        };
        if channels.iter().copied().eq(0..series.channels()) {
            return Ok(all);
        }
        Ok(all.columns(series.channels(), channels))
    }
}

/// Which of the increasing `times` lie from row `start` to before row `end`; the first and the last stretch also have
/// what lies outside of the series.
fn asked_between(series: &Series, start: usize, end: usize, times: &[f64]) -> Range<usize> {
    let before = |row: usize| match series.times().get(row) {
        Some(&time) if row > 0 => times.partition_point(|&t| t < time),
        Some(_) => 0,
        None => times.len(),
    };
    before(start)..before(end)
}

/// Draws straight lines where a channel has no known value `near` on one side: a gap of tens of thousands of rows is
/// none that a model can say anything about.
fn bridge(series: &Series, near: &Series, channels: &[usize], times: &[f64], values: &mut [f64]) {
    let width = channels.len();
    for (place, &channel) in channels.iter().enumerate() {
        let known = |&row: &usize| near.value(row, channel).is_some();
        let first = (0..near.len()).find(known).map(|row| near.times()[row]);
        let last = (0..near.len()).rfind(known).map(|row| near.times()[row]);
        let inside = |time: f64| {
            first.is_some_and(|first| first <= time) && last.is_some_and(|last| time <= last)
        };
        for (number, &time) in times.iter().enumerate() {
            if !inside(time) {
                values[number * width + place] = line(series, channel, time);
            }
        }
    }
}

/// The straight line between the known values around a time; NaN outside of them.
fn line(series: &Series, channel: usize, time: f64) -> f64 {
    let row = series.times().partition_point(|&t| t < time);
    let value = |row: &usize| series.value(*row, channel);
    let after = (row..series.len()).find(|row| value(row).is_some());
    let before = (0..row).rev().find(|row| value(row).is_some());
    let (Some(before), Some(after)) = (before, after) else {
        return f64::NAN;
    };
    let [start, end] = [before, after].map(|row| series.times()[row]);
    let [first, last] = [before, after].map(|row| series.row(row)[channel]);
    let part = (time - start) / (end - start);
    (1.0 - part) * first + part * last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_is_known_nearby_the_far_values_are_joined_by_a_line() {
        let nan = f64::NAN;
        let values = vec![0.0, 1.0, nan, 2.0, nan, 3.0, nan, 4.0, 8.0, 5.0];
        let series = Series::new(None, 2, (0..5).map(f64::from).collect(), values).unwrap();
        let near = series.take(&[1, 2, 3]).unwrap();
        let mut curve = vec![-1.0; 6];
        bridge(&series, &near, &[0, 1], &[0.5, 2.0, 3.5], &mut curve);
        assert_eq!(curve, [1.0, 1.5, 4.0, -1.0, 7.0, 4.5]);
        let ranges =
            [(0, 2), (2, 5)].map(|(a, b)| asked_between(&series, a, b, &[-1.0, 1.9, 2.0, 9.0]));
        assert_eq!(ranges, [0..2, 2..4]);
    }
}
