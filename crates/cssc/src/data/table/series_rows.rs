//! One series together with the rows of the table it was read from.
use std::collections::HashSet;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use arrow_select::take::take_record_batch;

use super::blocks::Table;
use super::cells::{self, counts_per_second, is_text};
use super::number::Entry;
use super::options::Duplicates;
use super::shape::Shape;
use crate::Error;
use crate::data::Series;
use crate::error::{Hint, Place, Problem};

/// A series and its rows: row k of `rows` belongs to time k.
#[derive(Debug, Clone)]
pub struct SeriesRows {
    /// Times and values.
    pub series: Series,
    /// All columns as they were read, in order of time.
    pub rows: RecordBatch,
    /// Rows whose values are means of several, increasing.
    pub averaged: Vec<usize>,
    /// Where each row stands in the table, so that it can be written back there: its line (text) or row.
    pub numbers: Vec<u64>,
}

impl SeriesRows {
    /// The time of a row as it was read, as text. With several time columns the parts are separated
    /// by spaces.
    pub fn time_entry(&self, shape: &Shape, row: usize) -> String {
        let column = |&column: &usize| self.rows.column(column).slice(row, 1);
        let parts = shape.columns.time.iter().map(column);
        let parts = parts.filter_map(|part| cells::texts(&part).ok());
        let parts: Vec<String> = parts.map(|part| part.value(0).trim().to_owned()).collect();
        parts.join(" ")
    }
}

/// What had to be done to make series of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Repairs {
    pub(super) unsorted_series: u64,
    pub(super) averaged_rows: u64,
    pub(super) dropped_rows: u64,
}

/// Makes a series of rows that belong together.
pub(super) struct Assembler<'a> {
    pub(super) table: &'a Table,
    pub(super) shape: &'a Shape,
    pub(super) duplicates: Duplicates,
}

/// Rows of one series; `numbers` are their lines or rows in the table.
pub(super) struct Rows {
    pub(super) batch: RecordBatch,
    pub(super) numbers: Vec<u64>,
}

/// Times and values as they stand in the rows; values are time-major.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) times: Vec<f64>,
    pub(super) values: Vec<f64>,
}

impl Parsed {
    /// Whether it can be a series as it stands.
    pub(super) fn increases(&self) -> bool {
        self.times.windows(2).all(|pair| pair[0] < pair[1])
    }
}

