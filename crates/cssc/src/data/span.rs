//! Lengths of time as people write them: `5min`, `6h`, `1.5d`, or a plain number.

use std::str::FromStr;

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
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
    /// In the unit of a table's times: `dates` says that these are seconds. None where the length has a unit of time and
    /// the times are plain numbers.
    #[must_use]
    pub fn in_unit_of(self, dates: bool) -> Option<f64> {
        match self {
            Self::Seconds(_) if !dates => None,
            Self::Seconds(number) | Self::Plain(number) => Some(number),
        }
    }

    /// In seconds; a plain number counts as seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        match self {
            Self::Seconds(number) | Self::Plain(number) => number,
        }
    }
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
        assert_eq!(Span::Seconds(1.0).in_unit_of(false), None);
        assert_eq!(Span::Plain(1.0).in_unit_of(false), Some(1.0));
        assert_eq!(Span::Seconds(60.0).in_unit_of(true), Some(60.0));
    }
}
