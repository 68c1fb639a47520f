//! Beyond the first and the last known value of a channel.
//!
//! There is no chord: what is predicted is the departure from the nearest value. To learn it, a channel is cut off
//! at a random place, again and again, and what follows within the length of its real edges is predicted from
//! what is left of it and from the other channels. Where there are many series, many of them are cut, and they may be short:
//! they learn from each other. Parts of the known values are the folds of the cross-validation: what follows one
//! cut mostly follows another as well, so that cuts would be no folds. Where the folds do not agree that there is a gain,
//! the nearest value stays. Channels that are mostly known at the edges, but not where there is something to learn from, are
//! not looked at: what few rows say of them need not hold for the others. A series that knows nothing of a channel at all
//! has no nearest value: see `level`.

use super::design::{Design, Features, Profiles};
use super::joint::Use;
use super::level::Level;
use super::lookup::Dense;
use super::piece::Piece;
use super::profile::Profile;
use super::regression::Learner;
use super::regression::{trusted, usual_largest};
use super::stations::Stations;
use super::{Inputs, PredictOptions};
use crate::Error;
use crate::data::{Dataset, Random, Series};
use crate::evaluate::{Curve, Gaps, Interpolator, believed, set_column, slope};
use crate::numeric::vector::dot;
use crate::ridge::{Moments, cross_validated};
use rayon::prelude::*;
use std::sync::Arc;

/// Times a channel is cut off, at least and at most, and that of few series, the rows that all series that are cut may have
/// together beyond the least, and most values that a cut teaches.
const CUTS: std::ops::RangeInclusive<usize> = 10..=400;
const USUAL_CUTS: usize = 30;
const ROWS_OF_CUTS: usize = 100_000;
const OF_CUT: usize = 80;
/// Folds: as many as edges fit into the data, within these limits.
const FOLDS: std::ops::RangeInclusive<usize> = 3..=10;
/// Known values that stay before a cut. Of so many series that they learn from each other, a third of what is known of
/// one will do.
const STAY: usize = 20;
const MANY_SERIES: usize = 10;

/// Learns what lies beyond the known values of every channel of `data`: an interpolator that knows only this, with
/// deviations, and NaN elsewhere. `None` where nothing is missing there, or nothing can be learned of it.
///
/// # Errors
/// Only if series cannot be rebuilt, which would be a fault of this library.
pub fn predict_edges(
    data: &Dataset,
    options: &PredictOptions,
) -> Result<Option<Arc<dyn Interpolator>>, Error> {
    let stations = Stations::of(data)?;
    let data = stations.as_ref().map_or(data, |stations| &stations.data);
    let channels: Vec<usize> = (0..data.channels()).collect();
    let is_whole = |series: &Series, channel: usize| {
        let ends = [Some(0), series.len().checked_sub(1)].into_iter().flatten();
        series.is_empty()
            || ends
                .map(|row| series.value(row, channel))
                .all(|value| value.is_some())
    };
    let whole = |&channel: &usize| data.series().iter().all(|one| is_whole(one, channel));
    if channels.iter().all(whole) {
        return Ok(None);
    }
    let inputs = Inputs {
        own: true,
        season: true,
        others: true,
        factors: true,
    };
    let design = Design::new(data, &Gaps::find(data), inputs, options);
    let learn = |&channel: &usize| Edges::learn(&design, data, channel, options.seed);
    let edges: Result<Vec<_>, Error> = channels.par_iter().map(learn).collect();
    let edges = edges?;
    let profiles = design.profiles(data);
    let learn = |&channel: &usize| {
        is_unseen(data, channel)
            .then(|| Level::learn(&design, &profiles, data, channel, Learner::Ridge))
    };
    let unseen: Vec<Option<Level>> = channels.par_iter().map(learn).collect();
    if edges.iter().all(Option::is_none) && unseen.iter().all(Option::is_none) {
        return Ok(None);
    }
    Ok(Some(Arc::new(Learned {
        profiles,
        design,
        edges,
        unseen,
        stations,
    })))
}

/// Whether some series know nothing of a channel, and enough others know it.
fn is_unseen(data: &Dataset, channel: usize) -> bool {
    let all = data.series().iter();
    let knows =
        |series: &&Series| (0..series.len()).any(|row| series.value(row, channel).is_some());
    let known = all.filter(knows).count();
    known < data.len() && known >= MANY_SERIES
}

