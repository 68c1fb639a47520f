//! Round numbers and dates for the axes.
//!
//! Dates are cut where people cut them: at full hours, midnights, first days of months and years of the zone shown, so that
//! a day of 23 hours has its ticks right. A second line under the ticks gives the day or the year
//! when it changes.

use crate::content::TimeAxis;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
    /// For the line below: the day of an hour, the year of a month.
    pub(crate) context: Option<String>,
}

/// Marks of the time axis from `start` to `end`, not many more than `most`.
pub(crate) fn of_time(axis: &TimeAxis, start: f64, end: f64, most: usize) -> Vec<Tick> {
    let dates = match axis {
        TimeAxis::Number => None,
        TimeAxis::Timestamp(zone) => dates(zone, start, end, most),
    };
    dates.unwrap_or_else(|| of_numbers(start, end, most))
}

/// Marks at multiples of 1, 2 or 5 times a power of ten, not more than `most`.
pub(crate) fn of_numbers(start: f64, end: f64, most: usize) -> Vec<Tick> {
    let step = round_step((end - start) / most.max(1) as f64);
    if !step.is_normal() {
        return Vec::new();
    }
    let first = (start / step).ceil();
    let last = (end / step).floor();
    let labels = Labels::new(step, start.abs().max(end.abs()));
    // Whole multiples, each rounded once: adding up would gather errors.
    let count = (last - first).max(-1.0) as usize + usize::from(last >= first);
    (0..count)
        .map(|k| (first + k as f64) * step)
        .map(|at| Tick {
            at,
            label: labels.write(at),
            context: None,
        })
        .collect()
}

/// The smallest of 1, 2, 5, 10, … times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let found = factors.into_iter().find(|factor| factor * power >= least);
    found.unwrap_or(10.0) * power
}

/// How numbers that differ by `step` are written.
struct Labels {
    decimals: usize,
    exponent: bool,
}

impl Labels {
    fn new(step: f64, largest: f64) -> Self {
        let exponent = !(1e-4..1e7).contains(&largest);
        let unit = if exponent {
            step / 10f64.powf(largest.log10().floor())
        } else {
            step
        };
        let decimals = (-unit.log10() - 1e-9).ceil().clamp(0.0, 15.0) as usize;
        Self { decimals, exponent }
    }

    fn write(&self, number: f64) -> String {
        let decimals = self.decimals;
        let text = match self.exponent {
            true if number != 0.0 => format!("{number:.decimals$e}"),
            true => "0".to_owned(),
            false => format!("{number:.decimals$}"),
        };
        // A minus sign as wide as a plus; "-0.0" comes from rounding.
        match text.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
            Some(rest) => format!("−{rest}"),
            None => text,
        }
    }
}

/// The calendar's steps with their length in seconds.
fn steps() -> impl Iterator<Item = (Step, f64)> {
    let seconds = [1, 5, 15, 30].map(|n| (Step::Seconds(n), n as f64));
    let minutes = [1, 5, 15, 30].map(|n| (Step::Seconds(60 * n), 60.0 * n as f64));
    let hours = [1, 3, 6, 12].map(|n| (Step::Seconds(3600 * n), 3600.0 * n as f64));
    let days = [1, 2, 5, 10].map(|n| (Step::Days(n), 86_400.0 * n as f64));
    let months = [1, 3, 6].map(|n| (Step::Months(n), 2_629_746.0 * n as f64));
    let years = (0..4).flat_map(|power| [1, 2, 5].map(|n| n * 10i16.pow(power)));
    let years = years.map(|n| (Step::Years(n), 31_556_952.0 * f64::from(n)));
    seconds
        .into_iter()
        .chain(minutes)
        .chain(hours)
        .chain(days)
        .chain(months)
        .chain(years)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Of the day, so that ticks stand at full hours.
    Seconds(i64),
    /// Of the month.
    Days(i8),
    Months(i8),
    Years(i16),
}

/// None when the calendar does not reach that far, or steps would be shorter than a second.
fn dates(zone: &TimeZone, start: f64, end: f64, most: usize) -> Option<Vec<Tick>> {
    let least = (end - start) / most.max(1) as f64;
    let (step, _) = steps().find(|(_, length)| *length >= least)?;
    if least < 0.5 {
        return None;
    }
    let first = Timestamp::from_second(start.floor() as i64).ok()?;
    let first = first.to_zoned(zone.clone());
    Timestamp::from_second(end as i64).ok()?;
    let mut local = step.floor(first.datetime())?;
    let mut ticks: Vec<Tick> = Vec::new();
    let mut context = None;
    loop {
        let moment = local.to_zoned(zone.clone()).ok()?;
        let at = moment.timestamp().as_millisecond() as f64 / 1000.0;
        if at > end {
            return Some(ticks);
        }
        // An hour that the clock skips falls onto the next one.
        if at >= start && ticks.last().is_none_or(|tick| tick.at < at) {
            let new = step.context(&moment);
            let changed = new.is_some() && new != context;
            let context = changed.then(|| new.clone()).flatten();
            let label = step.label(&moment);
            ticks.push(Tick { at, label, context });
        }
        if at >= start {
            context = step.context(&moment);
        }
        local = step.next(local)?;
    }
}