impl Assembler<'_> {
    /// Reads times and values of further rows.
    pub(super) fn parse(&self, rows: &Rows, into: &mut Parsed) -> Result<(), Error> {
        into.times.extend(self.times(rows)?);
        into.values.extend(self.values(rows)?);
        Ok(())
    }

    /// Sorts by time, merges equal times if allowed; `parsed` is what the rows hold.
    pub(super) fn assemble(
        &self,
        id: Option<String>,
        mut rows: Rows,
        parsed: Parsed,
        repairs: &mut Repairs,
    ) -> Result<SeriesRows, Error> {
        let channels = self.shape.columns.channels.len();
        let Parsed {
            mut times,
            mut values,
        } = parsed;
        if !times.is_sorted() {
            repairs.unsorted_series += 1;
            let mut order: Vec<usize> = (0..times.len()).collect();
            order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
            rows = self.take(&rows, &order)?;
            times = order.iter().map(|&row| times[row]).collect();
            values = rows_at(&values, channels, &order);
        }
        let mut averaged = Vec::new();
        if let Some(again) = (1..times.len()).find(|&row| times[row - 1] == times[row]) {
            if self.duplicates == Duplicates::Refuse {
                return Err(self.equal_times(&rows, again));
            }
            let first = first_of_each(&times);
            let repeated = (times.len() - first.len()) as u64;
            let mut kept = first.clone();
            match self.duplicates {
                Duplicates::First | Duplicates::Last => {
                    repairs.dropped_rows += repeated;
                    if self.duplicates == Duplicates::Last {
                        let ends = first.iter().skip(1).copied().chain([times.len()]);
                        kept = ends.map(|end| end - 1).collect();
                    }
                    values = rows_at(&values, channels, &kept);
                }
                _ => {
                    repairs.averaged_rows += repeated;
                    (values, averaged) = average(&values, channels, &first, times.len());
                }
            }
            rows = self.take(&rows, &kept)?;
            times = first.iter().map(|&row| times[row]).collect();
        }
        let series = Series::new(id, channels, times, values)?;
        Ok(SeriesRows {
            series,
            rows: rows.batch,
            averaged,
            numbers: rows.numbers,
        })
    }

    fn take(&self, rows: &Rows, order: &[usize]) -> Result<Rows, Error> {
        let indices: UInt64Array = order.iter().map(|&row| Some(row as u64)).collect();
        let batch = take_record_batch(&rows.batch, &indices).map_err(|error| self.broken(error))?;
        Ok(Rows {
            batch,
            numbers: order.iter().map(|&row| rows.numbers[row]).collect(),
        })
    }

    fn equal_times(&self, rows: &Rows, again: usize) -> Error {
        let time = &self.shape.columns.time;
        let texts = time
            .iter()
            .filter_map(|&column| cells::texts(rows.batch.column(column)).ok());
        let text: Vec<String> = texts
            .map(|texts| texts.value(again).trim().to_owned())
            .collect();
        let (earlier, text) = (rows.numbers[again - 1], text.join(" "));
        let mut problem =
            format!("the time `{text}` was in line or row {earlier} already, in the same series");
        if self.shape.times.came_twice(&text) {
            problem +=
                ", and the clocks were put back over it: write times with their distance from UTC";
        }
        if let Some((column, count)) = self.column_that_tells_apart(rows) {
            let name = self.shape.columns.name(column);
            problem += &format!(", but the {count} values of `{name}` tell such rows apart");
        }
        self.refuse(
            rows,
            again,
            time[0],
            Problem::new(problem, Hint::RepeatedTimes),
        )
    }

    /// A column that is passed through, no value of which repeats a time, and its number of values.
    fn column_that_tells_apart(&self, rows: &Rows) -> Option<(usize, usize)> {
        let columns = &self.shape.columns;
        let times = self.times(rows).ok()?;
        let used = |column: &usize| columns.ids.contains(column) || columns.time.contains(column);
        let may_be_id = |column: &usize| {
            let kind = rows.batch.column(*column).data_type();
            !used(column) && (is_text(kind) || kind.is_integer())
        };
        (0..rows.batch.num_columns())
            .filter(may_be_id)
            .find_map(|column| {
                let texts = cells::texts(rows.batch.column(column)).ok()?;
                let pairs = times.iter().enumerate();
                let pairs: HashSet<(&str, u64)> = pairs
                    .map(|(row, time)| (texts.value(row), time.to_bits()))
                    .collect();
                let values: HashSet<&str> = texts.iter().flatten().collect();
                // Nearly as many values as rows are no series.
                let few = values.len() * 2 <= times.len() && !values.contains("");
                (pairs.len() == times.len() && few).then_some((column, values.len()))
            })
    }

    fn refuse(&self, rows: &Rows, row: usize, column: usize, problem: impl Into<Problem>) -> Error {
        let place = self.table.place(rows.numbers[row]);
        let place = place.column(self.shape.columns.name(column));
        place.problem(problem)
    }

    fn broken(&self, error: ArrowError) -> Error {
        Place::file(self.table.name()).error(error)
    }

    pub(super) fn times(&self, rows: &Rows) -> Result<Vec<f64>, Error> {
        let columns = &self.shape.columns.time;
        let first = rows.batch.column(columns[0]);
        let times = if columns.len() > 1 || is_text(first.data_type()) {
            self.text_times(rows)?
        } else if let Some(per_second) = counts_per_second(first.data_type()) {
            let counts = cells::integers(first).map_err(|error| self.broken(error))?;
            let time =
                |count: Option<i64>| count.map_or(f64::NAN, |count| count as f64 / per_second);
            counts.iter().map(time).collect()
        } else {
            let numbers = cells::floats(first).map_err(|error| self.broken(error))?;
            numbers
                .into_iter()
                .map(|number| self.shape.times.from_number(number))
                .collect()
        };
        match times.iter().position(|time| !time.is_finite()) {
            Some(row) => Err(self.refuse(rows, row, columns[0], "the time is missing".to_owned())),
            None => Ok(times),
        }
    }

    fn text_times(&self, rows: &Rows) -> Result<Vec<f64>, Error> {
        let columns = &self.shape.columns.time;
        let parts = columns
            .iter()
            .map(|&column| cells::texts(rows.batch.column(column)));
        let parts = parts
            .collect::<Result<Vec<StringArray>, _>>()
            .map_err(|error| self.broken(error))?;
        let read = |row: usize| {
            let time = match &parts[..] {
                [only] => self.shape.times.read(only.value(row).trim()),
                _ => {
                    let entry = |part: &StringArray| part.value(row).trim().to_owned();
                    let entries: Vec<String> = parts.iter().map(entry).collect();
                    self.shape.times.read(&entries.join(" "))
                }
            };
            time.map_err(|problem| self.refuse(rows, row, columns[0], problem))
        };
        (0..rows.numbers.len()).map(read).collect()
    }

    /// All channels, time-major.
    fn values(&self, rows: &Rows) -> Result<Vec<f64>, Error> {
        let channels = &self.shape.columns.channels;
        let mut values = vec![f64::NAN; rows.numbers.len() * channels.len()];
        for (at, &column) in channels.iter().enumerate() {
            let entries = if is_text(rows.batch.column(column).data_type()) {
                self.text_values(rows, column)?
            } else {
                self.number_values(rows, column)?
            };
            let places = values.iter_mut().skip(at).step_by(channels.len());
            places
                .zip(entries)
                .for_each(|(place, value)| *place = value);
        }
        Ok(values)
    }

    fn text_values(&self, rows: &Rows, column: usize) -> Result<Vec<f64>, Error> {
        let texts = cells::texts(rows.batch.column(column)).map_err(|error| self.broken(error))?;
        let read = |row: usize| match self.shape.numbers.entry(texts.value(row)) {
            Entry::Number(number) => Ok(number),
            Entry::Missing => Ok(f64::NAN),
            Entry::Text => {
                let found = texts.value(row);
                let text = format!("expected a number or a missing mark, found `{found}`");
                Err(self.refuse(rows, row, column, Problem::new(text, Hint::NotANumber)))
            }
        };
        (0..texts.len()).map(read).collect()
    }

    fn number_values(&self, rows: &Rows, column: usize) -> Result<Vec<f64>, Error> {
        let column_array: &ArrayRef = rows.batch.column(column);
        let mut values = cells::floats(column_array).map_err(|error| self.broken(error))?;
        if let Some(row) = values.iter().position(|value| value.is_infinite()) {
            let problem = "the value is infinite; store what is missing as null or NaN";
            return Err(self.refuse(rows, row, column, problem.to_owned()));
        }
        let sentinel = |value: &&mut f64| self.shape.numbers.is_sentinel(**value);
        values
            .iter_mut()
            .filter(sentinel)
            .for_each(|value| *value = f64::NAN);
        Ok(values)
    }
}

