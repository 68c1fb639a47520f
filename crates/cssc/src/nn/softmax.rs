//! Rows of weights that sum to 1, and their derivatives.
//!
//! ```text
//!   p_j = e^(s_j - max) / Σ e^(s_i - max)         ds = p ⊙ (dp - Σ p dp)
//! ```
//!
//! Along a curve s(t), with a = s' - Σ p s' and b = a² + s'':
//!
//! ```text
//!   p' = p ⊙ a         p'' = p ⊙ (b - Σ p b)
//! ```

use super::float::Float;
use super::reduce::{dot, largest, sum};
use pulp::{Arch, Simd, WithSimd};

/// Softmax of each row of `scores` [rows, columns], in place.
pub(crate) fn softmax<T: Float>(arch: Arch, scores: &mut [T], columns: usize) {
    arch.dispatch(Softmax { scores, columns });
}

struct Softmax<'a, T> {
    scores: &'a mut [T],
    columns: usize,
}

impl<T: Float> WithSimd for Softmax<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.scores.chunks_exact_mut(self.columns) {
            let highest = largest(row);
            for s in row.iter_mut() {
                *s = (*s - highest).plain_exp();
            }
            let factor = T::ONE / sum(row);
            for p in row.iter_mut() {
                *p *= factor;
            }
        }
    }
}

/// Gradient of the scores from the gradient of the weights, in place.
pub(crate) fn softmax_back<T: Float>(
    arch: Arch,
    weights: &[T],
    gradient: &mut [T],
    columns: usize,
) {
    arch.dispatch(SoftmaxBack {
        weights,
        gradient,
        columns,
    });
}

struct SoftmaxBack<'a, T> {
    weights: &'a [T],
    gradient: &'a mut [T],
    columns: usize,
}

impl<T: Float> WithSimd for SoftmaxBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let weights = self.weights.chunks_exact(self.columns);
        for (gradient, weights) in self.gradient.chunks_exact_mut(self.columns).zip(weights) {
            let mean = dot(weights, gradient);
            for (g, &p) in gradient.iter_mut().zip(weights) {
                *g = p * (*g - mean);
            }
        }
    }
}

/// Slopes and curvatures of the weights from those of the scores, in place.
pub(crate) fn softmax_jet<T: Float>(
    arch: Arch,
    weights: &[T],
    slopes: &mut [T],
    curvatures: &mut [T],
    columns: usize,
) {
    arch.dispatch(SoftmaxJet {
        weights,
        slopes,
        curvatures,
        columns,
    });
}

struct SoftmaxJet<'a, T> {
    weights: &'a [T],
    slopes: &'a mut [T],
    curvatures: &'a mut [T],
    columns: usize,
}

impl<T: Float> WithSimd for SoftmaxJet<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let columns = self.columns;
        let rows = self.slopes.chunks_exact_mut(columns);
        let rows = rows.zip(self.curvatures.chunks_exact_mut(columns));
        for ((slopes, curvatures), weights) in rows.zip(self.weights.chunks_exact(columns)) {
            let mean = dot(weights, slopes);
            for (s1, s2) in slopes.iter_mut().zip(curvatures.iter_mut()) {
                *s1 -= mean;
                *s2 += *s1 * *s1;
            }
            let mean = dot(weights, curvatures);
            let each = slopes.iter_mut().zip(curvatures.iter_mut()).zip(weights);
            for ((s1, s2), &p) in each {
                *s1 *= p;
                *s2 = p * (*s2 - mean);
            }
        }
    }
}
