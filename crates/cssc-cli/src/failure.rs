//! What a command says when it cannot do its work.

use crate::signals;
use cssc::Error;
use std::fmt;
use std::io::ErrorKind;

/// Exit code of a command that could not run.
const COULD_NOT_RUN: u8 = 2;

/// One paragraph for the user: what was expected, what was found, where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The exit code: 128 and the number of a signal, if one has stopped the command.
    pub(crate) fn code(&self) -> u8 {
        let signal = signals::stopped_by().and_then(|signal| u8::try_from(signal).ok());
        signal.map_or(COULD_NOT_RUN, |signal| signal.saturating_add(128))
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

/// A command that was stopped has written nothing; otherwise what the library says.
pub(crate) fn stopped_or(error: &Error) -> Failure {
    match error.kind() {
        cssc::ErrorKind::Stopped => Failure::new("stopped; nothing was written."),
        _ => failure_from(error),
    }
}

/// A reader that has seen enough, like `head`, ends the command without complaint: then there is
/// no result.
pub(crate) fn unless_pipe_closed<T>(result: Result<T, Error>) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::File { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Ok(None),
        Err(error) => Err(stopped_or(&error)),
    }
}
