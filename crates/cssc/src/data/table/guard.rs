//! Protection against files that are damaged, or made to do harm.
//!
//! Three lines of defence: formats check lengths before they allocate ([`Limits`]); what readers of
//! other people read is validated by them; and should one of them panic all the same, the panic stops
//! here and becomes an error with the name of the file.
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::formats::{Block, Blocks};
use crate::Error;
use crate::error::{Hint, Place, Problem};

/// What a batch or an entry may take of memory, if the user gives no limit.
const MOST: u64 = 1 << 30;
/// What it may take in any case.
const LEAST: u64 = 1 << 26;
/// How many times its size a file may take in one piece. Columns of equal values are compressed a
/// thousand times; a file made to do harm a million times.
const MOST_EXPANSION: u64 = 4096;

/// Bytes that a piece of a table may take in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// A batch of rows, or one entry.
    pub(super) piece: u64,
}

impl Limits {
    /// For a file of `size` bytes.
    pub(super) fn new(size: u64, max_memory: Option<u64>) -> Self {
        let expanded = size.saturating_mul(MOST_EXPANSION).max(LEAST);
        Self {
            piece: max_memory.unwrap_or(MOST).min(expanded),
        }
    }
}

/// Why a file is not read.
pub(super) enum Refusal {
    /// Its bytes contradict each other, or the format.
    Damaged(String),
    /// It would take more memory than is allowed.
    TooLarge(String),
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(problem: T) -> Self {
        Self::Damaged(problem.into())
    }
}

impl Refusal {
    /// What the user is told about `file`.
    pub(super) fn about(self, file: &Path) -> Error {
        Place::file(file).problem(match self {
            Self::TooLarge(text) => Problem::new(text, Hint::Memory),
            Self::Damaged(text) => {
                format!("the file is damaged or not of this format: {text}").into()
            }
        })
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a reader of foreign bytes, whose panics become errors: a panic hook
/// need not tell of them.
pub fn panics_are_errors() -> bool {
    GUARDED.get()
}

/// Runs `read`, and makes a panic inside it an error.
pub(super) fn guarded<T>(file: &Path, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(before);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no reason was given");
        Err(Place::file(file).error(format!("the file is damaged: its reader gave up ({text})")))
    })
}

/// Blocks whose reader may panic; after an error there are no more.
pub(super) fn guarded_blocks(file: &Path, mut blocks: Blocks) -> Blocks {
    let (file, mut failed) = (file.to_owned(), false);
    Box::new(std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let next: Option<Result<Block, Error>> =
            guarded(&file, || blocks.next().transpose()).transpose();
        failed = matches!(next, Some(Err(_)));
        next
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_get_little_and_the_user_has_the_last_word() {
        assert_eq!(Limits::new(108, None).piece, LEAST);
        assert_eq!(Limits::new(1 << 30, None).piece, MOST);
        assert_eq!(Limits::new(1 << 30, Some(1 << 34)).piece, 1 << 34);
        assert_eq!(Limits::new(1 << 30, Some(1000)).piece, 1000);
    }

    #[test]
    fn a_panic_is_an_error_that_names_the_file() {
        let result: Result<(), Error> = guarded(Path::new("a.arrow"), || {
            assert!(panics_are_errors());
            panic!("a buffer")
        });
        assert_eq!(
            result.unwrap_err().to_string(),
            "a.arrow: the file is damaged: its reader gave up (a buffer)"
        );
        assert!(!panics_are_errors());
    }
}
