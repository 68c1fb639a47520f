//! Reads a table series by series.
//!
//! When the rows of each series stand together, the table streams: memory holds one block of rows
//! and the series at hand. Otherwise the whole table is read and sorted first, and
//! [`TableReader::notices`] says so. Which case it is, is found by a first pass over the ids alone.
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use arrow_array::{Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use jiff::tz::TimeZone;

use super::blocks::Table;
use super::cells::{self, counts_per_second, is_text};
use super::columns::Columns;
use super::formats::{Block, Blocks};
use super::notice::Notice;
use super::number::NumberRules;
use super::options::{ReadOptions, TimeFormat};
use super::series_rows::{Assembler, Repairs, Rows, SeriesRows};
use super::shape::{Shape, zone_of_column};
use super::time::TimeForm;
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
        let numbers = NumberRules::new(table.decimal_comma(), &options.missing);
        let sample = match table
            .blocks(None)?
            .find(|block| !matches!(block, Ok(block) if block.numbers.is_empty()))
        {
            Some(block) => block?.batch,
            None => RecordBatch::new_empty(table.schema.clone()),
        };
        let refuse = |problem: Problem| Place::file(path).problem(problem);
        let columns = Columns::find(table.schema.clone(), &sample, &numbers, &options);
        let columns = columns.map_err(|problem| match sample.num_rows() {
            0 => refuse("it has no rows".to_owned().into()),
            _ => refuse(problem),
        })?;
        let times = time_form(&columns, &sample, &numbers, &options).map_err(refuse)?;
        let shape = Shape {
            columns,
            numbers,
            times,
            format: table.format.clone(),
            formats: options.formats.clone(),
        };
        let mut notices = vec![Notice::columns(&shape.columns)];
        let grouped = match shape.columns.id {
            Some(id) => is_grouped(&table, id)?,
            None => true,
        };
        let blocks = if grouped {
            table.blocks(None)?
        } else {
            notices.push(Notice::Ungrouped);
            sorted_by_id(&table, &shape.columns, options.max_memory)?
        };
        let (repairs, skipped) = (Repairs::default(), 0);
        Ok(Self {
            table,
            shape,
            options,
            blocks,
            block: None,
            notices,
            repairs,
            skipped,
        })
    }

    /// Begins again with the first series.
    ///
    /// # Errors
    /// If the table cannot be read any more.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.blocks = if self.notices.contains(&Notice::Ungrouped) {
            sorted_by_id(&self.table, &self.shape.columns, self.options.max_memory)?
        } else {
            self.table.blocks(None)?
        };
        self.block = None;
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
        let repairs = self.repairs;
        notices.extend([
            Notice::UnsortedSeries(repairs.unsorted_series),
            Notice::AveragedRows(repairs.averaged_rows),
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
            if block.numbers.is_empty() {
                continue;
            }
            let ids = match self.shape.columns.id {
                Some(id) => Some(id_texts(
                    &self.table,
                    &block,
                    id,
                    self.shape.columns.name(id),
                )?),
                None => None,
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
        assembler.assemble(group.id, rows, &mut self.repairs)
    }
}

impl Iterator for TableReader {
    type Item = Result<SeriesRows, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The user's time format, or that of the first time in the table.
fn time_form(
    columns: &Columns,
    sample: &RecordBatch,
    numbers: &NumberRules,
    options: &ReadOptions,
) -> Result<TimeForm, Problem> {
    let parts = columns.time.len();
    if let (1, Some(zone)) = (parts, zone_of_moments(columns)) {
        return Ok(TimeForm::moments(zone));
    }
    if let TimeFormat::Pattern(pattern) = &options.time_format
        && parts > 1
        && pattern.split_whitespace().count() != parts
    {
        return Err(format!(
            "the time format `{pattern}` must have {parts} parts separated by spaces, one for each \
             time column"
        )
        .into());
    }
    // A column of numbers, dates or timestamps needs no text to tell its form.
    let text_columns = columns.time.iter().map(|&column| sample.column(column));
    let text_columns =
        text_columns.filter(|column| is_text(column.data_type()) && !column.is_empty());
    let first = text_columns.filter_map(|column| cells::texts(&column.slice(0, 1)).ok());
    let first: Vec<String> = first
        .map(|texts| texts.value(0).trim().to_owned())
        .collect();
    let first = (!first.is_empty()).then(|| first.join(" "));
    TimeForm::new(
        &options.time_format,
        options.time_zone.as_deref(),
        numbers,
        first.as_deref(),
    )
    .map_err(|problem| Problem {
        text: format!(
            "column `{}`: {}",
            columns.name(columns.time[0]),
            problem.text
        ),
        ..problem
    })
}

/// The zone of a column of moments or dates; UTC where it names none.
fn zone_of_moments(columns: &Columns) -> Option<TimeZone> {
    let kind = columns.schema.field(columns.time[0]).data_type();
    counts_per_second(kind)?;
    let named = match kind {
        DataType::Timestamp(_, Some(zone)) => zone_of_column(zone),
        _ => None,
    };
    Some(named.unwrap_or(TimeZone::UTC))
}

/// Bytes of so many rows of a batch.
fn share(batch: &RecordBatch, rows: usize) -> u64 {
    let all = batch.get_array_memory_size() as f64;
    (all * rows as f64 / batch.num_rows().max(1) as f64) as u64
}

fn check_memory(table: &Table, bytes: u64, most: Option<u64>, what: &str) -> Result<(), Error> {
    match most {
        Some(most) if bytes > most => {
            let text = format!("{what} takes more than {most} bytes of memory");
            let problem = Problem::new(text, Hint::Memory);
            Err(Place::file(table.name()).problem(problem))
        }
        _ => Ok(()),
    }
}

fn id_texts(table: &Table, block: &Block, id: usize, name: &str) -> Result<StringArray, Error> {
    let texts = cells::texts(block.batch.column(id));
    let texts = texts.map_err(|error| Place::file(table.name()).column(name).error(error))?;
    match (0..texts.len()).find(|&row| texts.value(row).trim().is_empty()) {
        Some(row) => Err(table
            .place(block.numbers[row])
            .column(name)
            .error("the id is missing")),
        None => Ok(texts),
    }
}

/// Whether no id comes back after another one. Ids are remembered as 64-bit hashes: eight bytes a
/// series; two ids with the same hash only cost a sort.
fn is_grouped(table: &Table, id: usize) -> Result<bool, Error> {
    let name = table.schema.field(id).name().clone();
    let (mut seen, mut last) = (HashSet::new(), None);
    for block in table.blocks(Some(&[id]))? {
        let block = block?;
        let ids = id_texts(table, &block, 0, &name)?;
        for row in 0..ids.len() {
            let mut hasher = DefaultHasher::new();
            ids.value(row).hash(&mut hasher);
            let hash = hasher.finish();
            if last != Some(hash) && !seen.insert(hash) {
                return Ok(false);
            }
            last = Some(hash);
        }
    }
    Ok(true)
}

/// The whole table in one block, series in the order in which they first appear.
fn sorted_by_id(
    table: &Table,
    columns: &Columns,
    max_memory: Option<u64>,
) -> Result<Blocks, Error> {
    let id = columns.id.expect("only tables with ids are ungrouped");
    let refuse = |error: ArrowError| Place::file(table.name()).error(error);
    let (mut batches, mut numbers, mut skipped) = (Vec::new(), Vec::new(), 0);
    let (mut ranks, mut rank_of_row) = (HashMap::new(), Vec::new());
    let mut bytes = 0;
    for block in table.blocks(None)? {
        let block = block?;
        bytes += share(&block.batch, block.batch.num_rows());
        check_memory(
            table,
            bytes,
            max_memory,
            "the table, which has to be sorted by id,",
        )?;
        let ids = id_texts(table, &block, id, columns.name(id))?;
        for row in 0..ids.len() {
            let next = ranks.len();
            rank_of_row.push(*ranks.entry(ids.value(row).to_owned()).or_insert(next));
        }
        numbers.extend(block.numbers);
        skipped += block.skipped;
        batches.push(block.batch);
    }
    let all = concat_batches(&table.schema, &batches).map_err(refuse)?;
    let mut order: Vec<usize> = (0..rank_of_row.len()).collect();
    order.sort_by_key(|&row| rank_of_row[row]);
    let indices: UInt64Array = order.iter().map(|&row| Some(row as u64)).collect();
    let batch = take_record_batch(&all, &indices).map_err(refuse)?;
    let numbers = order.iter().map(|&row| numbers[row]).collect();
    Ok(Box::new(std::iter::once(Ok(Block {
        batch,
        numbers,
        skipped,
    }))))
}
