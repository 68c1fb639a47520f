//! A table held in memory as far as is allowed, to look at before it is passed through a method.
use arrow_array::RecordBatch;

use super::reader::TableReader;
use super::series_rows::SeriesRows;
use crate::Error;
use crate::data::Dataset;

/// Most cells of which the rows are kept beside the values, so that the table need not be read again.
const MOST_KEPT: usize = 5_000_000;

/// The series of a table, or its first ones.
#[derive(Debug)]
pub struct LoadedTable {
    /// The series.
    pub dataset: Dataset,
    /// Whether these are all.
    pub complete: bool,
    /// The rows of all series, which of them are means, and where they stand, if there are few.
    kept: Option<Vec<Kept>>,
}

type Kept = (RecordBatch, Vec<usize>, Vec<u64>);

impl TableReader {
    /// Reads series from the beginning, at least one, until there would be more than `most_cells`
    /// values. [`TableReader::notices`] then tells of what was read.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn load(&mut self, most_cells: usize) -> Result<LoadedTable, Error> {
        let (mut series, mut cells, mut complete) = (Vec::new(), 0, true);
        let mut kept = Some(Vec::new());
        for rows in self.by_ref() {
            let rows = rows?;
            let more = rows.series.values().len();
            if cells > 0 && cells + more > most_cells {
                complete = false;
                break;
            }
            cells += more;
            if cells > MOST_KEPT {
                kept = None;
            }
            if let Some(kept) = &mut kept {
                kept.push((rows.rows, rows.averaged, rows.numbers));
            }
            series.push(rows.series);
        }
        let columns = &self.shape().columns;
        let dataset = Dataset::new(columns.channel_names(), series)?;
        Ok(LoadedTable {
            dataset: dataset.with_integers(columns.integer_ranges()),
            complete,
            kept: kept.filter(|_| complete),
        })
    }
}

impl LoadedTable {
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
