//! Methods side by side on what was hidden, and the choice for every channel.

use super::bands::{BandCalibration, Coverage, smoothing_std_devs};
use super::bounds::Bounds;
use super::gap::Gaps;
use super::hold_out::{Answers, HoldOut, HoldOutOptions, Pattern};
use super::interpolator::{Curve, Interpolator};
use super::score::{Score, std_devs};
use crate::Error;
use crate::data::{Dataset, Series};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A method this near to the best is as good: the difference is luck of the draw.
const AS_GOOD: f64 = 1.02;
/// The method that no choice may be worse than, if it takes part.
const REFERENCE: &str = "linear";
/// The method that fits smoothing splines anyway, so that its deviations serve the others too.
const SMOOTHING: &str = "smoothing";
/// Most parts into which gaps are sorted by their length.
const MOST_LENGTHS: usize = 5;

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
    /// Level of the bands, if they were asked for.
    pub level: Option<f64>,
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
}

/// A candidate in gaps of similar length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthScore {
    /// The longest of them, from value to value.
    pub gap_to: f64,
    /// Its errors.
    #[serde(flatten)]
    pub score: Score,
}

/// Hides known values of `data` and judges every candidate by them.
///
/// Give simpler candidates first: for every channel the first one is chosen whose squared error
/// is within 2 % of the smallest, but never one that is worse than `linear`. A channel of which
/// nothing was hidden gets the candidate that is best over all.
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
    Evaluation::new(&held, &answers, options.bands)
}

impl Evaluation {
    /// From the answers of every candidate, with its name, to `held`.
    ///
    /// Bands are made of the deviations that a candidate tells, otherwise of those of smoothing
    /// splines.
    ///
    /// # Errors
    /// Only if a spline cannot be fitted, which would be a fault of this library.
    pub fn new(
        held: &HoldOut,
        answers: &[(&str, Answers)],
        bands: Option<f64>,
    ) -> Result<Self, Error> {
        let widths = match bands {
            None => None,
            Some(level) => Some((level, widths(held, answers)?)),
        };
        let judge = Judge::new(held, widths);
        let judged: Vec<Judged> = answers
            .iter()
            .map(|(name, answers)| judge.judge(name, answers))
            .collect();
        let reference = answers.iter().position(|(name, _)| *name == REFERENCE);
        let rounds: Vec<usize> = (0..judge.rounds.len()).collect();
        let mut evaluation = Self {
            hidden: held.hidden.len(),
            pattern: held.pattern,
            chosen: Vec::new(),
            best_of_each: best_of_each(&judged, reference, &rounds),
            methods: judged.into_iter().map(|judged| judged.score).collect(),
            reference,
            level: bands,
        };
        evaluation.chosen = evaluation.choose();
        Ok(evaluation)
    }

    fn choose(&self) -> Vec<usize> {
        let channels = self.methods.first().map_or(0, |row| row.channels.len());
        let all: Vec<Score> = self.methods.iter().map(|row| row.all).collect();
        let own = |channel: usize| {
            let rows = self.methods.iter();
            rows.map(|row| row.channels[channel].score)
                .collect::<Vec<_>>()
        };
        (0..channels)
            .map(|channel| choose(&own(channel), &all, self.reference))
            .collect()
    }

