//! Times a user asks for: a list, a file or standard input, written as in the table.

use crate::failure::Failure;
use crate::reading::{name_of, read_text};
use cssc::data::table::Shape;
use cssc::data::{Dataset, Span};
use cssc::fill::Asked;
use std::io::Write;
use std::path::Path;

/// New cells that a table may get: a gigabyte of values, a few of everything beside them.
const MOST_CELLS: f64 = 1e8;

/// Times of a list with commas, or of a file with one a line; plain numbers may also share a line.
///
/// It is a list when its first entry is a time; a file called `5` can be given as `./5`.
pub(crate) fn read_times(argument: &str, shape: &Shape) -> Result<Vec<f64>, Failure> {
    let read = |text: &str, place: String| {
        let time = shape.read_time(text);
        time.map_err(|problem| Failure::new(format!("{place}: {problem}.")))
    };
    let first = argument.split(',').next().unwrap_or_default();
    if shape.read_time(first).is_ok() {
        let entries = argument.split(',').enumerate();
        return entries
            .map(|(index, text)| read(text, format!("--at, entry {}", index + 1)))
            .collect();
    }
    let path = Path::new(argument);
    let text = read_text(path).map_err(|failure| {
        Failure::new(format!(
            "--at {argument}: this is neither a time as in the table nor a file of them: {failure} Give times with a \
             comma between them, or a file with one a line."
        ))
    })?;
    let mut times = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let separators: &[char] = if shape.times_are_seconds() {
            &[]
        } else {
            &[',', ' ', '\t']
        };
        let entries = content
            .split(separators)
            .filter(|entry| !entry.trim().is_empty());
        for (index, entry) in entries.enumerate() {
            let place = format!("{}, line {}, entry {}", name_of(path), line + 1, index + 1);
            times.push(read(entry, place)?);
        }
    }
    if times.is_empty() {
        return Err(Failure::new(format!(
            "{} holds no times. Write at least one into it.",
            name_of(path)
        )));
    }
    Ok(times)
}

/// A length in the unit of the table's times; `dates` says that these are seconds.
pub(crate) fn in_table(span: Span, dates: bool, flag: &str) -> Result<f64, Failure> {
    span.in_unit_of(dates).ok_or_else(|| {
        Failure::new(format!(
            "{flag} has a unit of time, but the times of the table are plain numbers. Give a plain number in their \
             unit, or say what they are with --time-format (epoch-seconds, epoch-milliseconds)."
        ))
    })
}

/// Refuses a step so short that the rows would fill the memory, before any is made.
pub(crate) fn check_rows(asked: &Asked, dataset: &Dataset) -> Result<(), Failure> {
    let (Asked::Every(step) | Asked::Grid(step)) = asked else {
        return Ok(());
    };
    let series = dataset.series().iter();
    let lengths =
        series.filter_map(|series| Some(series.times().last()? - series.times().first()?));
    let rows: f64 = lengths.map(|length| length / step).sum();
    if rows * dataset.channels() as f64 <= MOST_CELLS {
        return Ok(());
    }
    let rows = match rows {
        rows if rows >= 1e9 => format!("{:.1} billion", rows / 1e9),
        rows => format!("{:.0} million", rows / 1e6),
    };
    Err(Failure::new(format!(
        "--every would give the table {rows} rows. Give a longer step, or a part of the table."
    )))
}

/// Tells on standard error when some answers lie outside the data, whose ends are written by `write`.
pub(crate) fn note_extrapolation(
    times: &[f64],
    (start, end): (f64, f64),
    write: impl Fn(f64) -> String,
) {
    let outside = times
        .iter()
        .filter(|&&time| time < start || time > end)
        .count();
    if outside > 0 {
        let _ = writeln!(
            std::io::stderr(),
            "note: {outside} of the {} times asked for lie outside the data ({} to {}); \
             there the end pieces are extended, which is rarely accurate.",
            times.len(),
            write(start),
            write(end)
        );
    }
}
