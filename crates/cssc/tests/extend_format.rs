//! A table format from outside the library: pairs of doubles, read, chosen by its ending, and written.
#![cfg(feature = "tables")]
#![allow(clippy::unwrap_used)] // a test may panic
use cssc::Error;
use cssc::data::table::arrow_array::cast::AsArray;
use cssc::data::table::arrow_array::types::Float64Type;
use cssc::data::table::arrow_array::{ArrayRef, Float64Array, RecordBatch};
use cssc::data::table::arrow_schema::SchemaRef;
use cssc::data::table::formats::{Loaded, TableEncoder, TableSource};
use cssc::data::table::{
    Filled, Formats, Input, Output, ReadOptions, Shape, TableFormat, TableReader, TableWriter,
    apply,
};
use std::io::{Read, Write};
use std::sync::Arc;

/// A time and a value per row, 16 bytes.
#[derive(Debug)]
struct Pairs;

impl TableFormat for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["pairs"]
    }

    fn open(&self, input: Input, _: &ReadOptions) -> Result<Box<dyn TableSource>, Error> {
        let mut bytes = Vec::new();
        let read = input.read()?.read_to_end(&mut bytes);
        read.map_err(Error::reading(input.name()))?;
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
        let column = |start: usize| -> ArrayRef {
            let cells = bytes[start..].chunks(16).map(|pair| number(&pair[..8]));
            Arc::new(cells.collect::<Float64Array>())
        };
        let batch = RecordBatch::try_from_iter([("time", column(0)), ("x", column(8))]);
        let batch = batch.map_err(Error::other)?;
        let format = Arc::new(Pairs);
        Ok(Box::new(Loaded { batch, format }))
    }

    fn create(
        &self,
        output: Output,
        _: &SchemaRef,
        _: &Shape,
    ) -> Result<Box<dyn TableEncoder>, Error> {
        Ok(Box::new(PairsEncoder(output)))
    }
}

struct PairsEncoder(Output);

impl TableEncoder for PairsEncoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                let cell = column.as_primitive::<Float64Type>().value(row);
                let written = self.0.write_all(&cell.to_le_bytes());
                written.map_err(Error::writing(self.0.name()))?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Output, Error> {
        Ok(self.0)
    }
}

#[test]
fn a_format_from_outside_is_read_and_written_like_those_inside() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("in.csv"), "t,x\n0.0,1.5\n1.0,\n2.0,1.5\n").unwrap();
    let options = ReadOptions {
        formats: Formats::default().with(Pairs),
        ..ReadOptions::default()
    };
    for (from, to) in [("in.csv", "table.pairs.gz"), ("table.pairs.gz", "out.csv")] {
        let mut reader = TableReader::open(&path(from), options.clone()).unwrap();
        let mut writer = TableWriter::create(&path(to), reader.shape()).unwrap();
        apply(&mut reader, &mut writer, |series| {
            Ok::<_, Error>(Filled {
                values: vec![1.5; series.len()],
                ..Filled::default()
            })
        })
        .unwrap();
        writer.finish().unwrap();
    }
    let back = std::fs::read_to_string(path("out.csv")).unwrap();
    assert_eq!(back, "time,x\n0.0,1.5\n1.0,1.5\n2.0,1.5\n");
}
