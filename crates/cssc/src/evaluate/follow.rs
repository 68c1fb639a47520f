//! How far to go from simple methods to a combination of all, told by values that had no part in either.
//!
//! With x the step from what is simple to the combination and y what the simple one leaves, the slope of y on x is Σxy/Σx².
//! Its standard error comes from leaving out one stretch of rows after the other (the jackknife),
//! in all rounds at once: a jump that several rounds have hidden is one witness, and a slope that hangs on it is not sure.
//! Stretches are as long as gaps at least. With t the ratio of both (of the channel and of all channels together), the slope is
//! gone as a whole from t = 2 on (more where there are few stretches), and nothing of it up to t = 1/2. (Adding up the sums of the
//! channel and of all before leaving out stretches was tried: a column that is known in one stretch only then never follows.)

use super::combine::Samples;
use super::score::{believed, slope};

/// Stretches of rows into which the data are cut to see how uncertain a gain is.
pub(super) const STRETCHES: usize = 12;
pub(super) const FEWEST_STRETCHES: usize = 3;
/// How left-out values follow the steps from simple methods to a combination, in every stretch of rows and channel.
pub(super) struct Steps {
    /// [rounds][stretches][channels].
    fits: Vec<Vec<Vec<Fit>>>,
    channels: usize,
    /// Stretches.
    count: usize,
}

/// Σxx, Σxy and Σyy of steps x from a simple curve and what it leaves y.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Steps {
    /// From `simple` values to those of a combination.
    pub(super) fn new(
        samples: &Samples<'_>,
        simple: &[f64],
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
            let mut fits = vec![vec![Fit::default(); channels]; count];
            for at in round.clone() {
                let one = &held.hidden[at];
                let stretch = (starts[one.series] + one.row) * count / all;
                let (x, y) = (values[at] - simple[at], one.value - simple[at]);
                if x.is_finite() && y.is_finite() {
                    let fit = Fit {
                        xx: x * x,
                        xy: x * y,
                        yy: y * y,
                    };
                    fits[stretch][one.channel].add_times(&fit, 1.0);
                }
            }
            fits
        };
        Self {
            fits: rounds.iter().map(of_round).collect(),
            channels,
            count,
        }
    }

    /// For every channel how far to go, 0 to 1, without one round.
    pub(super) fn found(&self, without: Option<usize>) -> Vec<f64> {
        let rounds: Vec<&Vec<Vec<Fit>>> = (0..self.fits.len())
            .filter(|round| Some(*round) != without)
            .map(|round| &self.fits[round])
            .collect();
        let of_channel = |channel: usize| -> Vec<Fit> {
            let of_stretch = |stretch: usize| {
                let mut sum = Fit::default();
                let own = rounds.iter().map(|round| &round[stretch][channel]);
                own.for_each(|fit| sum.add_times(fit, 1.0));
                sum
            };
            (0..self.count).map(of_stretch).collect()
        };
        let fits: Vec<Vec<Fit>> = (0..self.channels).map(of_channel).collect();
        let (_, sure_in_all) = slope_of(&together(&fits));
        let step = |own: &Vec<Fit>| {
            let (slope, sure) = slope_of(own);
            // Stouffer's rule: two witnesses of equal weight.
            let sure = (sure + sure_in_all) * std::f64::consts::FRAC_1_SQRT_2;
            (slope * believed(sure, self.count)).clamp(0.0, 1.0)
        };
        fits.iter().map(step).collect()
    }
}

/// The sums of all channels together, each in units of what is simple leaves there.
fn together(all: &[Vec<Fit>]) -> Vec<Fit> {
    let mut together = vec![Fit::default(); all.first().map_or(0, Vec::len)];
    for own in all {
        let unit: f64 = own.iter().map(|fit| fit.yy).sum();
        if unit > 0.0 {
            for (sum, own) in together.iter_mut().zip(own) {
                sum.add_times(own, 1.0 / unit);
            }
        }
    }
    together
}

impl Fit {
    fn add_times(&mut self, other: &Self, factor: f64) {
        self.xx += factor * other.xx;
        self.xy += factor * other.xy;
        self.yy += factor * other.yy;
    }
}

fn slope_of(stretches: &[Fit]) -> (f64, f64) {
    slope(stretches.iter().map(|one| (one.xx, one.xy)))
}
