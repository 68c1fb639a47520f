//! How sure a filled value is: a band around it, calibrated on what was hidden.
//!
//! The noise-aware form knows a deviation at every time: small near values, large in the middle of
//! a gap (method notes, section 6). How wide a band must be in these units is not believed but
//! measured: the factor of a channel is such that the wanted part of its hidden values lies inside.
//! The measured coverage comes from bands calibrated on the other half of the gaps.

use super::hold_out::Hidden;
use super::interpolator::set_column;
use super::normal::normal_factor;
use crate::data::Series;
use crate::smooth::{SmoothOptions, smoothing_spline};
use crate::{Error, Smoothed};
use serde::{Deserialize, Serialize};

/// Bands of one level for all channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandCalibration {
    /// The part of values that is to lie inside, between 0 and 1.
    pub level: f64,
    /// Half the width of the band in deviations, for every channel.
    pub factors: Vec<f64>,
}

/// Which part of the hidden values of a channel lay inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// With the deviations believed as they are.
    pub before: f64,
    /// With bands calibrated on the other half of the gaps.
    pub after: f64,
}

/// The ratio of error and deviation of a hidden value, and the half of the gaps it belongs to.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    value: f64,
    half: bool,
}

impl BandCalibration {
    /// Calibrates bands around `predicted`; `std_devs` are those of the hidden values. A channel
    /// of which nothing was hidden gets the factor of the normal distribution.
    #[must_use]
    pub fn calibrate(
        level: f64,
        channels: usize,
        hidden: &[Hidden],
        predicted: &[f64],
        std_devs: &[f64],
    ) -> (Self, Vec<Coverage>) {
        let believed = normal_factor(level);
        let ratios = ratios(channels, hidden, predicted, std_devs);
        let factors = ratios
            .iter()
            .map(|own| factor(level, own.iter()).unwrap_or(believed));
        let factors = factors.collect();
        let coverages = ratios.iter().map(|own| coverage(level, believed, own));
        (Self { level, factors }, coverages.collect())
    }
}

/// The ratios of every channel; neighbouring gaps belong to different halves.
fn ratios(
    channels: usize,
    hidden: &[Hidden],
    predicted: &[f64],
    std_devs: &[f64],
) -> Vec<Vec<Ratio>> {
    let mut ratios = vec![Vec::new(); channels];
    let mut last: Vec<Option<(usize, usize)>> = vec![None; channels];
    let mut half = vec![false; channels];
    for ((hidden, predicted), std_dev) in hidden.iter().zip(predicted).zip(std_devs) {
        let channel = hidden.channel;
        let follows = (hidden.series, hidden.row.wrapping_sub(1));
        if last[channel] != Some(follows) {
            half[channel] = !half[channel];
        }
        last[channel] = Some((hidden.series, hidden.row));
        let error = (predicted - hidden.value).abs();
        let value = if error == 0.0 { 0.0 } else { error / std_dev };
        ratios[channel].push(Ratio {
            value,
            half: half[channel],
        });
    }
    ratios
}

/// The factor that covers the wanted part of values like these: their quantile, moved up by
/// one value, since the next one may lie anywhere between them.
fn factor<'a>(level: f64, ratios: impl Iterator<Item = &'a Ratio>) -> Option<f64> {
    let ratios = ratios.map(|ratio| ratio.value);
    let mut ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_by(f64::total_cmp);
    let place = ((ratios.len() + 1) as f64 * level).ceil() as usize;
    let last = ratios.len().checked_sub(1)?;
    Some(ratios[(place.max(1) - 1).min(last)])
}

fn coverage(level: f64, believed: f64, ratios: &[Ratio]) -> Coverage {
    let count = ratios.len().max(1) as f64;
    let inside = |factor: f64, counts: &dyn Fn(&Ratio) -> bool| {
        let inside = ratios.iter().filter(|r| counts(r) && r.value <= factor);
        inside.count() as f64
    };
    let after: f64 = [false, true]
        .map(|half| {
            let other = factor(level, ratios.iter().filter(|r| r.half != half));
            inside(other.unwrap_or(believed), &|r| r.half == half)
        })
        .iter()
        .sum();
    Coverage {
        before: inside(believed, &|_| true) / count,
        after: after / count,
    }
}

/// Deviations of new observations of some channels at `times`, as the smoothing spline of each
/// knows them, [times, channels].
///
/// # Errors
/// Only if a spline cannot be fitted, which would be a fault of this library.
pub fn smoothing_std_devs(
    series: &Series,
    channels: &[usize],
    times: &[f64],
) -> Result<Vec<f64>, Error> {
    let mut std_devs = vec![f64::NAN; times.len() * channels.len()];
    for (place, &channel) in channels.iter().enumerate() {
        let (knots, known) = series.observed(channel);
        if !knots.is_empty() {
            let spline = smoothing_spline(&knots, 1, &known, &SmoothOptions::default())?;
            let found = observation_std_devs(&spline, times)?;
            set_column(&mut std_devs, channels.len(), place, &found);
        }
    }
    Ok(std_devs)
}

/// Of a new observation: the deviation of the curve, and the noise.
pub(crate) fn observation_std_devs(spline: &Smoothed, times: &[f64]) -> Result<Vec<f64>, Error> {
    let noise = spline.noise[0];
    let std_devs = spline.std_devs(times)?;
    Ok(std_devs.iter().map(|curve| curve.hypot(noise)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// Errors are three times as large as the deviations say: believed bands cover far too
    /// little, calibrated ones what they should (1,000 values: two standard errors are 0.02).
    #[test]
    fn calibration_repairs_deviations_that_are_too_small() {
        let mut random = Random::new(5);
        let hidden: Vec<Hidden> = (0..1000)
            .map(|k| Hidden {
                series: 0,
                row: 3 * k,
                channel: 0,
                value: random.normal(0.0, 3.0),
                gap: 2.0,
            })
            .collect();
        let zeros = vec![0.0; 1000];
        let ones = vec![1.0; 1000];
        let (bands, coverage) = BandCalibration::calibrate(0.9, 2, &hidden, &zeros, &ones);
        assert!(coverage[0].before < 0.5);
        assert!((coverage[0].after - 0.9).abs() < 0.03, "{coverage:?}");
        assert!((bands.factors[0] - 3.0 * 1.645).abs() < 0.4);
        assert!((bands.factors[1] - 1.645).abs() < 1e-3);
    }
}
