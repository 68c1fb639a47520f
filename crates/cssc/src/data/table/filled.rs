//! Rows of a series with its holes filled and new rows between them, as columns to be written.
//!
//! An entry that was there is kept as it was read: text for text, bit for bit, and as exactly when
//! the table is written in another format. Only holes are filled, and values that are means of
//! several rows replaced, in the type of their column; as text they are the shortest that reads back
//! the same. A new row has its id, its time in the form of the row before it, its values, and
//! nothing in the columns that are passed through.
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::cells::{self, counts_per_second, is_text};
use super::shape::Shape;
use super::time::FINEST_SECONDS;
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

/// Rows of a series that follow each other, as they were read.
pub(super) struct Piece<'a> {
    pub(super) series: &'a Series,
    /// The number of the first of them in the series.
    pub(super) first: usize,
    pub(super) rows: &'a RecordBatch,
    /// Where each stands in the table.
    pub(super) numbers: &'a [u64],
    /// Rows of the whole series whose values are means, increasing.
    pub(super) averaged: &'a [usize],
}

/// Where an output row comes from: a row of the piece, or a new row of the series.
#[derive(Clone, Copy)]
enum Row {
    Old(usize),
    New(usize),
}

/// Builds output rows for a piece of a series.
pub(super) struct Builder<'a> {
    shape: &'a Shape,
    piece: &'a Piece<'a>,
    filled: &'a Filled,
    extras: &'a [Extra],
    /// The new rows that stand between those of the piece, or behind them.
    new: Range<usize>,
    order: Vec<Row>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        piece: &'a Piece<'a>,
        filled: &'a Filled,
        extras: &'a [Extra],
    ) -> Self {
        let new = new_rows(piece, &filled.new_times);
        Self {
            shape,
            piece,
            filled,
            extras,
            order: merge(piece, filled, new.clone()),
            new,
        }
    }

    /// Where each of the rows belongs in the table: an old row where it stood, a new one behind the row
    /// before it in time. Where rows were added to a series that did not stand in order of time, it stands so now.
    pub(super) fn places(&self) -> Vec<u64> {
        let mut sorted = self.piece.numbers.to_vec();
        if !self.new.is_empty() {
            sorted.sort_unstable();
        }
        let mut last = sorted.first().copied().unwrap_or(0);
        let place = |row: &Row| {
            if let Row::Old(row) = row {
                last = sorted[*row];
            }
            last
        };
        self.order.iter().map(place).collect()
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
                self.passed(at, columns.ids.contains(&at))
            };
            cells::convert(&column?, kind)
        };
        let built = (0..schema.fields().len())
            .map(build)
            .collect::<Result<_, _>>()?;
        RecordBatch::try_new(schema.clone(), built)
    }

    /// Old entries as they are; new rows get the id, and nothing else.
    fn passed(&self, column: usize, is_id: bool) -> Result<ArrayRef, ArrowError> {
        let column = self.piece.rows.column(column);
        if self.is_as_read() {
            return Ok(column.clone());
        }
        let from = |row: &Row| match row {
            Row::Old(row) => Some(*row as u64),
            Row::New(_) => is_id.then_some(0),
        };
        let from: UInt64Array = self.order.iter().map(from).collect();
        take(column, &from, None)
    }

    /// Whether all rows are those that were read.
    fn is_as_read(&self) -> bool {
        self.new.is_empty() && self.filled.kept.is_none()
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
                    Some(self.shape.numbers.write(band))
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
                Row::Old(row) => self.observed(row, channel).is_none(),
                Row::New(_) => true,
            };
            was_missing && self.value(row, channel).is_some()
        };
        (0..names.len())
            .filter(ours)
            .map(|channel| names[channel].as_str())
            .collect()
    }

    /// The value that was read in a row of the piece.
    fn observed(&self, row: usize, channel: usize) -> Option<f64> {
        self.piece.series.value(self.piece.first + row, channel)
    }

    fn band(&self, row: Row, channel: usize, end: usize) -> Option<f64> {
        let channels = self.piece.series.channels();
        let (bands, row) = match row {
            Row::Old(row) => (&self.filled.bands, self.piece.first + row),
            Row::New(row) => (&self.filled.new_bands, row),
        };
        let value = bands.as_ref()?[end][row * channels + channel];
        Some(value).filter(|value| !value.is_nan())
    }

    fn value(&self, row: Row, channel: usize) -> Option<f64> {
        let channels = self.piece.series.channels();
        let value = match row {
            Row::Old(row) => self.filled.values[(self.piece.first + row) * channels + channel],
            Row::New(row) => self.filled.new_values[row * channels + channel],
        };
        Some(value).filter(|value| !value.is_nan())
    }

    /// Old entries as they are, what was filled in between them, both in the type that was read.
    fn channel(
        &self,
        column: usize,
        channel: usize,
        kind: &DataType,
    ) -> Result<ArrayRef, ArrowError> {
        let column = self.piece.rows.column(column);
        let read = column.data_type();
        if is_text(read) && !is_text(kind) {
            return self.numbers_of_texts(&cells::texts(column)?, channel, kind);
        }
        let ours = |&row: &Row| {
            let value = self.value(row, channel);
            value.filter(|_| !self.is_kept(row, channel))
        };
        let ours: Vec<Option<f64>> = self.order.iter().map(ours).collect();
        let from = self
            .order
            .iter()
            .enumerate()
            .map(|(place, row)| match *row {
                Row::Old(at) if ours[place].is_none() => (0, at),
                _ => (1, place),
            });
        let from: Vec<(usize, usize)> = from.collect();
        let ours = if is_text(read) {
            let text = |value: &Option<f64>| value.map(|value| self.shape.numbers.write(value));
            let texts: ArrayRef = Arc::new(ours.iter().map(text).collect::<StringArray>());
            cast(&texts, read)?
        } else {
            cells::from_values(&ours, read)?
        };
        interleave(&[column.as_ref(), ours.as_ref()], &from)
    }

    /// A column of text as numbers; integers that a float cannot hold are not made one.
    fn numbers_of_texts(
        &self,
        texts: &StringArray,
        channel: usize,
        kind: &DataType,
    ) -> Result<ArrayRef, ArrowError> {
        let exact = |row: Row| match row {
            Row::Old(at) if self.is_kept(row, channel) => {
                self.shape.numbers.integer(texts.value(at))
            }
            _ => None,
        };
        let values = self
            .order
            .iter()
            .map(|&row| (exact(row), self.value(row, channel)));
        if kind.is_integer() {
            let integer = |(exact, value): (Option<i128>, Option<f64>)| match exact {
                Some(exact) => i64::try_from(exact).map(Some).map_err(|_| {
                    ArrowError::InvalidArgumentError(format!(
                        "{exact} is beyond integers of 64 bits"
                    ))
                }),
                None => Ok(value.map(|value| value.round() as i64)),
            };
            let integers: Int64Array = values.map(integer).collect::<Result<_, _>>()?;
            return Ok(Arc::new(integers));
        }
        let float = |(exact, value): (Option<i128>, Option<f64>)| match (exact, value) {
            (Some(exact), Some(value)) if loses_digits(exact, value) => {
                Err(ArrowError::InvalidArgumentError(format!(
                    "the integer {exact} would lose digits as a float; say that the column holds integers"
                )))
            }
            _ => Ok(value),
        };
        let floats: Float64Array = values.map(float).collect::<Result<_, _>>()?;
        Ok(Arc::new(floats))
    }

    /// Whether an entry is a value that was read from this row alone.
    fn is_kept(&self, row: Row, channel: usize) -> bool {
        match row {
            Row::Old(row) => {
                let averaged = self.piece.averaged;
                self.observed(row, channel).is_some()
                    && averaged.binary_search(&(self.piece.first + row)).is_err()
            }
            Row::New(_) => false,
        }
    }

    /// Old times as they are, new ones in their type.
    fn time(&self, column: usize, part: usize, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        let column = self.piece.rows.column(column);
        let read = column.data_type();
        if is_text(read) {
            return self.times_of_texts(self.time_texts(column, part)?, kind);
        }
        let (new, form) = (self.new_times(), &self.shape.times);
        let (times, stored): (ArrayRef, Vec<f64>) = match counts_per_second(read) {
            Some(per_second) => {
                let counts = new.iter().map(|time| (time * per_second).round() as i64);
                let counts: Int64Array = counts.collect();
                let stored = counts
                    .values()
                    .iter()
                    .map(|&count| count as f64 / per_second);
                let stored = stored.collect();
                (cells::from_integers(Arc::new(counts), read)?, stored)
            }
            None => {
                let numbers = new.iter().map(|&time| Some(form.to_number(time)));
                let times = cells::from_values(&numbers.collect::<Vec<_>>(), read)?;
                let stored = cells::floats(&times)?;
                (
                    times,
                    stored
                        .into_iter()
                        .map(|number| form.from_number(number))
                        .collect(),
                )
            }
        };
        self.check_stored(&stored)?;
        let from = self.order.iter().map(|row| match *row {
            Row::Old(row) => (0, row),
            Row::New(row) => (1, row - self.new.start),
        });
        interleave(
            &[column.as_ref(), times.as_ref()],
            &from.collect::<Vec<_>>(),
        )
    }

    /// Times of the new rows.
    fn new_times(&self) -> &[f64] {
        &self.filled.new_times[self.new.clone()]
    }

    /// New times must be what they were meant to be, else rows would have equal times.
    fn check_stored(&self, stored: &[f64]) -> Result<(), ArrowError> {
        let Some(finest) = self.shape.finest_step() else {
            return Ok(());
        };
        let allowed = (finest * 1e-3).max(FINEST_SECONDS);
        let moved = |(asked, stored): (&f64, &f64)| (asked - stored).abs() > allowed;
        match self.new_times().iter().zip(stored).any(moved) {
            false => Ok(()),
            true => Err(ArrowError::InvalidArgumentError(format!(
                "new rows are not a multiple of {} apart, which is the finest the times of this \
                 table can tell",
                self.shape.describe_length(finest)
            ))),
        }
    }

    /// Times that are text, in the type that is written.
    fn times_of_texts(&self, texts: StringArray, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        if is_text(kind) {
            return Ok(Arc::new(texts));
        }
        if counts_per_second(kind).is_some() {
            let count =
                |text: Option<&str>| self.shape.times.stored_count(text.unwrap_or_default());
            let counts: Result<Vec<i64>, String> = texts.iter().map(count).collect();
            let counts = counts.map_err(ArrowError::InvalidArgumentError)?;
            return cells::from_integers(Arc::new(Int64Array::from(counts)), kind);
        }
        let time = |&row: &Row| match row {
            Row::Old(row) => self.piece.series.times()[self.piece.first + row],
            Row::New(row) => self.filled.new_times[row],
        };
        let numbers = self.order.iter().map(time);
        let numbers = numbers.map(|time| Some(self.shape.times.to_number(time)));
        Ok(Arc::new(numbers.collect::<Float64Array>()))
    }

    fn time_texts(&self, column: &ArrayRef, part: usize) -> Result<StringArray, ArrowError> {
        let own = cells::texts(column)?;
        if self.is_as_read() {
            return Ok(own);
        }
        let parts = self
            .shape
            .columns
            .time
            .iter()
            .map(|&one| cells::texts(self.piece.rows.column(one)));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let (mut model, mut stored) = (0, Vec::new());
        let mut entries = StringBuilder::new();
        for row in &self.order {
            match *row {
                Row::Old(row) => {
                    model = row;
                    entries.append_value(own.value(row));
                }
                Row::New(row) => {
                    let like: Vec<&str> =
                        parts.iter().map(|part| part.value(model).trim()).collect();
                    let text = self
                        .shape
                        .times
                        .write(self.filled.new_times[row], &like.join(" "))
                        .map_err(ArrowError::InvalidArgumentError)?;
                    stored.push(self.shape.times.read(&text).unwrap_or(f64::NAN));
                    let one = parts.len() == 1;
                    let text = if one {
                        Some(&text[..])
                    } else {
                        text.split_whitespace().nth(part)
                    };
                    entries.append_value(text.unwrap_or(""));
                }
            }
        }
        self.check_stored(&stored)?;
        Ok(entries.finish())
    }
}

