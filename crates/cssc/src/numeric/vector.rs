//! Plain loops compiled for the vector instructions of this processor.

/// Loops to be compiled for every instruction set.
///
/// `run`, and what it calls, must be `#[inline(always)]`: a function of its own stays as it was compiled, for any processor.
/// That is also why this is a trait: a closure of some length becomes a function of its own.
pub(crate) trait Loops {
    type Output;

    fn run(self) -> Self::Output;
}

/// Runs loops, compiled once for each instruction set, on the best one of this processor. No product is fused with a sum, so
/// the bits are those of plain code.
#[inline]
pub(crate) fn vectorized<L: Loops>(loops: L) -> L::Output {
    #[cfg(feature = "nn")]
    return pulp::Arch::new().dispatch(Compiled(loops));
    #[cfg(not(feature = "nn"))]
    return loops.run();
}

#[cfg(feature = "nn")]
struct Compiled<L>(L);

#[cfg(feature = "nn")]
impl<L: Loops> pulp::WithSimd for Compiled<L> {
    type Output = L::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> L::Output {
        self.0.run()
    }
}

/// Sums side by side, which the processor can add at once.
pub(crate) const LANES: usize = 8;

/// The sum of products of equally many numbers. The order of its sums is always the same.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}
