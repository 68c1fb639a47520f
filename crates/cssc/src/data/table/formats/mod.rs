//! Kinds of table files: one file each, one trait, one list.
//!
//! ```text
//!            open                    blocks                         create            write, finish
//! Input  ------------> TableSource ----------> RecordBatch ... Output -----> TableEncoder ----------> Output
//! bytes   TableFormat                rows                      bytes  TableFormat
//! ```
//!
//! A format is also a value that knows its particulars (the separator of a text table, the form of
//! an archive). Those that were found in a table that was read come with it, as
//! [`TableSource::format`], so that writing a table like it needs nothing else.
//!
//! A format of your own is added with [`Formats::with`] to
//! [`ReadOptions::formats`](super::ReadOptions::formats); a table that was read hands the list on to
//! its writer. Compression lies around formats and is none of their business.
mod arrow;
mod arrow_check;
mod csv;
mod npz;
mod parquet;
mod parquet_check;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::compression::Compression;
use super::input::Input;
use super::notice::Notice;
use super::options::ReadOptions;
use super::output::Output;
use super::shape::Shape;
use crate::Error;
use crate::error::Problem;

pub use self::arrow::Arrow;
pub use self::csv::Csv;
pub use self::npz::{Npz, NpzForm};
pub use self::parquet::Parquet;

/// A kind of table file.
pub trait TableFormat: fmt::Debug + Send + Sync {
    /// Its name, as users choose it: `csv`.
    fn name(&self) -> &'static str;

    /// Endings of file names, without the dot and in lower case, the usual one first.
    fn endings(&self) -> &'static [&'static str];

    /// Whether a file (without compression) that begins like this is of this kind.
    fn recognises(&self, _start: &[u8]) -> bool {
        false
    }

    /// Whether entries are stored as text. Then every column is handed over as text, with numbers
    /// and times written as in the table that was read.
    fn is_text(&self) -> bool {
        false
    }

    /// Rows and columns of the pixels, where the value columns of a row are an image.
    fn frame(&self) -> Option<[usize; 2]> {
        None
    }

    /// What a table of these columns loses when it is written, one sentence each without its full stop.
    fn losses(&self, _schema: &SchemaRef) -> Vec<String> {
        Vec::new()
    }

    /// Opens a table for reading.
    ///
    /// # Errors
    /// If it is not of this kind, is damaged, or `options` do not fit it.
    fn open(&self, input: Input, options: &ReadOptions) -> Result<Box<dyn TableSource>, Error>;

    /// Begins a table of these columns; `shape` tells what they are used for.
    ///
    /// # Errors
    /// If the format cannot hold such a table, or the output cannot be written.
    fn create(
        &self,
        output: Output,
        schema: &SchemaRef,
        shape: &Shape,
    ) -> Result<Box<dyn TableEncoder>, Error>;
}

/// A table that can be read from the start as often as needed.
pub trait TableSource: Send {
    /// Names and types of the columns.
    fn schema(&self) -> SchemaRef;

    /// Reads the rows from the start; `wanted` chooses columns, increasing.
    ///
    /// # Errors
    /// If the table cannot be read any more.
    fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error>;

    /// The format, with the particulars that were found.
    fn format(&self) -> Arc<dyn TableFormat>;

    /// How text is written, for formats whose entries are text.
    fn style(&self) -> TextStyle {
        TextStyle::default()
    }
}

/// How the text of a table is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Numbers have a decimal comma.
    pub decimal_comma: bool,
    /// Commas stand between the entries.
    pub comma_separates: bool,
}

/// A table that was read whole, for formats that cannot do otherwise.
#[derive(Debug)]
pub struct Loaded {
    /// All rows.
    pub batch: RecordBatch,
    /// The format, with the particulars that were found.
    pub format: Arc<dyn TableFormat>,
}

impl TableSource for Loaded {
    fn schema(&self) -> SchemaRef {
        self.batch.schema()
    }

    fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error> {
        let batch = match wanted {
            Some(wanted) => self.batch.project(wanted),
            None => Ok(self.batch.clone()),
        };
        Ok(Block::numbered(std::iter::once(
            batch.map_err(Error::other),
        )))
    }

    fn format(&self) -> Arc<dyn TableFormat> {
        self.format.clone()
    }
}

/// Rows of a table and where they stand.
#[derive(Debug, Clone)]
pub struct Block {
    /// The rows.
    pub batch: RecordBatch,
    /// Line (text) or row (binary) of each, counted from 1.
    pub numbers: Vec<u64>,
    /// Rows without any entry, left out.
    pub skipped: u64,
    /// What the user should know about these rows.
    pub notices: Vec<Notice>,
}

