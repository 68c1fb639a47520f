//! Where results go: standard output, or a file that appears complete or not at all.
//!
//! A file is written under a temporary name in the same directory, brought to the disk, and then renamed, so
//! that a full disk, a crash or a stopped command leaves what was there before. Devices and named pipes cannot
//! be replaced by renaming; they are written to directly.

use crate::failure::Failure;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// `--output FILE`, shared by all commands that give a result.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Destination {
    /// Write the result to FILE instead of standard output; FILE is complete or left as it was
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Calls `produce` with a buffered writer and makes its result visible once all of it is written.
    pub(crate) fn write(
        &self,
        produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self
            .output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
        {
            None => forgive_closed_pipe(write_buffered(io::stdout().lock(), produce).map(drop))
                .map_err(|error| {
                    Failure::new(format!("cannot write to standard output: {error}."))
                }),
            Some(path) => write_file(path, produce).map_err(|error| unwritable(path, &error)),
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

/// A reader that has seen enough, like `head`, ends the command without complaint.
fn forgive_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn write_buffered<W: Write>(
    target: W,
    produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut writer = BufWriter::with_capacity(1 << 16, target);
    produce(&mut writer)?;
    writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .and_then(|mut target| {
            target.flush()?;
            Ok(target)
        })
}

fn write_file(
    path: &Path,
    produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // A link stays a link: its target is what gets replaced.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let device = OpenOptions::new().write(true).open(&path)?;
            forgive_closed_pipe(write_buffered(device, produce).map(drop))
        }
        Ok(found) if found.permissions().readonly() => Err(io::ErrorKind::PermissionDenied.into()),
        Ok(found) => replace_file(&path, Some(found.permissions()), produce),
        Err(_) => replace_file(&path, None, produce),
    }
}

fn replace_file(
    path: &Path,
    permissions: Option<Permissions>,
    produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cssc-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What an ordinary new file gets: the user's mask is taken off.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let temporary = write_buffered(builder.tempfile_in(directory)?, produce)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    // The new name itself should survive a power cut; not every system can do that, hence no complaint.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "Create its directory first, or choose another place.",
        io::ErrorKind::IsADirectory => "Give the name of a file inside it.",
        io::ErrorKind::StorageFull => "Free some space, or choose another place.",
        _ => "Check that you may write there, or choose another place.",
    };
    Failure::new(format!(
        "cannot write the result to {}: {error}. Nothing was changed there. {advice}",
        path.display()
    ))
}
