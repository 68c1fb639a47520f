//! How far to go from simple methods to a combination, told by values that had no part in it.
//!
//! What is simple lies between straight lines and a curve that knows only the column itself (kriging): l + β(c - l). Beforehand
//! both are as likely; all channels together tell more of β than one does, so that the β of a channel stays near that of all:
//!
//! $$ \beta = \frac{b + \kappa\,\beta_0}{1 + \kappa}, \qquad b = \frac{\Sigma ut}{\Sigma uu} \text{ within 0 and 1}, \qquad u = c - l,\; t = y - l,\;
//!    \kappa = \frac{\text{stretches that } \beta_0 \text{ is worth}}{\text{stretches of rows that tell}}. $$
//!
//! From there, with x the step to the combination and y what the simple curve
//! leaves, the slope is Σxy/Σx². Its standard error comes from leaving out one stretch of rows after the other (the jackknife),
//! in all rounds at once: a jump that several rounds have hidden is one witness, and a slope that hangs on it is not sure.
//! Stretches are as long as gaps at least. With t the ratio of both (of the channel and of all channels together), the slope is
//! gone as a whole from t = 2 on (more where there are few stretches), and nothing of it up to t = 1/2. (Adding up the sums of the
//! channel and of all before leaving out stretches was tried: a column that is known in one stretch only then never follows.)

use super::combine::Samples;
use super::score::{believed, slope};

/// Stretches of rows into which the data are cut to see how uncertain a gain is.
pub(super) const STRETCHES: usize = 12;
pub(super) const FEWEST_STRETCHES: usize = 3;
/// What is believed of β beforehand, how many stretches that is worth, and how many the β of all channels is.
const BEFOREHAND: f64 = 0.5;
const WORTH_BEFOREHAND: f64 = 0.5;
const WORTH_ALL: f64 = 6.0;

/// How far to go in a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Step {
    /// From the simple curve to the combination, 0 to 1.
    pub(super) step: f64,
    /// The part of the curve of the column alone in what is simple, 0 to 1.
    pub(super) curved: f64,
}

/// How left-out values follow the steps from simple methods to a combination, in every stretch of rows and channel.
pub(super) struct Steps {
    /// [rounds][stretches][channels].
    sums: Vec<Vec<Vec<Sums>>>,
    channels: usize,
    /// Stretches.
    count: usize,
}

/// Sums of products of what differs from straight lines: the combination v, the curve u, the truth t.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    vv: f64,
    vu: f64,
    vt: f64,
    uu: f64,
    ut: f64,
    tt: f64,
}

