//! People's own tables: read to series, written back with holes filled and rows added.
//!
//! ```text
//! source -> blocks -> reader -> series and their rows -> method -> filled -> writer -> output
//! bytes     rows      groups    Series, RecordBatch      yours     columns   encodes   file
//! ```
//!
//! | what | choices |
//! |---|---|
//! | formats | CSV, TSV, Parquet, Arrow IPC, `.npz`; around them gzip or Zstandard; `-` is standard input and output |
//! | layout | long: one row per series and time, channels in columns; without an id column one series |
//! | times | numbers, dates in the usual ways, RFC 3339 with zone, months, quarters, weeks, epoch seconds or milliseconds, a pattern, one or two columns |
//! | numbers | decimal point or comma, signs between thousands; missing: empty, NaN, NA, N/A, null, none, ?, -, and the user's own marks |
//! | rows | any order; equal times of one series refused or averaged |
//!
//! What is not said in [`ReadOptions`] is found by looking, and [`TableReader::notices`] tells what
//! was found. Columns that are not used are passed through untouched. When the rows of each series
//! stand together, memory holds a batch of series, not the table.
//!
//! ```
//! use cssc::data::table::{Filled, ReadOptions, TableReader, TableWriter, apply};
//! # let directory = tempfile::tempdir()?;
//! # let (input, output) = (directory.path().join("in.csv"), directory.path().join("out.csv"));
//! std::fs::write(&input, "time;x;note\n2024-01-01;1,5;ok\n2024-01-02;;late\n")?;
//! let mut reader = TableReader::open(&input, ReadOptions::default())?;
//! let mut writer = TableWriter::create(&output, reader.shape())?;
//! apply(&mut reader, &mut writer, |series| {
//!     let first = series.values()[0];
//!     Ok::<_, cssc::Error>(Filled { values: vec![first; series.len()], ..Filled::default() })
//! })?;
//! writer.finish()?;
//! assert_eq!(std::fs::read_to_string(&output)?, "time;x;note\n2024-01-01;1,5;ok\n2024-01-02;1,5;late\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod blocks;
mod cells;
mod columns;
mod compression;
mod dataset;
mod filled;
pub mod formats;
mod grouping;
mod guard;
mod input;
mod load;
mod notice;
mod number;
mod options;
mod output;
mod reader;
mod series_rows;
mod shape;
mod stream;
mod suspects;
mod time;
mod time_guess;
mod time_pattern;
mod writer;
pub use crate::data::Filled;
pub use crate::error::Place;
pub use columns::Columns;
pub use compression::Compression;
pub use dataset::read_dataset;
pub use filled::Extras;
pub use formats::{Formats, TableFormat};
pub use guard::panics_are_errors;
pub use input::Input;
pub use load::LoadedTable;
pub use notice::Notice;
pub use number::NumberRules;
pub use options::{Duplicates, ReadOptions, TimeFormat};
pub use output::Output;
pub use reader::TableReader;
pub use series_rows::SeriesRows;
pub use shape::Shape;
pub use stream::{Counts, apply};
pub use time::TimeForm;
pub use writer::TableWriter;
/// Columns and their types, in which formats give and take tables.
pub use {arrow_array, arrow_schema};
