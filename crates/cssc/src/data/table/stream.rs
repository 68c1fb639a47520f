//! Passes a table through a method, batch by batch.
use rayon::prelude::*;

use super::series_rows::SeriesRows;
use super::writer::TableWriter;
use crate::Error;
use crate::data::{Filled, Series};

/// Rows gathered before the method runs on their series, in parallel.
pub(super) const BATCH_ROWS: usize = 65_536;

/// What went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Series.
    pub series: u64,
    /// Rows read.
    pub rows: u64,
    /// Entries that were missing and are filled now.
    pub filled: u64,
    /// Rows added.
    pub added: u64,
}

/// Takes every series (a [`TableReader`](super::TableReader) gives them), applies `method` to batches of them in parallel, and writes them in order.
/// Memory holds one batch of series, not the table. The writer is left to be finished.
pub fn apply<E: From<Error> + Send>(
    rows: &mut impl Iterator<Item = Result<SeriesRows, Error>>,
    writer: &mut TableWriter,
    method: impl Fn(&Series) -> Result<Filled, E> + Sync,
) -> Result<Counts, E> {
    let mut counts = Counts::default();
    loop {
        let batch = next_batch(rows)?;
        if batch.is_empty() {
            return Ok(counts);
        }
        let results: Vec<Result<Filled, E>> =
            batch.par_iter().map(|rows| method(&rows.series)).collect();
        for (rows, filled) in batch.iter().zip(results) {
            let filled = filled?;
            counts.add(&rows.series, &filled);
            writer.write(rows, &filled)?;
        }
    }
}

fn next_batch(
    rows: &mut impl Iterator<Item = Result<SeriesRows, Error>>,
) -> Result<Vec<SeriesRows>, Error> {
    let (mut batch, mut count) = (Vec::new(), 0);
    while count < BATCH_ROWS {
        let Some(series) = rows.next().transpose()? else {
            break;
        };
        count += series.series.len().max(1);
        batch.push(series);
    }
    Ok(batch)
}

impl Counts {
    pub(super) fn add(&mut self, series: &Series, filled: &Filled) {
        let was_missing = series.values().iter().zip(&filled.values);
        let now_there = was_missing.filter(|(before, after)| before.is_nan() && !after.is_nan());
        self.series += 1;
        self.rows += series.len() as u64;
        self.filled += now_there.count() as u64;
        self.added += filled.new_times.len() as u64;
    }
}
