//! Columns of any type as text, floats or integers.
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::shape::zone_of_column;

/// Entries as text; missing ones are empty.
pub(super) fn texts(column: &ArrayRef) -> Result<StringArray, ArrowError> {
    if let DataType::Timestamp(unit, Some(zone)) = column.data_type() {
        return zoned_texts(column, *unit, zone);
    }
    let column = cast(column, &DataType::Utf8)?;
    let texts = column
        .as_any()
        .downcast_ref::<StringArray>()
        .expect("cast to text");
    if texts.null_count() == 0 {
        return Ok(texts.clone());
    }
    Ok(texts.iter().map(|text| Some(text.unwrap_or(""))).collect())
}

/// Moments in the zone of their column, with the distance from UTC: Arrow itself knows no names of
/// zones. A zone that nobody knows is taken for UTC, which changes no moment.
fn zoned_texts(column: &ArrayRef, unit: TimeUnit, zone: &str) -> Result<StringArray, ArrowError> {
    let zone = zone_of_column(zone).unwrap_or(TimeZone::UTC);
    let pattern = if zone == TimeZone::UTC {
        "%Y-%m-%dT%H:%M:%S%.fZ"
    } else {
        "%Y-%m-%dT%H:%M:%S%.f%:z"
    };
    let text = |count: Option<i64>| match count {
        None => Ok(Some(String::new())),
        Some(count) => {
            let moment = moment(count, unit).map(|moment| moment.to_zoned(zone.clone()));
            let text = moment.and_then(|moment| jiff::fmt::strtime::format(pattern, &moment));
            text.map(Some)
        }
    };
    let texts: Result<StringArray, jiff::Error> = integers(column)?.iter().map(text).collect();
    texts.map_err(|error| ArrowError::CastError(error.to_string()))
}

fn moment(count: i64, unit: TimeUnit) -> Result<Timestamp, jiff::Error> {
    match unit {
        TimeUnit::Second => Timestamp::from_second(count),
        TimeUnit::Millisecond => Timestamp::from_millisecond(count),
        TimeUnit::Microsecond => Timestamp::from_microsecond(count),
        TimeUnit::Nanosecond => Timestamp::from_nanosecond(i128::from(count)),
    }
}

/// Entries as floats; missing ones are NaN.
pub(super) fn floats(column: &ArrayRef) -> Result<Vec<f64>, ArrowError> {
    let column = cast(column, &DataType::Float64)?;
    let floats = column
        .as_any()
        .downcast_ref::<Float64Array>()
        .expect("cast to floats");
    if floats.null_count() == 0 {
        return Ok(floats.values().to_vec());
    }
    Ok(floats
        .iter()
        .map(|value| value.unwrap_or(f64::NAN))
        .collect())
}

/// Entries as integers; dates and timestamps as their counts.
pub(super) fn integers(column: &ArrayRef) -> Result<Int64Array, ArrowError> {
    let column = match column.data_type() {
        DataType::Date32 => cast(&cast(column, &DataType::Int32)?, &DataType::Int64)?,
        _ => cast(column, &DataType::Int64)?,
    };
    Ok(column
        .as_any()
        .downcast_ref::<Int64Array>()
        .expect("cast to integers")
        .clone())
}

/// The opposite of [`integers`].
pub(super) fn from_integers(counts: ArrayRef, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    match kind {
        DataType::Date32 => cast(&cast(&counts, &DataType::Int32)?, kind),
        _ => cast(&counts, kind),
    }
}

/// Counts of a date or timestamp in a second; `None` for other types.
pub(super) fn counts_per_second(kind: &DataType) -> Option<f64> {
    match kind {
        DataType::Date32 => Some(1.0 / 86_400.0),
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => Some(1e3),
        DataType::Timestamp(TimeUnit::Second, _) => Some(1.0),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Some(1e6),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Some(1e9),
        _ => None,
    }
}

/// Whether entries of this type are text.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::TimestampMillisecondArray;
    use std::sync::Arc;

    #[test]
    fn missing_entries_are_empty_texts_and_nan_floats() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), None]));
        assert_eq!(texts(&column).unwrap(), StringArray::from(vec!["3", ""]));
        let floats = floats(&column).unwrap();
        assert!(floats[0] == 3.0 && floats[1].is_nan());
    }

    #[test]
    fn moments_are_written_in_the_zone_of_their_column() {
        let of = |zone: &str| {
            let moments = TimestampMillisecondArray::from(vec![Some(1_711_846_800_500), None]);
            let column: ArrayRef = Arc::new(moments.with_timezone(zone));
            texts(&column).unwrap()
        };
        let one = |text: &str| StringArray::from(vec![text, ""]);
        assert_eq!(of("UTC"), one("2024-03-31T01:00:00.5Z"));
        assert_eq!(of("Europe/Rome"), one("2024-03-31T03:00:00.5+02:00"));
        assert_eq!(of("-05:00"), one("2024-03-30T20:00:00.5-05:00"));
        assert_eq!(of("elsewhere"), one("2024-03-31T01:00:00.5Z"));
    }

    #[test]
    fn counts_of_dates_come_back_as_dates() {
        let days: ArrayRef = Arc::new(Int64Array::from(vec![19_813, -1]));
        let dates = from_integers(days.clone(), &DataType::Date32).unwrap();
        assert_eq!(
            texts(&dates).unwrap(),
            StringArray::from(vec!["2024-03-31", "1969-12-31"])
        );
        assert_eq!(
            &integers(&dates).unwrap(),
            days.as_any().downcast_ref::<Int64Array>().unwrap()
        );
    }
}
