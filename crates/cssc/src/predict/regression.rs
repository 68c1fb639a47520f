//! Learns the departures of every channel from values hidden in the pattern of its gaps.
//!
//! Several rounds of hiding are the folds of the cross-validation. For every channel there are
//! coefficients over all gaps, and for each class of gap length others near them: what helps in gaps of
//! an hour (the slopes around) is not what helps in gaps of a day (the season). What is added to
//! the chord is kept within the departures that were seen, so a regression cannot blow up.

use super::design::{Design, Features, Profiles};
use super::lookup::Dense;
use super::piece::Piece;
use super::ridge::{Moments, cross_validated};
use super::stations::Stations;
use super::{Inputs, PredictOptions};
use crate::Error;
use crate::data::{Dataset, Series};
use crate::evaluate::{
    Curve, Gaps, Hidden, HoldOut, HoldOutOptions, Interpolator, length_edges, set_column,
};
use rayon::prelude::*;
use std::sync::Arc;

/// Rounds of hiding, at least and at most; few values need more of them.
const ROUNDS: (usize, usize) = (4, 8);
/// Values hidden in each round: a part of all, and a number for each channel.
const PART: f64 = 0.15;
const ENOUGH: usize = 6000;
/// Fewest samples of a channel, and of a class of gap length that gets its own coefficients.
const FEWEST_SAMPLES: usize = 30;
/// Most classes of gap length.
const CLASSES: usize = 3;
/// The largest departure that is believed: this many times the one that 99 of 100 samples do not reach.
const LARGEST: f64 = 1.5;
/// But at most so many times more where a regression has shown to be right.
const MOST_TRUSTED: f64 = 20.0;
/// What is predicted leaves the range of the known values by at most this part of it.
const BEYOND: f64 = 0.25;

/// A method that regresses departures on other departures.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    name: &'static str,
    inputs: Inputs,
    options: PredictOptions,
}

impl Regression {
    /// Of some inputs, called `name`.
    #[must_use]
    pub fn new(name: &'static str, inputs: Inputs, options: PredictOptions) -> Self {
        Self {
            name,
            inputs,
            options,
        }
    }

