//! How sure a filled value is: a band around it, calibrated on what was hidden.
//!
//! A method may tell its deviations, as the noise-aware form does (method notes, section 6); otherwise
//! they are the sizes of its errors on hidden values, by length and place in the gap (`spread`). How wide a
//! band must be in these units is not believed but measured: the factor of a channel is such that the
//! wanted part of its hidden values lies inside, drawn towards that of all channels where few gaps speak. The measured coverage comes from bands calibrated on the
//! other half of the gaps.

use super::hold_out::{Hidden, HoldOut, gap_numbers};
use super::normal::normal_factor;
use super::spread::Spread;
use crate::{Error, Smoothed};
use serde::{Deserialize, Serialize};

/// Bands of one level for all channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandCalibration {
    /// The part of values that is to lie inside, between 0 and 1.
    pub level: f64,
    /// Half the width of the band in deviations, for every channel.
    pub factors: Vec<f64>,
    /// Deviations of every channel, for methods that tell none.
    #[serde(default)]
    pub spreads: Vec<Spread>,
    /// How long errors of every channel remember each other: e^(-distance/memory) is their correlation.
    #[serde(default)]
    pub memories: Vec<f64>,
}

/// From errors in units of their deviations: the time over which those of neighbouring rows of a gap fall to 1/e
/// of their likeness, for every channel; 0 where they are not alike.
pub(super) fn memories(held: &HoldOut, predicted: &[f64], widths: &[f64]) -> Vec<f64> {
    let channels = held.visible.channels();
    // Sums of products, squares and distances of neighbours.
    let mut sums = vec![(0.0, 0.0, 0.0, 0.0); channels];
    let mut last: Vec<Option<(usize, usize, f64)>> = vec![None; channels];
    for ((one, predicted), width) in held.hidden.iter().zip(predicted).zip(widths) {
        let ratio = ((one.value - predicted) / width).clamp(-4.0, 4.0);
        let times = held.visible.series()[one.series].times();
        if let Some((series, row, before)) = last[one.channel]
            && (series, row + 1) == (one.series, one.row)
            && !(ratio * before).is_nan()
        {
            let sum = &mut sums[one.channel];
            sum.0 += ratio * before;
            sum.1 += 0.5 * (ratio * ratio + before * before);
            sum.2 += times[one.row] - times[row];
            sum.3 += 1.0;
        }
        last[one.channel] = Some((one.series, one.row, ratio));
    }
    let memory = |(products, squares, distance, count): (f64, f64, f64, f64)| {
        let likeness = (products / squares.max(f64::MIN_POSITIVE)).min(0.999);
        if likeness > 0.0 {
            -distance / count / likeness.ln()
        } else {
            0.0
        }
    };
    sums.into_iter().map(memory).collect()
}

/// How well bands of several levels hold, and what they are worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Levels, and the part of the hidden values inside bands of that level.
    pub levels: Vec<(f64, f64)>,
    /// The continuous ranked probability score in standard deviations: the mean distance of the
    /// predicted distribution from the value, which is the mean absolute error for a single number.
    pub crps: f64,
}

/// Gaps that speak for the factor of all channels.
const USUAL_GAPS: f64 = 100.0;
/// Levels that are told.
const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];
/// Levels of the bands that the score is an average over.
const SCORED: usize = 20;

/// Which part of the hidden values of a channel lay inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// With the deviations believed as they are.
    pub before: f64,
    /// With bands calibrated on the other half of the gaps.
    pub after: f64,
}

/// The ratio of error and deviation of a hidden value, the gap it lies in, and the half of the gaps this
/// belongs to.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    value: f64,
    gap: usize,
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
        let usual = factor(level, ratios.iter().flatten()).unwrap_or(believed);
        let factors = ratios.iter().map(|own| match own.is_empty() {
            true => believed,
            false => drawn(level, own.iter(), usual),
        });
        let factors = factors.collect();
        let spreads = Vec::new();
        let coverages = ratios.iter().map(|own| coverage(level, usual, own));
        let calibration = Self {
            level,
            factors,
            spreads,
            memories: Vec::new(),
        };
        (calibration, coverages.collect())
    }
}

impl Reliability {
    /// Of bands calibrated on the other half of the gaps; `scales` are the standard deviations of the
    /// channels.
    #[must_use]
    pub fn measure(scales: &[f64], hidden: &[Hidden], predicted: &[f64], std_devs: &[f64]) -> Self {
        let ratios = ratios(scales.len(), hidden, predicted, std_devs);
        let usual = |level: f64| {
            factor(level, ratios.iter().flatten()).unwrap_or_else(|| normal_factor(level))
        };
        let covered = |level: f64| {
            let usual = usual(level);
            let inside = ratios
                .iter()
                .map(|own| coverage(level, usual, own).after * own.len() as f64);
            (level, inside.sum::<f64>() / hidden.len().max(1) as f64)
        };
        let mut crps = 0.0;
        let mut places = vec![0; scales.len()];
        let levels: Vec<f64> = (0..SCORED)
            .map(|k| (k as f64 + 0.5) / SCORED as f64)
            .collect();
        let all: Vec<f64> = levels.iter().map(|&level| usual(level)).collect();
        let factors: Vec<[Vec<f64>; 2]> = ratios
            .iter()
            .map(|own| half_factors(own, &levels, &all))
            .collect();
        for (one, std_dev) in hidden.iter().zip(std_devs) {
            let channel = one.channel;
            let ratio = ratios[channel][places[channel]];
            places[channel] += 1;
            if !ratio.value.is_finite() {
                continue;
            }
            let pinballs = levels
                .iter()
                .zip(&factors[channel][usize::from(ratio.half)]);
            let score: f64 = pinballs
                .map(|(level, factor)| pinball(*level, *factor, ratio.value))
                .sum();
            crps += score / SCORED as f64 * std_dev / scales[channel];
        }
        Self {
            levels: LEVELS.map(covered).to_vec(),
            crps: crps / hidden.len().max(1) as f64,
        }
    }
}

