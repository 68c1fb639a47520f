//! How times are written, told by looking at them.
//!
//! | entries | read as |
//! |---|---|
//! | `0`, `12.5` | numbers |
//! | `1700000000`, `1700000000000`, … | seconds, milliseconds, microseconds, nanoseconds since 1970 |
//! | `20240131` | a date |
//! | `2024-03-31`, `2024-03-31T12:30:00Z` | ISO 8601, RFC 3339 |
//! | `2024/01/31`, `31.01.2024 12:30`, `31/01/2024 1:30 PM`, `31 Jan 2024` | the one pattern that fits all |
//! | `2024-01`, `2024-Q1`, `2024-W05` | the first day of a month, a quarter, a week |
//!
//! Where days and months can be exchanged in all entries, that is asked about and not guessed.
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use jiff::civil::Date;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

use super::cells::{self, counts_per_second, is_text};
use super::columns::Columns;
use super::number::{Entry, NumberRules};
use super::options::{ReadOptions, TimeFormat};
use super::shape::zone_of_column;
use super::time::TimeForm;
use super::time_pattern::read_local;
use crate::error::{Hint, Problem};

const DATES: [&str; 13] = [
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%B %d, %Y",
];
const CLOCKS: [&str; 10] = [
    "",
    " %H:%M",
    " %H:%M:%S",
    " %H:%M:%S%.f",
    " %I:%M %p",
    " %I:%M:%S %p",
    "T%H:%M:%S",
    " %H.%M",
    " %H.%M.%S",
    " %H",
];
const PERIODS: [&str; 9] = [
    "%Y-%m", "%Y/%m", "%b %Y", "%B %Y", "%Y-Q%q", "%YQ%q", "Q%q %Y", "%G-W%V", "%GW%V",
];

/// Years of dates that are written as one number.
const YEARS: std::ops::RangeInclusive<i16> = 1800..=2200;
/// From September 2001 to 2039, in seconds since 1970.
const EPOCH: std::ops::Range<f64> = 1e9..2.2e9;

/// The user's time format, or that of the first time in the table.
pub(super) fn time_form(
    columns: &Columns,
    sample: &RecordBatch,
    numbers: &NumberRules,
    options: &ReadOptions,
) -> Result<TimeForm, Problem> {
    let parts = columns.time.len();
    if let (1, Some(zone)) = (parts, zone_of_moments(columns)) {
        return Ok(TimeForm::moments(zone));
    }
    if let TimeFormat::Pattern(pattern) = &options.time_format
        && parts > 1
        && pattern.split_whitespace().count() != parts
    {
        return Err(format!(
            "the time format `{pattern}` must have {parts} parts separated by spaces, one for each \
             time column"
        )
        .into());
    }
    let text_columns = columns.time.iter().map(|&column| sample.column(column));
    let text_columns = text_columns.filter(|column| parts == 1 || is_text(column.data_type()));
    let typed = columns
        .time
        .iter()
        .any(|&column| !is_text(sample.column(column).data_type()));
    let texts: Vec<StringArray> = text_columns
        .filter_map(|column| cells::texts(column).ok())
        .collect();
    let entry = |row: usize| {
        let parts: Vec<&str> = texts.iter().map(|texts| texts.value(row).trim()).collect();
        parts.join(" ")
    };
    let rows = texts.first().map_or(0, Array::len);
    let entries = (0..rows).map(entry);
    let entries: Vec<String> = entries.filter(|entry| !entry.trim().is_empty()).collect();
    let format = match &options.time_format {
        TimeFormat::Auto => match guess(&entries, parts, numbers) {
            // Of several columns one is no text, and a pattern reads text; one column of integers such as
            // 20240131 is read by its digits.
            Ok(TimeFormat::Pattern(_)) if typed && parts > 1 => Ok(TimeFormat::Number),
            found => found,
        },
        given => Ok(given.clone()),
    };
    let form = format.and_then(|format| {
        let first = entries.first().map(String::as_str);
        TimeForm::new(&format, options.time_zone.as_deref(), numbers, first)
    });
    form.map_err(|problem| Problem {
        text: format!(
            "column `{}`: {}",
            columns.name(columns.time[0]),
            problem.text
        ),
        ..problem
    })
}

/// The zone of a column of moments or dates; UTC where it names none.
fn zone_of_moments(columns: &Columns) -> Option<TimeZone> {
    let kind = columns.schema.field(columns.time[0]).data_type();
    counts_per_second(kind)?;
    let named = match kind {
        DataType::Timestamp(_, Some(zone)) => zone_of_column(zone),
        _ => None,
    };
    Some(named.unwrap_or(TimeZone::UTC))
}

