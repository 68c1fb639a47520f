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
use super::filled::Piece;
use super::formats::{Block, Blocks};
use super::grouping::{check_memory, ids_of, is_grouped, share, shown, sorted_by_id};
use super::notice::Notice;
use super::number::NumberRules;
use super::options::{ReadOptions, TimeFormat};
use super::series_rows::{Assembler, Parsed, Repairs, Rows, SeriesRows};
use super::shape::Shape;
use super::suspects::{SignWatch, ambiguous, stray, suspicions};
use super::time_guess::time_form;
use super::writer::TableWriter;
use crate::Error;
use crate::data::{Filled, Series};
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
    /// One for each channel, where the decimal sign could also part thousands.
    signs: Vec<SignWatch>,
}

/// One series, gathered over blocks.
#[derive(Default)]
struct Group {
    id: Option<String>,
    parsed: Parsed,
    /// Its rows, unless there were too many to be kept.
    pieces: Vec<RecordBatch>,
    numbers: Vec<u64>,
    bytes: u64,
}

/// A series with its rows, or without them.
pub(super) enum Gathered {
    Whole(SeriesRows),
    /// There were more values than rows are kept of.
    Values(Series),
    /// The same, and they are not in order of time: only with its rows can this be mended.
    Unordered,
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
        let (sample, sample_numbers, swallowed) = match table
            .blocks(None)?
            .find(|block| !matches!(block, Ok(block) if block.numbers.is_empty()))
        {
            Some(block) => block.map(|block| (block.batch, block.numbers, block.notices))?,
            None => {
                let empty = RecordBatch::new_empty(table.schema.clone());
                (empty, Vec::new(), Vec::new())
            }
        };
        let refuse = |problem: Problem| Place::file(path).problem(problem);
        let columns = Columns::find(table.schema.clone(), &sample, &numbers, &options);
        let columns = columns.map_err(|problem| match sample.num_rows() {
            0 => refuse("it has no rows".to_owned().into()),
            _ => match (swallowed.first(), stray(&sample, &numbers)) {
                (Some(Notice::SwallowedRows { line, rows }), _) => refuse(
                    format!(
                        "{problem}; the quoted entry in line {line} holds {rows} lines that look like rows, so close \
                         its quote"
                    )
                    .into(),
                ),
                (_, Some((column, row))) if problem.hint.is_none() => {
                    let found = cells::texts(sample.column(column));
                    let found = found.map(|texts| texts.value(row).to_owned());
                    let text = format!(
                        "{problem}; `{}` has `{}`, which is no number",
                        table.schema.field(column).name(),
                        found.unwrap_or_default().trim()
                    );
                    let place = table.place(sample_numbers[row]);
                    place.problem(Problem::new(text, Hint::NotANumber))
                }
                _ => refuse(problem),
            },
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
        let mut reader = Self {
            table,
            shape,
            options,
            blocks,
            block: None,
            notices,
            found: Vec::new(),
            repairs,
            skipped,
            signs: Vec::new(),
        };
        reader.watch_signs();
        Ok(reader)
    }

    fn watch_signs(&mut self) {
        let style = self.table.style();
        let said = self.options.thousands.is_some() || self.options.decimal_comma.is_some();
        let clear = style.comma_separates && !style.decimal_comma;
        self.signs = match said || clear || !self.table.format.is_text() {
            true => Vec::new(),
            false => vec![SignWatch::default(); self.shape.columns.channels.len()],
        };
    }

    /// Refuses a column whose numbers can be read in two ways, after all of it was read.
    fn check_signs(&self) -> Result<(), Error> {
        let columns = self.shape.columns.channels.iter().zip(&self.signs);
        let found = columns
            .filter_map(|(&column, watch)| Some((column, watch.found()?)))
            .next();
        match found {
            None => Ok(()),
            Some((column, (line, text))) => {
                let place = self.table.place(*line);
                let place = place.column(self.shape.columns.name(column));
                let text = format!("`{text}` can be read in two ways");
                Err(place.problem(Problem::new(text, Hint::NumberStyle)))
            }
        }
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
        self.watch_signs();
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

    /// Whether all rows so far stood in order of series and time, each with its own time.
    pub(super) fn in_order(&self) -> bool {
        !self.shape.mixed && self.repairs == Repairs::default()
    }

    /// The next series; the rows of one with more values than `most_kept` are forgotten as they pass.
    pub(super) fn gather(&mut self, most_kept: usize) -> Result<Option<Gathered>, Error> {
        let mut group = Group::default();
        loop {
            if self.block.is_none() && !self.fetch()? {
                break;
            }
            let Some((block, ids, start)) = &mut self.block else {
                break;
            };
            let id = ids.as_ref().map(|ids| ids.value(*start).to_owned());
            if !group.parsed.times.is_empty() && group.id != id {
                break;
            }
            let rows = block.numbers.len();
            let end = match ids {
                Some(ids) => (*start..rows).find(|&row| Some(ids.value(row)) != id.as_deref()),
                None => None,
            };
            let end = end.unwrap_or(rows);
            let piece = Rows {
                batch: block.batch.slice(*start, end - *start),
                numbers: block.numbers[*start..end].to_vec(),
            };
            let bytes = share(&block.batch, piece.batch.num_rows());
            *start = end;
            if end == rows {
                self.block = None;
            }
            group.id = id;
            group.bytes += bytes;
            self.add(&mut group, piece, most_kept)?;
        }
        if group.parsed.times.is_empty() {
            self.check_signs()?;
            Ok(None)
        } else {
            self.finish(group).map(Some)
        }
    }

    fn add(&mut self, group: &mut Group, piece: Rows, most_kept: usize) -> Result<(), Error> {
        let limit = self.options.max_memory;
        check_memory(&self.table, group.bytes, limit, "one series")?;
        let sign = self.shape.numbers.decimal_sign();
        for (watch, &column) in self.signs.iter_mut().zip(&self.shape.columns.channels) {
            let texts = cells::texts(piece.batch.column(column));
            let texts = texts.map_err(|error| Place::file(self.table.name()).error(error))?;
            watch.add(&texts, &piece.numbers, sign);
        }
        self.assembler().parse(&piece, &mut group.parsed)?;
        if group.parsed.values.len() <= most_kept {
            group.pieces.push(piece.batch);
            group.numbers.extend(piece.numbers);
        } else {
            group.pieces = Vec::new();
            group.numbers = Vec::new();
            group.bytes = 8 * (group.parsed.times.len() + group.parsed.values.len()) as u64;
        }
        Ok(())
    }

    fn finish(&mut self, group: Group) -> Result<Gathered, Error> {
        let id = group.id.as_deref().map(shown);
        let parsed = group.parsed;
        let batch = match &group.pieces[..] {
            [] if !parsed.increases() => return Ok(Gathered::Unordered),
            [] => {
                let channels = self.shape.columns.channels.len();
                let series = Series::new(id, channels, parsed.times, parsed.values)?;
                return Ok(Gathered::Values(series));
            }
            [only] => only.clone(),
            several => concat_batches(&self.table.schema, several)
                .map_err(|error| Place::file(self.table.name()).error(error))?,
        };
        let rows = Rows {
            batch,
            numbers: group.numbers,
        };
        drop(group.pieces);
        let mut repairs = self.repairs;
        let whole = self
            .assembler()
            .assemble(id, rows, parsed, &mut repairs)
            .map(Gathered::Whole);
        self.repairs = repairs;
        whole
    }

    fn assembler(&self) -> Assembler<'_> {
        Assembler {
            table: &self.table,
            shape: &self.shape,
            duplicates: self.options.duplicates,
        }
    }

    /// Writes the next rows, which are those of `series`, as they pass.
    ///
    /// # Errors
    /// If they are no longer those that `series` was made of.
    pub(super) fn pass(
        &mut self,
        series: &Series,
        filled: &Filled,
        writer: &mut TableWriter,
    ) -> Result<(), Error> {
        filled.check(series)?;
        let mut first = 0;
        while first < series.len() {
            if self.block.is_none() && !self.fetch()? {
                return Err(self.changed());
            }
            let Some((block, _, start)) = &mut self.block else {
                return Err(self.changed());
            };
            let count = (block.numbers.len() - *start).min(series.len() - first);
            let rows = Rows {
                batch: block.batch.slice(*start, count),
                numbers: block.numbers[*start..*start + count].to_vec(),
            };
            *start += count;
            if *start == block.numbers.len() {
                self.block = None;
            }
            let head = Rows {
                batch: rows.batch.slice(0, 1),
                numbers: rows.numbers[..1].to_vec(),
            };
            if self.assembler().times(&head)? != series.times()[first..=first] {
                return Err(self.changed());
            }
            let piece = Piece {
                series,
                first,
                rows: &rows.batch,
                numbers: &rows.numbers,
                averaged: &[],
            };
            writer.write_piece(&piece, filled)?;
            first += count;
        }
        Ok(())
    }

    /// After all series have passed.
    ///
    /// # Errors
    /// If there are rows left, which were not there before.
    pub(super) fn pass_end(&mut self) -> Result<(), Error> {
        match self.block.is_some() || self.fetch()? {
            true => Err(self.changed()),
            false => Ok(()),
        }
    }

    fn changed(&self) -> Error {
        Place::file(self.table.name())
            .error("the table was changed while it was read; try again when it is complete")
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
}

impl Iterator for TableReader {
    type Item = Result<SeriesRows, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.gather(usize::MAX) {
            Ok(Some(Gathered::Whole(rows))) => Some(Ok(rows)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
