//! Learns the departures of every channel from values hidden in the pattern of its gaps.
//!
//! Several rounds of hiding are the folds of the cross-validation. For every channel there are
//! coefficients over all gaps, and for each class of gap length others near them: what helps in gaps of
//! an hour (the slopes around) is not what helps in gaps of a day (the season). What is added to
//! the chord is kept within the departures that were seen, so a regression cannot blow up.

use super::design::{Design, Features, Profiles};
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
        let samples = Samples::gather(&design, data, &gaps, &self.options)?;
        let range = |channel: usize| {
            let known = data.known(channel);
            known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let models = samples.into_par_iter().enumerate();
        let models = models
            .map(|(channel, samples)| samples.model(range(channel)))
            .collect();
        Ok(Learned {
            name: self.name,
            profiles: design.profiles(data),
            channels: data.channels(),
            design,
            models,
            stations,
        })
    }
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
    /// Class edges: the longest gap of each class but the last.
    edges: Vec<f64>,
    shortest: f64,
    /// [classes][rounds].
    moments: Vec<Vec<Moments>>,
    /// Sizes of the departures, by class.
    sizes: Vec<Vec<f64>>,
}

impl Samples {
    /// Of every channel.
    fn gather(
        design: &Design,
        data: &Dataset,
        gaps: &Gaps,
        options: &PredictOptions,
    ) -> Result<Vec<Self>, Error> {
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
        let held = HoldOut::new(data, gaps, &options)?;
        let mut all: Vec<Self> = (0..channels)
            .map(|channel| Self::new(design.width(channel), channel, &held))
            .collect();
        for (number, round) in held.rounds().enumerate() {
            let sight = held.in_sight(number)?;
            let profiles = design.profiles(&sight);
            let hidden = &held.hidden[round];
            all.par_iter_mut()
                .enumerate()
                .for_each(|(channel, samples)| {
                    samples.add(number, design, &profiles, &sight, channel, hidden);
                });
        }
        Ok(all)
    }

    fn new(width: usize, channel: usize, held: &HoldOut) -> Self {
        let own = held
            .hidden
            .iter()
            .filter(|hidden| hidden.channel == channel);
        let mut lengths: Vec<f64> = own.map(|hidden| hidden.gap).collect();
        lengths.sort_by(f64::total_cmp);
        let edges = length_edges(&lengths, CLASSES);
        let rounds = held.rounds().count();
        let classes = edges.len() + 1;
        Self {
            width,
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
        sight: &Dataset,
        channel: usize,
        hidden: &[Hidden],
    ) {
        let own: Vec<&Hidden> = hidden.iter().filter(|one| one.channel == channel).collect();
        if self.width == 0 {
            return;
        }
        for part in own.chunk_by(|a, b| a.series == b.series) {
            let series = &sight.series()[part[0].series];
            let (knots, known) = series.observed(channel);
            let mut features = Features::new(design, profiles, series, channel);
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
        let largest = |sizes: &mut Vec<f64>| {
            let last = sizes.len().checked_sub(1)?;
            let place = (0.99 * last as f64).ceil() as usize;
            Some(LARGEST * *sizes.select_nth_unstable_by(place, f64::total_cmp).1)
        };
        let largest = self
            .sizes
            .iter_mut()
            .map(|sizes| largest(sizes).unwrap_or(0.0));
        let beyond = BEYOND * (high - low);
        Some(Model {
            largest: largest.collect(),
            coefficients,
            edges: self.edges,
            shortest: self.shortest,
            range: (low - beyond, high + beyond),
        })
    }
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
}

/// A regression that has learned.
#[derive(Clone, Debug)]
struct Learned {
    name: &'static str,
    design: Design,
    profiles: Profiles,
    models: Vec<Option<Model>>,
    channels: usize,
    stations: Option<Stations>,
}

impl Learned {
    fn column(&self, series: &Series, channel: usize, times: &[f64]) -> Vec<f64> {
        let (knots, known) = series.observed(channel);
        let mut features = Features::new(&self.design, &self.profiles, series, channel);
        let mut value = |&time: &f64| {
            let after = knots.partition_point(|&knot| knot < time);
            if knots.get(after) == Some(&time) {
                return known[after];
            }
            if after == 0 || after == knots.len() {
                return f64::NAN;
            }
            let piece = Piece::new(&knots, &known, after - 1);
            let part = piece.part(time);
            let chord = piece.chord(part);
            let Some(model) = &self.models[channel] else {
                return chord;
            };
            // Between neighbouring rows nothing was learned.
            if piece.length() < 0.75 * model.shortest {
                return chord
                    + if self.design.inputs.own {
                        piece.makima(part)
                    } else {
                        0.0
                    };
            }
            features.enter(piece);
            let found = chord + model.departure(&piece, features.at(time));
            found.clamp(model.range.0.min(chord), model.range.1.max(chord))
        };
        times.iter().map(&mut value).collect()
    }
}

impl Interpolator for Learned {
    fn name(&self) -> &str {
        self.name
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let wide = match &self.stations {
            None => None,
            Some(stations) => stations.with(series)?,
        };
        let (series, first) = match &wide {
            Some((wide, first)) => (wide, *first),
            None => (series, 0),
        };
        if series.channels() != self.channels {
            return Err(Error::ChannelCount {
                series: series.label(),
                expected: self.channels,
                found: series.channels(),
            });
        }
        let columns = channels
            .par_iter()
            .map(|&channel| self.column(series, first + channel, times));
        let columns: Vec<Vec<f64>> = columns.collect();
        let mut values = vec![f64::NAN; times.len() * channels.len()];
        for (place, column) in columns.iter().enumerate() {
            set_column(&mut values, channels.len(), place, column);
        }
        Ok(values.into())
    }
}
