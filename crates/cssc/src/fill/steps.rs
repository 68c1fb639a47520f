//! Channels that move in steps: switches, counters, set points. No smooth curve can follow them.

use crate::data::Dataset;

/// Fewest changes from which something can be said.
const FEWEST: usize = 20;
/// The largest twentieth of the distances between neighbouring values is looked at.
const LARGEST: f64 = 0.05;
/// A channel moves in steps when those make up this part of all its movement.
const MOVEMENT: f64 = 0.8;

/// A channel that moves in steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Number of the channel.
    pub channel: usize,
    /// The part of its movement that happens in the largest twentieth of its changes.
    pub movement: f64,
}

/// The channels that move in steps.
///
/// Noise of any usual kind has about a fifth of its movement in its largest twentieth of
/// changes, a smooth curve less; a switch has all of it.
#[must_use]
pub fn find_steps(dataset: &Dataset) -> Vec<Steps> {
    let find = |channel: usize| {
        let mut changes: Vec<f64> = Vec::new();
        for series in dataset.series() {
            let mut before = None;
            for value in (0..series.len()).filter_map(|row| series.value(row, channel)) {
                changes.extend(before.map(|before: f64| (value - before).abs()));
                before = Some(value);
            }
        }
        let all: f64 = changes.iter().sum();
        if changes.len() < FEWEST || all == 0.0 {
            return None;
        }
        let count = ((changes.len() as f64 * LARGEST).ceil() as usize).max(1);
        changes.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
        let movement = changes[..count].iter().sum::<f64>() / all;
        (movement > MOVEMENT).then_some(Steps { channel, movement })
    };
    (0..dataset.channels()).filter_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Random, Series};

    #[test]
    fn a_switch_is_noticed_and_waves_and_noise_are_not() {
        let mut random = Random::new(1);
        let rows = 400;
        let values = (0..rows).flat_map(|row| {
            let t = f64::from(row) * 0.1;
            let switch = if (row / 60) % 2 == 0 { 0.0 } else { 5.0 };
            [switch, t.sin(), random.normal(0.0, 1.0)]
        });
        let values = values.collect();
        let times = (0..rows).map(f64::from).collect();
        let series = Series::new(None, 3, times, values).unwrap();
        let names = ["switch", "wave", "noise"].map(str::to_owned).to_vec();
        let found = find_steps(&Dataset::new(names, vec![series]).unwrap());
        assert_eq!(
            found,
            [Steps {
                channel: 0,
                movement: 1.0
            }]
        );
    }
}
