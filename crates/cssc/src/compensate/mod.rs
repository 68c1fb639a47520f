//! The compensation: the unique piecewise cubic c that makes a jumping prediction o pass
//! through the observations, twice continuously differentiable.
//!
//! ```text
//!    o   ─────◦            x observation           ô = o + c   ──x─────x──
//!             •──────◦                                         smooth: value, slope and
//!    jumps at every knot •────                                 curvature agree on both sides
//! ```
//!
//! Inputs, at knots $t_0 < \dots < t_n$: observations $x_k$ (missing allowed, for each channel
//! separately), and the limits $o, \dot o, \ddot o$ of the prediction from the left and from
//! the right. Conditions on $\hat o = o + c$: it equals $x_k$ where the channel is observed; value,
//! slope and curvature are continuous at inner knots; an [`EndRule`] holds at both ends.
//!
//! Where a channel is not observed the prediction still jumps. Such a jump is *folded* (taken
//! away without giving c new freedom) or *pinned* (the smoothed curve passes through the
//! prediction); [`Plan`] shows which. A channel that is never observed is the smoothed
//! prediction.
//!
//! For fixed times and mask everything is linear. A [`Plan`] holds what depends on times and
//! mask: [`Plan::forward`] gives c, [`Plan::backward`] the gradients by one transposed solve.
//! [`compensate`] does one series in one call; a [`Compensator`] many,
//! in parallel.
//!
//! Cost O(knots · channels) in time and memory; no allocation once the memory is there.
//!
//! | paper | here |
//! |---|---|
//! | $t_k, \tau_k$ | `times[k]`, gaps |
//! | $\epsilon_k^\pm = x_k - o(t_k^\pm)$ | mismatch: `start`, `end` of an interval |
//! | $\dot r_k, \ddot r_k$ | slope and curvature of the jump, right minus left |
//! | $M_k = \ddot c(t_k^+)$ | moments |
//! | $\hat o = o + c$ | [`Sum`](crate::Sum) of predicted and compensation |
//!
//! Reference: the paper's Theorem 1 and eq. (SSC), with the ends, holes and pins described in
//! [`EndRule`] and [`CompensationOptions`].

mod backward;
mod batch;
mod block;
#[cfg(feature = "nn")]
mod document;
mod error_bound;
mod fold;
mod forward;
mod options;
mod plan;
mod transpose;
mod validate;

pub use backward::{InputGradients, Workspace};
pub use batch::Compensator;
pub use block::{BatchInputs, BatchKnots, BatchQuery};
#[cfg(feature = "nn")]
pub use document::{CompensationDocument, LimitsDocument, Matrix, PredictionDocument};
pub use error_bound::error_bound;
pub use options::{CompensationOptions, DEFAULT_MAX_FOLD, EndRule};
pub(crate) use plan::OwnKnot;
pub use plan::{Plan, Role};

use crate::error::{Error, check_length};
use crate::numeric::real::Real;
use crate::path::Jets;
use crate::spline::PiecewiseCubic;

/// The compensation of one series; NaN in `values` means missing. All blocks are time-major,
/// `[times, channels]`. For repeated use, or for gradients, keep a [`Plan`].
///
/// ```
/// use cssc::{compensate, Jets, SplineKind, CompensationOptions, Path, PiecewiseCubic, Side, Sum};
/// let times = [0.0, 1.0, 3.0];
/// let values = [0.0, 2.0, 1.0];
/// // any path will do as a prediction; this one misses all observations
/// let predicted = PiecewiseCubic::fit(&times, 1, &[0.5, 0.5, 0.5], SplineKind::Linear)?;
/// let left = predicted.sample(&times, Side::Left)?;
/// let right = predicted.sample(&times, Side::Right)?;
/// let c = compensate(&times, 1, &values, left.as_slices(), right.as_slices(), CompensationOptions::default())?;
/// let smoothed = Sum::new(predicted, c)?;
/// assert!((smoothed.sample(&[1.0], Side::Left)?.value[0] - 2.0).abs() < 1e-15);
/// # Ok::<(), cssc::Error>(())
/// ```
///
/// # Errors
/// If times do not strictly increase, lengths do not fit, nothing is observed, or a number
/// that is needed is not finite.
pub fn compensate<T: Real>(
    times: &[f64],
    channels: usize,
    values: &[T],
    left: Jets<&[T]>,
    right: Jets<&[T]>,
    options: CompensationOptions,
) -> Result<PiecewiseCubic, Error> {
    check_length(
        "values",
        values.len(),
        times.len() * channels,
        "times x channels",
    )?;
    let observed: Vec<bool> = values
        .iter()
        .map(|value| !value.to_f64().is_nan())
        .collect();
    let plan = Plan::new(times, channels, Some(&observed), options)?;
    let mut compensation = PiecewiseCubic::default();
    plan.forward(values, left, right, &mut compensation)?;
    Ok(compensation)
}
