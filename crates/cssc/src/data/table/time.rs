//! Times in text: read to a number, and written back in the form of a neighbouring entry.
//!
//! | form | example | number |
//! |---|---|---|
//! | number | `12.5` | itself |
//! | epoch | `1700000000`, `1700000000000` | seconds since 1970-01-01 UTC |
//! | ISO 8601, RFC 3339 | `2024-03-31`, `2024-03-31T02:30:00.5+02:00[Europe/Rome]` | the same |
//! | pattern | `10/03/2004 18.00.00` as `%d/%m/%Y %H.%M.%S` | the same |
//!
//! A new row has no entry of its own to copy. Its time is written like the entry of the row before
//! it (the *model*): same separator, digits, offset and zone. So nothing about the style has to be
//! remembered, and a table whose offset changes with the season keeps doing so.
//! Seconds are `f64`: near today they resolve 0.24 microseconds.
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use jiff::civil::DateTime;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Unit};

use super::number::{Entry, NumberRules};
use super::options::TimeFormat;
use super::time_pattern;
use crate::error::{Hint, Problem};

/// What a double knows of a moment near today, with room for a step of arithmetic, in seconds.
pub(super) const FINEST_SECONDS: f64 = 2e-6;

/// How the times of one table are written.
#[derive(Debug, Clone)]
pub struct TimeForm {
    kind: Kind,
    /// Of dates and times that have none.
    zone: TimeZone,
    /// Of the first entry: where people look at these times.
    home: TimeZone,
    numbers: NumberRules,
    /// Whether numbers are counted from 1970.
    epoch: bool,
    /// Whether the first entry names a zone or an offset, where the user gave none: then all
    /// others must be alike.
    zoned: Option<bool>,
    /// As columns of moments store these times; `None` for numbers.
    stored: Option<(TimeUnit, Option<Arc<str>>)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Numbers; so many of them make a second when they are counted from 1970.
    Number {
        per_second: f64,
    },
    Iso,
    Pattern(String),
}

