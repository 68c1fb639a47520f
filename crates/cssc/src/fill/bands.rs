//! How sure a filled value is: a band around it, calibrated on what was hidden.
//!
//! The noise-aware form knows a deviation at every time: small near values, large in the middle of
//! a gap (method notes, section 6). How wide a band must be in these units is not believed but
//! measured: the factor of a channel is such that the wanted part of its hidden values lies inside.
//! The measured coverage comes from bands calibrated on the other half of the gaps.

use super::hold_out::Hidden;

/// BandCalibration of one level for all channels.
#[derive(Clone, Debug, PartialEq)]
pub struct BandCalibration {
    /// The part of values that is to lie inside, between 0 and 1.
    pub level: f64,
    /// Half the width of the band in deviations, for every channel.
    pub factors: Vec<f64>,
}

/// Which part of the hidden values lay inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// With the deviations believed as they are.
    pub before: f64,
    /// With bands calibrated on the other half of the gaps.
    pub after: f64,
    /// Hidden values that counted.
    pub count: usize,
}

impl Coverage {
    /// Over all channels: the part inside calibrated bands.
    #[must_use]
    pub fn after_of_all(coverages: &[Self]) -> f64 {
        let count: usize = coverages.iter().map(|one| one.count).sum();
        let inside: f64 = coverages
            .iter()
            .map(|one| one.after * one.count as f64)
            .sum();
        inside / count.max(1) as f64
    }
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
        let mut factors = Vec::with_capacity(channels);
        let mut coverages = Vec::with_capacity(channels);
        for channel in 0..channels {
            // Ratios of error and deviation, with the half of the gaps they belong to.
            let mut ratios: Vec<(f64, bool)> = Vec::new();
            let (mut half, mut last) = (false, None);
            for ((hidden, predicted), std_dev) in hidden.iter().zip(predicted).zip(std_devs) {
                if hidden.channel != channel {
                    continue;
                }
                let here = (hidden.series, hidden.row);
                if last.is_none_or(|(series, row)| series != here.0 || row + 1 != here.1) {
                    half = !half;
                }
                last = Some(here);
                let error = (predicted - hidden.value).abs();
                let ratio = if error == 0.0 { 0.0 } else { error / std_dev };
                ratios.push((ratio, half));
            }
            factors.push(factor(level, ratios.iter().map(|r| r.0)).unwrap_or(believed));
            coverages.push(coverage(level, believed, &ratios));
        }
        (Self { level, factors }, coverages)
    }
}

/// The factor that covers the wanted part of values like these: their quantile, moved up by
/// one value, since the next one may lie anywhere between them.
fn factor(level: f64, ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let mut ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_by(f64::total_cmp);
    let place = ((ratios.len() + 1) as f64 * level).ceil() as usize;
    let last = ratios.len().checked_sub(1)?;
    Some(ratios[(place.max(1) - 1).min(last)])
}

fn coverage(level: f64, believed: f64, ratios: &[(f64, bool)]) -> Coverage {
    let inside = |factor: f64, half: Option<bool>| {
        let counts = ratios
            .iter()
            .filter(|r| half.is_none_or(|half| r.1 == half));
        counts.filter(|r| r.0 <= factor).count() as f64
    };
    let other = |half: bool| factor(level, ratios.iter().filter(|r| r.1 != half).map(|r| r.0));
    let after: f64 = [false, true]
        .map(|half| inside(other(half).unwrap_or(believed), Some(half)))
        .iter()
        .sum();
    let count = ratios.len();
    Coverage {
        before: inside(believed, None) / count.max(1) as f64,
        after: after / count.max(1) as f64,
        count,
    }
}

/// Half the width of the interval that holds `level` of a normal distribution, in deviations,
/// by bisection of the error function (its integral by Simpson's rule).
fn normal_factor(level: f64) -> f64 {
    let inside = |z: f64| {
        let panels = 200;
        let step = z / f64::from(panels);
        let density = |x: f64| (-0.5 * x * x).exp() / (std::f64::consts::TAU).sqrt();
        let sum: f64 = (0..=panels)
            .map(|k| {
                let weight = match k {
                    0 => 1.0,
                    k if k == panels => 1.0,
                    k if k % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * density(f64::from(k) * step)
            })
            .sum();
        2.0 * sum * step / 3.0
    };
    let (mut low, mut high) = (0.0, 12.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if inside(middle) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    #[test]
    fn the_normal_factor_is_the_textbook_one() {
        for (level, factor) in [
            (0.5, 0.674_489_75),
            (0.9, 1.644_853_63),
            (0.95, 1.959_963_98),
        ] {
            assert!((normal_factor(level) - factor).abs() < 1e-7);
        }
    }

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
        assert_eq!(coverage[1].count, 0);
        assert!((bands.factors[1] - 1.645).abs() < 1e-3);
    }
}
