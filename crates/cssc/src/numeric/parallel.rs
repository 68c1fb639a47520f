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
        return (first(), second());
    }
    let (mut first, mut second) = (Job::Waiting(first), Job::Waiting(second));
    at_the_same_time(&mut || first.run(), &mut || second.run());
    (first.result(), second.result())
}

/// One copy of rayon's machinery for all kinds of jobs: one for each of them took several seconds to compile.
#[inline(never)]
fn at_the_same_time(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    rayon::join(first, second);
}

/// A closure that runs once, behind an interface that could call it again.
enum Job<F, A> {
    Waiting(F),
    Running,
    Done(A),
}

impl<A, F: FnOnce() -> A> Job<F, A> {
    fn run(&mut self) {
        if let Self::Waiting(job) = std::mem::replace(self, Self::Running) {
            *self = Self::Done(job());
        }
    }

    fn result(self) -> A {
        match self {
            Self::Done(result) => result,
            _ => unreachable!("rayon runs both jobs, or passes a panic on"),
        }
    }
}
