//! The compensation for noisy observations: the smoothed curve passes near them instead of
//! through them, and says how sure it is.
//!
//! As in [`compensate`](mod@crate::compensate) the compensation c is cubic between the knots and
//! $\hat o = o + c$ is C² with $\ddot c = 0$ at both ends, but the values
//! $s_k = \hat o(t_k)$ are free. They minimise
//!
//! $$ \sum_k w_k\,(x_k - s_k)^2 \;+\; \lambda \sum_k \int \ddot c_k(t)^2\,dt, $$
//!
//! where $\ddot c$ is taken inside the pieces, since its jumps at the knots are prescribed.
//! $\lambda = 0$ is the compensation with
//! [`EndRule::Compensation`](crate::EndRule::Compensation); $\lambda \to \infty$ leaves the
//! smallest repair of the prediction that is C², plus a straight line fitted to the data. With a
//! prediction of zero it is the cubic smoothing spline of Reinsch (1967).
//!
//! Holes are folded and pinned as there ([`Role`](crate::compensate::Role)); a pin takes part as an
//! observation of little weight.
//!
//! # How it is solved
//!
//! For given s the compensation is the one through s. What is left is to find s. With gaps
//! $h_i$ between own knots, chords $\sigma_i = (o_i^+ - o_{i+1}^-)/h_i$ and slope jumps
//! $\dot r_i$, all $\ddot r$ cancel from the normal equations, and s are the values at the knots
//! of the smoothing spline v of the observations x whose slope jumps at inner knots by
//!
//! $$ \kappa_i = -(\sigma_i - \sigma_{i-1} + \dot r_i). $$
//!
//! v is also the most probable path of a random motion, $\ddot v$ = white noise of intensity
//! $\sigma^2/\lambda$ plus the known kicks $\kappa$, seen with noise of variance
//! $\sigma^2/w_k$, of which nothing is known beforehand. So two GaussianState filters, one from each
//! end, give s, the prediction of every observation from all *others*, and the posterior variance
//! at any time. They start from exact ignorance and add positive numbers only, so they stay
//! accurate from $\lambda = 0$ to $\infty$. (The banded equations for $\ddot c$ lose all
//! digits when λ reaches $10^{16} h^4$, a smoothing over some thousand knots.)
//!
//! Cost: O(knots) for each λ tried, a few dozen.
//!
//! # The penalty λ
//!
//! By generalised cross-validation (Craven and Wahba 1979), over the observed knots: the least
//!
//! $$ \mathrm{GCV}(\lambda) = n \sum w_k (x_k - s_k)^2 \Big/ \Big(\sum (1 - a_{kk})\Big)^2, $$
//!
//! with $a_{kk} = \partial s_k/\partial x_k$. A channel with fewer than four observations
//! tells nothing about its noise (for three, GCV is constant): it gets λ = 0.

mod channel;
mod kalman;
mod options;
mod penalty;
mod reduce;
mod smoothed;

pub use options::{DEFAULT_PIN_WEIGHT, Penalty, SmoothOptions};
pub use smoothed::Smoothed;

use rayon::prelude::*;

use crate::compensate::Plan;
use crate::error::{Error, check_length};
use crate::path::Jets;
use crate::spline::{PiecewiseCubic, SplineKind};
use channel::{Channel, Fit};

