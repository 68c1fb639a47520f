//! What only trees can use: where in the gap and in the cycle a cell is, and the levels around it.
//!
//! A line through departures knows nothing of circumstances. Trees ask: is it night, is the gap long, is the level high.
//! These features do not vanish at the ends of a gap; what trees make of them fades there instead (`regression`).

use super::design::Features;
use super::lookup::row_from;
use std::f64::consts::TAU;

/// Channels whose values are looked at.
const CHANNELS: usize = 6;

impl Features<'_> {
    /// Adds them, at a time inside the gap that was entered.
    pub(super) fn levels(&mut self, time: f64, values: &mut Vec<f32>) {
        let Some(piece) = self.piece else {
            return;
        };
        let part = piece.part(time);
        let usual = self.design.usual.max(f64::MIN_POSITIVE);
        let near = (time - piece.start).min(piece.end - time) / usual;
        let chord = piece.chord(part);
        let expected = self.expect(time).map_or(chord, |expected| expected.value);
        let gap = [
            part,
            near,
            piece.length() / usual,
            chord,
            piece.last - piece.first,
            expected,
        ];
        values.extend(gap.map(|value| value as f32));
        for &period in &self.design.periods {
            let angle = TAU * (time / period).fract();
            values.extend([angle.sin() as f32, angle.cos() as f32]);
        }
        self.values_beside(time, values);
    }

    /// Values of some other channels at a time.
    pub(super) fn values_beside(&self, time: f64, values: &mut Vec<f32>) {
        let row = row_from(self.series, time);
        for &channel in self.design.others(self.channel).iter().take(CHANNELS) {
            let look = self.dense.look(channel, time, row);
            values.push(look.map_or(f32::NAN, |look| look.value as f32));
        }
    }
}
