//! Methods side by side on what was hidden, and the choice for every channel.

use super::bands::{BandCalibration, Coverage, Reliability};
use super::bounds::Bounds;
use super::combine::Criterion;
use super::gap::Gaps;
use super::hold_out::{Answers, HoldOut, HoldOutOptions, Pattern};
use super::interpolator::Interpolator;
use super::judge::{Judge, Judged};
use super::score::Score;
use super::spread::Spread;
use crate::Error;
use crate::data::Dataset;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A method this near to the best is as good: the difference is luck of the draw.
const AS_GOOD: f64 = 1.02;
/// The method that no choice may be worse than, if it takes part.
const REFERENCE: &str = "linear";

/// What is hidden, and what is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluateOptions {
    /// What is hidden.
    pub hold_out: HoldOutOptions,
    /// Answers are brought inside these bounds before they are judged; default `None`: those of
    /// the data, [`Bounds::of`].
    pub bounds: Option<Bounds>,
    /// Level of the bands to be calibrated, between 0 and 1. Default `None`: no bands.
    pub bands: Option<f64>,
    /// What counts when a candidate is chosen.
    pub criterion: Criterion,
}

/// How answers are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judging {
    /// Level of the bands to be calibrated, between 0 and 1. Default `None`: no bands.
    pub bands: Option<f64>,
    /// What counts when a candidate is chosen.
    pub criterion: Criterion,
    /// The candidate that combines the others: chosen, whatever luck a single method had.
    pub combined: Option<usize>,
}

/// Candidates side by side. As JSON it is what `cssc evaluate --output-format json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Values that were hidden, in all rounds.
    pub hidden: usize,
    /// How they were hidden.
    pub pattern: Pattern,
    /// One row per candidate, in the order in which they were given.
    pub methods: Vec<MethodScore>,
    /// Which candidate is chosen for every channel.
    pub chosen: Vec<usize>,
    /// What such a choice is worth: every round is judged by the methods that the *other* rounds
    /// choose, so no value helps to choose what it judges. `None` with fewer than two rounds.
    pub best_of_each: Option<Score>,
    /// The candidate `linear`, which errors are compared with, if it takes part.
    pub reference: Option<usize>,
    /// The candidate that combines the others, if there is one.
    #[serde(default)]
    pub combined: Option<usize>,
    /// What counted.
    #[serde(default)]
    pub criterion: Criterion,
    /// Level of the bands, if they were asked for.
    pub level: Option<f64>,
    /// How well bands of the chosen candidates hold, if they were asked for.
    #[serde(default)]
    pub reliability: Option<Reliability>,
}

/// A candidate on all that was hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodScore {
    /// Name of the candidate.
    #[serde(rename = "method")]
    pub name: String,
    /// Over all channels.
    pub all: Score,
    /// The part of all hidden values inside its calibrated bands.
    pub coverage: Option<f64>,
    /// For every channel.
    #[serde(rename = "columns")]
    pub channels: Vec<ChannelScore>,
    /// By the length of the gap, from short to long.
    pub lengths: Vec<LengthScore>,
}

/// A candidate in one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelScore {
    /// Name of the channel.
    pub column: String,
    /// Its errors.
    #[serde(flatten)]
    pub score: Score,
    /// What its bands cover, if they were asked for.
    pub coverage: Option<Coverage>,
    /// Half the width of its bands in deviations.
    pub band_factor: Option<f64>,
    /// Its deviations, unless it tells them itself.
    #[serde(default)]
    pub spread: Option<Spread>,
    /// How long its errors remember each other, if bands were asked for.
    #[serde(default)]
    pub memory: Option<f64>,
}

/// A candidate in gaps of similar length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthScore {
    /// The longest of them, from value to value.
    pub gap_to: f64,
    /// Its errors.
    #[serde(flatten)]
    pub score: Score,
    /// The part of the hidden values inside its bands, if they were asked for.
    #[serde(default)]
    pub coverage: Option<f64>,
}

/// Hides known values of `data` and judges every candidate by them.
///
/// Give simpler candidates first: for every channel the first one is chosen whose squared error
/// is within 2 % of the smallest, but `linear` unless the gain over it is larger than its standard error. A
/// channel of which nothing was hidden gets the candidate that is best over all.
///
/// # Errors
/// If the data do not fit a candidate.
pub fn evaluate(
    candidates: &[Arc<dyn Interpolator>],
    data: &Dataset,
    options: &EvaluateOptions,
) -> Result<Evaluation, Error> {
    let held = HoldOut::new(data, &Gaps::find(data), &options.hold_out)?;
    let bounds = options.bounds.clone().unwrap_or_else(|| Bounds::of(data));
    let mut answers = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        answers.push((candidate.name(), held.answers(candidate.as_ref(), &bounds)?));
    }
    let judging = Judging {
        bands: options.bands,
        criterion: options.criterion,
        combined: None,
    };
    Ok(Evaluation::new(&held, &answers, &judging))
}

