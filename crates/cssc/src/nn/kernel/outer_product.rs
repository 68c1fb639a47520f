//! dW += Σ xᵀ·dy over many uses of one weight.
//!
//! Weight gradients of many uses are collected and summed in one call: a tile of dW is then
//! read and written once for a hundred rows instead of once per use. Rows go in passes short
//! enough that a panel of dy and the columns of x under a tile stay in the first-level cache.

use super::super::float::Float;
use super::product::Output;
use super::sums::Sums;
use super::tile::{self, run_tile, tallest_tile, vectorized};
use super::{Aligned, PanelWidths, equal_blocks, prefetch, prefetch_tile};
use pulp::{Arch, Simd, WithSimd};

/// Rows summed in registers before a tile of dW is written.
pub(crate) const ROWS_PER_PASS: usize = 128;
/// Parts of uses in one pass at most.
const PARTS_PER_PASS: usize = 64;
/// How far beyond a row's numbers under a tile those for the next tiles are asked for: x was
/// written long ago, and a row is too short for the processor to see where the reads go.
const NUMBERS_AHEAD: usize = 24;

/// One use of a weight: the block it multiplied and the gradient of what came out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use<'a, T> {
    /// [rows, k]
    pub(crate) x: &'a [T],
    /// [rows, n]
    pub(crate) dy: &'a [T],
}

/// dW [k, n] += Σ over `uses` of xᵀ · dy; `scratch` is reused between calls.
pub(crate) fn outer_product<T: Float>(
    arch: Arch,
    uses: &[Use<'_, T>],
    k: usize,
    n: usize,
    gradient: &mut [T],
    scratch: &mut Aligned<T>,
) {
    assert_eq!(gradient.len(), k * n, "a gradient of {k} x {n}");
    for one in uses {
        assert_eq!(
            one.x.len() / k,
            one.dy.len() / n,
            "as many rows in x as in dy"
        );
        assert!(
            one.x.len().is_multiple_of(k) && one.dy.len().is_multiple_of(n),
            "whole rows"
        );
    }
    T::outer_product(
        arch,
        OuterProduct {
            uses,
            k,
            n,
            gradient,
            scratch,
        },
    );
}

/// One call of [`outer_product`], lengths checked.
#[allow(unreachable_pub)] // named by `Kernels`
#[derive(Debug)]
pub struct OuterProduct<'a, 'u, T> {
    uses: &'a [Use<'u, T>],
    k: usize,
    n: usize,
    gradient: &'a mut [T],
    scratch: &'a mut Aligned<T>,
}

impl<T: Float> WithSimd for OuterProduct<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            uses,
            k,
            n,
            gradient,
            scratch,
        } = self;
        let total: usize = uses.iter().map(|one| one.x.len() / k).sum();
        let limit = total.div_ceil(total.div_ceil(ROWS_PER_PASS).max(1));
        let mut pass = Pass {
            k,
            n,
            parts: [Part::default(); PARTS_PER_PASS],
            count: 0,
            rows: 0,
        };
        for one in uses {
            let (mut x, mut dy) = (one.x, one.dy);
            while !x.is_empty() {
                let rows = (limit - pass.rows).min(x.len() / k);
                let (x_part, x_rest) = x.split_at(rows * k);
                let (dy_part, dy_rest) = dy.split_at(rows * n);
                pass.parts[pass.count] = Part {
                    x: x_part,
                    dy: dy_part,
                    rows,
                };
                pass.count += 1;
                pass.rows += rows;
                (x, dy) = (x_rest, dy_rest);
                if pass.rows == limit || pass.count == PARTS_PER_PASS {
                    pass.run(simd, gradient, scratch);
                    (pass.count, pass.rows) = (0, 0);
                }
            }
        }
        if pass.count > 0 {
            pass.run(simd, gradient, scratch);
        }
    }
}

/// Some rows of one use.
#[derive(Clone, Copy, Default)]
struct Part<'u, T> {
    x: &'u [T],
    dy: &'u [T],
    rows: usize,
}

