//! Numbers in text: decimal point or comma, and what counts as missing.

/// Entries that always mean missing, in lower case.
const MISSING: [&str; 6] = ["", "nan", "na", "n/a", "null", "none"];

/// Numbers of this size are written without an exponent, as other tools do it.
const PLAIN: std::ops::Range<f64> = 1e-5..1e16;

/// How the numbers of a table are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NumberRules {
    decimal_comma: bool,
    missing_texts: Vec<String>,
    missing_numbers: Vec<f64>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// A finite number.
    Number(f64),
    /// A hole.
    Missing,
    /// Anything else.
    Text,
}

impl NumberRules {
    /// `missing` are the user's own marks.
    pub fn new(decimal_comma: bool, missing: &[String]) -> Self {
        let mut rules = Self {
            decimal_comma,
            ..Self::default()
        };
        for mark in missing {
            match rules
                .parse(mark.trim())
                .or_else(|| mark.trim().parse().ok())
            {
                Some(number) => rules.missing_numbers.push(number),
                None => rules.missing_texts.push(mark.trim().to_owned()),
            }
        }
        rules
    }

    /// The integer that a text means, without the rounding of a double; `None` if it is none.
    pub(super) fn integer(&self, text: &str) -> Option<i128> {
        text.trim().parse().ok()
    }

    fn parse(&self, text: &str) -> Option<f64> {
        let number: f64 = if self.decimal_comma {
            text.replace(',', ".").parse().ok()?
        } else {
            text.parse().ok()?
        };
        number.is_finite().then_some(number)
    }

    /// What the text is.
    pub fn entry(&self, text: &str) -> Entry {
        let text = text.trim();
        if let Some(number) = self.parse(text) {
            return if self.is_sentinel(number) {
                Entry::Missing
            } else {
                Entry::Number(number)
            };
        }
        let known = MISSING.iter().any(|mark| text.eq_ignore_ascii_case(mark));
        if known || self.missing_texts.iter().any(|mark| mark == text) {
            return Entry::Missing;
        }
        Entry::Text
    }

    /// Whether the user said that this number means missing.
    pub fn is_sentinel(&self, number: f64) -> bool {
        self.missing_numbers.contains(&number)
    }

    /// The number as text: the shortest that reads back the same. Very large and very small ones
    /// have an exponent.
    pub fn write(&self, number: f64) -> String {
        let plain = number == 0.0 || PLAIN.contains(&number.abs());
        let text = if plain {
            number.to_string()
        } else {
            format!("{number:e}")
        };
        if self.decimal_comma {
            text.replace('.', ",")
        } else {
            text
        }
    }
}

/// Whether the entries of a sample have a decimal comma rather than a point.
pub(super) fn has_decimal_comma<'a>(entries: impl Iterator<Item = &'a str>) -> bool {
    let (point, comma) = (NumberRules::default(), NumberRules::new(true, &[]));
    let (mut points, mut commas) = (0, 0);
    for entry in entries.map(str::trim) {
        points += usize::from(entry.contains('.') && point.parse(entry).is_some());
        commas += usize::from(entry.contains(',') && comma.parse(entry).is_some());
    }
    commas > points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_marks_and_those_of_the_user_are_missing() {
        let rules = NumberRules::new(false, &["-200".into(), "broken".into()]);
        for text in [
            "", " ", "NaN", "na", "NULL", "N/A", "None", "-200", "-200.0", "broken",
        ] {
            assert_eq!(rules.entry(text), Entry::Missing, "{text:?}");
        }
        assert_eq!(rules.entry(" 1.5 "), Entry::Number(1.5));
        assert_eq!(rules.entry("1,5"), Entry::Text);
        assert_eq!(rules.entry("inf"), Entry::Text);
    }

    #[test]
    fn every_number_reads_back_as_it_was_written() {
        let rules = NumberRules::default();
        for number in [
            1_234_567_892.0,
            0.1 + 0.2,
            1e300,
            -5e-324,
            0.0,
            1e16,
            123456789.125,
        ] {
            let text = rules.write(number);
            assert_eq!(rules.entry(&text), Entry::Number(number), "{text}");
            assert!(text.len() < 25, "{text}");
        }
        assert_eq!(rules.write(1_234_567_892.0), "1234567892");
        assert_eq!(rules.write(1e300), "1e300");
    }

    #[test]
    fn a_decimal_comma_is_read_written_and_noticed() {
        let rules = NumberRules::new(true, &["-200,5".into()]);
        assert_eq!(rules.entry("2,6"), Entry::Number(2.6));
        assert_eq!(rules.entry("-200,5"), Entry::Missing);
        assert_eq!(rules.entry("1.234,5"), Entry::Text);
        assert_eq!(rules.write(-0.25), "-0,25");
        assert_eq!(rules.write(2.5e-7), "2,5e-7");
        assert!(has_decimal_comma(
            ["2,6", "10/03/2004", "18.00.00", "1360"].into_iter()
        ));
        assert!(!has_decimal_comma(["2.6", "a,b", "7"].into_iter()));
    }
}
