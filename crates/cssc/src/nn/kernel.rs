//! The matrix products behind every layer.
//!
//! A neural ODE multiplies hundreds of small blocks by the *same* weights, so the weights are
//! laid out once per optimiser step ([`Packed`]) and the blocks are read where they lie:
//!
//! ```text
//!   out [rows, n]  =  x [rows, k] · W [k, n]          product            (forward; with Wᵀ: backward)
//!   dW  [k, n]    +=  Σ xᵀ [k, rows] · dy [rows, n]   outer_product      (weight gradients)
//! ```
//!
//! `W` is cut into panels of two registers (the last may be one); a tile of up to 6 rows
//! (12 with 32 registers) times one panel stays in registers over the whole sum. Row blocks
//! are made equally tall, so that 25 rows are five tiles of 5 and not four of 6 and one of 1.
//!
//! Weight gradients of many uses of one weight are collected and summed in one call: the tile
//! of dW is then read and written once for hundreds of rows instead of once per use.
//!
//! Cost: 2·rows·k·n operations each. Sums run over k (or rows) in index order, so the result
//! does not depend on the number of threads or on neighbouring rows.

use super::float::Float;
use pulp::{Arch, Simd, WithSimd};

/// Rows that are multiplied by all panels before the next rows are read: they stay in the
/// second-level cache (96 rows of 300 numbers are 115 kB).
const ROWS_PER_PASS: usize = 96;

/// Calls `tile.run::<S, HEIGHT, WIDTH>()` for a height known only now.
macro_rules! by_height {
    ($height:expr, $tile:expr, $simd:expr, $width:literal) => {
        match $height {
            1 => $tile.run::<S, 1, $width>($simd),
            2 => $tile.run::<S, 2, $width>($simd),
            3 => $tile.run::<S, 3, $width>($simd),
            4 => $tile.run::<S, 4, $width>($simd),
            5 => $tile.run::<S, 5, $width>($simd),
            6 => $tile.run::<S, 6, $width>($simd),
            7 => $tile.run::<S, 7, $width>($simd),
            8 => $tile.run::<S, 8, $width>($simd),
            9 => $tile.run::<S, 9, $width>($simd),
            10 => $tile.run::<S, 10, $width>($simd),
            11 => $tile.run::<S, 11, $width>($simd),
            _ => $tile.run::<S, 12, $width>($simd),
        }
    };
}

/// A matrix [k, n] laid out for [`product`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed<T> {
    k: usize,
    n: usize,
    panels: Vec<T>,
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
        arch.dispatch(Pack { packed: self, matrix, rows, columns, orientation });
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
        let Self { packed, matrix, rows, columns, orientation } = self;
        assert_eq!(matrix.len(), rows * columns, "a matrix of {rows} x {columns}");
        let (k, n) = match orientation {
            Orientation::Straight => (rows, columns),
            Orientation::Transposed => (columns, rows),
        };
        let widths = PanelWidths::of::<T, S>(n);
        (packed.k, packed.n) = (k, n);
        packed.panels.clear();
        packed.panels.resize(k * widths.padded, T::ZERO);
        let mut target = packed.panels.as_mut_slice();
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
            }
        }
    }
}

/// The cut of n columns into panels: two registers wide, the last one if that is enough.
#[derive(Clone, Copy)]
struct PanelWidths {
    n: usize,
    full: usize,
    padded: usize,
}

impl PanelWidths {
    #[inline(always)]
    fn of<T: Float, S: Simd>(n: usize) -> Self {
        let lanes = T::lanes::<S>();
        Self { n, full: 2 * lanes, padded: n.div_ceil(lanes) * lanes }
    }

    /// (first column, width) of each panel.
    #[inline(always)]
    fn iter(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.n.div_ceil(self.full)).map(move |panel| {
            let first = panel * self.full;
            (first, self.full.min(self.padded - first))
        })
    }
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
    assert!(bias.is_none_or(|b| b.len() == weights.n), "one bias a column");
    arch.dispatch(Product { x, weights, bias, out, output, rows });
}

