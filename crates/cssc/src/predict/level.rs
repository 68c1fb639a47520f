//! What a channel is where nothing of its own is looked at.
//!
//! What is predicted is the departure from the mean of the channel, from what the other channels lead to expect at the row
//! ([`Joint`](super::joint)), from shared factors and from the season. Every known value teaches it, as none of these is told
//! the channel itself; parts of the rows, and so mostly whole series, are the folds.
//!
//! It fills a channel of which a series knows nothing (`edge`), and it is the prediction o of a compensation
//! (`compensated`).

use super::design::{Design, Features, Profiles};
use super::joint::Use;
use super::lookup::Dense;
use super::ridge::{Moments, cross_validated};
use crate::data::Dataset;
use crate::evaluate::{believed, slope};
use crate::numeric::vector::dot;

/// Folds, and most values that are learned from.
const FOLDS: usize = 10;
const MOST: usize = 2000;

/// What was learned of one channel.
#[derive(Clone, Debug)]
pub(super) struct Level {
    mean: f64,
    /// None: the mean is all that is known.
    coefficients: Option<Vec<f64>>,
    std_dev: f64,
}

impl Level {
    /// Of a channel of `data`.
    pub(super) fn learn(
        design: &Design,
        profiles: &Profiles,
        data: &Dataset,
        channel: usize,
    ) -> Self {
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
        }
    }

    /// The value at a time.
    pub(super) fn at(&self, features: &mut Features<'_>, time: f64) -> f64 {
        let beta = self.coefficients.as_ref();
        self.mean + beta.map_or(0.0, |beta| dot(beta, features.seen(time)))
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

/// Sums of what is seen at the known values of a channel, by parts of the rows.
fn moments(design: &Design, profiles: &Profiles, data: &Dataset, channel: usize) -> Vec<Moments> {
    let (mean, _) = design.scale(channel);
    let mut folds = vec![Moments::new(design.seen_width()); FOLDS];
    let rows = data.rows();
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
                let fold = (before + row) * FOLDS / rows;
                folds[fold].add(features.seen(series.times()[row]), value - mean);
            }
            number += 1;
        }
        before += series.len();
    }
    folds
}
