//! The times a user asks for: read from an argument or a file, and answered in any order.

use crate::failure::Failure;
use crate::source::Source;
use cssc::{Error, Jets, Path, Side};
use std::ffi::OsString;
use std::io::Write;

/// Times from an argument that is either a list with commas or the name of a file.
///
/// It is a list when its first entry is a number; a file called `5` can be given as `./5`.
pub(crate) fn read_times(argument: &str) -> Result<Vec<f64>, Failure> {
    let first = argument.split(',').next().unwrap_or_default().trim();
    if first.parse::<f64>().is_ok() {
        return argument
            .split(',')
            .enumerate()
            .map(|(index, entry)| number(entry, || format!("--at, entry {}", index + 1)))
            .collect();
    }
    let source = Source::from(OsString::from(argument));
    let text = source.read().map_err(|failure| {
        Failure::new(format!(
            "{failure} --at takes numbers with a comma between them, or a file of numbers."
        ))
    })?;
    let mut times = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let entries = content
            .split([',', ' ', '\t'])
            .filter(|entry| !entry.is_empty());
        for (index, entry) in entries.enumerate() {
            times.push(number(entry, || {
                format!("{source}, line {}, entry {}", line + 1, index + 1)
            })?);
        }
    }
    if times.is_empty() {
        return Err(Failure::new(format!(
            "{source} holds no times. Write at least one number into it."
        )));
    }
    Ok(times)
}

fn number(entry: &str, place: impl FnOnce() -> String) -> Result<f64, Failure> {
    match entry.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(Failure::new(format!(
            "{}: expected a finite number, found {entry:?}.",
            place()
        ))),
    }
}

/// Samples `path` at `times` in the order given; at a knot from the right.
pub(crate) fn sample(path: &impl Path, times: &[f64]) -> Result<Jets, Error> {
    if times.is_sorted() {
        return path.sample(times, Side::Right);
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let sorted: Vec<f64> = order.iter().map(|&index| times[index]).collect();
    let channels = path.channels();
    let restore = |block: Vec<f64>| {
        let mut restored = vec![0.0; block.len()];
        for (row, &index) in block.chunks_exact(channels).zip(&order) {
            restored[index * channels..(index + 1) * channels].copy_from_slice(row);
        }
        restored
    };
    Ok(path.sample(&sorted, Side::Right)?.map(restore))
}

/// Tells on standard error when some answers lie outside the data.
pub(crate) fn note_extrapolation(times: &[f64], start: f64, end: f64) {
    let outside = times
        .iter()
        .filter(|&&time| time < start || time > end)
        .count();
    if outside > 0 {
        let _ = writeln!(
            std::io::stderr(),
            "note: {outside} of the {} times asked for lie outside the data ({start} to {end}); \
             there the end pieces are extended, which is rarely accurate.",
            times.len()
        );
    }
}
