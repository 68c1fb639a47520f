//! One candidate on what was hidden: its errors by channel and length of the gap, and its bands.

use super::bands::{BandCalibration, Coverage, memories};
use super::combine::Criterion;
use super::compare::{ChannelScore, Choice, LengthScore, MethodScore, covered};
use super::hold_out::{Answers, HoldOut};
use super::score::{Score, std_devs, sureness};
use super::spread::Spread;

/// A gain over the reference that is not so many times its standard error is luck of the draw.
const SURE: f64 = 1.0;
/// Most parts into which gaps are sorted by their length.
const MOST_LENGTHS: usize = 5;

/// A candidate's scores, those of every round and channel, and its deviations at hidden values (none
/// without bands).
pub(super) struct Judged {
    pub(super) score: MethodScore,
    pub(super) rounds: Vec<Vec<Score>>,
    /// At all hidden values, in standard deviations.
    pub(super) errors: Vec<f64>,
    pub(super) widths: Vec<f64>,
}

/// All that is needed to judge answers.
pub(super) struct Judge<'a> {
    held: &'a HoldOut,
    /// Standard deviations of the channels.
    pub(super) scales: Vec<f64>,
    /// The longest of the gaps of each part.
    lengths: Vec<f64>,
    pub(super) rounds: Vec<std::ops::Range<usize>>,
    /// Level of bands, if they were asked for.
    level: Option<f64>,
}

/// The bands of a candidate.
struct Banded {
    bands: BandCalibration,
    coverages: Vec<Coverage>,
    spreads: Option<Vec<Spread>>,
    widths: Vec<f64>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(held: &'a HoldOut, level: Option<f64>) -> Self {
        Self {
            held,
            scales: std_devs(&held.visible),
            lengths: lengths(held),
            rounds: held.rounds().filter(|round| !round.is_empty()).collect(),
            level,
        }
    }

    pub(super) fn judge(&self, name: &str, answers: &Answers) -> Judged {
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
        let banded = self.level.map(|level| self.banded(level, answers));
        let channels = self.channels(by_channel(0..hidden.len()), banded.as_ref());
        let from = [0.0].into_iter().chain(self.lengths.iter().copied());
        let lengths = self.lengths.iter().zip(from).map(|(&to, from)| {
            let own = (0..hidden.len()).filter(|&at| hidden[at].gap > from && hidden[at].gap <= to);
            let score = Score::new(own.clone().map(|at| errors[at]));
            let inside = banded.as_ref().map(|banded| {
                let inside = own
                    .filter(|&at| banded.holds(hidden[at].channel, at, answers, hidden[at].value));
                inside.count() as f64 / score.count.max(1) as f64
            });
            LengthScore {
                gap_to: to,
                score,
                coverage: inside,
            }
        });
        Judged {
            score: MethodScore {
                name: name.to_owned(),
                all: Score::new(errors.iter().copied()),
                coverage: covered(channels.iter()).filter(|_| self.level.is_some()),
                lengths: lengths.collect(),
                channels,
            },
            rounds: self.rounds.iter().cloned().map(by_channel).collect(),
            errors,
            widths: banded.map_or_else(Vec::new, |banded| banded.widths),
        }
    }

    /// Whether the gain of a candidate over the reference is larger than its standard error, in some rounds of a
    /// channel (all channels, if nothing of it was hidden). Values of one gap are one witness.
    pub(super) fn is_sure(
        &self,
        judged: &[Judged],
        choice: &Choice,
        method: usize,
        channel: usize,
        rounds: &[usize],
    ) -> bool {
        let Some(reference) = choice.reference else {
            return true;
        };
        let hidden = &self.held.hidden;
        let loss = |error: f64| match choice.criterion {
            Criterion::Mse => error * error,
            Criterion::Mae => error.abs(),
        };
        let gain = |at: usize| loss(judged[reference].errors[at]) - loss(judged[method].errors[at]);
        let places = rounds.iter().flat_map(|&round| self.rounds[round].clone());
        let own: Vec<usize> = places
            .clone()
            .filter(|&at| hidden[at].channel == channel)
            .collect();
        let mut own = if own.is_empty() {
            places.collect()
        } else {
            own
        };
        own.sort_by_key(|&at| hidden[at].channel); // the values of a gap one after the other
        let follows = |a: &usize, b: &usize| {
            let (a, b) = (&hidden[*a], &hidden[*b]);
            a.series == b.series && a.channel == b.channel && a.row + 1 == b.row
        };
        let gaps = own.chunk_by(follows);
        let gains: Vec<f64> = gaps
            .map(|gap| gap.iter().map(|&at| gain(at)).sum())
            .collect();
        sureness(&gains) >= SURE
    }

    /// Bands of the deviations that a candidate tells, otherwise of the sizes of its errors.
    fn banded(&self, level: f64, answers: &Answers) -> Banded {
        let hidden = &self.held.hidden;
        let (spreads, widths) = match &answers.std_devs {
            Some(told) => (None, told.clone()),
            None => {
                let spreads =
                    Spread::of_channels(self.scales.len(), hidden, &answers.values, level);
                let widths = hidden
                    .iter()
                    .map(|one| spreads[one.channel].at(one.gap, one.part, one.alone));
                let widths = widths.collect();
                (Some(spreads), widths)
            }
        };
        let channels = self.scales.len();
        let (mut bands, coverages) =
            BandCalibration::calibrate(level, channels, hidden, &answers.values, &widths);
        bands.memories = memories(self.held, &answers.values, &widths);
        Banded {
            bands,
            coverages,
            spreads,
            widths,
        }
    }

    /// Scores of the channels with their names, and bands if they were asked for.
    fn channels(&self, scores: Vec<Score>, banded: Option<&Banded>) -> Vec<ChannelScore> {
        let names = self.held.visible.channel_names();
        let channel = |(channel, score): (usize, Score)| ChannelScore {
            column: names[channel].clone(),
            score,
            coverage: banded.map(|banded| banded.coverages[channel]),
            band_factor: banded.map(|banded| banded.bands.factors[channel]),
            spread: banded.and_then(|banded| Some(banded.spreads.as_ref()?[channel].clone())),
            memory: banded.map(|banded| banded.bands.memories[channel]),
        };
        scores.into_iter().enumerate().map(channel).collect()
    }
}

impl Banded {
    /// Whether the band around an answer holds the value.
    fn holds(&self, channel: usize, at: usize, answers: &Answers, value: f64) -> bool {
        (answers.values[at] - value).abs() <= self.bands.factors[channel] * self.widths[at]
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
