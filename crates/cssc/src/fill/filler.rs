//! Fills a series: its holes, or the times asked for.

use super::asked::Asked;
use super::parts::{PARTS_AT_ONCE, Part};
use crate::Error;
use crate::data::{Filled, Series};
use crate::evaluate::{
    BandCalibration, Bounds, Curve, Interpolator, Spread, curve_within, is_within, part_of_others,
};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Everything needed to fill series.
#[derive(Clone, Debug)]
pub struct Filler {
    /// The methods at hand.
    pub candidates: Vec<Arc<dyn Interpolator>>,
    /// Which of them fills each channel.
    pub chosen: Vec<usize>,
    /// Bounds of what is filled in.
    pub bounds: Bounds,
    /// Channels that are filled; the others only help. `None`: all.
    pub targets: Option<Vec<usize>>,
    /// Longer gaps stay empty.
    pub longest_gap: Option<f64>,
    /// Outside its first and last value a channel is filled with the nearer of them.
    pub extrapolate: bool,
    /// What is filled in there instead, where it knows something.
    pub beyond: Option<Arc<dyn Interpolator>>,
    /// Bands around filled values.
    pub bands: Option<BandCalibration>,
}

/// What is filled in at the times asked for; blocks are [times, channels].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Values within bounds, NaN where nothing is filled in.
    pub values: Vec<f64>,
    /// Lower and upper ends of the bands, if they are wanted.
    pub bands: Option<[Vec<f64>; 2]>,
    /// The curves themselves, everywhere.
    pub curve: Curve,
}

impl Filler {
    /// One method for all channels; every gap is filled, nothing outside, without bands.
    #[must_use]
    pub fn new(interpolator: Arc<dyn Interpolator>, bounds: Bounds, channels: usize) -> Self {
        Self {
            candidates: vec![interpolator],
            chosen: vec![0; channels],
            bounds,
            targets: None,
            longest_gap: None,
            extrapolate: false,
            beyond: None,
            bands: None,
        }
    }

    /// Fills a series.
    ///
    /// # Errors
    /// If the series does not fit an interpolator.
    pub fn fill(&self, series: &Series, asked: &Asked) -> Result<Filled, Error> {
        self.fill_with(series, asked, &|_| ControlFlow::Continue(()))
    }

    /// The same; `watch` hears how many rows are about to be filled, part by part of a long series, and may end it.
    ///
    /// # Errors
    /// As [`Filler::fill`], and [`Error::Stopped`] if `watch` ends it.
    pub fn fill_with(
        &self,
        series: &Series,
        asked: &Asked,
        watch: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
    ) -> Result<Filled, Error> {
        let channels = series.channels();
        let (new_times, kept) = asked.rows(series);
        // New rows need all channels, holes only those that have some.
        let has_holes = |&c: &usize| (0..series.len()).any(|row| series.value(row, c).is_none());
        let wanted: Vec<usize> = (0..channels)
            .filter(|c| !new_times.is_empty() || has_holes(c))
            .collect();
        let empty = |rows: usize| vec![f64::NAN; rows * channels];
        let bands = |rows: usize| self.bands.as_ref().map(|_| [empty(rows), empty(rows)]);
        let mut filled = Filled {
            values: series.values().to_vec(),
            new_values: empty(new_times.len()),
            bands: bands(series.len()),
            new_bands: bands(new_times.len()),
            new_times,
            kept,
        };
        let parts = Part::all(series, &filled.new_times);
        for several in parts.chunks(PARTS_AT_ONCE) {
            let ask = |part: &Part| {
                if watch(part.len()).is_break() {
                    return Err(Error::Stopped);
                }
                let rows = part.rows(series)?;
                let query = part.query(series, &filled.new_times);
                let answer = self.answer(&rows, ends(series), &wanted, &query)?;
                Ok((query, answer))
            };
            let answers: Result<Vec<_>, Error> = several.par_iter().map(ask).collect();
            for (part, (query, answer)) in several.iter().zip(answers?) {
                part.copy(series, &wanted, &query, &answer, &mut filled);
            }
        }
        Ok(filled)
    }

    /// Values and bands at increasing times, as they are filled in.
    ///
    /// # Errors
    /// If the series does not fit an interpolator.
    pub fn at(&self, series: &Series, times: &[f64]) -> Result<Answer, Error> {
        let all: Vec<usize> = (0..series.channels()).collect();
        let mut found = Answer {
            bands: self.bands.as_ref().map(|_| Default::default()),
            ..Answer::default()
        };
        for part in Part::all(series, times) {
            let asked = &times[part.added()];
            if !asked.is_empty() {
                let answer = self.answer(&*part.rows(series)?, ends(series), &all, asked)?;
                found.append(answer);
            }
        }
        Ok(found)
    }