impl TimeForm {
    /// The form the user gave, or the one of the `first` entry.
    pub fn new(
        format: &TimeFormat,
        zone: Option<&str>,
        numbers: &NumberRules,
        first: Option<&str>,
    ) -> Result<Self, Problem> {
        let kind = match format {
            TimeFormat::Number | TimeFormat::EpochSeconds => Kind::Number { per_second: 1.0 },
            TimeFormat::EpochMilliseconds => Kind::Number { per_second: 1e3 },
            TimeFormat::EpochMicroseconds => Kind::Number { per_second: 1e6 },
            TimeFormat::EpochNanoseconds => Kind::Number { per_second: 1e9 },
            TimeFormat::Pattern(pattern) => Kind::Pattern(pattern.clone()),
            TimeFormat::Auto => guess(first.unwrap_or("0"), numbers)?,
        };
        let zoned = match (zone, &kind, first) {
            (None, Kind::Iso, Some(first)) => {
                Pieces::parse(first.trim()).ok().as_ref().map(has_zone)
            }
            _ => None,
        };
        let user_zone = zone.is_some();
        let zone = match zone {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name).map_err(|error| error.to_string())?,
        };
        let mut form = Self {
            kind,
            home: zone.clone(),
            zone,
            numbers: numbers.clone(),
            epoch: matches!(
                format,
                TimeFormat::EpochSeconds
                    | TimeFormat::EpochMilliseconds
                    | TimeFormat::EpochMicroseconds
                    | TimeFormat::EpochNanoseconds
            ),
            zoned,
            stored: None,
        };
        if let Some(Ok((moment, home))) = first.and_then(|first| form.moment(first.trim())) {
            let named = user_zone || form.names_zone(first.unwrap_or_default().trim());
            let zone = named.then(|| zone_name(&home, moment).into());
            let finest = finest_unit(first.unwrap_or_default());
            form.stored = Some((finest, zone));
            form.home = home;
        }
        Ok(form)
    }

    /// Moments that are stored as such, in a zone.
    pub(super) fn moments(zone: TimeZone) -> Self {
        Self {
            kind: Kind::Iso,
            home: zone.clone(),
            zone,
            numbers: NumberRules::default(),
            epoch: false,
            zoned: None,
            stored: None,
        }
    }

    /// The type of a column of moments that holds these times, which are text; `None` for numbers.
    pub(super) fn stored_type(&self) -> Option<DataType> {
        let (unit, zone) = self.stored.clone()?;
        Some(DataType::Timestamp(unit, zone))
    }

    /// An entry as a count in a column of [`TimeForm::stored_type`].
    pub(super) fn stored_count(&self, text: &str) -> Result<i64, String> {
        let Some((Ok((moment, _)), (unit, _))) = self.moment(text.trim()).zip(self.stored.clone())
        else {
            return Err(format!("`{text}` is no date or time"));
        };
        match unit {
            TimeUnit::Nanosecond => i64::try_from(moment.as_nanosecond())
                .map_err(|_| format!("`{text}` cannot be stored with nanoseconds")),
            _ => Ok(moment.as_microsecond()),
        }
    }

    fn names_zone(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Number { .. } => false,
            Kind::Iso => Pieces::parse(text).is_ok_and(|pieces| has_zone(&pieces)),
            Kind::Pattern(pattern) => time_pattern::parse(pattern, text)
                .is_ok_and(|parts| parts.offset().is_some() || parts.iana_time_zone().is_some()),
        }
    }

    /// The smallest difference that can be written, in seconds; `None` where it is below a
    /// microsecond, or the times are plain numbers.
    pub(super) fn finest(&self) -> Option<f64> {
        match &self.kind {
            Kind::Number { .. } | Kind::Iso => None,
            Kind::Pattern(pattern) => time_pattern::finest(pattern),
        }
    }

    /// The zone of the first entry; for times without one, the zone the user gave, or UTC.
    pub fn home(&self) -> &TimeZone {
        &self.home
    }

    /// The moment and the zone that a date or time names; `None` for numbers.
    fn moment(&self, text: &str) -> Option<Result<(Timestamp, TimeZone), jiff::Error>> {
        match &self.kind {
            Kind::Number { .. } => None,
            Kind::Iso => Some(self.read_iso(text)),
            Kind::Pattern(pattern) => Some(self.read_pattern(pattern, text)),
        }
    }

    /// Whether times are seconds since 1970, and not plain numbers of an unknown unit.
    pub fn is_seconds(&self) -> bool {
        self.epoch || !self.is_number()
    }

    /// The time as a number: seconds since 1970-01-01 UTC for dates.
    ///
    /// # Errors
    /// If the text is no time of this form.
    pub fn read(&self, text: &str) -> Result<f64, Problem> {
        let text = text.trim();
        match &self.kind {
            Kind::Number { per_second } => match self.numbers.entry(text) {
                Entry::Number(number) => Ok(number / per_second),
                _ => Err(format!("expected a time as a number, found `{text}`").into()),
            },
            Kind::Iso => {
                self.check_zone(text)?;
                self.read_iso(text).map(|(timestamp, _)| seconds(timestamp)).map_err(|error| {
                    format!("expected a date or time such as 2024-03-31T12:30:00Z, found `{text}` ({error})").into()
                })
            }
            Kind::Pattern(pattern) => {
                let read = self
                    .read_pattern(pattern, text)
                    .map(|(timestamp, _)| seconds(timestamp));
                read.map_err(|error| {
                    format!("expected a time like `{pattern}`, found `{text}` ({error})").into()
                })
            }
        }
    }

    /// Times with a zone and times without one do not go together.
    fn check_zone(&self, text: &str) -> Result<(), Problem> {
        let (Some(zoned), Ok(pieces)) = (self.zoned, Pieces::parse(text)) else {
            return Ok(());
        };
        let text = match (zoned, has_zone(&pieces)) {
            (true, false) => format!("the time `{text}` has no zone, but the first one has"),
            (false, true) => format!("the time `{text}` has a zone, but the first one has none"),
            _ => return Ok(()),
        };
        Err(Problem::new(text, Hint::TimeZone))
    }

    /// What times that are numbers count, if they are counted from 1970.
    pub(super) fn epoch_unit(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Number { per_second } if self.epoch => Some(match per_second {
                1.0 => "seconds",
                1e3 => "milliseconds",
                1e6 => "microseconds",
                _ => "nanoseconds",
            }),
            _ => None,
        }
    }

    /// Whether times are numbers, and so may be stored as such.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number { .. })
    }

    /// A number of a numeric column as a time; NaN where it is none, such as 20241301 for `%Y%m%d`.
    pub fn from_number(&self, number: f64) -> f64 {
        match self.kind {
            Kind::Number { per_second } => number / per_second,
            Kind::Iso => number,
            Kind::Pattern(_) => self.read(&number.to_string()).unwrap_or(f64::NAN),
        }
    }

    /// A time as a number of a numeric column.
    pub fn to_number(&self, time: f64) -> f64 {
        match &self.kind {
            // A count of milliseconds near today is only known to 0.0002; it is meant whole. So are
            // microseconds; of nanoseconds no more is known.
            Kind::Number { per_second: 1e3 } => (time * 1e6).round() / 1e3,
            Kind::Number { per_second } if *per_second != 1.0 => {
                (time * 1e6).round() * (per_second / 1e6)
            }
            Kind::Number { .. } | Kind::Iso => time,
            Kind::Pattern(pattern) => timestamp(time)
                .ok()
                .and_then(|moment| {
                    let local = moment.to_zoned(self.zone.clone());
                    local.strftime(pattern).to_string().parse().ok()
                })
                .unwrap_or(f64::NAN),
        }
    }

    /// Writes the time like `model`, an entry that was read.
    pub fn write(&self, time: f64, model: &str) -> Result<String, String> {
        let model = model.trim();
        let failed = |error: jiff::Error| format!("cannot write the time {time}: {error}");
        let (pattern, zone) = match &self.kind {
            Kind::Number { .. } => return Ok(self.numbers.write(self.to_number(time))),
            Kind::Iso => {
                let (_, zone) = self.read_iso(model).map_err(failed)?;
                let local = timestamp(time).map_err(failed)?.to_zoned(zone.clone());
                (iso_pattern(model, local.datetime()), zone)
            }
            Kind::Pattern(pattern) => {
                let (_, zone) = self.read_pattern(pattern, model).map_err(failed)?;
                (pattern.clone(), zone)
            }
        };
        let mut moment = timestamp(time).map_err(failed)?;
        if !pattern.contains('f') {
            moment = moment.round(Unit::Second).map_err(failed)?;
        }
        jiff::fmt::strtime::format(pattern, &moment.to_zoned(zone)).map_err(failed)
    }

    fn read_iso(&self, text: &str) -> Result<(Timestamp, TimeZone), jiff::Error> {
        let pieces = Pieces::parse(text)?;
        let local = DateTime::from_parts(pieces.date(), pieces.time().unwrap_or_default());
        let named = pieces
            .time_zone_annotation()
            .map(|name| name.to_time_zone())
            .transpose()?;
        if let Some(offset) = pieces.to_numeric_offset() {
            let moment = offset.to_timestamp(local)?;
            // An offset that the table's zone has then means that zone.
            let ours = self.zone.to_offset(moment) == offset;
            let bare = || {
                if ours {
                    self.zone.clone()
                } else {
                    TimeZone::fixed(offset)
                }
            };
            return Ok((moment, named.unwrap_or_else(bare)));
        }
        let zone = named.unwrap_or_else(|| self.zone.clone());
        Ok((in_zone(&zone, local)?, zone))
    }

    fn read_pattern(
        &self,
        pattern: &str,
        text: &str,
    ) -> Result<(Timestamp, TimeZone), jiff::Error> {
        let parts = time_pattern::parse(pattern, text)?;
        if let Some(name) = parts.iana_time_zone() {
            let zone = TimeZone::get(name)?;
            return Ok((parts.to_zoned()?.timestamp(), zone));
        }
        if parts.offset().is_some() || parts.timestamp().is_some() {
            let zone = parts
                .offset()
                .map_or_else(|| self.zone.clone(), TimeZone::fixed);
            return Ok((parts.to_timestamp()?, zone));
        }
        let moment = in_zone(&self.zone, time_pattern::local(&parts)?)?;
        Ok((moment, self.zone.clone()))
    }

    /// Whether the clocks of the zone showed this time twice.
    pub(super) fn came_twice(&self, text: &str) -> bool {
        let local = match &self.kind {
            Kind::Number { .. } => return false,
            Kind::Iso => Pieces::parse(text)
                .ok()
                .filter(|pieces| !has_zone(pieces))
                .map(|pieces| {
                    DateTime::from_parts(pieces.date(), pieces.time().unwrap_or_default())
                }),
            Kind::Pattern(pattern) => time_pattern::read_local(pattern, text).ok(),
        };
        local.is_some_and(|local| {
            let offset = self.zone.to_ambiguous_timestamp(local).offset();
            matches!(offset, AmbiguousOffset::Fold { .. })
        })
    }

    /// Whether times are months, quarters or weeks, between which no row can be written.
    pub(super) fn is_period(&self) -> bool {
        matches!(&self.kind, Kind::Pattern(pattern) if time_pattern::is_period(pattern))
    }
}

