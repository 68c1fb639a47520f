//! Two halves of a job, on two threads if they are worth it.
//!
//! Every split is made at a place that depends on the data only, so results are the same with
//! any number of threads.

/// Jobs with fewer knots (or query times) than this stay on one thread: handing work over
/// costs some microseconds, which is what a thousand knots cost.
pub(crate) const WORTH_SPLITTING: usize = 1 << 14;

/// Runs both closures, at the same time if `size` is worth it.
#[inline]
pub(crate) fn both<A: Send, B: Send>(
    size: usize,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if size < WORTH_SPLITTING {
        (first(), second())
    } else {
        rayon::join(first, second)
    }
}
