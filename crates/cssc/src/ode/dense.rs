//! The curve between two steps: quintic Hermite interpolation.
//!
//! From (h, h', h'') at both ends of a step of length Δ there is one polynomial of degree 5;
//! joined over the steps they are C² and match the limits at the knots exactly. (Straight
//! lines between Euler steps are not even C¹, and the usual dense outputs of Runge-Kutta
//! methods are C¹.) See method notes, section 9. With s = (t - start)/Δ:
//!
//! ```text
//!   value:      H0 = 1 - 10s³ + 15s⁴ - 6s⁵     H1 = 1 - H0
//!   slope:      Δ(s - 6s³ + 8s⁴ - 3s⁵)         Δ(-4s³ + 7s⁴ - 3s⁵)
//!   curvature:  Δ²(s² - 3s³ + 3s⁴ - s⁵)/2      Δ²(s³ - 2s⁴ + s⁵)/2
//! ```

/// The factors of (h, h', h'') at the start and at the end of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HermiteFactors {
    /// Factors of value, slope and curvature at the start.
    pub start: [f64; 3],
    /// Factors of value, slope and curvature at the end.
    pub end: [f64; 3],
}

/// Factors for the `derivative`-th derivative (0, 1 or 2) at fraction `s` of a step of length
/// `length`.
///
/// # Panics
/// For a derivative above 2.
#[must_use]
pub fn hermite(s: f64, length: f64, derivative: usize) -> HermiteFactors {
    // Coefficients of s⁰…s⁵ of the six basis functions, without the powers of Δ.
    const BASIS: [[f64; 6]; 6] = [
        [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
    ];
    assert!(derivative <= 2, "value, slope or curvature");
    let at = |row: usize| {
        let sum: f64 = (derivative..6)
            .rev()
            .fold(0.0, |sum, power| sum * s + falling(power, derivative) * BASIS[row][power]);
        sum * length.powi(row as i32 % 3 - derivative as i32)
    };
    HermiteFactors { start: [at(0), at(1), at(2)], end: [at(3), at(4), at(5)] }
}

/// power·(power - 1)·… (`count` factors): what differentiating s^power gives.
fn falling(power: usize, count: usize) -> f64 {
    (0..count).map(|i| (power - i) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t⁵ - 2t³ + t - 4 on [1.2, 1.9] has degree 5 and must come back exactly.
    #[test]
    fn a_quintic_is_reproduced_with_its_derivatives() {
        let jet = |t: f64| {
            [
                t.powi(5) - 2.0 * t.powi(3) + t - 4.0,
                5.0 * t.powi(4) - 6.0 * t * t + 1.0,
                20.0 * t.powi(3) - 12.0 * t,
            ]
        };
        let (start, end) = (1.2, 1.9);
        for s in [0.0, 0.13, 0.5, 0.77, 1.0] {
            let exact = jet(start + s * (end - start));
            for (derivative, exact) in exact.iter().enumerate() {
                let factors = hermite(s, end - start, derivative);
                let sum = |f: [f64; 3], x: [f64; 3]| f.iter().zip(x).map(|(f, x)| f * x).sum::<f64>();
                let value = sum(factors.start, jet(start)) + sum(factors.end, jet(end));
                assert!((value - exact).abs() < 1e-12, "{derivative} at {s}: {value} {exact}");
            }
        }
    }
}
