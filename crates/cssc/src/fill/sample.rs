//! A part of a very long table, on which methods are compared and models trained in its stead.
//!
//! Half a million rows, spread evenly over the whole, tell the methods apart as well as ten million do: no more
//! than 30,000 values are hidden anyway. So the memory and the time of a comparison do not grow with the table.

use crate::Error;
use crate::data::{Dataset, Series};

/// Most rows, and most cells, that methods are compared on.
const MOST_ROWS: usize = 500_000;
const MOST_CELLS: usize = 4_000_000;
/// Rows of a stretch: two weeks of minutes, so that a week can be seen to repeat itself, and few enough that twenty
/// of them fit.
const STRETCH: usize = 25_000;

/// Evenly spread stretches of `data`, or none where all of it can be used.
///
/// # Errors
/// Only if series cannot be rebuilt, which would be a fault of this library.
pub(super) fn sample(data: &Dataset) -> Result<Option<Dataset>, Error> {
    let most = MOST_ROWS.min(MOST_CELLS / data.channels().max(1));
    sample_of(data, most, STRETCH.min(most.div_ceil(4)))
}

fn sample_of(data: &Dataset, most: usize, stretch: usize) -> Result<Option<Dataset>, Error> {
    let rows = data.rows();
    if rows <= most {
        return Ok(None);
    }
    let stretches = data
        .series()
        .iter()
        .enumerate()
        .flat_map(|(number, series)| {
            let starts = (0..series.len()).step_by(stretch);
            starts.map(move |start| (number, start..series.len().min(start + stretch)))
        });
    // Every stretch that takes the rows so far over the next share of the whole.
    let (mut seen, mut kept) = (0_usize, 0_usize);
    let mut chosen = Vec::new();
    for (number, range) in stretches {
        seen += range.len();
        if (kept as u128) * (rows as u128) < (seen as u128) * (most as u128)
            && kept + range.len() <= most
        {
            kept += range.len();
            let series = &data.series()[number];
            let id = format!("{number}:{}", range.start);
            let rows: Vec<usize> = range.collect();
            let part = series.take(&rows)?;
            let (times, values) = (part.times().to_vec(), part.values().to_vec());
            chosen.push(Series::new(Some(id), series.channels(), times, values)?);
        }
    }
    let sample = Dataset::new(data.channel_names().to_vec(), chosen)?;
    let integers = (0..data.channels()).map(|channel| data.integer_range(channel));
    Ok(Some(sample.with_integers(integers.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(rows: usize) -> Series {
        let times: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        Series::new(None, 1, times.clone(), times).unwrap()
    }

    #[test]
    fn a_table_that_fits_is_taken_whole() {
        let data = Dataset::new(vec!["x".into()], vec![long(100)]).unwrap();
        assert!(sample_of(&data, 100, 10).unwrap().is_none());
    }

    #[test]
    fn stretches_are_spread_evenly_and_not_too_many() {
        let data = Dataset::new(vec!["x".into()], vec![long(1005)]).unwrap();
        let sample = sample_of(&data, 100, 10).unwrap().unwrap();
        let rows = sample.rows();
        assert!((90..=100).contains(&rows), "{rows} rows");
        let starts: Vec<f64> = sample.series().iter().map(|s| s.times()[0]).collect();
        assert!(
            starts
                .windows(2)
                .all(|pair| (90.0..=120.0).contains(&(pair[1] - pair[0]))),
            "{starts:?}"
        );
    }
}
