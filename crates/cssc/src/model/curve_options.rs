//! How a trained model is applied to a series.

use super::windows::{Cut, Window, whole};
use crate::Error;
use crate::smooth::{Penalty, SmoothOptions};

/// Settings of [`Model::interpolate_with`](super::Model::interpolate_with).
#[derive(Clone, PartialEq, Debug)]
pub struct CurveOptions {
    /// For noisy observations: the curve passes near them instead of through them, and has
    /// bands ([`Interpolation::bands`](super::Interpolation::bands)). Only where the
    /// output is compensated ([`Compensation::Output`](super::Compensation::Output)).
    /// Times, values, penalty and weights (`[times, channels]` of the series) are in the
    /// user's units; `max_fold` is the model's. Default `None`.
    pub smoothing: Option<SmoothOptions>,
    /// Most observations that are walked in one go; a longer series is cut into windows that
    /// overlap, and the curve is still C² and passes through every observation. Memory for the
    /// networks grows with this and not with the series. Default `None`: the whole series.
    pub window: Option<usize>,
    /// Observations a window walks before the first interval it is responsible for, and for
    /// a model that sees the future as many after the last. Default 50.
    pub warm_up: usize,
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self {
            smoothing: None,
            window: None,
            warm_up: 50,
        }
    }
}

impl CurveOptions {
    /// The windows of a series of `knots` observations.
    pub(crate) fn windows(&self, sees_future: bool, knots: usize) -> Result<Vec<Window>, Error> {
        let Some(length) = self.window else {
            return Ok(vec![whole(knots)]);
        };
        let before = self.warm_up;
        let after = if sees_future { self.warm_up } else { 0 };
        let least = before.saturating_add(after).saturating_add(2);
        if length < least {
            return Err(Error::Setting(format!(
                "`window` is {length}, which leaves no interval after a warm-up of {before} \
                 observations{}; give at least {least}, or a smaller `warm_up`",
                if after > 0 { " on both sides" } else { "" }
            )));
        }
        let cut = Cut {
            length,
            before,
            after,
        };
        Ok(cut.windows(knots))
    }

    /// The settings of the smoothing in the model's units, where time is divided by `unit`,
    /// for the `rows` of the series that are knots.
    pub(crate) fn scaled_smoothing(
        &self,
        max_fold: Option<usize>,
        channels: usize,
        unit: f64,
        rows: &[usize],
    ) -> Option<SmoothOptions> {
        let asked = self.smoothing.as_ref()?;
        let penalty = match asked.penalty {
            Penalty::Given(penalty) => Penalty::Given(penalty / unit.powi(3)),
            Penalty::CrossValidated => Penalty::CrossValidated,
        };
        let row = |weights: &Vec<f64>, row: usize| {
            let row = weights.get(row * channels..(row + 1) * channels);
            row.map(<[f64]>::to_vec).unwrap_or_default()
        };
        let weights = asked.weights.as_ref().map(|weights| {
            let rows = rows.iter().flat_map(|&r| row(weights, r));
            rows.collect()
        });
        Some(SmoothOptions {
            penalty,
            weights,
            max_fold,
            ..asked.clone()
        })
    }
}