/// Like [`compensate`](crate::compensate()), but the smoothed curve passes near the observations
/// instead of through them. NaN in `values` means missing; all blocks are time-major,
/// `[times, channels]`.
///
/// ```
/// use cssc::{Jets, Path, Side, SmoothOptions, smooth};
/// let times: Vec<f64> = (0..40).map(|k| 0.1 * f64::from(k)).collect();
/// let noise = |k: usize| [0.1, -0.08, 0.03, -0.12, 0.07][k * k % 5];
/// let observed: Vec<f64> = (0..40).map(|k| times[k].sin() + noise(k)).collect();
/// let zero = Jets::<Vec<f64>>::zeros(40); // any prediction; this one knows nothing
/// let smoothed = smooth(
///     &times, 1, &observed, zero.as_slices(), zero.as_slices(), &SmoothOptions::default(),
/// )?;
/// let c = smoothed.compensation.sample(&[1.55], Side::Right)?.value[0];
/// let std_dev = smoothed.std_devs(&[1.55])?[0];
/// assert!((c - 1.55f64.sin()).abs() < 3.0 * std_dev && std_dev < smoothed.noise[0]);
/// # Ok::<(), cssc::Error>(())
/// ```
///
/// # Errors
/// As [`compensate`](crate::compensate()), and if an option is out of its range.
pub fn smooth(
    times: &[f64],
    channels: usize,
    values: &[f64],
    left: Jets<&[f64]>,
    right: Jets<&[f64]>,
    options: &SmoothOptions,
) -> Result<Smoothed, Error> {
    let expected = times.len() * channels;
    check_length("values", values.len(), expected, "times x channels")?;
    let observed: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
    let plan = Plan::new(times, channels, Some(&observed), options.compensation())?;
    options.check(times, channels, &observed)?;
    // Also finds numbers that cannot be used, and names them.
    let mut compensation = PiecewiseCubic::default();
    plan.forward(values, left, right, &mut compensation)?;
    let problems = reduce::with_prediction(&plan, values, left, right, options);
    let fits = fit_all(&problems, options);
    if fits.iter().any(|fit| fit.penalty > 0.0) {
        let near = targets(&problems, &fits, times.len());
        let own: Vec<bool> = near.iter().map(|value| !value.is_nan()).collect();
        let options = crate::CompensationOptions {
            max_fold: None,
            ..options.compensation()
        };
        let plan = Plan::new(times, channels, Some(&own), options)?;
        plan.forward(&near, left, right, &mut compensation)?;
    }
    Ok(Smoothed::new(compensation, problems, fits))
}

/// The cubic smoothing spline of each channel: [`smooth`] for a prediction of zero, but a
/// channel knows nothing before its first and after its last observation, where it goes on as a
/// straight line (up to the ends of the series; beyond them paths extend their end pieces).
/// `compensation` of the answer is the spline itself.
///
/// ```
/// use cssc::{Path, Side, SmoothOptions, Penalty, smooth::smoothing_spline};
/// let (times, values) = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.2, 1.8, 3.0]);
/// let strong = SmoothOptions { penalty: Penalty::Given(1e9), ..SmoothOptions::default() };
/// let line = smoothing_spline(&times, 1, &values, &strong)?.compensation;
/// assert!((line.sample(&[1.5], Side::Right)?.slope[0] - 0.96).abs() < 1e-6); // least squares
/// # Ok::<(), cssc::Error>(())
/// ```
///
/// # Errors
/// If times do not increase, lengths do not fit, a value is infinite, a channel has no
/// observation, or an option is out of its range.
pub fn smoothing_spline(
    times: &[f64],
    channels: usize,
    values: &[f64],
    options: &SmoothOptions,
) -> Result<Smoothed, Error> {
    let mut spline = PiecewiseCubic::fit(times, channels, values, SplineKind::Natural)?;
    let observed: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
    options.check(times, channels, &observed)?;
    let problems = reduce::without_prediction(times, channels, values, options);
    let fits = fit_all(&problems, options);
    if fits.iter().any(|fit| fit.penalty > 0.0) {
        let near = targets(&problems, &fits, times.len());
        spline = PiecewiseCubic::fit(times, channels, &near, SplineKind::Natural)?;
    }
    Ok(Smoothed::new(
        reduce::straight_outside(&spline, &problems)?,
        problems,
        fits,
    ))
}

fn fit_all(problems: &[Channel], options: &SmoothOptions) -> Vec<Fit> {
    problems
        .par_iter()
        .map(|channel| channel.fit(options.penalty))
        .collect()
}

/// The values the curve passes through at the own knots of each channel, NaN elsewhere;
/// `[knots, channels]`.
fn targets(problems: &[Channel], fits: &[Fit], knots: usize) -> Vec<f64> {
    let channels = problems.len();
    let mut block = vec![f64::NAN; knots * channels];
    for (j, (channel, fit)) in problems.iter().zip(fits).enumerate() {
        for (knot, value) in channel.knots.iter().zip(&fit.values) {
            block[knot.index * channels + j] = *value;
        }
    }
    block
}
