//! What would help against a failure.

use std::fmt;

/// A remedy the library knows of. Its text names the setting of
/// [`ReadOptions`](crate::data::table::ReadOptions); a command or a binding says the same in its own
/// words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// Rows repeat a time: average them, or name the column that tells the series apart.
    RepeatedTimes,
    /// Some times name a zone and some do not: say which zone is meant where none is given.
    TimeZone,
    /// Times are written in an unknown way: give the time format.
    TimeFormat,
    /// A cell is not a number: say which columns hold the values, or that this mark means missing.
    NotANumber,
    /// No column looks like time: name it.
    TimeColumn,
    /// Rows take more memory than is allowed: allow more.
    Memory,
    /// Numbers can be read in two ways: say which sign parts thousands, or that there is a decimal
    /// comma.
    NumberStyle,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepeatedTimes => {
                "average rows of equal time, or name the column that tells the series apart"
            }
            Self::TimeZone => "say which zone is meant where none is given",
            Self::TimeFormat => "give the time format, for example %d/%m/%Y %H:%M:%S",
            Self::NotANumber => {
                "say which columns hold the values, or that this mark means missing"
            }
            Self::TimeColumn => "name it",
            Self::Memory => "allow more memory",
            Self::NumberStyle => {
                "say which sign parts thousands, or that numbers have a decimal comma"
            }
        })
    }
}

/// What is wrong at a place, and what would help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What was expected and found.
    pub text: String,
    /// What would help, if that is known.
    pub hint: Option<Hint>,
}

impl Problem {
    /// A problem with a known remedy.
    pub fn new(text: impl Into<String>, hint: Hint) -> Self {
        Self {
            text: text.into(),
            hint: Some(hint),
        }
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self { text, hint: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}
