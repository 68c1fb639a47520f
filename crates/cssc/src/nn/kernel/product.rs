//! out = x·W + b with packed W.

use super::super::float::Float;
use super::{Packed, PanelWidths, WIDEST_PANEL, equal_blocks, prefetch_tile, tallest_tile};
use pulp::{Arch, Simd, WithSimd};

/// Rows that are multiplied by all panels before the next rows are read: they stay in the
/// second-level cache (96 rows of 300 numbers are 115 kB).
const ROWS_PER_PASS: usize = 96;

/// Lines of a panel in one turn of the inner loop: the loop's own instructions take up to a
/// tenth of the time otherwise, and more when another program shares the core.
const UNROLLED: usize = 4;

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
                        if width == lanes {
                            by_height!(height, tile, simd, 1);
                        } else {
                            by_height!(height, tile, simd, 2);
                        }
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

impl<T: Float> Tile<T> {
    /// Adds x[·, p] · W[p, ·].
    ///
    /// # Safety
    /// As for [`Tile::run`], and p < k.
    #[inline(always)]
    unsafe fn line<S: Simd, const HEIGHT: usize, const WIDTH: usize>(
        &self,
        simd: S,
        p: usize,
        sums: &mut [[T::Register<S>; WIDTH]; HEIGHT],
    ) {
        let lanes = T::lanes::<S>();
        // SAFETY: promised by the caller.
        unsafe {
            let line = self.panel.add(p * WIDTH * lanes);
            let mut weights = [T::splat(simd, T::ZERO); WIDTH];
            for v in 0..WIDTH {
                weights[v] = T::load::<S>(line.add(v * lanes));
            }
            for i in 0..HEIGHT {
                let x = T::splat(simd, *self.x.add(i * self.k + p));
                for v in 0..WIDTH {
                    sums[i][v] = T::mul_add(simd, x, weights[v], sums[i][v]);
                }
            }
        }
    }

    /// One tile of HEIGHT rows and WIDTH registers.
    ///
    /// # Safety
    /// `x` has HEIGHT rows of k numbers, `panel` k lines of WIDTH registers, `out` HEIGHT rows
    /// `stride` apart with `columns` numbers each, `bias` `columns` numbers.
    #[inline(always)]
    unsafe fn run<S: Simd, const HEIGHT: usize, const WIDTH: usize>(self, simd: S) {
        if const { HEIGHT > tallest_tile::<S>() } {
            unreachable!("tiles are never as tall");
        }
        prefetch_tile::<T, HEIGHT>(self.out, self.stride, self.columns);
        let lanes = T::lanes::<S>();
        let mut sums = [[T::splat(simd, T::ZERO); WIDTH]; HEIGHT];
        let whole = self.k / UNROLLED * UNROLLED;
        for p in (0..whole).step_by(UNROLLED) {
            for q in p..p + UNROLLED {
                // SAFETY: q < k.
                unsafe { self.line::<S, HEIGHT, WIDTH>(simd, q, &mut sums) };
            }
        }
        for p in whole..self.k {
            // SAFETY: p < k.
            unsafe { self.line::<S, HEIGHT, WIDTH>(simd, p, &mut sums) };
        }
        if self.columns == WIDTH * lanes {
            for (i, sums) in sums.iter().enumerate() {
                for (v, &sum) in sums.iter().enumerate() {
                    // SAFETY: the tile is as wide as the output here.
                    unsafe {
                        let target = self.out.add(i * self.stride + v * lanes);
                        let mut sum = sum;
                        if let Some(bias) = self.bias {
                            sum = T::vadd(simd, sum, T::load::<S>(bias.add(v * lanes)));
                        }
                        if self.output == Output::Add {
                            sum = T::vadd(simd, T::load::<S>(target), sum);
                        }
                        T::store::<S>(target, sum);
                    }
                }
            }
        } else {
            // The last panel of a matrix: through a full line on the stack.
            let mut full = [T::ZERO; WIDEST_PANEL];
            for (i, sums) in sums.iter().enumerate() {
                for (v, &sum) in sums.iter().enumerate() {
                    // SAFETY: WIDTH·lanes ≤ WIDEST_PANEL.
                    unsafe { T::store::<S>(full.as_mut_ptr().add(v * lanes), sum) };
                }
                for (j, &sum) in full[..self.columns].iter().enumerate() {
                    // SAFETY: j < columns.
                    unsafe {
                        let target = self.out.add(i * self.stride + j);
                        let sum = self.bias.map_or(sum, |bias| sum + *bias.add(j));
                        *target = if self.output == Output::Add {
                            *target + sum
                        } else {
                            sum
                        };
                    }
                }
            }
        }
    }
}
