//! Many series with the same channels.
use std::collections::HashMap;

use super::Series;
use crate::Error;

/// Series that share their channels. Ids, where given, differ: checked when it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    channel_names: Vec<String>,
    /// Of channels that hold integers.
    integers: Vec<Option<(f64, f64)>>,
    /// Where the channels are the pixels of an image.
    frame: Option<[usize; 2]>,
    series: Vec<Series>,
}

impl Dataset {
    /// Makes a data set; every series must have one channel for each name.
    pub fn new(channel_names: Vec<String>, series: Vec<Series>) -> Result<Self, Error> {
        let mut numbers = HashMap::new();
        for (number, one) in series.iter().enumerate() {
            if one.channels() != channel_names.len() {
                return Err(Error::ChannelCount {
                    series: one.id().map_or_else(|| number.to_string(), str::to_owned),
                    expected: channel_names.len(),
                    found: one.channels(),
                });
            }
            let Some(id) = one.id() else { continue };
            if let Some(first) = numbers.insert(id, number) {
                return Err(Error::DuplicateId {
                    id: id.to_owned(),
                    first,
                    second: number,
                });
            }
        }
        Ok(Self {
            integers: vec![None; channel_names.len()],
            frame: None,
            channel_names,
            series,
        })
    }

    /// The same with channels that hold integers: the smallest and largest they can hold.
    ///
    /// # Panics
    /// When there is not one entry per channel.
    #[must_use]
    pub fn with_integers(self, integers: Vec<Option<(f64, f64)>>) -> Self {
        assert_eq!(integers.len(), self.channels(), "one entry per channel");
        Self { integers, ..self }
    }

    /// The same with channels that are the pixels of an image of `frame` rows and columns, row after row; `None`, or
    /// another number of pixels than there are channels, is no image.
    #[must_use]
    pub fn with_frame(self, frame: Option<[usize; 2]>) -> Self {
        let frame = frame.filter(|[height, width]| height * width == self.channels());
        Self { frame, ..self }
    }

    /// Rows and columns of the image that the channels are, if they are one.
    pub fn frame(&self) -> Option<[usize; 2]> {
        self.frame
    }

    /// The smallest and largest integer a channel can hold; `None` if it holds other numbers too.
    pub fn integer_range(&self, channel: usize) -> Option<(f64, f64)> {
        self.integers[channel]
    }

    /// Names of the channels.
    pub fn channel_names(&self) -> &[String] {
        &self.channel_names
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channel_names.len()
    }

    /// All series.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Number of rows of all series together.
    pub fn rows(&self) -> usize {
        self.series.iter().map(Series::len).sum()
    }

    /// Number of series.
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// Whether there is no series.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// The known values of a channel, over all series.
    pub fn known(&self, channel: usize) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(move |series| {
            (0..series.len()).filter_map(move |row| series.value(row, channel))
        })
    }

    /// The median distance of neighbouring rows over all series; `None` without two rows in any.
    pub fn typical_step(&self) -> Option<f64> {
        let steps = |series: &Series| {
            series
                .times()
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .collect::<Vec<_>>()
        };
        let mut steps: Vec<f64> = self.series.iter().flat_map(steps).collect();
        let middle = steps.len() / 2;
        (!steps.is_empty()).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
    }

    /// The mean distance of neighbouring rows over all series; `None` without two rows in any.
    #[cfg(feature = "nn")]
    pub(crate) fn mean_step(&self) -> Option<f64> {
        let (mut length, mut steps) = (0.0, 0);
        for times in self.series.iter().map(Series::times) {
            if let [first, .., last] = times {
                length += last - first;
                steps += times.len() - 1;
            }
        }
        (steps > 0).then(|| length / steps as f64)
    }

    /// The series at the given numbers, in that order.
    ///
    /// # Panics
    /// When a number is not below [`Dataset::len`].
    pub fn subset(&self, numbers: &[usize]) -> Self {
        Self {
            channel_names: self.channel_names.clone(),
            integers: self.integers.clone(),
            frame: self.frame,
            series: numbers
                .iter()
                .map(|&number| self.series[number].clone())
                .collect(),
        }
    }

    /// One of the channels alone.
    #[cfg(feature = "nn")]
    pub(crate) fn only(&self, channel: usize) -> Result<Self, Error> {
        let of = |series: &Series| {
            let values = series.values().iter().skip(channel);
            let values = values.step_by(series.channels()).copied().collect();
            let id = series.id().map(str::to_owned);
            Series::new(id, 1, series.times().to_vec(), values)
        };
        let series = self.series.iter().map(of).collect::<Result<_, _>>()?;
        Self::new(vec![self.channel_names[channel].clone()], series)
    }

    /// The same channels with every series changed by `change`, which keeps ids and channels.
    pub(crate) fn map(
        &self,
        change: impl FnMut(&Series) -> Result<Series, Error>,
    ) -> Result<Self, Error> {
        let series = self.series.iter().map(change).collect::<Result<_, _>>()?;
        Ok(Self {
            channel_names: self.channel_names.clone(),
            integers: self.integers.clone(),
            frame: self.frame,
            series,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(id: &str, channels: usize) -> Series {
        Series::new(Some(id.into()), channels, vec![0.0], vec![1.0; channels]).unwrap()
    }

    #[test]
    fn a_series_with_other_channels_is_refused() {
        let wrong = Dataset::new(vec!["x".into()], vec![series("a", 1), series("b", 2)]);
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "series b has 2 channels, the data set has 1"
        );
    }

    #[test]
    fn equal_ids_are_refused() {
        let wrong = Dataset::new(vec!["x".into()], vec![series("a", 1), series("a", 1)]);
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "two series have the id `a` (numbers 0 and 1); ids must differ"
        );
    }

    #[test]
    fn a_subset_keeps_the_order_asked_for() {
        let all = Dataset::new(
            vec!["x".into()],
            ["a", "b", "c"].map(|id| series(id, 1)).into(),
        );
        let ids: Vec<_> = all
            .unwrap()
            .subset(&[2, 0])
            .series()
            .iter()
            .map(|one| one.label())
            .collect();
        assert_eq!(ids, ["c", "a"]);
    }
}
