//! Inputs that nobody would write: small changes of good ones, by the dozen, from a seed.

use cssc::data::Random;

/// What text readers trip over.
const WORDS: [&str; 40] = [
    "",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "-1e999",
    "1e-999",
    "-0",
    "0",
    "-1",
    "1e308",
    "9007199254740993",
    "18446744073709551616",
    "\"",
    "\"\"",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{feff}",
    "é",
    "null",
    "true",
    "[]",
    "{}",
    "[[",
    "2024-02-30",
    "2024-01-01T00:00:00Z",
    "9999-12-31 23:59:60",
    "-9999-01-01",
    "20240131",
    "2020-W53",
    "24:00",
    "+25:00",
    "NA",
    "-999",
    "1.000,5",
    "\u{1b}[2J",
];

/// Numbers that lengths, counts and offsets fear most.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 40,
    u64::MAX >> 1,
    u64::MAX,
];

/// A few changes of `input`, mostly one; `other` is another good input to take pieces of.
pub(crate) fn mutate(input: &[u8], other: &[u8], text: bool, random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let few = random.below(5);
    for _ in 0..1 + random.below(few + 1) {
        change(&mut bytes, other, text, random);
    }
    bytes.truncate(1 << 16);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], text: bool, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let rest = bytes.len() - at;
    let length = random.below(rest.min(32) + 1);
    match random.below(if text { 9 } else { 8 }) {
        0 if rest > 0 => bytes[at] ^= 1 << random.below(8),
        1 if rest > 0 => bytes[at] = random.below(256) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at + length)),
        // A piece again, once or many times.
        4 => {
            let piece = bytes[at..at + length].to_vec();
            let times = if random.below(8) == 0 { 100 } else { 1 };
            bytes.splice(at..at, piece.repeat(times));
        }
        5 => number(bytes, at, random),
        6 if !other.is_empty() => {
            let from = random.below(other.len());
            let to = (from + 1 + random.below(64)).min(other.len());
            bytes.splice(at..at + length, other[from..to].iter().copied());
        }
        7 => {
            let noise: Vec<u8> = (0..random.below(8))
                .map(|_| random.below(256) as u8)
                .collect();
            bytes.splice(at..at, noise);
        }
        _ => word(bytes, at, random),
    }
}

/// A number of one to eight bytes, in either order.
fn number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let size = 1 << random.below(4);
    let number = NUMBERS[random.below(NUMBERS.len())];
    let written = match random.below(2) {
        0 => number.to_le_bytes()[..size].to_vec(),
        _ => number.to_be_bytes()[8 - size..].to_vec(),
    };
    if let Some(place) = bytes.get_mut(at..at + size) {
        place.copy_from_slice(&written);
    }
}

/// The entry at a place of a text replaced by a word.
fn word(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let ends = |byte: &u8| b",;\t\n\r:[]{} =".contains(byte);
    let start = bytes[..at]
        .iter()
        .rposition(ends)
        .map_or(0, |before| before + 1);
    let end = bytes[at..]
        .iter()
        .position(ends)
        .map_or(bytes.len(), |after| at + after);
    let word = WORDS[random.below(WORDS.len())];
    bytes.splice(start..end.max(start), word.bytes());
}
