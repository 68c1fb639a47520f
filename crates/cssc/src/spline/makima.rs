//! Modified Akima interpolation: slopes from the chords of two points on either side.
//!
//! With chord slopes $m_i$ (two more extrapolated at each end), the slope at a point is
//!
//! $$ \dot x = \frac{w_1 m_{-} + w_2 m_{+}}{w_1 + w_2},\quad
//!    w_1 = |m_{++} - m_{+}| + \tfrac12|m_{++} + m_{+}|,\quad
//!    w_2 = |m_{-} - m_{--}| + \tfrac12|m_{-} + m_{--}|, $$
//!
//! and the mean of $m_{--}$ and $m_{++}$ where the weights vanish. "Vanish" is relative to the
//! channel's largest weight sum, so channels do not influence each other (scipy takes the
//! largest of all channels). Reference: Akima 1970; MATLAB's and scipy's `makima`.

/// Weight sums below this part of the channel's largest count as zero (scipy's `break_mult`).
const VANISHING: f64 = 1e-9;

/// The slope at one point from the chords of two points on either side.
#[cfg(any(feature = "nn", feature = "tables"))]
pub(crate) fn makima_slope([before2, before, after, after2]: [f64; 4]) -> f64 {
    let (w1, w2) = (weight(after, after2), weight(before2, before));
    let size = [before2, before, after, after2].map(f64::abs);
    let largest = size.into_iter().fold(0.0, f64::max);
    if w1 + w2 > VANISHING * largest {
        before + w2 / (w1 + w2) * (after - before)
    } else {
        0.5 * (before2 + after2)
    }
}

/// The slopes at points with these gaps and values; at least two points.
pub(crate) fn slopes(gaps: &[f64], values: &[f64]) -> Vec<f64> {
    let chord = |i: usize| (values[i + 1] - values[i]) / gaps[i];
    if gaps.len() == 1 {
        return vec![chord(0); 2];
    }
    let chords = extended_chords(gaps.len(), chord);
    let weights: Vec<[f64; 2]> = (0..values.len())
        .map(|i| {
            [
                weight(chords[i + 2], chords[i + 3]),
                weight(chords[i], chords[i + 1]),
            ]
        })
        .collect();
    let largest = weights.iter().map(|[w1, w2]| w1 + w2).fold(0.0, f64::max);
    let slope = |(i, [w1, w2]): (usize, &[f64; 2])| {
        if w1 + w2 > VANISHING * largest {
            chords[i + 1] + w2 / (w1 + w2) * (chords[i + 2] - chords[i + 1])
        } else {
            0.5 * (chords[i + 3] + chords[i])
        }
    };
    weights.iter().enumerate().map(slope).collect()
}

fn weight(first: f64, second: f64) -> f64 {
    (second - first).abs() + 0.5 * (second + first).abs()
}

/// The chord slopes with two extrapolated ones before and after.
fn extended_chords(count: usize, chord: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut chords = vec![0.0; 2];
    chords.extend((0..count).map(chord));
    chords[1] = 2.0 * chords[2] - chords[3];
    chords[0] = 2.0 * chords[1] - chords[2];
    for _ in 0..2 {
        let end = chords.len();
        chords.push(2.0 * chords[end - 1] - chords[end - 2]);
    }
    chords
}
