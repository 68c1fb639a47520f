//! Bounds that physics sets: smallest and largest values, integers.

use crate::data::Dataset;

/// Bounds of every channel; what is filled in is brought inside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    channels: Vec<Limit>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Limit {
    smallest: Option<f64>,
    largest: Option<f64>,
    whole: bool,
}

impl Bounds {
    /// No limits.
    #[must_use]
    pub fn none(channels: usize) -> Self {
        Self {
            channels: vec![Limit::default(); channels],
        }
    }

    /// A channel of integers stays one, within what its type can hold. A channel of floats whose
    /// known values happen to be integers is not one.
    #[must_use]
    pub fn keep_whole(mut self, dataset: &Dataset) -> Self {
        for (channel, limit) in self.channels.iter_mut().enumerate() {
            if let Some((smallest, largest)) = dataset.integer_range(channel) {
                *limit = Limit {
                    smallest: Some(smallest),
                    largest: Some(largest),
                    whole: true,
                };
            }
        }
        self
    }

    /// Nothing below `smallest` in `channel`.
    pub fn set_smallest(&mut self, channel: usize, smallest: f64) {
        self.channels[channel].smallest = Some(smallest);
    }

    /// Nothing above `largest` in `channel`.
    pub fn set_largest(&mut self, channel: usize, largest: f64) {
        self.channels[channel].largest = Some(largest);
    }

    /// Whether a channel holds integers.
    #[must_use]
    pub fn is_whole(&self, channel: usize) -> bool {
        self.channels[channel].whole
    }

    /// The value brought inside the limits; NaN stays NaN.
    #[must_use]
    pub fn apply(&self, channel: usize, value: f64) -> f64 {
        let limit = self.channels[channel];
        let value = if limit.whole { value.round() } else { value };
        let value = limit.smallest.map_or(
            value,
            |smallest| {
                if value < smallest { smallest } else { value }
            },
        );
        limit.largest.map_or(
            value,
            |largest| if value > largest { largest } else { value },
        )
    }

    /// The end of a band brought inside the limits, not rounded.
    #[must_use]
    pub fn clamp(&self, channel: usize, value: f64) -> f64 {
        let mut limit = self.channels[channel];
        limit.whole = false;
        Self {
            channels: vec![limit],
        }
        .apply(0, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Series;

    #[test]
    fn values_are_brought_inside_and_whole_numbers_stay_whole() {
        let values = vec![1.0, 0.5, 2.0, f64::NAN];
        let series = Series::new(None, 2, vec![0.0, 1.0], values).unwrap();
        let data = Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap();
        let data = data.with_integers(vec![Some((-128.0, 127.0)), None]);
        let mut limits = Bounds::none(2).keep_whole(&data);
        assert_eq!(limits.apply(0, 200.4), 127.0);
        limits.set_smallest(0, 0.0);
        limits.set_largest(1, 3.0);
        assert_eq!(limits.apply(0, 1.6), 2.0);
        assert_eq!(limits.apply(0, -1.6), 0.0);
        assert_eq!(limits.clamp(0, 1.6), 1.6);
        assert_eq!(limits.apply(1, 1.6), 1.6);
        assert_eq!(limits.apply(1, 4.0), 3.0);
        assert!(limits.apply(1, f64::NAN).is_nan());
    }
}
