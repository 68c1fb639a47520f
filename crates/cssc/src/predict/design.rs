//! What is known about a missing value: the features of the regression.
//!
//! All of them are departures from a chord, or vanish at both ends of the gap for another reason. So the
//! curve passes through the known values, and is continuous. With W the position in the gap, u = W(1-W):
//!
//! | input | features |
//! |---|---|
//! | own values | kriging; modified Akima; cubics that leave the gap with the slopes around it (two on either side); u and u² times the distance of the chord from the mean of the channel; u, u(2W-1) and u·length |
//! | season, for every period | the profile; the same channel in the two nearest cycles, in up to four others (earlier and later in turn, those whose holes are short); u·sin, u·cos |
//! | other channels | the twelve that correlate most, as lines (or first guesses) through what is known of them; the same counted only where they are known closely; their distances from their means, tapered to 0 at the ends of the gap, since far from them levels tell more than departures; the six that correlate most one step earlier and later; the prediction of the shared factors; what all of them together lead to expect (`joint`), as a departure and as a level, near the ends and far from them |
//!
//! Beyond the first and the last known value of a channel the chord is that value. What stands for the shape of a
//! gap there are ways back to the mean at several speeds, and slopes that fade.

use super::columns::Columns;
use super::covariance::Covariance;
use super::joint::{Asked, Expected, Joint, Use};
use super::kriging::{Guess, covariances};
use super::lookup::{Dense, Look, row_from};
use super::memory::Key;
use super::piece::{Piece, departure};
use super::profile::Profile;
use super::{Inputs, PredictOptions};
use crate::data::scale::mean_and_deviation;
use crate::data::{Dataset, Series};
use crate::evaluate::Gaps;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Features of own values, of a period, of another channel.
const OWN: usize = 11;
const OF_PERIOD: usize = 5;
const OF_OTHER: usize = 3;
const OF_JOINT: usize = 3;
/// Features of a period where nothing is known of a channel: the profile, and waves of so many frequencies.
const WAVES: [f64; 2] = [1.0, 2.0];
const OF_PERIOD_UNSEEN: usize = 1 + 2 * WAVES.len();
/// Other channels that are also looked at a step earlier and later: some lag behind others.
const LAGGED: usize = 6;
const STEPS: [f64; 2] = [-1.0, 1.0];
/// Cycles that are looked at, earlier and later in turn.
const CYCLES: [f64; 8] = [-1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0];
/// How many of them count as near, and at most as far.
const NEAR: usize = 2;
const FARTHER: usize = 4;
/// A hole longer than this part of the period says nothing about a cycle.
const HOLE_OF_PERIOD: f64 = 0.34;
/// Rows within which levels begin to count, ways back to the mean, and slopes that fade.
const TAPER: f64 = 4.0;
const LONG_TAPER: f64 = 32.0;
const BACK: [f64; 3] = [4.0, 32.0, 256.0];
const FADE: [f64; 2] = [2.0, 8.0];
/// A channel is known closely where its neighbouring values are at most so many usual steps apart.
const CLOSE: f64 = 1.25;

/// What all features are made with: found once for a data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Design {
    pub(super) inputs: Inputs,
    pub(super) periods: Vec<f64>,
    pub(super) usual: f64,
    origin: f64,
    columns: Columns,
    joint: Option<Arc<Joint>>,
    /// How the values of every channel hang together over time.
    covariances: Vec<Option<Covariance>>,
    /// Mean and standard deviation of every channel.
    scales: Vec<(f64, f64)>,
}

/// The profiles of every channel and period: made of what is in sight.
pub(super) type Profiles = Vec<Vec<Profile>>;

impl Design {
    pub(super) fn new(
        data: &Dataset,
        gaps: &Gaps,
        inputs: Inputs,
        options: &PredictOptions,
    ) -> Self {
        let usual = gaps.typical.unwrap_or(0.0);
        let key = Key::of(data).with(&usual.to_bits());
        let origin = data.series().iter().filter_map(|one| one.times().first());
        let length = usual_length(gaps).unwrap_or(2.0 * usual);
        let columns = if inputs.others || inputs.factors {
            Columns::new(data, length, inputs.factors)
        } else {
            Columns {
                others: vec![Vec::new(); data.channels()],
                factors: None,
            }
        };
        let joint = (inputs.others || inputs.factors).then(|| {
            let key = key.with(&columns.others);
            let find = || Joint::new(data, usual, &columns.others).map(Arc::new);
            options.memory.joints.find(key, find)
        });
        Self {
            inputs,
            joint: joint.flatten(),
            periods: match inputs.season {
                true => options.periods_of(data, usual),
                false => Vec::new(),
            },
            usual,
            covariances: match inputs.own {
                true => covariances(data, usual),
                false => vec![None; data.channels()],
            },
            origin: origin.copied().fold(f64::INFINITY, f64::min),
            columns,
            scales: (0..data.channels())
                .map(|channel| mean_and_deviation(data, channel))
                .collect(),
        }
    }

