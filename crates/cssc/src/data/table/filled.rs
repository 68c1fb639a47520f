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
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::cells::{self, counts_per_second, is_text};
use super::series_rows::SeriesRows;
use super::shape::Shape;
use crate::Error;
use crate::data::{Filled, Series};

/// Columns that are added behind those that were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// A column `filled` with the names of the channels that were filled in the row, separated
    /// by `|`.
    pub filled: bool,
    /// Columns `NAME_lower` and `NAME_upper` for every channel.
    pub bands: bool,
}

/// One of these columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    Filled,
    /// Lower (0) or upper (1) end of the band of a channel.
    Band(usize, usize),
}

impl Extras {
    /// The columns in order, with their fields.
    pub(super) fn columns(self, shape: &Shape, to_text: bool) -> Vec<(Extra, Field)> {
        let mut columns = Vec::new();
        if self.bands {
            for (channel, name) in shape.columns.channel_names().iter().enumerate() {
                for (end, word) in ["lower", "upper"].into_iter().enumerate() {
                    let kind = if to_text {
                        DataType::Utf8
                    } else {
                        DataType::Float64
                    };
                    let field = Field::new(format!("{name}_{word}"), kind, true);
                    columns.push((Extra::Band(channel, end), field));
                }
            }
        }
        if self.filled {
            columns.push((Extra::Filled, Field::new("filled", DataType::Utf8, true)));
        }
        columns
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
    extras: &'a [Extra],
    order: Vec<Row>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        rows: &'a SeriesRows,
        filled: &'a Filled,
        extras: &'a [Extra],
    ) -> Result<Self, Error> {
        let (series, channels) = (&rows.series, rows.series.channels());
        let counts = [
            (series.len(), filled.values.len()),
            (filled.new_times.len(), filled.new_values.len()),
        ];
        for (times, found) in counts {
            if times * channels != found {
                return Err(Error::ValueCount {
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
            extras,
            order: merge(series.times(), filled),
        })
    }

    /// The rows in order of time, with the types of `schema`.
    pub(super) fn batch(&self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let columns = &self.shape.columns;
        let build = |at: usize| {
            let kind = schema.field(at).data_type();
            let read = columns.schema.fields().len();
            let column = if at >= read {
                Ok(self.extra(self.extras[at - read], kind))
            } else if let Some(channel) = columns.channels.iter().position(|&one| one == at) {
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
        if self.filled.new_times.is_empty() && self.filled.kept.is_none() {
            return Ok(column.clone());
        }
        let from = |row: &Row| match row {
            Row::Old(row) => Some(*row as u64),
            Row::New(_) => is_id.then_some(0),
        };
        let from: UInt64Array = self.order.iter().map(from).collect();
        take(column, &from, None)
    }

    fn extra(&self, extra: Extra, kind: &DataType) -> ArrayRef {
        match extra {
            Extra::Filled => {
                let names = self.shape.columns.channel_names();
                let ours = |&row: &Row| Some(self.filled_names(row, &names).join("|"));
                Arc::new(self.order.iter().map(ours).collect::<StringArray>())
            }
            Extra::Band(channel, end) if is_text(kind) => {
                let text = |&row: &Row| {
                    let band = self.band(row, channel, end)?;
                    Some(self.shape.numbers.write(readable(band)))
                };
                Arc::new(self.order.iter().map(text).collect::<StringArray>())
            }
            Extra::Band(channel, end) => {
                let bands = self.order.iter().map(|&row| self.band(row, channel, end));
                Arc::new(bands.collect::<Float64Array>())
            }
        }
    }

    /// Names of the channels that were filled in a row.
    fn filled_names<'n>(&self, row: Row, names: &'n [String]) -> Vec<&'n str> {
        let ours = |&channel: &usize| {
            let was_missing = match row {
                Row::Old(row) => self.rows.series.value(row, channel).is_none(),
                Row::New(_) => true,
            };
            was_missing && self.value(row, channel).is_some()
        };
        (0..names.len())
            .filter(ours)
            .map(|channel| names[channel].as_str())
            .collect()
    }

    fn band(&self, row: Row, channel: usize, end: usize) -> Option<f64> {
        let channels = self.rows.series.channels();
        let (bands, row) = match row {
            Row::Old(row) => (&self.filled.bands, row),
            Row::New(row) => (&self.filled.new_bands, row),
        };
        let value = bands.as_ref()?[end][row * channels + channel];
        Some(value).filter(|value| !value.is_nan())
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
        if kind.is_integer() {
            // Old entries bit for bit, since an f64 does not hold every integer.
            return self.whole_numbers(column, channel, kind);
        }
        if !is_text(column.data_type()) || !is_text(kind) {
            let values = self.order.iter().map(|&row| self.value(row, channel));
            return Ok(Arc::new(values.collect::<Float64Array>()));
        }
        let texts = cells::texts(column)?;
        let entry = |&row: &Row| -> Option<String> {
            let value = self
                .value(row, channel)
                .map(|value| self.shape.numbers.write(readable(value)));
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

    fn whole_numbers(
        &self,
        column: &ArrayRef,
        channel: usize,
        kind: &DataType,
    ) -> Result<ArrayRef, ArrowError> {
        let rounded = |&row: &Row| match row {
            Row::Old(at) if self.is_kept(at, channel) => None,
            _ => self.value(row, channel).map(f64::round),
        };
        let ours: ArrayRef = Arc::new(self.order.iter().map(rounded).collect::<Float64Array>());
        let ours = cast(&ours, kind)?;
        let from = |(place, row): (usize, &Row)| match *row {
            Row::Old(at) if self.is_kept(at, channel) => (0, at),
            _ => (1, place),
        };
        let from: Vec<(usize, usize)> = self.order.iter().enumerate().map(from).collect();
        interleave(&[column.as_ref(), ours.as_ref()], &from)
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

/// Nine digits: more than any measurement has, and few enough to be read.
fn readable(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

fn merge(old: &[f64], filled: &Filled) -> Vec<Row> {
    let new = &filled.new_times;
    let kept = match &filled.kept {
        Some(kept) => kept.clone(),
        None => (0..old.len()).collect(),
    };
    let mut order: Vec<Row> = kept
        .into_iter()
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

/// The types of the table that is written: those that were read, except that text becomes numbers
/// when a text table is written to a binary one. Channels of integers stay whole: what is
/// filled in is rounded. Behind them the extra columns.
pub(super) fn written_schema(shape: &Shape, to_text: bool, extras: &[(Extra, Field)]) -> SchemaRef {
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
            let float = channel && matches!(kind, DataType::Decimal128(..));
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
    let extras = extras.iter().map(|(_, field)| field.clone());
    Arc::new(arrow_schema::Schema::new(
        fields.chain(extras).collect::<Vec<_>>(),
    ))
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
