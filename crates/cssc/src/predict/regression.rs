//! Learns the departures of every channel from values hidden in the pattern of its gaps.
//!
//! Stretches of rows are the folds of the cross-validation: gaps whose middle lies in one of them are left out as a whole,
//! whatever round has hidden them. For every channel there are coefficients over all gaps, and for each class of gap length others near them: what helps in gaps of
//! an hour (the slopes around) is not what helps in gaps of a day (the season). What is added to
//! the chord is kept within the departures that were seen, so a regression cannot blow up.

use super::design::{Design, Features, Profiles};
use super::joint::Use;
use super::lookup::{Dense, row_from};
use super::piece::{Piece, around};
use super::stations::Stations;
use super::trees::{Examples, Trees};
use super::{Inputs, PredictOptions};
use crate::Error;
use crate::data::{Dataset, Series};
use crate::evaluate::{
    Curve, Gaps, Hidden, HoldOut, HoldOutOptions, Interpolator, length_edges, set_column,
};
use crate::ridge::{Moments, cross_validated};
use rayon::prelude::*;
use std::sync::Arc;

/// Rounds of hiding, at least and at most; few values need more of them.
const ROUNDS: (usize, usize) = (4, 8);
/// Values hidden in each round: a part of all, and a number for each channel.
const PART: f64 = 0.15;
const ENOUGH: usize = 4500;
/// Folds, and stretches of rows that belong to each.
const FOLDS: usize = 4;
const STRETCHES: usize = 2;
/// Fewest samples of a channel, and of a class of gap length that gets its own coefficients.
const FEWEST_SAMPLES: usize = 30;
/// Most classes of gap length.
const CLASSES: usize = 3;
/// The largest departure that is believed: this many times the one that 99 of 100 samples do not reach.
const LARGEST: f64 = 1.5;
/// But at most so many times more where a regression has shown to be right.
const MOST_TRUSTED: f64 = 20.0;
/// What is predicted leaves the range of the known values by at most this part of it; and so many times more, but at most
/// twice or once for every so many gaps that were learned from: by a few long ones it can be right by luck.
const BEYOND: f64 = 0.25;
const GAPS_OF_ONCE: f64 = 10.0;

/// Most numbers that trees of all channels together learn from, and most samples of a channel.
const MOST_NUMBERS: usize = 20_000_000;
const MOST_EXAMPLES: usize = 1500;

/// What learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// A ridge regression.
    Ridge,
    /// Boosted trees.
    Trees,
}

/// A method that regresses departures on other departures.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    name: &'static str,
    inputs: Inputs,
    learner: Learner,
    options: PredictOptions,
}

impl Regression {
    /// Of some inputs, called `name`.
    #[must_use]
    pub fn new(
        name: &'static str,
        inputs: Inputs,
        learner: Learner,
        options: PredictOptions,
    ) -> Self {
        Self {
            name,
            inputs,
            learner,
            options,
        }
    }

    fn learn(&self, data: &Dataset) -> Result<Learned, Error> {
        let stations = Stations::of(data)?;
        let data = stations.as_ref().map_or(data, |stations| &stations.data);
        let gaps = Gaps::find(data);
        let design = Design::new(data, &gaps, self.inputs, &self.options);
        let held = Samples::hide(data, &gaps, &self.options)?;
        drop(gaps); // a long table has a million
        let learn =
            |first: Option<&[Option<Model>]>, learner| -> Result<Vec<Option<Model>>, Error> {
                let samples = Samples::gather(&design, data, &held, first, learner)?;
                let models = samples.into_par_iter().enumerate();
                let seed = self.options.seed;
                Ok(models
                    .map(|(channel, samples)| samples.model(range(data, channel), seed))
                    .collect())
            };
        // Holes of other channels are worth a second look: what stands in them is known better then. Trees, which cost more,
        // do without.
        let again = self.inputs.others && data.channels() > 1;
        let again = again && self.learner == Learner::Ridge;
        let (first, models) = if again {
            let first = learn(None, self.learner)?;
            let models = learn(Some(&first), self.learner)?;
            (Some(first), models)
        } else {
            (None, learn(None, self.learner)?)
        };
        Ok(Learned {
            name: self.name,
            profiles: design.profiles(data),
            channels: data.channels(),
            design,
            first,
            models,
            stations,
        })
    }
}

