//! Hides known values in the pattern of the real gaps, to see how well methods find them again.
//!
//! A gap is a template: how long it is, and which channels miss it together. It is laid between two
//! known values that are as far apart, whatever is missing between them already, and what is known
//! between them is hidden (`hide`). So a method is judged on what it will be asked: on long gaps when
//! gaps are long, on single cells when single cells are missing, on thin neighbourhoods when much is
//! missing.
//!
//! One draw is not enough evidence: a few long gaps at difficult places decide it. So there are
//! several rounds, each judging other values (the same ones in other gaps, where gaps are few and long). A round is asked
//! with all that the others hide in sight; models are trained on what no round hides, so they never see what they are judged by.
//! A method that learns in closed form is fitted for every round anew, on what is in sight then.

use super::bounds::Bounds;
#[cfg(feature = "nn")]
use super::combine::Criterion;
use super::gap::Gaps;
use super::hide::{Cell, Hider};
use super::interpolator::{Interpolator, curve_within};
use crate::Error;
use crate::data::{Dataset, Series};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Values of a large table, whose rounds are judged one after the other for the sake of memory.
const LARGE: usize = 1_000_000;

/// How values are chosen to be hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// In the pattern of the real gaps; one by one if there are none.
    #[default]
    Gaps,
    /// One by one, at random.
    Single,
}

/// How much is hidden, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldOutOptions {
    /// Rounds of hiding. Default 3.
    pub rounds: usize,
    /// The part of the known values to be hidden in each round. Default a tenth.
    pub part: f64,
    /// The largest part of a channel that all rounds together may hide. Default three fifths: only channels with gaps as
    /// long as that come near it.
    pub largest_part: f64,
    /// How they are chosen.
    pub pattern: Pattern,
    /// Gaps longer than this are not imitated.
    pub longest: Option<f64>,
    /// Whether gaps in which rows are missing, and not cells, are imitated too. Default true; without them
    /// they are imitated only where there are no others.
    pub absent_rows: bool,
    /// Channels of which values are hidden. Default `None`: all.
    pub channels: Option<Vec<usize>>,
    /// Most values to be hidden in all rounds. Default 30,000.
    pub most: usize,
    /// Seed of the choice.
    pub seed: u64,
}

impl Default for HoldOutOptions {
    fn default() -> Self {
        Self {
            rounds: 3,
            part: 0.1,
            largest_part: 0.6,
            pattern: Pattern::Gaps,
            longest: None,
            absent_rows: true,
            channels: None,
            most: 30_000,
            seed: 0,
        }
    }
}

/// A value that was hidden.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hidden {
    /// Number of the series.
    pub series: usize,
    /// Number of the row.
    pub row: usize,
    /// Number of the channel.
    pub channel: usize,
    /// The value.
    pub value: f64,
    /// Length of the gap it now lies in, from value to value.
    pub gap: f64,
    /// The part of the gap that lies before it, 0 to 1.
    pub part: f64,
    /// The part of the other channels that are not known at its row either, 0 to 1.
    pub alone: f64,
}

/// For every hidden value the number of the gap of its channel that it lies in, from 1 on.
pub(super) fn gap_numbers(channels: usize, hidden: &[Hidden]) -> Vec<usize> {
    let mut gaps = vec![(0, None); channels];
    let number = |one: &Hidden| {
        let (number, last) = &mut gaps[one.channel];
        if *last != Some((one.series, one.row.wrapping_sub(1))) {
            *number += 1;
        }
        *last = Some((one.series, one.row));
        *number
    };
    hidden.iter().map(number).collect()
}

/// Data with some values hidden.
#[derive(Clone, Debug)]
pub struct HoldOut {
    /// What no round hides.
    pub visible: Dataset,
    /// What was hidden: round by round, in order of series, row and channel.
    pub hidden: Vec<Hidden>,
    /// Whether gaps were imitated.
    pub pattern: Pattern,
    rounds: Vec<Round>,
}

/// What an interpolator says of the hidden values, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Its answers, within bounds.
    pub values: Vec<f64>,
    /// How sure it is, if it knows.
    pub std_devs: Option<Vec<f64>>,
}

/// One round: which of the hidden values are its own, and what else is out of sight.
#[derive(Clone, Debug)]
struct Round {
    hidden: Range<usize>,
    /// Values that are missing where gaps like these are, but are not judged in this round.
    beside: Vec<Cell>,
}

