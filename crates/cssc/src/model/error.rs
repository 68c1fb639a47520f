//! What can go wrong with a model, its training or its file.

use crate::Error;
use crate::data::DataError;
use std::path::PathBuf;

/// A failure of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A setting is out of range or does not fit the data.
    #[error("{0}")]
    Setting(String),

    /// The data are not as they must be.
    #[error(transparent)]
    Data(#[from] DataError),

    /// The compensation failed.
    #[error(transparent)]
    Compensation(#[from] Error),

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
        cause: Option<Error>,
    },

    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// A file is not what it should be.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
}
