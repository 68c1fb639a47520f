//! What a reader had to decide or repair, for the user to know.
use std::fmt;

use super::columns::Columns;
use crate::data::listed;

/// A remark about a table; the library never prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Which columns are used for what.
    Columns {
        /// The id columns.
        id: Vec<String>,
        /// The time columns.
        time: Vec<String>,
        /// The columns of values.
        channels: Vec<String>,
        /// Columns passed through untouched.
        passed: Vec<String>,
    },
    /// The rows of some series do not stand together: the table was sorted first.
    Ungrouped,
    /// So many series had rows out of order, and were sorted by time.
    UnsortedSeries(u64),
    /// So many rows went into means with rows of the same time.
    AveragedRows(u64),
    /// So many rows were left out for another one of the same time.
    DroppedRows(u64),
    /// So many rows had no entry at all and were left out.
    EmptyRows(u64),
    /// A quoted entry holds lines that look like rows.
    SwallowedRows {
        /// The line in which it begins.
        line: u64,
        /// How many lines look like rows.
        rows: usize,
    },
    /// A column of numbers is passed through because of an entry that is none.
    StrayText {
        /// The column.
        column: String,
        /// Line or row of the entry.
        at: u64,
        /// The entry.
        entry: String,
    },
    /// A number far from all others may mean missing.
    Sentinel {
        /// The column.
        column: String,
        /// The number, as it would be given.
        value: String,
        /// How often it was seen.
        count: usize,
    },
    /// Times that are numbers were taken for seconds or milliseconds since 1970.
    Epoch {
        /// The unit.
        unit: &'static str,
    },
}

impl Notice {
    pub(super) fn columns(columns: &Columns) -> Self {
        Self::Columns {
            id: columns
                .ids
                .iter()
                .map(|&column| columns.name(column).to_owned())
                .collect(),
            time: columns
                .time
                .iter()
                .map(|&column| columns.name(column).to_owned())
                .collect(),
            channels: columns.channel_names(),
            passed: columns
                .passed_names()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Counts of nothing need not be told.
    pub(super) fn says_something(&self) -> bool {
        !matches!(
            self,
            Self::UnsortedSeries(0)
                | Self::AveragedRows(0)
                | Self::DroppedRows(0)
                | Self::EmptyRows(0)
        )
    }

    /// Whether something was changed or costs memory, and not only found.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Self::Columns { .. } | Self::Epoch { .. })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns {
                id,
                time,
                channels,
                passed,
            } => {
                let id = match &id[..] {
                    [] => "none (one series)".to_owned(),
                    names => names.join(" + "),
                };
                write!(
                    f,
                    "id: {id}; time: {}; values: {}",
                    time.join(" + "),
                    listed(channels)
                )?;
                if !passed.is_empty() {
                    let name = |name: &String| match name.is_empty() {
                        true => "a column without a name".to_owned(),
                        false => name.clone(),
                    };
                    let passed: Vec<String> = passed.iter().map(name).collect();
                    write!(f, "; passed through: {}", listed(&passed))?;
                }
                Ok(())
            }
            Self::Ungrouped => f.write_str(
                "the rows of some series do not stand together: the whole table was read and \
                 sorted by id first, in memory; it is written in its own order",
            ),
            Self::UnsortedSeries(count) => write!(
                f,
                "{count} series had rows out of order and were sorted by time"
            ),
            Self::AveragedRows(count) => write!(
                f,
                "{count} rows were averaged with rows of the same series and time"
            ),
            Self::DroppedRows(count) => write!(
                f,
                "{count} rows were left out for others of the same series and time"
            ),
            Self::EmptyRows(count) => write!(f, "{count} rows without any entry were left out"),
            Self::SwallowedRows { line, rows } => write!(
                f,
                "the quoted entry in line {line} holds {rows} lines that look like rows; is a quote \
                 not closed there?"
            ),
            Self::StrayText { column, at, entry } => write!(
                f,
                "column `{column}` is passed through and not filled, because line or row {at} holds \
                 `{entry}` among numbers; repair it, or say that it means missing"
            ),
            Self::Sentinel {
                column,
                value,
                count,
            } => write!(
                f,
                "column `{column}` holds {value} {count} times, far from all its other values; if that \
                 means missing, say so"
            ),
            Self::Epoch { unit } => {
                write!(
                    f,
                    "times are read as {unit} since 1970; say if they are plain numbers"
                )
            }
        }
    }
}
