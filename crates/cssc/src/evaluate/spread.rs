//! How wide errors are: by channel, class of gap length, place in the gap, and what else is known at the time.
//!
//! In the middle of a gap a method knows less than beside a value, and less where the other channels are missing too. With
//! u = 4W(1-W), v the part of the other channels that are not known in the row, and ℓ the length of the gap relative to the
//! geometric mean of its class, the size of an error is taken as
//!
//! $$ s\,u^{\gamma}\,\ell^{\delta}\,e^{\beta v}, $$
//!
//! γ and δ for each class of gap length over all channels (½ would be a random walk between two known values; a smooth curve may
//! be lost with the third power of the length), β ≥ 0 for all, s for each channel and class, near what the class usually is for
//! the channel where few gaps speak. What is hidden to judge by hides more of the other channels than is really missing: β is
//! what brings errors there down to what they will be. Exponents are those for which the likelihood of Laplace's distribution is
//! largest. A last factor for each class makes them standard deviations in the sense that bands of the wanted level hold over
//! all channels, as they would for normal errors; that of each channel is found by calibration (`bands`). Where few stretches of
//! rows speak for a class, it is wider as Student's t is.

use super::hold_out::{Hidden, gap_numbers};
use super::normal::normal_factor;
use serde::{Deserialize, Serialize};

/// Fewest errors of a class of gap length; classes are doublings of the length where there are enough.
const FEWEST_OF_CLASS: usize = 60;
/// Powers of u and of ℓ that are tried.
const POWERS: [f64; 4] = [0.0, 0.25, 0.5, 1.0];
const GROWTHS: [f64; 7] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0];
/// Nothing is nearer to a known value than this part of the middle of a gap.
const LEAST: f64 = 0.02;
/// Gaps that speak for what is usual.
const USUAL_GAPS: f64 = 20.0;
/// β goes up in such steps to at most so much, and is found in so many turns with the rest.
const LONELY_STEP: f64 = 0.1;
const MOST_LONELY: f64 = 6.0;
const TURNS: usize = 3;

/// The size of the errors of a method in one channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The longest gap of each class but the last.
    edges: Vec<f64>,
    scales: Vec<f64>,
    powers: Vec<f64>,
    /// δ, and where its classes have ℓ = 1; none in models of before.
    #[serde(default)]
    growths: Vec<f64>,
    #[serde(default)]
    typical: Vec<f64>,
    /// Errors are not known to grow beyond this length.
    #[serde(default)]
    longest: f64,
    /// β.
    #[serde(default)]
    lonely: f64,
}

impl Spread {
    /// The size of an error at this part (0 to 1) of a gap, where this part of the other channels is not known.
    #[must_use]
    pub fn at(&self, gap: f64, part: f64, alone: f64) -> f64 {
        let class = self.edges.partition_point(|&edge| edge < gap);
        match (self.scales.get(class), self.powers.get(class)) {
            (Some(scale), Some(power)) => {
                let grown = self.growths.get(class).zip(self.typical.get(class));
                let grown = grown.map_or(1.0, |(growth, typical)| {
                    (gap.min(self.longest) / typical).powf(*growth)
                });
                scale * bump(part).powf(*power) * grown * (self.lonely * alone).exp()
            }
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
        let errors = Errors::new(channels, hidden, predicted, &edges);
        let mut shape = Shape {
            growths: vec![0.0; edges.len() + 1],
            lonely: 0.0,
        };
        for _ in 0..TURNS {
            shape.growths = errors.growths(&errors.sizes(&shape), &shape);
            shape.lonely = errors.lonely(&errors.sizes(&shape), &shape);
        }
        let Sizes {
            powers,
            scales,
            middles,
        } = errors.sizes(&shape);
        let factor = |class: usize| {
            let own = errors.of_class(class);
            let ratios = own.map(|at| middles[at] / scales[hidden[at].channel][class]);
            let ratios = ratios.filter(|ratio| ratio.is_finite());
            let normal = normal_factor(level);
            quantile(ratios.collect(), level) / normal * few(errors.stretches(class), normal)
        };
        let factors: Vec<f64> = (0..=edges.len()).map(factor).collect();
        let spread = |scales: &Vec<f64>| Self {
            edges: edges.clone(),
            scales: scales
                .iter()
                .zip(&factors)
                .map(|(scale, factor)| scale * factor)
                .collect(),
            powers: powers.clone(),
            growths: shape.growths.clone(),
            typical: errors.typical.clone(),
            longest: errors.longest,
            lonely: shape.lonely,
        };
        scales.iter().map(spread).collect()
    }
}

/// Errors on hidden values, sorted by channel and class.
struct Errors<'a> {
    hidden: &'a [Hidden],
    sizes: Vec<f64>,
    /// The class of each, and ln ℓ.
    classes: Vec<usize>,
    lengths: Vec<f64>,
    /// Geometric mean of the lengths of each class, and the longest of all.
    typical: Vec<f64>,
    longest: f64,
    /// Gaps of [channels][classes].
    gaps: Vec<Vec<f64>>,
}