impl Evaluation {
    /// From the answers of every candidate, with its name, to `held`.
    ///
    /// Bands are made of the deviations that a candidate tells, otherwise of the sizes of its errors.
    #[must_use]
    pub fn new(held: &HoldOut, answers: &[(&str, Answers)], judging: &Judging) -> Self {
        let judge = Judge::new(held, judging.bands);
        let judged: Vec<Judged> = answers
            .iter()
            .map(|(name, answers)| judge.judge(name, answers))
            .collect();
        let choice = Choice {
            criterion: judging.criterion,
            reference: answers.iter().position(|(name, _)| *name == REFERENCE),
            combined: judging.combined,
        };
        let rounds: Vec<usize> = (0..judge.rounds.len()).collect();
        let sure = |method: usize, channel: usize, rounds: &[usize]| {
            judge.is_sure(&judged, &choice, method, channel, rounds)
        };
        let mut evaluation = Self {
            hidden: held.hidden.len(),
            pattern: held.pattern,
            chosen: Vec::new(),
            best_of_each: best_of_each(&judged, &choice, &rounds, &sure),
            methods: judged.iter().map(|judged| judged.score.clone()).collect(),
            reference: choice.reference,
            combined: judging.combined,
            criterion: judging.criterion,
            level: judging.bands,
            reliability: None,
        };
        evaluation.chosen =
            evaluation.choose(&choice, &|method, channel| sure(method, channel, &rounds));
        evaluation.reliability = judging.bands.map(|_| {
            let pick = |of: &dyn Fn(usize, usize) -> f64| {
                let hidden = held.hidden.iter().enumerate();
                hidden
                    .map(|(at, one)| of(evaluation.chosen[one.channel], at))
                    .collect::<Vec<f64>>()
            };
            let values = pick(&|method, at| answers[method].1.values[at]);
            let widths = pick(&|method, at| judged[method].widths[at]);
            Reliability::measure(&judge.scales, &held.hidden, &values, &widths)
        });
        evaluation
    }

    fn choose(&self, choice: &Choice, sure: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
        let channels = self.methods.first().map_or(0, |row| row.channels.len());
        let all: Vec<Score> = self.methods.iter().map(|row| row.all).collect();
        let own = |channel: usize| {
            let rows = self.methods.iter();
            rows.map(|row| row.channels[channel].score)
                .collect::<Vec<_>>()
        };
        (0..channels)
            .map(|channel| {
                let sure = |method| sure(method, channel);
                choice.choose(&own(channel), &all, &sure)
            })
            .collect()
    }

    /// The bands of the chosen candidates, if they were asked for.
    #[must_use]
    pub fn bands(&self) -> Option<BandCalibration> {
        let level = self.level?;
        let factors = self.chosen_scores().map(|score| score.band_factor);
        let spreads = self.chosen_scores().map(|score| score.spread.clone());
        Some(BandCalibration {
            level,
            factors: factors.collect::<Option<_>>()?,
            spreads: spreads.map(Option::unwrap_or_default).collect(),
            memories: self
                .chosen_scores()
                .map(|score| score.memory.unwrap_or(0.0))
                .collect(),
        })
    }

    /// The chosen candidate's score in every channel.
    pub fn chosen_scores(&self) -> impl Iterator<Item = &ChannelScore> {
        let chosen = self.chosen.iter().enumerate();
        chosen.map(|(channel, &method)| &self.methods[method].channels[channel])
    }

    /// The part of hidden values inside the bands of the chosen candidates.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        covered(self.chosen_scores())
    }

    /// A squared error divided by that of the reference, where that says something.
    #[must_use]
    pub fn relative(&self, mse: f64) -> Option<f64> {
        let linear = self.methods[self.reference?].all.mse;
        (linear > 0.0).then_some(mse / linear)
    }

    /// The channels that a candidate was chosen for.
    pub fn chosen_for(&self, method: usize) -> impl Iterator<Item = usize> + '_ {
        let chosen = self.chosen.iter().enumerate();
        chosen
            .filter(move |(_, chosen)| **chosen == method)
            .map(|(channel, _)| channel)
    }
}

/// The part inside calibrated bands over several channels.
pub(super) fn covered<'a>(channels: impl Iterator<Item = &'a ChannelScore>) -> Option<f64> {
    let (mut inside, mut count) = (0.0, 0);
    for channel in channels {
        inside += channel.coverage?.after * channel.score.count as f64;
        count += channel.score.count;
    }
    Some(inside / count.max(1) as f64)
}