/// The rows of a table, block after block.
pub type Blocks = Box<dyn Iterator<Item = Result<Block, Error>> + Send>;

impl Block {
    /// Batches as blocks, rows counted from 1.
    pub fn numbered<I>(batches: I) -> Blocks
    where
        I: Iterator<Item = Result<RecordBatch, Error>> + Send + 'static,
    {
        let mut seen = 0;
        Box::new(batches.map(move |batch| {
            let batch = batch?;
            let first = seen + 1;
            seen += batch.num_rows() as u64;
            Ok(Self {
                batch,
                numbers: (first..=seen).collect(),
                skipped: 0,
                notices: Vec::new(),
            })
        }))
    }
}

/// A table being encoded.
pub trait TableEncoder: Send {
    /// Adds rows.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error>;

    /// Writes what is left and gives the output back, which is then made visible.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> Result<Output, Error>;
}

/// The formats that are known: by default CSV, TSV, Parquet, Arrow IPC and NumPy archives.
#[derive(Clone)]
pub struct Formats(Arc<[Arc<dyn TableFormat>]>);

impl Default for Formats {
    fn default() -> Self {
        Self(Arc::new([
            Arc::new(Csv::default()),
            Arc::new(Csv::tabs()),
            Arc::new(Parquet),
            Arc::new(Arrow),
            Arc::new(Npz::default()),
        ]))
    }
}

impl Formats {
    /// These and one more, which comes before those that are there.
    #[must_use]
    pub fn with(&self, format: impl TableFormat + 'static) -> Self {
        let first: Arc<dyn TableFormat> = Arc::new(format);
        Self(
            std::iter::once(first)
                .chain(self.0.iter().cloned())
                .collect(),
        )
    }

    /// The names of all.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|format| format.name()).collect()
    }

    /// The format of that name.
    ///
    /// # Errors
    /// If there is none; the names there are, are listed.
    pub fn named(&self, name: &str) -> Result<Arc<dyn TableFormat>, Problem> {
        let found = self.0.iter().find(|format| format.name() == name);
        found.cloned().ok_or_else(|| {
            let names = self.names().join(", ");
            format!("there is no format `{name}`; there are {names}").into()
        })
    }

    /// The format that the ending of a name tells, also inside a compression: `.csv`, `.tsv.gz`.
    pub fn by_ending(&self, path: &Path) -> Option<Arc<dyn TableFormat>> {
        let (_, name) = Compression::by_ending(path);
        let (_, ending) = name.rsplit_once('.')?;
        let found = self
            .0
            .iter()
            .find(|format| format.endings().contains(&ending));
        found.cloned()
    }

    /// The format that the first bytes tell; whatever is not known is text.
    pub fn by_bytes(&self, start: &[u8]) -> Arc<dyn TableFormat> {
        let found = self.0.iter().find(|format| format.recognises(start));
        found.cloned().unwrap_or_else(|| Arc::new(Csv::default()))
    }
}

impl fmt::Debug for Formats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Formats").field(&self.names()).finish()
    }
}

impl PartialEq for Formats {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for Formats {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_the_format() {
        let formats = Formats::default();
        let of = |name: &str| {
            let found = formats.by_ending(Path::new(name));
            found.map_or("none".to_owned(), |format| format.name().to_owned())
        };
        for (name, format) in [
            ("a.csv", "csv"),
            ("a.csv.zst", "csv"),
            ("dir.parquet/a.TSV.gz", "tsv"),
            ("a.pq", "parquet"),
            ("a.feather", "arrow"),
            ("a.npz", "npz"),
            ("a.gz", "none"),
            ("csv", "none"),
            ("-", "none"),
        ] {
            assert_eq!(of(name), format, "{name}");
        }
    }

    #[test]
    fn first_bytes_tell_the_format() {
        let formats = Formats::default();
        for (start, format) in [
            (&b"PAR1...."[..], "parquet"),
            (b"ARROW1\0\0", "arrow"),
            (b"\xff\xff\xff\xff\x10", "arrow"),
            (b"PK\x03\x04", "npz"),
            (b"time,x\n", "csv"),
        ] {
            assert_eq!(formats.by_bytes(start).name(), format);
        }
    }

    #[test]
    fn a_name_that_is_not_known_is_refused_with_those_that_are() {
        let message = Formats::default().named("xlsx").unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no format `xlsx`; there are csv, tsv, parquet, arrow, npz"
        );
    }
}