    /// The profiles that `data` show.
    pub(super) fn profiles(&self, data: &Dataset) -> Profiles {
        let channels = 0..data.channels();
        channels
            .map(|channel| self.profile(data, channel))
            .collect()
    }

    /// Those of one channel.
    pub(super) fn profile(&self, data: &Dataset, channel: usize) -> Vec<Profile> {
        let profile = |&period: &f64| Profile::new(data, channel, period, self.usual, self.origin);
        self.periods.iter().map(profile).collect()
    }

    /// The number of features of a channel.
    pub(super) fn width(&self, channel: usize) -> usize {
        let own = if self.inputs.own { OWN } else { 0 };
        let others = if self.inputs.others {
            self.columns.others[channel].len()
        } else {
            0
        };
        own + OF_PERIOD * self.periods.len()
            + OF_OTHER * others
            + usize::from(others > 0)
            + STEPS.len() * others.min(LAGGED)
            + usize::from(self.columns.factors.is_some())
            + if self.told(channel) { OF_JOINT } else { 0 }
    }

    /// Whether the other channels together tell a channel.
    fn told(&self, channel: usize) -> bool {
        let joint = self.joint.as_ref();
        joint.is_some_and(|joint| joint.tells(channel))
    }

    /// Mean and standard deviation of a channel.
    pub(super) fn scale(&self, channel: usize) -> (f64, f64) {
        self.scales[channel]
    }

    /// The number of features of a channel of which nothing is known around a time.
    pub(super) fn seen_width(&self) -> usize {
        usize::from(self.joint.is_some())
            + usize::from(self.columns.factors.is_some())
            + OF_PERIOD_UNSEEN * self.periods.len()
    }

    pub(super) fn others(&self, channel: usize) -> &[usize] {
        match self.inputs.others {
            true => &self.columns.others[channel],
            false => &[],
        }
    }
}

/// The gap length in the middle of the missing cells.
fn usual_length(gaps: &Gaps) -> Option<f64> {
    let mut lengths: Vec<(f64, usize)> = gaps
        .all
        .iter()
        .map(|g| (g.length(), g.cells.max(1)))
        .collect();
    lengths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: usize = lengths.iter().map(|(_, cells)| cells).sum();
    let mut sum = 0;
    lengths.into_iter().find_map(|(length, cells)| {
        sum += cells;
        (2 * sum >= all).then_some(length)
    })
}

/// The features of one channel of one series, gap by gap; keeps what all cells of a gap share.
pub(super) struct Features<'a> {
    pub(super) design: &'a Design,
    profiles: &'a [Profile],
    pub(super) dense: &'a Dense<'a>,
    pub(super) series: &'a Series,
    pub(super) channel: usize,
    /// Times and values at which the channel is known.
    pub(super) knots: Vec<f64>,
    pub(super) known: Vec<f64>,
    pub(super) piece: Option<Piece>,
    /// What the known values around the gap lead to expect.
    guess: Guess,
    /// The other channels at both ends of the gap.
    others: Vec<Option<[f64; 2]>>,
    /// The first of them a step earlier and later, the same.
    lagged: Vec<Option<[f64; 2]>>,
    /// The channels that tell the factors, the same.
    loaded: Vec<Option<[f64; 2]>>,
    /// Own values around the gap in other cycles: [periods, cycles].
    cycles: Vec<Option<[f64; 2]>>,
    told: Vec<(usize, f64)>,
    /// What the other channels lead to expect, and that at both ends of the gap.
    asked: Option<Asked<'a>>,
    expected: [f64; 2],
    /// The part of the variance that they explained where it was last `seen`; 1 where there are none.
    pub(super) explained: f64,
    /// The features, in the order of the table above.
    pub(super) values: Vec<f64>,
}

