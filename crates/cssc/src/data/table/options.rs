//! How a table is to be read: everything can be left open, and is then found by looking.
use super::formats::Formats;

/// What to do with rows of one series at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Stop with an error that names the line.
    #[default]
    Refuse,
    /// Keep one row with the mean of the values that are there; columns that are passed through
    /// keep the entries of the first row.
    Average,
    /// Keep the first row as it is.
    First,
    /// Keep the last row as it is.
    Last,
}

/// How times are written.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeFormat {
    /// Numbers, or dates and times as in RFC 3339 and ISO 8601, whichever the first entry is.
    #[default]
    Auto,
    /// Numbers, of any unit.
    Number,
    /// Seconds since 1970-01-01 UTC.
    EpochSeconds,
    /// Milliseconds since 1970-01-01 UTC.
    EpochMilliseconds,
    /// Microseconds since 1970-01-01 UTC.
    EpochMicroseconds,
    /// Nanoseconds since 1970-01-01 UTC.
    EpochNanoseconds,
    /// A pattern such as `%d/%m/%Y %H:%M:%S`. With several time columns it has one part per
    /// column, separated by spaces.
    Pattern(String),
}

/// All choices. The default leaves everything to be found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReadOptions {
    /// The name of the format; otherwise by the ending, then by the first bytes.
    pub format: Option<String>,
    /// The formats that are known.
    #[serde(skip)]
    pub formats: Formats,
    /// The separator of text tables.
    pub separator: Option<char>,
    /// Whether text tables begin with names; otherwise they do unless the first row is all numbers.
    pub header: Option<bool>,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: Option<bool>,
    /// The column or columns that say which series a row belongs to.
    pub id: Vec<String>,
    /// The column or columns of time.
    pub time: Vec<String>,
    /// How times are written.
    pub time_format: TimeFormat,
    /// Zone (such as `Europe/Rome`) of dates and times that have none; UTC when not given.
    pub time_zone: Option<String>,
    /// The sign between thousands, if there is one.
    pub thousands: Option<char>,
    /// The columns of values; otherwise all numeric ones that are left.
    pub channels: Vec<String>,
    /// Columns of values that hold integers, beside those whose type says so: what is filled in is
    /// rounded.
    pub integers: Vec<String>,
    /// Entries that mean missing, beside the empty one, NaN, NA, N/A, null and none. Numbers are
    /// compared as numbers: `-200` also means `-200.0`.
    pub missing: Vec<String>,
    /// What to do with equal times in one series.
    pub duplicates: Duplicates,
    /// Most bytes that rows in memory may take: a batch, a series, or the whole table where it has to
    /// be sorted. Without it a table may take what it needs, but no batch or entry more than a
    /// gigabyte, or more than its file can account for.
    pub max_memory: Option<u64>,
    /// Rows read at once: the bound of memory, beside the longest series.
    pub batch_rows: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            formats: Formats::default(),
            separator: None,
            header: None,
            decimal_comma: None,
            thousands: None,
            id: Vec::new(),
            time: Vec::new(),
            time_format: TimeFormat::default(),
            time_zone: None,
            channels: Vec::new(),
            integers: Vec::new(),
            missing: Vec::new(),
            duplicates: Duplicates::default(),
            max_memory: None,
            batch_rows: 16_384,
        }
    }
}