/// Some rows of a block, in the order asked.
fn rows_at(values: &[f64], channels: usize, rows: &[usize]) -> Vec<f64> {
    let row = |&row: &usize| &values[row * channels..(row + 1) * channels];
    rows.iter().flat_map(row).copied().collect()
}

/// Rows at which a new time begins.
fn first_of_each(times: &[f64]) -> Vec<usize> {
    (0..times.len())
        .filter(|&row| row == 0 || times[row - 1] != times[row])
        .collect()
}

/// Means over rows of equal time of what is not missing, and which of the rows left are means.
fn average(
    values: &[f64],
    channels: usize,
    first: &[usize],
    rows: usize,
) -> (Vec<f64>, Vec<usize>) {
    let ends = first.iter().skip(1).copied().chain([rows]);
    let mut means = Vec::with_capacity(first.len() * channels);
    let mut averaged = Vec::new();
    for (place, (&start, end)) in first.iter().zip(ends).enumerate() {
        if end - start > 1 {
            averaged.push(place);
        }
        for channel in 0..channels {
            let there = (start..end).map(|row| values[row * channels + channel]);
            let there: Vec<f64> = there.filter(|value| !value.is_nan()).collect();
            // Without any, 0 / 0: still missing.
            means.push(there.iter().sum::<f64>() / there.len() as f64);
        }
    }
    (means, averaged)
}
