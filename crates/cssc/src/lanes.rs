//! Several channels at once: the numerical sweeps run over time, and each of their steps works
//! on a fixed number of channels in registers.
//!
//! [`Pack`] is a row of `W` numbers with the arithmetic of one; [`Lanes`] says which channels
//! of a block sit in its places. A channel's result does not depend on its neighbours or on
//! `W`: the same operations run in the same order in every place.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use crate::real::Real;

/// `W` numbers, one a channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pack<const W: usize>(pub(crate) [f64; W]);

impl<const W: usize> Pack<W> {
    pub(crate) const ZERO: Self = Pack([0.0; W]);
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
        Pack(self.0.map(|x| -x))
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

/// Which channels of a time-major block the places of a [`Pack`] stand for. Places beyond
/// `live` repeat the last channel and are never written back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<const W: usize> {
    channel: [usize; W],
    live: usize,
}

impl<const W: usize> Lanes<W> {
    /// Lanes for 1 to `W` channels.
    pub(crate) fn new(channels: &[usize]) -> Self {
        let last = channels.len() - 1;
        Lanes {
            channel: std::array::from_fn(|l| channels[l.min(last)]),
            live: channels.len(),
        }
    }

    /// The numbers of these channels in one row `[channels]` of a block.
    #[inline(always)]
    pub(crate) fn gather<T: Real>(&self, row: &[T]) -> Pack<W> {
        let mut pack = Pack::ZERO;
        for l in 0..W {
            pack.0[l] = row[self.channel[l]].to_f64();
        }
        pack
    }

    /// Writes the numbers of these channels into one row `[channels]` of a block.
    #[inline(always)]
    pub(crate) fn scatter<T: Real>(&self, pack: Pack<W>, row: &mut [T]) {
        for l in 0..W {
            if l < self.live {
                row[self.channel[l]] = T::from_f64(pack.0[l]);
            }
        }
    }
}

/// Calls `$run::<W>(&Lanes<W>, ...)` for channels in portions of at most eight, with the
/// smallest width that holds each portion.
macro_rules! for_each_pack {
    ($channels:expr, $lanes:ident => $body:expr) => {
        for portion in $channels.chunks(8) {
            match portion.len() {
                1 => {
                    let $lanes = $crate::lanes::Lanes::<1>::new(portion);
                    $body
                }
                2 => {
                    let $lanes = $crate::lanes::Lanes::<2>::new(portion);
                    $body
                }
                3 | 4 => {
                    let $lanes = $crate::lanes::Lanes::<4>::new(portion);
                    $body
                }
                _ => {
                    let $lanes = $crate::lanes::Lanes::<8>::new(portion);
                    $body
                }
            }
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
