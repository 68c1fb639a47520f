//! A trained model as an interpolator, and how methods are made of models.

use crate::data::Series;
use crate::evaluate::{Curve, Interpolator};
use crate::model::{Compensation, CurveOptions, Model, ModelConfig};
use crate::{Error, SmoothOptions};

/// Observations a window of a long series walks before those it is responsible for.
const WARM_UP: usize = 50;

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

    /// Near the values instead of through them, with the compensation of the output.
    ///
    /// # Errors
    /// If the output of the model cannot be compensated.
    pub fn smooth(model: Model) -> Result<Self, Error> {
        let model = model.with_compensation(Compensation::Output)?;
        let mut smooth = Self::new(model).named("smooth-cssc");
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

    /// A model treats all channels at once; those asked for are kept.
    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
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
