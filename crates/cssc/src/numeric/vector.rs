//! Plain loops compiled for the vector instructions of this processor.

/// Runs `work`, compiled once for each instruction set, on the best one of this processor.
///
/// What `work` calls must be `#[inline(always)]`: other functions stay as they were compiled. No product is fused with a
/// sum, so the bits are those of plain code.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(feature = "nn")]
    return pulp::Arch::new().dispatch(work);
    #[cfg(not(feature = "nn"))]
    return work();
}
