//! A channel of which a series knows nothing, while other series know it.
//!
//! There is no value to begin with: what is predicted is the departure from the mean of the channel over all series, from
//! what the other channels lead to expect at the row ([`Joint`](super::joint)) and from the profiles of the seasons. Every
//! known value teaches it, as the first of these is never told the channel itself; parts of the rows, and so mostly whole
//! series, are the folds.

use super::design::{Design, Features, Profiles};
use super::joint::Use;
use super::lookup::Dense;
use super::ridge::{Moments, cross_validated};
use crate::data::Dataset;
use crate::evaluate::{believed, slope};
use crate::numeric::vector::dot;

/// Fewest series that know the channel, folds, and most values that are learned from.
const FEWEST_SERIES: usize = 10;
const FOLDS: usize = 10;
const MOST: usize = 5000;

/// What was learned of one channel.
#[derive(Clone, Debug)]
pub(super) struct Unseen {
    mean: f64,
    /// None: the mean is all that is known.
    coefficients: Option<Vec<f64>>,
    std_dev: f64,
}

impl Unseen {
    /// Of a channel of `data`; `None` if every series knows it, or too few do.
    pub(super) fn learn(
        design: &Design,
        profiles: &Profiles,
        data: &Dataset,
        channel: usize,
    ) -> Option<Self> {
        let all = data.series();
        let count = |row_known: bool| {
            let known = all.iter().filter(|series| {
                let mut rows = 0..series.len();
                rows.any(|row| series.value(row, channel).is_some()) == row_known
            });
            known.count()
        };
        if count(false) == 0 || count(true) < FEWEST_SERIES {
            return None;
        }
        let (mean, deviation) = design.scale(channel);
        let width = design.seen_width();
        let mut folds = vec![Moments::new(width); FOLDS];
        let rows = data.rows();
        let every = data.known(channel).count().div_ceil(MOST).max(1);
        let (mut before, mut number) = (0, 0);
        for series in all {
            let dense = Dense::new(series);
            let profiles = &profiles[channel];
            let mut features = Features::new(design, profiles, &dense, channel, Use::Learning);
            for row in 0..series.len() {
                let Some(value) = series.value(row, channel) else {
                    continue;
                };
                if number % every == 0 {
                    let seen = features.seen(series.times()[row]);
                    let fold = (before + row) * FOLDS / rows;
                    folds[fold].add(&seen, value - mean);
                }
                number += 1;
            }
            before += series.len();
        }
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
        Some(Self {
            mean,
            std_dev: match known {
                true => (left / samples.max(1) as f64).max(0.0).sqrt(),
                false => deviation,
            },
            coefficients: found.pop().filter(|_| known),
        })
    }

    /// Values and their deviations.
    pub(super) fn values(
        &self,
        features: &mut Features<'_>,
        times: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let value = |&time: &f64| {
            let beta = self.coefficients.as_ref();
            self.mean + beta.map_or(0.0, |beta| dot(beta, &features.seen(time)))
        };
        (
            times.iter().map(value).collect(),
            vec![self.std_dev; times.len()],
        )
    }
}
