//! The data of many series of different lengths: one after the other in flat blocks, cut by
//! offsets.
//!
//! ```text
//!   times    a0 a1 a2 b0 b1 c0 c1 c2 c3        offsets  0 3 5 9
//!   values   [9, channels]
//!   query    a  a  b  b  b  c                  offsets  0 2 5 6
//! ```

use std::ops::Range;

use super::fold::Inputs;
use super::options::CompensationOptions;
use super::plan::Plan;
use super::validate;
use crate::error::{Error, check_length};
use crate::numeric::real::Real;
use crate::path::{Jets, Side};

/// The knots and masks of many series.
#[derive(Debug, Clone, Copy)]
pub struct BatchKnots<'a> {
    /// Series i owns the knots `offsets[i]..offsets[i + 1]`; one more than there are series.
    pub offsets: &'a [usize],
    /// The knots of all series, `[knots]`; increasing within each series.
    pub times: &'a [f64],
    /// Number of channels of every series.
    pub channels: usize,
    /// Which values were observed, `[knots, channels]`; `None` means all.
    pub observed: Option<&'a [bool]>,
}

/// Observations and limits of the prediction for many series, each `[knots, channels]`.
#[derive(Debug, Clone, Copy)]
pub struct BatchInputs<'a, T> {
    /// The observations; read only where observed.
    pub values: &'a [T],
    /// Limits of the prediction from the left.
    pub left: Jets<&'a [T]>,
    /// Limits of the prediction from the right.
    pub right: Jets<&'a [T]>,
}

/// The query times of many series.
#[derive(Debug, Clone, Copy)]
pub struct BatchQuery<'a> {
    /// Series i owns the times `offsets[i]..offsets[i + 1]`.
    pub offsets: &'a [usize],
    /// The query times of all series; sorted within each series.
    pub times: &'a [f64],
    /// Which limit is meant where a query time is a knot.
    pub side: Side,
}

impl BatchKnots<'_> {
    /// Number of series.
    #[must_use]
    pub fn series(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub(super) fn range(&self, series: usize) -> Range<usize> {
        self.offsets[series]..self.offsets[series + 1]
    }

    pub(super) fn plan(
        &self,
        series: usize,
        options: CompensationOptions,
        plan: &mut Plan,
    ) -> Result<(), Error> {
        let range = self.range(series);
        let mask = self.observed.map(|mask| part(mask, &range, self.channels));
        plan.prepare(&self.times[range], self.channels, mask, options)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.channels == 0 {
            return Err(Error::NoChannels);
        }
        check_offsets("knot", self.offsets, self.times.len())?;
        let expected = self.times.len() * self.channels;
        match self.observed {
            Some(mask) => check_length("observed", mask.len(), expected, "times x channels"),
            None => Ok(()),
        }
    }
}

impl<'a, T: Real> BatchInputs<'a, T> {
    pub(super) fn check(&self, knots: BatchKnots<'_>) -> Result<(), Error> {
        let inputs = Inputs {
            channels: knots.channels,
            values: self.values,
            left: self.left,
            right: self.right,
        };
        validate::lengths(&inputs, knots.times.len())
    }

    pub(super) fn part(&self, range: &Range<usize>, channels: usize) -> Self {
        BatchInputs {
            values: part(self.values, range, channels),
            left: self.left.map(|block| part(block, range, channels)),
            right: self.right.map(|block| part(block, range, channels)),
        }
    }
}

impl BatchQuery<'_> {
    pub(super) fn range(&self, series: usize) -> Range<usize> {
        self.offsets[series]..self.offsets[series + 1]
    }

    pub(super) fn check(&self, knots: BatchKnots<'_>) -> Result<(), Error> {
        let expected = knots.offsets.len();
        check_length(
            "query offsets",
            self.offsets.len(),
            expected,
            "as many as knot offsets",
        )?;
        check_offsets("query", self.offsets, self.times.len())
    }
}

/// The rows of one series in a block `[rows, channels]` of all.
pub(super) fn part<'a, T>(block: &'a [T], range: &Range<usize>, channels: usize) -> &'a [T] {
    &block[range.start * channels..range.end * channels]
}

fn check_offsets(what: &'static str, offsets: &[usize], expected: usize) -> Result<(), Error> {
    let mut previous = 0;
    for (index, &found) in offsets.iter().enumerate() {
        let is_last = index + 1 == offsets.len();
        if found < previous || (index == 0 && found != 0) || (is_last && found != expected) {
            return Err(Error::BadOffsets {
                what,
                index,
                found,
                expected,
            });
        }
        previous = found;
    }
    if offsets.is_empty() {
        return check_length("knot offsets", 0, 1, "one more than there are series");
    }
    Ok(())
}