/// What was learned of all channels.
#[derive(Clone, Debug)]
struct Learned {
    design: Design,
    profiles: Profiles,
    edges: Vec<Option<Edges>>,
    unseen: Vec<Option<Level>>,
    stations: Option<Stations>,
}

impl Interpolator for Learned {
    fn name(&self) -> &str {
        "edges"
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let wide = Stations::wide(self.stations.as_ref(), series, self.edges.len())?;
        let (series, first) = wide
            .as_ref()
            .map_or((series, 0), |(wide, first)| (wide, *first));
        let dense = Dense::new(series);
        let mut curve = Curve::from(vec![f64::NAN; times.len() * channels.len()]);
        let mut std_devs = curve.values.clone();
        for (place, &channel) in channels.iter().enumerate() {
            let channel = first + channel;
            if self.edges[channel].is_none() && self.unseen[channel].is_none() {
                continue;
            }
            let profiles = &self.profiles[channel];
            let unlike = self.edges[channel].as_ref().map(|edges| &edges.unlike);
            let own = match unlike.filter(|unlike| !unlike.is_empty()) {
                Some(unlike) => Some(series.with_values(values_without(series, unlike))?),
                None => None,
            };
            let own = own.as_ref().map(Dense::new);
            let dense = own.as_ref().unwrap_or(&dense);
            let mut features = Features::new(&self.design, profiles, dense, channel, Use::Filling);
            let found = match features.knots.is_empty() {
                true => (self.unseen[channel].as_ref())
                    .map(|unseen| unseen.values(&mut features, times)),
                false => {
                    (self.edges[channel].as_ref()).map(|edges| edges.values(&mut features, times))
                }
            };
            let Some((values, sizes)) = found else {
                continue;
            };
            set_column(&mut curve.values, channels.len(), place, &values);
            set_column(&mut std_devs, channels.len(), place, &sizes);
        }
        curve.std_devs = Some(std_devs);
        Ok(curve)
    }
}

/// What was learned of the edges of one channel.
#[derive(Clone, Debug)]
struct Edges {
    /// Channels that are not looked at.
    unlike: Vec<usize>,
    coefficients: Vec<f64>,
    largest: f64,
    /// Mean square of the errors: at a distance of this many rows, doubling.
    errors: Vec<(f64, f64)>,
    usual: f64,
}

/// A stretch at the beginning or the end of a series in which a channel has no value.
struct Stretch {
    series: usize,
    leading: bool,
    length: f64,
}

/// A value beyond a cut.
struct Sample {
    /// Where it lies among the known values of all series, 0 to 1.
    place: f64,
    features: Vec<f64>,
    target: f64,
    rows: f64,
}

impl Edges {
    /// Of a channel of `data`; `None` if it has no edges, or if nothing can be learned of them.
    ///
    /// # Errors
    /// Only if series cannot be rebuilt, which would be a fault of this library.
    fn learn(
        design: &Design,
        data: &Dataset,
        channel: usize,
        seed: u64,
    ) -> Result<Option<Self>, Error> {
        let stretches = stretches(data, channel);
        if stretches.is_empty() {
            return Ok(None);
        }
        let unlike = unlike(data, channel);
        let mut random = Random::stream(seed ^ 0x6564_6765, channel as u64);
        let mut samples = Vec::new();
        let rows = data.rows();
        let affordable = ROWS_OF_CUTS / (rows / data.len()).max(1);
        let cuts = stretches.len().max(USUAL_CUTS).min(affordable);
        let mut starts = vec![0];
        for series in data.series() {
            starts.push(starts[starts.len() - 1] + known_rows(series, channel).count());
        }
        // One of many series changes the profile of all but little.
        let profiles = (data.len() > 1).then(|| design.profile(data, channel));
        for _ in 0..cuts.clamp(*CUTS.start(), *CUTS.end()) {
            let stretch = &stretches[random.below(stretches.len())];
            let cut = Cut {
                design,
                data,
                channel,
                stretch,
                starts: &starts,
                unlike: &unlike,
                profiles: profiles.as_deref(),
            };
            cut.off(&mut random, &mut samples)?;
        }
        let mean = stretches.iter().map(|one| one.length).sum::<f64>() / stretches.len() as f64;
        let fit = starts[data.len()] as f64 * design.usual / mean;
        let folds = (fit as usize).clamp(*FOLDS.start(), *FOLDS.end());
        Ok(Self::fit(design, channel, unlike, &samples, folds))
    }

