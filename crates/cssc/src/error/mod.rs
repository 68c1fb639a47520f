//! What can go wrong, said so that a user can put it right.
//!
//! One type for the whole library. A sentence says what was expected, what was found, where, and what
//! to do. Programs that speak to people in their own words ask for the parts: [`Error::kind`] (which
//! exception, which exit code), [`Error::place`] (file, line, series, time) and [`Error::hint`] (what
//! would help, so that a command can name its flag and Python its argument).

mod check;
mod hint;
mod place;

use crate::numeric::side::Side;
use std::path::{Path, PathBuf};

pub(crate) use check::{check_knots, check_length, check_query};
pub use hint::{Hint, Problem};
pub use place::Place;

/// What kind of failure an [`Error`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Times, values or shapes handed in are not as they must be.
    Data,
    /// A setting is out of range or does not fit.
    Setting,
    /// A file cannot be opened, read or written.
    File,
    /// A file was read, but does not hold what it should.
    Content,
    /// A training met numbers that are not finite.
    Diverged,
    /// The work was stopped by request.
    Stopped,
    /// Something that was added to the library from outside failed.
    Other,
}

/// Every failure of the library: what was expected, what was found, where, and what to do.
///
/// Indices count from 0. Errors from a call on many series are wrapped in
/// [`Error::InSeries`], which names the series.
#[derive(Debug, thiserror::Error)]
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

    /// A number among the settings is out of its range.
    #[error("`{what}` is {value}; give {expected}")]
    OutOfRange {
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

    /// A series does not hold `times x channels` values.
    #[error(
        "series {series}: expected {times} times x {channels} channels = {} values, found {found}",
        times * channels
    )]
    ValueCount {
        /// Name or number of the series.
        series: String,
        /// Number of times.
        times: usize,
        /// Number of channels.
        channels: usize,
        /// Number of values found.
        found: usize,
    },
    /// A time is not a finite number.
    #[error("series {series}: time {index} is {time}, expected a finite number")]
    SeriesTimeNotFinite {
        /// Name or number of the series.
        series: String,
        /// Position of the time.
        index: usize,
        /// The time found.
        time: f64,
    },
    /// Times do not increase strictly.
    #[error(
        "series {series}: times must increase strictly, but time {index} is {time} after {before}; \
         sort the rows, and average rows of equal time"
    )]
    TimesNotIncreasing {
        /// Name or number of the series.
        series: String,
        /// Position of the later time.
        index: usize,
        /// The time before it.
        before: f64,
        /// The time itself.
        time: f64,
    },
    /// A value is infinite; missing values are written NaN.
    #[error(
        "series {series}: the value at time {time} (index {index}) of channel {channel} is infinite; \
         write missing values as NaN"
    )]
    ValueInfinite {
        /// Name or number of the series.
        series: String,
        /// Position of the time.
        index: usize,
        /// The time.
        time: f64,
        /// Number of the channel.
        channel: usize,
    },
    /// A series has another number of channels than the data set.
    #[error("series {series} has {found} channels, the data set has {expected}")]
    ChannelCount {
        /// Name or number of the series.
        series: String,
        /// Channels of the data set.
        expected: usize,
        /// Channels of the series.
        found: usize,
    },
    /// Two series have the same id.
    #[error("two series have the id `{id}` (numbers {first} and {second}); ids must differ")]
    DuplicateId {
        /// The id.
        id: String,
        /// Number of the first series.
        first: usize,
        /// Number of the second series.
        second: usize,
    },
    /// A split asks for what the data set does not have.
    #[error("cannot split {series} series: {reason}")]
    Split {
        /// Number of series.
        series: usize,
        /// What is wrong.
        reason: String,
    },
    /// A scaler cannot be made or does not fit the data.
    #[error("cannot scale: {0}")]
    Scale(String),
    /// A file cannot be opened, read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried: `read`, `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Something in a file is not what was expected.
    #[error("{place}: {problem}")]
    Content {
        /// Where.
        place: Box<Place>,
        /// What was expected and found, and what would help.
        problem: Problem,
    },

    /// A setting is out of range or does not fit the data.
    #[error("{0}")]
    Setting(String),

    /// Training met numbers that are not finite too often.
    #[error(
        "training gave up at step {step}: loss or gradient was not finite again and again{}; \
         try a smaller `rate`, a smaller `step` of the solver, `clip` = 1, or scaled data",
        cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default()
    )]
    Diverged {
        /// The step at which it gave up.
        step: u64,
        /// What the prediction reported, if it did.
        cause: Option<Box<Error>>,
    },

    /// Whoever watched the work asked to stop it.
    #[error("it was stopped before its end")]
    Stopped,

    /// What was added to the library from outside reports a failure of its own.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
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

    /// A failure of something that is not part of this library.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Other(error.into())
    }

    /// A file that does not hold what it should.
    pub fn content(path: &Path, problem: impl ToString) -> Self {
        Place::file(path).error(problem)
    }

    /// For `map_err` where a file is read.
    pub fn reading(path: &Path) -> impl Fn(std::io::Error) -> Self {
        Self::doing("read", path)
    }

    /// For `map_err` where a file is written.
    pub fn writing(path: &Path) -> impl Fn(std::io::Error) -> Self {
        Self::doing("write", path)
    }

    fn doing(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::File {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// What kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InSeries { error, .. } => error.kind(),
            Self::OutOfRange { .. } | Self::Setting(_) | Self::Split { .. } => ErrorKind::Setting,
            Self::File { .. } => ErrorKind::File,
            Self::Content { .. } => ErrorKind::Content,
            Self::Diverged { .. } => ErrorKind::Diverged,
            Self::Stopped => ErrorKind::Stopped,
            Self::Other(_) => ErrorKind::Other,
            _ => ErrorKind::Data,
        }
    }

    /// Where it happened, as far as is known.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        let at = |index: usize, time: f64| Place {
            index: Some(index),
            time: Some(time),
            ..Place::default()
        };
        let in_series = |series: &str| Place {
            series: Some(series.to_owned()),
            ..Place::default()
        };
        Some(match self {
            Self::InSeries { series, error } => Place {
                series: Some(series.to_string()),
                ..error.place().unwrap_or_default()
            },
            Self::Content { place, .. } => Place::clone(place),
            Self::File { path, .. } => Place::file(path),
            Self::KnotsNotIncreasing { index, time, .. }
            | Self::QueryNotSorted { index, time, .. }
            | Self::TimeNotFinite { index, time, .. } => at(*index, *time),
            Self::ValueNotFinite {
                channel,
                index,
                time,
                ..
            }
            | Self::LimitNotFinite {
                channel,
                index,
                time,
                ..
            } => Place {
                channel: Some(*channel),
                ..at(*index, *time)
            },
            Self::EmptyChannel { channel, .. } => Place {
                channel: Some(*channel),
                ..Place::default()
            },
            Self::SeriesTimeNotFinite {
                series,
                index,
                time,
            }
            | Self::TimesNotIncreasing {
                series,
                index,
                time,
                ..
            } => Place {
                series: Some(series.clone()),
                ..at(*index, *time)
            },
            Self::ValueInfinite {
                series,
                index,
                time,
                channel,
            } => Place {
                series: Some(series.clone()),
                channel: Some(*channel),
                ..at(*index, *time)
            },
            Self::ValueCount { series, .. } | Self::ChannelCount { series, .. } => {
                in_series(series)
            }
            _ => return None,
        })
    }

    /// What would help, if the library knows.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        match self {
            Self::InSeries { error, .. } => error.hint(),
            Self::Content { problem, .. } => problem.hint,
            Self::TimesNotIncreasing { .. } => Some(Hint::RepeatedTimes),
            _ => None,
        }
    }
}
