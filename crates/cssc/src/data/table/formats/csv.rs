//! Text tables: every entry is kept as the text it is, so that it can be written back untouched.
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::super::cells;
use super::super::guard::Limits;
use super::super::input::Input;
use super::super::notice::Notice;
use super::super::number::{Entry, NumberRules, has_decimal_comma};
use super::super::options::ReadOptions;
use super::super::output::Output;
use super::super::shape::Shape;
use super::{Block, Blocks, TableEncoder, TableFormat, TableSource, TextStyle};
use crate::Error;
use crate::error::Place;

/// Separators tried, in this order.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Records looked at to find the separator.
const LOOK: usize = 50;

/// Text with a separator; what is not given is found by looking at the start of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Csv {
    /// Between the entries.
    pub separator: Option<u8>,
    /// Whether the first line has the names.
    pub header: Option<bool>,
}

impl Csv {
    /// Text separated by tabs.
    pub fn tabs() -> Self {
        Self {
            separator: Some(b'\t'),
            header: None,
        }
    }
}

impl TableFormat for Csv {
    fn name(&self) -> &'static str {
        match self.separator {
            Some(b'\t') => "tsv",
            _ => "csv",
        }
    }

    fn endings(&self) -> &'static [&'static str] {
        match self.separator {
            Some(b'\t') => &["tsv", "tab"],
            _ => &["csv", "txt"],
        }
    }

    fn is_text(&self) -> bool {
        true
    }

    fn open(&self, input: Input, options: &ReadOptions) -> Result<Box<dyn TableSource>, Error> {
        let separator = match options.separator {
            Some(separator) if !separator.is_ascii() => {
                let problem = format!("the separator `{separator}` is not an ASCII character");
                return Err(Place::file(input.name()).error(problem));
            }
            given => given.map(|separator| separator as u8).or(self.separator),
        };
        let limits = Limits::new(input.stored_size(), options.max_memory);
        let form = Form::look(input.start(), separator, options.header.or(self.header));
        let looks = || looks_like_decimal_comma(input.start(), form.separator);
        Ok(Box::new(CsvSource {
            schema: form.schema(Bounded::new(input.read()?, limits).0, input.name())?,
            limits,
            decimal_comma: match (options.decimal_comma, options.thousands) {
                (Some(given), _) => given,
                (None, Some('.')) => true,
                (None, Some(',')) => false,
                (None, _) => looks(),
            },
            rows: options.batch_rows.max(1),
            form,
            input,
        }))
    }

    fn create(
        &self,
        output: Output,
        schema: &SchemaRef,
        _: &Shape,
    ) -> Result<Box<dyn TableEncoder>, Error> {
        let path = output.name().to_owned();
        let mut writer = csv::WriterBuilder::new()
            .delimiter(self.separator.unwrap_or(SEPARATORS[0]))
            .from_writer(output);
        if self.header != Some(false) {
            let names = schema.fields().iter().map(|field| field.name().as_str());
            writer
                .write_record(names)
                .map_err(|error| unwritten(&path, error))?;
        }
        Ok(Box::new(CsvEncoder { path, writer }))
    }
}

/// Separator and header as they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    separator: u8,
    header: bool,
}

