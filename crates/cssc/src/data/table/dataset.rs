//! Whole tables as data sets in memory: for training, and for everything that looks at all series.
use std::path::{Path, PathBuf};

use super::notice::Notice;
use super::options::{Layout, ReadOptions};
use super::reader::TableReader;
use crate::Error;
use crate::data::{Dataset, Series};

/// The channel of a wide table.
const WIDE_CHANNEL: &str = "value";

/// Reads one table.
pub fn read_dataset(path: &Path, options: &ReadOptions) -> Result<(Dataset, Vec<Notice>), Error> {
    let mut reader = TableReader::open(path, options.clone())?;
    let series = reader.by_ref().map(|rows| Ok(rows?.series));
    let series = series.collect::<Result<Vec<_>, Error>>()?;
    let names = reader.shape().columns.channel_names();
    let dataset = match options.layout {
        Layout::Long => Dataset::new(names, series)?,
        Layout::Wide => split_columns(&names, &series)?,
    };
    Ok((dataset, reader.notices()))
}

/// Reads one series per file, named after the file without its endings. All files must have the
/// channels of the first.
pub fn read_files(
    paths: &[PathBuf],
    options: &ReadOptions,
) -> Result<(Dataset, Vec<Notice>), Error> {
    let mut all = Vec::with_capacity(paths.len());
    let (mut names, mut notices) = (None, Vec::new());
    for path in paths {
        let (one, found) = read_dataset(path, options)?;
        let expected = names.get_or_insert_with(|| one.channel_names().to_vec());
        let problem = if one.channel_names() != expected {
            format!(
                "expected the channels {}, found {}",
                expected.join(", "),
                one.channel_names().join(", ")
            )
        } else if one.len() > 1 {
            format!("expected one series in the file, found {}", one.len())
        } else {
            String::new()
        };
        if !problem.is_empty() {
            return Err(crate::error::Place::file(path).error(problem));
        }
        for series in one.series() {
            let (times, values) = (series.times().to_vec(), series.values().to_vec());
            all.push(Series::new(
                Some(name_of(path)),
                series.channels(),
                times,
                values,
            )?);
        }
        notices.extend(
            found
                .into_iter()
                .filter(|notice| !notices.contains(notice))
                .collect::<Vec<_>>(),
        );
    }
    Ok((Dataset::new(names.unwrap_or_default(), all)?, notices))
}

/// `dir/patient7.csv.gz` is `patient7`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// One series of one channel per column, at the times where it has a value.
fn split_columns(names: &[String], series: &[Series]) -> Result<Dataset, Error> {
    let mut split = Vec::new();
    for one in series {
        for (channel, name) in names.iter().enumerate() {
            let (times, values) = one.observed(channel);
            let id = one
                .id()
                .map_or_else(|| name.clone(), |id| format!("{id}/{name}"));
            split.push(Series::new(Some(id), 1, times, values)?);
        }
    }
    Dataset::new(vec![WIDE_CHANNEL.to_owned()], split)
}