    /// The same of some channels of a series whose first and last times are `ends`, of which `series` are the rows in
    /// sight.
    fn answer(
        &self,
        series: &Series,
        ends: (f64, f64),
        channels: &[usize],
        times: &[f64],
    ) -> Result<Answer, Error> {
        if times.is_empty() || channels.is_empty() || series.is_empty() {
            return Ok(Answer {
                bands: self.bands.as_ref().map(|_| Default::default()),
                ..Answer::default()
            });
        }
        let mut curve = self.curve(series, channels, times)?;
        if let Some(beyond) = self.beyond.as_ref().filter(|_| self.extrapolate) {
            curve.complete(&beyond.curve(series, channels, times)?);
        }
        let mut values = curve.values.clone();
        let mut bands =
            (self.bands.as_ref()).map(|bands| self.ends(bands, series, channels, times, &curve));
        for (place, &channel) in channels.iter().enumerate() {
            let (knots, known) = series.observed(channel);
            let known = Known {
                number: channel,
                knots: &knots,
                values: &known,
                ends,
            };
            for (row, &time) in times.iter().enumerate() {
                let at = row * channels.len() + place;
                values[at] = self.cell(&known, time, values[at]);
                if values[at].is_nan() {
                    bands
                        .iter_mut()
                        .flatten()
                        .for_each(|end| end[at] = f64::NAN);
                }
            }
        }
        Ok(Answer {
            values,
            bands,
            curve,
        })
    }

    /// The curves of the channels, each by its own interpolator.
    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let (width, size) = (channels.len(), times.len() * channels.len());
        let mut merged = Curve::from(vec![f64::NAN; size]);
        for (number, candidate) in self.candidates.iter().enumerate() {
            let places: Vec<usize> = (0..width)
                .filter(|&place| self.chosen[channels[place]] == number)
                .collect();
            if places.is_empty() {
                continue;
            }
            let own: Vec<usize> = places.iter().map(|&place| channels[place]).collect();
            let curve = curve_within(candidate.as_ref(), series, &own, times)?;
            let copy = |to: &mut Vec<f64>, from: &[f64]| {
                for (to, from) in to.chunks_mut(width).zip(from.chunks(places.len())) {
                    let cells = places.iter().zip(from);
                    cells.for_each(|(&place, from)| to[place] = *from);
                }
            };
            copy(&mut merged.values, &curve.values);
            let parts = [
                (&mut merged.predicted, &curve.predicted),
                (&mut merged.compensation, &curve.compensation),
                (&mut merged.std_devs, &curve.std_devs),
            ];
            for (to, from) in parts {
                if let Some(from) = from {
                    copy(to.get_or_insert_with(|| vec![f64::NAN; size]), from);
                }
            }
        }
        Ok(merged)
    }

    /// Lower and upper ends of bands around the curves.
    fn ends(
        &self,
        bands: &BandCalibration,
        series: &Series,
        channels: &[usize],
        times: &[f64],
        curve: &Curve,
    ) -> [Vec<f64>; 2] {
        let std_devs = std_devs(&bands.spreads, series, channels, times, curve);
        let end = |sign: f64| {
            let ends = curve.values.iter().zip(&std_devs).enumerate();
            let ends = ends.map(|(at, (value, std_dev))| {
                let channel = channels[at % channels.len()];
                let end = value + sign * bands.factors[channel] * std_dev;
                self.bounds.clamp(channel, end)
            });
            ends.collect()
        };
        [end(-1.0), end(1.0)]
    }

    /// What is filled in at one time of a channel: `value` in gaps, the nearest value outside.
    fn cell(&self, channel: &Known<'_>, time: f64, value: f64) -> f64 {
        let Known { number, knots, .. } = channel;
        let next = knots.partition_point(|&knot| knot < time);
        if knots.get(next) == Some(&time) {
            return channel.values[next];
        }
        if self
            .targets
            .as_ref()
            .is_some_and(|targets| !targets.contains(number))
        {
            return f64::NAN;
        }
        // A stretch outside reaches to the end of the series, or of what is asked.
        let (first, last) = channel.ends;
        let start = next.checked_sub(1).map(|before| knots[before]);
        let end = knots.get(next).copied();
        let from = start.unwrap_or(first.min(time));
        let to = end.unwrap_or(last.max(time));
        let too_long = |longest: f64| !is_within(from, to, longest);
        if self.longest_gap.is_some_and(too_long) {
            return f64::NAN;
        }
        match (start, end) {
            (Some(_), Some(_)) => self.bounds.apply(*number, value),
            _ if self.extrapolate && !value.is_nan() => self.bounds.apply(*number, value),
            (None, Some(_)) if self.extrapolate => channel.values[0],
            (Some(_), None) if self.extrapolate => channel.values[next - 1],
            _ => f64::NAN,
        }
    }
}

