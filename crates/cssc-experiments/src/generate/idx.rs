//! The digit files of MNIST: `idx3-ubyte`, plain or gzip.
//!
//! ```text
//! 00 00 08 03 | images | rows | columns   (32-bit, big endian)   then one byte per pixel
//! ```
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use cssc::Error;

/// Two zero bytes, unsigned bytes (8), three dimensions.
const MAGIC: u32 = 0x0000_0803;
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Most bytes inside a compressed file; MNIST has 47 million. What is cut does not fit its header.
const MOST_BYTES: u64 = 1 << 29;

/// Grey images of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Images {
    /// Rows of an image.
    pub rows: usize,
    /// Columns of an image.
    pub columns: usize,
    pixels: Vec<u8>,
}

impl Images {
    /// Reads the one file of `directory` whose name begins with one of `starts`.
    ///
    /// # Errors
    /// If there is none, or it holds no images.
    pub fn find(directory: &Path, starts: &[&str]) -> Result<Self, Error> {
        let wanted = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains("images-idx3-ubyte") && starts.iter().any(|start| name.starts_with(start))
        };
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let path = paths.find(wanted).ok_or_else(|| {
            Error::other(format!(
                "there is no file {}*images-idx3-ubyte[.gz] in {}. Run scripts/get-mnist and give its directory with \
                 --digits",
                starts[0],
                directory.display()
            ))
        })?;
        Self::read(&path)
    }

    /// Reads a file, plain or gzip (told by its first bytes).
    ///
    /// # Errors
    /// If it cannot be read or holds no images.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = Error::reading(path);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(&failed)?;
        BufReader::new(file)
            .read_to_end(&mut bytes)
            .map_err(&failed)?;
        if bytes.starts_with(&GZIP) {
            let mut plain = Vec::new();
            MultiGzDecoder::new(&bytes[..])
                .take(MOST_BYTES)
                .read_to_end(&mut plain)
                .map_err(failed)?;
            bytes = plain;
        }
        Self::parse(&bytes).map_err(|problem| Error::content(path, problem))
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let field = |at: usize| {
            let four = bytes.get(4 * at..4 * at + 4)?;
            Some(u32::from_be_bytes(four.try_into().ok()?))
        };
        let (Some(magic), Some(images), Some(rows), Some(columns)) =
            (field(0), field(1), field(2), field(3))
        else {
            return Err("expected an idx3-ubyte header of 16 bytes".to_owned());
        };
        if magic != MAGIC {
            return Err(format!(
                "expected the idx3-ubyte mark {MAGIC:08x}, found {magic:08x}"
            ));
        }
        let [images, rows, columns] = [images, rows, columns].map(|length| length as usize);
        let pixels = bytes[16..].to_vec();
        // The product of three numbers of 32 bits need not fit into 64.
        let expected = images as u128 * rows as u128 * columns as u128;
        if images * rows.min(1) * columns.min(1) == 0 || pixels.len() as u128 != expected {
            let found = pixels.len();
            return Err(format!(
                "expected {images} images of {rows} x {columns} = {expected} bytes, found {found}"
            ));
        }
        Ok(Self {
            rows,
            columns,
            pixels,
        })
    }

    /// Number of images, at least one.
    pub fn count(&self) -> usize {
        self.pixels.len() / (self.rows * self.columns)
    }

    /// The pixels of an image, row by row.
    pub fn image(&self, number: usize) -> &[u8] {
        let size = self.rows * self.columns;
        &self.pixels[number * size..(number + 1) * size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(count: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 2, 0, 0, 0, 1];
        bytes.extend([10, 20, 30, 40]);
        bytes
    }

    #[test]
    fn images_follow_the_header_row_by_row() {
        let images = Images::parse(&file(2)).unwrap();
        assert_eq!((images.count(), images.rows, images.columns), (2, 2, 1));
        assert_eq!(images.image(1), [30, 40]);
    }

    #[test]
    fn every_broken_file_is_refused_with_the_reason() {
        let message = |bytes: &[u8]| Images::parse(bytes).unwrap_err();
        assert_eq!(
            message(&file(2)[..9]),
            "expected an idx3-ubyte header of 16 bytes"
        );
        assert_eq!(
            message(&file(3)),
            "expected 3 images of 2 x 1 = 6 bytes, found 4"
        );
        let mut labels = file(2);
        labels[3] = 1;
        assert_eq!(
            message(&labels),
            "expected the idx3-ubyte mark 00000803, found 00000801"
        );
    }
}