/// Smallest and largest known value.
fn range(data: &Dataset, channel: usize) -> (f64, f64) {
    let known = data.known(channel);
    known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Lines through what is known, with what the models say in the holes.
fn filled<'a>(
    series: &'a Series,
    design: &Design,
    profiles: &Profiles,
    models: &[Option<Model>],
    purpose: Use,
) -> Dense<'a> {
    let lines = Dense::new(series);
    let mut dense = lines.clone();
    let columns: Vec<(usize, &mut [f64])> = dense.channels_mut().enumerate().collect();
    columns.into_par_iter().for_each(|(channel, column)| {
        let Some(model) = &models[channel] else {
            return;
        };
        let mut features = Features::new(design, &profiles[channel], &lines, channel, purpose);
        for (row, value) in column.iter_mut().enumerate() {
            if series.value(row, channel).is_none() && !value.is_nan() {
                *value = model.value(&mut features, series.times()[row]);
            }
        }
    });
    dense
}

impl Interpolator for Regression {
    fn name(&self) -> &str {
        self.name
    }

    /// Learned from this series alone.
    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let data = super::alone(series)?;
        self.learn(&data)?.curve(series, channels, times)
    }

    fn fitted_to(&self, data: &Dataset) -> Result<Option<Arc<dyn Interpolator>>, Error> {
        Ok(Some(Arc::new(self.learn(data)?)))
    }
}

/// Sums of the samples of one channel.
struct Samples {
    width: usize,
    own: bool,
    /// Class edges: the longest gap of each class but the last.
    edges: Vec<f64>,
    shortest: f64,
    /// [classes][folds].
    moments: Vec<Vec<Moments>>,
    /// Sizes of the departures, by class.
    sizes: Vec<Vec<f64>>,
    /// Gaps that were learned from, in so many rows.
    gaps: usize,
    rows: usize,
    /// For trees, and how many of them at most.
    examples: Examples,
    /// The fold of each.
    folds: Vec<usize>,
    most: usize,
    seen: usize,
}

impl Samples {
    /// What is hidden to learn from, in several rounds.
    fn hide(data: &Dataset, gaps: &Gaps, options: &PredictOptions) -> Result<HoldOut, Error> {
        let channels = data.channels();
        let known: usize = (0..channels)
            .map(|channel| data.known(channel).count())
            .sum();
        let wanted = (ENOUGH * channels) as f64 / (PART * known.max(1) as f64);
        let rounds = (wanted as usize).clamp(ROUNDS.0, ROUNDS.1);
        let options = HoldOutOptions {
            rounds,
            part: PART,
            largest_part: 1.0,
            most: ENOUGH * channels,
            absent_rows: options.absent_rows,
            seed: options.seed ^ 0x7072_6564,
            ..HoldOutOptions::default()
        };
        HoldOut::new(data, gaps, &options)
    }

    /// Of every channel; holes of the others hold lines, or what `first` says of them.
    fn gather(
        design: &Design,
        data: &Dataset,
        held: &HoldOut,
        first: Option<&[Option<Model>]>,
        learner: Learner,
    ) -> Result<Vec<Self>, Error> {
        let mut all: Vec<Self> = (0..data.channels())
            .map(|channel| Self::new(design.width(channel), design.inputs.own, channel, held))
            .collect();
        if learner == Learner::Trees {
            let width = (0..data.channels()).map(|channel| design.width(channel));
            let most = MOST_NUMBERS / width.sum::<usize>().max(1);
            for samples in &mut all {
                samples.most = most.min(MOST_EXAMPLES);
            }
        }
        let folds = Folds::new(data);
        for (number, round) in held.rounds().enumerate() {
            let sight = held.in_sight(number)?;
            let profiles = design.profiles(&sight);
            let dense = |series| match first {
                Some(models) => filled(series, design, &profiles, models, Use::Learning),
                None => Dense::new(series),
            };
            let dense: Vec<Dense<'_>> = sight.series().par_iter().map(dense).collect();
            let hidden = &held.hidden[round];
            all.par_iter_mut()
                .enumerate()
                .for_each(|(channel, samples)| {
                    samples.add(&folds, design, &profiles, &dense, channel, hidden);
                });
        }
        Ok(all)
    }

