//! A table as a stream of blocks of rows, whatever its format.
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::csv_blocks::{CsvBlocks, CsvForm, looks_like_decimal_comma};
use super::format::Format;
use super::npz_table::{self, NpzForm};
use super::options::ReadOptions;
use super::source::Source;
use crate::Error;
use crate::error::Place;

/// Rows of a table and where they stand.
pub(super) struct Block {
    pub(super) batch: RecordBatch,
    /// Line (text) or row (binary) of each, counted from 1.
    pub(super) numbers: Vec<u64>,
    /// Rows without any entry, left out.
    pub(super) skipped: u64,
}

pub(super) type Blocks = Box<dyn Iterator<Item = Result<Block, Error>> + Send>;

/// How a table is stored, as far as it matters for writing one like it.
#[derive(Debug, Clone)]
pub enum Storage {
    /// Text.
    Csv(CsvForm),
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC.
    Arrow,
    /// A NumPy archive.
    Npz(NpzForm),
}

/// A table that can be read from the start as often as needed.
pub(super) struct Table {
    source: Source,
    pub(super) storage: Storage,
    pub(super) schema: SchemaRef,
    pub(super) decimal_comma: bool,
    rows: usize,
    /// Archives are read whole: they are compressed column by column.
    loaded: Option<RecordBatch>,
}

impl Table {
    pub(super) fn open(name: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let source = Source::open(name, options.format)?;
        let separator = separator(&source, options)?;
        let refused = |error: &dyn ToString| Place::file(name).error(error.to_string());
        let (mut loaded, mut decimal_comma) = (None, false);
        let (storage, schema) = match source.format {
            Format::Csv | Format::Tsv => {
                let form = CsvForm::look(&source.sample, separator, options.header);
                let looks = || looks_like_decimal_comma(&source.sample, form.separator);
                decimal_comma = options.decimal_comma.unwrap_or_else(looks);
                let bytes = source.bytes().map_err(Error::reading(name))?;
                (Storage::Csv(form), form.schema(bytes, name)?)
            }
            Format::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(plain(&source)?);
                (
                    Storage::Parquet,
                    builder.map_err(|e| refused(&e))?.schema().clone(),
                )
            }
            Format::Arrow => {
                let (schema, _) = arrow_batches(&source, None)?;
                (Storage::Arrow, schema)
            }
            Format::Npz => {
                let (form, batch) = npz_table::read(source.plain_path(), name)?;
                let schema = batch.schema();
                loaded = Some(batch);
                (Storage::Npz(form), schema)
            }
        };
        Ok(Self {
            source,
            storage,
            schema,
            decimal_comma,
            rows: options.batch_rows.max(1),
            loaded,
        })
    }

    pub(super) fn name(&self) -> &Path {
        &self.source.name
    }

    /// Where the row of that number (see [`Block::numbers`]) stands.
    pub(super) fn place(&self, number: u64) -> Place {
        let place = Place::file(self.name());
        match self.storage {
            Storage::Csv(_) => Place {
                line: Some(number),
                ..place
            },
            _ => Place {
                row: Some(number),
                ..place
            },
        }
    }

    /// Reads from the start; `wanted` chooses columns.
    pub(super) fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error> {
        let refused = |error: &dyn ToString| Place::file(self.name()).error(error.to_string());
        match &self.storage {
            Storage::Csv(form) => {
                let all = || (0..self.schema.fields().len()).collect();
                let wanted = wanted.map_or_else(all, <[usize]>::to_vec);
                let bytes = self.source.bytes().map_err(Error::reading(self.name()))?;
                let schema = self.schema.clone();
                let blocks = CsvBlocks::new(*form, bytes, schema, wanted, self.rows, self.name())?;
                Ok(Box::new(blocks))
            }
            Storage::Parquet => {
                let mut builder = ParquetRecordBatchReaderBuilder::try_new(plain(&self.source)?)
                    .map_err(|error| refused(&error))?
                    .with_batch_size(self.rows);
                if let Some(wanted) = wanted {
                    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.to_vec());
                    builder = builder.with_projection(mask);
                }
                Ok(self.numbered(builder.build().map_err(|error| refused(&error))?))
            }
            Storage::Arrow => Ok(self.numbered(arrow_batches(&self.source, wanted)?.1)),
            Storage::Npz(_) => {
                let batch = self
                    .loaded
                    .clone()
                    .expect("archives are loaded when opened");
                let batch = match wanted {
                    Some(wanted) => batch.project(wanted).map_err(|error| refused(&error))?,
                    None => batch,
                };
                Ok(self.numbered(std::iter::once(Ok(batch))))
            }
        }
    }

    fn numbered<I>(&self, batches: I) -> Blocks
    where
        I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    {
        let file = Arc::<Path>::from(self.name());
        let mut seen = 0;
        Box::new(batches.map(move |batch| {
            let batch = batch.map_err(|error| Place::file(&file).error(error))?;
            let first = seen + 1;
            seen += batch.num_rows() as u64;
            Ok(Block {
                batch,
                numbers: (first..=seen).collect(),
                skipped: 0,
            })
        }))
    }
}

fn separator(source: &Source, options: &ReadOptions) -> Result<Option<u8>, Error> {
    match options.separator {
        None if source.format == Format::Tsv => Ok(Some(b'\t')),
        None => Ok(None),
        Some(separator) if separator.is_ascii() => Ok(Some(separator as u8)),
        Some(separator) => {
            let problem = format!("the separator `{separator}` is not an ASCII character");
            Err(Place::file(&source.name).error(problem))
        }
    }
}

fn plain(source: &Source) -> Result<File, Error> {
    File::open(source.plain_path()).map_err(Error::reading(&source.name))
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The schema and batches of an IPC file or stream, told by its first bytes.
fn arrow_batches(source: &Source, wanted: Option<&[usize]>) -> Result<(SchemaRef, Batches), Error> {
    let refused = |error: ArrowError| Place::file(&source.name).error(error);
    let (file, wanted) = (plain(source)?, wanted.map(<[usize]>::to_vec));
    if source.sample.starts_with(b"ARROW1") {
        let reader = FileReader::try_new_buffered(file, wanted).map_err(refused)?;
        return Ok((reader.schema(), Box::new(reader)));
    }
    let reader = StreamReader::try_new_buffered(file, wanted).map_err(refused)?;
    Ok((reader.schema(), Box::new(reader)))
}
