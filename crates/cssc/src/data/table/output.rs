//! Where the bytes of a table go: a [`WholeFile`], plain or compressed.
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use super::compression::Compression;
use crate::Error;
use crate::io::WholeFile;

/// Level of Zstandard: its own default.
const ZSTD_LEVEL: i32 = 0;

/// An output that is finished explicitly; nothing is there until then.
pub struct Output {
    path: PathBuf,
    encoder: Encoder,
}

enum Encoder {
    Plain(WholeFile),
    Gzip(GzEncoder<WholeFile>),
    Zstd(zstd::Encoder<'static, WholeFile>),
}

impl Output {
    /// Opens a file, or standard output for `-`.
    ///
    /// # Errors
    /// If the place cannot be written.
    pub fn create(path: &Path, compression: Compression) -> Result<Self, Error> {
        let failed = Error::writing(path);
        let file = WholeFile::create(path).map_err(&failed)?;
        let encoder = match compression {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => {
                Encoder::Gzip(GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Zstd => {
                Encoder::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL).map_err(failed)?)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            encoder,
        })
    }

    /// As the user named it, for messages.
    pub fn name(&self) -> &Path {
        &self.path
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        let file = match self.encoder {
            Encoder::Plain(file) => Ok(file),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        file.and_then(WholeFile::finish)
            .map_err(Error::writing(&self.path))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(file) => file.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(file) => file.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
        }
    }
}
