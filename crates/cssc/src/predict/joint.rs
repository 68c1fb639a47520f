//! What the other channels say of a channel at a row: a normal distribution of neighbouring rows.
//!
//! The values of all channels at a row and the rows beside it are taken as one draw z of a normal distribution with mean μ
//! and covariance Σ. With O what is known of the *other* channels there, channel j is expected at
//!
//! $$ e_j = \mu_j + \Sigma_{jO}\Sigma_{OO}^{-1}(z_O - \mu_O), \qquad
//!    v_j = \Sigma_{jj} - \Sigma_{jO}\Sigma_{OO}^{-1}\Sigma_{Oj}. $$
//!
//! μ and Σ come from the EM algorithm: what is missing of a row is expected from what is known of it, and what is not
//! known about it is added to Σ. So holes in the other channels cost nothing but what they hide, and channels that are nearly
//! copies of each other are used to the last digit: a ridge regression on columns without holes can do
//! neither. The other reason: it is learned from all rows, and not from those that were hidden, and does not depend
//! on the length of a gap. To Σ the noise of its own estimate is added: v·d/n for d values and n rows.
//!
//! With P = Σ⁻¹ and M what is missing, e_M = μ_M - P_MM⁻¹ P_MO (z_O - μ_O), and what is not known about it is P_MM⁻¹: where
//! little is missing that costs next to nothing. Cost: m³/3 for every kind of row and step of EM, of at most a thousand rows;
//! m³/6 + m·d for an answer, less where the same cells are known as for the row before.

use crate::data::{Dataset, Series};
use crate::numeric::vector::dot;
use crate::ridge::cholesky_solve;
use rayon::prelude::*;

/// Rows beside a row that belong to it, before and after.
const BESIDE: usize = 1;
/// Most channels of one distribution that looks at the rows beside.
const MOST_CHANNELS: usize = 12;
/// Most channels of a table; with more of them the factors must do.
const MOST_OF_TABLE: usize = 200;
/// Rows that are learned from, at least and at most.
const FEWEST_ROWS: usize = 40;
const MOST_ROWS: usize = 1000;
/// Stretches of rows, of which every other one is taken.
const STRETCHES: usize = 8;
/// Steps of EM.
const STEPS: usize = 10;
/// The least part of a variance that is not explained.
const LEAST_NOISE: f64 = 1e-9;
/// Rows are neighbours if they are at most so many usual steps apart.
const NEAR: f64 = 1.5;

/// A normal distribution of some channels at some rows around a row.
#[derive(Clone, Debug, PartialEq)]
struct Normal {
    /// The channels.
    members: Vec<usize>,
    /// Rows beside: -1, 0, 1, or only 0.
    shifts: Vec<isize>,
    mean: Vec<f64>,
    /// [d, d], the lower half.
    covariance: Vec<f64>,
    /// Its inverse, whole.
    precision: Vec<f64>,
}

/// What every channel is told by: one distribution for all, or one each.
///
/// Whoever learns from what it says must not be told of a row by a distribution that has seen it. So there are three of
/// them: of all rows, of every other stretch of rows, and of the stretches between.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Joint {
    usual: f64,
    /// [of all, of even stretches, of odd ones][distributions].
    all: Vec<Vec<Normal>>,
    /// The distribution of each channel, and its place among the members.
    places: Vec<Option<(usize, usize)>>,
}

/// What a stretch is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// To fill: all rows may speak.
    Filling,
    /// To learn from: only rows of other stretches may.
    Learning,
}

/// Whether a row belongs to an odd stretch of its series.
fn is_odd(row: usize, rows: usize) -> bool {
    row * STRETCHES / rows.max(1) % 2 == 1
}

/// What is expected, and which part of the variance is explained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expected {
    pub(super) value: f64,
    pub(super) explained: f64,
}

