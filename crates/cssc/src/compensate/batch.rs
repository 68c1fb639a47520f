//! Many series of different lengths in one call, in parallel.
//!
//! The block is halved again and again and the parts handed to rayon. Each series is computed
//! from its own numbers only and split, if it is long, at a place that depends on its length
//! only, so the result does not depend on the number of threads, down to the last bit.
//!
//! Nothing is kept between forward and backward: a plan costs little beside the rest, and
//! memory for thousands of plans would not stay in any cache.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::backward::{InputGradients, Workspace};
use super::block::{BatchInputs, BatchKnots, BatchQuery, part};
use super::options::CompensationOptions;
use super::plan::Plan;
use crate::error::{Error, check_length};
use crate::numeric::real::Real;
use crate::spline::PiecewiseCubic;

/// Compensates many series at a time; see the [module documentation](mod@crate::compensate).
///
/// ```
/// use cssc::compensate::{BatchInputs, BatchKnots, BatchQuery, Compensator};
/// use cssc::{Jets, CompensationOptions, Side};
/// // two series of one channel, with 2 and 3 knots, and no prediction: natural splines
/// let knots = BatchKnots { offsets: &[0, 2, 5], times: &[0.0, 1.0, 0.0, 1.0, 2.0], channels: 1, observed: None };
/// let none = Jets::<Vec<f64>>::zeros(5);
/// let values = [1.0, 3.0, 0.0, 1.0, 0.0];
/// let inputs = BatchInputs { values: &values, left: none.as_slices(), right: none.as_slices() };
/// let query = BatchQuery { offsets: &[0, 1, 2], times: &[0.5, 0.5], side: Side::Right };
/// let mut c = [0.0; 2];
/// Compensator::new(CompensationOptions::default()).evaluate(knots, inputs, query, &mut c)?;
/// assert_eq!(c, [2.0, 0.6875]);
/// # Ok::<(), cssc::Error>(())
/// ```
#[derive(Debug)]
pub struct Compensator {
    options: CompensationOptions,
    /// Those not in use. A thread takes one and puts it back, rather than owning one: while a
    /// long series waits for its other half the thread may work on a second series.
    idle: Mutex<Vec<Memory>>,
}

#[derive(Debug, Default)]
struct Memory {
    plan: Plan,
    pieces: PiecewiseCubic,
    backward: Workspace,
}

impl Compensator {
    /// A compensator; its calls run in the rayon pool they are made in.
    #[must_use]
    pub fn new(options: CompensationOptions) -> Self {
        Compensator {
            options,
            idle: Mutex::default(),
        }
    }

    /// The compensation of every series at its query times, into `[queries, channels]`.
    ///
    /// # Errors
    /// If lengths or offsets do not fit, or for the first series that [`Plan::prepare`] or
    /// [`Plan::forward`] refuses; the error names it. `into` is then partly written.
    pub fn evaluate<T: Real>(
        &self,
        knots: BatchKnots<'_>,
        inputs: BatchInputs<'_, T>,
        query: BatchQuery<'_>,
        into: &mut [T],
    ) -> Result<(), Error> {
        knots.check()?;
        inputs.check(knots)?;
        query.check(knots)?;
        let rows = query.times.len() * knots.channels;
        check_length("into", into.len(), rows, "query times x channels")?;
        let start = |series: usize| query.offsets[series] * knots.channels;
        self.halve(
            knots,
            0..knots.series(),
            into,
            &start,
            &|memory, series, into| {
                let Memory { plan, pieces, .. } = memory;
                knots.plan(series, self.options, plan)?;
                let BatchInputs {
                    values,
                    left,
                    right,
                } = inputs.part(&knots.range(series), knots.channels);
                plan.forward(values, left, right, pieces)?;
                pieces.values_into(&query.times[query.range(series)], query.side, into)
            },
        )
    }

    /// The compensation of every series as pieces, into one path a series.
    ///
    /// # Errors
    /// As [`Compensator::evaluate`].
    pub fn pieces<T: Real>(
        &self,
        knots: BatchKnots<'_>,
        inputs: BatchInputs<'_, T>,
        into: &mut [PiecewiseCubic],
    ) -> Result<(), Error> {
        knots.check()?;
        inputs.check(knots)?;
        check_length("into", into.len(), knots.series(), "series")?;
        self.halve(
            knots,
            0..knots.series(),
            into,
            &|series| series,
            &|memory, series, into| {
                knots.plan(series, self.options, &mut memory.plan)?;
                let part = inputs.part(&knots.range(series), knots.channels);
                memory
                    .plan
                    .forward(part.values, part.left, part.right, &mut into[0])
            },
        )
    }

    /// The gradients of a function of all that [`Compensator::evaluate`] returns, given its
    /// gradient `[queries, channels]`. `into` is overwritten.
    ///
    /// # Errors
    /// As [`Compensator::evaluate`].
    pub fn backward<T: Real>(
        &self,
        knots: BatchKnots<'_>,
        query: BatchQuery<'_>,
        gradient: &[T],
        into: InputGradients<&mut [T]>,
    ) -> Result<(), Error> {
        knots.check()?;
        query.check(knots)?;
        let rows = query.times.len() * knots.channels;
        check_length("gradient", gradient.len(), rows, "query times x channels")?;
        let mut into = into;
        into.check_lengths(knots.times.len() * knots.channels)?;
        let start = |series: usize| knots.offsets[series] * knots.channels;
        self.halve(
            knots,
            0..knots.series(),
            into,
            &start,
            &|memory, series, into| {
                knots.plan(series, self.options, &mut memory.plan)?;
                let range = query.range(series);
                let gradient = part(gradient, &range, knots.channels);
                let Memory { plan, backward, .. } = memory;
                plan.backward(&query.times[range], query.side, gradient, backward, into)
            },
        )
    }

    /// Runs `work` on every series of `range`, each with its part of `into`; `start` says where
    /// the part of a series begins.
    fn halve<S: Split>(
        &self,
        knots: BatchKnots<'_>,
        range: Range<usize>,
        into: S,
        start: &(impl Fn(usize) -> usize + Sync),
        work: &(impl Fn(&mut Memory, usize, S) -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        let size = knots.offsets[range.end] - knots.offsets[range.start];
        if range.len() <= 1 || size <= SEQUENTIAL_KNOTS {
            return self.in_turn(range, into, start, work);
        }
        let middle = range.start + range.len() / 2;
        let (first, second) = into.split(start(middle) - start(range.start));
        let (first, second) = rayon::join(
            || self.halve(knots, range.start..middle, first, start, work),
            || self.halve(knots, middle..range.end, second, start, work),
        );
        first.and(second)
    }

    fn in_turn<S: Split>(
        &self,
        range: Range<usize>,
        mut into: S,
        start: &impl Fn(usize) -> usize,
        work: &impl Fn(&mut Memory, usize, S) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut memory = self.idle().pop().unwrap_or_default();
        for series in range {
            let (part, rest) = into.split(start(series + 1) - start(series));
            into = rest;
            work(&mut memory, series, part).map_err(|error| error.in_series(series))?;
        }
        self.idle().push(memory);
        Ok(())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Memory>> {
        // Nothing can panic while the list is held, and any list of workspaces is a good one.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts of a batch with fewer knots than this are not split further.
const SEQUENTIAL_KNOTS: usize = 2048;

/// Output that can be cut in two.
trait Split: Sized + Send {
    fn split(self, at: usize) -> (Self, Self);
}

impl<T: Send> Split for &mut [T] {
    fn split(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<T: Real> Split for InputGradients<&mut [T]> {
    fn split(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}