/// How a candidate is chosen.
pub(super) struct Choice {
    pub(super) criterion: Criterion,
    pub(super) reference: Option<usize>,
    combined: Option<usize>,
}

impl Choice {
    /// The combination if there is one; without it, the first candidate whose error is within 2 % of the
    /// smallest, but the reference unless it is worse and the gain over it `sure`. In a channel of which
    /// nothing was hidden, the same over all channels.
    fn choose(&self, own: &[Score], all: &[Score], sure: &dyn Fn(usize) -> bool) -> usize {
        if let Some(combined) = self.combined {
            return combined;
        }
        let known = own.iter().any(|score| score.count > 0);
        let scores = if known { own } else { all };
        let error = |method: usize| match self.criterion {
            Criterion::Mse => scores[method].mse,
            Criterion::Mae => scores[method].mae,
        };
        let finite = (0..scores.len()).map(error);
        let least = finite
            .filter(|error| error.is_finite())
            .fold(f64::INFINITY, f64::min);
        let allowed = self.reference.map_or(f64::INFINITY, error);
        let enough = (AS_GOOD * least).min(allowed).max(least);
        let found = (0..scores.len()).position(|method| error(method) <= enough);
        match (found, self.reference) {
            (Some(found), Some(reference)) if found == reference || sure(found) => found,
            (Some(found), None) => found,
            (_, reference) => reference.unwrap_or(0),
        }
    }
}

