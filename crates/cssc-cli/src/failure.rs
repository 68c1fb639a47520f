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
        // One paragraph: a line break can only come from a name.
        formatter.write_str(&printable(&self.0).replace('\n', "\\n"))
    }
}

/// The text without signs that a terminal would obey: names and cells come from other people's files.
pub(crate) fn printable(text: &str) -> String {
    let obeyed = |letter: char| {
        letter.is_control() && letter != '\n'
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        if obeyed(letter) {
            clean.extend(letter.escape_default());
        } else {
            clean.push(letter);
        }
    }
    clean
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_command_the_terminal() {
        assert_eq!(
            printable("a\u{1b}[2Jb\u{202e}c\nd"),
            "a\\u{1b}[2Jb\\u{202e}c\nd"
        );
        assert_eq!(Failure::new("two\nlines").to_string(), "two\\nlines");
    }
}