/// Whether a float is another number than the integer it was read from. Integers that no column can
/// hold, and floats that somebody wrote without an exponent, are what they are.
fn loses_digits(exact: i128, value: f64) -> bool {
    let fits = i64::try_from(exact).is_ok();
    fits && value as i128 != exact && value.to_string() != exact.to_string()
}

/// The new rows between those of a piece; what lies before the first row of a series is with its first piece.
fn new_rows(piece: &Piece<'_>, new: &[f64]) -> Range<usize> {
    let times = piece.series.times();
    let end = piece.first + piece.rows.num_rows();
    let before = |time: f64| new.partition_point(|&t| t < time);
    let start = if piece.first == 0 {
        0
    } else {
        before(times[piece.first])
    };
    start..times.get(end).map_or(new.len(), |&time| before(time))
}

/// Rows that stay and new rows, in order of time.
fn merge(piece: &Piece<'_>, filled: &Filled, new: Range<usize>) -> Vec<Row> {
    let (first, times) = (piece.first, piece.series.times());
    let end = first + piece.rows.num_rows();
    let kept: Vec<usize> = match &filled.kept {
        None => (first..end).collect(),
        Some(kept) => {
            let place = |row: usize| kept.partition_point(|&one| one < row);
            kept[place(first)..place(end)].to_vec()
        }
    };
    let mut order = Vec::with_capacity(kept.len() + new.len());
    let mut new = new.peekable();
    for row in kept {
        while let Some(one) = new.next_if(|&one| filled.new_times[one] < times[row]) {
            order.push(Row::New(one));
        }
        order.push(Row::Old(row - first));
    }
    order.extend(new.map(Row::New));
    order
}

