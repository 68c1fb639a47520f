//! Where the bytes of a table come from: a file or standard input, plain or compressed.
//!
//! Tables are read twice (once to see whether the rows of each series stand together), and binary
//! ones from the end; so standard input, and binary tables that are compressed, are first copied
//! to a temporary file. Memory stays small.
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tempfile::TempPath;

use super::format::{Compression, Format, by_ending};
use crate::Error;

/// Bytes looked at to tell format and separator.
const SAMPLE: u64 = 64 * 1024;

/// Bytes that can be read again and again.
pub(super) struct Source {
    /// As the user named it; `-` is standard input.
    pub(super) name: PathBuf,
    /// The start of the table, decompressed.
    pub(super) sample: Vec<u8>,
    pub(super) format: Format,
    path: PathBuf,
    compression: Compression,
    /// Removes the copy when dropped.
    copy: Option<TempPath>,
}

impl Source {
    pub(super) fn open(name: &Path, format: Option<Format>) -> Result<Self, Error> {
        let failed = Error::reading(name);
        let mut source = Self {
            name: name.to_owned(),
            sample: Vec::new(),
            format: Format::Csv,
            path: name.to_owned(),
            compression: Compression::None,
            copy: None,
        };
        if name == Path::new("-") {
            source.keep_copy(io::stdin().lock()).map_err(&failed)?;
        }
        source.look(format).map_err(&failed)?;
        if source.format.is_binary() && source.compression != Compression::None {
            let plain = source.bytes().map_err(&failed)?;
            source.keep_copy(plain).map_err(failed)?;
            source.compression = Compression::None;
        }
        Ok(source)
    }

    /// Tells compression and format, the latter by the user's word, the ending, or the bytes.
    fn look(&mut self, format: Option<Format>) -> io::Result<()> {
        let mut start = Vec::new();
        File::open(&self.path)?.take(4).read_to_end(&mut start)?;
        self.compression = Compression::of_bytes(&start);
        let mut sample = Vec::new();
        self.bytes()?.take(SAMPLE).read_to_end(&mut sample)?;
        self.format = format
            .or(by_ending(&self.name).0)
            .unwrap_or_else(|| Format::of_bytes(&sample));
        self.sample = sample;
        Ok(())
    }

    fn keep_copy(&mut self, mut from: impl Read) -> io::Result<()> {
        let mut copy = tempfile::NamedTempFile::new()?;
        io::copy(&mut from, copy.as_file_mut())?;
        let copy = copy.into_temp_path();
        self.path = copy.to_path_buf();
        self.copy = Some(copy);
        Ok(())
    }

    /// All bytes from the start, decompressed.
    pub(super) fn bytes(&self) -> io::Result<Box<dyn Read + Send>> {
        let file = File::open(&self.path)?;
        Ok(match self.compression {
            Compression::None => Box::new(BufReader::new(file)),
            Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            Compression::Zstd => Box::new(zstd::Decoder::new(file)?),
        })
    }

    /// A file without compression, for binary tables.
    pub(super) fn plain_path(&self) -> &Path {
        &self.path
    }
}

impl Format {
    pub(super) fn is_binary(self) -> bool {
        !matches!(self, Self::Csv | Self::Tsv)
    }
}
