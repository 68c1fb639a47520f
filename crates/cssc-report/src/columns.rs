//! The numbers of the page in as few bytes as can be seen.
//!
//! A column is a start and multiples of a step: start + n·step. Times get the power of two that brings the whole series
//! into 32 bits, so that whole seconds stay whole; values the power of ten that cuts what is usual in the
//! column into at least ten thousand parts: more than a screen has, and decimals of a sensor stay what they are. Differences
//! of neighbouring n are small; written with all lowest bytes first, then the next, and deflated, most of them take less
//! than two bytes. Equal columns, like the times that channels share, are stored once.
//!
//! ```text
//! n = 5, 7, none, 6   →   differences 5, +2, none, -1   →   zigzag 10, 4, 2³²-1, 1   →   planes of bytes   →   deflate
//! ```

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;

/// Stands for a number that is not known.
const UNKNOWN: u32 = u32::MAX;
/// Parts into which the usual values of a column are cut, at least; ten times as many at most.
const PARTS: f64 = 10_000.0;

/// Where a column begins in the packed bytes, and what its integers mean.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    start: f64,
    step: f64,
    /// Place of its first byte; it has four bytes a number.
    at: usize,
    count: usize,
}

/// A place in the list of columns.
pub(crate) type Place = usize;

/// The columns so far, and where each of them is.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    bytes: Vec<u8>,
    places: HashMap<(u64, u64, Vec<u8>), Place>,
}

impl Columns {
    /// Keeps times, in multiples of a step that is the same for all times from `first` to `last`.
    pub(crate) fn times(&mut self, times: &[f64], (first, last): (f64, f64)) -> Place {
        let parts = f64::from(UNKNOWN - 1);
        let step = ((last - first) / parts).log2().ceil().exp2();
        let step = if step > 0.0 && step.is_finite() {
            step
        } else {
            1.0
        };
        self.keep(times, first, step)
    }

    /// Keeps values; NaN is not known.
    pub(crate) fn values(&mut self, values: &[f64]) -> Place {
        let mut known: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        known.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| known[(part * (known.len() - 1) as f64).round() as usize];
        if known.is_empty() || at(0.0) == at(1.0) {
            return self.keep(values, known.first().copied().unwrap_or(0.0), 1.0);
        }
        // What is usual, or everything where nearly all values are equal.
        let usual = match at(0.99) - at(0.01) {
            usual if usual > 0.0 => usual,
            _ => at(1.0) / 2.0 - at(0.0) / 2.0,
        };
        let whole = (at(1.0) / 2.0 - at(0.0) / 2.0) / (f64::from(UNKNOWN) / 8.0);
        let step = power_of_ten((usual / PARTS).max(whole));
        let start = (at(0.0) / step).floor() * step;
        if !(start.is_finite() && step > 0.0) {
            return self.keep(values, at(0.0), (usual / PARTS).max(whole));
        }
        self.keep(values, start, step)
    }

    fn keep(&mut self, numbers: &[f64], start: f64, step: f64) -> Place {
        let (mut packed, mut before) = (Vec::with_capacity(numbers.len()), 0_i64);
        for number in numbers {
            let n = ((number - start) / step).round();
            // Infinite numbers are not known either; all others fit by the choice of the step.
            if !n.is_finite() || n.abs() >= f64::from(UNKNOWN) {
                packed.push(UNKNOWN);
                continue;
            }
            let change = n as i64 - before;
            before = n as i64;
            packed.push(zigzag(change));
        }
        let planes = (0..4).flat_map(|plane| packed.iter().map(move |n| n.to_le_bytes()[plane]));
        let bytes: Vec<u8> = planes.collect();
        let key = (start.to_bits(), step.to_bits(), bytes);
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        self.columns.push(Column {
            start,
            step,
            at: self.bytes.len(),
            count: numbers.len(),
        });
        self.bytes.extend_from_slice(&key.2);
        self.places.insert(key, self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// The list of columns, and their bytes as text.
    pub(crate) fn finish(self) -> std::io::Result<(Vec<Column>, String)> {
        let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(&self.bytes)?;
        Ok((self.columns, base64(&deflated.finish()?)))
    }
}

/// Signed to unsigned, small to small. A change that does not fit is as good as not known.
fn zigzag(change: i64) -> u32 {
    u32::try_from(change << 1 ^ change >> 63).unwrap_or(UNKNOWN)
}

/// The largest power of ten that is not above `number`.
fn power_of_ten(number: f64) -> f64 {
    format!("1e{}", number.log10().floor())
        .parse()
        .unwrap_or(number)
}

/// RFC 4648, section 4.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let known = digit <= three.len();
            let index = (bits >> (18 - 6 * digit)) as usize % 64;
            text.push(if known {
                char::from(DIGITS[index])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn small_changes_become_small_numbers() {
        assert_eq!([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
        assert_eq!(zigzag(1 << 40), UNKNOWN);
    }

    #[test]
    fn steps_are_powers_of_ten_and_decimals_stay() {
        let mut columns = Columns::default();
        columns.values(&[20.1, 20.4, 21.7, -200.0]);
        assert!(
            [1e-3, 1e-2].contains(&columns.columns[0].step),
            "{columns:?}"
        );
        columns.values(&[5.0, 5.0]);
        assert_eq!(
            (columns.columns[1].start, columns.columns[1].step),
            (5.0, 1.0)
        );
        columns.times(&[0.0, 3600.0], (0.0, 31_536_000.0));
        assert_eq!(
            columns.columns[2].step, 0.0078125,
            "whole seconds stay whole"
        );
    }
}