impl HoldOut {
    /// Hides values of `dataset`, whose gaps are `gaps`.
    ///
    /// The first and the last value of a channel are never hidden, nor more than `largest_part` of it.
    ///
    /// # Errors
    /// Only if series cannot be rebuilt, which would be a fault of this library.
    pub fn new(dataset: &Dataset, gaps: &Gaps, options: &HoldOutOptions) -> Result<Self, Error> {
        let mut hider = Hider::new(dataset, gaps, options);
        let mut pattern = options.pattern;
        let (mut hidden, mut rounds) = (Vec::new(), Vec::new());
        // With one gap a round there is little to judge by: there are twice as many rounds.
        let rounds_wanted = options.rounds.max(1) * if hider.few { 2 } else { 1 };
        for number in 0..rounds_wanted {
            let mut cells = hider.round(pattern);
            // No gaps, or no place for any of them.
            if number == 0 && pattern == Pattern::Gaps && 20 * cells.judged.len() < hider.wanted {
                pattern = Pattern::Single;
                hider = Hider::new(dataset, gaps, options);
                cells = hider.round(pattern);
            }
            if cells.judged.is_empty() && number > 0 {
                break;
            }
            let first = hidden.len();
            hidden.extend(cells.judged.iter().map(|&cell| hider.described(cell)));
            rounds.push(Round {
                hidden: first..hidden.len(),
                beside: cells.beside,
            });
        }
        let mut visible: Vec<Vec<f64>> = values_of(dataset);
        for one in &hidden {
            visible[one.series][one.row * dataset.channels() + one.channel] = f64::NAN;
        }
        Ok(Self {
            visible: with_values(dataset, visible)?,
            hidden,
            pattern,
            rounds,
        })
    }

    /// What is in sight in a round: all but what it hides.
    ///
    /// # Errors
    /// Only if series cannot be rebuilt, which would be a fault of this library.
    ///
    /// # Panics
    /// When there is no such round.
    pub fn in_sight(&self, round: usize) -> Result<Dataset, Error> {
        let mut values = self.whole_values();
        let channels = self.visible.channels();
        let own = &self.rounds[round];
        for one in &self.hidden[own.hidden.clone()] {
            values[one.series][one.row * channels + one.channel] = f64::NAN;
        }
        for cell in &own.beside {
            values[cell.series][cell.row * channels + cell.channel] = f64::NAN;
        }
        with_values(&self.visible, values)
    }

    /// The data with all that was hidden in sight again.
    ///
    /// # Errors
    /// Only if series cannot be rebuilt, which would be a fault of this library.
    pub(crate) fn into_whole(self) -> Result<Dataset, Error> {
        let values = self.whole_values();
        with_values(&self.visible, values)
    }

    fn whole_values(&self) -> Vec<Vec<f64>> {
        let mut values = values_of(&self.visible);
        for one in &self.hidden {
            values[one.series][one.row * self.visible.channels() + one.channel] = one.value;
        }
        values
    }

    /// What was hidden in every round, as places among `hidden`.
    pub fn rounds(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.rounds.iter().map(|round| round.hidden.clone())
    }

    /// What `interpolator` says of every hidden value. Rounds and series are asked in parallel, each only for
    /// the channels and times at which something was hidden.
    ///
    /// # Errors
    /// If the data do not fit the interpolator.
    pub fn answers(
        &self,
        interpolator: &dyn Interpolator,
        bounds: &Bounds,
    ) -> Result<Answers, Error> {
        let mut all = Answers {
            values: Vec::with_capacity(self.hidden.len()),
            std_devs: Some(Vec::with_capacity(self.hidden.len())),
        };
        let numbers: Vec<usize> = (0..self.rounds.len()).collect();
        // Each round has the data in sight for itself.
        let at_once = match cells_of(&self.visible) > LARGE {
            true => 1,
            false => numbers.len(),
        };
        for some in numbers.chunks(at_once.max(1)) {
            let asked = some
                .par_iter()
                .map(|&round| self.asked(interpolator, round));
            let found: Vec<_> = asked.collect::<Result<_, Error>>()?;
            for one in found.into_iter().flatten() {
                all.values.extend(one.values);
                match (&mut all.std_devs, one.std_devs) {
                    (Some(all), Some(one)) => all.extend(one),
                    _ => all.std_devs = None,
                }
            }
        }
        for (hidden, value) in self.hidden.iter().zip(&mut all.values) {
            *value = bounds.apply(hidden.channel, *value);
        }
        Ok(all)
    }

    /// The error that some answers leave of that of others: over all channels, in units of what the others leave of each.
    #[must_use]
    #[cfg(feature = "nn")]
    pub(crate) fn ratio(&self, answers: &Answers, others: &Answers, criterion: Criterion) -> f64 {
        let size = |error: f64| match criterion {
            Criterion::Mse => error * error,
            Criterion::Mae => error.abs(),
        };
        let mut sums = vec![[0.0; 3]; self.visible.channels()];
        let pairs = answers.values.iter().zip(&others.values);
        for (one, (found, other)) in self.hidden.iter().zip(pairs) {
            let errors = [found, other].map(|value| size(value - one.value));
            if errors.iter().all(|error| error.is_finite()) {
                let [sum, other, count] = &mut sums[one.channel];
                (*sum, *other, *count) = (*sum + errors[0], *other + errors[1], *count + 1.0);
            }
        }
        let known = sums.iter().filter(|[_, other, _]| *other > 0.0);
        let (parts, counts) = known.fold((0.0, 0.0), |(parts, counts), [sum, other, count]| {
            (parts + count * sum / other, counts + count)
        });
        if counts > 0.0 { parts / counts } else { 1.0 }
    }