/// δ of every class, and β.
struct Shape {
    growths: Vec<f64>,
    lonely: f64,
}

/// γ and s, and errors as they would be in the middle of gaps of typical length with all other channels known.
struct Sizes {
    powers: Vec<f64>,
    scales: Vec<Vec<f64>>,
    middles: Vec<f64>,
}

impl<'a> Errors<'a> {
    fn new(channels: usize, hidden: &'a [Hidden], predicted: &[f64], edges: &[f64]) -> Self {
        let class = |one: &Hidden| edges.partition_point(|&edge| edge < one.gap);
        let mut gaps = vec![vec![0.0; edges.len() + 1]; channels];
        let mut last = vec![0; channels];
        for (one, number) in hidden.iter().zip(gap_numbers(channels, hidden)) {
            if std::mem::replace(&mut last[one.channel], number) != number {
                gaps[one.channel][class(one)] += 1.0;
            }
        }
        let classes: Vec<usize> = hidden.iter().map(class).collect();
        let finite = hidden.iter().map(|one| one.gap);
        let finite = finite.filter(|gap| gap.is_finite());
        // Gaps that have no end are as long as the longest that has one; where none has, all are alike.
        let longest = finite.reduce(f64::max).unwrap_or(1.0);
        let typical: Vec<f64> = (0..=edges.len())
            .map(|class| {
                let own = hidden
                    .iter()
                    .zip(&classes)
                    .filter(|(_, own)| **own == class);
                let (sum, count) = own.fold((0.0, 0.0), |(sum, count), (one, _)| {
                    (sum + one.gap.min(longest).ln(), count + 1.0)
                });
                f64::exp(sum / f64::max(count, 1.0))
            })
            .collect();
        let lengths = hidden.iter().zip(&classes);
        let lengths = lengths.map(|(one, class)| (one.gap.min(longest) / typical[*class]).ln());
        Self {
            hidden,
            lengths: lengths.collect(),
            typical,
            longest,
            sizes: hidden
                .iter()
                .zip(predicted)
                .map(|(one, p)| (p - one.value).abs())
                .collect(),
            classes,
            gaps,
        }
    }

    /// With these δ and β.
    fn sizes(&self, shape: &Shape) -> Sizes {
        let count = shape.growths.len();
        let plain: Vec<f64> = (0..self.sizes.len())
            .map(|at| {
                let grown = shape.growths[self.classes[at]] * self.lengths[at];
                self.sizes[at] * (-grown - shape.lonely * self.hidden[at].alone).exp()
            })
            .collect();
        let ln_bump = |at: usize| bump(self.hidden[at].part).ln();
        let power = |class: usize| {
            exponent(
                self.of_class(class).map(|at| (plain[at], ln_bump(at))),
                POWERS,
            )
        };
        let powers: Vec<f64> = (0..count).map(power).collect();
        let middles: Vec<f64> = (plain.iter().enumerate())
            .map(|(at, size)| size * (-powers[self.classes[at]] * ln_bump(at)).exp())
            .collect();
        let mut sums = vec![vec![(0.0, 0.0); count]; self.gaps.len()];
        for (at, one) in self.hidden.iter().enumerate() {
            if middles[at].is_finite() {
                let sum = &mut sums[one.channel][self.classes[at]];
                *sum = (sum.0 + middles[at], sum.1 + 1.0);
            }
        }
        let usual = usual_ratios(&sums, count);
        let own = sums.iter().zip(&self.gaps);
        Sizes {
            scales: own.map(|(sums, gaps)| scales(sums, gaps, &usual)).collect(),
            powers,
            middles,
        }
    }

    /// The δ that suit these sizes, which were found with others.
    fn growths(&self, found: &Sizes, before: &Shape) -> Vec<f64> {
        let growth = |class: usize| {
            let undone = self.of_class(class).map(|at| {
                let grown = (before.growths[class] * self.lengths[at]).exp();
                (self.ratio(found, at) * grown, self.lengths[at])
            });
            exponent(undone, GROWTHS)
        };
        (0..before.growths.len()).map(growth).collect()
    }

