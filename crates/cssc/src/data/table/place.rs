//! Where in a file something stands.
use std::fmt;
use std::path::{Path, PathBuf};

use crate::data::DataError;

/// A file, and as far as known a line or row, and a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file; `-` is standard input.
    pub file: PathBuf,
    /// Line of a text file, counted from 1.
    pub line: Option<u64>,
    /// Row of a binary table, counted from 1.
    pub row: Option<u64>,
    /// Name of the column.
    pub column: Option<String>,
}

impl Place {
    /// Somewhere in the file.
    pub fn file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            row: None,
            column: None,
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
    pub fn error(self, problem: impl ToString) -> DataError {
        DataError::Table {
            place: self,
            problem: problem.to_string(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == Path::new("-") {
            f.write_str("standard input")?;
        } else {
            write!(f, "{}", self.file.display())?;
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        Ok(())
    }
}