impl Joint {
    /// Of `data`, whose rows are usually `usual` apart; `others` are the channels that tell each channel.
    pub(super) fn new(data: &Dataset, usual: f64, others: &[Vec<usize>]) -> Option<Self> {
        let channels = data.channels();
        let rows = data.rows();
        if !(2..=MOST_OF_TABLE).contains(&channels) || rows < FEWEST_ROWS {
            return None;
        }
        let groups: Vec<Vec<usize>> = if channels <= MOST_CHANNELS {
            vec![(0..channels).collect()]
        } else {
            let group = |j: usize| {
                let mut members = vec![j];
                members.extend(&others[j]);
                members
            };
            (0..channels).map(group).collect()
        };
        let shared = groups.len() == 1;
        let beside = if shared { BESIDE as isize } else { 0 };
        let shifts: Vec<isize> = (-beside..=beside).collect();
        let fit = |odd: Option<bool>| -> Vec<Normal> {
            let groups = groups.par_iter();
            groups
                .map(|members| Normal::fit(data, usual, members.clone(), shifts.clone(), odd))
                .collect()
        };
        let all = vec![fit(None), fit(Some(false)), fit(Some(true))];
        let place = |channel: usize| {
            let (number, at) = if shared { (0, channel) } else { (channel, 0) };
            (all[0][number].members.len() > 1).then_some((number, at))
        };
        let places = (0..channels).map(place).collect();
        Some(Self { usual, all, places })
    }

    /// The number of channels that tell a channel.
    pub(super) fn tells(&self, channel: usize) -> bool {
        self.places[channel].is_some()
    }

    /// What is expected of a channel of a series.
    pub(super) fn asked<'a>(
        &'a self,
        series: &'a Series,
        channel: usize,
        purpose: Use,
    ) -> Option<Asked<'a>> {
        let (number, place) = self.places[channel]?;
        let normal = &self.all[0][number];
        let now = normal.shifts.len() / 2 * normal.members.len() + place;
        // A row of an odd stretch is told by even ones, and the other way round.
        let told = match purpose {
            Use::Filling => [normal; 2],
            Use::Learning => [&self.all[2][number], &self.all[1][number]],
        };
        Some(Asked {
            told,
            normal,
            series,
            usual: self.usual,
            channel,
            now,
            values: Vec::new(),
            missing: Vec::new(),
            before: Vec::new(),
            weights: Vec::new(),
            explained: 0.0,
        })
    }
}

/// Answers for one channel of one series, row by row.
pub(super) struct Asked<'a> {
    /// What tells rows of even stretches, and of odd ones; and which of them told last.
    told: [&'a Normal; 2],
    normal: &'a Normal,
    series: &'a Series,
    usual: f64,
    channel: usize,
    /// The place of the channel at its own row.
    now: usize,
    /// Departures from the means around a row; 0 where nothing is known.
    values: Vec<f64>,
    missing: Vec<usize>,
    /// What was missing when the weights were found; one weight for every place.
    before: Vec<usize>,
    weights: Vec<f64>,
    explained: f64,
}

impl Asked<'_> {
    /// What is expected at a row, from the other channels alone.
    pub(super) fn at(&mut self, row: usize) -> Expected {
        let normal = self.told[usize::from(is_odd(row, self.series.len()))];
        if !std::ptr::eq(normal, self.normal) {
            self.normal = normal;
            self.before.clear();
        }
        self.values.clear();
        self.missing.clear();
        for (at, channel, value) in self.normal.around(self.series, self.usual, row) {
            let known = channel != self.channel && !value.is_nan();
            if !known {
                self.missing.push(at);
            }
            let departure = if known {
                value - self.normal.mean[at]
            } else {
                0.0
            };
            self.values.push(departure);
        }
        if self.before != self.missing {
            self.explained = self
                .normal
                .weights(&self.missing, self.now, &mut self.weights);
            self.before.clone_from(&self.missing);
        }
        Expected {
            value: self.normal.mean[self.now] + dot(&self.values, &self.weights),
            explained: self.explained,
        }
    }
}

