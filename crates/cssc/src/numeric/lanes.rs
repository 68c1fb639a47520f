//! Several channels at once: the numerical sweeps run over time, and each of their steps works
//! on a fixed number of channels in registers.
//!
//! [`Pack`] is a row of `W` numbers with the arithmetic of one; [`Lanes`] says which channels
//! of a block sit in its places. A channel's result does not depend on its neighbours or on
//! `W`: the same operations run in the same order in every place.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::numeric::real::Real;

/// `W` numbers, one per channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pack<const W: usize>(pub(crate) [f64; W]);

impl<const W: usize> Pack<W> {
    pub(crate) const ZERO: Self = Pack([0.0; W]);
}

impl<const W: usize> Default for Pack<W> {
    fn default() -> Self {
        Self::ZERO
    }
}

macro_rules! lanewise {
    ($op:ident, $method:ident, $assign:tt) => {
        impl<const W: usize> $op for Pack<W> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for l in 0..W {
                    self.0[l] $assign other.0[l];
                }
                self
            }
        }
    };
}
lanewise!(Add, add, +=);
lanewise!(Sub, sub, -=);
lanewise!(Mul, mul, *=);
lanewise!(Div, div, /=);

impl<const W: usize> Mul<f64> for Pack<W> {
    type Output = Self;
    #[inline(always)]
    fn mul(mut self, factor: f64) -> Self {
        for l in 0..W {
            self.0[l] *= factor;
        }
        self
    }
}

impl<const W: usize> Neg for Pack<W> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const W: usize> AddAssign for Pack<W> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const W: usize> SubAssign for Pack<W> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Which channels of time-major blocks `[rows, channels]` the places of a [`Pack`] stand for:
/// `W` of them, side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<const W: usize> {
    first: usize,
    /// Number of channels of the blocks.
    stride: usize,
}

impl<const W: usize> Lanes<W> {
    /// Lanes for the channels from `first` on, out of `stride`.
    pub(crate) fn new(first: usize, stride: usize) -> Self {
        Lanes { first, stride }
    }

    /// The numbers of these channels in row `k` of a block.
    #[inline(always)]
    pub(crate) fn gather<T: Real>(&self, block: &[T], k: usize) -> Pack<W> {
        let at = k * self.stride + self.first;
        let mut pack = Pack::ZERO;
        for (place, number) in pack.0.iter_mut().zip(&block[at..at + W]) {
            *place = number.to_f64();
        }
        pack
    }

    /// Writes the numbers of these channels into row `k` of a block.
    #[inline(always)]
    pub(crate) fn scatter<T: Real>(&self, pack: Pack<W>, block: &mut [T], k: usize) {
        let at = k * self.stride + self.first;
        for (number, place) in block[at..at + W].iter_mut().zip(pack.0) {
            *number = T::from_f64(place);
        }
    }
}

/// The given channels (increasing) in portions of at most eight that lie side by side.
pub(crate) fn portions(channels: &[usize]) -> impl Iterator<Item = &[usize]> {
    channels
        .chunk_by(|a, b| a + 1 == *b)
        .flat_map(|run| run.chunks(8))
}

/// Evaluates the body with `$lanes` bound to the [`Lanes`] of each portion of the channels, of
/// exactly the width needed: the body is compiled once for each width.
macro_rules! for_each_pack {
    ($channels:expr, $stride:expr, $lanes:ident => $body:expr) => {
        for portion in $crate::numeric::lanes::portions($channels) {
            $crate::numeric::lanes::for_each_pack!(@widths portion, $stride, $lanes => $body;
                1 2 3 4 5 6 7 8)
        }
    };
    (@widths $portion:ident, $stride:expr, $lanes:ident => $body:expr; $($width:literal)*) => {
        match $portion.len() {
            $($width => {
                let $lanes = $crate::numeric::lanes::Lanes::<$width>::new($portion[0], $stride);
                $body
            })*
            _ => unreachable!("portions hold one to eight channels"),
        }
    };
}
pub(crate) use for_each_pack;

/// Row `k` of a time-major block `[knots, channels]`.
#[inline(always)]
pub(crate) fn row<T>(block: &[T], k: usize, channels: usize) -> &[T] {
    &block[k * channels..(k + 1) * channels]
}

/// Row `k` of a time-major block `[knots, channels]`, for writing.
#[inline(always)]
pub(crate) fn row_mut<T>(block: &mut [T], k: usize, channels: usize) -> &mut [T] {
    &mut block[k * channels..(k + 1) * channels]
}
