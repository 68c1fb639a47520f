//! Data: frozen sets and generators. One program, since each one links the whole of Arrow.
#![allow(clippy::unwrap_used)] // a test may panic
use std::path::{Path, PathBuf};

mod generators;
mod hopper;
mod plain_rows;

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}
