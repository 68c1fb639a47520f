//! Where the bytes of a table come from: a file or a stream, plain or compressed.
//!
//! Tables are read twice (once to see whether the rows of each series stand together), and binary
//! ones from the end; so what can be read only once (standard input, pipes), and binary tables that
//! are compressed, are first copied to a temporary file. Memory stays small.
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::{NamedTempFile, TempPath};

use super::compression::Compression;
use crate::Error;

/// Bytes looked at to tell format and separator.
const SAMPLE: u64 = 64 * 1024;

/// Bytes that can be read again and again.
#[derive(Debug)]
pub struct Input {
    name: PathBuf,
    start: Vec<u8>,
    path: PathBuf,
    compression: Compression,
    /// Removes the copy when dropped.
    _copy: Option<TempPath>,
    /// What is inside a compressed file, once it is asked for.
    plain: OnceLock<TempPath>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(name: &Path) -> Result<Self, Error> {
        Self::look(name).map_err(Error::reading(name))
    }

    fn look(name: &Path) -> io::Result<Self> {
        let copy = if name == Path::new("-") {
            Some(copy_of(io::stdin().lock())?)
        } else if !std::fs::metadata(name)?.is_file() {
            // A pipe can be read only once.
            Some(copy_of(File::open(name)?)?)
        } else {
            None
        };
        let path = copy.as_ref().map_or(name, |copy| copy).to_owned();
        let mut magic = Vec::new();
        File::open(&path)?.take(4).read_to_end(&mut magic)?;
        let mut input = Self {
            name: name.to_owned(),
            start: Vec::new(),
            path,
            compression: Compression::by_bytes(&magic),
            _copy: copy,
            plain: OnceLock::new(),
        };
        let mut start = Vec::new();
        input.bytes()?.take(SAMPLE).read_to_end(&mut start)?;
        input.start = start;
        Ok(input)
    }

    /// As the user named it; `-` is standard input.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The start of the table, decompressed: 64 KiB, or all of it.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// All bytes from the start, decompressed.
    ///
    /// # Errors
    /// If it cannot be read any more.
    pub fn read(&self) -> Result<Box<dyn Read + Send>, Error> {
        self.bytes().map_err(Error::reading(&self.name))
    }

    fn bytes(&self) -> io::Result<Box<dyn Read + Send>> {
        self.compression.read(File::open(&self.path)?)
    }

    /// Bytes of [`Input::file`].
    ///
    /// # Errors
    /// If it cannot be read any more.
    pub fn size(&self) -> Result<u64, Error> {
        let size = self.file()?.metadata().map(|found| found.len());
        size.map_err(Error::reading(&self.name))
    }

    /// Bytes that are stored, before decompression.
    pub(super) fn stored_size(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |found| found.len())
    }

    /// A file without compression, for formats that are not read from the start.
    ///
    /// # Errors
    /// If it cannot be read any more, or there is no space for what was compressed.
    pub fn file(&self) -> Result<File, Error> {
        let failed = Error::reading(&self.name);
        if self.compression == Compression::None {
            return File::open(&self.path).map_err(failed);
        }
        if self.plain.get().is_none() {
            let plain = self.bytes().and_then(copy_of).map_err(&failed)?;
            let _ = self.plain.set(plain);
        }
        let plain = self.plain.get().expect("it was just made");
        File::open(plain).map_err(failed)
    }
}

fn copy_of(mut from: impl Read) -> io::Result<TempPath> {
    let mut copy = NamedTempFile::new()?;
    io::copy(&mut from, copy.as_file_mut())?;
    Ok(copy.into_temp_path())
}