    /// The β that suits these sizes, which were found with another.
    fn lonely(&self, found: &Sizes, before: &Shape) -> f64 {
        let undone = (0..self.sizes.len()).map(|at| {
            let alone = self.hidden[at].alone;
            let more = (before.lonely * alone).exp();
            (self.ratio(found, at) * more, alone)
        });
        let steps = (MOST_LONELY / LONELY_STEP) as usize;
        exponent(undone, (0..=steps).map(|step| step as f64 * LONELY_STEP))
    }

    /// The stretches of rows in which something of a class was hidden. What several channels miss at once tells one thing.
    fn stretches(&self, class: usize) -> usize {
        let place = |at: usize| (self.hidden[at].series, self.hidden[at].row);
        let mut rows: Vec<(usize, usize)> = self.of_class(class).map(place).collect();
        rows.sort_unstable();
        rows.dedup();
        let follows = |a: &(usize, usize), b: &(usize, usize)| a.0 == b.0 && a.1 + 1 == b.1;
        rows.chunk_by(follows).count()
    }

    /// The places of the errors of a class.
    fn of_class(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).filter(move |&at| self.classes[at] == class)
    }

    /// An error relative to what its channel and class usually leave.
    fn ratio(&self, found: &Sizes, at: usize) -> f64 {
        found.middles[at] / found.scales[self.hidden[at].channel][self.classes[at]]
    }
}

