//! Reads a table series by series.
//!
//! When the rows of each series stand together, the table streams: memory holds one block of rows
//! and the series at hand. Otherwise the whole table is read and sorted first, and
//! [`TableReader::notices`] says so. Which case it is, is found by a first pass over the ids alone.
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use jiff::tz::TimeZone;

use super::blocks::Table;
use super::cells::{self, counts_per_second, is_text};
use super::columns::Columns;
use super::formats::{Block, Blocks, TextStyle};
use super::notice::Notice;
use super::number::{Entry, NumberRules};
use super::options::{ReadOptions, TimeFormat};
use super::series_rows::{Assembler, Repairs, Rows, SeriesRows};
use super::shape::{Shape, zone_of_column};
use super::suspects::{ambiguous_number, stray_text, suspected_sentinel};
use super::time::TimeForm;
use super::time_guess::guess;
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
        let shape = Shape {
            columns,
            numbers,
            times,
            format: table.format.clone(),
            formats: options.formats.clone(),
        };
        let mut notices = vec![Notice::columns(&shape.columns)];
        if let (TimeFormat::Auto, Some(unit)) = (&options.time_format, shape.times.epoch_unit()) {
            notices.push(Notice::Epoch { unit });
        }
        notices.extend(suspicions(&shape, &sample, &sample_numbers));
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
        self.blocks = if self.notices.contains(&Notice::Ungrouped) {
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
    let text_columns = columns.time.iter().map(|&column| sample.column(column));
    let text_columns = text_columns.filter(|column| parts == 1 || is_text(column.data_type()));
    let typed = columns
        .time
        .iter()
        .any(|&column| !is_text(sample.column(column).data_type()));
    let texts: Vec<StringArray> = text_columns
        .filter_map(|column| cells::texts(column).ok())
        .collect();
    let entry = |row: usize| {
        let parts: Vec<&str> = texts.iter().map(|texts| texts.value(row).trim()).collect();
        parts.join(" ")
    };
    let rows = texts.first().map_or(0, Array::len);
    let entries = (0..rows).map(entry);
    let entries: Vec<String> = entries.filter(|entry| !entry.trim().is_empty()).collect();
    let format = match &options.time_format {
        TimeFormat::Auto => match guess(&entries, parts, numbers) {
            // A column of numbers is not read by a pattern.
            Ok(TimeFormat::Pattern(_)) if typed => Ok(TimeFormat::Number),
            found => found,
        },
        given => Ok(given.clone()),
    };
    let form = format.and_then(|format| {
        let first = entries.first().map(String::as_str);
        TimeForm::new(&format, options.time_zone.as_deref(), numbers, first)
    });
    form.map_err(|problem| Problem {
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

/// Columns of text that are no id and no time, as text.
fn other_texts<'a>(
    columns: &'a Columns,
    sample: &'a RecordBatch,
) -> impl Iterator<Item = (usize, StringArray)> + 'a {
    let taken = |column: &usize| Some(*column) == columns.id || columns.time.contains(column);
    let texts = (0..sample.num_columns()).filter(move |column| !taken(column));
    let texts = texts.filter(|column| is_text(sample.column(*column).data_type()));
    texts.filter_map(|column| Some((column, cells::texts(sample.column(column)).ok()?)))
}

/// Column and row of a number that can be read in two ways, unless the user has said how, or uses
/// other columns.
fn ambiguous(
    columns: &Columns,
    sample: &RecordBatch,
    numbers: &NumberRules,
    style: TextStyle,
    options: &ReadOptions,
) -> Option<(usize, usize)> {
    if options.thousands.is_some() || options.decimal_comma.is_some() {
        return None;
    }
    let wanted = |column: usize| options.channels.is_empty() || columns.channels.contains(&column);
    let mut texts = other_texts(columns, sample).filter(|(column, _)| wanted(*column));
    texts.find_map(|(column, texts)| {
        let row = ambiguous_number(&texts, numbers, style.comma_separates)?;
        Some((column, row))
    })
}

/// What looks wrong in the first rows.
fn suspicions(shape: &Shape, sample: &RecordBatch, numbers: &[u64]) -> Vec<Notice> {
    let (columns, rules) = (&shape.columns, &shape.numbers);
    let passed = |(column, _): &(usize, StringArray)| !columns.channels.contains(column);
    let strays = other_texts(columns, sample)
        .filter(passed)
        .filter_map(|(column, texts)| {
            let row = stray_text(&texts, rules)?;
            Some(Notice::StrayText {
                column: columns.name(column).to_owned(),
                at: numbers[row],
                entry: texts.value(row).trim().to_owned(),
            })
        });
    let sentinels = columns.channels.iter().filter_map(|&column| {
        let (value, count) = suspected_sentinel(channel_values(sample.column(column), rules))?;
        Some(Notice::Sentinel {
            column: columns.name(column).to_owned(),
            value: rules.write(value),
            count,
        })
    });
    strays.chain(sentinels).collect()
}

/// Known values of a channel, as far as they can be read; others are NaN.
fn channel_values(column: &ArrayRef, rules: &NumberRules) -> std::vec::IntoIter<f64> {
    let values = if is_text(column.data_type()) {
        let number = |text: &str| match rules.entry(text) {
            Entry::Number(number) => number,
            _ => f64::NAN,
        };
        let texts = cells::texts(column);
        texts.map(|texts| texts.iter().flatten().map(number).collect())
    } else {
        cells::floats(column)
    };
    let mut values = values.unwrap_or_default();
    values.retain(|value| !rules.is_sentinel(*value));
    values.into_iter()
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
    let mut notices = Vec::new();
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
        notices.extend(block.notices);
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
        notices,
    }))))
}
