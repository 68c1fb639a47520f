//! Weights for all methods instead of a choice of one.
//!
//! For every channel and class of gap length the combination Σ w_m f_m, w ≥ 0, Σ w = 1, that is nearest to
//! the hidden values. Few values say little about many weights: those of a class stay near those of
//! its channel, these near those of all channels, and these near half the reference and half the method
//! that is favoured beforehand, as if that many gaps more had spoken for them.
//!
//! What a combination is worth is told by *other* values: the weights that judge a round come from the
//! other rounds.

use super::hold_out::{Answers, HoldOut};
use serde::{Deserialize, Serialize};

/// Classes of gap length.
const CLASSES: usize = 3;
/// Gaps that speak for the weights set beforehand, for those of all channels, and for those of the channel.
const GAPS_BEFOREHAND: f64 = 10.0;
const GAPS_OF_ALL: f64 = 40.0;
const GAPS_OF_CHANNEL: f64 = 60.0;
/// Passes over all pairs of methods; the weights stand still long before.
const MOST_PASSES: usize = 200;
/// Rounds of reweighting for the mean absolute error.
const REWEIGHTED: usize = 8;

/// What counts as near.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The mean squared error.
    #[default]
    Mse,
    /// The mean absolute error: less ruled by a few large ones.
    Mae,
}

/// Weights of methods for every channel and class of gap length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combination {
    /// The longest gap of each class but the last.
    edges: Vec<f64>,
    /// [channels][classes][methods].
    weights: Vec<Vec<Vec<f64>>>,
}

impl Combination {
    /// The best weights for `answers` to `held`, and the answers of combinations whose weights come from
    /// the other rounds. `reference` is the method that stands in where another has no answer, `favoured`
    /// the one that is believed as much as it before anything is known.
    #[must_use]
    pub fn find(
        held: &HoldOut,
        answers: &[&Answers],
        reference: usize,
        favoured: Option<usize>,
        criterion: Criterion,
    ) -> (Self, Answers) {
        let mut beforehand = vec![0.0; answers.len()];
        beforehand[reference] += 0.5;
        beforehand[favoured.unwrap_or(reference)] += 0.5;
        let samples = Samples::new(held, answers, reference, beforehand, criterion);
        let rounds: Vec<_> = held.rounds().filter(|round| !round.is_empty()).collect();
        let all: Vec<usize> = (0..held.hidden.len()).collect();
        let combination = samples.combination(&all);
        let mut values = vec![f64::NAN; all.len()];
        for round in &rounds {
            let others: Vec<usize> = all
                .iter()
                .copied()
                .filter(|at| !round.contains(at))
                .collect();
            let found = match rounds.len() {
                1 => combination.clone(),
                _ => samples.combination(&others),
            };
            for at in round.clone() {
                let hidden = &held.hidden[at];
                let weights = found.weights(hidden.channel, hidden.gap);
                values[at] = samples.reference[at] + dot(weights, samples.row(at));
            }
        }
        let answers = Answers {
            values,
            std_devs: None,
        };
        (combination, answers)
    }

    /// The weights in a gap of this length.
    #[must_use]
    pub fn weights(&self, channel: usize, gap: f64) -> &[f64] {
        let class = self.edges.partition_point(|&edge| edge < gap);
        &self.weights[channel][class]
    }

    /// Whether a method takes part in any of `channels`.
    #[must_use]
    pub fn uses(&self, method: usize, channels: &[usize]) -> bool {
        let own = channels.iter().flat_map(|&channel| &self.weights[channel]);
        own.into_iter().any(|weights| weights[method] > 0.0)
    }

    /// The mean weight of every method over the classes of a channel.
    #[must_use]
    pub fn mean_weights(&self, channel: usize) -> Vec<f64> {
        let classes = &self.weights[channel];
        let methods = classes.first().map_or(0, Vec::len);
        let mean = |method: usize| {
            let sum: f64 = classes.iter().map(|weights| weights[method]).sum();
            sum / classes.len() as f64
        };
        (0..methods).map(mean).collect()
    }
}

/// What the methods say, as differences from the reference.
struct Samples<'a> {
    held: &'a HoldOut,
    methods: usize,
    beforehand: Vec<f64>,
    criterion: Criterion,
    edges: Vec<f64>,
    /// [hidden, methods], in the unit of the values.
    rows: Vec<f64>,
    reference: Vec<f64>,
    /// What each value counts: one over the number of values in its gap, about.
    gaps: Vec<f64>,
}

