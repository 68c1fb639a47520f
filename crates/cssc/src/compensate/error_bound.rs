//! How far the smoothed curve can be from the truth.
//!
//! The paper's Theorem 2 holds only if $\ddot x - \ddot{\hat o}$ vanishes at both ends. With
//! $\delta_0, \delta_n$ its values there, and any knots with largest gap τ,
//!
//! $$ \lVert x - \hat o\rVert \le \tfrac{5}{384}\lVert (x-o)^{(4)}\rVert\,\tau^4
//!    + \frac{\tau^2}{9\sqrt3}\,(|\delta_0| + |\delta_n|). $$
//!
//! The first term is Hall and Meyer's (1976) for cubic splines; the second one, of order two, is
//! felt near the ends only: it decays by $2-\sqrt3 \approx 0.27$ a knot.

/// Bounds $|x - \hat o|$ over the whole series for one channel without holes.
///
/// - `largest_gap`: the largest gap τ between the channel's knots;
/// - `fourth_derivative`: a bound of $|(x-o)^{(4)}|$ between the knots;
/// - `end_curvatures`: $\ddot x - \ddot{\hat o}$ at both ends. With
///   [`EndRule::Output`](super::EndRule::Output) $\ddot{\hat o} = 0$ there, with
///   [`EndRule::Compensation`](super::EndRule::Compensation) it is the prediction's curvature.
///
/// ```
/// // a natural spline through sin at gaps of 0.1 on [0, π]: |sin⁗| ≤ 1, and sin'' = 0 at the ends
/// let bound = cssc::compensate::error_bound(0.1, 1.0, [0.0, 0.0]);
/// assert!((bound - 5.0 / 384.0 * 1e-4).abs() < 1e-18);
/// ```
#[must_use]
pub fn error_bound(largest_gap: f64, fourth_derivative: f64, end_curvatures: [f64; 2]) -> f64 {
    let [first, last] = end_curvatures.map(f64::abs);
    let inside = 5.0 / 384.0 * fourth_derivative * largest_gap.powi(4);
    inside + largest_gap.powi(2) / (9.0 * 3f64.sqrt()) * (first + last)
}
