//! Where a command reads from: a file, or standard input when the name is `-`.

use crate::failure::Failure;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;

/// A place to read text from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
}

impl Source {
    /// The whole text. Reading all of it first means that input and output may be the same file.
    pub(crate) fn read(&self) -> Result<String, Failure> {
        let bytes = self.read_bytes().map_err(|error| self.unreadable(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            Failure::new(format!(
                "{self} is not text: byte {} is not valid UTF-8. Save the file as UTF-8 and try again.",
                error.utf8_error().valid_up_to()
            ))
        })?;
        // Some editors put a byte order mark in front.
        Ok(text
            .strip_prefix('\u{feff}')
            .map(str::to_owned)
            .unwrap_or(text))
    }

    fn read_bytes(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::StandardInput => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::File(path) => std::fs::read(path),
        }
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "Check the name, or give - to read standard input.",
            io::ErrorKind::IsADirectory => "Give the name of a file inside it.",
            _ => "Check that the file exists and that you may read it.",
        };
        Failure::new(format!("cannot read {self}: {error}. {advice}"))
    }
}

impl From<OsString> for Source {
    fn from(name: OsString) -> Self {
        if name == "-" {
            Self::StandardInput
        } else {
            Self::File(name.into())
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardInput => formatter.write_str("standard input"),
            Self::File(path) => path.display().fmt(formatter),
        }
    }
}