impl<'a> Samples<'a> {
    fn new(
        held: &'a HoldOut,
        answers: &[&Answers],
        reference: usize,
        beforehand: Vec<f64>,
        criterion: Criterion,
    ) -> Self {
        let known = |value: f64| if value.is_finite() { value } else { 0.0 };
        let own: Vec<f64> = answers[reference]
            .values
            .iter()
            .map(|&v| known(v))
            .collect();
        let mut rows = Vec::with_capacity(own.len() * answers.len());
        for (at, one) in own.iter().enumerate() {
            rows.extend(answers.iter().map(|method| known(method.values[at] - one)));
        }
        let mut lengths: Vec<f64> = held.hidden.iter().map(|hidden| hidden.gap).collect();
        lengths.sort_by(f64::total_cmp);
        let usual = lengths.first().map_or(1.0, |shortest| 0.5 * shortest);
        let cells = |gap: f64| (gap / usual - 1.0).max(1.0);
        Self {
            held,
            methods: answers.len(),
            beforehand,
            criterion,
            edges: length_edges(&lengths, CLASSES),
            rows,
            reference: own,
            gaps: held
                .hidden
                .iter()
                .map(|hidden| 1.0 / cells(hidden.gap))
                .collect(),
        }
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.methods..][..self.methods]
    }

    fn target(&self, at: usize) -> f64 {
        self.held.hidden[at].value - self.reference[at]
    }

    /// The weights that the samples at these places speak for.
    fn combination(&self, places: &[usize]) -> Combination {
        let channels = self.held.visible.channels();
        let classes = self.edges.len() + 1;
        let mut own: Vec<Vec<Vec<usize>>> = vec![vec![Vec::new(); classes]; channels];
        for &at in places {
            let hidden = &self.held.hidden[at];
            let class = self.edges.partition_point(|&edge| edge < hidden.gap);
            own[hidden.channel][class].push(at);
        }
        // Every channel counts by its number of values, in units of the reference's error.
        let mut pooled = Normal::new(self.methods);
        for classes in &own {
            let places: Vec<usize> = classes.concat();
            let normal = self.normal(&places, None);
            pooled.add(&normal, normal.unit());
        }
        // A gap of several channels is one event.
        pooled.gaps = self.events(places);
        let pooled = pooled.solve(GAPS_BEFOREHAND, &self.beforehand);
        let of_channel = |classes: &Vec<Vec<usize>>| {
            let places = classes.concat();
            let channel = self.weights(&places, GAPS_OF_ALL, &pooled);
            let of_class = |places: &Vec<usize>| self.weights(places, GAPS_OF_CHANNEL, &channel);
            classes.iter().map(of_class).collect()
        };
        Combination {
            edges: self.edges.clone(),
            weights: own.iter().map(of_channel).collect(),
        }
    }

    /// About how many gaps there are, those of several channels at the same rows counted once.
    fn events(&self, places: &[usize]) -> f64 {
        let row = |at: &usize| (self.held.hidden[*at].series, self.held.hidden[*at].row);
        // In order of rounds, series and rows.
        let rows = places.chunk_by(|a, b| row(a) == row(b));
        rows.map(|row| self.gaps[row[0]]).sum()
    }

    fn weights(&self, places: &[usize], prior_gaps: f64, prior: &[f64]) -> Vec<f64> {
        if places.is_empty() {
            return prior.to_vec();
        }
        let mut weights = self.normal(places, None).solve(prior_gaps, prior);
        if self.criterion == Criterion::Mae {
            for _ in 0..REWEIGHTED {
                weights = self.normal(places, Some(&weights)).solve(prior_gaps, prior);
            }
        }
        weights
    }

    /// The normal equations of some samples; with weights, each sample counts one over its error.
    fn normal(&self, places: &[usize], weights: Option<&[f64]>) -> Normal {
        let mut normal = Normal::new(self.methods);
        let error =
            |at: usize, weights: &[f64]| (self.target(at) - dot(weights, self.row(at))).abs();
        let mean = weights.map_or(0.0, |weights| {
            let errors = places.iter().map(|&at| error(at, weights));
            errors.sum::<f64>() / places.len().max(1) as f64
        });
        for &at in places {
            let factor = weights.map_or(1.0, |weights| {
                // Below a hundredth of the mean error all are equally good.
                mean / error(at, weights).max(0.01 * mean).max(f64::MIN_POSITIVE)
            });
            normal.sample(self.row(at), self.target(at), factor);
            normal.gaps += self.gaps[at];
        }
        normal
    }
}

/// Sums of squares and products of the methods' answers.
struct Normal {
    gram: Vec<f64>,
    cross: Vec<f64>,
    square: f64,
    count: f64,
    gaps: f64,
}

impl Normal {
    fn new(methods: usize) -> Self {
        Self {
            gram: vec![0.0; methods * methods],
            cross: vec![0.0; methods],
            square: 0.0,
            count: 0.0,
            gaps: 0.0,
        }
    }

    fn sample(&mut self, row: &[f64], target: f64, factor: f64) {
        for (a, one) in row.iter().enumerate() {
            let gram = &mut self.gram[a * row.len()..][..row.len()];
            let products = gram.iter_mut().zip(row);
            products.for_each(|(sum, other)| *sum += factor * one * other);
            self.cross[a] += factor * one * target;
        }
        self.square += factor * target * target;
        self.count += 1.0;
    }

    /// One over the mean square of the targets, which are the errors of the reference.
    fn unit(&self) -> f64 {
        if self.square > 0.0 {
            self.count / self.square
        } else {
            0.0
        }
    }