    /// What `interpolator` says of what a round hides, series after series.
    fn asked(&self, interpolator: &dyn Interpolator, round: usize) -> Result<Vec<Answers>, Error> {
        let data = self.in_sight(round)?;
        let fitted = interpolator.fitted_to(&data)?;
        let interpolator = fitted.as_deref().unwrap_or(interpolator);
        let hidden = &self.hidden[self.rounds[round].hidden.clone()];
        let parts: Vec<&[Hidden]> = hidden.chunk_by(|a, b| a.series == b.series).collect();
        let ask = |part: &&[Hidden]| answer(interpolator, &data.series()[part[0].series], part);
        parts.par_iter().map(ask).collect()
    }
}

/// What an interpolator says of the hidden values of one series.
fn answer(
    interpolator: &dyn Interpolator,
    series: &Series,
    hidden: &[Hidden],
) -> Result<Answers, Error> {
    let mut rows: Vec<usize> = hidden.iter().map(|hidden| hidden.row).collect();
    rows.dedup();
    let mut channels: Vec<usize> = hidden.iter().map(|hidden| hidden.channel).collect();
    channels.sort_unstable();
    channels.dedup();
    let times: Vec<f64> = rows.iter().map(|&row| series.times()[row]).collect();
    let curve = curve_within(interpolator, series, &channels, &times)?;
    let pick = |block: &Vec<f64>| {
        let places = hidden.iter().map(|hidden| {
            let row = rows.partition_point(|&row| row < hidden.row);
            row * channels.len() + channels.partition_point(|&c| c < hidden.channel)
        });
        places.map(|place| block[place]).collect()
    };
    Ok(Answers {
        values: pick(&curve.values),
        std_devs: curve.std_devs.as_ref().map(pick),
    })
}

/// The same series with other values.
fn with_values(dataset: &Dataset, values: Vec<Vec<f64>>) -> Result<Dataset, Error> {
    let series = dataset.series().iter().zip(values);
    let series = series.map(|(series, values)| series.with_values(values));
    let series = series.collect::<Result<_, _>>()?;
    Dataset::new(dataset.channel_names().to_vec(), series)
}

fn cells_of(dataset: &Dataset) -> usize {
    let series = dataset.series().iter();
    series.map(|series| series.values().len()).sum()
}

