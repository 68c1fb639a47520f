//! Monotone cubics (PCHIP): between two points the curve never leaves their values.
//!
//! With chord slopes $m_-$, $m_+$ and gaps $h_-$, $h_+$ beside a point, the slope there is 0 where the chords differ in
//! sign, otherwise their weighted harmonic mean
//!
//! $$ \dot x = \frac{w_- + w_+}{w_-/m_- + w_+/m_+}, \qquad w_- = h_- + 2h_+, \quad w_+ = 2h_- + h_+, $$
//!
//! and at the ends the slope of the parabola through three points, kept between 0 and three times the chord's where it
//! would overshoot. References: Fritsch and Butland 1984; scipy's `PchipInterpolator`.

/// The slopes at points with these gaps and values; at least two points.
pub(crate) fn slopes(gaps: &[f64], values: &[f64]) -> Vec<f64> {
    let chord = |i: usize| (values[i + 1] - values[i]) / gaps[i];
    let last = gaps.len() - 1;
    if last == 0 {
        return vec![chord(0); 2];
    }
    let inner = (1..=last).map(|i| inner([gaps[i - 1], gaps[i]], [chord(i - 1), chord(i)]));
    let mut slopes = vec![end([gaps[0], gaps[1]], [chord(0), chord(1)])];
    slopes.extend(inner);
    slopes.push(end(
        [gaps[last], gaps[last - 1]],
        [chord(last), chord(last - 1)],
    ));
    slopes
}

/// Between two chords, from left to right.
fn inner([before, after]: [f64; 2], [left, right]: [f64; 2]) -> f64 {
    if left * right <= 0.0 {
        return 0.0;
    }
    let (w_left, w_right) = (before + 2.0 * after, 2.0 * before + after);
    (w_left + w_right) / (w_left / left + w_right / right)
}

/// At an end, from there inwards.
fn end([near, far]: [f64; 2], [first, second]: [f64; 2]) -> f64 {
    let slope = ((2.0 * near + far) * first - near * second) / (near + far);
    if slope * first <= 0.0 {
        0.0
    } else if first * second <= 0.0 && slope.abs() > 3.0 * first.abs() {
        3.0 * first
    } else {
        slope
    }
}
