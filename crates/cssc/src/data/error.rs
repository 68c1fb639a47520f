//! What can be wrong with data, and what to do about it.
use std::path::PathBuf;

use thiserror::Error;

/// Why data were refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
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
    TimeNotFinite {
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
    /// A file was read, but what stands in it is not what was expected.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What was expected and found.
        problem: String,
    },
    /// Data cannot be generated.
    #[error("cannot generate: {0}")]
    Generate(String),
    /// The physics of the hopper cannot run.
    #[cfg(feature = "tables")]
    #[error(transparent)]
    Mujoco(#[from] super::generate::mujoco::MujocoError),
}

impl DataError {
    /// For `map_err` where a file is read.
    #[cfg(feature = "tables")]
    pub(crate) fn reading(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::File {
            action: "read",
            path: path.to_owned(),
            source,
        }
    }

    /// For `map_err` where a file is written.
    #[cfg(feature = "tables")]
    pub(crate) fn writing(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::File {
            action: "write",
            path: path.to_owned(),
            source,
        }
    }

    /// A file that does not hold what it should.
    #[cfg(feature = "tables")]
    pub(crate) fn content(path: &std::path::Path, problem: impl ToString) -> Self {
        Self::Content {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}
