//! How wide errors are: by channel, class of gap length and place in the gap.
//!
//! In the middle of a gap a method knows less than beside a value. With u = 4W(1-W) the size of an error is
//! taken as s·u^γ: γ for each class of gap length over all channels (½ would be a random walk between
//! two known values), s for each channel and class, near what the class usually is for the channel where
//! few gaps speak. A last factor for each class makes them standard deviations in the sense that bands
//! of the wanted level hold over all channels, as they would for normal errors; that of each channel is
//! found by calibration (`bands`).

use super::hold_out::Hidden;
use super::normal::normal_factor;
use serde::{Deserialize, Serialize};

/// Fewest errors of a class of gap length; classes are doublings of the length where there are enough.
const FEWEST_OF_CLASS: usize = 60;
/// Powers of u that are tried.
const POWERS: [f64; 4] = [0.0, 0.25, 0.5, 1.0];
/// Nothing is nearer to a known value than this part of the middle of a gap.
const LEAST: f64 = 0.02;
/// Errors that speak for what is usual.
const USUAL_ERRORS: f64 = 30.0;

/// The size of the errors of a method in one channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The longest gap of each class but the last.
    edges: Vec<f64>,
    scales: Vec<f64>,
    powers: Vec<f64>,
}

impl Spread {
    /// The size of an error at this part (0 to 1) of a gap.
    #[must_use]
    pub fn at(&self, gap: f64, part: f64) -> f64 {
        let class = self.edges.partition_point(|&edge| edge < gap);
        match (self.scales.get(class), self.powers.get(class)) {
            (Some(scale), Some(power)) => scale * bump(part).powf(*power),
            _ => f64::NAN,
        }
    }

    /// Of every channel, from the answers to hidden values; `level` is the part of the errors that is to
    /// lie within as many of these sizes as for normal errors.
    #[must_use]
    pub fn of_channels(
        channels: usize,
        hidden: &[Hidden],
        predicted: &[f64],
        level: f64,
    ) -> Vec<Self> {
        let mut lengths: Vec<f64> = hidden.iter().map(|one| one.gap).collect();
        lengths.sort_by(f64::total_cmp);
        let edges = doublings(&lengths);
        let class = |one: &Hidden| edges.partition_point(|&edge| edge < one.gap);
        let errors: Vec<f64> = hidden
            .iter()
            .zip(predicted)
            .map(|(one, p)| (p - one.value).abs())
            .collect();
        let classes = edges.len() + 1;
        let own = |wanted: usize| (0..errors.len()).filter(move |&at| class(&hidden[at]) == wanted);
        let powers: Vec<f64> = (0..classes)
            .map(|number| power(own(number).map(|at| (errors[at], bump(hidden[at].part)))))
            .collect();
        // Errors as they would be in the middle of their gaps.
        let middle =
            |at: usize| errors[at] / bump(hidden[at].part).powf(powers[class(&hidden[at])]);
        let mut sums = vec![vec![(0.0, 0.0); classes]; channels];
        for at in (0..errors.len()).filter(|&at| errors[at].is_finite()) {
            let sum = &mut sums[hidden[at].channel][class(&hidden[at])];
            *sum = (sum.0 + middle(at), sum.1 + 1.0);
        }
        let usual = usual_ratios(&sums, classes);
        let scales: Vec<Vec<f64>> = sums.iter().map(|sums| scales(sums, &usual)).collect();
        let factors: Vec<f64> = (0..classes)
            .map(|number| {
                let ratios = own(number).map(|at| middle(at) / scales[hidden[at].channel][number]);
                let ratios = ratios.filter(|ratio| ratio.is_finite());
                quantile(ratios.collect(), level) / normal_factor(level)
            })
            .collect();
        let spread = |scales: &Vec<f64>| Self {
            edges: edges.clone(),
            scales: scales
                .iter()
                .zip(&factors)
                .map(|(scale, factor)| scale * factor)
                .collect(),
            powers: powers.clone(),
        };
        scales.iter().map(spread).collect()
    }
}

/// Lengths that cut sorted ones into doublings of the shortest; a class of few joins the next.
fn doublings(sorted: &[f64]) -> Vec<f64> {
    let mut edges = Vec::new();
    let finite = sorted.iter().filter(|length| length.is_finite()).count();
    let Some(&shortest) = sorted.first().filter(|shortest| **shortest > 0.0) else {
        return edges;
    };
    let mut edge = 1.25 * shortest;
    let mut from = 0;
    while edge < sorted[finite.max(1) - 1] {
        let to = sorted.partition_point(|&length| length <= edge);
        if to - from >= FEWEST_OF_CLASS && finite - to >= FEWEST_OF_CLASS {
            edges.push(edge);
            from = to;
        }
        edge *= 2.0;
    }
    edges
}