    fn new(width: usize, own: bool, channel: usize, held: &HoldOut) -> Self {
        let hidden = held
            .hidden
            .iter()
            .filter(|hidden| hidden.channel == channel);
        let mut lengths: Vec<f64> = hidden.map(|hidden| hidden.gap).collect();
        lengths.sort_by(f64::total_cmp);
        let hidden_count = lengths.len();
        let edges = length_edges(&lengths, CLASSES);
        let classes = edges.len() + 1;
        Self {
            width,
            own,
            shortest: lengths.first().copied().unwrap_or(0.0),
            moments: vec![vec![Moments::new(width); FOLDS]; classes],
            sizes: vec![Vec::new(); classes],
            gaps: 0,
            rows: held.visible.rows(),
            edges,
            examples: Examples::default(),
            folds: Vec::new(),
            most: 0,
            seen: hidden_count,
        }
    }

    /// Adds what a round has hidden of the channel.
    fn add(
        &mut self,
        folds: &Folds,
        design: &Design,
        profiles: &Profiles,
        sight: &[Dense<'_>],
        channel: usize,
        hidden: &[Hidden],
    ) {
        let own: Vec<&Hidden> = hidden.iter().filter(|one| one.channel == channel).collect();
        if self.width == 0 {
            return;
        }
        for part in own.chunk_by(|a, b| a.series == b.series) {
            let dense = &sight[part[0].series];
            let series = dense.series;
            let mut features =
                Features::new(design, &profiles[channel], dense, channel, Use::Learning);
            let every = self.seen.div_ceil(self.most.max(1)).max(1);
            let mut last = 0;
            for (number, one) in part.iter().enumerate() {
                let time = series.times()[one.row];
                let after = features.knots.partition_point(|&knot| knot < time);
                if after == 0 || after == features.knots.len() {
                    continue;
                }
                self.gaps += usize::from(std::mem::replace(&mut last, after) != after);
                let piece = Piece::new(&features.knots, &features.known, after - 1);
                features.enter(piece);
                let target = one.value - piece.chord(piece.part(time));
                let class = class(&self.edges, piece.length());
                let middle = row_from(series, 0.5 * (piece.start + piece.end));
                let fold = folds.of(one.series, middle);
                self.sizes[class].push(target.abs());
                if self.most == 0 {
                    self.moments[class][fold].add(features.at(time), target);
                } else if number % every == 0 {
                    features.at(time);
                    tree_features(&mut features, time, &mut self.examples.features);
                    self.examples.targets.push(target);
                    self.folds.push(fold);
                }
            }
        }
    }

    /// The coefficients; `None` where there are too few samples.
    fn model(mut self, (low, high): (f64, f64), seed: u64) -> Option<Model> {
        if self.most > 0 {
            return self.model_of_trees((low, high), seed);
        }
        let width = self.width;
        let fold =
            |fold: usize| Moments::total(self.moments.iter().map(|class| &class[fold]), width);
        let folds: Vec<Moments> = (0..FOLDS).map(fold).collect();
        let folds: Vec<&Moments> = folds.iter().collect();
        let count: usize = folds.iter().map(|fold| fold.count).sum();
        let filled = folds.iter().filter(|fold| fold.count > 0).count();
        if width == 0 || count < FEWEST_SAMPLES || filled < 2 {
            return None;
        }
        let nothing = vec![vec![0.0; width]; FOLDS + 1];
        let pooled = cross_validated(&folds, width, &nothing);
        let of_class = |class: &Vec<Moments>| {
            let own: usize = class.iter().map(|fold| fold.count).sum();
            if own < FEWEST_SAMPLES {
                return pooled.clone();
            }
            let folds: Vec<&Moments> = class.iter().collect();
            cross_validated(&folds, width, &pooled)
        };
        let mut found: Vec<Vec<Vec<f64>>> = self.moments.iter().map(of_class).collect();
        let coefficients = found.iter_mut().filter_map(Vec::pop).collect();
        let trusted = trusted(&folds, &pooled);
        let largest = self
            .sizes
            .iter_mut()
            .map(|sizes| trusted * usual_largest(sizes));
        // Values that several rounds have hidden are the same witnesses.
        let gaps = self.gaps as f64 * (self.rows as f64 / count as f64).min(1.0);
        let beyond = trusted.min((gaps / GAPS_OF_ONCE).max(2.0));
        let beyond = BEYOND * beyond * (high - low);
        Some(Model {
            largest: largest.collect(),
            coefficients,
            trees: None,
            edges: self.edges,
            shortest: self.shortest,
            own: self.own,
            range: (low - beyond, high + beyond),
        })
    }
}

impl Samples {
    /// Trees for the departures themselves: what is left of them by coefficients that a few long gaps have given
    /// teaches less (DESIGN.md has the numbers).
    fn model_of_trees(mut self, (low, high): (f64, f64), seed: u64) -> Option<Model> {
        let mut examples = std::mem::take(&mut self.examples);
        let count = examples.targets.len();
        if count < FEWEST_SAMPLES {
            return None;
        }
        examples.width = examples.features.len() / count;
        examples.left_out = self.folds.iter().map(|&fold| fold == 0).collect();
        let trees = Trees::fit(&examples, seed)?;
        let largest = self.sizes.iter_mut().map(|sizes| usual_largest(sizes));
        let beyond = BEYOND * (high - low);
        Some(Model {
            largest: largest.collect(),
            coefficients: Vec::new(),
            trees: Some(trees),
            edges: self.edges,
            shortest: self.shortest,
            own: self.own,
            range: (low - beyond, high + beyond),
        })
    }
}

/// What trees look at.
fn tree_features(features: &mut Features<'_>, time: f64, values: &mut Vec<f32>) {
    values.extend(features.values.iter().map(|&value| value as f32));
    features.levels(time, values);
}

/// Which fold of the cross-validation a gap belongs to.
struct Folds {
    /// First row of each series in a common numbering, and the number of all rows.
    starts: Vec<usize>,
}

impl Folds {
    fn new(data: &Dataset) -> Self {
        let mut starts = vec![0];
        for series in data.series() {
            starts.push(starts[starts.len() - 1] + series.len());
        }
        Self { starts }
    }

