//! Periods: of the calendar, and those that the data show.
//!
//! Where times are dates, day, week and year are tried. Beyond that the autocorrelation speaks: values
//! are put on a grid of the usual step (irregular times fall on the nearest place, holes stay empty),
//! slow movement is taken out, and
//!
//! $$ r(\ell) = \frac{\sum_i x_i x_{i+\ell}}{\sqrt{\sum_i x_i^2 \sum_i x_{i+\ell}^2}} \quad\text{over the pairs that are known,} $$
//!
//! averaged over the channels. A period is the first peak that is nearly as high as the highest. What a
//! period is worth is not decided here but on hidden values.

use crate::data::{Dataset, Series};
use crate::numeric::vector::{Loops, dot, vectorized};

const DAY: f64 = 86_400.0;
/// Day, week and the mean year of the Gregorian calendar.
const CALENDAR: [f64; 3] = [DAY, 7.0 * DAY, 365.2425 * DAY];
/// A period has at least so many rows, and the data last at least so many periods.
const FEWEST_ROWS: f64 = 4.0;
const FEWEST_CYCLES: f64 = 2.0;
/// Or the longest series lasts this part of it, and all together so many.
const LEAST_PART: f64 = 0.25;
const MANY_CYCLES: f64 = 10.0;
/// Most places of the grid, and channels, that are looked at.
const MOST_PLACES: usize = 8_000;
const MOST_LAGS: usize = 2_000;
const MOST_CHANNELS: usize = 6;
/// A peak of the autocorrelation is at least this high, and above the valley before it by as much.
const LEAST_PEAK: f64 = 0.15;
/// The first peak that reaches this part of the highest is the period; the others are its multiples.
const NEARLY: f64 = 0.85;
/// Periods that differ by less than this part are one.
const SAME: f64 = 0.04;
/// Most periods.
const MOST_PERIODS: usize = 3;

/// The periods to be tried: those `given`, otherwise those of the calendar, if times are `seconds` of
/// dates, and the one that the data show.
pub(super) fn periods(data: &Dataset, usual: f64, seconds: bool, given: &[f64]) -> Vec<f64> {
    let spans = || data.series().iter().map(span);
    let (longest, together) = (spans().fold(0.0, f64::max), spans().sum::<f64>());
    let fits = |period: f64| {
        // Many short series tell of a period that none of them tells of.
        let told = longest >= FEWEST_CYCLES * period
            || longest >= LEAST_PART * period && together >= MANY_CYCLES * period;
        period >= FEWEST_ROWS * usual && told && period.is_finite()
    };
    if !given.is_empty() {
        return given
            .iter()
            .copied()
            .filter(|&period| fits(period))
            .collect();
    }
    let mut found: Vec<f64> = match seconds {
        true => CALENDAR
            .into_iter()
            .filter(|&period| fits(period))
            .collect(),
        false => Vec::new(),
    };
    if usual > 0.0
        && let Some(period) = shown(data, usual)
    {
        let known = |other: &f64| {
            let ratio = period / other;
            ratio >= 0.9 && (ratio / ratio.round() - 1.0).abs() < SAME && ratio.round() < 9.0
        };
        if fits(period) && !found.iter().any(known) {
            found.push(period);
        }
    }
    found.truncate(MOST_PERIODS);
    found
}

fn span(series: &Series) -> f64 {
    match series.times() {
        [first, .., last] => last - first,
        _ => 0.0,
    }
}

/// The period that the longest series shows, if any.
fn shown(data: &Dataset, usual: f64) -> Option<f64> {
    let series = data.series().iter().max_by(|a, b| a.len().cmp(&b.len()))?;
    let every = series.channels().div_ceil(MOST_CHANNELS).max(1);
    let mut mean: Vec<f64> = Vec::new();
    let mut channels = 0.0;
    for channel in (0..series.channels()).step_by(every) {
        let Some(grid) = grid(series, channel, usual) else {
            continue;
        };
        let lags = (grid.len() / 2).min(MOST_LAGS);
        let found = autocorrelation(&grid, lags);
        mean.resize(mean.len().max(found.len()), 0.0);
        mean.iter_mut().zip(&found).for_each(|(sum, r)| *sum += r);
        channels += 1.0;
    }
    mean.iter_mut().for_each(|sum| *sum /= channels);
    let lag = first_high_peak(&mean)?;
    Some(lag * usual)
}

/// Values on a regular grid, NaN where none is known, without their slow movement: a straight line
/// through the first and second half.
fn grid(series: &Series, channel: usize, usual: f64) -> Option<Vec<f64>> {
    let (knots, known) = series.observed(channel);
    let (&first, &last) = (knots.first()?, knots.last()?);
    let places = ((last - first) / usual).round() as usize + 1;
    let places = places.min(MOST_PLACES);
    let mut grid = vec![f64::NAN; places];
    for (time, value) in knots.iter().zip(&known) {
        let place = ((time - first) / usual).round() as usize;
        if place < places {
            grid[place] = *value;
        }
    }
    let mean = |part: &[f64]| {
        let known = part.iter().filter(|value| !value.is_nan());
        let count = known.clone().count();
        (count > 0).then(|| known.sum::<f64>() / count as f64)
    };
    let (early, late) = grid.split_at(places / 2);
    let (early, late) = (mean(early)?, mean(late)?);
    let rise = (late - early) / (places as f64 / 2.0);
    let middle = 0.25 * places as f64;
    for (place, value) in grid.iter_mut().enumerate() {
        *value -= early + rise * (place as f64 - middle);
    }
    Some(grid)
}