/// The types of the table that is written: those that were read, except that the columns of a text
/// table become numbers and moments in a binary one, and all become text in a text table. Behind them the
/// extra columns.
pub(super) fn written_schema(
    shape: &Shape,
    to_text: bool,
    extras: &[(Extra, Field)],
) -> Result<SchemaRef, String> {
    let columns = &shape.columns;
    let kind = |at: usize, read: &DataType| {
        if to_text {
            return match cells::has_text(read) {
                true => Ok(DataType::Utf8),
                false => Err(format!(
                    "column `{}` has the type {read}, which a text table cannot hold; write .parquet or .arrow",
                    columns.name(at)
                )),
            };
        }
        let (channel, time) = (columns.channels.contains(&at), columns.time[..] == [at]);
        Ok(match (is_text(read), shape.times.stored_type()) {
            (true, _) if channel && columns.integers.contains(&at) => DataType::Int64,
            (true, _) if channel => DataType::Float64,
            (true, Some(moments)) if time => moments,
            (true, None) if time => DataType::Float64,
            _ => read.clone(),
        })
    };
    let fields = columns
        .schema
        .fields()
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let kind = kind(at, field.data_type())?;
            // New rows have nothing in the columns that are passed through.
            Ok(field
                .as_ref()
                .clone()
                .with_data_type(kind)
                .with_nullable(true))
        });
    let extras = extras.iter().map(|(_, field)| Ok(field.clone()));
    let fields: Result<Vec<Field>, String> = fields.chain(extras).collect();
    let metadata = columns.schema.metadata().clone();
    Ok(Arc::new(arrow_schema::Schema::new_with_metadata(
        fields?, metadata,
    )))
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
