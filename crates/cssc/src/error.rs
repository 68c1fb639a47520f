//! What can go wrong, said so that a user can put it right.

use crate::path::Side;

/// Every failure of the library: what was expected, what was found, where, and what to do.
///
/// Indices count from 0. Errors from a call on many series are wrapped in
/// [`Error::InSeries`], which names the series.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A failure in one of many series.
    #[error("series {series}: {error}")]
    InSeries {
        /// Which series of the call.
        series: usize,
        /// What went wrong in it.
        error: Box<Error>,
    },

    /// Knots must strictly increase.
    #[error(
        "times must strictly increase, but times[{index}] = {time} follows {previous}; \
         sort the rows by time and merge those with equal times"
    )]
    KnotsNotIncreasing {
        /// Index of the offending time.
        index: usize,
        /// The time found there.
        time: f64,
        /// The time before it.
        previous: f64,
    },

    /// Query times must not decrease.
    #[error(
        "query times must not decrease, but query[{index}] = {time} follows {previous}; \
         sort the query times"
    )]
    QueryNotSorted {
        /// Index of the offending time.
        index: usize,
        /// The time found there.
        time: f64,
        /// The time before it.
        previous: f64,
    },

    /// A time is NaN or infinite.
    #[error("{what}[{index}] is {time}; times must be finite numbers, remove or repair that row")]
    TimeNotFinite {
        /// `times` or `query`.
        what: &'static str,
        /// Index of the offending time.
        index: usize,
        /// The time found there.
        time: f64,
    },

    /// A value at a knot is infinite, or NaN although it is marked as observed.
    #[error(
        "the value of channel {channel} at index {index} (time {time}) is {value}; \
         an observation must be a finite number, mark it as missing or repair it"
    )]
    ValueNotFinite {
        /// Channel of the value.
        channel: usize,
        /// Knot of the value.
        index: usize,
        /// Time of the knot.
        time: f64,
        /// What was found.
        value: f64,
    },

    /// A one-sided limit of the prediction is NaN or infinite.
    #[error(
        "the {side} limit of the {what} of channel {channel} at index {index} (time {time}) is \
         {value}; limits must be finite (only the left limit at the first knot and the right one \
         at the last may be absent, and the right value at the last knot is needed where the \
         channel is not observed there: give it, or pin to the left value)"
    )]
    LimitNotFinite {
        /// Which side of the knot.
        side: Side,
        /// `value`, `slope` or `curvature`.
        what: &'static str,
        /// Channel of the limit.
        channel: usize,
        /// Knot of the limit.
        index: usize,
        /// Time of the knot.
        time: f64,
        /// What was found.
        value: f64,
    },

    /// Two inputs that belong together have different lengths.
    #[error("{what} has {found} entries, expected {expected} ({reason})")]
    LengthMismatch {
        /// Which input.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
        /// Where the expected length comes from.
        reason: &'static str,
    },

    /// The offsets of a block of series do not cut it into consecutive parts.
    #[error(
        "{what} offsets must start at 0, not decrease and end at {expected}, but \
         offsets[{index}] is {found}"
    )]
    BadOffsets {
        /// Offsets of the knots or of the queries.
        what: &'static str,
        /// Index of the offending offset.
        index: usize,
        /// The offset found there.
        found: usize,
        /// The length of the block.
        expected: usize,
    },

    /// There is not a single knot.
    #[error("a series needs at least one time, found none; remove the empty series")]
    NoKnots,

    /// There is not a single channel.
    #[error("a series needs at least one channel, found none")]
    NoChannels,

    /// Nothing was observed at all, so there is nothing to pass through.
    #[error(
        "no channel has an observation at any of the {knots} times from {start} to {end}; \
         remove the series or use the prediction alone"
    )]
    NoObservation {
        /// Number of knots.
        knots: usize,
        /// First time.
        start: f64,
        /// Last time.
        end: f64,
    },

    /// A plain spline has no point to pass through in one channel.
    #[error(
        "channel {channel} has no observation at any of the {knots} times from {start} to {end}; \
         a plain spline needs at least one, leave the channel out"
    )]
    EmptyChannel {
        /// The channel.
        channel: usize,
        /// Number of knots.
        knots: usize,
        /// First time.
        start: f64,
        /// Last time.
        end: f64,
    },

    /// A setting is out of its range.
    #[error("`{what}` is {value}; give {expected}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },

    /// Two paths that are added have different numbers of channels.
    #[error("cannot add a path of {left} channels and one of {right}; they must have the same")]
    ChannelMismatch {
        /// Channels of the first path.
        left: usize,
        /// Channels of the second path.
        right: usize,
    },
}

impl Error {
    /// The same failure, said to be in series number `series`.
    #[must_use]
    pub fn in_series(self, series: usize) -> Self {
        Error::InSeries {
            series,
            error: Box::new(self),
        }
    }
}

/// Checks that an input has the length it must have.
pub(crate) fn check_length(
    what: &'static str,
    found: usize,
    expected: usize,
    reason: &'static str,
) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch {
        what,
        found,
        expected,
        reason,
    })
}

/// Checks that knots are finite and strictly increase, and that there is at least one.
pub(crate) fn check_knots(times: &[f64]) -> Result<(), Error> {
    if times.is_empty() {
        return Err(Error::NoKnots);
    }
    // NaN fails the comparison, so one pass over neighbours and a look at both ends see all.
    let increasing = times.windows(2).all(|pair| pair[0] < pair[1]);
    if increasing && times[0].is_finite() && times[times.len() - 1].is_finite() {
        return Ok(());
    }
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Error::TimeNotFinite {
                what: "times",
                index,
                time,
            });
        }
        if index > 0 && time <= times[index - 1] {
            return Err(Error::KnotsNotIncreasing {
                index,
                time,
                previous: times[index - 1],
            });
        }
    }
    Ok(())
}

/// Checks that query times are finite and do not decrease.
pub(crate) fn check_query(times: &[f64]) -> Result<(), Error> {
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Error::TimeNotFinite {
                what: "query",
                index,
                time,
            });
        }
        if index > 0 && time < times[index - 1] {
            return Err(Error::QueryNotSorted {
                index,
                time,
                previous: times[index - 1],
            });
        }
    }
    Ok(())
}
