//! Apache Parquet.
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression as ParquetCompression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::super::guard::Limits;
use super::super::input::Input;
use super::super::options::ReadOptions;
use super::super::output::Output;
use super::super::shape::Shape;
use super::parquet_check::Checker;
use super::{Block, Blocks, TableEncoder, TableFormat, TableSource};
use crate::Error;
use crate::error::Place;

/// Entries of a row group, which is held in memory until it is full.
const GROUP_ENTRIES: usize = 1 << 20;

/// Apache Parquet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parquet;

impl TableFormat for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn recognises(&self, start: &[u8]) -> bool {
        start.starts_with(b"PAR1")
    }

    fn open(&self, input: Input, options: &ReadOptions) -> Result<Box<dyn TableSource>, Error> {
        let head = ArrowReaderMetadata::load(&input.file()?, Default::default());
        let head = head.map_err(|error| Place::file(input.name()).error(error))?;
        let (file, size) = (input.file()?, input.size()?);
        let limits = Limits::new(size, options.max_memory);
        Checker::new(file, size, limits)
            .check(head.metadata())
            .map_err(|refusal| refusal.about(input.name()))?;
        Ok(Box::new(ParquetSource {
            input,
            head,
            rows: options.batch_rows.max(1),
        }))
    }

    fn create(
        &self,
        output: Output,
        schema: &SchemaRef,
        _: &Shape,
    ) -> Result<Box<dyn TableEncoder>, Error> {
        let path = output.name().to_owned();
        let failed = |error| Place::file(&path).error(error);
        let level = ZstdLevel::try_new(1).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(ParquetCompression::ZSTD(level))
            .set_max_row_group_row_count(Some(GROUP_ENTRIES / schema.fields().len().max(1)))
            .build();
        let writer = ArrowWriter::try_new(output, schema.clone(), Some(properties));
        let writer = writer.map_err(failed)?;
        Ok(Box::new(ParquetEncoder { path, writer }))
    }
}

struct ParquetSource {
    input: Input,
    head: ArrowReaderMetadata,
    rows: usize,
}

impl TableSource for ParquetSource {
    fn schema(&self) -> SchemaRef {
        self.head.schema().clone()
    }

    fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error> {
        let file = self.input.file()?;
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.head.clone())
                .with_batch_size(self.rows);
        if let Some(wanted) = wanted {
            let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.to_vec());
            builder = builder.with_projection(mask);
        }
        let place = Place::file(self.input.name());
        let reader = builder
            .build()
            .map_err(|error| place.clone().error(error))?;
        Ok(Block::numbered(reader.map(move |batch| {
            batch.map_err(|error| place.clone().error(error))
        })))
    }

    fn format(&self) -> Arc<dyn TableFormat> {
        Arc::new(Parquet)
    }
}

struct ParquetEncoder {
    path: PathBuf,
    writer: ArrowWriter<Output>,
}

impl TableEncoder for ParquetEncoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = self.writer.write(batch);
        written.map_err(|error| Place::file(&self.path).error(error))
    }

    fn finish(self: Box<Self>) -> Result<Output, Error> {
        let output = self.writer.into_inner();
        output.map_err(|error| Place::file(&self.path).error(error))
    }
}