impl Normal {
    /// Places, channels and values (NaN where missing) around a row.
    fn around<'a>(
        &'a self,
        series: &'a Series,
        usual: f64,
        row: usize,
    ) -> impl Iterator<Item = (usize, usize, f64)> + 'a {
        let times = series.times();
        let shifts = self.shifts.iter().enumerate();
        shifts.flat_map(move |(number, shift)| {
            let other = row.checked_add_signed(*shift).filter(|other| {
                let near = NEAR * usual * shift.unsigned_abs() as f64;
                *other < times.len() && (times[*other] - times[row]).abs() <= near
            });
            let first = number * self.members.len();
            let members = self.members.iter().enumerate();
            members.map(move |(place, &channel)| {
                let value = other.and_then(|row| series.value(row, channel));
                (first + place, channel, value.unwrap_or(f64::NAN))
            })
        })
    }

    /// Of all rows, or of those of odd or even stretches.
    fn fit(
        data: &Dataset,
        usual: f64,
        members: Vec<usize>,
        shifts: Vec<isize>,
        odd: Option<bool>,
    ) -> Self {
        let size = members.len() * shifts.len();
        let mut normal = Self {
            members,
            shifts,
            mean: vec![0.0; size],
            covariance: vec![0.0; size * size],
            precision: Vec::new(),
        };
        let rows = data.rows();
        let every = rows.div_ceil(MOST_ROWS).max(1);
        let places = data
            .series()
            .iter()
            .flat_map(|series| (0..series.len()).map(move |row| (series, row)))
            .filter(|(series, row)| odd.is_none_or(|odd| is_odd(*row, series.len()) == odd));
        let samples: Vec<Vec<f64>> = places
            .step_by(every)
            .map(|(series, row)| {
                let around = normal.around(series, usual, row);
                around.map(|(_, _, value)| value).collect()
            })
            .collect();
        normal.begin(&samples);
        let mut left = f64::INFINITY;
        for _ in 0..STEPS {
            normal.improve(&samples);
            // Where nothing is missing the first step is the last.
            let now: f64 = (0..size).map(|at| normal.covariance[at * size + at]).sum();
            if (now / left - 1.0).abs() < 1e-9 {
                break;
            }
            left = now;
        }
        normal.soften(samples.len());
        normal
    }

    /// Means and variances of what is known; nothing moves together yet.
    fn begin(&mut self, samples: &[Vec<f64>]) {
        let size = self.mean.len();
        for at in 0..size {
            let known = samples
                .iter()
                .map(|one| one[at])
                .filter(|value| !value.is_nan());
            let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
            known.clone().for_each(|value| {
                count += 1.0;
                sum += value;
            });
            let mean = sum / f64::max(count, 1.0);
            known.for_each(|value| squares += (value - mean) * (value - mean));
            self.mean[at] = mean;
            self.covariance[at * size + at] = (squares / f64::max(count, 1.0)).max(1e-300);
        }
    }

    /// One step of EM.
    fn improve(&mut self, samples: &[Vec<f64>]) {
        let size = self.mean.len();
        self.invert();
        let (mut sums, mut squares) = (vec![0.0; size], vec![0.0; size * size]);
        let mut whole = vec![0.0; size];
        // What is not known about the missing values depends only on which are missing.
        let mut order: Vec<usize> = (0..samples.len()).collect();
        let holes = |at: usize| samples[at].iter().map(|value| value.is_nan());
        order.sort_by(|&a, &b| holes(a).cmp(holes(b)).then(a.cmp(&b)));
        for alike in order.chunk_by(|&a, &b| holes(a).eq(holes(b))) {
            let missing: Vec<usize> = (0..size)
                .filter(|&at| samples[alike[0]][at].is_nan())
                .collect();
            let left = self.left(&missing);
            let count = missing.len();
            for &number in alike {
                for (at, value) in samples[number].iter().enumerate() {
                    whole[at] = if value.is_nan() {
                        0.0
                    } else {
                        value - self.mean[at]
                    };
                }
                let pulls: Vec<f64> = missing
                    .iter()
                    .map(|&at| dot(&self.precision[at * size..][..size], &whole))
                    .collect();
                for (place, &at) in missing.iter().enumerate() {
                    whole[at] = -dot(&left[place * count..][..count], &pulls);
                }
                for a in 0..size {
                    sums[a] += whole[a];
                    let row = &mut squares[a * size..][..=a];
                    let one = whole[a];
                    row.iter_mut()
                        .zip(&whole)
                        .for_each(|(sum, b)| *sum += one * b);
                }
            }
            for (a, &one) in missing.iter().enumerate() {
                for (b, &other) in missing[..=a].iter().enumerate() {
                    squares[one * size + other] += alike.len() as f64 * left[a * count + b];
                }
            }
        }
        let count = samples.len().max(1) as f64;
        for a in 0..size {
            for b in 0..=a {
                let mean = sums[a] * sums[b] / (count * count);
                self.covariance[a * size + b] = squares[a * size + b] / count - mean;
            }
        }
        for (at, sum) in sums.iter().enumerate() {
            self.mean[at] += sum / count;
            let variance = &mut self.covariance[at * size + at];
            *variance = variance.max(1e-300) * (1.0 + LEAST_NOISE);
        }
    }

    /// Adds what the estimate itself is uncertain by.
    fn soften(&mut self, rows: usize) {
        let size = self.mean.len();
        let part = size as f64 / rows.max(1) as f64;
        self.invert();
        for at in 0..size {
            let left = 1.0 / self.precision[at * size + at];
            self.covariance[at * size + at] += part * left.max(0.0);
        }
        self.invert();
    }

    fn invert(&mut self) {
        self.precision = inverse(self.covariance.clone(), self.mean.len());
    }

    /// P_MM⁻¹: what is not known about missing values.
    fn left(&self, missing: &[usize]) -> Vec<f64> {
        inverse(self.of_missing(missing), missing.len())
    }

    fn of_missing(&self, missing: &[usize]) -> Vec<f64> {
        let size = self.mean.len();
        let mut some = Vec::with_capacity(missing.len() * missing.len());
        for &one in missing {
            let row = &self.precision[one * size..][..size];
            some.extend(missing.iter().map(|&other| row[other]));
        }
        some
    }

    /// The weights of all places for the missing one at `now`, and which part of its variance they explain.
    fn weights(&self, missing: &[usize], now: usize, weights: &mut Vec<f64>) -> f64 {
        let size = self.mean.len();
        let mut right: Vec<f64> = missing
            .iter()
            .map(|&at| f64::from(u8::from(at == now)))
            .collect();
        cholesky_solve(&mut self.of_missing(missing), missing.len(), &mut right);
        weights.clear();
        weights.resize(size, 0.0);
        let mut left = 0.0;
        for (&at, part) in missing.iter().zip(&right) {
            let row = &self.precision[at * size..][..size];
            weights
                .iter_mut()
                .zip(row)
                .for_each(|(weight, entry)| *weight -= part * entry);
            left += if at == now { *part } else { 0.0 };
        }
        1.0 - (left / self.covariance[now * size + now]).clamp(0.0, 1.0)
    }
}

