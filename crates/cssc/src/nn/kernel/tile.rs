//! Tiles: the parts of a product whose sums stay in registers.
//!
//! Every shape is a function of its own, so that the compiler looks at one small loop at a time,
//! and `scripts/check-spills` finds it in the release binary.

use pulp::{Simd, WithSimd};

/// HEIGHT rows and WIDTH registers of a result.
pub(super) trait Tile: Copy {
    /// Computes the tile. Has to be `#[inline(always)]`: it becomes a part of a function that may
    /// use the instruction set.
    ///
    /// # Safety
    /// The implementation says what it needs.
    unsafe fn run<S: Simd, const HEIGHT: usize, const WIDTH: usize>(self, simd: S);

    /// The function of one shape: [`vectorized`], and nothing else. Has to be `#[inline(never)]`
    /// and is called from [`run_tile`] only.
    ///
    /// # Safety
    /// As for [`Tile::run`].
    unsafe fn shape<S: Simd, const HEIGHT: usize, const WIDTH: usize>(&self, simd: S);
}

/// Rows of the tallest tile. Its sums (two registers a row) and two registers of the panel must
/// fit beside the numbers of x, which the compiler likes to read early: with 9 rows all of them may
/// be in registers at once (18 + 2 + 9 of 32). The 25 rows of a shard are then 8 + 8 + 9.
pub(super) const fn tallest_tile<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 9 } else { 6 }
}

/// [`Tile::run`] with the instructions of `S`.
///
/// # Safety
/// As for [`Tile::run`].
#[inline(always)]
pub(super) unsafe fn vectorized<S: Simd, K: Tile, const HEIGHT: usize, const WIDTH: usize>(
    tile: &K,
    simd: S,
) {
    if const { HEIGHT > tallest_tile::<S>() } {
        unreachable!("no tile is as tall");
    }
    simd.vectorize(Shape::<K, HEIGHT, WIDTH>(tile));
}

struct Shape<'a, K, const HEIGHT: usize, const WIDTH: usize>(&'a K);

impl<K: Tile, const HEIGHT: usize, const WIDTH: usize> WithSimd for Shape<'_, K, HEIGHT, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // SAFETY: promised by the caller of `vectorized`, the only one to make a `Shape`.
        unsafe { self.0.run::<S, HEIGHT, WIDTH>(simd) };
    }
}

/// Computes a tile of a height known only now, one register wide (`single`) or two.
///
/// # Safety
/// As for [`Tile::run`].
#[inline(always)]
pub(super) unsafe fn run_tile<S: Simd, K: Tile>(simd: S, tile: &K, height: usize, single: bool) {
    macro_rules! by_height {
        ($($height:literal)*) => {
            match height {
                // SAFETY: promised by the caller.
                $($height if single => unsafe { tile.shape::<S, $height, 1>(simd) },
                // SAFETY: as above.
                $height => unsafe { tile.shape::<S, $height, 2>(simd) },)*
                _ => unreachable!("no tile is as tall"),
            }
        };
    }
    by_height!(1 2 3 4 5 6 7 8 9);
}