impl Form {
    /// Finds what is not given by looking at the start of the table.
    fn look(sample: &[u8], separator: Option<u8>, header: Option<bool>) -> Self {
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
    fn schema(self, bytes: impl Read, file: &Path) -> Result<SchemaRef, Error> {
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

struct CsvSource {
    input: Input,
    form: Form,
    schema: SchemaRef,
    decimal_comma: bool,
    rows: usize,
    limits: Limits,
}

impl TableSource for CsvSource {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error> {
        let file = self.input.name();
        let all = || (0..self.schema.fields().len()).collect();
        let wanted = wanted.map_or_else(all, <[usize]>::to_vec);
        let schema = self.schema.project(&wanted);
        let schema = schema.map_err(|error| Place::file(file).error(error))?;
        let (bytes, row_bytes) = Bounded::new(self.input.read()?, self.limits);
        Ok(Box::new(CsvBlocks {
            reader: self.form.reader(bytes),
            row_bytes,
            schema: Arc::new(schema),
            wanted,
            separator: self.form.separator,
            rows: self.rows,
            file: file.to_owned(),
        }))
    }

    fn format(&self) -> Arc<dyn TableFormat> {
        Arc::new(Csv {
            separator: Some(self.form.separator),
            header: Some(self.form.header),
        })
    }

    fn style(&self) -> TextStyle {
        TextStyle {
            decimal_comma: self.decimal_comma,
            comma_separates: self.form.separator == b',',
        }
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
fn looks_like_decimal_comma(sample: &[u8], separator: u8) -> bool {
    let records: Vec<StringRecord> = records(sample, separator).collect();
    has_decimal_comma(records.iter().flat_map(StringRecord::iter))
}

/// Bytes of which one row may only take so many: a quote that is never closed, or a file made to do
/// harm, would fill the memory with one entry.
struct Bounded {
    bytes: Box<dyn Read + Send>,
    row_bytes: Arc<AtomicU64>,
    most: u64,
}

impl Bounded {
    /// The bytes, and the counter that is set back at every row.
    fn new(bytes: Box<dyn Read + Send>, limits: Limits) -> (Self, Arc<AtomicU64>) {
        let row_bytes = Arc::new(AtomicU64::new(0));
        let bounded = Self {
            bytes,
            row_bytes: row_bytes.clone(),
            most: limits.piece,
        };
        (bounded, row_bytes)
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        if self.row_bytes.fetch_add(count as u64, Relaxed) > self.most {
            let problem = format!(
                "one row has more than {} bytes; is a quote not closed?",
                self.most
            );
            return Err(io::Error::other(problem));
        }
        Ok(count)
    }
}

/// Reads block after block; `wanted` are the columns kept.
struct CsvBlocks {
    reader: csv::Reader<Bounded>,
    /// Of the row at hand.
    row_bytes: Arc<AtomicU64>,
    schema: SchemaRef,
    wanted: Vec<usize>,
    separator: u8,
    rows: usize,
    file: PathBuf,
}

impl CsvBlocks {
    fn read(&mut self) -> Result<Option<Block>, Error> {
        let mut columns: Vec<StringBuilder> =
            self.wanted.iter().map(|_| StringBuilder::new()).collect();
        let (mut numbers, mut skipped, mut notices) = (Vec::new(), 0, Vec::new());
        let mut record = StringRecord::new();
        while numbers.len() < self.rows {
            self.row_bytes.store(0, Relaxed);
            let more = self.reader.read_record(&mut record);
            if !more.map_err(|error| refuse(&self.file, error))? {
                break;
            }
            if record.iter().all(|text| text.trim().is_empty()) {
                skipped += 1;
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line);
            numbers.push(line);
            let rows = swallowed_rows(&record, self.separator);
            if rows > 0 {
                notices.push(Notice::SwallowedRows { line, rows });
            }
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
            notices,
        }))
    }
}

impl Iterator for CsvBlocks {
    type Item = Result<Block, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Lines inside a quoted entry that look like rows: a quote that was opened by mistake swallows
/// everything up to the next one.
fn swallowed_rows(record: &StringRecord, separator: u8) -> usize {
    let many = |entry: &&str| entry.bytes().filter(|byte| *byte == b'\n').count() > 1;
    let separators = record.len() - 1;
    let is_row = |line: &&str| {
        separators > 0 && line.bytes().filter(|byte| *byte == separator).count() == separators
    };
    let inside = record
        .iter()
        .filter(many)
        .map(|entry| entry.lines().skip(1).filter(is_row).count());
    inside.filter(|rows| *rows > 1).sum()
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

struct CsvEncoder {
    path: PathBuf,
    writer: csv::Writer<Output>,
}

impl TableEncoder for CsvEncoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let columns = batch.columns().iter().map(cells::texts);
        let columns = columns
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Place::file(&self.path).error(error))?;
        for row in 0..batch.num_rows() {
            self.writer
                .write_record(columns.iter().map(|column| column.value(row)))
                .map_err(|error| unwritten(&self.path, error))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Output, Error> {
        let output = self.writer.into_inner();
        output.map_err(|error| Error::writing(&self.path)(error.into_error()))
    }
}

fn unwritten(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        ErrorKind::Io(source) => Error::writing(path)(source),
        other => Place::file(path).error(format!("{other:?}")),
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
    fn rows_inside_a_quoted_entry_are_counted() {
        let swallowed =
            |entries: &[&str]| swallowed_rows(&StringRecord::from(entries.to_vec()), b',');
        assert_eq!(swallowed(&["0", "1\n1,2\n2,3\n3,4\n"]), 3);
        assert_eq!(swallowed(&["0", "a note\nof three\nlines, really"]), 0);
        assert_eq!(swallowed(&["0", "1"]), 0);
    }

    #[test]
    fn a_first_line_of_numbers_is_no_header() {
        assert!(!Form::look(b"0.0,1.5\n1.0,2.5\n", None, None).header);
        assert!(Form::look(b"t,x\n1.0,2.5\n", None, None).header);
        assert!(Form::look(b"0.0,1.5\n1.0,2.5\n", None, Some(true)).header);
    }
}
