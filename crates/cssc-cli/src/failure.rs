//! What a command says when it cannot do its work.

use cssc::Error;
use std::fmt;
use std::io::ErrorKind;

/// One paragraph for the user: what was expected, what was found, where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What the library says, as a sentence.
pub(crate) fn failure_from(error: &dyn fmt::Display) -> Failure {
    Failure::new(format!("{error}."))
}

/// A reader that has seen enough, like `head`, ends the command without complaint: then there is
/// no result.
pub(crate) fn unless_pipe_closed<T>(result: Result<T, Error>) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::File { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Ok(None),
        Err(error) => Err(failure_from(&error)),
    }
}
