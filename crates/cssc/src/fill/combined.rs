//! All methods together, weighted by what they are worth in a channel and a gap of this length.

use crate::Error;
use crate::data::Series;
use crate::evaluate::{Combination, Curve, Interpolator};
use std::sync::Arc;

/// The name under which the combination is compared.
pub(super) const COMBINED: &str = "combined";

/// A weighted mean of other methods.
#[derive(Clone, Debug)]
pub struct Combined {
    candidates: Vec<Arc<dyn Interpolator>>,
    /// The one that stands in where another knows nothing.
    reference: usize,
    combination: Combination,
}

impl Combined {
    /// Of `candidates` in the order in which the weights were found.
    #[must_use]
    pub fn new(
        candidates: Vec<Arc<dyn Interpolator>>,
        reference: usize,
        combination: Combination,
    ) -> Self {
        Self {
            candidates,
            reference,
            combination,
        }
    }
}

impl Interpolator for Combined {
    fn name(&self) -> &str {
        COMBINED
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let reference = self.candidates[self.reference]
            .curve(series, channels, times)?
            .values;
        let mut values = reference.clone();
        let lengths: Vec<Vec<f64>> = channels
            .iter()
            .map(|&channel| gap_lengths(series, channel, times))
            .collect();
        let used = |number: &usize| self.combination.uses(*number, channels);
        for number in (0..self.candidates.len()).filter(used) {
            let own = self.candidates[number]
                .curve(series, channels, times)?
                .values;
            for (at, value) in values.iter_mut().enumerate() {
                let (row, place) = (at / channels.len(), at % channels.len());
                let (channel, gap) = (channels[place], lengths[place][row]);
                let weights = self.combination.weights(channel, gap);
                let difference = own[at] - reference[at];
                if weights[number] > 0.0 && difference.is_finite() {
                    let believed = self.combination.believed(number, channel, gap, difference);
                    *value += weights[number] * believed;
                }
            }
        }
        // A weighted mean of equal numbers may be off by rounding; what is known stays as it is.
        for (place, &channel) in channels.iter().enumerate() {
            for (row, time) in times.iter().enumerate() {
                let known = series.times().binary_search_by(|t| t.total_cmp(time));
                if let Some(value) = known.ok().and_then(|known| series.value(known, channel)) {
                    values[row * channels.len() + place] = value;
                }
            }
        }
        Ok(values.into())
    }
}

/// The length of the gap that each time lies in; infinite outside the known values.
fn gap_lengths(series: &Series, channel: usize, times: &[f64]) -> Vec<f64> {
    let (knots, _) = series.observed(channel);
    let length = |&time: &f64| {
        let after = knots.partition_point(|&knot| knot < time);
        match (after.checked_sub(1), knots.get(after)) {
            (Some(before), Some(end)) => end - knots[before],
            _ => f64::INFINITY,
        }
    };
    times.iter().map(length).collect()
}