fn autocorrelation(grid: &[f64], lags: usize) -> Vec<f64> {
    // Zeros and ones instead of holes: sums of products without a branch.
    let known: Vec<f64> = grid
        .iter()
        .map(|value| f64::from(u8::from(!value.is_nan())))
        .collect();
    let values: Vec<f64> = grid
        .iter()
        .map(|value| if value.is_nan() { 0.0 } else { *value })
        .collect();
    let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
    vectorized(Pairing {
        values: &values,
        squares: &squares,
        known: &known,
        lags,
    })
}

/// Products with what is so many places later.
struct Pairing<'a> {
    values: &'a [f64],
    squares: &'a [f64],
    known: &'a [f64],
    lags: usize,
}

impl Loops for Pairing<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Vec<f64> {
        let Self {
            values,
            squares,
            known,
            lags,
        } = self;
        let mut found = vec![0.0; lags];
        for (lag, found) in found.iter_mut().enumerate() {
            let rest = values.len() - lag;
            let both = dot(&values[..rest], &values[lag..]);
            let left = dot(&squares[..rest], &known[lag..]);
            let right = dot(&known[..rest], &squares[lag..]);
            let count = dot(&known[..rest], &known[lag..]);
            if count >= 8.0 && left * right > 0.0 {
                // Few pairs agree by chance.
                *found = both / (left * right).sqrt() * (1.0 - 4.0 / count);
            }
        }
        found
    }
}

/// The place of the first peak that is nearly as high as the highest, between the lags by a parabola.
fn first_high_peak(r: &[f64]) -> Option<f64> {
    let mut valley = f64::INFINITY;
    let mut peaks: Vec<usize> = Vec::new();
    for lag in 1..r.len().saturating_sub(1) {
        valley = valley.min(r[lag]);
        let top = r[lag] > r[lag - 1] && r[lag] >= r[lag + 1];
        if top && lag >= FEWEST_ROWS as usize && r[lag] > LEAST_PEAK && r[lag] - valley > LEAST_PEAK
        {
            peaks.push(lag);
        }
    }
    let highest = peaks.iter().map(|&lag| r[lag]).fold(0.0, f64::max);
    let lag = peaks.into_iter().find(|&lag| r[lag] >= NEARLY * highest)?;
    let (left, top, right) = (r[lag - 1], r[lag], r[lag + 1]);
    let bend = left - 2.0 * top + right;
    let shift = if bend < 0.0 {
        0.5 * (left - right) / bend
    } else {
        0.0
    };
    Some(lag as f64 + shift.clamp(-0.5, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn data(times: Vec<f64>, values: Vec<f64>) -> Dataset {
        let series = Series::new(None, 1, times, values).unwrap();
        Dataset::new(vec!["x".into()], vec![series]).unwrap()
    }

    #[test]
    fn a_period_is_found_through_noise_holes_and_a_trend() {
        let mut random = Random::new(2);
        let times: Vec<f64> = (0..600).map(f64::from).collect();
        let value = |t: &f64| {
            let hole = random.unit() < 0.3;
            let wave = (t / 17.3 * std::f64::consts::TAU).sin() + 0.01 * t;
            if hole {
                f64::NAN
            } else {
                wave + random.normal(0.0, 0.3)
            }
        };
        let values = times.iter().map(value).collect();
        let found = periods(&data(times, values), 1.0, false, &[]);
        assert!(
            (found[0] - 17.3).abs() < 0.4 && found.len() == 1,
            "{found:?}"
        );
    }

    #[test]
    fn noise_has_no_period_and_dates_have_those_of_the_calendar() {
        let mut random = Random::new(2);
        let times: Vec<f64> = (0..600).map(|k| 3600.0 * f64::from(k)).collect();
        let values = times.iter().map(|_| random.normal(0.0, 1.0)).collect();
        let data = data(times, values);
        assert!(periods(&data, 3600.0, false, &[]).is_empty());
        assert_eq!(periods(&data, 3600.0, true, &[]), [DAY, 7.0 * DAY]);
        assert_eq!(periods(&data, 3600.0, true, &[43_200.0, 1.0]), [43_200.0]);
    }

    #[test]
    fn many_short_series_have_the_day_that_none_of_them_lasts() {
        let series = |number: u32| {
            let times = (0..12).map(|k| 3600.0 * f64::from(12 * number + k));
            Series::new(None, 1, times.collect(), vec![0.0; 12]).unwrap()
        };
        let data =
            |count: u32| Dataset::new(vec!["x".into()], (0..count).map(series).collect()).unwrap();
        assert_eq!(periods(&data(40), 3600.0, true, &[]), [DAY]);
        assert!(periods(&data(10), 3600.0, true, &[]).is_empty());
        assert_eq!(periods(&data(40), 3600.0, false, &[DAY]), [DAY]);
    }
}
