//! How the learning rate changes over a training.

use serde::{Deserialize, Serialize};

/// The factor of the base rate at each step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateSchedule {
    /// Always 1.
    Constant,
    /// `decay`^step, not below `floor` (the reference code: 0.999 and 0.1).
    Exponential {
        /// Factor a step.
        decay: f64,
        /// Smallest factor.
        floor: f64,
    },
    /// From 1 down to `floor` along half a cosine over the whole training.
    Cosine {
        /// Last factor.
        floor: f64,
    },
    /// Up from a tenth to 1 over the first `rise` of the training, then down to `floor`, both
    /// along half a cosine (Smith and Topin 2017).
    OneCycle {
        /// Part of the training spent rising, between 0 and 1.
        rise: f64,
        /// Last factor.
        floor: f64,
    },
}

impl RateSchedule {
    /// What is wrong with these settings, if anything.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(self) -> Result<(), String> {
        let parts = match self {
            Self::Constant => return Ok(()),
            Self::Exponential { decay, floor } => [("decay", decay), ("floor", floor)],
            Self::Cosine { floor } => [("floor", floor), ("floor", floor)],
            // A training that only rises would divide by the part that falls, 0.
            Self::OneCycle { rise: 1.0, .. } => {
                return Err("`rise` is 1; give a number from 0, below 1".into());
            }
            Self::OneCycle { rise, floor } => [("rise", rise), ("floor", floor)],
        };
        match parts.iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            Some((name, value)) => Err(format!("`{name}` is {value}; give a number from 0 to 1")),
            None => Ok(()),
        }
    }

    /// The factor at `step` of `steps`.
    #[must_use]
    pub fn factor(self, step: u64, steps: u64) -> f64 {
        let part = if steps == 0 {
            1.0
        } else {
            (step as f64 / steps as f64).min(1.0)
        };
        match self {
            Self::Constant => 1.0,
            Self::Exponential { decay, floor } => decay.powf(step as f64).max(floor),
            Self::Cosine { floor } => glide(1.0, floor, part),
            Self::OneCycle { rise, .. } if part < rise => glide(0.1, 1.0, part / rise),
            Self::OneCycle { rise, floor } => glide(1.0, floor, (part - rise) / (1.0 - rise)),
        }
    }
}

/// From `from` to `to` along half a cosine.
fn glide(from: f64, to: f64, part: f64) -> f64 {
    to + (from - to) * 0.5 * (1.0 + (std::f64::consts::PI * part).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_start_and_end_where_they_should() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(RateSchedule::Constant.factor(7, 10), 1.0);
        close(
            RateSchedule::Exponential {
                decay: 0.5,
                floor: 0.1,
            }
            .factor(2, 10),
            0.25,
        );
        close(
            RateSchedule::Exponential {
                decay: 0.5,
                floor: 0.1,
            }
            .factor(9, 10),
            0.1,
        );
        close(RateSchedule::Cosine { floor: 0.2 }.factor(0, 10), 1.0);
        close(RateSchedule::Cosine { floor: 0.2 }.factor(10, 10), 0.2);
        let cycle = RateSchedule::OneCycle {
            rise: 0.3,
            floor: 0.01,
        };
        close(cycle.factor(0, 10), 0.1);
        close(cycle.factor(3, 10), 1.0);
        close(cycle.factor(10, 10), 0.01);
    }
}
