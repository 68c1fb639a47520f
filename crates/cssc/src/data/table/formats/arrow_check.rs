//! Checks the lengths in an Arrow IPC file before they are believed.
//!
//! ```text
//! stream:  (ffffffff, length of the head, head, body)*
//! file:    ARROW1 .. stream .. footer, length of the footer, ARROW1
//! ```
//!
//! The reader allocates what a length says before it reads it, so that a file of a hundred bytes
//! can ask for gigabytes. Here every length must lie inside the file, and what a compressed buffer
//! or a batch says it will be must be within limits.
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::{Message, RecordBatch, root_as_footer, root_as_message};

use super::super::guard::{Limits, Refusal};

/// Bytes of a head: it describes columns, and does not hold them.
const MOST_HEAD: u64 = 1 << 28;
/// Rows that a batch may have beside those its bytes account for: columns that hold nothing take none.
const ROWS_OF_NOTHING: u64 = 1 << 20;

pub(super) struct Checker {
    pub(super) file: File,
    pub(super) size: u64,
    pub(super) limits: Limits,
}

type Checked<T> = Result<T, Refusal>;

impl Checker {
    /// A file, by the blocks its footer lists.
    pub(super) fn check_file(&mut self) -> Checked<()> {
        let end = self.size.checked_sub(10).ok_or("the file is cut off")?;
        let tail: [u8; 10] = self.read(end)?;
        let [a, b, c, d, magic @ ..] = tail;
        if &magic != b"ARROW1" {
            return Err("the end of the file is missing; was it cut off?".into());
        }
        let length = self.length(i64::from(i32::from_le_bytes([a, b, c, d])), "the footer")?;
        let start = end
            .checked_sub(length)
            .ok_or("the footer is longer than the file")?;
        let footer = self.bytes(start, length)?;
        let footer =
            root_as_footer(&footer).map_err(|error| format!("the footer is damaged ({error})"))?;
        let blocks = footer.dictionaries().into_iter().flatten();
        let blocks = blocks.chain(footer.recordBatches().into_iter().flatten());
        for block in blocks {
            let offset = self.length(block.offset(), "a block")?;
            let head = self.length(i64::from(block.metaDataLength()), "the head of a block")?;
            let body = self.length(block.bodyLength(), "a block")?;
            if offset + head + body > self.size {
                return Err("a block lies outside of the file".into());
            }
            // The reader believes the footer about where head and body are, whatever the message says of its length.
            if head > MOST_HEAD {
                return Err(format!("the head of a block has {head} bytes").into());
            }
            let bytes = self.bytes(offset, head)?;
            let marked = bytes.starts_with(&[0xff; 4]);
            let message = bytes.get(if marked { 8 } else { 4 }..);
            let message = message.ok_or("the head of a block is too short")?;
            self.check_batch(message, offset + head, body)?;
        }
        Ok(())
    }

    /// A stream, message by message.
    pub(super) fn check_stream(&mut self) -> Checked<()> {
        let mut at = 0;
        while at + 4 <= self.size {
            match self.check_message(at)? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Where the next message of a stream begins; `None` after the last.
    fn check_message(&mut self, mut at: u64) -> Checked<Option<u64>> {
        let mut length: [u8; 4] = self.read(at)?;
        at += 4;
        if length == [0xff; 4] {
            length = self.read(at)?;
            at += 4;
        }
        let length = self.length(
            i64::from(i32::from_le_bytes(length)),
            "the head of a message",
        )?;
        if length == 0 {
            return Ok(None);
        }
        if length > MOST_HEAD {
            return Err(format!("the head of a message has {length} bytes").into());
        }
        let head = self.bytes(at, length)?;
        at += length;
        let body = self.length(parsed(&head)?.bodyLength(), "the body of a message")?;
        if at + body > self.size {
            return Err(
                format!("a message of {body} bytes is longer than the rest of the file").into(),
            );
        }
        self.check_batch(&head, at, body)?;
        Ok(Some(at + body))
    }

    /// Buffers of a batch must lie inside the body, and what they become must be within limits.
    fn check_batch(&mut self, head: &[u8], start: u64, body: u64) -> Checked<()> {
        let message = parsed(head)?;
        let Some(batch) = batch_of(&message) else {
            return Ok(());
        };
        let mut total = 0_u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let offset = self.length(buffer.offset(), "a buffer")?;
            let length = self.length(buffer.length(), "a buffer")?;
            if offset + length > body {
                return Err("a buffer lies outside of its message".into());
            }
            let whole = match batch.compression() {
                Some(_) if length >= 8 => match i64::from_le_bytes(self.read(start + offset)?) {
                    -1 => length,
                    whole => u64::try_from(whole).map_err(|_| "a buffer has a negative length")?,
                },
                _ => length,
            };
            total = total.saturating_add(whole);
        }
        if total > self.limits.piece {
            return Err(Refusal::TooLarge(format!(
                "a batch of rows takes {total} bytes, and {} are allowed",
                self.limits.piece
            )));
        }
        let rows =
            u64::try_from(batch.length()).map_err(|_| "a batch has a negative number of rows")?;
        // A row takes at least a bit, unless nothing but holes is in it.
        if rows > total.saturating_mul(8).saturating_add(ROWS_OF_NOTHING) {
            return Err(format!("a batch says it has {rows} rows in {total} bytes").into());
        }
        Ok(())
    }

    /// A length that is not negative and not beyond the file.
    fn length(&self, length: i64, what: &str) -> Checked<u64> {
        match u64::try_from(length) {
            Ok(length) if length <= self.size => Ok(length),
            _ => Err(format!(
                "{what} is said to have {length} bytes, the file has {}",
                self.size
            )
            .into()),
        }
    }

    fn read<const N: usize>(&mut self, at: u64) -> Checked<[u8; N]> {
        let mut bytes = [0; N];
        let read = self.file.seek(SeekFrom::Start(at));
        read.and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(cut_off)?;
        Ok(bytes)
    }

    fn bytes(&mut self, at: u64, length: u64) -> Checked<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).map_err(|error| error.to_string())?];
        let read = self.file.seek(SeekFrom::Start(at));
        read.and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(cut_off)?;
        Ok(bytes)
    }
}

fn cut_off(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file is cut off".to_owned(),
        _ => error.to_string(),
    }
}

fn parsed(head: &[u8]) -> Checked<Message<'_>> {
    root_as_message(head).map_err(|error| format!("a message is damaged ({error})").into())
}

fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    let dictionary = message
        .header_as_dictionary_batch()
        .and_then(|batch| batch.data());
    message.header_as_record_batch().or(dictionary)
}
