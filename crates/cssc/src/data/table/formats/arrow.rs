//! Arrow IPC (Feather): files, and streams, which begin with the length of their schema.
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::super::guard::Limits;
use super::super::input::Input;
use super::super::options::ReadOptions;
use super::super::output::Output;
use super::super::shape::Shape;
use super::arrow_check::Checker;
use super::{Block, Blocks, TableEncoder, TableFormat, TableSource};
use crate::Error;
use crate::error::Place;

/// What a file begins with; a stream begins with a continuation mark.
const FILE: &[u8] = b"ARROW1";
const STREAM: &[u8] = &[0xff; 4];

/// Arrow IPC, file or stream; it is written as a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrow;

impl TableFormat for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["arrow", "feather", "ipc", "arrows"]
    }

    fn recognises(&self, start: &[u8]) -> bool {
        start.starts_with(FILE) || start.starts_with(STREAM)
    }

    fn open(&self, input: Input, options: &ReadOptions) -> Result<Box<dyn TableSource>, Error> {
        check(&input, options)?;
        let (schema, _) = batches(&input, None)?;
        Ok(Box::new(ArrowSource { input, schema }))
    }

    fn create(
        &self,
        output: Output,
        schema: &SchemaRef,
        _: &Shape,
    ) -> Result<Box<dyn TableEncoder>, Error> {
        let path = output.name().to_owned();
        let writer = FileWriter::try_new(output, schema);
        let writer = writer.map_err(|error| Place::file(&path).error(error))?;
        Ok(Box::new(ArrowEncoder { path, writer }))
    }
}

struct ArrowSource {
    input: Input,
    schema: SchemaRef,
}

impl TableSource for ArrowSource {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error> {
        let place = Place::file(self.input.name());
        let (_, batches) = batches(&self.input, wanted)?;
        Ok(Block::numbered(batches.map(move |batch| {
            batch.map_err(|error| place.clone().error(error))
        })))
    }

    fn format(&self) -> Arc<dyn TableFormat> {
        Arc::new(Arrow)
    }
}

fn check(input: &Input, options: &ReadOptions) -> Result<(), Error> {
    let (file, size) = (input.file()?, input.size()?);
    let limits = Limits::new(size, options.max_memory);
    let mut checker = Checker { file, size, limits };
    let checked = if input.start().starts_with(FILE) {
        checker.check_file()
    } else {
        checker.check_stream()
    };
    checked.map_err(|refusal| refusal.about(input.name()))
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

fn batches(input: &Input, wanted: Option<&[usize]>) -> Result<(SchemaRef, Batches), Error> {
    let refused = |error: ArrowError| Place::file(input.name()).error(error);
    let (file, wanted) = (input.file()?, wanted.map(<[usize]>::to_vec));
    if input.start().starts_with(FILE) {
        let reader = FileReader::try_new_buffered(file, wanted).map_err(refused)?;
        return Ok((reader.schema(), Box::new(reader)));
    }
    let reader = StreamReader::try_new_buffered(file, wanted).map_err(refused)?;
    Ok((reader.schema(), Box::new(reader)))
}

struct ArrowEncoder {
    path: PathBuf,
    writer: FileWriter<Output>,
}

impl TableEncoder for ArrowEncoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = self.writer.write(batch);
        written.map_err(|error| Place::file(&self.path).error(error))
    }

    fn finish(self: Box<Self>) -> Result<Output, Error> {
        let Self { path, mut writer } = *self;
        let output = writer.finish().and_then(|()| writer.into_inner());
        output.map_err(|error| Place::file(&path).error(error))
    }
}
