//! Hides known values in the pattern of the real gaps, to see how well methods find them again.
//!
//! A gap is a template: how long it is, and which channels miss it together. Templates are
//! drawn at random and laid over stretches where those channels are complete; the values
//! inside are hidden. So a method is judged on what it will be asked: on long gaps when gaps
//! are long, on single cells when single cells are missing.
//!
//! One draw is not enough evidence: a few long gaps at difficult places decide it. So there are
//! several rounds, each hiding other values. A round is asked with all that the others hide in
//! sight; models are trained on what no round hides, so they never see what they are judged by.

use super::bounds::Bounds;
use super::gap::{Gap, Gaps};
use super::interpolator::{Interpolator, curve_within};
use crate::Error;
use crate::data::{Dataset, Random, Series};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// How they are chosen.
    pub pattern: Pattern,
    /// Gaps longer than this are not imitated.
    pub longest: Option<f64>,
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
            pattern: Pattern::Gaps,
            longest: None,
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

/// One round: what is in sight, and which of the hidden values are its own.
#[derive(Clone, Debug)]
struct Round {
    visible: Dataset,
    hidden: Range<usize>,
}

/// A gap to be imitated.
#[derive(Clone, Debug, PartialEq)]
struct Template {
    length: f64,
    channels: Vec<usize>,
}

impl HoldOut {
    /// Hides values of `dataset`, whose gaps are `gaps`.
    ///
    /// The first and the last value of a channel are never hidden, nor more than a third of it.
    ///
    /// # Errors
    /// Only if series cannot be rebuilt, which would be a fault of this library.
    pub fn new(dataset: &Dataset, gaps: &Gaps, options: &HoldOutOptions) -> Result<Self, Error> {
        let templates = match options.pattern {
            Pattern::Gaps => templates(gaps, options.longest),
            Pattern::Single => Vec::new(),
        };
        let usual = gaps.typical.unwrap_or(0.0);
        let mut hider = Hider::new(dataset, usual, options);
        let mut pattern = Pattern::Gaps;
        let (mut hidden, mut rounds) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds.max(1) {
            hider.cells.clear();
            if pattern == Pattern::Gaps && !templates.is_empty() {
                hider.lay(&templates);
            }
            // Too few places are long enough for the gaps there are.
            if templates.is_empty() || rounds.is_empty() && hider.cells.len() < hider.wanted / 4 {
                pattern = Pattern::Single;
            }
            if pattern == Pattern::Single {
                hider.single();
            }
            if hider.cells.is_empty() && !rounds.is_empty() {
                break;
            }
            let round = hider.round(hidden.len())?;
            hidden.extend(hider.described(&round));
            rounds.push(round);
        }
        let visible = with_values(dataset, hider.values)?;
        Ok(Self {
            visible,
            hidden,
            pattern,
            rounds,
        })
    }

    /// What was hidden in every round, as places among `hidden`.
    pub fn rounds(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.rounds.iter().map(|round| round.hidden.clone())
    }