    fn fit(
        design: &Design,
        channel: usize,
        unlike: Vec<usize>,
        samples: &[Sample],
        count: usize,
    ) -> Option<Self> {
        let width = design.width(channel);
        let fold = |one: &Sample| ((one.place * count as f64) as usize).min(count - 1);
        let mut folds = vec![Moments::new(width); count];
        for one in samples {
            folds[fold(one)].add(&one.features, one.target);
        }
        let numbers: Vec<usize> = (0..count).filter(|&fold| folds[fold].count > 0).collect();
        let folds: Vec<&Moments> = numbers.iter().map(|&fold| &folds[fold]).collect();
        if folds.len() < 3 {
            return None;
        }
        let nothing = vec![vec![0.0; width]; folds.len() + 1];
        let mut found = cross_validated(&folds, width, &nothing);
        let follow = folds.iter().zip(&found);
        let (slope, sure) = slope(follow.map(|(fold, beta)| fold.follow(beta)));
        let step = (slope * believed(sure, folds.len())).clamp(0.0, 1.0);
        if step <= 0.0 {
            return None;
        }
        for coefficient in found.iter_mut().flatten() {
            *coefficient *= step;
        }
        let trusted = trusted(&folds, &found);
        let mut sizes: Vec<f64> = samples.iter().map(|one| one.target.abs()).collect();
        let mut errors: Vec<(f64, f64, f64)> = Vec::new();
        for one in samples {
            let place = numbers.iter().position(|&number| number == fold(one))?;
            let error = one.target - dot(&found[place], &one.features);
            let class = one.rows.max(1.0).log2() as usize;
            if errors.len() <= class {
                errors.resize(class + 1, (0.0, 0.0, 0.0));
            }
            let sums = &mut errors[class];
            *sums = (sums.0 + one.rows, sums.1 + error * error, sums.2 + 1.0);
        }
        let errors = errors.into_iter().filter(|sums| sums.2 > 0.0);
        Some(Self {
            unlike,
            coefficients: found.pop()?,
            largest: trusted * usual_largest(&mut sizes),
            errors: errors.map(|(rows, sum, n)| (rows / n, sum / n)).collect(),
            usual: design.usual,
        })
    }

    /// Values and their deviations at times beyond the known values; NaN at others.
    fn values(&self, features: &mut Features<'_>, times: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut beyond = |time: f64| {
            let (&first, &last) = (features.knots.first()?, features.knots.last()?);
            if (first..=last).contains(&time) {
                return None;
            }
            let piece = Piece::beyond(&features.knots, &features.known, time);
            features.enter(piece);
            let departure = dot(&self.coefficients, features.at(time));
            let rows = (time - piece.start).abs() / self.usual.max(f64::MIN_POSITIVE);
            let nearest = |a: &&(f64, f64), b: &&(f64, f64)| {
                (a.0 - rows).abs().total_cmp(&(b.0 - rows).abs())
            };
            let error = self
                .errors
                .iter()
                .min_by(nearest)
                .map_or(0.0, |found| found.1);
            Some((
                piece.first + departure.clamp(-self.largest, self.largest),
                error.sqrt(),
            ))
        };
        let found = times
            .iter()
            .map(|&time| beyond(time).unwrap_or((f64::NAN, f64::NAN)));
        found.unzip()
    }
}

/// Other channels whose part of known values is less than half as large where a channel is known as it is at its edges.
fn unlike(data: &Dataset, channel: usize) -> Vec<usize> {
    // Of every channel: values at the edges, and where this one is known.
    let mut counts = vec![[0.0; 2]; data.channels()];
    let mut rows = [0.0f64; 2];
    for series in data.series() {
        let Some((first, last)) = known_ends(series, channel) else {
            continue;
        };
        for row in 0..series.len() {
            let place = match series.value(row, channel) {
                _ if row < first || row > last => 0,
                Some(_) => 1,
                None => continue,
            };
            rows[place] += 1.0;
            for (count, value) in counts.iter_mut().zip(series.row(row)) {
                count[place] += f64::from(u8::from(!value.is_nan()));
            }
        }
    }
    let is_unlike = |other: &usize| {
        let [edge, inside] = [0, 1].map(|place| counts[*other][place] / rows[place].max(1.0));
        *other != channel && inside < 0.5 * edge
    };
    (0..data.channels()).filter(is_unlike).collect()
}

