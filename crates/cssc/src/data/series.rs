//! One time series: increasing times, and at each time one value per channel or a hole.
//!
//! ```text
//! times        t_0        t_1        t_2
//! values     a_0 b_0    a_1 NaN    a_2 b_2        values[k * channels + j], NaN = missing
//! ```
//!
//! ```
//! use cssc::data::Series;
//! let series = Series::new(None, 2, vec![0.0, 1.0], vec![1.0, f64::NAN, 3.0, 4.0])?;
//! assert_eq!(series.value(1, 0), Some(3.0));
//! assert_eq!(series.value(0, 1), None);
//! # Ok::<(), cssc::Error>(())
//! ```
use crate::Error;

/// Times, values with holes, and an optional id. Times are finite and increase strictly,
/// values are finite or NaN (missing): checked when it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    id: Option<String>,
    channels: usize,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Series {
    /// Makes a series from `times` and time-major `values` (`values[k * channels + j]`).
    pub fn new(
        id: Option<String>,
        channels: usize,
        times: Vec<f64>,
        values: Vec<f64>,
    ) -> Result<Self, Error> {
        let series = Self {
            id,
            channels,
            times,
            values,
        };
        series.check_times()?;
        series.check_values()?;
        Ok(series)
    }

    fn check_times(&self) -> Result<(), Error> {
        for (index, &time) in self.times.iter().enumerate() {
            if !time.is_finite() {
                return Err(Error::SeriesTimeNotFinite {
                    series: self.label(),
                    index,
                    time,
                });
            }
            if index > 0 && self.times[index - 1] >= time {
                let before = self.times[index - 1];
                return Err(Error::TimesNotIncreasing {
                    series: self.label(),
                    index,
                    before,
                    time,
                });
            }
        }
        Ok(())
    }

    fn check_values(&self) -> Result<(), Error> {
        let (times, channels) = (self.times.len(), self.channels);
        if self.values.len() != times * channels {
            let found = self.values.len();
            return Err(Error::ValueCount {
                series: self.label(),
                times,
                channels,
                found,
            });
        }
        match self.values.iter().position(|value| value.is_infinite()) {
            None => Ok(()),
            Some(at) => Err(Error::ValueInfinite {
                series: self.label(),
                index: at / channels,
                time: self.times[at / channels],
                channel: at % channels,
            }),
        }
    }

    /// The id, or a stand-in for messages.
    pub(crate) fn label(&self) -> String {
        self.id.clone().unwrap_or_else(|| "(without id)".to_owned())
    }

    /// The id, when the series has one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of times.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no times.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The times, strictly increasing.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// All values, time-major: `values[k * channels + j]`; NaN is missing.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values of all channels at time number `index`; NaN is missing.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.channels..(index + 1) * self.channels]
    }

    /// The value of one channel at time number `index`, `None` when it is missing.
    pub fn value(&self, index: usize, channel: usize) -> Option<f64> {
        Some(self.values[index * self.channels + channel]).filter(|value| !value.is_nan())
    }

    /// The times and values at which one channel is observed.
    pub fn observed(&self, channel: usize) -> (Vec<f64>, Vec<f64>) {
        (0..self.len())
            .filter_map(|index| {
                self.value(index, channel)
                    .map(|value| (self.times[index], value))
            })
            .unzip()
    }

    /// The same times and id with other values; `values` as in [`Series::new`].
    pub fn with_values(&self, values: Vec<f64>) -> Result<Self, Error> {
        Self::new(self.id.clone(), self.channels, self.times.clone(), values)
    }

    /// The rows at the given positions, which must increase.
    pub fn take(&self, indices: &[usize]) -> Result<Self, Error> {
        let times = indices.iter().map(|&index| self.times[index]).collect();
        let values = indices
            .iter()
            .flat_map(|&index| self.row(index))
            .copied()
            .collect();
        Self::new(self.id.clone(), self.channels, times, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(times: Vec<f64>, values: Vec<f64>) -> String {
        Series::new(Some("a".into()), 2, times, values)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn every_wrong_series_is_refused_with_the_place() {
        assert_eq!(
            message(vec![0.0, 1.0], vec![1.0; 3]),
            "series a: expected 2 times x 2 channels = 4 values, found 3"
        );
        assert_eq!(
            message(vec![0.0, f64::NAN], vec![1.0; 4]),
            "series a: time 1 is NaN, expected a finite number"
        );
        assert!(
            message(vec![0.0, 2.0, 2.0], vec![1.0; 6])
                .starts_with("series a: times must increase strictly, but time 2 is 2 after 2")
        );
        let infinite = vec![1.0, 1.0, 1.0, f64::INFINITY];
        assert!(
            message(vec![0.0, 5.0], infinite)
                .contains("at time 5 (index 1) of channel 1 is infinite")
        );
    }

    #[test]
    fn observed_leaves_out_what_is_missing() {
        let values = vec![1.0, f64::NAN, f64::NAN, 4.0, 5.0, 6.0];
        let series = Series::new(None, 2, vec![0.0, 1.0, 2.0], values).unwrap();
        assert_eq!(series.observed(0), (vec![0.0, 2.0], vec![1.0, 5.0]));
        assert_eq!(series.observed(1), (vec![1.0, 2.0], vec![4.0, 6.0]));
    }

    #[test]
    fn taking_rows_drops_the_others() {
        let series = Series::new(None, 1, vec![0.0, 1.0, 2.0], vec![1.0, 2.0, 3.0]).unwrap();
        let taken = series.take(&[0, 2]).unwrap();
        assert_eq!(
            (taken.times(), taken.values()),
            (&[0.0, 2.0][..], &[1.0, 3.0][..])
        );
    }

    #[test]
    fn an_empty_series_is_allowed() {
        assert!(Series::new(None, 3, vec![], vec![]).unwrap().is_empty());
    }
}