struct Product<'a, T> {
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
        let tallest = tallest_tile::<S>();
        let mut start = 0;
        while start < self.rows {
            let end = self.rows.min(start + ROWS_PER_PASS);
            let mut panel = self.weights.panels.as_ptr();
            for (first, width) in PanelWidths::of::<T, S>(n).iter() {
                let mut row = start;
                for height in equal_blocks(end - start, tallest) {
                    // SAFETY: the tile covers rows `row..row + height` < rows and columns
                    // `first..first + width` (at most n of them are written), whose lengths
                    // `product` checked; the panel holds k·width numbers.
                    unsafe {
                        let tile = ProductTile {
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

/// Accumulators of two registers each, two for the panel and one for x must fit.
#[inline(always)]
fn tallest_tile<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 12 } else { 6 }
}

/// Cuts `rows` into as few blocks of at most `tallest` rows as possible, equally tall (±1).
#[inline(always)]
fn equal_blocks(rows: usize, tallest: usize) -> impl Iterator<Item = usize> {
    let blocks = rows.div_ceil(tallest);
    (0..blocks).map(move |b| rows * (b + 1) / blocks - rows * b / blocks)
}

#[derive(Clone, Copy)]
struct ProductTile<T> {
    k: usize,
    x: *const T,
    panel: *const T,
    bias: Option<*const T>,
    out: *mut T,
    stride: usize,
    columns: usize,
    output: Output,
}

impl<T: Float> ProductTile<T> {
    /// One tile of HEIGHT rows and WIDTH registers.
    ///
    /// # Safety
    /// `x` has HEIGHT rows of k numbers, `panel` k lines of WIDTH registers, `out` HEIGHT rows
    /// `stride` apart with `columns` numbers each, `bias` `columns` numbers.
    #[inline(always)]
    unsafe fn run<S: Simd, const HEIGHT: usize, const WIDTH: usize>(self, simd: S) {
        let lanes = T::lanes::<S>();
        let mut sums = [[T::splat(simd, T::ZERO); WIDTH]; HEIGHT];
        let mut line = self.panel;
        for p in 0..self.k {
            // SAFETY: p < k.
            unsafe {
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
                line = line.add(WIDTH * lanes);
            }
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
            // The last panel of a matrix: through a full tile on the stack.
            let mut full = [T::ZERO; 64];
            for (i, sums) in sums.iter().enumerate() {
                for (v, &sum) in sums.iter().enumerate() {
                    // SAFETY: WIDTH·lanes ≤ 2·16 numbers.
                    unsafe { T::store::<S>(full.as_mut_ptr().add(v * lanes), sum) };
                }
                for (j, &sum) in full[..self.columns].iter().enumerate() {
                    // SAFETY: j < columns.
                    unsafe {
                        let target = self.out.add(i * self.stride + j);
                        let sum = self.bias.map_or(sum, |bias| sum + *bias.add(j));
                        *target = if self.output == Output::Add { *target + sum } else { sum };
                    }
                }
            }
        }
    }
}

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
    scratch: &mut Vec<T>,
) {
    assert_eq!(gradient.len(), k * n, "a gradient of {k} x {n}");
    for one in uses {
        assert_eq!(one.x.len() / k, one.dy.len() / n, "as many rows in x as in dy");
        assert!(one.x.len().is_multiple_of(k) && one.dy.len().is_multiple_of(n), "whole rows");
    }
    arch.dispatch(OuterProduct { uses, k, n, gradient, scratch });
}

struct OuterProduct<'a, 'u, T> {
    uses: &'a [Use<'u, T>],
    k: usize,
    n: usize,
    gradient: &'a mut [T],
    scratch: &'a mut Vec<T>,
}

impl<T: Float> WithSimd for OuterProduct<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { uses, k, n, gradient, scratch } = self;
        let lanes = T::lanes::<S>();
        let rows: usize = uses.iter().map(|one| one.x.len() / k).sum();
        scratch.clear();
        scratch.resize(rows * 2 * lanes, T::ZERO);
        for (first, width) in PanelWidths::of::<T, S>(n).iter() {
            let columns = width.min(n - first);
            // The panel of dy, contiguous and padded with zeros.
            let mut line = 0;
            for one in uses {
                for dy in one.dy.chunks_exact(n) {
                    scratch[line..line + columns].copy_from_slice(&dy[first..first + columns]);
                    scratch[line + columns..line + width].fill(T::ZERO);
                    line += width;
                }
            }
            let mut row = 0;
            for height in equal_blocks(k, tallest_tile::<S>()) {
                // SAFETY: rows `row..row + height` of the gradient and `columns` columns from
                // `first`; the lengths of all uses were checked by `outer_product`.
                unsafe {
                    let tile = OuterTile {
                        uses,
                        k,
                        row,
                        panel: scratch.as_ptr(),
                        out: gradient.as_mut_ptr().add(row * n + first),
                        stride: n,
                        columns,
                    };
                    if width == lanes {
                        by_height!(height, tile, simd, 1);
                    } else {
                        by_height!(height, tile, simd, 2);
                    }
                }
                row += height;
            }
        }
    }
}

