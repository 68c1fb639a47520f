//! Which rows belong together: ids, whether the rows of each series stand together, and sorting
//! where they do not.
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use arrow_array::{Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use super::blocks::Table;
use super::cells;
use super::columns::Columns;
use super::formats::{Block, Blocks};
use crate::Error;
use crate::error::{Hint, Place, Problem};

/// Between the parts of an id of several columns: no entry holds it.
const BETWEEN: &str = "\u{1f}";

/// An id for people.
pub(super) fn shown(id: &str) -> String {
    id.replace(BETWEEN, " / ")
}

/// The ids of the rows of a block, in which the id columns are at `places`.
pub(super) fn ids_of(
    table: &Table,
    block: &Block,
    places: &[usize],
    columns: &Columns,
) -> Result<StringArray, Error> {
    let mut parts = Vec::with_capacity(places.len());
    for (&place, &column) in places.iter().zip(&columns.ids) {
        let name = columns.name(column);
        let texts = cells::texts(block.batch.column(place));
        let texts = texts.map_err(|error| Place::file(table.name()).column(name).error(error))?;
        if let Some(row) = (0..texts.len()).find(|&row| texts.value(row).trim().is_empty()) {
            let place = table.place(block.numbers[row]).column(name);
            return Err(place.error("the id is missing"));
        }
        parts.push(texts);
    }
    if let [only] = &parts[..] {
        return Ok(only.clone());
    }
    let id = |row: usize| {
        let parts: Vec<&str> = parts.iter().map(|part| part.value(row)).collect();
        Some(parts.join(BETWEEN))
    };
    Ok((0..block.numbers.len()).map(id).collect())
}

/// Whether no id comes back after another one. Ids are remembered as 64-bit hashes: eight bytes a
/// series; two ids with the same hash only cost a sort.
pub(super) fn is_grouped(table: &Table, columns: &Columns) -> Result<bool, Error> {
    if columns.ids.is_empty() {
        return Ok(true);
    }
    // Only the id columns are read, in the order of the table.
    let mut wanted = columns.ids.clone();
    wanted.sort_unstable();
    let place = |column: &usize| wanted.partition_point(|one| one < column);
    let places: Vec<usize> = columns.ids.iter().map(place).collect();
    let (mut seen, mut last) = (HashSet::new(), None);
    for block in table.blocks(Some(&wanted))? {
        let block = block?;
        let ids = ids_of(table, &block, &places, columns)?;
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
pub(super) fn sorted_by_id(
    table: &Table,
    columns: &Columns,
    max_memory: Option<u64>,
) -> Result<Blocks, Error> {
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
        let ids = ids_of(table, &block, &columns.ids, columns)?;
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

/// Bytes of so many rows of a batch.
pub(super) fn share(batch: &RecordBatch, rows: usize) -> u64 {
    let all = batch.get_array_memory_size() as f64;
    (all * rows as f64 / batch.num_rows().max(1) as f64) as u64
}

pub(super) fn check_memory(
    table: &Table,
    bytes: u64,
    most: Option<u64>,
    what: &str,
) -> Result<(), Error> {
    match most {
        Some(most) if bytes > most => {
            let text = format!("{what} takes more than {most} bytes of memory");
            let problem = Problem::new(text, Hint::Memory);
            Err(Place::file(table.name()).problem(problem))
        }
        _ => Ok(()),
    }
}