    fn add(&mut self, other: &Self, factor: f64) {
        let sums = self.gram.iter_mut().zip(&other.gram);
        sums.for_each(|(sum, more)| *sum += factor * more);
        let sums = self.cross.iter_mut().zip(&other.cross);
        sums.for_each(|(sum, more)| *sum += factor * more);
        self.square += factor * other.square;
        self.count += other.count;
        self.gaps += other.gaps;
    }

    /// The best weights on the simplex, with the `prior` counted as `prior_gaps` gaps: two methods at a
    /// time exchange what brings the sum of squares down most.
    fn solve(mut self, prior_gaps: f64, prior: &[f64]) -> Vec<f64> {
        let methods = prior.len();
        let part = prior_gaps / self.gaps.max(1e-9);
        for (method, weight) in prior.iter().enumerate() {
            let diagonal = method * methods + method;
            let more = part * self.gram[diagonal];
            self.gram[diagonal] += more;
            self.cross[method] += more * weight;
        }
        let mut weights = prior.to_vec();
        let gram = |a: usize, b: usize| self.gram[a * methods + b];
        let mut slopes: Vec<f64> = (0..methods)
            .map(|a| self.cross[a] - (0..methods).map(|b| gram(a, b) * weights[b]).sum::<f64>())
            .collect();
        for _ in 0..MOST_PASSES {
            let mut moved: f64 = 0.0;
            for a in 0..methods {
                for b in 0..a {
                    let bend = gram(a, a) - 2.0 * gram(a, b) + gram(b, b);
                    if bend <= 0.0 {
                        continue;
                    }
                    let step = ((slopes[a] - slopes[b]) / bend).clamp(-weights[a], weights[b]);
                    weights[a] += step;
                    weights[b] -= step;
                    for (m, slope) in slopes.iter_mut().enumerate() {
                        *slope -= step * (gram(m, a) - gram(m, b));
                    }
                    moved = moved.max(step.abs());
                }
            }
            if moved < 1e-6 {
                break;
            }
        }
        // What is left of a method that brings nothing is not worth asking it.
        let kept = |weight: &f64| if *weight < 0.01 { 0.0 } else { *weight };
        let kept: Vec<f64> = weights.iter().map(kept).collect();
        let sum: f64 = kept.iter().sum();
        kept.iter().map(|weight| weight / sum).collect()
    }
}

/// Lengths that cut sorted ones into classes of about equal size.
pub(crate) fn length_edges(sorted: &[f64], classes: usize) -> Vec<f64> {
    let mut edges: Vec<f64> = Vec::new();
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return edges;
    };
    for number in 1..classes {
        // A little above, so that rounding of times does not part equal lengths.
        let edge = sorted[number * sorted.len() / classes] * (1.0 + 1e-6);
        let new = edges.last().is_none_or(|before| edge > before * 1.01);
        if new && edge >= first && edge < last {
            edges.push(edge);
        }
    }
    edges
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Random, Series};
    use crate::evaluate::{Gaps, HoldOutOptions};

    /// Noise of 3000 rows of which a tenth is hidden three times, and answers that are wrong by noise of
    /// their own.
    fn answers(errors: &[f64]) -> (HoldOut, Vec<Answers>) {
        let mut random = Random::new(8);
        let values = (0..3000).map(|_| random.normal(0.0, 1.0)).collect();
        let times = (0..3000).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        let data = Dataset::new(vec!["x".into()], vec![series]).unwrap();
        let held = HoldOut::new(&data, &Gaps::find(&data), &HoldOutOptions::default()).unwrap();
        let answer = |error: &f64| {
            let values = held
                .hidden
                .iter()
                .map(|one| one.value + random.normal(0.0, *error));
            Answers {
                values: values.collect(),
                std_devs: None,
            }
        };
        let answers = errors.iter().map(answer).collect();
        (held, answers)
    }

    /// Independent errors of variance 1 and 4 are weighted 4 : 1, and leave 0.8.
    #[test]
    fn weights_are_those_of_the_textbook_and_cross_fitting_tells_the_truth() {
        let (held, answers) = answers(&[1.0, 2.0, 50.0]);
        let answers: Vec<&Answers> = answers.iter().collect();
        for criterion in [Criterion::Mse, Criterion::Mae] {
            let (found, combined) = Combination::find(&held, &answers, 0, None, criterion);
            let weights = found.weights(0, 2.0);
            for (weight, wanted) in weights.iter().zip([0.8, 0.2, 0.0]) {
                assert!((weight - wanted).abs() < 0.06, "{weights:?}");
            }
            assert!(!found.uses(2, &[0]));
            let errors = held.hidden.iter().zip(&combined.values);
            let mse = errors
                .map(|(one, value)| (value - one.value).powi(2))
                .sum::<f64>();
            let mse = mse / held.hidden.len() as f64;
            assert!((mse - 0.8).abs() < 0.12, "{mse}");
        }
    }

    #[test]
    fn a_method_without_answers_stands_back() {
        let (held, mut answers) = answers(&[1.0, 1.0]);
        answers[1].values.fill(f64::NAN);
        let answers: Vec<&Answers> = answers.iter().collect();
        let (_, combined) = Combination::find(&held, &answers, 0, None, Criterion::Mse);
        let off = combined.values.iter().zip(&answers[0].values);
        assert!(off.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