/// Deviations as the interpolators tell them, otherwise the sizes of their errors.
fn std_devs(
    spreads: &[Spread],
    series: &Series,
    channels: &[usize],
    times: &[f64],
    curve: &Curve,
) -> Vec<f64> {
    let width = channels.len();
    let size = times.len() * width;
    let mut std_devs = curve.std_devs.clone().unwrap_or(vec![f64::NAN; size]);
    for (place, &channel) in channels.iter().enumerate() {
        let Some(spread) = spreads.get(channel) else {
            continue;
        };
        let (knots, _) = series.observed(channel);
        let within = |time: &f64| knots.first() <= Some(time) && Some(time) <= knots.last();
        let column = std_devs.iter().skip(place).step_by(width).zip(times);
        let mut told = column.filter(|(_, time)| within(time));
        if told.any(|(std_dev, _)| !std_dev.is_nan()) {
            continue;
        }
        let cells = std_devs.iter_mut().skip(place).step_by(width);
        for (cell, time) in cells.zip(times) {
            let after = knots.partition_point(|knot| knot < time);
            if let (Some(before), Some(end)) = (after.checked_sub(1), knots.get(after)) {
                let gap = end - knots[before];
                let part = (time - knots[before]) / gap;
                *cell = spread.at(gap, part, alone(series, channel, *time));
            }
        }
    }
    std_devs
}

/// The part of the other channels that are not known at a time.
fn alone(series: &Series, channel: usize, time: f64) -> f64 {
    let row = series.times().partition_point(|&other| other < time);
    let others = (0..series.channels()).filter(|&other| other != channel);
    let unknown = match series.times().get(row) == Some(&time) {
        true => others
            .filter(|&other| series.value(row, other).is_none())
            .count(),
        false => others.count(),
    };
    part_of_others(unknown, series.channels())
}

/// What is known of a channel.
struct Known<'a> {
    number: usize,
    knots: &'a [f64],
    values: &'a [f64],
    /// First and last time of the series.
    ends: (f64, f64),
}

/// First and last time of a series.
fn ends(series: &Series) -> (f64, f64) {
    match series.times() {
        [] => (f64::NAN, f64::NAN),
        times => (times[0], times[times.len() - 1]),
    }
}

impl Answer {
    /// Adds what is said of later times.
    fn append(&mut self, later: Self) {
        self.values.extend(later.values);
        for (bands, more) in self.bands.iter_mut().zip(later.bands) {
            let ends = bands.iter_mut().zip(more);
            ends.for_each(|(end, more)| end.extend(more));
        }
        self.curve.append(later.curve);
    }

