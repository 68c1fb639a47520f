//! Where something stands: in a file, or in the numbers handed in.

use super::{Error, Problem};
use std::fmt;
use std::path::{Path, PathBuf};

/// A place, as far as it is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Place {
    /// The file; `-` is standard input.
    pub file: Option<PathBuf>,
    /// Line of a text file, counted from 1.
    pub line: Option<u64>,
    /// Row of a binary table, counted from 1.
    pub row: Option<u64>,
    /// Name of the column.
    pub column: Option<String>,
    /// Name or number of the series.
    pub series: Option<String>,
    /// Position in the series, counted from 0.
    pub index: Option<usize>,
    /// Time there.
    pub time: Option<f64>,
    /// Number of the channel, counted from 0.
    pub channel: Option<usize>,
}

impl Place {
    /// Somewhere in the file.
    #[must_use]
    pub fn file(file: &Path) -> Self {
        Self {
            file: Some(file.to_owned()),
            ..Self::default()
        }
    }

    /// In this column.
    #[must_use]
    pub fn column(self, name: &str) -> Self {
        Self {
            column: Some(name.to_owned()),
            ..self
        }
    }

    /// The error that stands there.
    pub fn error(self, problem: impl ToString) -> Error {
        self.problem(problem.to_string())
    }

    /// The error that stands there, with what would help.
    pub fn problem(self, problem: impl Into<Problem>) -> Error {
        Error::Content {
            place: Box::new(self),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut part = |text: fmt::Arguments<'_>| {
            let result = write!(f, "{separator}{text}");
            separator = ", ";
            result
        };
        if let Some(file) = &self.file {
            if file == Path::new("-") {
                part(format_args!("standard input"))?;
            } else {
                part(format_args!("{}", file.display()))?;
            }
        }
        if let Some(line) = self.line {
            part(format_args!("line {line}"))?;
        }
        if let Some(row) = self.row {
            part(format_args!("row {row}"))?;
        }
        if let Some(column) = &self.column {
            part(format_args!("column `{column}`"))?;
        }
        if let Some(series) = &self.series {
            part(format_args!("series {series}"))?;
        }
        if let Some(channel) = self.channel {
            part(format_args!("channel {channel}"))?;
        }
        if let Some(index) = self.index {
            part(format_args!("index {index}"))?;
        }
        if let Some(time) = self.time {
            part(format_args!("time {time}"))?;
        }
        Ok(())
    }
}
