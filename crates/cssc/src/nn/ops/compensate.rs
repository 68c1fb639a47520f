//! The compensation of Theorem 1 as an operation: c at given times, for many series at once.
//!
//! Inputs are the values to pass through and the six limits of the prediction, each stacked
//! over all knots of all series [knots, channels]. The values may be constants (observations;
//! a mask tells which count) or results (Theorem 3: the hidden state after its update).
//! Both directions are those of [`crate::compensate`]: O(knots + query), one transposed solve
//! for the gradient.

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::Op;
use crate::compensate::{CompensationOptions, InputGradients, Plan, Workspace};
use crate::{Error, Jets, PiecewiseCubic, Side};

/// Knots and query times of one series.
#[derive(Clone, Copy, Debug)]
pub struct SeriesKnots<'a> {
    /// Times of its knots.
    pub times: &'a [f64],
    /// Which channels are observed at which knots, [knots, channels]; `None`: all.
    pub observed: Option<&'a [bool]>,
    /// Sorted times at which c is wanted (at a knot: its right limit; at the last: the left).
    pub query: &'a [f64],
}

/// What the compensation reads, each [knots of all series, channels].
#[derive(Clone, Copy, Debug)]
pub struct KnotLimits {
    /// Values to pass through.
    pub values: Var,
    /// Value, slope and curvature of the prediction before each knot's update.
    pub left: Jets<Var>,
    /// The same after the update.
    pub right: Jets<Var>,
}

impl KnotLimits {
    fn all(&self) -> [Var; 7] {
        let (left, right) = (self.left, self.right);
        [
            self.values,
            left.value,
            left.slope,
            left.curvature,
            right.value,
            right.slope,
            right.curvature,
        ]
    }
}

/// Work space of all such operations of a computation, used in order.
#[derive(Debug, Default)]
pub(crate) struct Compensations {
    blocks: Vec<CompensationBlock>,
    used: usize,
}

impl Compensations {
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// The index of a block that no operation of this computation has.
    fn next(&mut self) -> usize {
        if self.used == self.blocks.len() {
            self.blocks.push(CompensationBlock::default());
        }
        self.used += 1;
        self.used - 1
    }
}

/// The plans of one such operation, kept to be used again.
#[derive(Debug, Default)]
struct CompensationBlock {
    series: Vec<SeriesPlan>,
    used: usize,
    pieces: PiecewiseCubic,
    workspace: Workspace,
    limits: Option<KnotLimits>,
}

#[derive(Debug, Default)]
struct SeriesPlan {
    plan: Plan,
    query: Vec<f64>,
}

/// c at a knot comes from the right; at the last knot the last piece is all there is.
const SIDE: Side = Side::Right;

impl<T: Float> Graph<'_, T> {
    /// c at the query times of all series, [query times of all series, channels].
    ///
    /// # Errors
    /// If times do not increase, a series has no observation, or a limit is not finite.
    pub fn compensate<'s>(
        &mut self,
        series: impl Iterator<Item = SeriesKnots<'s>>,
        limits: KnotLimits,
        options: CompensationOptions,
    ) -> Result<Var, Error> {
        let index = self.memory.workspaces.compensations.next();
        let channels = self.columns(limits.values);
        let mut block = std::mem::take(&mut self.memory.workspaces.compensations.blocks[index]);
        block.limits = Some(limits);
        let planned = block.plan(series, channels, options);
        let result = planned.and_then(|()| self.evaluate(&mut block, limits, channels));
        self.memory.workspaces.compensations.blocks[index] = block;
        let (rows, values) = result?;
        let tracked = limits.all().iter().any(|&v| self.node(v).tracked);
        Ok(self.push(
            Op::Compensate { block: index },
            rows,
            channels,
            values,
            tracked,
        ))
    }

    fn evaluate(
        &mut self,
        block: &mut CompensationBlock,
        limits: KnotLimits,
        channels: usize,
    ) -> Result<(usize, Vec<T>), Error> {
        let CompensationBlock {
            series,
            used,
            pieces,
            ..
        } = block;
        let rows: usize = series[..*used].iter().map(|s| s.query.len()).sum();
        let mut out = self.memory.pool.take(rows * channels);
        let (mut knot, mut row) = (0, 0);
        for (i, one) in series[..*used].iter().enumerate() {
            let (knots, queries) = (one.plan.times().len(), one.query.len());
            let part = |var: Var| &self.value(var)[knot * channels..(knot + knots) * channels];
            let (left, right) = (limits.left.map(part), limits.right.map(part));
            one.plan
                .forward(part(limits.values), left, right, pieces)
                .map_err(|error| error.in_series(i))?;
            let target = &mut out[row * channels..(row + queries) * channels];
            pieces.values_into(&one.query, SIDE, target)?;
            (knot, row) = (knot + knots, row + queries);
        }
        Ok((rows, out))
    }
}

impl CompensationBlock {
    fn plan<'s>(
        &mut self,
        series: impl Iterator<Item = SeriesKnots<'s>>,
        channels: usize,
        options: CompensationOptions,
    ) -> Result<(), Error> {
        self.used = 0;
        for one in series {
            if self.used == self.series.len() {
                self.series.push(SeriesPlan::default());
            }
            let slot = &mut self.series[self.used];
            slot.plan
                .prepare(one.times, channels, one.observed, options)
                .map_err(|error| error.in_series(self.used))?;
            slot.query.clear();
            slot.query.extend_from_slice(one.query);
            self.used += 1;
        }
        Ok(())
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn compensate(&mut self, index: usize, g: Vec<T>) {
        let mut block = std::mem::take(&mut self.workspaces.compensations.blocks[index]);
        let limits = block.limits.expect("set when the operation was recorded");
        let channels = self.nodes[limits.values.index()].columns;
        let (mut knot, mut row) = (0, 0);
        for one in &block.series[..block.used] {
            let (knots, queries) = (one.plan.times().len(), one.query.len());
            let len = knots * channels;
            let mut scratch = self.pool.take(7 * len);
            {
                let mut parts = scratch[..7 * len].chunks_exact_mut(len);
                let mut next = || parts.next().expect("seven parts");
                let into = InputGradients {
                    values: next(),
                    left: Jets {
                        value: next(),
                        slope: next(),
                        curvature: next(),
                    },
                    right: Jets {
                        value: next(),
                        slope: next(),
                        curvature: next(),
                    },
                };
                let gradient = &g[row * channels..(row + queries) * channels];
                one.plan
                    .backward(&one.query, SIDE, gradient, &mut block.workspace, into)
                    .expect("the same lengths and times as in the forward pass");
            }
            for (var, part) in limits.all().into_iter().zip(scratch.chunks_exact(len)) {
                if self.tracked(var) {
                    let target = &mut self.slot(var)[knot * channels..(knot + knots) * channels];
                    target.iter_mut().zip(part).for_each(|(sum, &d)| *sum += d);
                }
            }
            self.pool.give(scratch);
            (knot, row) = (knot + knots, row + queries);
        }
        self.pool.give(g);
        self.workspaces.compensations.blocks[index] = block;
    }
}
