//! The choices that Theorem 1 leaves open.

use crate::path::Side;

/// What holds at the two ends of the series.
///
/// The paper contradicts itself here: its constraint 4 asks for a smoothed curve without
/// curvature at the ends, its theorem prints a compensation without curvature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "nn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "nn", serde(rename_all = "kebab-case"))]
pub enum EndRule {
    /// $\ddot{\hat o} = 0$ (constraint 4): the smoothed curve is natural.
    #[default]
    Output,
    /// $\ddot c = 0$ (Theorem 1 as printed): the smoothed curve keeps the prediction's
    /// curvature, and a perfect prediction is left untouched.
    Compensation,
}

/// Settings of the compensation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// The rule at both ends; default [`EndRule::Output`].
    pub end_rule: EndRule,
    /// How many jumps in a row are folded inside a hole before one is pinned: every
    /// (`max_fold` + 1)-th is. 0 pins all, `None` folds all; default [`DEFAULT_MAX_FOLD`].
    pub max_fold: Option<usize>,
    /// Which value of the prediction a channel is pinned to at the last knot, and which one
    /// counts if there is only one knot; default [`Side::Right`]. Everywhere else it is the
    /// right one. With [`Side::Left`] no right limit at the last knot is ever read.
    pub last_value: Side,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            end_rule: EndRule::default(),
            max_fold: Some(DEFAULT_MAX_FOLD),
            last_value: Side::Right,
        }
    }
}

/// Jumps in a row that are folded before one is pinned, unless told otherwise.
pub const DEFAULT_MAX_FOLD: usize = 8;
