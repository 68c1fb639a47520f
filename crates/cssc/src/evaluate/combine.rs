//! Weights for all methods instead of a choice of one.
//!
//! For every channel and class of gap length the combination Σ w_m f_m, w ≥ 0, Σ w = 1, that is nearest to
//! the hidden values. Few values say little about many weights: those of a class stay near those of
//! its channel, these near those of all channels, and these near half the reference and half the method
//! that is favoured beforehand. How near is what Bayes' rule says: with the errors σ² that the combination leaves,
//! n gaps, and weights that differ by τ from those they stay near,
//!
//! $$ w = \arg\min\; \frac{n}{N\sigma^2} \sum_{i=1}^{N} (y_i - w\cdot f_i)^2 + \frac{|w - w_0|^2}{\tau^2}, $$
//!
//! so where a method leaves next to nothing, a few gaps are enough to believe it.
//!
//! A method that leaves much more than the reference has no part where few gaps speak. What is simple is combined alone first,
//! by the same rule: straight lines and a few methods that know the column alone. The step from there to the combination of
//! all is made only as far as left-out values follow it (`follow`).
//!
//! How much weights of classes and channels may differ from those they stay near is found on other values as well: not at
//! all, a little, or τ as above.
//!
//! Curves that go on with the slopes around a gap may leave the data altogether. They are believed up to 1.5 times what 99 of
//! 100 hidden values of the channel and class differ from the reference, 1/√q times more where they leave the part q of its
//! squared error; in gaps much longer than those they were judged in straight lines take their place.
//!
//! What a combination is worth is told by *other* values: the weights that judge a round come from the
//! other rounds.

use super::believe::{limits, trusted};
use super::follow::{FEWEST_STRETCHES, STRETCHES, Steps};
use super::hold_out::{Answers, HoldOut};
use super::simplex::Normal;
use crate::numeric::vector::dot;
use serde::{Deserialize, Serialize};

/// Classes of gap length.
const CLASSES: usize = 3;
/// How much weights differ from those set beforehand, those of a channel from those of all, those of a class from
/// those of its channel.
const FROM_BEFOREHAND: f64 = 0.5;
const FROM_ALL: f64 = 0.3;
const FROM_CHANNEL: f64 = 0.3;
/// Parts of these differences that are tried, and what more of them must bring.
const APART: [f64; 3] = [0.0, 0.3, 1.0];
const WORTH: f64 = 0.995;
/// Gaps so many times longer than the longest that was judged are another matter.
const FAR: f64 = 1.5;
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
    /// How far from the reference curves that bend are believed: [channels][classes].
    limits: Vec<Vec<f64>>,
    /// Those that bend, and how many times more each is believed: [channels].
    bending: Vec<(usize, Vec<f64>)>,
}

