//! Rows of a series with its holes filled and new rows between them, as columns to be written.
//!
//! An entry that was there is kept as it was read, text for text. Only holes are filled, and
//! values that are means of several rows replaced. A new row has its id, its time in the form of
//! the row before it, its values, and nothing in the columns that are passed through.
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::take::take;

use super::cells::{self, counts_per_second, is_text};
use super::series_rows::SeriesRows;
use super::shape::Shape;
use crate::data::{DataError, Series};

/// What a method made of a series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filled {
    /// Values at the times of the series, time-major; NaN stays missing.
    pub values: Vec<f64>,
    /// Times of new rows, increasing, none of them a time of the series.
    pub new_times: Vec<f64>,
    /// Values at the new times, time-major.
    pub new_values: Vec<f64>,
}

impl Filled {
    /// The series as it is: nothing filled, nothing new.
    pub fn unchanged(series: &Series) -> Self {
        Self {
            values: series.values().to_vec(),
            ..Self::default()
        }
    }
}

/// Where an output row comes from.
#[derive(Clone, Copy)]
enum Row {
    Old(usize),
    New(usize),
}

/// Builds output rows for one series.
pub(super) struct Builder<'a> {
    shape: &'a Shape,
    rows: &'a SeriesRows,
    filled: &'a Filled,
    order: Vec<Row>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        rows: &'a SeriesRows,
        filled: &'a Filled,
    ) -> Result<Self, DataError> {
        let (series, channels) = (&rows.series, rows.series.channels());
        let counts = [
            (series.len(), filled.values.len()),
            (filled.new_times.len(), filled.new_values.len()),
        ];
        for (times, found) in counts {
            if times * channels != found {
                return Err(DataError::ValueCount {
                    series: series.label(),
                    times,
                    channels,
                    found,
                });
            }
        }
        Ok(Self {
            shape,
            rows,
            filled,
            order: merge(series.times(), &filled.new_times),
        })
    }

    /// The rows in order of time, with the types of `schema`.
    pub(super) fn batch(&self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let columns = &self.shape.columns;
        let build = |at: usize| {
            let kind = schema.field(at).data_type();
            let column = if let Some(channel) = columns.channels.iter().position(|&one| one == at) {
                self.channel(at, channel, kind)
            } else if let Some(part) = columns.time.iter().position(|&one| one == at) {
                self.time(at, part, kind)
            } else {
                self.passed(at, columns.id == Some(at))
            };
            let column = column?;
            cast(&column, kind)
        };
        let built = (0..schema.fields().len())
            .map(build)
            .collect::<Result<_, _>>()?;
        RecordBatch::try_new(schema.clone(), built)
    }

    /// Old entries as they are; new rows get the id, and nothing else.
    fn passed(&self, column: usize, is_id: bool) -> Result<ArrayRef, ArrowError> {
        let column = self.rows.rows.column(column);
        if self.filled.new_times.is_empty() {
            return Ok(column.clone());
        }
        let from = |row: &Row| match row {
            Row::Old(row) => Some(*row as u64),
            Row::New(_) => is_id.then_some(0),
        };
        let from: UInt64Array = self.order.iter().map(from).collect();
        take(column, &from, None)
    }

    fn value(&self, row: Row, channel: usize) -> Option<f64> {
        let channels = self.rows.series.channels();
        let value = match row {
            Row::Old(row) => self.filled.values[row * channels + channel],
            Row::New(row) => self.filled.new_values[row * channels + channel],
        };
        Some(value).filter(|value| !value.is_nan())
    }

    fn channel(
        &self,
        column: usize,
        channel: usize,
        kind: &DataType,
    ) -> Result<ArrayRef, ArrowError> {
        let column = self.rows.rows.column(column);
        if !is_text(column.data_type()) || !is_text(kind) {
            let values = self.order.iter().map(|&row| self.value(row, channel));
            return Ok(Arc::new(values.collect::<Float64Array>()));
        }
        let texts = cells::texts(column)?;
        let entry = |&row: &Row| -> Option<String> {
            let value = self
                .value(row, channel)
                .map(|value| self.shape.numbers.write(value));
            match row {
                // What was observed, or stays missing, is written as it was read.
                Row::Old(at) if self.is_kept(at, channel) || value.is_none() => {
                    (!column.is_null(at)).then(|| texts.value(at).to_owned())
                }
                _ => value,
            }
        };
        Ok(Arc::new(
            self.order.iter().map(entry).collect::<StringArray>(),
        ))
    }

    /// Whether an old entry is a value that was read from this row alone.
    fn is_kept(&self, row: usize, channel: usize) -> bool {
        self.rows.series.value(row, channel).is_some()
            && self.rows.averaged.binary_search(&row).is_err()
    }

    fn time(&self, column: usize, part: usize, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        let column = self.rows.rows.column(column);
        let read = column.data_type();
        if is_text(read) && is_text(kind) {
            return self.time_texts(column, part);
        }
        if let Some(per_second) = counts_per_second(read) {
            // Old entries bit for bit, since an f64 does not hold every nanosecond.
            let old = cells::integers(column)?;
            let count = |&row: &Row| match row {
                Row::Old(row) => Some(old.value(row)),
                Row::New(row) => Some((self.filled.new_times[row] * per_second).round() as i64),
            };
            let counts = self.order.iter().map(count).collect::<Int64Array>();
            return cells::from_integers(Arc::new(counts), read);
        }
        let time = |&row: &Row| match row {
            Row::Old(row) => self.rows.series.times()[row],
            Row::New(row) => self.filled.new_times[row],
        };
        let numbers = self
            .order
            .iter()
            .map(time)
            .map(|time| Some(self.shape.times.to_number(time)));
        Ok(Arc::new(numbers.collect::<Float64Array>()))
    }

    fn time_texts(&self, column: &ArrayRef, part: usize) -> Result<ArrayRef, ArrowError> {
        let own = cells::texts(column)?;
        let parts = self
            .shape
            .columns
            .time
            .iter()
            .map(|&one| cells::texts(self.rows.rows.column(one)));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let mut model = 0;
        let mut entries = Vec::with_capacity(self.order.len());
        for row in &self.order {
            match *row {
                Row::Old(row) => {
                    model = row;
                    entries.push(own.value(row).to_owned());
                }
                Row::New(row) => {
                    let like: Vec<&str> =
                        parts.iter().map(|part| part.value(model).trim()).collect();
                    let text = self
                        .shape
                        .times
                        .write(self.filled.new_times[row], &like.join(" "))
                        .map_err(ArrowError::InvalidArgumentError)?;
                    let one = parts.len() == 1;
                    let text = if one {
                        Some(&text[..])
                    } else {
                        text.split_whitespace().nth(part)
                    };
                    entries.push(text.unwrap_or("").to_owned());
                }
            }
        }
        Ok(Arc::new(StringArray::from(entries)))
    }
}