    fn learn(&self, data: &Dataset) -> Result<Learned, Error> {
        let stations = Stations::of(data)?;
        let data = stations.as_ref().map_or(data, |stations| &stations.data);
        let gaps = Gaps::find(data);
        let design = Design::new(data, &gaps, self.inputs, &self.options);
        let held = Samples::hide(data, &gaps, &self.options)?;
        let learn = |first: Option<&[Option<Model>]>| -> Result<Vec<Option<Model>>, Error> {
            let samples = Samples::gather(&design, data, &held, first)?;
            let models = samples.into_par_iter().enumerate();
            Ok(models
                .map(|(channel, samples)| samples.model(range(data, channel)))
                .collect())
        };
        let first = learn(None)?;
        // Holes of other channels are worth a second look: what stands in them is known better now.
        let again = self.inputs.others && data.channels() > 1;
        let (first, models) = match again {
            true => (Some(first.clone()), learn(Some(&first))?),
            false => (None, first),
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
) -> Dense<'a> {
    let lines = Dense::new(series);
    let mut dense = lines.clone();
    let columns: Vec<(usize, &mut [f64])> = dense.channels_mut().enumerate().collect();
    columns.into_par_iter().for_each(|(channel, column)| {
        let Some(model) = &models[channel] else {
            return;
        };
        let (knots, known) = series.observed(channel);
        let mut features = Features::new(design, &profiles[channel], &lines, channel);
        for (row, value) in column.iter_mut().enumerate() {
            if series.value(row, channel).is_none() && !value.is_nan() {
                *value = model.value(&mut features, &knots, &known, series.times()[row]);
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
        let names = (0..series.channels()).map(|channel| channel.to_string());
        let data = Dataset::new(names.collect(), vec![series.clone()])?;
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
    /// [classes][rounds].
    moments: Vec<Vec<Moments>>,
    /// Sizes of the departures, by class.
    sizes: Vec<Vec<f64>>,
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
    ) -> Result<Vec<Self>, Error> {
        let mut all: Vec<Self> = (0..data.channels())
            .map(|channel| Self::new(design.width(channel), design.inputs.own, channel, held))
            .collect();
        for (number, round) in held.rounds().enumerate() {
            let sight = held.in_sight(number)?;
            let profiles = design.profiles(&sight);
            let dense = |series| match first {
                Some(models) => filled(series, design, &profiles, models),
                None => Dense::new(series),
            };
            let dense: Vec<Dense<'_>> = sight.series().par_iter().map(dense).collect();
            let hidden = &held.hidden[round];
            all.par_iter_mut()
                .enumerate()
                .for_each(|(channel, samples)| {
                    samples.add(number, design, &profiles, &dense, channel, hidden);
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
        let edges = length_edges(&lengths, CLASSES);
        let rounds = held.rounds().count();
        let classes = edges.len() + 1;
        Self {
            width,
            own,
            shortest: lengths.first().copied().unwrap_or(0.0),
            moments: vec![vec![Moments::new(width); rounds]; classes],
            sizes: vec![Vec::new(); classes],
            edges,
        }
    }

    /// Adds what a round has hidden of the channel.
    fn add(
        &mut self,
        round: usize,
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
            let (knots, known) = series.observed(channel);
            let mut features = Features::new(design, &profiles[channel], dense, channel);
            for one in part {
                let time = series.times()[one.row];
                let after = knots.partition_point(|&knot| knot < time);
                if after == 0 || after == knots.len() {
                    continue;
                }
                let piece = Piece::new(&knots, &known, after - 1);
                features.enter(piece);
                let target = one.value - piece.chord(piece.part(time));
                let class = class(&self.edges, piece.length());
                self.moments[class][round].add(features.at(time), target);
                self.sizes[class].push(target.abs());
            }
        }
    }

    /// The coefficients; `None` where there are too few samples.
    fn model(mut self, (low, high): (f64, f64)) -> Option<Model> {
        let width = self.width;
        let rounds = self.moments[0].len();
        let fold =
            |round: usize| Moments::total(self.moments.iter().map(|class| &class[round]), width);
        let folds: Vec<Moments> = (0..rounds).map(fold).collect();
        let folds: Vec<&Moments> = folds.iter().filter(|fold| fold.count > 0).collect();
        let count: usize = folds.iter().map(|fold| fold.count).sum();
        if width == 0 || count < FEWEST_SAMPLES || folds.len() < 2 {
            return None;
        }
        let nothing = vec![vec![0.0; width]; folds.len() + 1];
        let pooled = cross_validated(&folds, width, &nothing);
        let of_class = |class: &Vec<Moments>| {
            let own: usize = class.iter().map(|fold| fold.count).sum();
            let folds: Vec<&Moments> = (0..rounds).map(|round| &class[round]).collect();
            // A round that hid nothing of the channel has no place among the priors.
            if own < FEWEST_SAMPLES || pooled.len() != folds.len() + 1 {
                return pooled[pooled.len() - 1].clone();
            }
            cross_validated(&folds, width, &pooled)
                .pop()
                .unwrap_or_default()
        };
        let coefficients = self.moments.iter().map(of_class).collect();
        let trusted = trusted(&folds, &pooled);
        let largest = self
            .sizes
            .iter_mut()
            .map(|sizes| trusted * usual_largest(sizes));
        let beyond = BEYOND * trusted * (high - low);
        Some(Model {
            largest: largest.collect(),
            coefficients,
            edges: self.edges,
            shortest: self.shortest,
            own: self.own,
            range: (low - beyond, high + beyond),
        })
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
    largest: Vec<f64>,
    /// The shortest gap that was learned from.
    shortest: f64,
    /// Whether it looks at the values around the gap.
    own: bool,
    range: (f64, f64),
}

impl Model {
    fn departure(&self, piece: &Piece, features: &[f64]) -> f64 {
        let class = class(&self.edges, piece.length());
        let parts = self.coefficients[class].iter().zip(features);
        let sum: f64 = parts
            .map(|(coefficient, feature)| coefficient * feature)
            .sum();
        sum.clamp(-self.largest[class], self.largest[class])
    }

    /// What it says between two known values, or what is known.
    fn value(&self, features: &mut Features<'_>, knots: &[f64], known: &[f64], time: f64) -> f64 {
        let piece = match around(knots, known, time) {
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
        let found = chord + self.departure(&piece, features.at(time));
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
            Some(first) => filled(series, &self.design, &self.profiles, first),
            None => Dense::new(series),
        }
    }

    fn column(&self, dense: &Dense<'_>, channel: usize, times: &[f64]) -> Vec<f64> {
        let (knots, known) = dense.series.observed(channel);
        let profiles = &self.profiles[channel];
        let mut features = Features::new(&self.design, profiles, dense, channel);
        let value = |&time: &f64| match (&self.models[channel], knots.is_empty()) {
            (_, true) => f64::NAN,
            (Some(model), _) => model.value(&mut features, &knots, &known, time),
            (None, _) => chord(&knots, &known, time),
        };
        times.iter().map(value).collect()
    }
}

/// The two known values around a time; otherwise what is known there, or NaN outside.
fn around(knots: &[f64], known: &[f64], time: f64) -> Result<Piece, f64> {
    let after = knots.partition_point(|&knot| knot < time);
    if knots.get(after) == Some(&time) {
        return Err(known[after]);
    }
    if after == 0 || after == knots.len() {
        return Err(f64::NAN);
    }
    Ok(Piece::new(knots, known, after - 1))
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
