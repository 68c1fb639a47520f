//! out = x·W + b with packed W.

use super::super::float::Float;
use super::sums::Sums;
use super::tile::{self, run_tile, tallest_tile, vectorized};
use super::{Packed, PanelWidths, equal_blocks, prefetch_tile};
use pulp::{Arch, Simd, WithSimd};

/// Rows that are multiplied by all panels before the next rows are read: they stay in the
/// second-level cache (96 rows of 300 numbers are 115 kB).
const ROWS_PER_PASS: usize = 96;

/// Lines of a panel in one turn of the inner loop: the loop's own instructions take up to a
/// tenth of the time otherwise, and more when another program shares the core. Taller tiles do
/// enough in a line, and of several lines the compiler reads more of x than there are registers.
const fn unrolled_lines(height: usize) -> usize {
    if height > 6 { 1 } else { 4 }
}

/// What [`product`] does with what is already in its output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// Overwrites it.
    Store,
    /// Adds to it.
    Add,
}

/// out [rows, n] = (or +=) x [rows, k] · W, plus `bias` [n] on every row if given.
pub(crate) fn product<T: Float>(
    arch: Arch,
    x: &[T],
    weights: &Packed<T>,
    bias: Option<&[T]>,
    out: &mut [T],
    output: Output,
) {
    let rows = out.len() / weights.n;
    assert_eq!(out.len(), rows * weights.n, "the output holds whole rows");
    assert_eq!(x.len(), rows * weights.k, "as many rows in as out");
    assert!(
        bias.is_none_or(|b| b.len() == weights.n),
        "one bias a column"
    );
    T::product(
        arch,
        Product {
            x,
            weights,
            bias,
            out,
            output,
            rows,
        },
    );
}

/// One call of [`product`], lengths checked.
#[allow(unreachable_pub)] // named by `Kernels`
#[derive(Debug)]
pub struct Product<'a, T> {
    x: &'a [T],
    weights: &'a Packed<T>,
    bias: Option<&'a [T]>,
    out: &'a mut [T],
    output: Output,
    rows: usize,
}

impl<T: Float> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (k, n) = (self.weights.k, self.weights.n);
        let lanes = T::lanes::<S>();
        let mut start = 0;
        while start < self.rows {
            let end = self.rows.min(start + ROWS_PER_PASS);
            let mut panel = self.weights.panels.as_ptr();
            for (first, width) in PanelWidths::of::<T, S>(n).iter() {
                let mut row = start;
                for height in equal_blocks(end - start, const { tallest_tile::<S>() }) {
                    // SAFETY: the tile covers rows `row..row + height` < rows and columns
                    // `first..first + width` (at most n of them are written), whose lengths
                    // `product` checked; the panel holds k·width numbers.
                    unsafe {
                        let tile = Tile {
                            k,
                            x: self.x.as_ptr().add(row * k),
                            panel,
                            bias: self.bias.map(|b| b.as_ptr().add(first)),
                            out: self.out.as_mut_ptr().add(row * n + first),
                            stride: n,
                            columns: width.min(n - first),
                            output: self.output,
                        };
                        run_tile(simd, &tile, height, width == lanes);
                    }
                    row += height;
                }
                // SAFETY: one past the panel at most.
                panel = unsafe { panel.add(k * width) };
            }
            start = end;
        }
    }
}

#[derive(Clone, Copy)]
struct Tile<T> {
    k: usize,
    x: *const T,
    panel: *const T,
    bias: Option<*const T>,
    out: *mut T,
    stride: usize,
    columns: usize,
    output: Output,
}

impl<T: Float> tile::Tile for Tile<T> {
    /// # Safety
    /// `x` has HEIGHT rows of k numbers, `panel` k lines of WIDTH registers, `out` HEIGHT rows
    /// `stride` apart with `columns` numbers each, `bias` `columns` numbers.
    #[inline(always)]
    unsafe fn run<S: Simd, const HEIGHT: usize, const WIDTH: usize>(self, simd: S) {
        prefetch_tile::<T, HEIGHT>(self.out, self.stride, self.columns);
        let mut sums = Sums::<T, S, HEIGHT, WIDTH>::zero(simd);
        let line = |p| self.panel.wrapping_add(p * WIDTH * T::lanes::<S>());
        let lines = const { unrolled_lines(HEIGHT) };
        let whole = self.k / lines * lines;
        for p in (0..whole).step_by(lines) {
            for q in p..p + lines {
                // SAFETY: q < k.
                unsafe { sums.add(self.x.add(q), self.k, line(q)) };
            }
        }
        for p in whole..self.k {
            // SAFETY: p < k.
            unsafe { sums.add(self.x.add(p), self.k, line(p)) };
        }
        // SAFETY: promised by the caller.
        unsafe { sums.write(self.out, self.stride, self.columns, self.bias, self.output) };
    }

    #[inline(never)]
    unsafe fn shape<S: Simd, const HEIGHT: usize, const WIDTH: usize>(&self, simd: S) {
        // SAFETY: promised by the caller.
        unsafe { vectorized::<S, Self, HEIGHT, WIDTH>(self, simd) };
    }
}
