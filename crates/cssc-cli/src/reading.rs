//! How a table is to be read: flags shared by all commands that read one.

use crate::failure::{Failure, failure_from};
use crate::outputs;
use crate::watching::{Verbosity, Waiting};
use clap::builder::PossibleValuesParser;
use cssc::data::Dataset;
use cssc::data::table::{Duplicates, Formats, LoadedTable, ReadOptions, TableReader, TimeFormat};
use cssc::model::{Model, TimeInfo, TimeKind};
use cssc::{Error, Hint, Problem};
use cssc_report::grouped;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Most cells that are held in memory to look at; a larger table is judged by its beginning.
const MOST_CELLS: usize = 50_000_000;

/// What the flags say about a table; what they leave open is found by looking.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct TableArguments {
    /// The table: CSV, TSV, Parquet, Arrow or .npz, text also with .gz or .zst; - is standard input
    #[arg(value_name = "DATA", help_heading = None)]
    pub(crate) data: PathBuf,

    /// Column that tells the series apart, or several
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    id: Vec<String>,

    /// Column of time, or two (date,time)
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    time: Vec<String>,

    /// Columns of values; otherwise all columns of numbers
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    values: Vec<String>,

    /// Columns of integers, beside those whose type says so: what is filled in is rounded
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    integer: Vec<String>,

    /// How times are written: number, epoch-seconds (-milliseconds, -microseconds, -nanoseconds) or a pattern like '%d/%m/%Y %H:%M'
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
    #[arg(
        long,
        value_name = "refuse|average|first|last",
        default_value = "refuse"
    )]
    duplicates: Repeats,

    /// Format of the table, where its name and its beginning do not tell
    #[arg(long, value_name = "csv|tsv|parquet|arrow|npz", value_parser = format_names())]
    format: Option<String>,

    /// Separator of a text table
    #[arg(long, value_name = "CHARACTER")]
    separator: Option<char>,

    /// Numbers have a decimal comma
    #[arg(long)]
    decimal_comma: bool,

    /// Sign between thousands, such as , or . or '
    #[arg(long, value_name = "CHARACTER")]
    thousands: Option<char>,

    /// Most memory for the rows of a batch, a series, or a table that has to be sorted, such as 2GB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Repeats {
    Refuse,
    Average,
    First,
    Last,
}

/// A size such as 500MB or 2GB; a plain number is bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let unit = unit.trim_end_matches('b').trim_end_matches('i');
    let shift = ["", "k", "m", "g", "t"]
        .iter()
        .position(|name| *name == unit);
    match (digits.trim().parse::<f64>(), shift) {
        (Ok(number), Some(shift)) if number > 0.0 => {
            Ok((number * 1024_f64.powi(i32::try_from(shift).unwrap_or(0))) as u64)
        }
        _ => Err("give a size such as 500MB or 2GB".to_owned()),
    }
}

fn format_names() -> PossibleValuesParser {
    Formats::default().names().into()
}

impl TableArguments {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.clone(),
            separator: self.separator,
            decimal_comma: self.decimal_comma.then_some(true),
            id: self.id.clone(),
            time: self.time.clone(),
            time_format: match self.time_format.as_deref() {
                None => TimeFormat::Auto,
                Some("number") => TimeFormat::Number,
                Some("epoch-seconds") => TimeFormat::EpochSeconds,
                Some("epoch-milliseconds") => TimeFormat::EpochMilliseconds,
                Some("epoch-microseconds") => TimeFormat::EpochMicroseconds,
                Some("epoch-nanoseconds") => TimeFormat::EpochNanoseconds,
                Some(pattern) => TimeFormat::Pattern(pattern.to_owned()),
            },
            time_zone: self.time_zone.clone(),
            channels: self.values.clone(),
            integers: self.integer.clone(),
            missing: self.missing.clone(),
            thousands: self.thousands,
            max_memory: self.max_memory,
            duplicates: match self.duplicates {
                Repeats::Refuse => Duplicates::Refuse,
                Repeats::Average => Duplicates::Average,
                Repeats::First => Duplicates::First,
                Repeats::Last => Duplicates::Last,
            },
            ..ReadOptions::default()
        }
    }

    /// Opens the table.
    pub(crate) fn open(&self, verbosity: Verbosity) -> Result<TableReader, Failure> {
        if self.data.is_dir() {
            return Err(Failure::new(format!(
                "{} is a directory. Give the name of a file inside it.",
                self.data.display()
            )));
        }
        if self.format.is_none() {
            outputs::check_input_ending(&self.data)?;
        }
        let _waiting = Waiting::new(verbosity, "reading the table");
        TableReader::open(&self.data, self.options()).map_err(|error| with_flags(&error))
    }

    /// The name of the table for people.
    pub(crate) fn name(&self) -> String {
        name_of(&self.data)
    }
}

/// A file for people.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The whole text of a file; `-` is standard input. Reading all of it first means that input and output may be the
/// same file.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let name = name_of(path);
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "Check the name, or give - to read standard input.",
            io::ErrorKind::IsADirectory => "Give the name of a file inside it.",
            _ => "Check that the file exists and that you may read it.",
        };
        Failure::new(format!("cannot read {name}: {error}. {advice}"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::new(format!(
            "{name} is not text: byte {} is not valid UTF-8. Save the file as UTF-8 and try again.",
            error.utf8_error().valid_up_to()
        ))
    })?;
    // Some editors put a byte order mark in front.
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

/// What the library says, with the flags that help.
pub(crate) fn with_flags(error: &Error) -> Failure {
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
        Hint::Memory => "allow more memory (--max-memory)",
        Hint::NumberStyle => {
            "say which sign parts thousands (--thousands), or that numbers have a decimal comma (--decimal-comma)"
        }
        other => return other.to_string(),
    };
    remedy.to_owned()
}

/// All series of an open table, as far as memory allows; `purpose` says what only the first ones are used for
/// where there are more.
pub(crate) fn load_dataset(
    reader: &mut TableReader,
    purpose: &str,
    verbosity: Verbosity,
) -> Result<LoadedTable, Failure> {
    let waiting = Waiting::new(verbosity, "reading the table");
    let loaded = reader
        .load(MOST_CELLS)
        .map_err(|error| with_flags(&error))?;
    drop(waiting);
    for notice in reader.notices() {
        let word = if notice.is_warning() { "note" } else { "found" };
        verbosity.note(&format!("{word}: {notice}."));
    }
    if !loaded.complete {
        verbosity.note(&format!(
            "note: the table is large; {purpose} its first {} series only.",
            grouped(loaded.dataset.len())
        ));
    }
    Ok(loaded)
}

/// What the times of a table are, for a model that is trained on them or applied to them.
pub(crate) fn times_of(reader: &TableReader, dataset: &Dataset) -> Option<TimeInfo> {
    let kind = match reader.shape().times_are_seconds() {
        true => TimeKind::Dates,
        false => TimeKind::Numbers,
    };
    TimeInfo::of(dataset, kind)
}

/// Refuses a model that was trained on times of another kind, and warns where rows are much further apart.
pub(crate) fn check_times(
    model: &Model,
    reader: &TableReader,
    dataset: &Dataset,
    verbosity: Verbosity,
) -> Result<(), Failure> {
    let (Some(trained), Some(found)) = (&model.info().times, times_of(reader, dataset)) else {
        return Ok(());
    };
    let note = trained.compare(&found);
    if let Some(note) = note.map_err(|error| failure_from(&error))? {
        verbosity.note(&format!("note: {note}."));
    }
    Ok(())
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
            cssc::data::listed(dataset.channel_names())
        )));
    }
    Ok(())
}