    /// That of a gap with this row in its middle.
    fn of(&self, series: usize, middle: usize) -> usize {
        let all = self.starts[self.starts.len() - 1].max(1);
        (self.starts[series] + middle) * FOLDS * STRETCHES / all % FOLDS
    }
}

/// How far beyond what was seen a regression is believed: where left-out folds leave the part q of the sum of
/// squares, a departure that is 1/√q times the usual one is as likely as the usual error.
pub(super) fn trusted(folds: &[&Moments], found: &[Vec<f64>]) -> f64 {
    let error: f64 = folds
        .iter()
        .zip(found)
        .map(|(fold, beta)| fold.error(beta))
        .sum();
    let square: f64 = folds.iter().map(|fold| fold.square).sum();
    if error > 0.0 {
        (square / error).sqrt().clamp(1.0, MOST_TRUSTED)
    } else {
        1.0
    }
}

/// The largest size that is usual.
pub(super) fn usual_largest(sizes: &mut [f64]) -> f64 {
    let Some(last) = sizes.len().checked_sub(1) else {
        return 0.0;
    };
    let place = (0.99 * last as f64).ceil() as usize;
    LARGEST * *sizes.select_nth_unstable_by(place, f64::total_cmp).1
}

fn class(edges: &[f64], length: f64) -> usize {
    edges.partition_point(|&edge| edge < length)
}

/// What was learned of one channel.
#[derive(Clone, Debug)]
struct Model {
    edges: Vec<f64>,
    coefficients: Vec<Vec<f64>>,
    trees: Option<Trees>,
    largest: Vec<f64>,
    /// The shortest gap that was learned from.
    shortest: f64,
    /// Whether it looks at the values around the gap.
    own: bool,
    range: (f64, f64),
}

impl Model {
    fn departure(&self, piece: &Piece, features: &mut Features<'_>, time: f64) -> f64 {
        let class = class(&self.edges, piece.length());
        let sum = if let Some(trees) = &self.trees {
            features.at(time);
            let mut row = Vec::new();
            tree_features(features, time, &mut row);
            // Within a row of what is known it fades, so that the curve passes through it.
            let near = (time - piece.start).min(piece.end - time);
            trees.value(&row) * (near / features.design.usual).clamp(0.0, 1.0)
        } else {
            let parts = self.coefficients[class].iter().zip(features.at(time));
            parts
                .map(|(coefficient, feature)| coefficient * feature)
                .sum()
        };
        sum.clamp(-self.largest[class], self.largest[class])
    }

