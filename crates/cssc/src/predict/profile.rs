//! What a channel usually does at a phase of its period.
//!
//! Values minus their mean over one period around them, averaged by phase. A phase with few or
//! scattered values is drawn towards 0: with n values its mean counts n/(n + κ), where κ is the
//! variance within phases over the variance between them. Where they do not differ, there is no profile.

use crate::data::Dataset;

/// Most phases of a profile, and values that a phase needs on average.
const MOST_PHASES: f64 = 1024.0;
const VALUES_OF_PHASE: f64 = 3.0;
/// Of fewer cycles a value is a large part of its own profile.
const MANY_CYCLES: f64 = 8.0;
/// The least part of the variance that differs between phases.
const LEAST_SIGNAL: f64 = 1e-3;

/// A mean course over one period.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    period: f64,
    origin: f64,
    means: Vec<f64>,
    /// How often the period is seen.
    cycles: f64,
}

impl Profile {
    /// Of a channel of `data`, whose rows are usually `usual` apart.
    pub(super) fn new(
        data: &Dataset,
        channel: usize,
        period: f64,
        usual: f64,
        origin: f64,
    ) -> Self {
        let mut anomalies: Vec<(f64, f64)> = Vec::new();
        let mut cycles = 0.0;
        for series in data.series() {
            let (knots, known) = series.observed(channel);
            if let [first, .., last] = knots[..] {
                cycles += (last - first) / period;
            }
            local_anomalies(&knots, &known, period, &mut anomalies);
        }
        let most = (anomalies.len() as f64 / VALUES_OF_PHASE).min(MOST_PHASES);
        let phases = (period / usual).round().min(most).max(1.0) as usize;
        let mut profile = Self {
            period,
            origin,
            means: vec![0.0; phases],
            cycles,
        };
        profile.average(&anomalies);
        profile
    }

    fn average(&mut self, anomalies: &[(f64, f64)]) {
        let phases = self.means.len();
        let (mut counts, mut squares) = (vec![0.0; phases], 0.0);
        for &(time, value) in anomalies {
            let phase = self.phase(time).round() as usize % phases;
            self.means[phase] += value;
            counts[phase] += 1.0;
            squares += value * value;
        }
        let all = anomalies.len() as f64;
        let mut between = 0.0;
        for (mean, &count) in self.means.iter_mut().zip(&counts) {
            if count > 0.0 {
                *mean /= count;
                between += count * *mean * *mean;
            }
        }
        let used = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        let within = ((squares - between) / (all - used).max(1.0)).max(0.0);
        let signal = (between - used * within) / all.max(1.0);
        // Next to nothing would be worse than nothing: a regression gives it any weight, and elsewhere it may be more.
        let kappa = match signal > LEAST_SIGNAL * squares / all.max(1.0) {
            true => within / signal,
            false => f64::INFINITY,
        };
        for (mean, &count) in self.means.iter_mut().zip(&counts) {
            *mean *= count / (count + kappa).max(f64::MIN_POSITIVE);
        }
    }

    /// The phase at a time, from 0 to the number of phases.
    fn phase(&self, time: f64) -> f64 {
        let turns = (time - self.origin) / self.period;
        turns.rem_euclid(1.0) * self.means.len() as f64
    }

    /// The same if it comes from so many cycles that a value makes little of the profile it is compared with.
    pub(super) fn apart_at(&self, time: f64) -> f64 {
        if self.cycles < MANY_CYCLES {
            return 0.0;
        }
        self.at(time)
    }

    /// The usual departure from the mean at a time.
    pub(super) fn at(&self, time: f64) -> f64 {
        let phases = self.means.len();
        let phase = self.phase(time);
        let before = phase.floor();
        let part = phase - before;
        let mean = |k: usize| self.means[k % phases];
        (1.0 - part) * mean(before as usize) + part * mean(before as usize + 1)
    }
}

/// Values minus their mean over a period around them, with their times.
fn local_anomalies(knots: &[f64], known: &[f64], period: f64, found: &mut Vec<(f64, f64)>) {
    let mut sums = Vec::with_capacity(known.len() + 1);
    sums.push(0.0);
    let mut sum = 0.0;
    for value in known {
        sum += value;
        sums.push(sum);
    }
    let (mut low, mut high) = (0, 0);
    for (&time, &value) in knots.iter().zip(known) {
        while knots[low] < time - 0.5 * period {
            low += 1;
        }
        while high < knots.len() && knots[high] <= time + 0.5 * period {
            high += 1;
        }
        let mean = (sums[high] - sums[low]) / (high - low) as f64;
        found.push((time, value - mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Series;

    /// A zigzag of period 4 on a slope, a third of it missing.
    #[test]
    fn the_profile_of_what_repeats_itself_is_what_it_repeats() {
        let value = |k: u32| [0.0, 2.0, 0.0, -2.0][k as usize % 4] + 0.001 * f64::from(k);
        let values = (0..400).map(|k| if k % 3 == 1 { f64::NAN } else { value(k) });
        let times = (0..400).map(f64::from).collect();
        let series = Series::new(None, 1, times, values.collect()).unwrap();
        let data = Dataset::new(vec!["x".into()], vec![series]).unwrap();
        let profile = Profile::new(&data, 0, 4.0, 1.0, 0.0);
        for (time, wanted) in [(400.0, 0.0), (401.0, 2.0), (402.5, -1.0), (-1.0, -2.0)] {
            let found = profile.at(time);
            assert!((found - wanted).abs() < 0.35, "{time}: {found}");
        }
    }

    /// Next to nothing would be a feature to which a regression may give any weight.
    #[test]
    fn phases_that_do_not_differ_have_no_profile() {
        let mut random = crate::data::Random::new(1);
        let values = (0..400).map(|_| random.normal(0.0, 1.0)).collect();
        let times = (0..400).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        let data = Dataset::new(vec!["x".into()], vec![series]).unwrap();
        let sizes = [4.0, 7.0, 30.0, 50.0].map(|period| {
            let profile = Profile::new(&data, 0, period, 1.0, 0.0);
            profile.means.iter().map(|mean| mean * mean).sum::<f64>()
        });
        assert!(sizes.contains(&0.0), "{sizes:?}");
        assert!(
            sizes.iter().all(|&size| size == 0.0 || size > 1e-6),
            "{sizes:?}"
        );
    }
}