impl<'a> Features<'a> {
    pub(super) fn new(
        design: &'a Design,
        profiles: &'a [Profile],
        dense: &'a Dense<'a>,
        channel: usize,
        purpose: Use,
    ) -> Self {
        let (knots, known) = dense.series.observed(channel);
        Self {
            design,
            profiles,
            dense,
            series: dense.series,
            channel,
            knots,
            known,
            piece: None,
            guess: Guess::default(),
            others: Vec::new(),
            lagged: Vec::new(),
            loaded: Vec::new(),
            cycles: Vec::new(),
            told: Vec::new(),
            asked: design
                .joint
                .as_ref()
                .and_then(|joint| joint.asked(dense.series, channel, purpose)),
            expected: [0.0; 2],
            explained: 1.0,
            values: vec![0.0; design.width(channel)],
        }
    }

    /// Goes to another gap.
    pub(super) fn enter(&mut self, piece: Piece) {
        if self.piece == Some(piece) {
            return;
        }
        let rows = [piece.start, piece.end].map(|time| row_from(self.series, time));
        let ends = |channel: usize| {
            let start = self.dense.look(channel, piece.start, rows[0])?;
            let end = self.dense.look(channel, piece.end, rows[1])?;
            Some([start.value, end.value])
        };
        self.others.clear();
        self.others
            .extend(self.design.others(self.channel).iter().map(|&k| ends(k)));
        let mut lagged = std::mem::take(&mut self.lagged);
        lagged.clear();
        for (channel, shift) in self.shifted() {
            let ends = [piece.start, piece.end].map(|end| self.look_at(channel, end + shift));
            lagged.push(match ends {
                [Some(start), Some(end)] => Some([start, end]),
                _ => None,
            });
        }
        self.lagged = lagged;
        self.loaded.clear();
        if let Some(factors) = &self.design.columns.factors {
            self.loaded
                .extend(factors.loaded[self.channel].iter().map(|&k| ends(k)));
        }
        if let Some(asked) = &mut self.asked {
            self.expected = rows.map(|row| asked.at(row).value);
        }
        self.cycles.clear();
        for &period in &self.design.periods {
            for cycle in CYCLES {
                let shifted = [piece.start, piece.end]
                    .map(|time| self.in_cycle(time + cycle * period, period));
                self.cycles.push(match shifted {
                    [Some(start), Some(end)] => Some([start, end]),
                    _ => None,
                });
            }
        }
        if let Some(covariance) = self.covariance() {
            self.guess = Guess::new(covariance, &self.knots, &self.known, piece.start);
        }
        self.piece = Some(piece);
    }

