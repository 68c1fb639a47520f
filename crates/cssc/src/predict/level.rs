//! What a channel is where nothing of its own is looked at.
//!
//! What is predicted is the departure from the mean of the channel, from what the other channels lead to expect at the row
//! ([`Joint`](super::joint)), from shared factors and from the season. Every known value teaches it, as none of these is told
//! the channel itself; parts of the rows, and so mostly whole series, are the folds.
//!
//! Boosted trees learn what the ridge leaves, for circumstances that no line knows. They would know by heart what they were
//! taught, and leave nothing to be compensated; so at any time those speak that never saw the stretch of time around it.
//!
//! It fills a channel of which a series knows nothing (`edge`), and it is the prediction o of a compensation
//! (`compensated`).

use super::design::{Design, Features, Profiles};
use super::joint::Use;
use super::lookup::Dense;
use super::regression::Learner;
use super::trees::{Examples, Trees};
use crate::data::Dataset;
use crate::evaluate::{believed, slope};
use crate::numeric::vector::dot;
use crate::ridge::{Moments, cross_validated};

/// Folds, and most values that are learned from.
const FOLDS: usize = 10;
const MOST: usize = 2000;
/// Stretches of time that trees have not seen in turn; the one after it tells how many trees there are.
const STRETCHES: usize = 5;

/// What was learned of one channel.
#[derive(Clone, Debug)]
pub(super) struct Level {
    mean: f64,
    /// None: the mean is all that is known.
    coefficients: Option<Vec<f64>>,
    std_dev: f64,
    trees: Option<Forests>,
}

/// Trees for every stretch of time, which have not seen it.
#[derive(Clone, Debug)]
struct Forests {
    start: f64,
    end: f64,
    without: Vec<Option<Trees>>,
}

impl Level {
    /// Of a channel of `data`.
    pub(super) fn learn(
        design: &Design,
        profiles: &Profiles,
        data: &Dataset,
        channel: usize,
        learner: Learner,
    ) -> Self {
        let mut level = Self::of_ridge(design, profiles, data, channel);
        if learner == Learner::Trees {
            level.trees = Forests::learn(&level, design, profiles, data, channel);
        }
        level
    }

    fn of_ridge(design: &Design, profiles: &Profiles, data: &Dataset, channel: usize) -> Self {
        let (mean, deviation) = design.scale(channel);
        let width = design.seen_width();
        let folds = moments(design, profiles, data, channel);
        let folds: Vec<&Moments> = folds.iter().filter(|fold| fold.count > 0).collect();
        let nothing = vec![vec![0.0; width]; folds.len() + 1];
        let mut found = cross_validated(&folds, width, &nothing);
        let follow = folds.iter().zip(&found);
        let (slope, sure) = slope(follow.map(|(fold, beta)| fold.follow(beta)));
        let step = (slope * believed(sure, folds.len())).clamp(0.0, 1.0);
        for coefficient in found.iter_mut().flatten() {
            *coefficient *= step;
        }
        let errors = folds.iter().zip(&found);
        let left: f64 = errors.map(|(fold, beta)| fold.error(beta)).sum();
        let samples: usize = folds.iter().map(|fold| fold.count).sum();
        let known = width > 0 && step > 0.0;
        Self {
            mean,
            std_dev: match known {
                true => (left / samples.max(1) as f64).max(0.0).sqrt(),
                false => deviation,
            },
            coefficients: found.pop().filter(|_| known),
            trees: None,
        }
    }

    /// The value at a time.
    pub(super) fn at(&self, features: &mut Features<'_>, time: f64) -> f64 {
        if self.coefficients.is_none() && self.trees.is_none() {
            return self.mean;
        }
        let seen = features.seen(time);
        let beta = self.coefficients.as_ref();
        let line = self.mean + beta.map_or(0.0, |beta| dot(beta, seen));
        let trees = self.trees.as_ref();
        line + trees.map_or(0.0, |trees| trees.at(features, time))
    }

