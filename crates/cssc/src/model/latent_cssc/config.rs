//! Settings of latent CSSC.

use crate::EndRule;
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::model::{Compensation, CompensationSettings};
use serde::{Deserialize, Serialize};

/// Shape and behaviour of a latent CSSC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LatentCsscConfig {
    /// Channels of the data; at least 1. Default 1.
    pub channels: usize,
    /// Width of tokens and queries, a multiple of `heads`. Default 64.
    pub width: usize,
    /// Layers of self-attention. Default 2.
    pub layers: usize,
    /// Heads of every attention. Default 4.
    pub heads: usize,
    /// Width of the networks after each attention. Default 128.
    pub feed_forward: usize,
    /// Frequencies of the features of time: half a period over the series, one, one and a half, ….
    /// Default 24.
    pub frequencies: usize,
    /// Sines whose frequencies the code chooses. Default 32.
    pub sines: usize,
    /// Numbers of the code. Default 32.
    pub code: usize,
    /// Largest frequency of the sines at the beginning, in radians over the series. Default 40.
    pub fastest_sine: f64,
    /// Sweeps that smooth the residuals before c passes through them; their rough part becomes narrow bumps. 0 for
    /// none. Default 3.
    pub sweeps: usize,
    /// What is compensated: the output, or nothing. Default the output.
    pub compensation: Compensation,
    /// What holds at the two ends: only `compensation`, for which no derivatives are needed.
    pub end_rule: EndRule,
    /// Pins in a hole, as in all models.
    pub max_fold: Option<usize>,
    /// Weight α of the squared compensation in the loss. Default 1.
    pub compensation_weight: f64,
}

impl Default for LatentCsscConfig {
    fn default() -> Self {
        Self {
            channels: 1,
            width: 64,
            layers: 2,
            heads: 4,
            feed_forward: 128,
            frequencies: 24,
            sines: 32,
            code: 32,
            fastest_sine: 40.0,
            sweeps: 3,
            compensation: Compensation::Output,
            end_rule: EndRule::Compensation,
            max_fold: Some(DEFAULT_MAX_FOLD),
            compensation_weight: 1.0,
        }
    }
}

impl LatentCsscConfig {
    /// What is compensated, and how.
    #[must_use]
    pub fn compensation_settings(&self) -> CompensationSettings {
        CompensationSettings {
            compensation: self.compensation,
            end_rule: self.end_rule,
            max_fold: self.max_fold,
            weight: self.compensation_weight,
        }
    }

    /// What is wrong with these settings, if anything.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        let sizes = [
            ("channels", self.channels),
            ("width", self.width),
            ("heads", self.heads),
            ("feed-forward", self.feed_forward),
            ("frequencies", self.frequencies),
            ("sines", self.sines),
            ("code", self.code),
        ];
        for (name, size) in sizes {
            if size == 0 || size > 1 << 20 {
                return Err(format!(
                    "`{name}` is {size}; give a number from 1 to {}",
                    1 << 20
                ));
            }
        }
        if self.sweeps > 64 {
            return Err(format!("`sweeps` is {}; give at most 64", self.sweeps));
        }
        if self.layers > 64 {
            return Err(format!("`layers` is {}; give at most 64", self.layers));
        }
        if !self.width.is_multiple_of(self.heads) {
            return Err(format!(
                "`width` is {} and `heads` is {}; give a width that is a multiple of the heads",
                self.width, self.heads
            ));
        }
        for (name, value) in [
            ("compensation-weight", self.compensation_weight),
            ("fastest-sine", self.fastest_sine),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(format!("`{name}` is {value}; give 0 or a positive number"));
            }
        }
        if self.compensation == Compensation::Hidden {
            return Err(
                "`compensation` is hidden, but latent CSSC has no state; give output or none"
                    .into(),
            );
        }
        if self.end_rule != EndRule::Compensation {
            return Err(
                "`end-rule` must be compensation: the prediction is smooth everywhere".into(),
            );
        }
        Ok(())
    }
}
