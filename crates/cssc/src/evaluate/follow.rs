//! How far to go from a simple method to a combination, told by values that had no part in it.
//!
//! With x the step and y what the simple method leaves, the slope is Σxy/Σx². Its standard error comes from leaving out one
//! stretch of rows after the other (the jackknife), in all rounds at once: a jump that several rounds have hidden is one witness,
//! and a slope that hangs on it is not sure. Stretches are as long as gaps at least. With t the ratio of both (of the
//! channel and of all channels together), the slope is gone as a whole from t = 2 on (more where there are few stretches), and
//! nothing of it up to t = 1/2.

use super::combine::Samples;

/// Stretches of rows into which the data are cut to see how uncertain a gain is.
pub(super) const STRETCHES: usize = 12;
pub(super) const FEWEST_STRETCHES: usize = 3;
/// How many standard errors a step must be to be made a little, and as a whole.
const UNSURE: f64 = 0.5;
const SURE: f64 = 2.0;
/// A simple method is clearly better than the plainest with so much of its error.
const CLEARLY: f64 = 0.97;
/// And in so many of the stretches of rows.
const OFTEN: f64 = 0.7;
const NEARLY_ALWAYS: f64 = 0.9;
const MANY: usize = 6;

/// How left-out values follow the steps from simple methods to a combination, in every stretch of rows and channel.
pub(super) struct Steps {
    /// [rounds][stretches][channels][simple methods].
    sums: Vec<Vec<Vec<Vec<Sums>>>>,
    simple: Vec<usize>,
    channels: usize,
    /// Stretches.
    count: usize,
}

/// Σxx, Σxy and Σyy of steps x and what the simple method leaves y.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Steps {
    pub(super) fn new(
        samples: &Samples<'_>,
        simple: &[usize],
        values: &[f64],
        rounds: &[std::ops::Range<usize>],
    ) -> Self {
        let held = samples.held;
        let channels = held.visible.channels();
        let mut starts = vec![0];
        for series in held.visible.series() {
            starts.push(starts[starts.len() - 1] + series.len());
        }
        let all = starts[starts.len() - 1].max(1);
        let count = samples.stretches(all);
        let of_round = |round: &std::ops::Range<usize>| {
            let mut sums = vec![vec![vec![Sums::default(); simple.len()]; channels]; count];
            for at in round.clone() {
                let one = &held.hidden[at];
                let stretch = (starts[one.series] + one.row) * count / all;
                for (sum, &method) in sums[stretch][one.channel].iter_mut().zip(simple) {
                    let plain = samples.reference[at] + samples.row(at)[method];
                    let (x, y) = (values[at] - plain, one.value - plain);
                    if x.is_finite() && y.is_finite() {
                        sum.add(&Sums {
                            xx: x * x,
                            xy: x * y,
                            yy: y * y,
                        });
                    }
                }
            }
            sums
        };
        Self {
            sums: rounds.iter().map(of_round).collect(),
            simple: simple.to_vec(),
            channels,
            count,
        }
    }

    /// For every channel how far to go, 0 to 1, and from which simple method, without one round.
    pub(super) fn found(&self, without: Option<usize>) -> Vec<(f64, usize)> {
        let rounds: Vec<usize> = (0..self.sums.len())
            .filter(|round| Some(*round) != without)
            .collect();
        let of_stretch = |stretch: usize, channel: usize, simple: usize| {
            let mut sum = Sums::default();
            let all = rounds.iter().map(|&round| &self.sums[round]);
            all.for_each(|round| sum.add(&round[stretch][channel][simple]));
            sum
        };
        let total = |channel: usize, k: usize| -> f64 {
            let stretches = (0..self.count).map(|stretch| of_stretch(stretch, channel, k).yy);
            stretches.sum()
        };
        // What a method leaves of what the plainest does, in all channels.
        let in_all = |k: usize| -> f64 {
            let parts = (0..self.channels).map(|channel| [0, k].map(|k| total(channel, k)));
            let known = parts.filter(|[plainest, _]| *plainest > 0.0);
            known.map(|[plainest, own]| own / plainest - 1.0).sum()
        };
        let better_in_all: Vec<bool> = (0..self.simple.len()).map(|k| in_all(k) < 0.0).collect();
        let of_channel = |channel: usize| {
            // The first is the plainest: another must be clearly better, and so in most stretches; in nearly all of them,
            // and of many, where the other channels speak against it.
            let often = |k: usize| {
                let stretches = (0..self.count)
                    .map(|stretch| [0, k].map(|k| of_stretch(stretch, channel, k).yy));
                let told = stretches.clone().filter(|[first, _]| *first > 0.0).count();
                let better = stretches.filter(|[first, own]| own < first).count();
                let wanted = match better_in_all[k] {
                    true => OFTEN,
                    false if told >= MANY => NEARLY_ALWAYS,
                    false => f64::INFINITY,
                };
                better as f64 >= wanted * told as f64
            };
            let best = (0..self.simple.len())
                .filter(|&k| k == 0 || often(k))
                .min_by(|a, b| {
                    let cost = |k: usize| total(channel, k) * if k == 0 { CLEARLY } else { 1.0 };
                    cost(*a).total_cmp(&cost(*b))
                })
                .unwrap_or(0);
            let own = (0..self.count).map(|stretch| of_stretch(stretch, channel, best));
            (best, total(channel, best), own.collect())
        };
        let all: Vec<(usize, f64, Vec<Sums>)> = (0..self.channels).map(of_channel).collect();
        let together = |k: usize| {
            let known = all.iter().filter(|(_, total, _)| *total > 0.0);
            known.fold(Sums::default(), |sum, (_, total, own)| Sums {
                xx: sum.xx + own[k].xx / total,
                xy: sum.xy + own[k].xy / total,
                yy: sum.yy + own[k].yy / total,
            })
        };
        let together: Vec<Sums> = (0..self.count).map(together).collect();
        let (_, together) = slope(&together);
        let step = |(best, _, own): &(usize, f64, Vec<Sums>)| {
            let (slope, sure) = slope(own);
            // Stouffer's rule: two witnesses of equal weight.
            let sure = (sure + together) * std::f64::consts::FRAC_1_SQRT_2;
            // Few stretches tell their own scatter badly, as in Student's distribution.
            let count = self.count as f64;
            let needed = SURE * ((count + 3.0) / (count - 1.0)).sqrt();
            let part = ((sure - UNSURE) / (needed - UNSURE)).clamp(0.0, 1.0);
            ((slope * part).clamp(0.0, 1.0), self.simple[*best])
        };
        all.iter().map(step).collect()
    }
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
    }
}

/// The slope of y on x, and how many times its standard error it is.
fn slope(stretches: &[Sums]) -> (f64, f64) {
    let xx: f64 = stretches.iter().map(|one| one.xx).sum();
    let xy: f64 = stretches.iter().map(|one| one.xy).sum();
    if xx <= 0.0 {
        return (0.0, 0.0);
    }
    let used = stretches.iter().filter(|one| one.xx > 1e-9 * xx);
    let without = |one: &Sums| (xy - one.xy) / (xx - one.xx).max(1e-9 * xx);
    let others: Vec<f64> = used.map(without).collect();
    let count = others.len() as f64;
    if count < 2.0 {
        return (xy / xx, 0.0);
    }
    let mean = others.iter().sum::<f64>() / count;
    let squares: f64 = others.iter().map(|other| (other - mean).powi(2)).sum();
    let error = (squares * (count - 1.0) / count).sqrt();
    let slope = xy / xx;
    (slope, (slope / error.max(1e-6)).clamp(-1e6, 1e6))
}