    /// Values and their deviations where the channel is not known.
    pub(super) fn values(
        &self,
        features: &mut Features<'_>,
        times: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let values = times.iter().map(|&time| self.at(features, time)).collect();
        (values, vec![self.std_dev; times.len()])
    }
}

impl Forests {
    /// For what a level leaves of the known values of its channel.
    fn learn(
        level: &Level,
        design: &Design,
        profiles: &Profiles,
        data: &Dataset,
        channel: usize,
    ) -> Option<Self> {
        let times = || data.series().iter().flat_map(|series| series.times());
        let mut forests = Self {
            start: times().copied().fold(f64::INFINITY, f64::min),
            end: times().copied().fold(f64::NEG_INFINITY, f64::max),
            without: Vec::new(),
        };
        let mut examples = Examples::default();
        let mut stretches = Vec::new();
        each_known(
            design,
            profiles,
            data,
            channel,
            |_, features, time, value| {
                features.seen(time);
                seen_by_trees(features, time, &mut examples.features);
                examples.targets.push(value - level.at(features, time));
                stretches.push(forests.stretch(time));
            },
        );
        examples.width = examples.features.len() / stretches.len().max(1);
        let without = |stretch: usize| {
            let own = (0..stretches.len()).filter(|&at| stretches[at] != stretch);
            let mut rest = Examples {
                width: examples.width,
                ..Examples::default()
            };
            for at in own {
                let row = &examples.features[at * rest.width..][..rest.width];
                rest.features.extend_from_slice(row);
                rest.targets.push(examples.targets[at]);
                rest.left_out
                    .push(stretches[at] == (stretch + 1) % STRETCHES);
            }
            Trees::fit(&rest, stretch as u64)
        };
        forests.without = (0..STRETCHES).map(without).collect();
        forests
            .without
            .iter()
            .any(Option::is_some)
            .then_some(forests)
    }

    fn stretch(&self, time: f64) -> usize {
        let part = (time - self.start) / (self.end - self.start).max(f64::MIN_POSITIVE);
        ((part * STRETCHES as f64) as usize).min(STRETCHES - 1)
    }

    fn at(&self, features: &Features<'_>, time: f64) -> f64 {
        let trees = self.without[self.stretch(time)].as_ref();
        trees.map_or(0.0, |trees| {
            let mut seen = Vec::new();
            seen_by_trees(features, time, &mut seen);
            trees.value(&seen)
        })
    }
}

/// What was seen last, at this time, and the values of channels that move together with this one.
fn seen_by_trees(features: &Features<'_>, time: f64, into: &mut Vec<f32>) {
    into.extend(features.values.iter().map(|&value| value as f32));
    features.values_beside(time, into);
}

/// Sums of what is seen at the known values of a channel, by parts of the rows.
fn moments(design: &Design, profiles: &Profiles, data: &Dataset, channel: usize) -> Vec<Moments> {
    let (mean, _) = design.scale(channel);
    let mut folds = vec![Moments::new(design.seen_width()); FOLDS];
    let rows = data.rows();
    each_known(
        design,
        profiles,
        data,
        channel,
        |row, features, time, value| {
            folds[row * FOLDS / rows].add(features.seen(time), value - mean);
        },
    );
    folds
}

/// Known values of a channel, an even selection where there are many: the number of the row among all, what can be seen
/// there, time and value.
fn each_known(
    design: &Design,
    profiles: &Profiles,
    data: &Dataset,
    channel: usize,
    mut with: impl FnMut(usize, &mut Features<'_>, f64, f64),
) {
    let every = data.known(channel).count().div_ceil(MOST).max(1);
    let (mut before, mut number) = (0, 0);
    for series in data.series() {
        let dense = Dense::new(series);
        let profiles = &profiles[channel];
        let mut features = Features::new(design, profiles, &dense, channel, Use::Learning);
        for row in 0..series.len() {
            let Some(value) = series.value(row, channel) else {
                continue;
            };
            if number % every == 0 {
                with(before + row, &mut features, series.times()[row], value);
            }
            number += 1;
        }
        before += series.len();
    }
}