/// The values of every series.
fn values_of(dataset: &Dataset) -> Vec<Vec<f64>> {
    let series = dataset.series().iter();
    series.map(|series| series.values().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Curve;

    fn hold_out(data: &Dataset, options: &HoldOutOptions) -> Result<HoldOut, Error> {
        HoldOut::new(data, &Gaps::find(data), options)
    }

    /// Knows that channel c of [`gappy`] is 2 t + c.
    #[derive(Debug)]
    struct Truth;

    impl Interpolator for Truth {
        fn name(&self) -> &str {
            "truth"
        }

        fn curve(&self, _: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
            let row = |&t: &f64| channels.iter().map(move |&c| 2.0 * t + c as f64);
            Ok(times.iter().flat_map(row).collect::<Vec<f64>>().into())
        }
    }

    /// Two channels of 400 rows, gaps of 3 rows in both together and of 1 row in the second.
    fn gappy() -> Dataset {
        let mut values: Vec<f64> = (0..800).map(f64::from).collect();
        for row in [50, 51, 52, 200, 201, 202] {
            values[2 * row] = f64::NAN;
            values[2 * row + 1] = f64::NAN;
        }
        for row in [100, 120, 140] {
            values[2 * row + 1] = f64::NAN;
        }
        let times = (0..400).map(f64::from).collect();
        let series = Series::new(None, 2, times, values).unwrap();
        Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap()
    }

    #[test]
    fn hidden_values_lie_in_gaps_like_the_real_ones() {
        let data = gappy();
        let held = hold_out(&data, &HoldOutOptions::default()).unwrap();
        assert_eq!(held.pattern, Pattern::Gaps);
        let wanted = 0.3 * (2 * 400 - 15) as f64;
        // The second channel reaches its third first.
        let hidden = held.hidden.len() as f64;
        assert!(0.8 * wanted < hidden && hidden <= wanted + 18.0, "{hidden}");
        assert_eq!(held.rounds.len(), 3);
        for hidden in &held.hidden {
            // Where the value at the end of a gap is missing itself, the next one ends it.
            let length: &[f64] = match hidden.channel {
                0 => &[4.0, 5.0],
                _ => &[4.0, 5.0, 2.0],
            };
            assert!(length.contains(&hidden.gap), "{hidden:?}");
            let series = &data.series()[0];
            assert_eq!(series.value(hidden.row, hidden.channel), Some(hidden.value));
            let left = &held.visible.series()[0];
            assert_eq!(left.value(hidden.row, hidden.channel), None);
        }
        let lone = |h: &&Hidden| h.channel == 1 && h.gap == 2.0;
        assert!(held.hidden.iter().filter(lone).count() > 15);
    }

    #[test]
    fn rounds_hide_different_values_and_see_those_of_the_others() {
        let data = gappy();
        let held = hold_out(&data, &HoldOutOptions::default()).unwrap();
        let mut cells: Vec<_> = held.hidden.iter().map(|h| (h.row, h.channel)).collect();
        cells.sort_unstable();
        cells.dedup();
        assert_eq!(cells.len(), held.hidden.len(), "each value is hidden once");
        for (number, round) in held.rounds.iter().enumerate() {
            let sight = held.in_sight(number).unwrap();
            let seen = |one: &Hidden| sight.series()[0].value(one.row, one.channel);
            assert!(
                held.hidden[round.hidden.clone()]
                    .iter()
                    .all(|one| seen(one).is_none())
            );
            // What others hide is in sight, but for values that lie in the gaps of this round.
            let others = held.hidden.iter().enumerate();
            let others = others.filter(|(at, _)| !round.hidden.contains(at));
            let unseen = others
                .filter(|(_, one)| seen(one) != Some(one.value))
                .count();
            assert!(unseen <= round.beside.len() && 4 * unseen < held.hidden.len());
        }
        // Whoever answers with the true value is right about every one of them.
        let found = held.answers(&Truth, &Bounds::none(2)).unwrap();
        let values: Vec<f64> = held.hidden.iter().map(|h| h.value).collect();
        assert_eq!(found.values, values);
        assert_eq!(found.std_devs, None);
    }

    #[test]
    fn gaps_that_are_too_long_are_not_imitated() {
        let options = HoldOutOptions {
            longest: Some(3.0),
            ..HoldOutOptions::default()
        };
        let held = hold_out(&gappy(), &options).unwrap();
        assert!(held.hidden.iter().all(|h| h.gap == 2.0 && h.channel == 1));
    }

    #[test]
    fn without_gaps_single_values_are_hidden_and_the_seed_decides() {
        let times: Vec<f64> = (0..200).map(f64::from).collect();
        let series = Series::new(None, 1, times.clone(), times).unwrap();
        let data = Dataset::new(vec!["a".into()], vec![series]).unwrap();
        let hide = |seed| {
            let options = HoldOutOptions {
                seed,
                ..HoldOutOptions::default()
            };
            hold_out(&data, &options).unwrap().hidden
        };
        assert_eq!(hide(1).len(), 60);
        assert_eq!(hide(1), hide(1));
        assert_ne!(hide(1), hide(2));
        assert!(
            hide(1)
                .iter()
                .all(|h| h.row > 0 && h.row < 199 && h.gap == 2.0)
        );
    }

    /// A gap of 300 of 1,000 rows: without values that are judged again the second round would have a few left.
    #[test]
    fn where_gaps_are_few_and_long_every_round_judges_one_as_long() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[100..400].fill(f64::NAN);
        let times = (0..1000).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        let data = Dataset::new(vec!["a".into()], vec![series]).unwrap();
        for largest_part in [1.0, 0.6] {
            let options = HoldOutOptions {
                largest_part,
                ..HoldOutOptions::default()
            };
            let held = hold_out(&data, &options).unwrap();
            assert_eq!(held.rounds.len(), 6);
            for (number, round) in held.rounds().enumerate() {
                assert!(round.len() > 200, "{number}: {round:?}");
                let sight = held.in_sight(number).unwrap();
                let seen = |one: &Hidden| sight.series()[0].value(one.row, 0).is_some();
                assert!(!held.hidden[round].iter().any(seen));
            }
            // What no round hides is for trainings.
            let known = held.visible.known(0).count() as f64;
            assert!(known >= (1.0 - largest_part) * 700.0, "{known}");
        }
    }

    #[test]
    fn nothing_is_hidden_where_nothing_is_known() {
        let series = Series::new(None, 1, vec![0.0, 1.0], vec![f64::NAN; 2]).unwrap();
        let data = Dataset::new(vec!["a".into()], vec![series]).unwrap();
        let held = hold_out(&data, &HoldOutOptions::default()).unwrap();
        assert_eq!(held.hidden, []);
    }
}
