//! Whole tables as data sets in memory: for training, and for everything that looks at all series.
use std::path::Path;

use super::notice::Notice;
use super::options::ReadOptions;
use super::reader::TableReader;
use crate::Error;
use crate::data::Dataset;

/// Reads one table.
///
/// # Errors
/// If it cannot be read, or is not what the options say.
pub fn read_dataset(path: &Path, options: &ReadOptions) -> Result<(Dataset, Vec<Notice>), Error> {
    let mut reader = TableReader::open(path, options.clone())?;
    let series = reader.by_ref().map(|rows| Ok(rows?.series));
    let series = series.collect::<Result<Vec<_>, Error>>()?;
    let names = reader.shape().columns.channel_names();
    let ranges = reader.shape().columns.integer_ranges();
    let dataset = Dataset::new(names, series)?.with_integers(ranges);
    Ok((dataset, reader.notices()))
}
