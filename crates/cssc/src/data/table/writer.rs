//! Writes a table like one that was read, series by series.
//!
//! Rows are gathered to blocks before they are encoded, and Parquet row groups are kept small, so
//! that memory does not grow with the table (archives excepted, which are written at the end, and tables in which
//! the rows of several series stand mixed: they are written in the order in which they were read).
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use super::compression::Compression;
use super::filled::{Builder, Extra, Extras, Piece, series_batch, written_schema};
use super::formats::{TableEncoder, TableFormat};
use super::output::Output;
use super::series_rows::SeriesRows;
use super::shape::Shape;
use crate::Error;
use crate::data::{Filled, Series};
use crate::error::Place;

/// Rows gathered before they are encoded.
const BLOCK_ROWS: usize = 16_384;

/// A table being written; nothing is there until [`TableWriter::finish`].
pub struct TableWriter {
    path: PathBuf,
    shape: Shape,
    schema: SchemaRef,
    extras: Vec<Extra>,
    encoder: Box<dyn TableEncoder>,
    losses: Vec<String>,
    waiting: Vec<RecordBatch>,
    rows_waiting: usize,
    /// Where the rows that wait belong, in a table of mixed series.
    places: Vec<u64>,
}

impl TableWriter {
    /// Opens `path` (`-` is standard output). The format is told by the ending, else it is that of
    /// `shape`, as are separator, decimal sign and time format.
    pub fn create(path: &Path, shape: &Shape) -> Result<Self, Error> {
        Self::create_with(path, shape, Extras::default())
    }

    /// Like [`TableWriter::create`], with columns behind those that were read.
    ///
    /// # Errors
    /// If the file cannot be written, or a column of that name is there already.
    pub fn create_with(path: &Path, shape: &Shape, extras: Extras) -> Result<Self, Error> {
        let format = format_for(path, shape);
        let to_text = format.is_text();
        let extras = extras.columns(shape, to_text);
        if let Some((_, field)) = extras
            .iter()
            .find(|(_, field)| shape.columns.schema.field_with_name(field.name()).is_ok())
        {
            return Err(Place::file(path).error(format!(
                "the table has a column `{}` already, which was to be added; rename it",
                field.name()
            )));
        }
        let schema = written_schema(shape, to_text, &extras);
        let schema = schema.map_err(|problem| Place::file(path).error(problem))?;
        let extras = extras.into_iter().map(|(extra, _)| extra).collect();
        // Parquet and archives are compressed inside; a compression around them is still honoured.
        let output = Output::create(path, Compression::by_ending(path).0)?;
        let losses = format.losses(&schema);
        let encoder = format.create(output, &schema, shape)?;
        let shape = shape.clone();
        Ok(Self {
            path: path.to_owned(),
            shape,
            schema,
            extras,
            encoder,
            losses,
            waiting: Vec::new(),
            rows_waiting: 0,
            places: Vec::new(),
        })
    }

    /// What the format cannot hold of the table that was read, one sentence each without its full stop.
    #[must_use]
    pub fn losses(&self) -> &[String] {
        &self.losses
    }

    /// Adds the rows of a series, its holes filled and new rows between them.
    pub fn write(&mut self, rows: &SeriesRows, filled: &Filled) -> Result<(), Error> {
        let series = &rows.series;
        filled.check(series)?;
        // Rows that are to be sorted must be there together.
        let whole = self.shape.mixed || !rows.numbers.is_sorted();
        let step = if whole {
            series.len().max(1)
        } else {
            BLOCK_ROWS
        };
        for first in (0..series.len().max(1)).step_by(step) {
            let count = step.min(series.len() - first);
            let piece = Piece {
                series,
                first,
                rows: &rows.rows.slice(first, count),
                numbers: &rows.numbers[first..first + count],
                averaged: &rows.averaged,
            };
            self.write_piece(&piece, filled)?;
        }
        Ok(())
    }

    /// Adds rows of a series that follow each other.
    pub(super) fn write_piece(&mut self, piece: &Piece<'_>, filled: &Filled) -> Result<(), Error> {
        let builder = Builder::new(&self.shape, piece, filled, &self.extras);
        let batch = builder.batch(&self.schema).map_err(|problem| {
            let series = piece.series.label();
            Place::file(&self.path).error(format!("series {series}: {problem}"))
        })?;
        let places = builder.places();
        if self.shape.mixed {
            self.places.extend(places);
            self.waiting.push(batch);
            return Ok(());
        }
        let batch = self.in_order(batch, &places)?;
        self.write_batch(batch)
    }

    /// The rows at their places.
    fn in_order(&self, batch: RecordBatch, places: &[u64]) -> Result<RecordBatch, Error> {
        if places.is_sorted() {
            return Ok(batch);
        }
        let mut order: Vec<u64> = (0..places.len() as u64).collect();
        order.sort_by_key(|&row| places[row as usize]);
        take_record_batch(&batch, &UInt64Array::from(order))
            .map_err(|error| Place::file(&self.path).error(error))
    }

    /// Writes a table of mixed series, all of which wait, in its own order.
    fn write_mixed(&mut self) -> Result<(), Error> {
        let (waiting, places) = (
            std::mem::take(&mut self.waiting),
            std::mem::take(&mut self.places),
        );
        let all = concat_batches(&self.schema, &waiting);
        let all = all.map_err(|error| Place::file(&self.path).error(error))?;
        drop(waiting);
        let all = self.in_order(all, &places)?;
        for start in (0..all.num_rows()).step_by(BLOCK_ROWS) {
            let rows = BLOCK_ROWS.min(all.num_rows() - start);
            self.encoder.write(&all.slice(start, rows))?;
        }
        Ok(())
    }

    /// Adds the rows of a series to a table of [`Shape::generated`].
    pub fn write_series(&mut self, series: &Series) -> Result<(), Error> {
        let batch = series_batch(series, &self.schema);
        self.write_batch(batch.map_err(|error| Place::file(&self.path).error(error))?)
    }

    fn write_batch(&mut self, batch: RecordBatch) -> Result<(), Error> {
        self.rows_waiting += batch.num_rows();
        self.waiting.push(batch);
        if self.rows_waiting >= BLOCK_ROWS {
            self.encode()
        } else {
            Ok(())
        }
    }

    fn encode(&mut self) -> Result<(), Error> {
        let refuse = |error: ArrowError| Place::file(&self.path).error(error);
        let batch = concat_batches(&self.schema, &self.waiting).map_err(refuse)?;
        self.waiting.clear();
        self.rows_waiting = 0;
        self.encoder.write(&batch)
    }

    /// Writes what is left; only now the file gets its name.
    pub fn finish(mut self) -> Result<(), Error> {
        if self.shape.mixed {
            self.write_mixed()?;
        }
        if self.rows_waiting > 0 {
            self.encode()?;
        }
        self.encoder.finish()?.finish()
    }
}

/// The format to write: that of the ending, with the particulars that were read where they agree.
fn format_for(path: &Path, shape: &Shape) -> Arc<dyn TableFormat> {
    let Some(format) = shape.formats.by_ending(path) else {
        return shape.format.clone();
    };
    // A table may have another separator than its ending says; a name with the same ending means the same.
    let read = shape.formats.by_ending(&shape.file);
    let same_ending = read.is_some_and(|read| read.name() == format.name());
    match same_ending && format.is_text() == shape.format.is_text()
        || format.name() == shape.format.name()
    {
        true => shape.format.clone(),
        false => format,
    }
}