    /// Copies the entry `from` to place `to` of a block of values and its bands.
    pub(super) fn copy(
        &self,
        from: usize,
        values: &mut [f64],
        bands: &mut Option<[Vec<f64>; 2]>,
        to: usize,
    ) {
        values[to] = self.values[from];
        if let (Some(bands), Some(found)) = (bands, &self.bands) {
            (0..2).for_each(|end| bands[end][to] = found[end][from]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Hidden;
    use crate::fill::Method;

    const NAN: f64 = f64::NAN;

    fn filler(channels: usize) -> Filler {
        let linear = Method::named("linear").unwrap().plain().unwrap();
        Filler::new(linear, Bounds::none(channels), channels)
    }

    /// One channel: missing, 0, missing, 2, missing x 3, 10, missing at times 0..8.
    fn series() -> Series {
        let values = vec![NAN, 0.0, NAN, 2.0, NAN, NAN, NAN, 10.0, NAN];
        Series::new(None, 1, (0..9).map(f64::from).collect(), values).unwrap()
    }

    /// Equal, where NaN equals NaN.
    fn same(found: &[f64], wanted: &[f64]) {
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"));
    }

    #[test]
    fn holes_inside_are_filled_and_the_outside_stays_empty() {
        let filled = filler(1).fill(&series(), &Asked::Holes).unwrap();
        same(
            &filled.values,
            &[NAN, 0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, NAN],
        );
        assert!(filled.new_times.is_empty() && filled.kept.is_none());
    }

    /// The outside before the first value is 1 long, that after the last 3.
    #[test]
    fn the_outside_obeys_the_longest_gap_as_well() {
        let values = vec![NAN, 1.0, 2.0, NAN, NAN, NAN];
        let series = Series::new(None, 1, (0..6).map(f64::from).collect(), values).unwrap();
        let fill = |longest: f64| {
            let mut filler = filler(1);
            filler.longest_gap = Some(longest);
            filler.extrapolate = true;
            filler.fill(&series, &Asked::Holes).unwrap().values
        };
        same(&fill(1.0), &[1.0, 1.0, 2.0, NAN, NAN, NAN]);
        same(&fill(3.0), &[1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn long_gaps_stay_empty_and_the_outside_is_filled_on_request() {
        let mut filler = filler(1);
        filler.longest_gap = Some(2.0);
        filler.extrapolate = true;
        let filled = filler.fill(&series(), &Asked::Holes).unwrap();
        same(
            &filled.values,
            &[0.0, 0.0, 1.0, 2.0, NAN, NAN, NAN, 10.0, 10.0],
        );
    }

    /// Channel a has no hole and is left alone; b is filled by its own method.
    #[test]
    fn every_channel_is_filled_by_its_own_method() {
        let values = vec![0.0, 0.0, 1.0, NAN, 2.0, NAN, 3.0, 9.0];
        let series = Series::new(None, 2, vec![0.0, 1.0, 2.0, 3.0], values).unwrap();
        let mut filler = filler(2);
        let previous = Method::named("previous").unwrap().plain().unwrap();
        filler.candidates.push(previous);
        let values = |chosen: [usize; 2], asked: &Asked| {
            let mut filler = filler.clone();
            filler.chosen = chosen.to_vec();
            filler.fill(&series, asked).unwrap()
        };
        let linear = values([0, 0], &Asked::Holes).values;
        assert_eq!(linear, [0.0, 0.0, 1.0, 3.0, 2.0, 6.0, 3.0, 9.0]);
        let mixed = values([0, 1], &Asked::Holes).values;
        assert_eq!(mixed, [0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 9.0]);
        let rows = values([1, 0], &Asked::Every(0.5)).new_values;
        assert_eq!(rows, [0.0, 1.5, 1.0, 4.5, 2.0, 7.5]);
    }

    /// A method that tells its deviations keeps them; the others get the sizes of their errors.
    #[test]
    fn bands_are_made_of_deviations_that_are_told_or_measured() {
        let values = (0..50)
            .map(|k| f64::from(k) + f64::from(k * k % 5))
            .collect::<Vec<_>>();
        let times: Vec<f64> = (0..50).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        let width = |name: &str| {
            let method = Method::named(name).unwrap().plain().unwrap();
            let mut filler = Filler::new(method, Bounds::none(1), 1);
            let hidden = Hidden {
                series: 0,
                row: 1,
                channel: 0,
                value: 0.5,
                gap: 2.0,
                part: 0.5,
                alone: 0.0,
            };
            filler.bands = Some(BandCalibration {
                level: 0.9,
                factors: vec![2.0],
                spreads: Spread::of_channels(1, &[hidden], &[0.0], 0.9),
                memories: vec![0.0],
            });
            let [lower, upper] = filler.at(&series, &[7.5]).unwrap().bands.unwrap();
            upper[0] - lower[0]
        };
        // The size of the only error, 0.5, counts as 1.645 deviations, and one witness is few.
        let normal = 1.644_853_626_951_473;
        let size = 0.5 / normal * (1.0 + (1.0 + normal * normal) / 4.0);
        assert!((width("linear") - 2.0 * 2.0 * size).abs() < 1e-12);
        let told = Method::named("smoothing").unwrap().plain().unwrap();
        let told = told.curve(&series, &[0], &[7.5]).unwrap().std_devs.unwrap()[0];
        assert!((width("smoothing") - 4.0 * told).abs() < 1e-12);
    }

    #[test]
    fn times_asked_for_get_rows_even_where_there_is_nothing_to_say() {
        let asked = Asked::OnlyAt(vec![-1.0, 2.5, 3.0]);
        let filled = filler(1).fill(&series(), &asked).unwrap();
        assert_eq!(filled.new_times, [-1.0, 2.5]);
        same(&filled.new_values, &[NAN, 1.5]);
        assert_eq!(filled.kept, Some(vec![3]));
    }
}