/// Some rows of some uses.
struct Pass<'u, T> {
    k: usize,
    n: usize,
    parts: [Part<'u, T>; PARTS_PER_PASS],
    count: usize,
    rows: usize,
}

impl<T: Float> Pass<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, gradient: &mut [T], scratch: &mut Aligned<T>) {
        let (k, n, lanes) = (self.k, self.n, T::lanes::<S>());
        let parts = &self.parts[..self.count];
        for (first, width) in PanelWidths::of::<T, S>(n).iter() {
            let columns = width.min(n - first);
            let panel = scratch.at_least(self.rows * width);
            copy_panel::<T, S>(parts, n, first, columns, width, panel);
            let mut row = 0;
            for height in equal_blocks(k, const { tallest_tile::<S>() }) {
                // SAFETY: rows `row..row + height` of the gradient and `columns` columns from
                // `first`; the lengths of all uses were checked by `outer_product`.
                unsafe {
                    let tile = Tile {
                        parts,
                        k,
                        row,
                        panel: panel.as_ptr(),
                        out: gradient.as_mut_ptr().add(row * n + first),
                        stride: n,
                        columns,
                    };
                    run_tile(simd, &tile, height, width == lanes);
                }
                row += height;
            }
        }
    }
}

/// The columns of dy from `first`, contiguous and padded with zeros.
#[inline(always)]
fn copy_panel<T: Float, S: Simd>(
    parts: &[Part<'_, T>],
    n: usize,
    first: usize,
    columns: usize,
    width: usize,
    panel: &mut [T],
) {
    let lanes = T::lanes::<S>();
    let mut lines = panel.chunks_exact_mut(width);
    for part in parts {
        for (dy, line) in part.dy.chunks_exact(n).zip(&mut lines) {
            let dy = &dy[first..first + columns];
            prefetch(dy.as_ptr().wrapping_add(width));
            if columns == width {
                for v in 0..width / lanes {
                    // SAFETY: both hold `width` numbers.
                    unsafe {
                        let register = T::load::<S>(dy.as_ptr().add(v * lanes));
                        T::store::<S>(line.as_mut_ptr().add(v * lanes), register);
                    }
                }
            } else {
                line[..columns].copy_from_slice(dy);
                line[columns..].fill(T::ZERO);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Tile<'a, 'u, T> {
    parts: &'a [Part<'u, T>],
    k: usize,
    row: usize,
    panel: *const T,
    out: *mut T,
    stride: usize,
    columns: usize,
}

impl<T: Float> tile::Tile for Tile<'_, '_, T> {
    /// # Safety
    /// `row + HEIGHT` ≤ k; `panel` has one line of WIDTH registers per row of all parts; `out`
    /// has HEIGHT rows `stride` apart with `columns` numbers each.
    #[inline(always)]
    unsafe fn run<S: Simd, const HEIGHT: usize, const WIDTH: usize>(self, simd: S) {
        prefetch_tile::<T, HEIGHT>(self.out, self.stride, self.columns);
        let mut sums = Sums::<T, S, HEIGHT, WIDTH>::zero(simd);
        let mut line = self.panel;
        for part in self.parts {
            // SAFETY: row + HEIGHT ≤ k, so that each read is inside its row of x.
            let mut x = unsafe { part.x.as_ptr().add(self.row) };
            for _ in 0..part.rows {
                // SAFETY: as above; the panel has a line for each row of each part.
                unsafe {
                    sums.add(x, 1, line);
                    line = line.add(WIDTH * T::lanes::<S>());
                }
                prefetch(x.wrapping_add(NUMBERS_AHEAD));
                x = x.wrapping_add(self.k);
            }
        }
        // SAFETY: promised by the caller.
        unsafe { sums.write(self.out, self.stride, self.columns, None, Output::Add) };
    }

    #[inline(never)]
    unsafe fn shape<S: Simd, const HEIGHT: usize, const WIDTH: usize>(&self, simd: S) {
        // SAFETY: promised by the caller.
        unsafe { vectorized::<S, Self, HEIGHT, WIDTH>(self, simd) };
    }
}
