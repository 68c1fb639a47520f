//! Limits from the left and from the right, which differ where a function of time jumps.

use std::fmt;

/// From which side a limit at a knot is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Side {
    /// $t^-$: before the update at the knot.
    Left,
    /// $t^+$: after the update at the knot.
    #[default]
    Right,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Left => "left",
            Side::Right => "right",
        })
    }
}
