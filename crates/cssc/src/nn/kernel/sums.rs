//! The sums of a tile, HEIGHT rows of WIDTH registers, which never leave the registers.
//!
//! Nothing here is a loop over rows: the compiler keeps an array in memory unless every index
//! into it is known, and gives up unrolling where a tile is tall. (Twelve rows of AVX-512 stored
//! every sum after every step that way, and ran at half the speed of six rows of AVX2.)

use super::super::float::Float;
use super::product::Output;
use pulp::Simd;

/// The code of `$body` once for every `$i` below `$count`, without a loop.
macro_rules! unrolled {
    ($i:ident < $count:ident, $body:block) => {
        unrolled!(@ $i < $count, $body, 0 1 2 3 4 5 6 7 8)
    };
    (@ $i:ident < $count:ident, $body:block, $($n:literal)*) => {
        $(if const { $n < $count } {
            let $i: usize = $n;
            $body
        })*
    };
}
/// The same for the one or two registers of a row.
macro_rules! both {
    ($v:ident < $count:ident, $body:block) => {
        unrolled!(@ $v < $count, $body, 0 1)
    };
}

#[derive(Clone, Copy)]
pub(super) struct Sums<T: Float, S: Simd, const HEIGHT: usize, const WIDTH: usize> {
    simd: S,
    sums: [[T::Register<S>; WIDTH]; HEIGHT],
}

impl<T: Float, S: Simd, const HEIGHT: usize, const WIDTH: usize> Sums<T, S, HEIGHT, WIDTH> {
    #[inline(always)]
    pub(super) fn zero(simd: S) -> Self {
        // SAFETY: registers hold numbers, and a number of zero bits is 0.
        let sums = unsafe { std::mem::zeroed() };
        Self { simd, sums }
    }

    /// Adds x\[i\]·line to each row i, where x\[i\] is `i · stride` numbers behind `x`.
    ///
    /// # Safety
    /// `line` has WIDTH registers, and there is a number in each of the HEIGHT places of x.
    #[inline(always)]
    pub(super) unsafe fn add(&mut self, x: *const T, stride: usize, line: *const T) {
        let lanes = T::lanes::<S>();
        let mut weights = [T::splat(self.simd, T::ZERO); WIDTH];
        both!(v < WIDTH, {
            // SAFETY: the caller promises WIDTH registers at `line`.
            weights[v] = unsafe { T::load::<S>(line.add(v * lanes)) };
        });
        unrolled!(i < HEIGHT, {
            // SAFETY: the caller promises a number in each of the HEIGHT places of x.
            let x = unsafe { *x.add(i * stride) };
            let x = T::splat(self.simd, x);
            both!(v < WIDTH, {
                self.sums[i][v] = T::mul_add(self.simd, x, weights[v], self.sums[i][v]);
            });
        });
    }

    /// Writes the first `columns` sums of each row, plus `bias`, to rows `stride` apart.
    ///
    /// # Safety
    /// `out` has HEIGHT rows `stride` apart with `columns` numbers each, `bias` `columns` numbers.
    #[inline(always)]
    pub(super) unsafe fn write(
        self,
        out: *mut T,
        stride: usize,
        columns: usize,
        bias: Option<*const T>,
        output: Output,
    ) {
        let (simd, lanes) = (self.simd, T::lanes::<S>());
        if columns == WIDTH * lanes {
            unrolled!(i < HEIGHT, {
                both!(v < WIDTH, {
                    // SAFETY: the tile is as wide as the output here.
                    unsafe {
                        let target = out.add(i * stride + v * lanes);
                        let mut sum = self.sums[i][v];
                        if let Some(bias) = bias {
                            sum = T::vadd(simd, sum, T::load::<S>(bias.add(v * lanes)));
                        }
                        if output == Output::Add {
                            sum = T::vadd(simd, T::load::<S>(target), sum);
                        }
                        T::store::<S>(target, sum);
                    }
                });
            });
            return;
        }
        // The last panel of a matrix: through memory, number by number.
        let stored = self.sums;
        for i in 0..HEIGHT {
            let row = (&raw const stored[i]).cast::<T>();
            for j in 0..columns {
                // SAFETY: j < columns ≤ the numbers of a row of registers.
                unsafe {
                    let target = out.add(i * stride + j);
                    let sum = *row.add(j);
                    let sum = bias.map_or(sum, |bias| sum + *bias.add(j));
                    *target = match output {
                        Output::Store => sum,
                        Output::Add => *target + sum,
                    };
                }
            }
        }
    }
}