    /// The bands of the chosen candidates, if they were asked for.
    #[must_use]
    pub fn bands(&self) -> Option<BandCalibration> {
        let level = self.level?;
        let factors = self.chosen_scores().map(|score| score.band_factor);
        Some(BandCalibration {
            level,
            factors: factors.collect::<Option<_>>()?,
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
fn covered<'a>(channels: impl Iterator<Item = &'a ChannelScore>) -> Option<f64> {
    let (mut inside, mut count) = (0.0, 0);
    for channel in channels {
        inside += channel.coverage?.after * channel.score.count as f64;
        count += channel.score.count;
    }
    Some(inside / count.max(1) as f64)
}

/// The first candidate whose squared error is within 2 % of the smallest, but none that is worse
/// than the reference; in a channel of which nothing was hidden, the same over all channels.
fn choose(own: &[Score], all: &[Score], reference: Option<usize>) -> usize {
    let known = own.iter().any(|score| score.count > 0);
    let scores = if known { own } else { all };
    let finite = scores.iter().map(|score| score.mse);
    let least = finite
        .filter(|mse| mse.is_finite())
        .fold(f64::INFINITY, f64::min);
    let allowed = reference.map_or(f64::INFINITY, |reference| scores[reference].mse);
    let enough = (AS_GOOD * least).min(allowed).max(least);
    let found = scores.iter().position(|score| score.mse <= enough);
    found.or(reference).unwrap_or(0)
}

/// Every round judged by what the others choose.
fn best_of_each(judged: &[Judged], reference: Option<usize>, rounds: &[usize]) -> Option<Score> {
    let channels = judged.first()?.score.channels.len();
    if rounds.len() < 2 {
        return None;
    }
    let mut scores = Vec::new();
    for &round in rounds {
        let others = |judged: &Judged, channels: std::ops::Range<usize>| {
            let others = rounds.iter().filter(|other| **other != round);
            let scores = others.flat_map(|&other| &judged.rounds[other][channels.clone()]);
            Score::pooled(scores.copied())
        };
        let all: Vec<Score> = judged.iter().map(|one| others(one, 0..channels)).collect();
        for channel in 0..channels {
            let own: Vec<Score> = judged
                .iter()
                .map(|one| others(one, channel..channel + 1))
                .collect();
            scores.push(judged[choose(&own, &all, reference)].rounds[round][channel]);
        }
    }
    Some(Score::pooled(scores))
}

/// A candidate's scores, and those of every round and channel.
struct Judged {
    score: MethodScore,
    rounds: Vec<Vec<Score>>,
}

/// All that is needed to judge answers.
struct Judge<'a> {
    held: &'a HoldOut,
    /// Standard deviations of the channels.
    scales: Vec<f64>,
    /// The longest of the gaps of each part.
    lengths: Vec<f64>,
    rounds: Vec<std::ops::Range<usize>>,
    /// Level of bands and deviations of hidden values for candidates that tell none, if bands were
    /// asked for.
    widths: Option<(f64, Vec<f64>)>,
}

impl<'a> Judge<'a> {
    fn new(held: &'a HoldOut, widths: Option<(f64, Vec<f64>)>) -> Self {
        Self {
            held,
            scales: std_devs(&held.visible),
            lengths: lengths(held),
            rounds: held.rounds().filter(|round| !round.is_empty()).collect(),
            widths,
        }
    }

    fn judge(&self, name: &str, answers: &Answers) -> Judged {
        let hidden = &self.held.hidden;
        let errors: Vec<f64> = hidden
            .iter()
            .zip(&answers.values)
            .map(|(hidden, value)| (value - hidden.value) / self.scales[hidden.channel])
            .collect();
        let by_channel = |range: std::ops::Range<usize>| -> Vec<Score> {
            let mut sums = vec![Score::default(); self.scales.len()];
            range.for_each(|at| sums[hidden[at].channel].add(errors[at]));
            sums.into_iter().map(Score::divided).collect()
        };
        let channels = self.channels(by_channel(0..hidden.len()), answers);
        let from = [0.0].into_iter().chain(self.lengths.iter().copied());
        let lengths = self.lengths.iter().zip(from).map(|(&to, from)| {
            let own = hidden.iter().zip(&errors);
            let own = own.filter(|(hidden, _)| hidden.gap > from && hidden.gap <= to);
            LengthScore {
                gap_to: to,
                score: Score::new(own.map(|(_, error)| *error)),
            }
        });
        Judged {
            score: MethodScore {
                name: name.to_owned(),
                all: Score::new(errors.iter().copied()),
                coverage: covered(channels.iter()).filter(|_| self.widths.is_some()),
                lengths: lengths.collect(),
                channels,
            },
            rounds: self.rounds.iter().cloned().map(by_channel).collect(),
        }
    }

    /// Scores of the channels with their names, and bands if they were asked for.
    fn channels(&self, scores: Vec<Score>, answers: &Answers) -> Vec<ChannelScore> {
        let calibrated = self.widths.as_ref().map(|(level, widths)| {
            let widths = answers.std_devs.as_ref().unwrap_or(widths);
            let hidden = &self.held.hidden;
            BandCalibration::calibrate(*level, scores.len(), hidden, &answers.values, widths)
        });
        let names = self.held.visible.channel_names();
        let channel = |(channel, score): (usize, Score)| ChannelScore {
            column: names[channel].clone(),
            score,
            coverage: calibrated.as_ref().map(|(_, coverage)| coverage[channel]),
            band_factor: calibrated.as_ref().map(|(bands, _)| bands.factors[channel]),
        };
        scores.into_iter().enumerate().map(channel).collect()
    }
}

/// Lengths that cut the gaps into at most five parts, each about twice as long as the one before.
fn lengths(held: &HoldOut) -> Vec<f64> {
    let gaps = held.hidden.iter().map(|hidden| hidden.gap);
    let finite = gaps.filter(|gap| gap.is_finite());
    let longest = finite.clone().fold(0.0, f64::max);
    let shortest = finite.fold(f64::INFINITY, f64::min);
    let mut lengths = vec![longest];
    while lengths.len() < MOST_LENGTHS && lengths[0] / 2.0 > shortest {
        lengths.insert(0, lengths[0] / 2.0);
    }
    lengths
}

/// Deviations of all hidden values as smoothing splines know them.
fn widths(held: &HoldOut, answers: &[(&str, Answers)]) -> Result<Vec<f64>, Error> {
    let fitted = answers.iter().find(|(name, _)| *name == SMOOTHING);
    if let Some(known) = fitted.and_then(|(_, answers)| answers.std_devs.clone()) {
        return Ok(known);
    }
    let bounds = Bounds::none(held.visible.channels());
    Ok(held.answers(&Widths, &bounds)?.values)
}

/// Answers with the deviations of smoothing splines.
#[derive(Debug)]
struct Widths;

impl Interpolator for Widths {
    fn name(&self) -> &str {
        "deviations"
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        Ok(smoothing_std_devs(series, channels, times)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        };
        let candidates = [plain("linear"), plain("natural")];
        let found = evaluate(&candidates, &data(), &options).unwrap();
        assert_eq!(found.chosen, [1, 0]);
        assert_eq!(found.reference, Some(0));
        let together = found.best_of_each.unwrap();
        assert_eq!(together.count, found.hidden);
        for row in &found.methods {
            assert!(together.mse <= AS_GOOD * row.all.mse);
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
            };
            let score = MethodScore {
                name: "a".into(),
                all,
                coverage: None,
                channels: vec![channel],
                lengths: vec![],
            };
            Judged { score, rounds }
        };
        // Without its own round, each round prefers the method that is wrong on it.
        let judged = [row(&[9.0, 1.0, 2.0]), row(&[1.0, 9.0, 1.0])];
        let found = best_of_each(&judged, None, &[0, 1, 2]).unwrap();
        assert_eq!((found.mse, found.count), ((9.0 + 9.0 + 2.0) / 3.0, 30));
        assert_eq!(best_of_each(&judged, None, &[0]), None);
    }

    #[test]
    fn the_simplest_of_the_best_is_chosen_but_never_one_worse_than_straight_lines() {
        let chosen = |errors: [f64; 4]| {
            let scores = errors.map(|mse| Score {
                mse,
                mae: 0.0,
                count: 10,
            });
            choose(&scores, &scores, Some(1))
        };
        assert_eq!(chosen([3.0, 2.0, 1.01, 1.0]), 2);
        assert_eq!(chosen([3.0, 2.0, 1.03, 1.0]), 3);
        assert_eq!(chosen([1.01, 1.0, 1.5, 2.0]), 1);
        assert_eq!(chosen([f64::NAN, 0.0, 0.0, 0.0]), 1);
        assert_eq!(chosen([f64::NAN; 4]), 1);
    }
}