#[derive(Clone, Copy)]
struct OuterTile<'a, 'u, T> {
    uses: &'a [Use<'u, T>],
    k: usize,
    row: usize,
    panel: *const T,
    out: *mut T,
    stride: usize,
    columns: usize,
}

impl<T: Float> OuterTile<'_, '_, T> {
    /// One tile of HEIGHT rows of dW and WIDTH registers.
    ///
    /// # Safety
    /// `row + HEIGHT` ≤ k; `panel` has one line of WIDTH registers per row of all uses; `out`
    /// has HEIGHT rows `stride` apart with `columns` numbers each.
    #[inline(always)]
    unsafe fn run<S: Simd, const HEIGHT: usize, const WIDTH: usize>(self, simd: S) {
        let lanes = T::lanes::<S>();
        let mut sums = [[T::splat(simd, T::ZERO); WIDTH]; HEIGHT];
        let mut line = self.panel;
        for one in self.uses {
            let rows = one.x.len() / self.k;
            // SAFETY: row + HEIGHT ≤ k, so that each read is inside its row of x.
            let mut x = unsafe { one.x.as_ptr().add(self.row) };
            for _ in 0..rows {
                // SAFETY: as above; the panel has a line for each row of each use.
                unsafe {
                    let mut dy = [T::splat(simd, T::ZERO); WIDTH];
                    for v in 0..WIDTH {
                        dy[v] = T::load::<S>(line.add(v * lanes));
                    }
                    for i in 0..HEIGHT {
                        let x = T::splat(simd, *x.add(i));
                        for v in 0..WIDTH {
                            sums[i][v] = T::mul_add(simd, x, dy[v], sums[i][v]);
                        }
                    }
                    line = line.add(WIDTH * lanes);
                }
                x = x.wrapping_add(self.k);
            }
        }
        let mut full = [T::ZERO; 64];
        for (i, sums) in sums.iter().enumerate() {
            for (v, &sum) in sums.iter().enumerate() {
                // SAFETY: the tile is as wide as the output, or at most 32 numbers on the stack.
                unsafe {
                    if self.columns == WIDTH * lanes {
                        let target = self.out.add(i * self.stride + v * lanes);
                        T::store::<S>(target, T::vadd(simd, T::load::<S>(target), sum));
                    } else {
                        T::store::<S>(full.as_mut_ptr().add(v * lanes), sum);
                    }
                }
            }
            if self.columns < WIDTH * lanes {
                for (j, &sum) in full[..self.columns].iter().enumerate() {
                    // SAFETY: j < columns.
                    unsafe { *self.out.add(i * self.stride + j) += sum };
                }
            }
        }
    }
}
