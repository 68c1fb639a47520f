//! A series with its gaps filled, as methods give it and tables are written from it.
use super::Series;
use crate::Error;

/// What a method made of a series; blocks are time-major, [rows, channels].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filled {
    /// Values at the times of the series; NaN stays missing.
    pub values: Vec<f64>,
    /// Times of new rows, increasing, none of them a time of the series.
    pub new_times: Vec<f64>,
    /// Values at the new times.
    pub new_values: Vec<f64>,
    /// Rows of the series that stay, increasing; `None`: all. New rows stay always.
    pub kept: Option<Vec<usize>>,
    /// Lower and upper ends of bands at the times of the series, NaN where nothing was filled.
    pub bands: Option<[Vec<f64>; 2]>,
    /// The same at the new times.
    pub new_bands: Option<[Vec<f64>; 2]>,
}

impl Filled {
    /// The series as it is: nothing filled, nothing new.
    pub fn unchanged(series: &Series) -> Self {
        Self {
            values: series.values().to_vec(),
            ..Self::default()
        }
    }

    /// Whether there is a value for every cell.
    ///
    /// # Errors
    /// If not, with the numbers.
    pub(crate) fn check(&self, series: &Series) -> Result<(), Error> {
        let channels = series.channels();
        let counts = [
            (series.len(), self.values.len()),
            (self.new_times.len(), self.new_values.len()),
        ];
        match counts
            .iter()
            .find(|(times, found)| times * channels != *found)
        {
            None => Ok(()),
            Some(&(times, found)) => Err(Error::ValueCount {
                series: series.label(),
                times,
                channels,
                found,
            }),
        }
    }
}