    /// What `interpolator` says of every hidden value. Series are asked in parallel, each only for
    /// the channels and times at which something was hidden.
    ///
    /// # Errors
    /// If the data do not fit the interpolator.
    pub fn answers(
        &self,
        interpolator: &dyn Interpolator,
        bounds: &Bounds,
    ) -> Result<Answers, Error> {
        let mut parts: Vec<(&Series, &[Hidden])> = Vec::new();
        for round in &self.rounds {
            let hidden = &self.hidden[round.hidden.clone()];
            let by_series = hidden.chunk_by(|a, b| a.series == b.series);
            parts.extend(by_series.map(|part| (&round.visible.series()[part[0].series], part)));
        }
        let ask = |(series, part): &(&Series, &[Hidden])| answer(interpolator, series, part);
        let found: Result<Vec<Answers>, Error> = parts.par_iter().map(ask).collect();
        let mut all = Answers {
            values: Vec::with_capacity(self.hidden.len()),
            std_devs: Some(Vec::with_capacity(self.hidden.len())),
        };
        for one in found? {
            all.values.extend(one.values);
            match (&mut all.std_devs, one.std_devs) {
                (Some(all), Some(one)) => all.extend(one),
                _ => all.std_devs = None,
            }
        }
        for (hidden, value) in self.hidden.iter().zip(&mut all.values) {
            *value = bounds.apply(hidden.channel, *value);
        }
        Ok(all)
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

/// Gaps of several channels that begin and end together are one template.
fn templates(gaps: &Gaps, longest: Option<f64>) -> Vec<Template> {
    let template = |gaps: Vec<Gap>| Template {
        length: gaps[0].length(),
        channels: gaps.iter().map(|gap| gap.channel).collect(),
    };
    let shared = gaps.shared().into_iter();
    let imitated = shared.filter(|gaps| gaps[0].is_within(longest));
    imitated.map(template).collect()
}

/// Hides values one template at a time.
struct Hider<'a> {
    dataset: &'a Dataset,
    random: Random,
    /// Values of every series, NaN where missing or hidden in any round.
    values: Vec<Vec<f64>>,
    /// Values of each series and channel, and how many of them may still be hidden.
    left: Vec<Vec<usize>>,
    /// First row of each series in a common numbering, to draw series by their length.
    starts: Vec<usize>,
    usual: f64,
    /// Values to be hidden in a round.
    wanted: usize,
    /// Series, row and channel of what this round has hidden.
    cells: Vec<[usize; 3]>,
}

impl<'a> Hider<'a> {
    fn new(dataset: &'a Dataset, usual: f64, options: &HoldOutOptions) -> Self {
        let count = |series: &Series, channel| {
            let known = (0..series.len()).filter(|&row| series.value(row, channel).is_some());
            known.count()
        };
        let known: Vec<Vec<usize>> = dataset
            .series()
            .iter()
            .map(|series| (0..series.channels()).map(|c| count(series, c)).collect())
            .collect();
        let all: usize = known.iter().flatten().sum();
        let mut starts = vec![0];
        for series in dataset.series() {
            starts.push(starts[starts.len() - 1] + series.len());
        }
        Self {
            dataset,
            random: Random::stream(options.seed, 0x686f_6c64),
            values: dataset
                .series()
                .iter()
                .map(|series| series.values().to_vec())
                .collect(),
            left: known
                .iter()
                .map(|row| row.iter().map(|known| known / 3).collect())
                .collect(),
            starts,
            usual,
            wanted: ((all as f64 * options.part).round() as usize)
                .min(options.most / options.rounds.max(1)),
            cells: Vec::new(),
        }
    }

    /// Lays templates at random places until enough is hidden or no place is found any more.
    fn lay(&mut self, templates: &[Template]) {
        let mut misses = 0;
        while self.cells.len() < self.wanted && misses < 200 + self.wanted {
            let template = &templates[self.random.below(templates.len())];
            misses = if self.try_lay(template) {
                0
            } else {
                misses + 1
            };
        }
    }

    fn single(&mut self) {
        let channels: Vec<usize> = (0..self.dataset.channels()).collect();
        let mut misses = 0;
        while self.cells.len() < self.wanted && misses < 200 + self.wanted {
            let channel = channels[self.random.below(channels.len())];
            let (number, row) = self.random_row();
            let found = self.inner(number, row, channel);
            if found {
                self.hide(number, row, channel);
            }
            misses = if found { 0 } else { misses + 1 };
        }
    }

    fn random_row(&mut self) -> (usize, usize) {
        let all = self.starts[self.starts.len() - 1].max(1);
        let place = self.random.below(all);
        let number = self.starts.partition_point(|&start| start <= place) - 1;
        (number, place - self.starts[number])
    }

    /// Whether a value may be hidden: known, with known ones on both sides, enough left.
    fn inner(&self, number: usize, row: usize, channel: usize) -> bool {
        let channels = self.dataset.channels();
        let rows = self.dataset.series()[number].len();
        let known = |row: usize| !self.values[number][row * channels + channel].is_nan();
        self.left[number][channel] > 0
            && row > 0
            && row + 1 < rows
            && known(row)
            && known(row - 1)
            && known(row + 1)
    }