/// Every round judged by what the others choose.
fn best_of_each(
    judged: &[Judged],
    choice: &Choice,
    rounds: &[usize],
    sure: &dyn Fn(usize, usize, &[usize]) -> bool,
) -> Option<Score> {
    let channels = judged.first()?.score.channels.len();
    if rounds.len() < 2 {
        return None;
    }
    let mut scores = Vec::new();
    for &round in rounds {
        let rest: Vec<usize> = rounds
            .iter()
            .copied()
            .filter(|other| *other != round)
            .collect();
        let others = |judged: &Judged, channels: std::ops::Range<usize>| {
            let scores = rest
                .iter()
                .flat_map(|&other| &judged.rounds[other][channels.clone()]);
            Score::pooled(scores.copied())
        };
        let all: Vec<Score> = judged.iter().map(|one| others(one, 0..channels)).collect();
        for channel in 0..channels {
            let own: Vec<Score> = judged
                .iter()
                .map(|one| others(one, channel..channel + 1))
                .collect();
            let sure = |method| sure(method, channel, &rest);
            scores.push(judged[choice.choose(&own, &all, &sure)].rounds[round][channel]);
        }
    }
    Some(Score::pooled(scores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Series;
    use crate::evaluate::Curve;
    use crate::{Path, PiecewiseCubic, Side, SplineKind};

    #[derive(Debug)]
    struct Spline(&'static str, SplineKind);

    impl Interpolator for Spline {
        fn name(&self) -> &str {
            self.0
        }

        fn curve(&self, s: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
            Curve::by_channel(s, channels, times, |knots, values| {
                let spline = PiecewiseCubic::fit(knots, 1, values, self.1)?;
                Ok(spline.sample(times, Side::Left)?.value)
            })
        }
    }

    fn plain(name: &'static str) -> Arc<dyn Interpolator> {
        let kind = match name {
            "linear" => SplineKind::Linear,
            _ => SplineKind::Natural,
        };
        Arc::new(Spline(name, kind))
    }

    /// A parabola in channel a, a zigzag in channel b.
    fn data() -> Dataset {
        let values = (0..200).flat_map(|k| {
            let t = f64::from(k) * 0.1;
            let zigzag = if k % 20 < 10 { k % 20 } else { 20 - k % 20 };
            [t * t, f64::from(zigzag)]
        });
        let values = values.collect();
        let times = (0..200).map(|k| f64::from(k) * 0.1).collect();
        let series = Series::new(None, 2, times, values).unwrap();
        Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap()
    }

    #[test]
    fn every_channel_gets_the_method_that_finds_its_values_again() {
        let options = EvaluateOptions {
            hold_out: HoldOutOptions {
                pattern: Pattern::Single,
                ..HoldOutOptions::default()
            },
            bounds: Some(Bounds::none(2)),
            bands: Some(0.9),
            criterion: Criterion::Mse,
        };
        let candidates = [plain("linear"), plain("natural")];
        let found = evaluate(&candidates, &data(), &options).unwrap();
        assert_eq!(found.chosen, [1, 0]);
        assert_eq!(found.reference, Some(0));
        let together = found.best_of_each.unwrap();
        assert_eq!(together.count, found.hidden);
        for row in &found.methods {
            // Chosen without looking, so it may be a little worse than the best in hindsight.
            assert!(
                together.mse <= 1.02 * row.all.mse,
                "{together:?} {:?}",
                row.all
            );
            assert_eq!(row.all.count, found.hidden);
            assert!((row.coverage.unwrap() - 0.9).abs() < 0.1);
            let lengths = row.lengths.iter().map(|length| length.score.count);
            assert_eq!(lengths.sum::<usize>(), found.hidden);
        }
        assert_eq!(found.bands().unwrap().factors.len(), 2);
        let json = serde_json::to_string(&found).unwrap();
        let back: Evaluation = serde_json::from_str(&json).unwrap();
        assert_eq!(back, found);
    }

    /// Integers are rounded before they are judged, as they are when gaps are filled.
    #[test]
    fn integers_are_judged_as_they_are_filled() {
        let values = (0..300).map(|k| (0.5 * f64::from(k)).floor()).collect();
        let times = (0..300).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        let data = Dataset::new(vec!["count".into()], vec![series]).unwrap();
        let data = data.with_integers(vec![Some((0.0, 1e9))]);
        let score = |bounds| {
            let options = EvaluateOptions {
                bounds,
                ..EvaluateOptions::default()
            };
            evaluate(&[plain("linear")], &data, &options)
                .unwrap()
                .methods[0]
                .all
                .mae
        };
        assert_eq!(score(None), score(Some(Bounds::of(&data))));
        assert_ne!(score(None), score(Some(Bounds::none(1))));
    }

    /// Two methods that are right in turns, by chance: whoever chooses by the values that judge
    /// finds less error than there is.
    #[test]
    fn the_best_of_each_is_judged_by_values_that_did_not_choose() {
        let row = |rounds: &[f64]| {
            let rounds: Vec<Vec<Score>> = rounds
                .iter()
                .map(|&mse| {
                    vec![Score {
                        mse,
                        mae: 0.0,
                        count: 10,
                    }]
                })
                .collect();
            let all = Score::pooled(rounds.iter().map(|round| round[0]));
            let channel = ChannelScore {
                column: "a".into(),
                score: all,
                coverage: None,
                band_factor: None,
                spread: None,
                memory: None,
            };
            let score = MethodScore {
                name: "a".into(),
                all,
                coverage: None,
                channels: vec![channel],
                lengths: vec![],
            };
            Judged {
                score,
                rounds,
                errors: Vec::new(),
                widths: Vec::new(),
            }
        };
        // Without its own round, each round prefers the method that is wrong on it.
        let judged = [row(&[9.0, 1.0, 2.0]), row(&[1.0, 9.0, 1.0])];
        let choice = choice(None, None);
        let sure = |_: usize, _: usize, _: &[usize]| true;
        let found = best_of_each(&judged, &choice, &[0, 1, 2], &sure).unwrap();
        assert_eq!((found.mse, found.count), ((9.0 + 9.0 + 2.0) / 3.0, 30));
        assert_eq!(best_of_each(&judged, &choice, &[0], &sure), None);
    }

    #[test]
    fn the_simplest_of_the_best_is_chosen_but_never_one_worse_than_straight_lines() {
        let chosen_if = |sure: bool, errors: [f64; 4]| {
            let scores = errors.map(|mse| Score {
                mse,
                mae: 0.0,
                count: 10,
            });
            choice(Some(1), None).choose(&scores, &scores, &|_| sure)
        };
        let chosen = |errors| chosen_if(true, errors);
        assert_eq!(chosen_if(false, [3.0, 2.0, 1.01, 1.0]), 1);
        assert_eq!(chosen([3.0, 2.0, 1.01, 1.0]), 2);
        assert_eq!(chosen([3.0, 2.0, 1.03, 1.0]), 3);
        assert_eq!(chosen([1.01, 1.0, 1.5, 2.0]), 1);
        assert_eq!(chosen([f64::NAN, 0.0, 0.0, 0.0]), 1);
        assert_eq!(chosen([f64::NAN; 4]), 1);
    }

    fn choice(reference: Option<usize>, combined: Option<usize>) -> Choice {
        Choice {
            criterion: Criterion::Mse,
            reference,
            combined,
        }
    }

    #[test]
    fn a_combination_is_chosen_whatever_luck_a_single_method_had() {
        let scores = [0.9, 2.0, 1.5, 1.0].map(|mse| Score {
            mse,
            mae: 0.0,
            count: 10,
        });
        let found = choice(Some(1), Some(3)).choose(&scores, &scores, &|_| true);
        assert_eq!(found, 3);
    }
}