impl Combination {
    /// The best weights for `answers` to `held`, and the answers of combinations whose weights come from
    /// the other rounds.
    #[must_use]
    pub fn find(
        held: &HoldOut,
        answers: &[&Answers],
        roles: &Roles,
        criterion: Criterion,
    ) -> (Self, Answers) {
        let reference = roles.reference;
        let samples = Samples::new(held, answers, roles, criterion);
        let rounds: Vec<_> = held.rounds().filter(|round| !round.is_empty()).collect();
        let simple = Family::new(answers.len(), reference, &roles.simple, &roles.simple);
        let every: Vec<usize> = (0..answers.len()).collect();
        let every = Family::new(answers.len(), reference, &every, roles.favoured.as_slice());
        let (simple, plain) = samples.best(&rounds, &simple);
        let (mut combination, mut values) = samples.best(&rounds, &every);
        // How far to go from what is simple to the combination, told by all rounds, or by the others.
        let following = Steps::new(&samples, &plain, &values, &rounds);
        let steps = following.found(None);
        for (number, round) in rounds.iter().enumerate() {
            let steps = match rounds.len() {
                1 => steps.clone(),
                _ => following.found(Some(number)),
            };
            for at in round.clone() {
                let step = steps[held.hidden[at].channel];
                values[at] = plain[at] + step * (values[at] - plain[at]);
            }
        }
        let both = combination.weights.iter_mut().zip(&simple.weights);
        for ((classes, simple), step) in both.zip(&steps) {
            for (weights, simple) in classes.iter_mut().zip(simple) {
                let both = weights.iter_mut().zip(simple);
                both.for_each(|(weight, simple)| *weight = simple + step * (*weight - simple));
            }
            let mut far = classes[classes.len() - 1].clone();
            for &method in &roles.bending {
                far[reference] += std::mem::take(&mut far[method]);
            }
            classes.push(far);
        }
        for limits in &mut combination.limits {
            limits.extend(limits.last().copied());
        }
        let longest = held.hidden.iter().map(|hidden| hidden.gap);
        let longest = longest.filter(|gap| gap.is_finite()).fold(0.0, f64::max);
        combination.edges.push(FAR * longest);
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

    /// What a method says in such a gap, as a difference from the reference, as far as it is believed.
    #[must_use]
    pub fn believed(&self, method: usize, channel: usize, gap: f64, difference: f64) -> f64 {
        let class = self.edges.partition_point(|&edge| edge < gap);
        let bending = self.bending.iter().find(|(bending, _)| *bending == method);
        match (
            self.limits.get(channel).and_then(|own| own.get(class)),
            bending,
        ) {
            (Some(limit), Some((_, trusted))) => {
                let limit = limit * trusted[channel];
                difference.clamp(-limit, limit)
            }
            _ => difference,
        }
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

/// What some of the methods stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Roles {
    /// The one that stands in where another has no answer.
    pub reference: usize,
    /// The one that is believed as much as it before anything is known.
    pub favoured: Option<usize>,
    /// Those that know the column alone and do not go far: they and the reference stay where the others bring nothing that is
    /// certain.
    pub simple: Vec<usize>,
    /// Those that go on with the slopes around a gap.
    pub bending: Vec<usize>,
}

/// Methods that are combined with each other.
struct Family {
    members: Vec<usize>,
    /// Weights before anything is known: half the reference, and half in equal parts those that are favoured.
    beforehand: Vec<f64>,
}

impl Family {
    fn new(methods: usize, reference: usize, members: &[usize], favoured: &[usize]) -> Self {
        let mut beforehand = vec![0.0; methods];
        beforehand[reference] = if favoured.is_empty() { 1.0 } else { 0.5 };
        for &method in favoured {
            beforehand[method] += 0.5 / favoured.len() as f64;
        }
        let is_member = |method: &usize| *method == reference || members.contains(method);
        Self {
            members: (0..methods).filter(is_member).collect(),
            beforehand,
        }
    }
}

/// What the methods say, as differences from the reference.
pub(super) struct Samples<'a> {
    pub(super) held: &'a HoldOut,
    methods: usize,
    /// Of the reference.
    number: usize,
    criterion: Criterion,
    edges: Vec<f64>,
    limits: Vec<Vec<f64>>,
    bending: Vec<(usize, Vec<f64>)>,
    /// [hidden, methods], in the unit of the values.
    rows: Vec<f64>,
    pub(super) reference: Vec<f64>,
    /// What each value counts: one over the number of values in its gap, about.
    gaps: Vec<f64>,
}

impl<'a> Samples<'a> {
    fn new(held: &'a HoldOut, answers: &[&Answers], roles: &Roles, criterion: Criterion) -> Self {
        let reference = roles.reference;
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
        let edges = length_edges(&lengths, CLASSES);
        let limits = limits(held, &own, &edges);
        let methods = answers.len();
        let bending: Vec<(usize, Vec<f64>)> = roles
            .bending
            .iter()
            .map(|&method| (method, trusted(held, &own, &rows, methods, method)))
            .collect();
        for (at, one) in held.hidden.iter().enumerate() {
            let limit = limits[one.channel][edges.partition_point(|&edge| edge < one.gap)];
            for (method, trusted) in &bending {
                let limit = limit * trusted[one.channel];
                let difference = &mut rows[at * methods + method];
                *difference = difference.clamp(-limit, limit);
            }
        }
        let usual = lengths.first().map_or(1.0, |shortest| 0.5 * shortest);
        let cells = |gap: f64| (gap / usual - 1.0).max(1.0);
        Self {
            held,
            methods: answers.len(),
            number: reference,
            criterion,
            edges,
            limits,
            bending,
            rows,
            reference: own,
            gaps: held
                .hidden
                .iter()
                .map(|hidden| 1.0 / cells(hidden.gap))
                .collect(),
        }
    }

