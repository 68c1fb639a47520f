//! Files that are either whole or not there.

use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `path` so that a reader, or a machine that loses its power, sees the old
/// file or the new one and nothing between: temporary file beside it, flushed to the disk,
/// then renamed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    // The rename itself reaches the disk with the directory; not every system can do this.
    if let Ok(handle) = std::fs::File::open(directory) {
        let _ = handle.sync_all();
    }
    Ok(())
}