/// The format of `entries`, which stand in `columns` columns; `Auto` for ISO 8601.
fn guess(entries: &[String], columns: usize, rules: &NumberRules) -> Result<TimeFormat, Problem> {
    let Some(first) = entries.first() else {
        return Ok(TimeFormat::Number);
    };
    let numbers = entries.iter().map(|entry| match rules.entry(entry) {
        Entry::Number(number) => Some(number),
        _ => None,
    });
    let numbers: Option<Vec<f64>> = numbers.take(LOOK).collect();
    if let Some(numbers) = numbers {
        return Ok(of_numbers(&numbers, entries));
    }
    if matches!(rules.entry(first), Entry::Number(_)) {
        return Ok(TimeFormat::Number);
    }
    if Pieces::parse(first).is_ok() {
        return Ok(TimeFormat::Auto);
    }
    let fits = |pattern: &String| {
        let parts = pattern.split_whitespace().count();
        (columns == 1 || parts == columns)
            && entries
                .iter()
                .take(LOOK)
                .all(|entry| read_local(pattern, entry).is_ok())
    };
    let dates = DATES
        .iter()
        .flat_map(|date| CLOCKS.map(|clock| format!("{date}{clock}")));
    let all = dates.chain(PERIODS.map(str::to_owned));
    let found: Vec<String> = all.filter(fits).collect();
    let Some(one) = found.first() else {
        return Err(Problem::new(
            format!(
                "`{first}` is neither a number nor a date such as 2024-03-31 or \
                 2024-03-31T12:30:00Z"
            ),
            Hint::TimeFormat,
        ));
    };
    match found.iter().find(|other| !agree(one, other, entries)) {
        None => Ok(TimeFormat::Pattern(one.clone())),
        Some(other) => Err(Problem::new(
            format!("`{first}` can be a time like `{one}` or like `{other}`"),
            Hint::TimeFormat,
        )),
    }
}

/// Entries looked at.
const LOOK: usize = 1000;

/// Whether two patterns read all entries alike.
fn agree(one: &str, other: &str, entries: &[String]) -> bool {
    let same = |entry: &String| read_local(one, entry).ok() == read_local(other, entry).ok();
    entries.iter().take(LOOK).all(same)
}

fn of_numbers(numbers: &[f64], entries: &[String]) -> TimeFormat {
    let date = |entry: &String| {
        let digits = entry.len() == 8 && entry.bytes().all(|byte| byte.is_ascii_digit());
        let date = Date::strptime("%Y%m%d", entry);
        digits && date.is_ok_and(|date| YEARS.contains(&date.year()))
    };
    let all = |unit: f64| {
        numbers
            .iter()
            .all(|number| EPOCH.contains(&(number / unit)))
    };
    match () {
        () if entries.iter().take(LOOK).all(date) => TimeFormat::Pattern("%Y%m%d".to_owned()),
        () if all(1.0) => TimeFormat::EpochSeconds,
        () if all(1e3) => TimeFormat::EpochMilliseconds,
        () if all(1e6) => TimeFormat::EpochMicroseconds,
        () if all(1e9) => TimeFormat::EpochNanoseconds,
        () => TimeFormat::Number,
    }
}

/// Whether an entry that is no number looks like a time.
pub(super) fn looks_like_time(entry: &str, rules: &NumberRules) -> bool {
    let entry = entry.trim().to_owned();
    rules.entry(&entry) == Entry::Text
        && match guess(std::slice::from_ref(&entry), 1, rules) {
            Ok(_) => true,
            // Two readings are a time as well.
            Err(problem) => problem.text.contains(" or like "),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[&str]) -> Result<TimeFormat, String> {
        let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
        guess(&entries, 1, &NumberRules::default()).map_err(|problem| problem.to_string())
    }

    fn pattern(pattern: &str) -> Result<TimeFormat, String> {
        Ok(TimeFormat::Pattern(pattern.to_owned()))
    }

    #[test]
    fn the_usual_ways_to_write_times_are_recognised() {
        assert_eq!(of(&["0", "1.5"]), Ok(TimeFormat::Number));
        assert_eq!(of(&["20240131", "20240201"]), pattern("%Y%m%d"));
        assert_eq!(of(&["20240131", "20241301"]), Ok(TimeFormat::Number));
        assert_eq!(
            of(&["1700000000", "1700000060"]),
            Ok(TimeFormat::EpochSeconds)
        );
        assert_eq!(of(&["1700000000000"]), Ok(TimeFormat::EpochMilliseconds));
        assert_eq!(of(&["1700000000000000"]), Ok(TimeFormat::EpochMicroseconds));
        assert_eq!(
            of(&["1700000000000000000"]),
            Ok(TimeFormat::EpochNanoseconds)
        );
        assert_eq!(of(&["2024-03-31 12:00"]), Ok(TimeFormat::Auto));
        assert_eq!(of(&["2012/01/01", "2012/01/02"]), pattern("%Y/%m/%d"));
        assert_eq!(of(&["31.01.2024 12:30"]), pattern("%d.%m.%Y %H:%M"));
        assert_eq!(of(&["1/31/2024 1:30 PM"]), pattern("%m/%d/%Y %I:%M %p"));
        assert_eq!(of(&["1/2/2024", "13/2/2024"]), pattern("%d/%m/%Y"));
        assert_eq!(of(&["31 Jan 2024"]), pattern("%d %b %Y"));
        assert_eq!(of(&["2020-01", "2020-02"]), pattern("%Y-%m"));
        assert_eq!(of(&["2020-Q1", "2020-Q2"]), pattern("%Y-Q%q"));
        assert_eq!(of(&["2020-W05"]), pattern("%G-W%V"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_asked_about() {
        let problem = of(&["1/2/2024", "3/4/2024"]).unwrap_err();
        assert!(problem.starts_with("`1/2/2024` can be a time like `%d/%m/%Y` or like `%m/%d/%Y`"));
        assert!(of(&["noon"]).unwrap_err().contains("give the time format"));
        let rules = NumberRules::default();
        assert!(looks_like_time("1/2/2024", &rules) && looks_like_time("2020-01", &rules));
        assert!(!looks_like_time("noon", &rules) && !looks_like_time("7", &rules));
    }
}
