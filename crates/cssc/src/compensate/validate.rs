//! Finding out which of the inputs of a compensation cannot be used.

use super::fold::Inputs;
use super::plan::{Plan, Role};
use crate::error::{Error, check_length};
use crate::numeric::real::Real;
use crate::path::Side;

/// All blocks must be `[knots, channels]`.
pub(super) fn lengths<T: Real>(inputs: &Inputs<'_, T>, knots: usize) -> Result<(), Error> {
    let (expected, reason) = (knots * inputs.channels, "knots x channels");
    check_length("values", inputs.values.len(), expected, reason)?;
    let left = ["left value", "left slope", "left curvature"];
    let right = ["right value", "right slope", "right curvature"];
    for (names, limits) in [(left, &inputs.left), (right, &inputs.right)] {
        for (name, (_, block)) in names.into_iter().zip(limits.by_name()) {
            check_length(name, block.len(), expected, reason)?;
        }
    }
    Ok(())
}

/// Names the first number that is read but is not finite.
pub(super) fn finite<T: Real>(plan: &Plan, inputs: &Inputs<'_, T>) -> Result<(), Error> {
    for (index, &time) in plan.times().iter().enumerate() {
        for channel in 0..plan.channels() {
            let at = index * plan.channels() + channel;
            let value = inputs.values[at].to_f64();
            if plan.role(index, channel) == Role::Observed && !value.is_finite() {
                return Err(Error::ValueNotFinite {
                    channel,
                    index,
                    time,
                    value,
                });
            }
            for (side, limits) in [(Side::Left, &inputs.left), (Side::Right, &inputs.right)] {
                for (what, block) in limits.by_name() {
                    let value = block[at].to_f64();
                    if !value.is_finite() && plan.reads(side, what, index, channel) {
                        return Err(Error::LimitNotFinite {
                            side,
                            what,
                            channel,
                            index,
                            time,
                            value,
                        });
                    }
                }
            }
        }
    }
    Ok(())
}

impl Plan {
    /// Does the compensation read this limit?
    fn reads(&self, side: Side, what: &str, index: usize, channel: usize) -> bool {
        let last = self.times().len() - 1;
        if last == 0 {
            return what == "value" && side == self.options().last_value;
        }
        match side {
            Side::Left => index > 0,
            Side::Right if index < last => true,
            Side::Right => {
                what == "value"
                    && self.options().last_value == Side::Right
                    && self.role(index, channel) == Role::Pinned
            }
        }
    }
}
