//! All that is known about a table beside its rows: enough to write one like it.
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use jiff::tz::TimeZone;

use super::cells::counts_per_second;
use super::columns::Columns;
use super::formats::{Formats, Npz, NpzForm, TableFormat};
use super::number::NumberRules;
use super::options::TimeFormat;
use super::time::{FINEST_SECONDS, TimeForm};
use crate::error::Problem;

/// Columns, numbers, times and storage of a table.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The use of each column.
    pub columns: Columns,
    /// How numbers are written.
    pub numbers: NumberRules,
    /// How times are written.
    pub times: TimeForm,
    /// The format of the table, with the particulars that were found.
    pub format: Arc<dyn TableFormat>,
    /// The formats that are known.
    pub formats: Formats,
    /// The file that was read.
    pub file: PathBuf,
    /// Whether rows of several series stand mixed.
    pub mixed: bool,
}

impl Shape {
    /// Whether times are seconds since 1970, and not plain numbers of an unknown unit.
    pub fn times_are_seconds(&self) -> bool {
        self.times.is_seconds()
    }

    /// Where people look at the times: the zone of the column or of its first entry; for times without one, the
    /// zone the user gave, or UTC.
    pub fn time_zone(&self) -> TimeZone {
        self.times.home().clone()
    }

    /// The smallest difference between two times that can be stored, in seconds where times are
    /// dates; `None` where it does not matter.
    pub fn finest_step(&self) -> Option<f64> {
        let [time] = self.columns.time[..] else {
            return self.times.finest();
        };
        let kind = self.columns.schema.field(time).data_type();
        match counts_per_second(kind) {
            Some(per_second) => Some(1.0 / per_second),
            None if kind.is_integer() && self.times.is_number() => {
                Some(self.times.from_number(1.0))
            }
            None => self.times.finest(),
        }
    }

    /// Whether rows this far apart can be told apart by their stored times.
    ///
    /// # Errors
    /// If not; the finest step that works is said.
    pub fn check_step(&self, step: f64) -> Result<(), String> {
        if self.times.is_period() {
            let problem = "the times of the table are months, quarters or weeks, between which no row can be written";
            return Err(problem.to_owned());
        }
        let Some(finest) = self.finest_step() else {
            return Ok(());
        };
        let steps = step / finest;
        // A step of thousands of nanoseconds need not be exact to the last one.
        if (steps - steps.round()).abs() * finest <= (finest * 1e-3).max(FINEST_SECONDS) {
            return Ok(());
        }
        Err(format!(
            "the times of the table are stored in steps of {0}; give a multiple of {0}",
            self.describe_length(finest)
        ))
    }

    /// A length of time for people.
    pub(super) fn describe_length(&self, length: f64) -> String {
        let units = [
            ("day", 86_400.0),
            ("hour", 3600.0),
            ("minute", 60.0),
            ("second", 1.0),
        ];
        let unit = units.iter().find(|(_, seconds)| length >= *seconds);
        match unit.filter(|_| self.times_are_seconds()) {
            Some((name, seconds)) if length == *seconds => format!("1 {name}"),
            Some((name, seconds)) => format!("{} {name}s", length / seconds),
            None => length.to_string(),
        }
    }

    /// A time as people write it for this table: as a number of seconds since 1970 where the times are
    /// dates.
    ///
    /// # Errors
    /// If the text is no time of the table's form.
    pub fn read_time(&self, text: &str) -> Result<f64, Problem> {
        self.times.read(text)
    }

    /// The time as text, in the form of `like`, an entry of the table. With several time columns
    /// the parts are separated by spaces.
    ///
    /// # Errors
    /// If there is no such date.
    pub fn write_time(&self, time: f64, like: &str) -> Result<String, String> {
        self.times.write(time, like)
    }

    /// A new long table: `id` (integers), `time`, then the channels as 32-bit floats.
    pub fn generated(channel_names: &[String]) -> Self {
        let mut fields = vec![
            Field::new("id", DataType::Int64, false),
            Field::new("time", DataType::Float64, false),
        ];
        fields.extend(
            channel_names
                .iter()
                .map(|name| Field::new(name, DataType::Float32, true)),
        );
        let channels = (2..fields.len()).collect();
        let schema = Arc::new(Schema::new(fields));
        let numbers = NumberRules::default();
        let times = TimeForm::new(&TimeFormat::Number, None, &numbers, None);
        Self {
            columns: Columns {
                schema,
                ids: vec![0],
                time: vec![1],
                channels,
                integers: Vec::new(),
            },
            times: times.expect("numbers need no zone"),
            numbers,
            format: Arc::new(Npz {
                form: Some(NpzForm::Dense { frame: None }),
            }),
            formats: Formats::default(),
            file: PathBuf::new(),
            mixed: false,
        }
    }
}

/// The zone of a column: Arrow names it, or gives a distance from UTC such as `+02:00`.
pub(super) fn zone_of_column(text: &str) -> Option<TimeZone> {
    let fixed = || jiff::fmt::strtime::parse("%:z", text).ok()?.offset();
    TimeZone::get(text)
        .ok()
        .or_else(|| fixed().map(TimeZone::fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_names_its_zone_or_its_distance() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(zone_of_column("+02:00"), Some(east));
        let rome = zone_of_column("Europe/Rome").unwrap();
        assert_eq!(rome.iana_name(), Some("Europe/Rome"));
        assert_eq!(zone_of_column("elsewhere"), None);
    }
}
