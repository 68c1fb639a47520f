//! The nearest orthogonal matrix, roughly: what the optimiser Muon makes of a gradient.
//!
//! With U S Vᵀ the singular value decomposition of X, U Vᵀ is found without one, by five steps of
//!
//! ```text
//!   X ← a X + (b G + c G²) X      G = X Xᵀ      a, b, c = 3.4445, -4.7750, 2.0315
//! ```
//!
//! from X/‖X‖: a polynomial that brings every singular value from (0, 1] to about 0.7 … 1.2, which is
//! all that a direction needs (Jordan et al. 2024). Three products a step, on the packed kernels; the
//! smaller side is the one that G has.

use super::arch;
use super::float::Float;
use super::kernel::{Orientation, Output, Packed, product};

const STEPS: usize = 5;
const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];
const SMALLEST_NORM: f64 = 1e-7;

/// Memory for one matrix, kept between steps.
#[derive(Debug, Default)]
pub(crate) struct Orthogonalizer<T> {
    x: Vec<T>,
    next: Vec<T>,
    gram: Vec<T>,
    square: Vec<T>,
    packed: Packed<T>,
}

impl<T: Float> Orthogonalizer<T> {
    /// Brings `matrix` [rows, columns] near the nearest orthogonal one.
    pub(crate) fn run(&mut self, matrix: &mut [T], [rows, columns]: [usize; 2]) {
        let arch = arch::best();
        let norm = matrix.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
        let factor = T::from_f64(1.0 / (norm.sqrt() + SMALLEST_NORM));
        let [a, b, c] = COEFFICIENTS.map(T::from_f64);
        let turned = rows > columns;
        let (short, long) = if turned {
            (columns, rows)
        } else {
            (rows, columns)
        };
        self.x.clear();
        if turned {
            let entries = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
            self.x
                .extend(entries.map(|(i, j)| factor * matrix[i * columns + j]));
        } else {
            self.x.extend(matrix.iter().map(|&x| factor * x));
        }
        self.next.resize(short * long, T::ZERO);
        self.gram.resize(short * short, T::ZERO);
        self.square.resize(short * short, T::ZERO);
        let (gram, square) = (&mut self.gram[..], &mut self.square[..]);
        for _ in 0..STEPS {
            let packed = &mut self.packed;
            packed.pack(arch, &self.x, short, long, Orientation::Transposed);
            product(arch, &self.x, packed, None, gram, Output::Store);
            packed.pack(arch, gram, short, short, Orientation::Straight);
            product(arch, gram, packed, None, square, Output::Store);
            for (g, &s) in gram.iter_mut().zip(&*square) {
                *g = b * *g + c * s;
            }
            packed.pack(arch, &self.x, short, long, Orientation::Straight);
            product(arch, gram, packed, None, &mut self.next, Output::Store);
            for (x, &next) in self.x.iter_mut().zip(&self.next) {
                *x = a * *x + next;
            }
        }
        if turned {
            for i in 0..rows {
                for j in 0..columns {
                    matrix[i * columns + j] = self.x[j * rows + i];
                }
            }
        } else {
            matrix.copy_from_slice(&self.x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// Rows of the smaller side become nearly orthonormal, and the matrix keeps its directions: for
    /// X = U S Vᵀ the result R has Rᵀ X symmetric up to rounding (both share U and V).
    #[test]
    fn the_result_is_nearly_orthogonal_and_keeps_the_directions() {
        for shape in [[5, 9], [9, 5], [6, 6], [33, 70]] {
            let [rows, columns] = shape;
            let mut random = Random::new(3);
            let matrix: Vec<f64> = (0..rows * columns)
                .map(|_| random.normal(0.0, 2.0))
                .collect();
            let mut found = matrix.clone();
            Orthogonalizer::default().run(&mut found, shape);
            // Rᵀ X, [columns, columns].
            let entry = |a: &[f64], b: &[f64], i: usize, j: usize| -> f64 {
                (0..rows)
                    .map(|r| a[r * columns + i] * b[r * columns + j])
                    .sum()
            };
            let size = (0..columns)
                .map(|i| entry(&found, &matrix, i, i).abs())
                .fold(0.0, f64::max);
            for i in 0..columns {
                for j in 0..i {
                    let difference = entry(&found, &matrix, i, j) - entry(&found, &matrix, j, i);
                    assert!(difference.abs() < 1e-9 * size, "{shape:?} {difference}");
                }
            }
            // The squares of the singular values sum to about their number.
            let sum: f64 = found.iter().map(|x| x * x).sum();
            let mean = sum / rows.min(columns) as f64;
            assert!((0.4..1.5).contains(&mean), "{shape:?} {mean}");
        }
    }
}