    /// What it says between two known values, or what is known.
    fn value(&self, features: &mut Features<'_>, time: f64) -> f64 {
        let piece = match around(&features.knots, &features.known, time) {
            Ok(piece) => piece,
            Err(value) => return value,
        };
        let part = piece.part(time);
        let chord = piece.chord(part);
        // Between neighbouring rows nothing was learned.
        if piece.length() < 0.75 * self.shortest {
            return chord + if self.own { piece.makima(part) } else { 0.0 };
        }
        features.enter(piece);
        let found = chord + self.departure(&piece, features, time);
        found.clamp(self.range.0.min(chord), self.range.1.max(chord))
    }
}

/// A regression that has learned.
#[derive(Clone, Debug)]
struct Learned {
    name: &'static str,
    design: Design,
    profiles: Profiles,
    /// What fills the holes of other channels before they are looked at.
    first: Option<Vec<Option<Model>>>,
    models: Vec<Option<Model>>,
    channels: usize,
    stations: Option<Stations>,
}

impl Learned {
    /// All channels of a series without holes.
    fn dense<'a>(&self, series: &'a Series) -> Dense<'a> {
        match &self.first {
            Some(first) => filled(series, &self.design, &self.profiles, first, Use::Filling),
            None => Dense::new(series),
        }
    }

    fn column(&self, dense: &Dense<'_>, channel: usize, times: &[f64]) -> Vec<f64> {
        let profiles = &self.profiles[channel];
        let mut features = Features::new(&self.design, profiles, dense, channel, Use::Filling);
        let value = |&time: &f64| match (&self.models[channel], features.knots.is_empty()) {
            (_, true) => f64::NAN,
            (Some(model), _) => model.value(&mut features, time),
            (None, _) => chord(&features.knots, &features.known, time),
        };
        times.iter().map(value).collect()
    }
}

/// The straight line between known values.
fn chord(knots: &[f64], known: &[f64], time: f64) -> f64 {
    match around(knots, known, time) {
        Ok(piece) => piece.chord(piece.part(time)),
        Err(value) => value,
    }
}

impl Interpolator for Learned {
    fn name(&self) -> &str {
        self.name
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let wide = Stations::wide(self.stations.as_ref(), series, self.channels)?;
        let (series, first) = wide
            .as_ref()
            .map_or((series, 0), |(wide, first)| (wide, *first));
        let dense = self.dense(series);
        let columns = channels
            .par_iter()
            .map(|&channel| self.column(&dense, first + channel, times));
        let columns: Vec<Vec<f64>> = columns.collect();
        let mut values = vec![f64::NAN; times.len() * channels.len()];
        for (place, column) in columns.iter().enumerate() {
            set_column(&mut values, channels.len(), place, column);
        }
        Ok(values.into())
    }
}
