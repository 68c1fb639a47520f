//! Series that share their times, laid side by side: each is the best column of the others.
//!
//! ```text
//! id time a b                time  1.a 1.b 2.a 2.b
//!  1   0  ● ●                  0    ●   ●   ●   ○
//!  1   1  ○ ●        ──>       1    ○   ●   ●   ●
//!  2   0  ● ○
//!  2   1  ● ●
//! ```

use crate::Error;
use crate::data::{Dataset, Series};
use std::collections::HashMap;

/// Most columns of a table side by side.
const MOST_COLUMNS: usize = 256;
/// All times together may be so many times those of the longest series.
const SHARED: f64 = 1.3;

/// All series as one.
#[derive(Clone, Debug)]
pub(super) struct Stations {
    /// One series with the channels of all.
    pub(super) data: Dataset,
    numbers: HashMap<String, usize>,
    channels: usize,
}

impl Stations {
    /// If there are several series with ids and they share their times.
    ///
    /// # Errors
    /// Only if the series cannot be rebuilt, which would be a fault of this library.
    pub(super) fn of(data: &Dataset) -> Result<Option<Self>, Error> {
        let (count, channels) = (data.len(), data.channels());
        let with_ids = data.series().iter().all(|series| series.id().is_some());
        if count < 2 || count * channels > MOST_COLUMNS || !with_ids {
            return Ok(None);
        }
        let longest = data.series().iter().map(Series::len).max().unwrap_or(0);
        let mut times: Vec<f64> = data
            .series()
            .iter()
            .flat_map(|one| one.times())
            .copied()
            .collect();
        let all = times.len();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let few = times.len() as f64 <= SHARED * longest as f64;
        // Series that follow each other share nothing.
        if !few || all < 2 * times.len() * count / 3 {
            return Ok(None);
        }
        let width = count * channels;
        let mut values = vec![f64::NAN; times.len() * width];
        for (number, series) in data.series().iter().enumerate() {
            place(series, number * channels, width, &times, &mut values);
        }
        let names = (0..width).map(|column| column.to_string()).collect();
        let numbers = data.series().iter().enumerate();
        let numbers = numbers.filter_map(|(number, one)| Some((one.id()?.to_owned(), number)));
        Ok(Some(Self {
            numbers: numbers.collect(),
            data: Dataset::new(names, vec![Series::new(None, width, times, values)?])?,
            channels,
        }))
    }

    /// The series with its stations, if there are any, beside it, and the number of its first channel there;
    /// `None` for the series as it is.
    ///
    /// # Errors
    /// If there are not as many channels as expected.
    pub(super) fn wide(
        stations: Option<&Self>,
        series: &Series,
        expected: usize,
    ) -> Result<Option<(Series, usize)>, Error> {
        let wide = match stations {
            None => None,
            Some(stations) => stations.with(series)?,
        };
        let found = wide.as_ref().map_or(series, |(wide, _)| wide).channels();
        if found != expected {
            return Err(Error::ChannelCount {
                series: series.label(),
                expected,
                found,
            });
        }
        Ok(wide)
    }

    /// The table with `series` in its place, and the number of its first column; `None` if it is not
    /// one of them.
    ///
    /// # Errors
    /// Only if the series cannot be rebuilt, which would be a fault of this library.
    pub(super) fn with(&self, series: &Series) -> Result<Option<(Series, usize)>, Error> {
        let Some(&number) = series.id().and_then(|id| self.numbers.get(id)) else {
            return Ok(None);
        };
        let first = number * self.channels;
        let wide = &self.data.series()[0];
        let known = |time: &f64| wide.times().binary_search_by(|t| t.total_cmp(time)).is_ok();
        if !series.times().iter().all(known) {
            return Ok(None);
        }
        let width = wide.channels();
        let mut values = wide.values().to_vec();
        for row in values.chunks_mut(width) {
            row[first..first + self.channels].fill(f64::NAN);
        }
        place(series, first, width, wide.times(), &mut values);
        Ok(Some((wide.with_values(values)?, first)))
    }
}

/// Writes the values of a series into the columns from `first` on.
fn place(series: &Series, first: usize, width: usize, times: &[f64], values: &mut [f64]) {
    let mut row = 0;
    for (own, &time) in series.times().iter().enumerate() {
        row += times[row..].partition_point(|&t| t < time);
        values[row * width + first..][..series.channels()].copy_from_slice(series.row(own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_lie_side_by_side_and_series_of_other_times_do_not() {
        let nan = f64::NAN;
        let series = |id: &str, times: Vec<f64>, values: Vec<f64>| {
            Series::new(Some(id.into()), 1, times, values).unwrap()
        };
        let a = series("a", vec![0.0, 1.0, 2.0], vec![1.0, nan, 3.0]);
        let b = series("b", vec![1.0, 2.0], vec![5.0, 6.0]);
        let data = Dataset::new(vec!["x".into()], vec![a, b.clone()]).unwrap();
        let stations = Stations::of(&data).unwrap().unwrap();
        let wide = &stations.data.series()[0];
        assert_eq!(
            format!("{:?}", wide.values()),
            "[1.0, NaN, NaN, 5.0, 3.0, 6.0]"
        );
        let other = b.with_values(vec![nan, 7.0]).unwrap();
        let (wide, first) = stations.with(&other).unwrap().unwrap();
        assert_eq!(first, 1);
        assert_eq!(
            format!("{:?}", wide.values()),
            "[1.0, NaN, NaN, NaN, 3.0, 7.0]"
        );

        let apart = series("c", vec![10.0, 11.0, 12.0], vec![1.0, 2.0, 3.0]);
        let data = Dataset::new(vec!["x".into()], vec![b, apart]).unwrap();
        assert!(Stations::of(&data).unwrap().is_none());
    }
}