/// The factors of bands of these levels for each half, from the other.
fn half_factors(ratios: &[Ratio], levels: &[f64], usual: &[f64]) -> [Vec<f64>; 2] {
    [false, true].map(|half| {
        let factor = |(&level, &usual): (&f64, &f64)| {
            let others = ratios.iter().filter(|ratio| ratio.half != half);
            drawn(level, others, usual)
        };
        levels.iter().zip(usual).map(factor).collect()
    })
}

/// Both quantile scores of a band of this level and half width, for a value `distance` from its middle.
fn pinball(level: f64, half_width: f64, distance: f64) -> f64 {
    let below = 0.5 * (1.0 - level);
    let lower = below * (distance + half_width);
    let upper = match distance - half_width {
        outside if outside > 0.0 => (1.0 - below) * outside,
        inside => -below * inside,
    };
    lower + upper
}

/// The ratios of every channel; neighbouring gaps belong to different halves.
fn ratios(
    channels: usize,
    hidden: &[Hidden],
    predicted: &[f64],
    std_devs: &[f64],
) -> Vec<Vec<Ratio>> {
    let mut ratios = vec![Vec::new(); channels];
    let gaps = gap_numbers(channels, hidden);
    for (at, (hidden, std_dev)) in hidden.iter().zip(std_devs).enumerate() {
        let error = (predicted[at] - hidden.value).abs();
        let value = if error == 0.0 { 0.0 } else { error / std_dev };
        ratios[hidden.channel].push(Ratio {
            value,
            gap: gaps[at],
            half: gaps[at] % 2 == 1,
        });
    }
    ratios
}

/// The factor that covers the wanted part of values like these: their quantile. It is not moved up by one gap, as it would be
/// for the same method in a new gap: what fills is fitted to all values, and a little nearer than what was judged.
fn factor<'a>(level: f64, ratios: impl Iterator<Item = &'a Ratio>) -> Option<f64> {
    let ratios: Vec<&Ratio> = ratios.filter(|ratio| ratio.value.is_finite()).collect();
    let mut values: Vec<f64> = ratios.iter().map(|ratio| ratio.value).collect();
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * level).ceil() as usize;
    let last = values.len().checked_sub(1)?;
    Some(values[(place.max(1) - 1).min(last)])
}

/// The factor of a channel, drawn towards the usual one where few gaps speak.
fn drawn<'a>(level: f64, ratios: impl Iterator<Item = &'a Ratio>, usual: f64) -> f64 {
    let own: Vec<&Ratio> = ratios.collect();
    let gaps = own.chunk_by(|a, b| a.gap == b.gap).count() as f64;
    match factor(level, own.into_iter()) {
        Some(factor) if factor > 0.0 && usual > 0.0 => {
            let part = gaps / (gaps + USUAL_GAPS);
            (part * factor.ln() + (1.0 - part) * usual.ln()).exp()
        }
        factor => factor.unwrap_or(usual),
    }
}

fn coverage(level: f64, usual: f64, ratios: &[Ratio]) -> Coverage {
    let count = ratios.len().max(1) as f64;
    let inside = |factor: f64, counts: &dyn Fn(&Ratio) -> bool| {
        let inside = ratios.iter().filter(|r| counts(r) && r.value <= factor);
        inside.count() as f64
    };
    let after: f64 = [false, true]
        .map(|half| {
            let other = drawn(level, ratios.iter().filter(|r| r.half != half), usual);
            inside(other, &|r| r.half == half)
        })
        .iter()
        .sum();
    Coverage {
        before: inside(normal_factor(level), &|_| true) / count,
        after: after / count,
    }
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
                part: 0.5,
                alone: 0.0,
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

    /// A normal distribution judged by draws of itself has the score σ/√π = 0.5642 σ.
    #[test]
    fn the_score_of_a_normal_distribution_is_the_textbook_one() {
        let mut random = Random::new(9);
        let hidden: Vec<Hidden> = (0..4000)
            .map(|k| Hidden {
                series: 0,
                row: 3 * k,
                channel: 0,
                value: random.normal(0.0, 2.0),
                gap: 2.0,
                part: 0.5,
                alone: 0.0,
            })
            .collect();
        let (zeros, ones) = (vec![0.0; 4000], vec![1.0; 4000]);
        let found = Reliability::measure(&[2.0], &hidden, &zeros, &ones);
        assert!((found.crps - 0.5642).abs() < 0.02, "{found:?}");
        for (level, inside) in found.levels {
            assert!((level - inside).abs() < 0.03, "{level}: {inside}");
        }
    }
}
