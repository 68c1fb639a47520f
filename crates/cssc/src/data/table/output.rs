//! Where the bytes of a table go: a file or standard output, plain or compressed.
//!
//! A file appears under its name only when it is complete: until then it is a temporary file
//! beside it. So a table can be written over the one it is read from, and an error leaves it alone.
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use tempfile::{NamedTempFile, TempPath};

use super::format::Compression;

/// Level of Zstandard: its own default.
const ZSTD_LEVEL: i32 = 0;

/// An output that is finished explicitly.
pub(crate) struct Output {
    encoder: Encoder,
    /// The temporary file and the name it gets.
    file: Option<(TempPath, PathBuf)>,
}

enum Target {
    File(File),
    Stdout(io::Stdout),
}

enum Encoder {
    Plain(BufWriter<Target>),
    Gzip(GzEncoder<BufWriter<Target>>),
    Zstd(zstd::Encoder<'static, BufWriter<Target>>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

impl Output {
    /// Opens a file, or standard output for `-`. Devices and pipes are written to directly.
    pub(crate) fn create(path: &Path, compression: Compression) -> io::Result<Self> {
        // A link stays a link: its target is what gets replaced.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (target, file) = match std::fs::metadata(&path) {
            _ if path == Path::new("-") => (Target::Stdout(io::stdout()), None),
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => (
                Target::File(OpenOptions::new().write(true).open(&path)?),
                None,
            ),
            _ => {
                let (file, temporary) = temporary_beside(&path)?.into_parts();
                (Target::File(file), Some((temporary, path)))
            }
        };
        let target = BufWriter::new(target);
        let encoder = match compression {
            Compression::None => Encoder::Plain(target),
            Compression::Gzip => {
                Encoder::Gzip(GzEncoder::new(target, flate2::Compression::default()))
            }
            Compression::Zstd => Encoder::Zstd(zstd::Encoder::new(target, ZSTD_LEVEL)?),
        };
        Ok(Self { encoder, file })
    }

    /// Writes what is left and gives the file its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        let mut target = match self.encoder {
            Encoder::Plain(target) => target,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        target.flush()?;
        let Some((temporary, path)) = self.file else {
            return Ok(());
        };
        if let Target::File(file) = target.get_ref() {
            file.sync_all()?;
        }
        temporary.persist(path).map_err(|error| error.error)
    }
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cssc-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What an ordinary new file gets: the user's mask is taken off.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory.unwrap_or(Path::new(".")))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(target) => target.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(target) => target.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
        }
    }
}
