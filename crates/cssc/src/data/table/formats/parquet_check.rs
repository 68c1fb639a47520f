//! Checks the lengths in a Parquet file before they are believed.
//!
//! ```text
//! file:    PAR1, columns of every group of rows .. footer, length of the footer, PAR1
//! column:  (head of a page, page)*
//! head:    1: kind, 2: bytes once unpacked, 3: bytes in the file, and more (Thrift's compact form)
//! ```
//!
//! The reader allocates what the head of a page says before it unpacks the page, up to two gigabytes, so
//! that a file of a kilobyte can ask for them. Here every column and page must lie inside the file, and what
//! a page says it will be must be within limits. Only heads are read: some bytes of each page.
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::super::guard::{Limits, Refusal};

/// Structures inside structures of a head; the format has three.
const DEEPEST: usize = 16;
/// Fields or elements of one structure of a head.
const MOST_ELEMENTS: u64 = 1 << 16;

pub(super) struct Checker {
    bytes: BufReader<File>,
    at: u64,
    size: u64,
    limits: Limits,
}

type Checked<T> = Result<T, Refusal>;

impl Checker {
    pub(super) fn new(file: File, size: u64, limits: Limits) -> Self {
        Self {
            bytes: BufReader::with_capacity(256, file),
            at: 0,
            size,
            limits,
        }
    }

    /// Every page of every column.
    pub(super) fn check(&mut self, footer: &ParquetMetaData) -> Checked<()> {
        let groups = footer.row_groups().iter();
        for column in groups.flat_map(|group| group.columns()) {
            self.check_column(column).map_err(|refusal| {
                let name = column.column_descr().name();
                match refusal {
                    Refusal::Damaged(text) => Refusal::Damaged(format!("column `{name}` {text}")),
                    Refusal::TooLarge(text) => Refusal::TooLarge(format!("column `{name}` {text}")),
                }
            })?;
        }
        Ok(())
    }

    fn check_column(&mut self, column: &ColumnChunkMetaData) -> Checked<()> {
        // The reader begins with the dictionary, where there is one.
        let start = column.dictionary_page_offset();
        let start = start.unwrap_or(column.data_page_offset());
        let place = u64::try_from(start)
            .ok()
            .zip(u64::try_from(column.compressed_size()).ok());
        let place = place.map(|(start, length)| start..start.saturating_add(length));
        let place = place.filter(|place| place.end <= self.size);
        let place = place.ok_or("lies outside of the file")?;
        self.seek(place.start)?;
        while self.at < place.end {
            let page = self.page_head()?;
            // Also beyond what the footer tells of the column: some writers count its bytes without heads.
            if page.packed > self.size - self.at {
                return Err(format!(
                    "has a page of {} bytes, and the file has {} behind its head",
                    page.packed,
                    self.size - self.at
                )
                .into());
            }
            if page.unpacked > self.limits.piece {
                return Err(Refusal::TooLarge(format!(
                    "has a page that takes {} bytes, and {} are allowed",
                    page.unpacked, self.limits.piece
                )));
            }
            self.seek(self.at + page.packed)?;
        }
        Ok(())
    }

    fn page_head(&mut self) -> Checked<PageHead> {
        let (mut id, mut unpacked, mut packed) = (0, None, None);
        while let Some((field, kind)) = self.field(id)? {
            id = field;
            match (field, kind) {
                (2, INT32) => unpacked = Some(self.integer()?),
                (3, INT32) => packed = Some(self.integer()?),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        let length = |length: Option<i64>| {
            let length = length.ok_or("has a page that does not tell its length")?;
            u64::try_from(length).map_err(|_| "has a page of a negative length")
        };
        Ok(PageHead {
            unpacked: length(unpacked)?,
            packed: length(packed)?,
        })
    }

    /// Number and type of the next field of a structure; none at its end.
    fn field(&mut self, before: i64) -> Checked<Option<(i64, u8)>> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 0x0f);
        Ok(match (kind, step) {
            (STOP, _) => None,
            (_, 0) => Some((self.integer()?, kind)),
            _ => Some((before.saturating_add(i64::from(step)), kind)),
        })
    }

    fn skip(&mut self, kind: u8, deep: usize) -> Checked<()> {
        let deeper = || {
            deep.checked_sub(1)
                .ok_or("has a page whose head has no end")
        };
        match kind {
            // A field's value is in its type; elements of lists are skipped with a byte each by the caller.
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(|_| ()),
            INT16 | INT32 | INT64 => self.varint().map(|_| ()),
            DOUBLE => self.seek(self.at.saturating_add(8)),
            BINARY => {
                let length = self.varint()?;
                self.seek(self.at.saturating_add(length))
            }
            LIST | SET => {
                let head = self.byte()?;
                let (kind, deeper) = (head & 0x0f, deeper()?);
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                self.skip_elements(&[kind], count, deeper)
            }
            MAP => {
                let (count, deeper) = (self.varint()?, deeper()?);
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                self.skip_elements(&[kinds >> 4, kinds & 0x0f], count, deeper)
            }
            STRUCT => {
                let (mut id, deeper) = (0, deeper()?);
                while let Some((field, kind)) = self.field(id)? {
                    id = field;
                    self.skip(kind, deeper)?;
                }
                Ok(())
            }
            _ => Err(format!("has a page whose head has a field of unknown type {kind}").into()),
        }
    }

    fn skip_elements(&mut self, kinds: &[u8], count: u64, deep: usize) -> Checked<()> {
        if count > MOST_ELEMENTS {
            return Err(format!("has a page whose head has a list of {count}").into());
        }
        for _ in 0..count {
            for &kind in kinds {
                match kind {
                    TRUE | FALSE => self.byte().map(|_| ())?,
                    kind => self.skip(kind, deep)?,
                }
            }
        }
        Ok(())
    }

    /// A signed integer: 0, -1, 1, -2, … are 0, 1, 2, 3, ….
    fn integer(&mut self) -> Checked<i64> {
        let n = self.varint()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self) -> Checked<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err("has a page whose head has a number without end".into())
    }

    fn byte(&mut self) -> Checked<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).map_err(cut_off)?;
        self.at += 1;
        Ok(byte[0])
    }

    fn seek(&mut self, to: u64) -> Checked<()> {
        if to > self.size {
            return Err("has a page that is longer than the rest of the file".into());
        }
        // Inside what is buffered nothing is read again.
        let step = i64::try_from(to).ok().zip(i64::try_from(self.at).ok());
        let moved = match step {
            Some((to, at)) => self.bytes.seek_relative(to - at),
            None => self.bytes.seek(SeekFrom::Start(to)).map(|_| ()),
        };
        moved.map_err(cut_off)?;
        self.at = to;
        Ok(())
    }
}

struct PageHead {
    unpacked: u64,
    packed: u64,
}

fn cut_off(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "is cut off".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Types of Thrift's compact form.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const INT16: u8 = 4;
const INT32: u8 = 5;
const INT64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
