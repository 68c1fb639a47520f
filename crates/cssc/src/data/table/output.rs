//! Where the bytes of a table go: a file or standard output, plain or compressed.
//!
//! A file appears under its name only when it is complete: until then it is a temporary file
//! beside it. So a table can be written over the one it is read from, and an error leaves it alone.
use std::fs::File;
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
    /// Opens a file, or standard output for `-`.
    pub(crate) fn create(path: &Path, compression: Compression) -> io::Result<Self> {
        let (target, file) = if path == Path::new("-") {
            (Target::Stdout(io::stdout()), None)
        } else {
            let directory = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            let temporary = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
            let (file, temporary) = temporary.into_parts();
            (Target::File(file), Some((temporary, path.to_owned())))
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
        allow_reading(&temporary)?;
        temporary.persist(path).map_err(|error| error.error)
    }
}

/// Temporary files are private; a finished table gets the usual permissions.
#[cfg(unix)]
fn allow_reading(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_path: &Path) -> io::Result<()> {
    Ok(())
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
