//! Writes a table like one that was read, series by series.
//!
//! Rows are gathered to blocks before they are encoded, and Parquet row groups are kept small, so
//! that memory does not grow with the table (archives excepted, which are written at the end).
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as ParquetCompression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::blocks::Storage;
use super::cells;
use super::csv_blocks::CsvForm;
use super::filled::{Builder, Extra, Extras, series_batch, written_schema};
use super::format::{Format, by_ending};
use super::npz_table::{self, NpzForm};
use super::output::Output;
use super::series_rows::SeriesRows;
use super::shape::Shape;
use crate::Error;
use crate::data::{Filled, Series, npz};
use crate::error::Place;

/// Rows gathered before they are encoded.
const BLOCK_ROWS: usize = 16_384;
/// Entries of a Parquet row group, which is held in memory until it is full.
const GROUP_ENTRIES: usize = 1 << 20;

/// A table being written; nothing is there until [`TableWriter::finish`].
pub struct TableWriter {
    path: PathBuf,
    shape: Shape,
    schema: SchemaRef,
    extras: Vec<Extra>,
    encoder: Encoder,
    waiting: Vec<RecordBatch>,
    rows_waiting: usize,
}

enum Encoder {
    Csv(Box<csv::Writer<Output>>),
    Parquet(Box<ArrowWriter<Output>>),
    Arrow(Box<FileWriter<Output>>),
    Npz {
        output: Box<Output>,
        form: NpzForm,
        batches: Vec<RecordBatch>,
    },
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
        let (ending, compression) = by_ending(path);
        let storage = storage(ending, &shape.storage);
        // Parquet and archives are compressed inside; a compression around them is still honoured.
        let output = Output::create(path, compression).map_err(Error::writing(path))?;
        let to_text = matches!(storage, Storage::Csv(_));
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
        let extras = extras.into_iter().map(|(extra, _)| extra).collect();
        let refuse = |error: &dyn ToString| Place::file(path).error(error.to_string());
        let encoder = match storage {
            Storage::Csv(form) => Encoder::Csv(Box::new(csv_writer(form, output, &schema, path)?)),
            Storage::Parquet => {
                let level = ZstdLevel::try_new(1).map_err(|error| refuse(&error))?;
                let properties = WriterProperties::builder()
                    .set_compression(ParquetCompression::ZSTD(level))
                    .set_max_row_group_row_count(Some(GROUP_ENTRIES / schema.fields().len().max(1)))
                    .build();
                let writer = ArrowWriter::try_new(output, schema.clone(), Some(properties));
                Encoder::Parquet(Box::new(writer.map_err(|error| refuse(&error))?))
            }
            Storage::Arrow => {
                let writer = FileWriter::try_new(output, &schema);
                Encoder::Arrow(Box::new(writer.map_err(|error| refuse(&error))?))
            }
            Storage::Npz(form) => Encoder::Npz {
                output: Box::new(output),
                form,
                batches: Vec::new(),
            },
        };
        let shape = shape.clone();
        Ok(Self {
            path: path.to_owned(),
            shape,
            schema,
            extras,
            encoder,
            waiting: Vec::new(),
            rows_waiting: 0,
        })
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
        match &mut self.encoder {
            Encoder::Csv(writer) => {
                write_records(writer, &batch).map_err(|error| csv_failed(&self.path, error))
            }
            Encoder::Parquet(writer) => writer
                .write(&batch)
                .map_err(|error| Place::file(&self.path).error(error)),
            Encoder::Arrow(writer) => writer.write(&batch).map_err(refuse),
            Encoder::Npz { batches, .. } => {
                batches.push(batch);
                Ok(())
            }
        }
    }

    /// Writes what is left; only now the file gets its name.
    pub fn finish(mut self) -> Result<(), Error> {
        if self.rows_waiting > 0 {
            self.encode()?;
        }
        let path = self.path;
        let failed = Error::writing(&path);
        let output = match self.encoder {
            Encoder::Csv(writer) => writer
                .into_inner()
                .map_err(|error| failed(error.into_error()))?,
            Encoder::Parquet(writer) => writer
                .into_inner()
                .map_err(|error| Place::file(&path).error(error))?,
            Encoder::Arrow(mut writer) => {
                let finished = writer.finish().and_then(|()| writer.into_inner());
                finished.map_err(|error| Place::file(&path).error(error))?
            }
            Encoder::Npz {
                mut output,
                form,
                batches,
            } => {
                let refuse = |error: ArrowError| Place::file(&path).error(error);
                let all = concat_batches(&self.schema, &batches).map_err(refuse)?;
                let arrays = archive(&all, form, &self.shape).map_err(refuse)?;
                npz::write_to(&mut output, &arrays).map_err(&failed)?;
                *output
            }
        };
        output.finish().map_err(failed)
    }
}

/// The storage to write: that of the ending, in the form that was read where they agree.
fn storage(ending: Option<Format>, read: &Storage) -> Storage {
    match (ending, read) {
        (Some(Format::Csv), Storage::Csv(form)) if form.separator != b'\t' => Storage::Csv(*form),
        (Some(Format::Csv), _) => Storage::Csv(CsvForm {
            separator: b',',
            header: true,
        }),
        (Some(Format::Tsv), _) => Storage::Csv(CsvForm {
            separator: b'\t',
            header: true,
        }),
        (Some(Format::Parquet), _) => Storage::Parquet,
        (Some(Format::Arrow), _) => Storage::Arrow,
        (Some(Format::Npz), Storage::Npz(form)) => Storage::Npz(*form),
        (Some(Format::Npz), _) => Storage::Npz(NpzForm::Columns),
        (None, read) => read.clone(),
    }
}

fn archive(all: &RecordBatch, form: NpzForm, shape: &Shape) -> Result<Vec<npz::Array>, ArrowError> {
    let columns = &shape.columns;
    match (form, &columns.time[..]) {
        (NpzForm::Dense, &[time]) => {
            npz_table::dense_arrays(all, columns.id, time, &columns.channels)
        }
        _ => npz_table::column_arrays(all),
    }
}

fn csv_writer(
    form: CsvForm,
    output: Output,
    schema: &SchemaRef,
    path: &Path,
) -> Result<csv::Writer<Output>, Error> {
    let mut writer = csv::WriterBuilder::new()
        .delimiter(form.separator)
        .from_writer(output);
    if form.header {
        let names = schema.fields().iter().map(|field| field.name().as_str());
        writer
            .write_record(names)
            .map_err(|error| csv_failed(path, error))?;
    }
    Ok(writer)
}

fn csv_failed(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::writing(path)(source),
        other => Place::file(path).error(format!("{other:?}")),
    }
}

fn write_records(writer: &mut csv::Writer<Output>, batch: &RecordBatch) -> csv::Result<()> {
    let columns = batch.columns().iter().map(cells::texts);
    let columns = columns
        .collect::<Result<Vec<_>, _>>()
        .map_err(std::io::Error::other)?;
    for row in 0..batch.num_rows() {
        writer.write_record(columns.iter().map(|column| column.value(row)))?;
    }
    Ok(())
}
