//! Kinds of table files and their compression, told by the ending or by the first bytes.
use std::path::Path;

/// A kind of table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Text with a separator (found by looking, unless given).
    Csv,
    /// Text separated by tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC (Feather), file or stream.
    Arrow,
    /// A NumPy archive.
    Npz,
}

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
    pub fn of_bytes(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl Format {
    /// By the first bytes after decompression; whatever is not known is text.
    pub fn of_bytes(start: &[u8]) -> Self {
        match start {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Self::Arrow,
            // A stream begins with a continuation mark and the length of the schema.
            [0xff, 0xff, 0xff, 0xff, ..] => Self::Arrow,
            [b'P', b'K', 3, 4, ..] => Self::Npz,
            _ => Self::Csv,
        }
    }
}

/// Format and compression by the ending of a name, such as `.csv`, `.tsv.gz`, `.parquet`,
/// `.arrow`, `.feather`, `.ipc`, `.npz`; `None` for the format when it says nothing.
pub fn by_ending(path: &Path) -> (Option<Format>, Compression) {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let (stem, compression) = match () {
        () if name.ends_with(".gz") => (name.trim_end_matches(".gz"), Compression::Gzip),
        () if name.ends_with(".zst") => (name.trim_end_matches(".zst"), Compression::Zstd),
        () => (name.as_str(), Compression::None),
    };
    let format = match stem.rsplit('.').next() {
        Some("csv" | "txt") => Some(Format::Csv),
        Some("tsv" | "tab") => Some(Format::Tsv),
        Some("parquet" | "pq") => Some(Format::Parquet),
        Some("arrow" | "feather" | "ipc" | "arrows") => Some(Format::Arrow),
        Some("npz") => Some(Format::Npz),
        _ => None,
    };
    (format, compression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_format_and_compression() {
        let of = |name: &str| by_ending(Path::new(name));
        assert_eq!(of("a.csv"), (Some(Format::Csv), Compression::None));
        assert_eq!(
            of("dir.parquet/a.TSV.gz"),
            (Some(Format::Tsv), Compression::Gzip)
        );
        assert_eq!(of("a.csv.zst"), (Some(Format::Csv), Compression::Zstd));
        assert_eq!(of("a.feather"), (Some(Format::Arrow), Compression::None));
        assert_eq!(of("a.npz"), (Some(Format::Npz), Compression::None));
        assert_eq!(of("a.gz"), (None, Compression::Gzip));
        assert_eq!(of("-"), (None, Compression::None));
    }

    #[test]
    fn first_bytes_tell_format_and_compression() {
        assert_eq!(Format::of_bytes(b"PAR1...."), Format::Parquet);
        assert_eq!(Format::of_bytes(b"ARROW1\0\0"), Format::Arrow);
        assert_eq!(Format::of_bytes(b"PK\x03\x04"), Format::Npz);
        assert_eq!(Format::of_bytes(b"time,x\n"), Format::Csv);
        assert_eq!(Compression::of_bytes(&[0x1f, 0x8b, 8]), Compression::Gzip);
        assert_eq!(Compression::of_bytes(b"time"), Compression::None);
    }
}