    pub(super) fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.methods..][..self.methods]
    }

    fn target(&self, at: usize) -> f64 {
        self.held.hidden[at].value - self.reference[at]
    }

    /// Stretches that are about as long as gaps, so that they are witnesses of their own.
    pub(super) fn stretches(&self, rows: usize) -> usize {
        let usual = self.held.visible.typical_step().unwrap_or(1.0);
        let lengths = self.held.hidden.iter().map(|hidden| hidden.gap / usual);
        let lengths: Vec<f64> = lengths.filter(|length| length.is_finite()).collect();
        let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        let fit = rows as f64 / mean.max(1.0);
        (fit as usize).clamp(FEWEST_STRETCHES, STRETCHES)
    }

    /// The best combination of a family, and what combinations of it say whose weights come from the other rounds.
    fn best(&self, rounds: &[std::ops::Range<usize>], family: &Family) -> (Combination, Vec<f64>) {
        let (mut least, mut apart) = (f64::INFINITY, 0.0);
        let mut values = Vec::new();
        for part in APART {
            let found = self.cross_fitted(rounds, part, family);
            let error = self.error(&found);
            if values.is_empty() || error < WORTH * least {
                (least, apart, values) = (error, part, found);
            }
        }
        let all: Vec<usize> = (0..self.reference.len()).collect();
        (self.combination(&all, apart, family), values)
    }

    /// What combinations say whose weights come from the other rounds.
    fn cross_fitted(
        &self,
        rounds: &[std::ops::Range<usize>],
        apart: f64,
        family: &Family,
    ) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.reference.len()];
        for round in rounds {
            let others: Vec<usize> = (0..values.len())
                .filter(|at| rounds.len() == 1 || !round.contains(at))
                .collect();
            let found = self.combination(&others, apart, family);
            for at in round.clone() {
                let hidden = &self.held.hidden[at];
                let weights = found.weights(hidden.channel, hidden.gap);
                values[at] = self.reference[at] + dot(weights, self.row(at));
            }
        }
        values
    }

    /// What values leave: of every channel relative to the reference.
    fn error(&self, values: &[f64]) -> f64 {
        let mut sums = vec![(0.0, 0.0, 0.0); self.held.visible.channels()];
        for (at, one) in self.held.hidden.iter().enumerate() {
            let size = |error: f64| match self.criterion {
                Criterion::Mse => error * error,
                Criterion::Mae => error.abs(),
            };
            let (sum, reference, count) = &mut sums[one.channel];
            *sum += size(values[at] - one.value);
            *reference += size(self.target(at));
            *count += 1.0;
        }
        let known = sums.iter().filter(|(_, reference, _)| *reference > 0.0);
        known
            .map(|(sum, reference, count)| count * sum / reference)
            .sum()
    }

    /// The weights that the samples at these places speak for; `apart`: how much they may differ between channels and
    /// classes.
    fn combination(&self, places: &[usize], apart: f64, family: &Family) -> Combination {
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
        let pooled = pooled.solve(
            FROM_BEFOREHAND,
            &family.beforehand,
            self.number,
            &family.members,
        );
        let of_channel = |classes: &Vec<Vec<usize>>| {
            let places = classes.concat();
            let channel = self.weights(&places, apart * FROM_ALL, &pooled, family);
            let of_class =
                |places: &Vec<usize>| self.weights(places, apart * FROM_CHANNEL, &channel, family);
            classes.iter().map(of_class).collect()
        };
        Combination {
            edges: self.edges.clone(),
            weights: own.iter().map(of_channel).collect(),
            limits: self.limits.clone(),
            bending: self.bending.clone(),
        }
    }

    /// About how many gaps there are, those of several channels at the same rows counted once.
    fn events(&self, places: &[usize]) -> f64 {
        let row = |at: &usize| (self.held.hidden[*at].series, self.held.hidden[*at].row);
        // In order of rounds, series and rows.
        let rows = places.chunk_by(|a, b| row(a) == row(b));
        rows.map(|row| self.gaps[row[0]]).sum()
    }

    fn weights(&self, places: &[usize], apart: f64, prior: &[f64], family: &Family) -> Vec<f64> {
        if places.is_empty() || apart <= 0.0 {
            return prior.to_vec();
        }
        let solved = |normal: Normal| normal.solve(apart, prior, self.number, &family.members);
        let mut weights = solved(self.normal(places, None));
        if self.criterion == Criterion::Mae {
            for _ in 0..REWEIGHTED {
                weights = solved(self.normal(places, Some(&weights)));
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

    fn roles() -> Roles {
        Roles {
            reference: 0,
            favoured: None,
            simple: vec![],
            bending: vec![],
        }
    }

    /// Independent errors of variance 1 and 4 are weighted 4 : 1, and leave 0.8.
    #[test]
    fn weights_are_those_of_the_textbook_and_cross_fitting_tells_the_truth() {
        let (held, answers) = answers(&[1.0, 2.0, 50.0]);
        let answers: Vec<&Answers> = answers.iter().collect();
        for criterion in [Criterion::Mse, Criterion::Mae] {
            let (found, combined) = Combination::find(&held, &answers, &roles(), criterion);
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
        let (_, combined) = Combination::find(&held, &answers, &roles(), Criterion::Mse);
        let off = combined.values.iter().zip(&answers[0].values);
        assert!(off.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
    }

    /// Twenty methods of noise around the reference, one of which is lucky, and three columns' worth of values.
    #[test]
    fn where_nothing_is_certain_the_simple_method_stays() {
        let (held, mut answers) = answers(&[1.0; 12]);
        let plain = answers[0].values.clone();
        let mut random = Random::new(5);
        for method in &mut answers[1..] {
            for (value, plain) in method.values.iter_mut().zip(&plain) {
                *value = plain + random.normal(0.0, 0.3);
            }
        }
        let answers: Vec<&Answers> = answers.iter().collect();
        let (_, combined) = Combination::find(&held, &answers, &roles(), Criterion::Mse);
        let mse = |values: &[f64]| {
            let errors = held.hidden.iter().zip(values);
            errors
                .map(|(one, value)| (value - one.value).powi(2))
                .sum::<f64>()
        };
        assert!(mse(&combined.values) < 1.02 * mse(&plain));
    }

    #[test]
    fn a_method_that_leaves_nothing_is_believed_after_a_few_gaps() {
        let (held, answers) = answers(&[1.0, 0.01]);
        let answers: Vec<&Answers> = answers.iter().collect();
        let (found, _) = Combination::find(&held, &answers, &roles(), Criterion::Mse);
        assert!(
            found.weights(0, 2.0)[1] > 0.98,
            "{:?}",
            found.weights(0, 2.0)
        );
    }

    #[test]
    fn curves_that_bend_are_straight_lines_in_gaps_much_longer_than_those_judged() {
        let (held, answers) = answers(&[1.0, 0.01]);
        let answers: Vec<&Answers> = answers.iter().collect();
        let roles = Roles {
            bending: vec![1],
            ..roles()
        };
        let (found, _) = Combination::find(&held, &answers, &roles, Criterion::Mse);
        assert_eq!(found.weights(0, 1e6), [1.0, 0.0]);
    }
}