/// So many of the other channels as a part of them all.
pub(crate) fn part_of_others(count: usize, channels: usize) -> f64 {
    count as f64 / channels.saturating_sub(1).max(1) as f64
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

/// How much wider bands are whose width is known from so few witnesses: as Student's t is wider than the normal
/// distribution, whose bands reach `normal` deviations, to first order.
fn few(witnesses: usize, normal: f64) -> f64 {
    1.0 + (1.0 + normal * normal) / (4.0 * witnesses.max(1) as f64)
}

/// 1 in the middle of a gap, near 0 at its ends.
fn bump(part: f64) -> f64 {
    (4.0 * part * (1.0 - part)).max(LEAST)
}

/// The k of those tried for which errors |e| are best taken as multiples of e^kx: the likelihood of Laplace's distribution is
/// largest where ln of the mean of |e| e^-kx plus the mean of kx is smallest. Errors come with their x.
fn exponent(errors: impl Iterator<Item = (f64, f64)>, tried: impl IntoIterator<Item = f64>) -> f64 {
    let errors: Vec<(f64, f64)> = errors.filter(|(error, _)| error.is_finite()).collect();
    let count = errors.len().max(1) as f64;
    let mean = errors.iter().map(|(_, x)| x).sum::<f64>() / count;
    let cost = |k: f64| {
        let sizes = errors.iter().map(|(error, x)| error * (-k * x).exp());
        (sizes.sum::<f64>() / count).ln() + k * mean
    };
    let costs = tried.into_iter().map(|k| (cost(k), k));
    let best = costs.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(0.0, |(_, k)| k)
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

/// The sizes of the classes of one channel, drawn towards what is usual where few gaps speak.
fn scales(sums: &[(f64, f64)], gaps: &[f64], usual: &[f64]) -> Vec<f64> {
    // The level of the channel: what its errors are relative to what is usual for their classes.
    let expected: f64 = sums
        .iter()
        .zip(usual)
        .map(|(sum, usual)| sum.1 * usual)
        .sum();
    let all: f64 = sums.iter().map(|sum| sum.0).sum();
    let level = if expected > 0.0 { all / expected } else { 0.0 };
    let scale = |((sum, gaps), usual): ((&(f64, f64), &f64), &f64)| {
        let usual = level * usual;
        let part = gaps / (gaps + USUAL_GAPS);
        match sum.0 > 0.0 {
            true => (sum.0 / sum.1).powf(part) * usual.powf(1.0 - part),
            false => usual,
        }
    };
    sums.iter().zip(gaps).zip(usual).map(scale).collect()
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

    #[test]
    fn few_witnesses_widen_as_students_t_does() {
        // Quantiles of .95 of Student's t with so many degrees of freedom.
        for (freedom, quantile) in [(10, 1.8125), (20, 1.7247), (60, 1.6706)] {
            let normal = normal_factor(0.9);
            let error = normal * few(freedom, normal) / quantile - 1.0;
            assert!(error.abs() < 0.01, "{freedom}: {error}");
        }
        let hidden = |channel: usize, row: usize| Hidden {
            series: 0,
            row,
            channel,
            value: 0.0,
            gap: 3.0,
            part: 0.5,
            alone: 0.0,
        };
        // Two channels miss rows 4 and 5 at once, one row 9.
        let hidden = [(0, 4), (0, 5), (0, 9), (1, 4), (1, 5)].map(|(a, b)| hidden(a, b));
        let errors = Errors::new(2, &hidden, &[1.0; 5], &[]);
        assert_eq!(errors.stretches(0), 2);
    }

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
                alone: 0.0,
            });
        }
        let spreads = Spread::of_channels(2, &hidden, &predicted, 0.9);
        let ratio = |a: f64, b: f64| a / b;
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.1, "{found}");
        near(
            ratio(spreads[0].at(16.0, 0.5, 0.0), spreads[0].at(4.0, 0.5, 0.0)),
            2.0,
        );
        near(
            ratio(spreads[0].at(4.0, 0.5, 0.0), spreads[1].at(4.0, 0.5, 0.0)),
            2.0,
        );
        near(
            ratio(spreads[0].at(4.0, 0.1, 0.0), spreads[0].at(4.0, 0.5, 0.0)),
            0.6,
        );
        near(spreads[0].at(4.0, 0.5, 0.0), 1.0);
    }

    /// Errors are e times as large where nothing else is known; half of what is hidden is so, little of what is filled.
    #[test]
    fn errors_are_larger_where_the_other_channels_are_missing_too() {
        let mut random = Random::new(7);
        let (mut hidden, mut predicted) = (Vec::new(), Vec::new());
        for number in 0..4000 {
            let alone = f64::from(u8::from(random.unit() < 0.5));
            predicted.push(random.normal(0.0, alone.exp()));
            hidden.push(Hidden {
                series: 0,
                row: 2 * number,
                channel: number % 2,
                value: 0.0,
                gap: 2.0,
                part: 0.5,
                alone,
            });
        }
        let spreads = Spread::of_channels(2, &hidden, &predicted, 0.9);
        for spread in spreads {
            let [beside, alone] = [0.0, 1.0].map(|alone| spread.at(2.0, 0.5, alone));
            assert!((beside - 1.0).abs() < 0.1, "{beside}");
            assert!((alone / beside / 1f64.exp() - 1.0).abs() < 0.15, "{alone}");
        }
    }

    /// Errors of a smooth curve: with the square of the length, in a class of many lengths.
    #[test]
    fn errors_grow_with_the_length_within_a_class() {
        let mut random = Random::new(8);
        let (mut hidden, mut predicted) = (Vec::new(), Vec::new());
        for number in 0..4000 {
            let gap = random.uniform(8.0, 9.9);
            predicted.push(random.normal(0.0, gap * gap));
            hidden.push(Hidden {
                series: 0,
                row: 2 * number,
                channel: 0,
                value: 0.0,
                gap,
                part: 0.5,
                alone: 0.0,
            });
        }
        let spreads = Spread::of_channels(1, &hidden, &predicted, 0.9);
        assert!(spreads[0].edges.is_empty());
        for gap in [8.0, 9.0, 9.8] {
            let found = spreads[0].at(gap, 0.5, 0.0);
            assert!((found / (gap * gap) - 1.0).abs() < 0.1, "{gap}: {found}");
        }
        // Nothing is known of longer ones.
        let beyond = [10.0, 100.0].map(|gap| spreads[0].at(gap, 0.5, 0.0));
        assert_eq!(beyond[0], beyond[1]);
    }

    /// Before the first and after the last value a gap has no end.
    #[test]
    fn gaps_without_an_end_have_a_size_too() {
        let mut random = Random::new(9);
        let (mut hidden, mut predicted) = (Vec::new(), Vec::new());
        for row in 0..2000 {
            predicted.push(random.normal(0.0, 3.0));
            hidden.push(Hidden {
                series: 0,
                row: 2 * row,
                channel: 0,
                value: 0.0,
                gap: f64::INFINITY,
                part: 0.5,
                alone: 0.0,
            });
        }
        let spreads = Spread::of_channels(1, &hidden, &predicted, 0.9);
        let found = spreads[0].at(f64::INFINITY, 0.5, 0.0);
        assert!((found / 3.0 - 1.0).abs() < 0.1, "{found}");
    }
}
