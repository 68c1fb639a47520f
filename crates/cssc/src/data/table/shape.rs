//! All that is known about a table beside its rows: enough to write one like it.
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use jiff::tz::TimeZone;

use super::blocks::Storage;
use super::cells::counts_per_second;
use super::columns::Columns;
use super::npz_table::NpzForm;
use super::number::NumberRules;
use super::options::TimeFormat;
use super::time::TimeForm;

/// Columns, numbers, times and storage of a table.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The use of each column.
    pub columns: Columns,
    /// How numbers are written.
    pub numbers: NumberRules,
    /// How times are written.
    pub times: TimeForm,
    /// How the table is stored.
    pub storage: Storage,
}

impl Shape {
    /// Whether times are seconds since 1970, and not plain numbers of an unknown unit.
    pub fn times_are_seconds(&self) -> bool {
        let first = self.columns.schema.field(self.columns.time[0]).data_type();
        counts_per_second(first).is_some() || self.times.is_seconds()
    }

    /// Where people look at the times: the zone of the column or of its first entry; for times without one, the
    /// zone the user gave, or UTC.
    pub fn time_zone(&self) -> TimeZone {
        let first = self.columns.schema.field(self.columns.time[0]).data_type();
        let named = match first {
            DataType::Timestamp(_, Some(zone)) => zone_of_column(zone),
            _ => None,
        };
        named.unwrap_or_else(|| self.times.home().clone())
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
                id: Some(0),
                time: vec![1],
                channels,
            },
            times: times.expect("numbers need no zone"),
            numbers,
            storage: Storage::Npz(NpzForm::Dense),
        }
    }
}

/// Arrow names a zone, or gives a distance from UTC such as `+02:00`.
fn zone_of_column(text: &str) -> Option<TimeZone> {
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
