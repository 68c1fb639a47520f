//! Columns of any type as text, floats or integers.
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, TimeUnit};

/// Entries as text; missing ones are empty.
pub(super) fn texts(column: &ArrayRef) -> Result<StringArray, ArrowError> {
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
    use std::sync::Arc;

    #[test]
    fn missing_entries_are_empty_texts_and_nan_floats() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), None]));
        assert_eq!(texts(&column).unwrap(), StringArray::from(vec!["3", ""]));
        let floats = floats(&column).unwrap();
        assert!(floats[0] == 3.0 && floats[1].is_nan());
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