/// The moment at which the clocks of a zone showed a time; the first one where they did so twice.
fn in_zone(zone: &TimeZone, local: DateTime) -> Result<Timestamp, jiff::Error> {
    let moment = zone.to_ambiguous_timestamp(local);
    if let AmbiguousOffset::Gap { .. } = moment.offset() {
        let zone = zone.iana_name().unwrap_or("its zone");
        return Err(jiff::Error::from_args(format_args!(
            "the clocks of {zone} were put forward over this time, so it was never shown"
        )));
    }
    moment.compatible()
}

fn guess(first: &str, numbers: &NumberRules) -> Result<Kind, Problem> {
    match numbers.entry(first) {
        Entry::Number(_) => Ok(Kind::Number { per_second: 1.0 }),
        _ if Pieces::parse(first.trim()).is_ok() => Ok(Kind::Iso),
        _ => Err(Problem::new(
            format!(
                "`{first}` is neither a number nor a date such as 2024-03-31 or \
                 2024-03-31T12:30:00Z"
            ),
            Hint::TimeFormat,
        )),
    }
}

/// How Arrow calls a zone: its name, or the distance from UTC.
fn zone_name(zone: &TimeZone, moment: Timestamp) -> String {
    if *zone == TimeZone::UTC {
        return "UTC".to_owned();
    }
    let distance = || jiff::fmt::strtime::format("%:z", &moment.to_zoned(zone.clone()));
    match zone.iana_name() {
        Some(name) => name.to_owned(),
        None => distance().unwrap_or_else(|_| "UTC".to_owned()),
    }
}

