//! Settings of the compensation for noisy observations.

use crate::compensate::{CompensationOptions, DEFAULT_MAX_FOLD, EndRule};
use crate::error::{Error, check_length};
use crate::path::Side;

/// How strongly the curve is smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Penalty {
    /// λ of each channel by generalised cross-validation.
    #[default]
    CrossValidated,
    /// This λ for all channels, at least 0. Its unit is that of time to the third power.
    Given(f64),
}

/// Settings of [`smooth`](super::smooth).
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothOptions {
    /// How strongly; default by cross-validation.
    pub penalty: Penalty,
    /// Weight of each observation, `[times, channels]`, positive; best one over the variance
    /// of its noise, up to a factor. Read only where observed. Default `None`: all 1.
    pub weights: Option<Vec<f64>>,
    /// Weight of a knot that is pinned to the prediction, as a part of the mean weight of the
    /// channel's observations; positive. Default [`DEFAULT_PIN_WEIGHT`].
    pub pin_weight: f64,
    /// As [`CompensationOptions::max_fold`].
    pub max_fold: Option<usize>,
    /// As [`CompensationOptions::last_value`].
    pub last_value: Side,
}

/// Weight of a pin unless told otherwise: the prediction is believed like an observation with
/// three times the noise.
pub const DEFAULT_PIN_WEIGHT: f64 = 0.1;

impl Default for SmoothOptions {
    fn default() -> Self {
        SmoothOptions {
            penalty: Penalty::default(),
            weights: None,
            pin_weight: DEFAULT_PIN_WEIGHT,
            max_fold: Some(DEFAULT_MAX_FOLD),
            last_value: Side::Right,
        }
    }
}

impl SmoothOptions {
    /// The settings of the compensation that λ = 0 is.
    #[must_use]
    pub fn compensation(&self) -> CompensationOptions {
        CompensationOptions {
            end_rule: EndRule::Compensation,
            max_fold: self.max_fold,
            last_value: self.last_value,
        }
    }

    pub(super) fn check(
        &self,
        times: &[f64],
        channels: usize,
        observed: &[bool],
    ) -> Result<(), Error> {
        positive("pin_weight", self.pin_weight)?;
        if let Penalty::Given(value) = self.penalty
            && !(value >= 0.0 && value.is_finite())
        {
            return Err(Error::OutOfRange {
                what: "penalty",
                value,
                expected: "0 or a positive number",
            });
        }
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        let expected = times.len() * channels;
        check_length("weights", weights.len(), expected, "times x channels")?;
        let read = weights.iter().zip(observed).filter(|(_, seen)| **seen);
        for (&weight, _) in read {
            positive("weights", weight)?;
        }
        Ok(())
    }

    /// Weight of entry `at` of the block of observations.
    pub(super) fn weight(&self, at: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[at])
    }
}

fn positive(what: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let expected = "a positive number";
    Err(Error::OutOfRange {
        what,
        value,
        expected,
    })
}
