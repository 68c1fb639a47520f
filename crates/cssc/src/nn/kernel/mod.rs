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
//! (9 with 32 registers) times one panel stays in registers over the whole sum. Row blocks
//! are made equally tall, so that 25 rows are five tiles of 5 and not four of 6 and one of 1.
//!
//! Cost: 2·rows·k·n operations each. Sums run over k (or rows) in index order, so the result
//! does not depend on the number of threads, on neighbouring rows or on the shapes of tiles; nor
//! on the instruction set, as long as it fuses multiplication and addition.

mod aligned;
mod outer_product;
mod packed;
mod product;
mod sums;
#[cfg(test)]
mod tests;
mod tile;

pub(crate) use aligned::Aligned;
pub(crate) use outer_product::{ROWS_PER_PASS, Use, outer_product};
pub(crate) use packed::{Orientation, Packed};
pub(crate) use product::{Output, product};

use super::float::Float;
use outer_product::OuterProduct;
use product::Product;
use pulp::{Arch, Simd};

/// The kernels for one number type. Only here are they made for all instruction sets and tile
/// heights, in this crate and once: generic code elsewhere would make them again in every
/// program that trains.
#[allow(unreachable_pub)] // a supertrait of `Float` that nobody can name, which seals it
pub trait Kernels: Sized {
    #[doc(hidden)]
    fn product(arch: Arch, job: Product<'_, Self>);
    #[doc(hidden)]
    fn outer_product(arch: Arch, job: OuterProduct<'_, '_, Self>);
}

macro_rules! kernels {
    ($type:ident) => {
        impl Kernels for $type {
            fn product(arch: Arch, job: Product<'_, Self>) {
                arch.dispatch(job);
            }
            fn outer_product(arch: Arch, job: OuterProduct<'_, '_, Self>) {
                arch.dispatch(job);
            }
        }
    };
}
kernels!(f32);
kernels!(f64);

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
        Self {
            n,
            full: 2 * lanes,
            padded: n.div_ceil(lanes) * lanes,
        }
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

/// Cuts `rows` into as few blocks of at most `tallest` rows as possible, equally tall (±1).
#[inline(always)]
fn equal_blocks(rows: usize, tallest: usize) -> impl Iterator<Item = usize> {
    let blocks = rows.div_ceil(tallest);
    let (height, rest) = (rows / blocks.max(1), rows % blocks.max(1));
    // The taller ones are spread evenly. (A division for every block shows in the profile.)
    let mut due = 0;
    (0..blocks).map(move |_| {
        due += rest;
        if due < blocks {
            return height;
        }
        due -= blocks;
        height + 1
    })
}

/// Asks for the cache line at `address`, which is about to be read.
#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint about any address; nothing is read.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for the cache lines of `HEIGHT` rows of a tile, which are about to be written.
#[inline(always)]
fn prefetch_tile<T, const HEIGHT: usize>(out: *mut T, stride: usize, columns: usize) {
    #[cfg(target_arch = "x86_64")]
    for row in 0..HEIGHT {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        let first = out.wrapping_add(row * stride);
        // SAFETY: a hint about any address; nothing is read or written.
        unsafe {
            _mm_prefetch::<_MM_HINT_ET0>(first.cast_const().cast());
            _mm_prefetch::<_MM_HINT_ET0>(first.wrapping_add(columns - 1).cast_const().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (out, stride, columns);
}
