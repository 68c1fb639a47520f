//! People's own tables. One program, since each one links the
//! whole of Arrow.
#![cfg(feature = "tables")]
#![allow(clippy::unwrap_used)] // a test may panic
use std::path::{Path, PathBuf};

mod table_writing;
mod tables;

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}
