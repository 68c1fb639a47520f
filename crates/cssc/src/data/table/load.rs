//! A table held in memory as far as is allowed, to look at before it is passed through a method.
use arrow_array::RecordBatch;
use rayon::prelude::*;

use super::reader::{Gathered, TableReader};
use super::series_rows::SeriesRows;
use super::stream::{BATCH_ROWS, Counts, apply};
use super::writer::TableWriter;
use crate::Error;
use crate::data::{Dataset, Filled, Series};

/// Most cells of which the rows are kept beside the values, so that the table need not be read again.
const MOST_KEPT: usize = 1_000_000;

/// The series of a table, or its first ones.
#[derive(Debug)]
pub struct LoadedTable {
    /// The series.
    pub dataset: Dataset,
    /// Whether these are all.
    pub complete: bool,
    /// The rows of all series, which of them are means, and where they stand, if there are few.
    kept: Option<Vec<Kept>>,
    /// Whether the rows stand in the table as in the series, so that they can be written as they pass.
    in_order: bool,
}

type Kept = (RecordBatch, Vec<usize>, Vec<u64>);

impl TableReader {
    /// Reads series from the beginning, at least one, until there would be more than `most_cells`
    /// values. [`TableReader::notices`] then tells of what was read.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn load(&mut self, most_cells: usize) -> Result<LoadedTable, Error> {
        if let Some(loaded) = self.load_keeping(most_cells, MOST_KEPT)? {
            return Ok(loaded);
        }
        self.restart()?;
        let loaded = self.load_keeping(most_cells, usize::MAX)?;
        Ok(loaded.expect("rows that are kept can be sorted"))
    }

    /// `None` if the rows of a series were forgotten that would have been needed.
    fn load_keeping(
        &mut self,
        most_cells: usize,
        most_kept: usize,
    ) -> Result<Option<LoadedTable>, Error> {
        let (mut series, mut cells, mut complete) = (Vec::new(), 0, true);
        let mut kept = Some(Vec::new());
        while let Some(gathered) = self.gather(most_kept)? {
            let (one, rows) = match gathered {
                Gathered::Unordered => return Ok(None),
                Gathered::Values(series) => (series, None),
                Gathered::Whole(rows) => {
                    (rows.series, Some((rows.rows, rows.averaged, rows.numbers)))
                }
            };
            if cells > 0 && cells + one.values().len() > most_cells {
                complete = false;
                break;
            }
            cells += one.values().len();
            match (&mut kept, rows) {
                (Some(kept), Some(rows)) if cells <= MOST_KEPT => kept.push(rows),
                _ => kept = None,
            }
            series.push(one);
        }
        let columns = &self.shape().columns;
        let dataset = Dataset::new(columns.channel_names(), series)?;
        Ok(Some(LoadedTable {
            dataset: dataset
                .with_integers(columns.integer_ranges())
                .with_frame(self.shape().format.frame()),
            complete,
            kept: kept.filter(|_| complete),
            in_order: complete && self.in_order(),
        }))
    }
}

impl LoadedTable {
    /// Applies `method` to every series, in parallel, and writes them in order. Rows that were not kept are
    /// read again, and written as they pass where they stand in order: then memory holds the values, not the table.
    /// The writer is left to be finished.
    ///
    /// # Errors
    /// Those of `method`, and if the table cannot be read again.
    pub fn apply<E: From<Error> + Send>(
        &self,
        reader: &mut TableReader,
        writer: &mut TableWriter,
        method: impl Fn(&Series) -> Result<Filled, E> + Sync,
    ) -> Result<Counts, E> {
        if self.kept.is_some() || !self.in_order {
            return apply(&mut self.rows(reader)?, writer, method);
        }
        reader.restart()?;
        let mut counts = Counts::default();
        for batch in batches(self.dataset.series()) {
            let results: Vec<Result<Filled, E>> = batch.par_iter().map(&method).collect();
            for (series, filled) in batch.iter().zip(results) {
                let filled = filled?;
                counts.add(series, &filled);
                reader.pass(series, &filled, writer)?;
            }
        }
        reader.pass_end()?;
        Ok(counts)
    }

    /// All series of the table with their rows: from memory where they were kept, otherwise read
    /// again by the `reader` they were loaded by.
    ///
    /// # Errors
    /// If the table cannot be read again.
    pub fn rows<'a>(
        &'a self,
        reader: &'a mut TableReader,
    ) -> Result<Box<dyn Iterator<Item = Result<SeriesRows, Error>> + 'a>, Error> {
        let Some(kept) = &self.kept else {
            reader.restart()?;
            return Ok(Box::new(reader));
        };
        let series = self.dataset.series().iter().zip(kept);
        Ok(Box::new(series.map(
            |(series, (rows, averaged, numbers))| {
                Ok(SeriesRows {
                    series: series.clone(),
                    rows: rows.clone(),
                    averaged: averaged.clone(),
                    numbers: numbers.clone(),
                })
            },
        )))
    }
}

/// Series that follow each other, enough of them in each batch to be worth several threads.
fn batches(mut series: &[Series]) -> impl Iterator<Item = &[Series]> {
    std::iter::from_fn(move || {
        let (mut rows, mut count) = (0, 0);
        while rows < BATCH_ROWS && count < series.len() {
            rows += series[count].len();
            count += 1;
        }
        let (batch, rest) = series.split_at(count);
        series = rest;
        (count > 0).then_some(batch)
    })
}