/// Of a positive definite matrix whose lower half is given.
fn inverse(mut lower: Vec<f64>, size: usize) -> Vec<f64> {
    // The factor first: a right side of zeros stays one.
    cholesky_solve(&mut lower, size, &mut vec![0.0; size]);
    // Then its inverse, column by column, and their products.
    let mut turned = vec![0.0; size * size];
    for column in 0..size {
        turned[column * size + column] = 1.0 / lower[column * size + column];
        for row in column + 1..size {
            let sum: f64 = (column..row)
                .map(|k| lower[row * size + k] * turned[column * size + k])
                .sum();
            turned[column * size + row] = -sum / lower[row * size + row];
        }
    }
    let mut found = vec![0.0; size * size];
    for a in 0..size {
        for b in 0..=a {
            let sum = dot(
                &turned[a * size + a..][..size - a],
                &turned[b * size + a..][..size - a],
            );
            found[a * size + b] = sum;
            found[b * size + a] = sum;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// Three channels: a walk, its copy with a little noise, and noise; half of the cells missing.
    fn data(holes: f64) -> (Dataset, Vec<f64>) {
        let mut random = Random::new(2);
        let rows = 600;
        let mut walk = 0.0;
        let mut values: Vec<f64> = (0..rows)
            .flat_map(|_| {
                walk += random.normal(0.0, 1.0);
                [
                    walk,
                    3.0 - 2.0 * walk + random.normal(0.0, 0.01),
                    random.normal(0.0, 1.0),
                ]
            })
            .collect();
        let truth = values.clone();
        for value in &mut values {
            if random.unit() < holes {
                *value = f64::NAN;
            }
        }
        let times = (0..rows).map(|row| row as f64).collect();
        let series = Series::new(None, 3, times, values).unwrap();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        (Dataset::new(names, vec![series]).unwrap(), truth)
    }

    #[test]
    fn a_copy_tells_its_channel_even_where_half_of_the_cells_are_missing() {
        // With holes EM is not at its end after ten steps; the walk goes many times as far.
        for (holes, most) in [(0.0, 0.05), (0.5, 2.0)] {
            let (data, truth) = data(holes);
            let joint = Joint::new(&data, 1.0, &[]).unwrap();
            let series = &data.series()[0];
            let mut asked = joint.asked(series, 0, Use::Filling).unwrap();
            let (mut worst, mut told) = (0.0f64, 0);
            for row in 0..600 {
                let found = asked.at(row);
                if series.value(row, 1).is_some() {
                    worst = worst.max((found.value - truth[3 * row]).abs());
                    assert!(found.explained > 0.98);
                    told += 1;
                }
            }
            assert!(worst < most && told > 250, "{worst} {told}");
        }
    }

    /// What is learned from must not have been seen: a change of all other values of an even stretch changes only what
    /// odd ones are told.
    #[test]
    fn a_row_that_is_learned_from_has_not_told_itself() {
        let (data, _) = data(0.2);
        let series = &data.series()[0];
        let mut values = series.values().to_vec();
        for value in &mut values[..3 * 70] {
            *value = 1e3 - *value;
        }
        let changed = Series::new(None, 3, series.times().to_vec(), values).unwrap();
        let other = Dataset::new(data.channel_names().to_vec(), vec![changed]).unwrap();
        let said = |data: &Dataset, row: usize| {
            let joint = Joint::new(data, 1.0, &[]).unwrap();
            joint.asked(series, 0, Use::Learning).unwrap().at(row)
        };
        assert_eq!(said(&data, 30), said(&other, 30));
        assert_ne!(said(&data, 100), said(&other, 100));
    }

    #[test]
    fn a_channel_does_not_tell_itself_and_noise_tells_nothing() {
        let (data, _) = data(0.0);
        let joint = Joint::new(&data, 1.0, &[]).unwrap();
        let series = &data.series()[0];
        let mut values = series.values().to_vec();
        let before = joint.asked(series, 0, Use::Filling).unwrap().at(300);
        values[3 * 300] = 1e6;
        values[3 * 299] = -1e6;
        let changed = Series::new(None, 3, series.times().to_vec(), values).unwrap();
        assert_eq!(
            joint.asked(&changed, 0, Use::Filling).unwrap().at(300),
            before
        );
        assert!(
            joint
                .asked(series, 2, Use::Filling)
                .unwrap()
                .at(300)
                .explained
                < 0.05
        );
    }
}