/// Rows in which a channel has a value.
fn known_rows(series: &Series, channel: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..series.len()).filter(move |&row| series.value(row, channel).is_some())
}

/// The first and the last of them.
fn known_ends(series: &Series, channel: usize) -> Option<(usize, usize)> {
    let mut rows = known_rows(series, channel);
    let first = rows.next()?;
    Some((first, rows.next_back().unwrap_or(first)))
}

/// The values of a series, of which some channels know nothing.
fn values_without(series: &Series, channels: &[usize]) -> Vec<f64> {
    let mut values = series.values().to_vec();
    for row in values.chunks_exact_mut(series.channels()) {
        channels.iter().for_each(|&channel| row[channel] = f64::NAN);
    }
    values
}

fn stretches(data: &Dataset, channel: usize) -> Vec<Stretch> {
    let mut found = Vec::new();
    for (number, series) in data.series().iter().enumerate() {
        let times = series.times();
        let Some((first, last)) = known_ends(series, channel) else {
            continue;
        };
        let mut add = |leading: bool, length: f64| {
            if length > 0.0 {
                found.push(Stretch {
                    series: number,
                    leading,
                    length,
                });
            }
        };
        add(true, times[first] - times[0]);
        add(false, times[times.len() - 1] - times[last]);
    }
    found
}

/// A channel that is cut off somewhere, as it is at one of its edges.
struct Cut<'a> {
    design: &'a Design,
    data: &'a Dataset,
    channel: usize,
    stretch: &'a Stretch,
    /// Known values of the channel in all series before each, and in all.
    starts: &'a [usize],
    /// Channels that are not looked at.
    unlike: &'a [usize],
    /// Of all series; of one, what is left of it must tell.
    profiles: Option<&'a [Profile]>,
}

impl Cut<'_> {
    /// Cuts at a random place and adds what follows.
    fn off(&self, random: &mut Random, samples: &mut Vec<Sample>) -> Result<(), Error> {
        let Self {
            design,
            data,
            channel,
            stretch,
            starts,
            unlike,
            ..
        } = *self;
        let series = &data.series()[stretch.series];
        let rows: Vec<usize> = known_rows(series, channel).collect();
        let stay = match data.len() < MANY_SERIES {
            true => STAY,
            false => (rows.len() / 3).clamp(1, STAY),
        };
        if rows.len() < 2 * stay {
            return Ok(());
        }
        let place = stay + random.below(rows.len() - 2 * stay + 1);
        let (anchor, beyond): (usize, Vec<usize>) = match stretch.leading {
            true => (rows[place], rows[..place].iter().rev().copied().collect()),
            false => (rows[place - 1], rows[place..].to_vec()),
        };
        let mut values = values_without(series, unlike);
        for row in &beyond {
            values[row * series.channels() + channel] = f64::NAN;
        }
        let sight = series.with_values(values)?;
        let own;
        let profiles = match self.profiles {
            Some(profiles) => profiles,
            None => {
                let alone = Dataset::new(data.channel_names().to_vec(), vec![sight.clone()])?;
                own = design.profile(&alone, channel);
                &own
            }
        };
        let dense = Dense::new(&sight);
        let mut features = Features::new(design, profiles, &dense, channel, Use::Learning);
        let times = series.times();
        let (before, all) = (starts[stretch.series], starts[data.len()]);
        let near = |row: &&usize| (times[**row] - times[anchor]).abs() <= stretch.length;
        let near: Vec<usize> = beyond.iter().filter(near).copied().collect();
        for &row in near.iter().step_by(near.len().div_ceil(OF_CUT).max(1)) {
            let piece = Piece::beyond(&features.knots, &features.known, times[row]);
            features.enter(piece);
            samples.push(Sample {
                place: (before + rows.partition_point(|&one| one < row)) as f64 / all as f64,
                features: features.at(times[row]).to_vec(),
                target: series.row(row)[channel] - piece.first,
                rows: (times[row] - times[anchor]).abs() / design.usual.max(f64::MIN_POSITIVE),
            });
        }
        Ok(())
    }
}
