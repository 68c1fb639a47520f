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
pub struct CompensationOptions {
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

impl Default for CompensationOptions {
    fn default() -> Self {
        CompensationOptions {
            end_rule: EndRule::default(),
            max_fold: Some(DEFAULT_MAX_FOLD),
            last_value: Side::Right,
        }
    }
}

/// Jumps in a row that are folded before one is pinned, unless told otherwise.
///
/// Chosen by measurement: a channel with one hole, truth sin t, a prediction that is off by a
/// wave of height 0.05 with a new phase after every jump, jumps about 0.25 apart. Root mean
/// square errors inside the hole (`cargo run --release --example max_fold` prints more):
///
/// | jumps in the hole | prediction | `0` | `4` | `6` | `8` | `12` | `24` | `None` |
/// |---|---|---|---|---|---|---|---|---|
/// | 5 | .0354 | .0417 | .0825 | .0006 | .0006 | .0006 | .0006 | .0006 |
/// | 10 | .0355 | .0399 | .0999 | .0245 | .0412 | .0022 | .0022 | .0022 |
/// | 20 | .0352 | .0392 | .0771 | .0259 | .0339 | .0237 | .0100 | .0100 |
/// | 40 | .0351 | .0385 | .0535 | .0300 | .0301 | .0467 | .0295 | .0525 |
/// | 80 | .0354 | .0385 | .0455 | .0325 | .0316 | .0360 | .0440 | .2671 |
/// | 160 | .0354 | .0387 | .0377 | .0323 | .0321 | .0335 | .0435 | 1.4621 |
///
/// Folding is excellent for a few jumps; folding all is a disaster for many. Eight keeps short
/// holes excellent and is never much worse than the prediction itself. What costs most is
/// a pin close to the next observation (10 jumps with 4 or 8): it bends the curve sharply.
pub const DEFAULT_MAX_FOLD: usize = 8;
