//! Lengths of time as people write them: `5min`, `6h`, `1.5d`, or a plain number.

use crate::failure::Failure;
use std::str::FromStr;

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Span {
    /// In seconds.
    Seconds(f64),
    /// In the unit of the table's times.
    Plain(f64),
}

const UNITS: [(&str, f64); 16] = [
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("minute", 60.0),
    ("minutes", 60.0),
    ("h", 3600.0),
    ("hour", 3600.0),
    ("hours", 3600.0),
    ("d", 86_400.0),
    ("day", 86_400.0),
    ("days", 86_400.0),
    ("w", 604_800.0),
];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = text[..text.len() - unit.len()].parse::<f64>();
        let unit = unit.trim();
        let factor = UNITS.iter().find(|(name, _)| *name == unit);
        match (number, factor) {
            (Ok(number), _) if !(number > 0.0 && number.is_finite()) => {
                Err("give a length above 0".to_owned())
            }
            (Ok(number), None) if unit.is_empty() => Ok(Self::Plain(number)),
            (Ok(number), Some((_, factor))) => Ok(Self::Seconds(number * factor)),
            _ => Err("give a number with a unit, such as 90s, 5min, 6h or 1d".to_owned()),
        }
    }
}

impl Span {
    /// In the unit of the table's times; `dates` says that these are seconds.
    pub(crate) fn in_table(self, dates: bool, flag: &str) -> Result<f64, Failure> {
        match self {
            Self::Plain(number) => Ok(number),
            Self::Seconds(seconds) if dates => Ok(seconds),
            Self::Seconds(_) => Err(Failure::new(format!(
                "{flag} has a unit of time, but the times of the table are plain numbers. Give a plain number in \
                 their unit, or say what they are with --time-format (epoch-seconds, epoch-milliseconds)."
            ))),
        }
    }

    /// In seconds; a plain number counts as seconds.
    pub(crate) fn seconds(self) -> f64 {
        match self {
            Self::Seconds(number) | Self::Plain(number) => number,
        }
    }
}

/// A length in the unit of the table's times, for people.
pub(crate) fn readable(length: f64, dates: bool) -> String {
    if !dates {
        return short(length);
    }
    let units = [
        ("d", 86_400.0),
        ("h", 3600.0),
        ("min", 60.0),
        ("s", 1.0),
        ("ms", 1e-3),
    ];
    let (name, factor) = units
        .into_iter()
        .find(|(_, factor)| length >= *factor * 0.999)
        .unwrap_or(("s", 1.0));
    format!("{} {name}", short(length / factor))
}

/// Three digits, without zeros at the end; very large and very small numbers with their power of ten.
pub(crate) fn short(number: f64) -> String {
    let rounded = format!("{number:.2e}").parse::<f64>().unwrap_or(number);
    let size = rounded.abs();
    if size.is_finite() && size != 0.0 && !(1e-5..1e9).contains(&size) {
        return format!("{rounded:e}");
    }
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_with_and_without_unit() {
        assert_eq!("5min".parse(), Ok(Span::Seconds(300.0)));
        assert_eq!("1.5 h".parse(), Ok(Span::Seconds(5400.0)));
        assert_eq!("250ms".parse(), Ok(Span::Seconds(0.25)));
        assert_eq!("0.5".parse(), Ok(Span::Plain(0.5)));
        for wrong in ["", "min", "5 parsecs", "-1h", "0", "1h30"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
        assert!(Span::Seconds(1.0).in_table(false, "--every").is_err());
        assert_eq!(readable(5400.0, true), "1.5 h");
        assert_eq!(readable(300.0, true), "5 min");
        assert_eq!(readable(0.25, false), "0.25");
        assert_eq!(short(1.2345e300), "1.23e300");
        assert_eq!(short(2.5e-7), "2.5e-7");
        assert_eq!(
            [0.0, 0.000_696, 12_345.0].map(short),
            ["0", "0.000696", "12300"]
        );
    }
}
