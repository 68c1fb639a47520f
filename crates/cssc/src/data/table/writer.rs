//! Writes a table like one that was read, series by series.
//!
//! Rows are gathered to blocks before they are encoded, and Parquet row groups are kept small, so
//! that memory does not grow with the table (archives excepted, which are written at the end).
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;

use super::compression::Compression;
use super::filled::{Builder, Extra, Extras, series_batch, written_schema};
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
        })
    }

    /// What the format cannot hold of the table that was read, one sentence each without its full stop.
    #[must_use]
    pub fn losses(&self) -> &[String] {
        &self.losses
    }

    /// Adds the rows of a series, its holes filled and new rows between them.
    pub fn write(&mut self, rows: &SeriesRows, filled: &Filled) -> Result<(), Error> {
        let builder = Builder::new(&self.shape, rows, filled, &self.extras)?;
        let batch = builder.batch(&self.schema).map_err(|problem| {
            let series = rows.series.label();
            Place::file(&self.path).error(format!("series {series}: {problem}"))
        })?;
        self.write_batch(batch)
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
        if self.rows_waiting > 0 {
            self.encode()?;
        }
        self.encoder.finish()?.finish()
    }
}

/// The format to write: that of the ending, with the particulars that were read where they agree.
fn format_for(path: &Path, shape: &Shape) -> Arc<dyn TableFormat> {
    match shape.formats.by_ending(path) {
        Some(format) if format.name() != shape.format.name() => format,
        _ => shape.format.clone(),
    }
}
