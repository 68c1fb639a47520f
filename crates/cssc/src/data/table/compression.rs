//! Compression around a whole table, whatever its format.
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// A compression around the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// None.
    #[default]
    None,
    /// gzip, ending `.gz`.
    Gzip,
    /// Zstandard, ending `.zst`.
    Zstd,
}

impl Compression {
    /// By the first bytes.
    pub fn by_bytes(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// By the ending of a name, and the name without it, in lower case.
    pub fn by_ending(path: &Path) -> (Self, String) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        for (ending, compression) in [(".gz", Self::Gzip), (".zst", Self::Zstd)] {
            if let Some(stem) = name.strip_suffix(ending) {
                return (compression, stem.to_owned());
            }
        }
        (Self::None, name)
    }

    /// What is inside a file, from its start.
    pub(super) fn read(self, file: File) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::None => Box::new(BufReader::new(file)),
            Self::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            Self::Zstd => Box::new(zstd::Decoder::new(file)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_and_first_bytes_tell_the_compression() {
        let of = |name: &str| Compression::by_ending(Path::new(name));
        assert_eq!(of("dir.gz/a.csv"), (Compression::None, "a.csv".into()));
        assert_eq!(of("a.TSV.gz"), (Compression::Gzip, "a.tsv".into()));
        assert_eq!(of("a.csv.zst"), (Compression::Zstd, "a.csv".into()));
        let of = Compression::by_bytes;
        assert_eq!(of(&[0x1f, 0x8b, 8]), Compression::Gzip);
        assert_eq!(of(b"time"), Compression::None);
    }
}
