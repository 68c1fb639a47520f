//! All outputs of a command are looked at before any work is done: nothing is written over an input by accident, no
//! two outputs are the same file, every place can be written, and every ending means something.

use crate::destination;
use crate::failure::Failure;
use cssc::data::table::Formats;
use cssc::io::WholeFile;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// A file that a flag names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    pub(crate) flag: &'static str,
    pub(crate) path: &'a Path,
}

impl<'a> Output<'a> {
    /// Those of several flags that are given.
    pub(crate) fn given(flags: &[(&'static str, Option<&'a Path>)]) -> Vec<Self> {
        let given = flags.iter().copied();
        given
            .filter_map(|(flag, path)| path.map(|path| Self { flag, path }))
            .collect()
    }
}

/// Refuses outputs that would write over one of the `inputs`, over each other, or nowhere. The output of `in_place`
/// may be an input.
pub(crate) fn check(
    inputs: &[&Path],
    outputs: &[Output<'_>],
    in_place: Option<&Path>,
) -> Result<(), Failure> {
    for (number, output) in outputs.iter().enumerate() {
        let Output { flag, path } = *output;
        let name = path.display();
        let allowed = in_place == Some(path) && flag == "-o";
        if !allowed && inputs.iter().any(|input| same_file(input, path)) {
            let advice = match flag {
                "-o" => "Give another name, or --in-place to replace it.",
                _ => "Give another name.",
            };
            return Err(Failure::new(format!(
                "{flag} {name} would write over a file that is read. {advice}"
            )));
        }
        if let Some(other) = outputs[..number]
            .iter()
            .find(|other| same_file(other.path, path))
        {
            return Err(Failure::new(format!(
                "{} and {flag} name the same file, {name}. Give two names.",
                other.flag
            )));
        }
        can_be_written(*output)?;
    }
    Ok(())
}

/// Whether two names lead to one file; devices are not files.
fn same_file(a: &Path, b: &Path) -> bool {
    if a == b {
        return !is_device(a);
    }
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    // A file that is not there yet has a directory that is.
    let place = |path: &Path| -> Option<PathBuf> {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let directory = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(directory.join(path.file_name()?))
    };
    place(a).is_some() && place(a) == place(b) && !is_device(a)
}

/// Standard input and output, too.
pub(crate) fn is_device(path: &Path) -> bool {
    path == Path::new("-")
        || std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Opens the place and lets it go again. A named pipe is left alone: it waits for its reader.
fn can_be_written(output: Output<'_>) -> Result<(), Failure> {
    if output.path == Path::new("-") || is_device(output.path) {
        return Ok(());
    }
    WholeFile::create(output.path).map(drop).map_err(|error| {
        Failure::new(format!(
            "{} {}: cannot write there: {error}. {}",
            output.flag,
            output.path.display(),
            destination::advice(&error)
        ))
    })
}

/// Refuses a table whose ending tells no format that is known; one without an ending is like the table that is read.
pub(crate) fn check_table_ending(flag: &str, path: &Path) -> Result<(), Failure> {
    let known = Formats::default().by_ending(path).is_some();
    match ending(path) {
        Some(ending) if !known && !is_device(path) => Err(unknown_ending(flag, path, &ending)),
        _ => Ok(()),
    }
}

/// Refuses to read what is known not to be a table of a format that is known.
pub(crate) fn check_input_ending(path: &Path) -> Result<(), Failure> {
    match ending(path) {
        Some(ending) if advice(&ending).is_some() => Err(unknown_ending("DATA", path, &ending)),
        _ => Ok(()),
    }
}

/// The ending of a name, inside a compression, in lower case.
fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty()).then(|| ending.to_owned())
}

fn advice(ending: &str) -> Option<&'static str> {
    match ending {
        "xlsx" | "xls" | "ods" => Some("Spreadsheets are not supported: save the sheet as .csv."),
        "json" | "jsonl" | "ndjson" => {
            Some("JSON is not supported: convert it to .csv or .parquet.")
        }
        _ => None,
    }
}

fn unknown_ending(flag: &str, path: &Path, ending: &str) -> Failure {
    let names = Formats::default().names().join(", ");
    let advice = advice(ending).unwrap_or("Give a name with a known ending.");
    Failure::new(format!(
        "{flag} {}: the ending .{ending} tells no format that is known (there are {names}). {advice}",
        path.display()
    ))
}

/// Refuses to send what is not text to a terminal.
pub(crate) fn check_terminal(path: &Path, is_text: bool, format: &str) -> Result<(), Failure> {
    if path == Path::new("-") && !is_text && std::io::stdout().is_terminal() {
        return Err(Failure::new(format!(
            "the result is {format}, which a terminal cannot show. Give a file with -o, or a pipe behind the command."
        )));
    }
    Ok(())
}
