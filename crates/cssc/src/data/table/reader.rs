//! Reads a table series by series.
//!
//! When the rows of each series stand together, the table streams: memory holds one block of rows
//! and the series at hand. Otherwise the whole table is read and sorted first, and
//! [`TableReader::notices`] says so. Which case it is, is found by a first pass over the ids alone.
use std::path::Path;

use arrow_array::{RecordBatch, StringArray};
use arrow_select::concat::concat_batches;

use super::blocks::Table;
use super::cells;
use super::columns::Columns;
use super::formats::{Block, Blocks};
use super::grouping::{check_memory, ids_of, is_grouped, share, shown, sorted_by_id};
use super::notice::Notice;
use super::number::NumberRules;
use super::options::{ReadOptions, TimeFormat};
use super::series_rows::{Assembler, Repairs, Rows, SeriesRows};
use super::shape::Shape;
use super::suspects::{ambiguous, suspicions};
use super::time_guess::time_form;
use crate::Error;
use crate::error::{Hint, Place, Problem};

/// An open table; iterate over it for its series.
pub struct TableReader {
    table: Table,
    shape: Shape,
    options: ReadOptions,
    blocks: Blocks,
    /// The block at hand, its ids, and the first row not yet used.
    block: Option<(Block, Option<StringArray>, usize)>,
    notices: Vec<Notice>,
    /// Of the rows read so far.
    found: Vec<Notice>,
    repairs: Repairs,
    skipped: u64,
}

/// Rows of one series, gathered over blocks.
#[derive(Default)]
struct Group {
    id: Option<String>,
    pieces: Vec<RecordBatch>,
    numbers: Vec<u64>,
    bytes: u64,
}

impl TableReader {
    /// Opens a table (`-` is standard input) and finds what the options leave open.
    pub fn open(path: &Path, options: ReadOptions) -> Result<Self, Error> {
        let table = Table::open(path, &options)?;
        let numbers = NumberRules::with_thousands(
            table.style().decimal_comma,
            options.thousands,
            &options.missing,
        );
        let (sample, sample_numbers) = match table
            .blocks(None)?
            .find(|block| !matches!(block, Ok(block) if block.numbers.is_empty()))
        {
            Some(block) => block.map(|block| (block.batch, block.numbers))?,
            None => (RecordBatch::new_empty(table.schema.clone()), Vec::new()),
        };
        let refuse = |problem: Problem| Place::file(path).problem(problem);
        let columns = Columns::find(table.schema.clone(), &sample, &numbers, &options);
        let columns = columns.map_err(|problem| match sample.num_rows() {
            0 => refuse("it has no rows".to_owned().into()),
            _ => refuse(problem),
        })?;
        if let Some((column, row)) = ambiguous(&columns, &sample, &numbers, table.style(), &options)
        {
            let found = cells::texts(sample.column(column));
            let found = found
                .map(|texts| texts.value(row).to_owned())
                .unwrap_or_default();
            let place = table
                .place(sample_numbers[row])
                .column(columns.name(column));
            let text = format!("`{found}` can be read in two ways");
            return Err(place.problem(Problem::new(text, Hint::NumberStyle)));
        }
        let times = time_form(&columns, &sample, &numbers, &options).map_err(refuse)?;
        let mixed = !is_grouped(&table, &columns)?;
        let shape = Shape {
            columns,
            numbers,
            times,
            format: table.format.clone(),
            formats: options.formats.clone(),
            file: path.to_owned(),
            mixed,
        };
        let mut notices = vec![Notice::columns(&shape.columns)];
        if let (TimeFormat::Auto, Some(unit)) = (&options.time_format, shape.times.epoch_unit()) {
            notices.push(Notice::Epoch { unit });
        }
        notices.extend(suspicions(&shape, &sample, &sample_numbers));
        let blocks = if mixed {
            notices.push(Notice::Ungrouped);
            sorted_by_id(&table, &shape.columns, options.max_memory)?
        } else {
            table.blocks(None)?
        };
        let (repairs, skipped) = (Repairs::default(), 0);
        Ok(Self {
            table,
            shape,
            options,
            blocks,
            block: None,
            notices,
            found: Vec::new(),
            repairs,
            skipped,
        })
    }

    /// Begins again with the first series.
    ///
    /// # Errors
    /// If the table cannot be read any more.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.blocks = if self.shape.mixed {
            sorted_by_id(&self.table, &self.shape.columns, self.options.max_memory)?
        } else {
            self.table.blocks(None)?
        };
        self.block = None;
        self.found.clear();
        self.repairs = Repairs::default();
        self.skipped = 0;
        Ok(())
    }

    /// All that is known about the table beside its rows.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The options it was opened with.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// What the user should know; complete when all series have been read.
    pub fn notices(&self) -> Vec<Notice> {
        let mut notices = self.notices.clone();
        notices.extend_from_slice(&self.found);
        let repairs = self.repairs;
        notices.extend([
            Notice::UnsortedSeries(repairs.unsorted_series),
            Notice::AveragedRows(repairs.averaged_rows),
            Notice::DroppedRows(repairs.dropped_rows),
            Notice::EmptyRows(self.skipped),
        ]);
        notices.retain(Notice::says_something);
        notices
    }

    fn read(&mut self) -> Result<Option<SeriesRows>, Error> {
        let mut group = Group::default();
        loop {
            if self.block.is_none() && !self.fetch()? {
                break;
            }
            let Some((block, ids, start)) = &mut self.block else {
                break;
            };
            let id = ids.as_ref().map(|ids| ids.value(*start).to_owned());
            if !group.pieces.is_empty() && group.id != id {
                break;
            }
            let rows = block.numbers.len();
            let end = match ids {
                Some(ids) => (*start..rows).find(|&row| Some(ids.value(row)) != id.as_deref()),
                None => None,
            };
            let end = end.unwrap_or(rows);
            let piece = block.batch.slice(*start, end - *start);
            group.bytes += share(&block.batch, piece.num_rows());
            check_memory(
                &self.table,
                group.bytes,
                self.options.max_memory,
                "one series",
            )?;
            group.pieces.push(piece);
            group.numbers.extend_from_slice(&block.numbers[*start..end]);
            group.id = id;
            *start = end;
            if end == rows {
                self.block = None;
            }
        }
        if group.pieces.is_empty() {
            Ok(None)
        } else {
            self.assemble(group).map(Some)
        }
    }

    /// Brings the next block that has rows.
    fn fetch(&mut self) -> Result<bool, Error> {
        for block in self.blocks.by_ref() {
            let block = block?;
            self.skipped += block.skipped;
            self.found.extend_from_slice(&block.notices);
            if block.numbers.is_empty() {
                continue;
            }
            let columns = &self.shape.columns;
            let ids = match columns.ids.is_empty() {
                true => None,
                false => Some(ids_of(&self.table, &block, &columns.ids, columns)?),
            };
            self.block = Some((block, ids, 0));
            return Ok(true);
        }
        Ok(false)
    }

    fn assemble(&mut self, group: Group) -> Result<SeriesRows, Error> {
        let rows = match &group.pieces[..] {
            [only] => only.clone(),
            several => concat_batches(&self.table.schema, several)
                .map_err(|error| Place::file(self.table.name()).error(error))?,
        };
        let assembler = Assembler {
            table: &self.table,
            shape: &self.shape,
            duplicates: self.options.duplicates,
        };
        let rows = Rows {
            batch: rows,
            numbers: group.numbers,
        };
        assembler.assemble(group.id.as_deref().map(shown), rows, &mut self.repairs)
    }
}

impl Iterator for TableReader {
    type Item = Result<SeriesRows, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