/// 1 in the middle of a gap, near 0 at its ends.
fn bump(part: f64) -> f64 {
    (4.0 * part * (1.0 - part)).max(LEAST)
}

/// The power of u that suits errors best: the likelihood of Laplace's distribution is largest where
/// ln of the mean of |e|/u^γ plus the mean of γ ln u is smallest.
fn power(errors: impl Iterator<Item = (f64, f64)>) -> f64 {
    let errors: Vec<(f64, f64)> = errors.filter(|(error, _)| error.is_finite()).collect();
    let count = errors.len().max(1) as f64;
    let logs = errors.iter().map(|(_, u)| u.ln()).sum::<f64>() / count;
    let cost = |power: f64| {
        let sizes = errors.iter().map(|(error, u)| error / u.powf(power));
        (sizes.sum::<f64>() / count).ln() + power * logs
    };
    let best = |a: &f64, b: &f64| cost(*a).total_cmp(&cost(*b));
    POWERS.into_iter().min_by(best).unwrap_or(0.5)
}

/// How large errors of each class usually are, relative to those of the channel over all classes.
fn usual_ratios(sums: &[Vec<(f64, f64)>], classes: usize) -> Vec<f64> {
    let ratio = |class: usize| {
        let (mut over, mut under) = (0.0, 0.0);
        for channel in sums {
            let (sum, count): (f64, f64) = channel
                .iter()
                .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            if sum > 0.0 {
                over += channel[class].0 / (sum / count);
                under += channel[class].1;
            }
        }
        if under > 0.0 && over > 0.0 {
            over / under
        } else {
            1.0
        }
    };
    (0..classes).map(ratio).collect()
}

/// The sizes of the classes of one channel.
fn scales(sums: &[(f64, f64)], usual: &[f64]) -> Vec<f64> {
    // The level of the channel: what its errors are relative to what is usual for their classes.
    let expected: f64 = sums
        .iter()
        .zip(usual)
        .map(|(sum, usual)| sum.1 * usual)
        .sum();
    let all: f64 = sums.iter().map(|sum| sum.0).sum();
    let level = if expected > 0.0 { all / expected } else { 0.0 };
    let scale = |(sum, usual): (&(f64, f64), &f64)| {
        (sum.0 + USUAL_ERRORS * level * usual) / (sum.1 + USUAL_ERRORS)
    };
    sums.iter().zip(usual).map(scale).collect()
}

fn quantile(mut numbers: Vec<f64>, part: f64) -> f64 {
    let Some(last) = numbers.len().checked_sub(1) else {
        return 1.0;
    };
    let place = (part * last as f64).round() as usize;
    let found = *numbers.select_nth_unstable_by(place, f64::total_cmp).1;
    if found > 0.0 { found } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// Errors of a random walk between two known values, in gaps of two lengths, of which one channel
    /// knows twice as much.
    #[test]
    fn the_size_of_errors_is_found_by_length_place_and_channel() {
        let mut random = Random::new(6);
        let mut hidden = Vec::new();
        let mut predicted = Vec::new();
        for number in 0..6000 {
            let (channel, gap) = (number % 2, [4.0, 16.0][number / 2 % 2]);
            let part = random.uniform(0.1, 0.9);
            let std_dev = (gap * part * (1.0 - part)).sqrt() / (1 + channel) as f64;
            predicted.push(random.normal(0.0, std_dev));
            hidden.push(Hidden {
                series: 0,
                row: 2 * number,
                channel,
                value: 0.0,
                gap,
                part,
            });
        }
        let spreads = Spread::of_channels(2, &hidden, &predicted, 0.9);
        let ratio = |a: f64, b: f64| a / b;
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.1, "{found}");
        near(
            ratio(spreads[0].at(16.0, 0.5), spreads[0].at(4.0, 0.5)),
            2.0,
        );
        near(ratio(spreads[0].at(4.0, 0.5), spreads[1].at(4.0, 0.5)), 2.0);
        near(ratio(spreads[0].at(4.0, 0.1), spreads[0].at(4.0, 0.5)), 0.6);
        near(spreads[0].at(4.0, 0.5), 1.0);
    }
}
