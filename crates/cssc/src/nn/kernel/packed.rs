//! Weights in the layout of the products: panel by panel, each k lines of one or two registers.

use super::super::float::Float;
use super::{Aligned, PanelWidths};
use pulp::{Arch, Simd, WithSimd};

/// A matrix [k, n] laid out for [`product`](super::product); the last panel is padded with
/// zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed<T> {
    pub(super) k: usize,
    pub(super) n: usize,
    pub(super) panels: Aligned<T>,
}

/// How a stored matrix [rows, columns] enters [`Packed::pack`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Orientation {
    /// As it is.
    Straight,
    /// Its transpose.
    Transposed,
}

impl<T: Float> Packed<T> {
    /// Lays out `matrix` (row-major [rows, columns]); reuses the memory of an earlier call.
    pub(crate) fn pack(
        &mut self,
        arch: Arch,
        matrix: &[T],
        rows: usize,
        columns: usize,
        orientation: Orientation,
    ) {
        arch.dispatch(Pack {
            packed: self,
            matrix,
            rows,
            columns,
            orientation,
        });
    }
}

struct Pack<'a, T> {
    packed: &'a mut Packed<T>,
    matrix: &'a [T],
    rows: usize,
    columns: usize,
    orientation: Orientation,
}

impl<T: Float> WithSimd for Pack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self {
            packed,
            matrix,
            rows,
            columns,
            orientation,
        } = self;
        assert_eq!(
            matrix.len(),
            rows * columns,
            "a matrix of {rows} x {columns}"
        );
        let (k, n) = match orientation {
            Orientation::Straight => (rows, columns),
            Orientation::Transposed => (columns, rows),
        };
        let widths = PanelWidths::of::<T, S>(n);
        (packed.k, packed.n) = (k, n);
        let mut target = packed.panels.at_least(k * widths.padded);
        for (first, width) in widths.iter() {
            let (panel, rest) = target.split_at_mut(k * width);
            target = rest;
            let real = width.min(n - first);
            for (p, line) in panel.chunks_exact_mut(width).enumerate() {
                for (j, entry) in line[..real].iter_mut().enumerate() {
                    *entry = match orientation {
                        Orientation::Straight => matrix[p * columns + first + j],
                        Orientation::Transposed => matrix[(first + j) * columns + p],
                    };
                }
                line[real..].fill(T::ZERO);
            }
        }
    }
}
