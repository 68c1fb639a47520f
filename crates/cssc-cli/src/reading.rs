//! How a table is to be read: flags shared by all commands that read one.

use crate::failure::{Failure, failure_from};
use crate::watching::Verbosity;
use cssc::data::Dataset;
use cssc::data::table::{Duplicates, Format, Layout, ReadOptions, TableReader, TimeFormat};
use cssc::{Error, Hint, Problem};
use std::path::PathBuf;

/// Most cells that are held in memory to look at; a larger table is judged by its beginning.
const MOST_CELLS: usize = 50_000_000;

/// What the flags say about a table; what they leave open is found by looking.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct TableArguments {
    /// The table: CSV, TSV, Parquet, Arrow or .npz, text also with .gz or .zst; - is standard input
    #[arg(value_name = "DATA", help_heading = None)]
    pub(crate) data: PathBuf,

    /// Column that tells the series apart
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,

    /// Column of time, or two (date,time)
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    time: Vec<String>,

    /// Columns of values; otherwise all columns of numbers
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    values: Vec<String>,

    /// How times are written: number, epoch-seconds, epoch-milliseconds or a pattern like '%d/%m/%Y %H:%M'
    #[arg(long, value_name = "FORMAT")]
    time_format: Option<String>,

    /// Zone of times that name none, such as Europe/Rome; otherwise UTC
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,

    /// Marks that mean missing, beside the empty cell, NaN, NA, N/A, null and none
    #[arg(
        long,
        value_name = "MARK,...",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    missing: Vec<String>,

    /// What to do with rows of one series at the same time
    #[arg(long, value_name = "refuse|average", default_value = "refuse")]
    duplicates: Repeats,

    /// Format of the table, where its name and its beginning do not tell
    #[arg(long, value_name = "csv|tsv|parquet|arrow|npz")]
    format: Option<TableFormat>,

    /// Separator of a text table
    #[arg(long, value_name = "CHARACTER")]
    separator: Option<char>,

    /// Numbers have a decimal comma
    #[arg(long)]
    decimal_comma: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Repeats {
    Refuse,
    Average,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TableFormat {
    Csv,
    Tsv,
    Parquet,
    Arrow,
    Npz,
}

impl TableArguments {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.map(|format| match format {
                TableFormat::Csv => Format::Csv,
                TableFormat::Tsv => Format::Tsv,
                TableFormat::Parquet => Format::Parquet,
                TableFormat::Arrow => Format::Arrow,
                TableFormat::Npz => Format::Npz,
            }),
            separator: self.separator,
            decimal_comma: self.decimal_comma.then_some(true),
            layout: Layout::Long,
            id: self.id.clone(),
            time: self.time.clone(),
            time_format: match self.time_format.as_deref() {
                None => TimeFormat::Auto,
                Some("number") => TimeFormat::Number,
                Some("epoch-seconds") => TimeFormat::EpochSeconds,
                Some("epoch-milliseconds") => TimeFormat::EpochMilliseconds,
                Some(pattern) => TimeFormat::Pattern(pattern.to_owned()),
            },
            time_zone: self.time_zone.clone(),
            channels: self.values.clone(),
            missing: self.missing.clone(),
            duplicates: match self.duplicates {
                Repeats::Refuse => Duplicates::Refuse,
                Repeats::Average => Duplicates::Average,
            },
            ..ReadOptions::default()
        }
    }

    /// Opens the table.
    pub(crate) fn open(&self) -> Result<TableReader, Failure> {
        if self.data.is_dir() {
            return Err(Failure::new(format!(
                "{} is a directory. Give the name of a file inside it.",
                self.data.display()
            )));
        }
        TableReader::open(&self.data, self.options()).map_err(|error| with_flags(&error))
    }

    /// The name of the table for people.
    pub(crate) fn name(&self) -> String {
        if self.data.as_os_str() == "-" {
            "standard input".to_owned()
        } else {
            self.data.display().to_string()
        }
    }
}

/// What the library says, with the flags that help.
fn with_flags(error: &Error) -> Failure {
    match error {
        Error::Content {
            place,
            problem: Problem {
                text,
                hint: Some(hint),
            },
        } => Failure::new(format!("{place}: {text}; {}.", remedy(*hint))),
        _ => failure_from(error),
    }
}

/// A hint of the library in the words of the command.
fn remedy(hint: Hint) -> String {
    let remedy = match hint {
        Hint::RepeatedTimes => {
            "average rows of equal time (--duplicates average), or name the column that tells the series apart (--id)"
        }
        Hint::TimeZone => "say which zone is meant where none is given (--time-zone)",
        Hint::TimeFormat => "give the time format (--time-format), for example %d/%m/%Y %H:%M:%S",
        Hint::NotANumber => {
            "say which columns hold the values (--values), or that this mark means missing (--missing)"
        }
        Hint::TimeColumn => "name it (--time)",
        other => return other.to_string(),
    };
    remedy.to_owned()
}

/// All series of an open table, as far as memory allows, and whether that was all. The reader then
/// stands at its beginning again.
pub(crate) fn load_dataset(
    reader: &mut TableReader,
    verbosity: Verbosity,
) -> Result<(Dataset, bool), Failure> {
    let (mut series, mut cells, mut all) = (Vec::new(), 0, true);
    for rows in reader.by_ref() {
        let rows = rows.map_err(|error| with_flags(&error))?;
        if cells > 0 && cells + rows.series.values().len() > MOST_CELLS {
            all = false;
            break;
        }
        cells += rows.series.values().len();
        series.push(rows.series);
    }
    let names = reader.shape().columns.channel_names();
    let dataset = Dataset::new(names, series).map_err(|error| failure_from(&error))?;
    for notice in reader.notices() {
        let word = if notice.is_warning() { "note" } else { "found" };
        verbosity.note(&format!("{word}: {notice}."));
    }
    reader.restart().map_err(|error| failure_from(&error))?;
    Ok((dataset, all))
}

/// Refuses a data set with nothing in it.
pub(crate) fn must_hold_values(dataset: &Dataset, name: &str) -> Result<(), Failure> {
    let rows: usize = dataset.series().iter().map(|series| series.len()).sum();
    if rows == 0 {
        return Err(Failure::new(format!(
            "{name} holds no rows. Give a table with times and values."
        )));
    }
    if dataset.series().iter().all(|series| series.len() < 2) {
        return Err(Failure::new(format!(
            "{name} has only one row for each series, so there is nothing between which to fill. Give the column that \
             tells series apart with --id if another one was taken for it."
        )));
    }
    let known = dataset
        .series()
        .iter()
        .flat_map(|series| series.values())
        .any(|value| !value.is_nan());
    if !known {
        return Err(Failure::new(format!(
            "every value of {name} is missing ({}). Name the columns of values with --values, and check the marks \
             given with --missing.",
            dataset.channel_names().join(", ")
        )));
    }
    Ok(())
}
