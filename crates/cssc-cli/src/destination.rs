//! Where results go: standard output, or a file that appears complete or not at all (see [`cssc::io`]).

use crate::failure::Failure;
use crate::outputs::{self, Output};
use cssc::io::write_whole;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// `--output FILE`, shared by all commands that give a result.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Destination {
    /// Write the result to FILE instead of standard output; FILE is complete or left as it was
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Refuses to write over one of the `inputs`, before any work is done.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<(), Failure> {
        let outputs = Output::given(&[("--output", self.output.as_deref())]);
        outputs::check(inputs, &outputs, None)
    }

    /// Calls `produce` with a buffered writer and makes its result visible once all of it is written. A reader that
    /// has seen enough, like `head`, ends the command without complaint.
    pub(crate) fn write(
        &self,
        produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let path = self.output.as_deref().unwrap_or(Path::new("-"));
        match write_whole(path, produce) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(unwritable(path, &error))
            }
            _ => Ok(()),
        }
    }
}

/// Prints a result that is complete; a closed pipe is no error.
pub(crate) fn print(result: &[u8]) -> Result<(), Failure> {
    Destination { output: None }.write(|out| out.write_all(result))
}

/// Writes a file of its own, whole or not at all.
pub(crate) fn write_to(
    path: &Path,
    produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let output = Some(path.to_owned());
    Destination { output }.write(produce)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    if path == Path::new("-") {
        return Failure::new(format!("cannot write to standard output: {error}."));
    }
    Failure::new(format!(
        "cannot write the result to {}: {error}. Nothing was changed there. {}",
        path.display(),
        advice(error)
    ))
}

/// What helps where a file cannot be written.
pub(crate) fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "Create its directory first, or choose another place.",
        io::ErrorKind::IsADirectory => "Give the name of a file inside it.",
        io::ErrorKind::StorageFull => "Free some space, or choose another place.",
        _ => "Check that you may write there, or choose another place.",
    }
}