impl Step {
    /// The last round moment that is not later.
    fn floor(self, local: DateTime) -> Option<DateTime> {
        let midnight = local.date().to_datetime(jiff::civil::Time::midnight());
        let date = |year, month, day| jiff::civil::Date::new(year, month, day).ok();
        let date = match self {
            Self::Seconds(step) => {
                let time = local.time();
                let (hour, minute) = (i64::from(time.hour()), i64::from(time.minute()));
                let second = 3600 * hour + 60 * minute + i64::from(time.second());
                return midnight.checked_add((second / step * step).seconds()).ok();
            }
            Self::Days(step) => date(
                local.year(),
                local.month(),
                (local.day() - 1) / step * step + 1,
            ),
            Self::Months(step) => date(local.year(), (local.month() - 1) / step * step + 1, 1),
            Self::Years(step) => date(local.year().div_euclid(step) * step, 1, 1),
        };
        Some(date?.to_datetime(jiff::civil::Time::midnight()))
    }

    fn next(self, local: DateTime) -> Option<DateTime> {
        let span: Span = match self {
            Self::Seconds(step) => step.seconds(),
            Self::Days(step) => {
                // Days 1, 6, 11, … 26 of each month: the last stretch is as long as the month makes it.
                let next = local.checked_add(i32::from(step).days()).ok()?;
                let left = local.date().days_in_month() - next.day() + 1;
                return match next.month() == local.month() && left > step / 2 {
                    true => Some(next),
                    false => Self::Months(1)
                        .floor(local)
                        .and_then(|first| first.checked_add(1.month()).ok()),
                };
            }
            Self::Months(step) => i32::from(step).months(),
            Self::Years(step) => step.years(),
        };
        local.checked_add(span).ok()
    }

    fn label(self, moment: &Zoned) -> String {
        let pattern = match self {
            Self::Seconds(step) if step % 60 != 0 => "%H:%M:%S",
            Self::Seconds(_) => "%H:%M",
            Self::Days(_) => "%-d %b",
            Self::Months(_) => "%b",
            Self::Years(_) => "%Y",
        };
        moment.strftime(pattern).to_string()
    }

    fn context(self, moment: &Zoned) -> Option<String> {
        let pattern = match self {
            Self::Seconds(_) => "%-d %b %Y",
            Self::Days(_) | Self::Months(_) => "%Y",
            Self::Years(_) => return None,
        };
        Some(moment.strftime(pattern).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{of_numbers, of_time};
    use crate::TimeAxis;
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    fn seconds(text: &str) -> f64 {
        text.parse::<Timestamp>().unwrap().as_second() as f64
    }

    fn labels(zone: TimeZone, from: &str, to: &str) -> Vec<String> {
        let axis = TimeAxis::Timestamp(zone);
        let ticks = of_time(&axis, seconds(from), seconds(to), 8);
        let join = |context: Option<String>| context.map_or(String::new(), |c| format!("|{c}"));
        ticks
            .into_iter()
            .map(|tick| tick.label + &join(tick.context))
            .collect()
    }

    #[test]
    fn numbers_are_round_inside_and_few() {
        for (start, end) in [
            (0.0, 1.0),
            (-3.7, 12.1),
            (1e9, 1e9 + 0.3),
            (-2e-7, 5e-7),
            (0.1, 4e12),
        ] {
            for most in [2, 5, 9] {
                let ticks = of_numbers(start, end, most);
                assert!(ticks.len() <= most + 1, "{start} {end} {most}: {ticks:?}");
                assert!(ticks.iter().all(|tick| (start..=end).contains(&tick.at)));
                let mut labels: Vec<_> = ticks.iter().map(|tick| &tick.label).collect();
                labels.dedup();
                assert_eq!(labels.len(), ticks.len(), "{labels:?}");
            }
        }
        let labels: Vec<_> = of_numbers(-0.3, 0.31, 6)
            .into_iter()
            .map(|tick| tick.label)
            .collect();
        assert_eq!(labels, ["−0.2", "0.0", "0.2"]);
    }

    #[test]
    fn nothing_is_marked_on_an_axis_without_length() {
        assert!(of_numbers(1.0, 1.0, 5).is_empty());
        assert!(of_numbers(f64::NAN, 1.0, 5).is_empty());
    }

    #[test]
    fn days_carry_their_year_when_it_changes() {
        let found = labels(
            TimeZone::UTC,
            "2023-11-20T00:00:00Z",
            "2024-02-05T00:00:00Z",
        );
        assert_eq!(
            found,
            [
                "21 Nov|2023",
                "1 Dec",
                "11 Dec",
                "21 Dec",
                "1 Jan|2024",
                "11 Jan",
                "21 Jan",
                "1 Feb"
            ]
        );
    }

    #[test]
    fn hours_follow_the_clock_of_the_zone_when_it_is_changed() {
        let rome = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        // Midnight to noon of the day on which 2 o'clock is skipped: eleven hours.
        let found = labels(rome, "2024-03-30T23:00:00Z", "2024-03-31T10:00:00Z");
        assert_eq!(
            found,
            ["00:00|31 Mar 2024", "03:00", "06:00", "09:00", "12:00"]
        );
    }

    #[test]
    fn decades_are_marked_at_round_years() {
        let found = labels(
            TimeZone::UTC,
            "1958-03-29T00:00:00Z",
            "2001-12-29T00:00:00Z",
        );
        assert_eq!(found, ["1960", "1970", "1980", "1990", "2000"]);
    }

    #[test]
    fn times_outside_the_calendar_are_numbers() {
        let axis = TimeAxis::Timestamp(TimeZone::UTC);
        assert!(!of_time(&axis, 0.0, 1e15, 5).is_empty());
        assert!(!of_time(&axis, 0.0, 0.01, 5).is_empty());
    }
}
