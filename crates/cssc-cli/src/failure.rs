//! What a command says when it cannot do its work.

use std::fmt;

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
pub(crate) fn said(error: &dyn fmt::Display) -> Failure {
    Failure::new(format!("{error}."))
}