/// Σxx, Σxy and Σyy of steps x from a simple curve and what it leaves y.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Steps {
    /// `curved`: the number of the method that knows the column alone.
    pub(super) fn new(
        samples: &Samples<'_>,
        curved: Option<usize>,
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
            let mut sums = vec![vec![Sums::default(); channels]; count];
            for at in round.clone() {
                let one = &held.hidden[at];
                let stretch = (starts[one.series] + one.row) * count / all;
                let v = values[at] - samples.reference[at];
                let u = curved.map_or(0.0, |method| samples.row(at)[method]);
                let t = one.value - samples.reference[at];
                if v.is_finite() && t.is_finite() {
                    sums[stretch][one.channel].add(&Sums {
                        vv: v * v,
                        vu: v * u,
                        vt: v * t,
                        uu: u * u,
                        ut: u * t,
                        tt: t * t,
                    });
                }
            }
            sums
        };
        Self {
            sums: rounds.iter().map(of_round).collect(),
            channels,
            count,
        }
    }

    /// For every channel how far to go, without one round.
    pub(super) fn found(&self, without: Option<usize>) -> Vec<Step> {
        let rounds: Vec<&Vec<Vec<Sums>>> = (0..self.sums.len())
            .filter(|round| Some(*round) != without)
            .map(|round| &self.sums[round])
            .collect();
        let of_channel = |channel: usize| -> Vec<Sums> {
            let of_stretch = |stretch: usize| {
                let mut sum = Sums::default();
                rounds
                    .iter()
                    .for_each(|round| sum.add(&round[stretch][channel]));
                sum
            };
            (0..self.count).map(of_stretch).collect()
        };
        let all: Vec<Vec<Sums>> = (0..self.channels).map(of_channel).collect();
        // In units of what straight lines leave, and then of what the simple curves do.
        let lines = together(&all, |sums| sums.tt, Sums::add_times);
        let in_all = curved(&lines, BEFOREHAND, WORTH_BEFOREHAND);
        let curved: Vec<f64> = all
            .iter()
            .map(|own| curved(own, in_all, WORTH_ALL))
            .collect();
        let fits: Vec<Vec<Fit>> = all
            .iter()
            .zip(&curved)
            .map(|(own, &curved)| own.iter().map(|sums| sums.beyond(curved)).collect())
            .collect();
        let (_, sure_in_all) = slope_of(&together(&fits, |fit| fit.yy, Fit::add_times));
        let step = |(own, &curved): (&Vec<Fit>, &f64)| {
            let (slope, sure) = slope_of(own);
            // Stouffer's rule: two witnesses of equal weight.
            let sure = (sure + sure_in_all) * std::f64::consts::FRAC_1_SQRT_2;
            Step {
                step: (slope * believed(sure, self.count)).clamp(0.0, 1.0),
                curved,
            }
        };
        fits.iter().zip(&curved).map(step).collect()
    }
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.add_times(other, 1.0);
    }

    fn add_times(&mut self, other: &Self, factor: f64) {
        self.vv += factor * other.vv;
        self.vu += factor * other.vu;
        self.vt += factor * other.vt;
        self.uu += factor * other.uu;
        self.ut += factor * other.ut;
        self.tt += factor * other.tt;
    }

    /// From the simple curve l + β u on.
    fn beyond(&self, beta: f64) -> Fit {
        let square = beta * beta * self.uu;
        Fit {
            xx: self.vv - 2.0 * beta * self.vu + square,
            xy: self.vt - beta * (self.vu + self.ut) + square,
            yy: self.tt - 2.0 * beta * self.ut + square,
        }
    }
}

/// The sums of all channels together, each channel in units of its own `size`.
fn together<S: Default + Clone>(
    all: &[Vec<S>],
    size: impl Fn(&S) -> f64,
    add_times: impl Fn(&mut S, &S, f64),
) -> Vec<S> {
    let mut together = vec![S::default(); all.first().map_or(0, Vec::len)];
    for own in all {
        let unit: f64 = own.iter().map(&size).sum();
        if unit > 0.0 {
            for (sum, own) in together.iter_mut().zip(own) {
                add_times(sum, own, 1.0 / unit);
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

/// β from the sums of stretches, near what is believed beforehand.
fn curved(stretches: &[Sums], beforehand: f64, worth: f64) -> f64 {
    let uu: f64 = stretches.iter().map(|sums| sums.uu).sum();
    let ut: f64 = stretches.iter().map(|sums| sums.ut).sum();
    if uu <= 0.0 {
        return beforehand;
    }
    let telling = stretches.iter().filter(|sums| sums.uu > 0.0).count();
    let pull = worth / telling as f64;
    ((ut / uu).clamp(0.0, 1.0) + pull * beforehand) / (1.0 + pull)
}

fn slope_of(stretches: &[Fit]) -> (f64, f64) {
    slope(stretches.iter().map(|one| (one.xx, one.xy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values follow the curve as a whole, and more.
    const FOLLOWING: Sums = Sums {
        vv: 0.0,
        vu: 0.0,
        vt: 0.0,
        uu: 1.0,
        ut: 3.0,
        tt: 9.0,
    };

    #[test]
    fn a_curve_is_believed_after_a_few_gaps_and_less_where_the_other_columns_say_no() {
        let in_all = curved(&[FOLLOWING; 3], BEFOREHAND, WORTH_BEFOREHAND);
        assert!(in_all > 0.9, "{in_all}");
        let alone = curved(&[FOLLOWING; 3], 0.0, WORTH_ALL);
        assert!((0.2..0.5).contains(&alone), "{alone}");
    }
}
