//! Columns of any type as text, floats or integers.
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_cast::{CastOptions, can_cast_types, cast, cast_with_options};
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

/// Whether entries of this type can be written as text.
pub(super) fn has_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(..)) || can_cast_types(kind, &DataType::Utf8)
}

/// A column as another type. What the other type cannot hold is an error, not a hole.
pub(super) fn convert(column: &ArrayRef, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    match kind {
        _ if column.data_type() == kind => Ok(column.clone()),
        DataType::Utf8 => Ok(Arc::new(texts(column)?)),
        _ => {
            let strict = CastOptions {
                safe: false,
                ..CastOptions::default()
            };
            cast_with_options(column, kind, &strict)
        }
    }
}

/// Values in the type of a column: integers rounded, decimals rounded to their scale, both kept
/// within what the type can hold.
pub(super) fn from_values(values: &[Option<f64>], kind: &DataType) -> Result<ArrayRef, ArrowError> {
    macro_rules! integers {
        ($array:ident, $number:ty) => {
            // `as` goes to the nearest number of the type.
            Arc::new(
                values
                    .iter()
                    .map(|value| value.map(|value| value.round() as $number))
                    .collect::<$array>(),
            )
        };
    }
    Ok(match kind {
        DataType::Int8 => integers!(Int8Array, i8),
        DataType::Int16 => integers!(Int16Array, i16),
        DataType::Int32 => integers!(Int32Array, i32),
        DataType::Int64 => integers!(Int64Array, i64),
        DataType::UInt8 => integers!(UInt8Array, u8),
        DataType::UInt16 => integers!(UInt16Array, u16),
        DataType::UInt32 => integers!(UInt32Array, u32),
        DataType::UInt64 => integers!(UInt64Array, u64),
        DataType::Decimal128(precision, scale) => {
            let most = 10_i128.pow(u32::from(*precision)) - 1;
            let count = |value: f64| (value * 10_f64.powi(i32::from(*scale))).round() as i128;
            let counts = values
                .iter()
                .map(|value| value.map(|value| count(value).clamp(-most, most)));
            let counts = counts.collect::<Decimal128Array>();
            Arc::new(counts.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Boolean => {
            let flag = |value: &Option<f64>| value.map(|value| value.round() != 0.0);
            Arc::new(values.iter().map(flag).collect::<BooleanArray>())
        }
        _ => {
            let floats: ArrayRef = Arc::new(values.iter().copied().collect::<Float64Array>());
            convert(&floats, kind)?
        }
    })
}

/// Smallest and largest integer of a type; `None` for other types.
pub(super) fn integer_range(kind: &DataType) -> Option<(f64, f64)> {
    Some(match kind {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::Int64 => (i64::MIN as f64, i64::MAX as f64),
        DataType::UInt8 => (0.0, u8::MAX.into()),
        DataType::UInt16 => (0.0, u16::MAX.into()),
        DataType::UInt32 => (0.0, u32::MAX.into()),
        DataType::UInt64 => (0.0, u64::MAX as f64),
        DataType::Dictionary(_, values) => return integer_range(values),
        _ => return None,
    })
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
    fn values_are_brought_to_the_nearest_of_a_type() {
        let of = |kind: DataType| {
            let values = [Some(1.5), Some(-400.0), Some(1e30), None];
            texts(&from_values(&values, &kind).unwrap()).unwrap()
        };
        let texts = |texts: [&str; 4]| StringArray::from(texts.to_vec());
        assert_eq!(of(DataType::Int8), texts(["2", "-128", "127", ""]));
        assert_eq!(of(DataType::UInt16), texts(["2", "0", "65535", ""]));
        let decimal = of(DataType::Decimal128(5, 2));
        assert_eq!(decimal, texts(["1.50", "-400.00", "999.99", ""]));
        assert_eq!(of(DataType::Float64), texts(["1.5", "-400.0", "1e30", ""]));
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