    fn covariance(&self) -> Option<&'a Covariance> {
        self.design.covariances[self.channel].as_ref()
    }

    /// Channels that are looked at a step earlier or later, and by how much.
    fn shifted(&self) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let (design, channel) = (self.design, self.channel);
        let others = design.others(channel).iter().take(LAGGED);
        others.flat_map(|&k| STEPS.map(|step| (k, step * design.usual)))
    }

    fn look_at(&self, channel: usize, time: f64) -> Option<f64> {
        self.dense
            .look(channel, time, row_from(self.series, time))
            .map(|look| look.value)
    }

    /// The own channel in another cycle, if it is known well enough.
    fn in_cycle(&self, time: f64, period: f64) -> Option<f64> {
        let Look { value, hole } =
            self.dense
                .look(self.channel, time, row_from(self.series, time))?;
        (hole <= HOLE_OF_PERIOD * period).then_some(value)
    }

    /// The features at a time inside the gap.
    pub(super) fn at(&mut self, time: f64) -> &[f64] {
        if let Some(piece) = self.piece {
            let mut values = std::mem::take(&mut self.values);
            values.clear();
            self.own(&piece, time, &mut values);
            self.season(&piece, time, &mut values);
            self.other_channels(&piece, time, &mut values);
            self.factors(&piece, time, &mut values);
            self.all_others(&piece, time, &mut values);
            self.values = values;
        }
        &self.values
    }

    fn own(&self, piece: &Piece, time: f64, values: &mut Vec<f64>) {
        if !self.design.inputs.own {
            return;
        }
        let part = piece.part(time);
        let bump = part * (1.0 - part);
        let (mean, scale) = self.design.scales[self.channel];
        let level = mean - piece.chord(part);
        let kriged = self.covariance().map_or(0.0, |covariance| {
            // Through noisy values it does not pass: within a row of them it fades.
            let near = match piece.is_edge() {
                true => (time - piece.start).abs(),
                false => (time - piece.start).min(piece.end - time),
            };
            let fade = (near / self.design.usual).clamp(0.0, 1.0);
            fade * (self.guess.at(covariance, time) - piece.chord(part))
        });
        values.push(kriged);
        if piece.is_edge() {
            let away = time - piece.start;
            let usual = self.design.usual.max(f64::MIN_POSITIVE);
            let by = |rows: f64| 1.0 - (-away.abs() / (rows * usual)).exp();
            let back = BACK.map(|rows| level * by(rows));
            let fade = |k: usize| piece.before[k] * away.signum() * FADE[k] * usual * by(FADE[k]);
            let drift = scale * by(BACK[1]) * away.signum();
            values.extend(back);
            values.extend([fade(0), fade(1), drift, 0.0, 0.0, 0.0, 0.0]);
            return;
        }
        let rows = piece.length() / self.design.usual.max(f64::MIN_POSITIVE);
        values.extend([
            piece.makima(part),
            piece.bend_before(part, piece.before[0]),
            piece.bend_after(part, piece.after[0]),
            piece.bend_before(part, piece.before[1]),
            piece.bend_after(part, piece.after[1]),
            bump * level,
            bump * bump * level,
            bump * scale,
            bump * (2.0 * part - 1.0) * scale,
            bump * rows.sqrt() * scale,
        ]);
    }

    fn season(&self, piece: &Piece, time: f64, values: &mut Vec<f64>) {
        let part = piece.part(time);
        let bump = part * (1.0 - part) * self.design.scales[self.channel].1;
        for (number, &period) in self.design.periods.iter().enumerate() {
            let profile = &self.profiles[number];
            let ends = [piece.start, piece.end].map(|time| profile.at(time));
            values.push(departure(part, profile.at(time), ends));
            let (mut near, mut far) = ((0.0, 0), (0.0, 0));
            for (place, cycle) in CYCLES.into_iter().enumerate() {
                let Some(ends) = self.cycles[number * CYCLES.len() + place] else {
                    continue;
                };
                if near.1 == NEAR && far.1 == FARTHER {
                    break;
                }
                if let Some(value) = self.in_cycle(time + cycle * period, period) {
                    let sum = if near.1 < NEAR { &mut near } else { &mut far };
                    sum.0 += departure(part, value, ends);
                    sum.1 += 1;
                }
            }
            let mean = |(sum, count): (f64, usize)| sum / count.max(1) as f64;
            let angle = |time: f64| TAU * (time - self.design.origin) / period;
            let (now, then) = (angle(time), angle(piece.start));
            let waves = if piece.is_edge() {
                let scale = self.design.scales[self.channel].1;
                [
                    scale * (now.sin() - then.sin()),
                    scale * (now.cos() - then.cos()),
                ]
            } else {
                [bump * now.sin(), bump * now.cos()]
            };
            values.extend([mean(near), mean(far)]);
            values.extend(waves);
        }
    }

    /// 0 at the ends of a gap, near 1 more than `rows` from them.
    fn taper(&self, piece: &Piece, time: f64, rows: f64) -> f64 {
        let near = match piece.is_edge() {
            true => (time - piece.start).abs(),
            false => (time - piece.start).min(piece.end - time),
        };
        let usual = self.design.usual.max(f64::MIN_POSITIVE);
        1.0 - (-near / (rows * usual)).exp()
    }

    fn other_channels(&self, piece: &Piece, time: f64, values: &mut Vec<f64>) {
        let part = piece.part(time);
        let row = row_from(self.series, time);
        let taper = self.taper(piece, time, TAPER);
        for (&channel, ends) in self.design.others(self.channel).iter().zip(&self.others) {
            let found = ends.and_then(|ends| {
                let Look { value, hole } = self.dense.look(channel, time, row)?;
                let departure = departure(part, value, ends);
                let close = hole <= CLOSE * self.design.usual;
                let level = taper * (value - self.design.scales[channel].0);
                Some([departure, if close { departure } else { 0.0 }, level])
            });
            values.extend(found.unwrap_or_default());
        }
        if !self.others.is_empty() {
            let (mean, _) = self.design.scales[self.channel];
            values.push(taper * (mean - piece.chord(part)));
        }
        for ((channel, shift), ends) in self.shifted().zip(&self.lagged) {
            let found = ends
                .and_then(|ends| Some(departure(part, self.look_at(channel, time + shift)?, ends)));
            values.push(found.unwrap_or(0.0));
        }
    }

    /// What the others together lead to expect, as far as they tell anything.
    fn all_others(&mut self, piece: &Piece, time: f64, values: &mut Vec<f64>) {
        let Some(expected) = self.expect(time) else {
            let width = if self.asked.is_some() { OF_JOINT } else { 0 };
            values.extend(std::iter::repeat_n(0.0, width));
            return;
        };
        let Expected { value, explained } = expected;
        let part = piece.part(time);
        let level = explained * (value - piece.chord(part));
        values.extend([
            explained * departure(part, value, self.expected),
            self.taper(piece, time, TAPER) * level,
            self.taper(piece, time, LONG_TAPER) * level,
        ]);
    }

    /// What is seen at a time without the channel itself: what the others lead to expect, the factors that they share, the
    /// profiles, and waves, since a profile of series that are shorter than the period knows nothing of their levels.
    pub(super) fn seen(&mut self, time: f64) -> &[f64] {
        let (mean, scale) = self.design.scales[self.channel];
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        if self.design.joint.is_some() {
            let expected = self.expect(time);
            self.explained = expected.map_or(1.0, |found| found.explained);
            values.push(expected.map_or(0.0, |found| found.value - mean));
        }
        if let Some(factors) = &self.design.columns.factors {
            let row = row_from(self.series, time);
            let told = factors.loaded[self.channel].iter().filter_map(|&k| {
                let look = self.dense.look(k, time, row)?;
                Some((k, look.value - self.design.scales[k].0))
            });
            self.told.clear();
            self.told.extend(told);
            values.push(factors.predict(self.channel, &self.told));
        }
        for (profile, period) in self.profiles.iter().zip(&self.design.periods) {
            values.push(profile.apart_at(time));
            let angle = TAU * (time - self.design.origin) / period;
            let waves = WAVES.map(|wave| (wave * angle).sin_cos());
            values.extend(
                waves
                    .iter()
                    .flat_map(|(sin, cos)| [scale * sin, scale * cos]),
            );
        }
        self.values = values;
        &self.values
    }

    pub(super) fn expect(&mut self, time: f64) -> Option<Expected> {
        let asked = self.asked.as_mut()?;
        let times = self.series.times();
        let row = row_from(self.series, time);
        if times.get(row) == Some(&time) {
            return Some(asked.at(row));
        }
        let before = row.checked_sub(1).filter(|_| row < times.len())?;
        let part = (time - times[before]) / (times[row] - times[before]);
        let [first, last] = [before, row].map(|row| asked.at(row));
        Some(Expected {
            value: (1.0 - part) * first.value + part * last.value,
            explained: first.explained.min(last.explained),
        })
    }

    /// Factors are known at rows; between them lies the straight line.
    fn factors(&mut self, piece: &Piece, time: f64, values: &mut Vec<f64>) {
        if self.design.columns.factors.is_none() {
            return;
        }
        let times = self.series.times();
        let row = row_from(self.series, time);
        if times.get(row) == Some(&time) {
            values.push(self.factors_at(piece, row));
            return;
        }
        let neighbours = [row.checked_sub(1), Some(row)].map(|row| {
            let row = row.filter(|&row| row < times.len())?;
            let inside = piece.is_edge() || times[row] > piece.start && times[row] < piece.end;
            let value = if inside {
                self.factors_at(piece, row)
            } else {
                0.0
            };
            Some((times[row], value))
        });
        values.push(match neighbours {
            [Some((before, first)), Some((after, last))] => {
                let part = (time - before) / (after - before);
                (1.0 - part) * first + part * last
            }
            _ => 0.0,
        });
    }

    fn factors_at(&mut self, piece: &Piece, row: usize) -> f64 {
        let Some(factors) = &self.design.columns.factors else {
            return 0.0;
        };
        let part = piece.part(self.series.times()[row]);
        self.told.clear();
        for (&channel, ends) in factors.loaded[self.channel].iter().zip(&self.loaded) {
            if let (Some(ends), Some(value)) = (*ends, self.series.value(row, channel)) {
                self.told.push((channel, departure(part, value, ends)));
            }
        }
        factors.predict(self.channel, &self.told)
    }
}