    fn hide(&mut self, number: usize, row: usize, channel: usize) {
        let channels = self.dataset.channels();
        self.values[number][row * channels + channel] = f64::NAN;
        self.left[number][channel] -= 1;
        self.cells.push([number, row, channel]);
    }

    /// Lays a template behind a random row, if its channels are complete there.
    fn try_lay(&mut self, template: &Template) -> bool {
        if self.starts[self.starts.len() - 1] == 0 {
            return false;
        }
        let (number, first) = self.random_row();
        let times = self.dataset.series()[number].times();
        // Half a step of tolerance: times are seldom exact.
        let end = times[first] + template.length - 0.25 * self.usual.min(template.length);
        let after = first + times[first..].partition_point(|&time| time < end);
        let inside = first + 1..after;
        if inside.is_empty() || after >= times.len() {
            return false;
        }
        let channels = self.dataset.channels();
        let complete = |channel: usize| {
            let mut rows = first..=after;
            let known =
                rows.all(|row: usize| !self.values[number][row * channels + channel].is_nan());
            known && self.left[number][channel] >= inside.len()
        };
        let no_gap = times[first..=after]
            .windows(2)
            .all(|pair| pair[1] - pair[0] <= 1.5 * self.usual.max(template.length / 3.0));
        if !no_gap || !template.channels.iter().all(|&c| complete(c)) {
            return false;
        }
        for row in inside {
            for &channel in &template.channels {
                self.hide(number, row, channel);
            }
        }
        true
    }

    /// The round that has just hidden its cells, the first of which gets the number `first`.
    fn round(&mut self, first: usize) -> Result<Round, Error> {
        self.cells.sort_unstable();
        let channels = self.dataset.channels();
        let values = self
            .dataset
            .series()
            .iter()
            .map(|one| one.values().to_vec());
        let mut values: Vec<Vec<f64>> = values.collect();
        for &[number, row, channel] in &self.cells {
            values[number][row * channels + channel] = f64::NAN;
        }
        Ok(Round {
            visible: with_values(self.dataset, values)?,
            hidden: first..first + self.cells.len(),
        })
    }

    fn described(&self, round: &Round) -> impl Iterator<Item = Hidden> {
        self.cells.iter().filter_map(|&[series, row, channel]| {
            let value = self.dataset.series()[series].value(row, channel)?;
            let gap = gap_around(&round.visible.series()[series], row, channel);
            Some(Hidden {
                series,
                row,
                channel,
                value,
                gap,
            })
        })
    }
}

/// Distance of the values on both sides of a cell.
fn gap_around(series: &Series, row: usize, channel: usize) -> f64 {
    let times = series.times();
    let before = (0..row).rev().find(|&r| series.value(r, channel).is_some());
    let after = (row + 1..times.len()).find(|&r| series.value(r, channel).is_some());
    match (before, after) {
        (Some(before), Some(after)) => times[after] - times[before],
        _ => f64::INFINITY,
    }
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
            let length = if hidden.channel == 0 {
                [4.0, 4.0]
            } else {
                [4.0, 2.0]
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
        for round in &held.rounds {
            let series = &round.visible.series()[0];
            for (number, hidden) in held.hidden.iter().enumerate() {
                let seen = series.value(hidden.row, hidden.channel).is_some();
                assert_eq!(seen, !round.hidden.contains(&number));
            }
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

    #[test]
    fn nothing_is_hidden_where_nothing_is_known() {
        let series = Series::new(None, 1, vec![0.0, 1.0], vec![f64::NAN; 2]).unwrap();
        let data = Dataset::new(vec!["a".into()], vec![series]).unwrap();
        let held = hold_out(&data, &HoldOutOptions::default()).unwrap();
        assert_eq!(held.hidden, []);
    }
}