fn merge(old: &[f64], new: &[f64]) -> Vec<Row> {
    let mut order: Vec<Row> = (0..old.len())
        .map(Row::Old)
        .chain((0..new.len()).map(Row::New))
        .collect();
    let time = |row: &Row| match *row {
        Row::Old(row) => old[row],
        Row::New(row) => new[row],
    };
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    order
}

/// The types of the table that is written: those that were read, except that channels of whole
/// numbers become floats, since what is filled in is seldom whole; and that text becomes numbers
/// when a text table is written to a binary one.
pub(super) fn written_schema(shape: &Shape, to_text: bool) -> SchemaRef {
    let columns = &shape.columns;
    let fields = columns
        .schema
        .fields()
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let kind = field.data_type();
            let channel = columns.channels.contains(&at);
            let plain_time = columns.time[..] == [at] && shape.times.is_number();
            let float =
                channel && !matches!(kind, DataType::Float16 | DataType::Float32) && !is_text(kind);
            if to_text {
                field
                    .as_ref()
                    .clone()
                    .with_data_type(DataType::Utf8)
                    .with_nullable(true)
            } else if float || (is_text(kind) && (channel || plain_time)) {
                field
                    .as_ref()
                    .clone()
                    .with_data_type(DataType::Float64)
                    .with_nullable(true)
            } else if counts_per_second(kind).is_none() && columns.time.contains(&at) {
                field.as_ref().clone()
            } else {
                field.as_ref().clone().with_nullable(true)
            }
        });
    Arc::new(arrow_schema::Schema::new(fields.collect::<Vec<_>>()))
}

/// The rows of a series that was not read from a table, for the columns of [`Shape::generated`].
pub(super) fn series_batch(series: &Series, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let ids: ArrayRef = Arc::new(StringArray::from(vec![
        series.id().unwrap_or("0");
        series.len()
    ]));
    let mut columns = vec![
        ids,
        Arc::new(Float64Array::from(series.times().to_vec())) as ArrayRef,
    ];
    for channel in 0..series.channels() {
        let values = (0..series.len()).map(|row| series.value(row, channel));
        columns.push(Arc::new(values.collect::<Float64Array>()));
    }
    let typed = columns.iter().zip(schema.fields());
    let typed = typed.map(|(column, field)| cast(column, field.data_type()));
    RecordBatch::try_new(schema.clone(), typed.collect::<Result<_, _>>()?)
}