/// Microseconds, or nanoseconds where an entry has more than six digits behind the second.
fn finest_unit(entry: &str) -> TimeUnit {
    let fraction = entry.rsplit(['.', ',']).next().unwrap_or_default();
    let digits = fraction.chars().take_while(char::is_ascii_digit).count();
    if digits > 6 && entry.len() > fraction.len() {
        TimeUnit::Nanosecond
    } else {
        TimeUnit::Microsecond
    }
}

fn has_zone(pieces: &Pieces<'_>) -> bool {
    pieces.offset().is_some() || pieces.time_zone_annotation().is_some()
}

fn seconds(timestamp: Timestamp) -> f64 {
    timestamp.as_second() as f64 + f64::from(timestamp.subsec_nanosecond()) * 1e-9
}

/// To the microsecond, which is what an `f64` knows.
fn timestamp(seconds: f64) -> Result<Timestamp, jiff::Error> {
    Timestamp::from_microsecond((seconds * 1e6).round() as i64)
}

/// The pattern of an ISO entry, with finer parts added where `local` needs them.
fn iso_pattern(model: &str, local: DateTime) -> String {
    let mut pattern = String::from("%Y-%m-%d");
    let clock = model.get(11..).unwrap_or("");
    let clock = clock
        .split(['Z', 'z', '+', '-', '['])
        .next()
        .unwrap_or("")
        .trim();
    let fraction = clock.split(['.', ',']).nth(1).map_or(0, str::len);
    let needed = match local.subsec_nanosecond() {
        0 => 0,
        nanoseconds if nanoseconds % 1_000_000 == 0 => 3,
        _ => 6,
    };
    let digits = fraction.max(needed);
    let seconds = clock.matches(':').count() > 1 || digits > 0 || local.second() != 0;
    if !clock.is_empty() || seconds || local.time() != jiff::civil::Time::midnight() {
        let separator = model
            .chars()
            .nth(10)
            .filter(|_| !clock.is_empty())
            .unwrap_or('T');
        pattern.push(separator);
        pattern.push_str(if seconds { "%H:%M:%S" } else { "%H:%M" });
    }
    if digits > 0 {
        pattern.push_str(&format!("%.{digits}f"));
    }
    if let Ok(pieces) = Pieces::parse(model) {
        match pieces.offset() {
            Some(PiecesOffset::Zulu) => pattern.push('Z'),
            Some(_) => pattern.push_str("%:z"),
            None => {}
        }
        if pieces.time_zone_annotation().is_some() {
            pattern.push_str("[%Q]");
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(format: TimeFormat, zone: Option<&str>, first: &str) -> TimeForm {
        TimeForm::new(&format, zone, &NumberRules::default(), Some(first)).unwrap()
    }

    fn pattern(pattern: &str) -> TimeForm {
        form(TimeFormat::Pattern(pattern.into()), None, "")
    }

    /// 2024-03-31T00:00:00Z is 19,813 days after 1970-01-01.
    const DAY: f64 = 19_813.0 * 86_400.0;

    #[test]
    fn every_form_reads_the_same_moment() {
        for text in [
            "2024-03-31",
            "2024-03-31T00:00:00Z",
            "2024-03-31 00:00",
            "2024-03-31T01:00:00+01:00",
            "2024-03-31T01:00:00+01:00[Europe/Rome]",
            "2024-03-31T01:00:00[Europe/Rome]",
            "2024-03-30T19:00:00.000-05:00",
        ] {
            assert_eq!(
                form(TimeFormat::Auto, None, text).read(text),
                Ok(DAY),
                "{text}"
            );
        }
        assert_eq!(
            pattern("%d/%m/%Y %H.%M.%S").read("31/3/2024 0.00.00"),
            Ok(DAY)
        );
        assert_eq!(pattern("%d.%m.%Y").read("31.03.2024"), Ok(DAY));
        assert_eq!(
            pattern("%Y%m%d %H%M %z").read("20240331 0200 +0200"),
            Ok(DAY)
        );
        let rome = form(TimeFormat::Auto, Some("Europe/Rome"), "2024-03-31 01:00");
        assert_eq!(rome.read("2024-03-31 01:00"), Ok(DAY));
        let milliseconds = form(TimeFormat::EpochMilliseconds, None, "");
        assert_eq!(milliseconds.read("1711843200000"), Ok(DAY));
        assert_eq!(form(TimeFormat::Auto, None, "2.5").read("1e3"), Ok(1000.0));
    }

    #[test]
    fn every_entry_is_its_own_model() {
        for text in [
            "2024-03-31",
            "2024-03-31T00:00:00Z",
            "2024-03-31 00:00",
            "2024-03-31 17:05:09.250",
            "2024-07-31T01:00:00+02:00",
            "2024-07-31T02:00:00+02:00[Europe/Rome]",
            "1969-12-31T23:59:59.500000-08:00",
        ] {
            let form = form(TimeFormat::Auto, None, text);
            assert_eq!(form.write(form.read(text).unwrap(), text).unwrap(), text);
        }
        let air = pattern("%d/%m/%Y %H.%M.%S");
        let time = air.read("10/03/2004 18.00.00").unwrap();
        assert_eq!(
            air.write(time, "10/03/2004 18.00.00").unwrap(),
            "10/03/2004 18.00.00"
        );
    }

    #[test]
    fn a_new_time_keeps_the_style_and_adds_only_what_it_needs() {
        let written = |model: &str, later: f64| {
            let form = form(TimeFormat::Auto, None, model);
            form.write(form.read(model).unwrap() + later, model)
                .unwrap()
        };
        assert_eq!(written("2024-03-31 00:00", 300.0), "2024-03-31 00:05");
        assert_eq!(written("2024-03-31 00:00", 301.0), "2024-03-31 00:05:01");
        assert_eq!(written("2024-03-31", 86_400.0), "2024-04-01");
        assert_eq!(written("2024-03-31", 43_200.0), "2024-03-31T12:00");
        assert_eq!(
            written("2024-03-31T00:00:00Z", 0.25),
            "2024-03-31T00:00:00.250Z"
        );
        // Summer time begins at 01:00 UTC: the zone moves, a bare offset cannot.
        let (rome, bare) = (
            "2024-03-31T01:30:00+01:00[Europe/Rome]",
            "2024-03-31T01:30:00+01:00",
        );
        assert_eq!(
            written(rome, 3600.0),
            "2024-03-31T03:30:00+02:00[Europe/Rome]"
        );
        assert_eq!(written(bare, 3600.0), "2024-03-31T02:30:00+01:00");
    }

    #[test]
    fn every_wrong_time_is_refused_with_what_was_expected() {
        let message = |result: Result<f64, Problem>| result.unwrap_err().to_string();
        let number = form(TimeFormat::Number, None, "");
        assert_eq!(
            message(number.read("noon")),
            "expected a time as a number, found `noon`"
        );
        let iso = form(TimeFormat::Auto, None, "2024-03-31");
        let wrong = message(iso.read("31/03/2024"));
        assert!(wrong.starts_with(
            "expected a date or time such as 2024-03-31T12:30:00Z, found `31/03/2024`"
        ));
        let wrong = message(pattern("%d/%m/%Y").read("2024-03-31"));
        assert!(wrong.starts_with("expected a time like `%d/%m/%Y`, found `2024-03-31`"));
        let guess = TimeForm::new(
            &TimeFormat::Auto,
            None,
            &NumberRules::default(),
            Some("noon"),
        );
        assert!(
            guess
                .unwrap_err()
                .to_string()
                .contains("give the time format, for example %d/%m/%Y")
        );
        let zone = TimeForm::new(
            &TimeFormat::Auto,
            Some("Mars/North"),
            &NumberRules::default(),
            None,
        );
        assert!(zone.unwrap_err().to_string().contains("Mars/North"));
    }

    #[test]
    fn times_that_are_text_are_stored_as_moments() {
        let kind = |zone, first| form(TimeFormat::Auto, zone, first).stored_type();
        let of = |unit, zone: Option<&str>| Some(DataType::Timestamp(unit, zone.map(Into::into)));
        use TimeUnit::{Microsecond, Nanosecond};
        assert_eq!(kind(None, "2024-03-31"), of(Microsecond, None));
        assert_eq!(
            kind(None, "2024-03-31T00:00:00Z"),
            of(Microsecond, Some("UTC"))
        );
        let east = kind(None, "2024-03-31 00:00+02:00");
        assert_eq!(east, of(Microsecond, Some("+02:00")));
        let rome = kind(Some("Europe/Rome"), "2024-03-31 00:00:00.123456789");
        assert_eq!(rome, of(Nanosecond, Some("Europe/Rome")));
        assert_eq!(kind(None, "12.5"), None);
        let exact = form(TimeFormat::Auto, None, "2024-03-31T00:00:00.123456789Z");
        assert_eq!(
            exact.stored_count("2024-03-31T00:00:00.123456789Z"),
            Ok(1_711_843_200_123_456_789)
        );
    }

    #[test]
    fn a_table_is_at_home_in_the_zone_of_its_first_entry() {
        let zone = |given, first| form(TimeFormat::Auto, given, first).home().clone();
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(zone(None, "2024-07-31T12:00:00+02:00"), east);
        let rome = zone(None, "2024-07-31T12:00:00+02:00[Europe/Rome]");
        assert_eq!(rome.iana_name(), Some("Europe/Rome"));
        let rome = zone(Some("Europe/Rome"), "2024-07-31 12:00");
        assert_eq!(rome.iana_name(), Some("Europe/Rome"));
        assert_eq!(zone(None, "2024-07-31 12:00"), TimeZone::UTC);
    }
}
