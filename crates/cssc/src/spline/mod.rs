//! Plain splines: piecewise cubics through observed points, vectorised over channels.
//!
//! | [`SplineKind`] | pieces | ends | with 3 points | with 2 | with 1 |
//! |---|---|---|---|---|---|
//! | `Linear` | straight lines | | as usual | line | constant |
//! | `Natural` | cubic, C² | curvature 0 | as usual | line | constant |
//! | `Clamped` | cubic, C² | slopes given | as usual | one cubic | constant |
//! | `NotAKnot` | cubic, C² | third derivative continuous at the second and last but one knot | parabola | line | constant |
//! | `Makima` | cubic, C¹ | slopes extrapolated | as usual | line | constant |
//! | `Pchip` | cubic, C¹, monotone between points | slopes of parabolas, limited | as usual | line | constant |
//!
//! The fall-backs are those of scipy's `CubicSpline`, `Akima1DInterpolator` and `PchipInterpolator`, and so is the
//! extension of the end pieces outside the knots (for `Makima`: scipy with `extrapolate=True`).
//!
//! A channel may have missing entries (NaN); it then runs through its own observed points, and
//! its pieces are re-expanded about the common knots. Cost: O(knots · channels); channels that
//! are observed at the same knots share one factorisation.

mod fit;
mod makima;
mod moments;
mod pchip;
mod pieces;
mod shared_knots;
pub(crate) mod tridiagonal;

#[cfg(any(feature = "nn", feature = "tables"))]
pub(crate) use makima::makima_slope;
pub(crate) use moments::cubic_from_moments;
pub use pieces::PiecewiseCubic;
pub(crate) use pieces::{Cursor, PieceRows, shift};
pub(crate) use shared_knots::SharedKnots;

/// Which plain interpolator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SplineKind {
    /// Straight lines between the points.
    Linear,
    /// The C² cubic spline whose curvature vanishes at both ends.
    Natural,
    /// The C² cubic spline whose first two and last two pieces are each one cubic.
    NotAKnot,
    /// The C² cubic spline with given slopes at both ends, the same for all channels;
    /// [`SplineKind::clamped`] makes both 0.
    Clamped {
        /// Slope at the first point.
        start_slope: f64,
        /// Slope at the last point.
        end_slope: f64,
    },
    /// Modified Akima: local, C¹, little overshoot.
    Makima,
    /// Monotone between neighbouring points, C¹: never beyond their values.
    Pchip,
}

impl SplineKind {
    /// A clamped spline with slope 0 at both ends.
    #[must_use]
    pub fn clamped() -> Self {
        SplineKind::Clamped {
            start_slope: 0.0,
            end_slope: 0.0,
        }
    }
}
