//! Text tables: every entry is kept as the text it is, so that it can be written back untouched.
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::blocks::Block;
use super::number::{Entry, NumberRules, has_decimal_comma};
use crate::Error;
use crate::error::Place;

/// Separators tried, in this order.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Records looked at to find the separator.
const LOOK: usize = 50;

/// How a text table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvForm {
    /// Between the entries.
    pub separator: u8,
    /// Whether the first line has the names.
    pub header: bool,
}

impl CsvForm {
    /// Finds what is not given by looking at the start of the table.
    pub(super) fn look(sample: &[u8], separator: Option<u8>, header: Option<bool>) -> Self {
        let separator = separator.unwrap_or_else(|| find_separator(sample));
        let header = header.unwrap_or_else(|| !starts_with_numbers(sample, separator));
        Self { separator, header }
    }

    fn reader<R: Read>(self, bytes: R) -> csv::Reader<R> {
        ReaderBuilder::new()
            .delimiter(self.separator)
            .has_headers(self.header)
            .from_reader(bytes)
    }

    /// The names of the columns; without a header they are `column_1`, `column_2`, ...
    pub(super) fn schema(self, bytes: impl Read, file: &Path) -> Result<SchemaRef, Error> {
        let mut reader = self.reader(bytes);
        let first = if self.header {
            reader.headers().cloned()
        } else {
            let mut record = StringRecord::new();
            reader.read_record(&mut record).map(|_| record)
        };
        let first = first.map_err(|error| refuse(file, error))?;
        let name = |(number, text): (usize, &str)| {
            let name = if self.header {
                text.trim().to_owned()
            } else {
                format!("column_{}", number + 1)
            };
            Field::new(name, DataType::Utf8, true)
        };
        Ok(Arc::new(Schema::new(
            first.iter().enumerate().map(name).collect::<Vec<_>>(),
        )))
    }
}

/// The separator that cuts all records alike, the finer the better; else the one that cuts the first
/// record finest, so that a wrong record is complained about and not the whole table.
fn find_separator(sample: &[u8]) -> u8 {
    let score = |separator: &u8| {
        let mut counts = records(sample, *separator).map(|record| record.len());
        let first = counts.next().unwrap_or(0);
        (first > 1 && counts.all(|count| count == first), first)
    };
    let best = SEPARATORS
        .iter()
        .rev()
        .max_by_key(|separator| score(separator));
    *best.expect("there are separators to try")
}

/// The last record of a sample may be cut off and does not count.
fn records(sample: &[u8], separator: u8) -> impl Iterator<Item = StringRecord> {
    let end = sample
        .iter()
        .rposition(|&byte| byte == b'\n')
        .unwrap_or(sample.len());
    ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(&sample[..end])
        .into_records()
        .map_while(Result::ok)
        .take(LOOK)
}

fn starts_with_numbers(sample: &[u8], separator: u8) -> bool {
    let rules = NumberRules::new(separator != b',', &[]);
    let first = records(sample, separator).next();
    first.is_some_and(|first| {
        !first.is_empty()
            && first
                .iter()
                .all(|text| matches!(rules.entry(text), Entry::Number(_)))
    })
}

/// Whether the numbers of a sample have a decimal comma.
pub(super) fn looks_like_decimal_comma(sample: &[u8], separator: u8) -> bool {
    let records: Vec<StringRecord> = records(sample, separator).collect();
    has_decimal_comma(records.iter().flat_map(StringRecord::iter))
}

/// Reads block after block; `wanted` are the columns kept.
pub(super) struct CsvBlocks {
    reader: csv::Reader<Box<dyn Read + Send>>,
    schema: SchemaRef,
    wanted: Vec<usize>,
    rows: usize,
    file: std::path::PathBuf,
}

impl CsvBlocks {
    pub(super) fn new(
        form: CsvForm,
        bytes: Box<dyn Read + Send>,
        schema: SchemaRef,
        wanted: Vec<usize>,
        rows: usize,
        file: &Path,
    ) -> Result<Self, Error> {
        let schema = schema
            .project(&wanted)
            .map_err(|error| Place::file(file).error(error))?;
        let reader = form.reader(bytes);
        Ok(Self {
            reader,
            schema: Arc::new(schema),
            wanted,
            rows,
            file: file.to_owned(),
        })
    }

    fn read(&mut self) -> Result<Option<Block>, Error> {
        let mut columns: Vec<StringBuilder> =
            self.wanted.iter().map(|_| StringBuilder::new()).collect();
        let (mut numbers, mut skipped) = (Vec::new(), 0);
        let mut record = StringRecord::new();
        while numbers.len() < self.rows {
            let more = self.reader.read_record(&mut record);
            if !more.map_err(|error| refuse(&self.file, error))? {
                break;
            }
            if record.iter().all(|text| text.trim().is_empty()) {
                skipped += 1;
                continue;
            }
            numbers.push(record.position().map_or(0, csv::Position::line));
            for (column, &wanted) in columns.iter_mut().zip(&self.wanted) {
                column.append_value(&record[wanted]);
            }
        }
        if numbers.is_empty() && skipped == 0 {
            return Ok(None);
        }
        let columns = columns
            .iter_mut()
            .map(|column| Arc::new(column.finish()) as ArrayRef)
            .collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Place::file(&self.file).error(error))?;
        Ok(Some(Block {
            batch,
            numbers,
            skipped,
        }))
    }
}

impl Iterator for CsvBlocks {
    type Item = Result<Block, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn refuse(file: &Path, error: csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    let place = Place {
        line,
        ..Place::file(file)
    };
    match error.into_kind() {
        ErrorKind::Io(source) => Error::File {
            action: "read",
            path: file.to_owned(),
            source,
        },
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => place.error(format!(
            "expected {expected_len} entries as in the first line, found {len}; is an entry with \
             the separator in it not quoted?"
        )),
        ErrorKind::Utf8 { err, .. } => place.error(format!(
            "the text is not UTF-8 ({err}); convert the file to UTF-8"
        )),
        other => place.error(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_the_one_that_cuts_all_lines_alike() {
        assert_eq!(
            find_separator(b"Date;Time;CO\n10/03/2004;18.00.00;2,6\n10/03/2004;19.00.00;2\n"),
            b';'
        );
        assert_eq!(find_separator(b"t,x\n0,1\n1,2\n"), b',');
        assert_eq!(find_separator(b"t\tx y\n0\t1,5\n1\t2\n"), b'\t');
        assert_eq!(find_separator(b"t\n0\n1\n"), b',');
        assert_eq!(find_separator(b""), b',');
        assert_eq!(find_separator(b"t,x\n0,1\n1,2,3\n"), b',');
        assert_eq!(find_separator(b"a,\"b;c\",d\n1,\"x;y\",2\n"), b',');
    }

    #[test]
    fn a_first_line_of_numbers_is_no_header() {
        assert!(!CsvForm::look(b"0.0,1.5\n1.0,2.5\n", None, None).header);
        assert!(CsvForm::look(b"t,x\n1.0,2.5\n", None, None).header);
        assert!(CsvForm::look(b"0.0,1.5\n1.0,2.5\n", None, Some(true)).header);
    }
}
