//! Numbers in text: decimal point or comma, signs between thousands, and what counts as missing.
use std::borrow::Cow;

/// Entries that always mean missing, in lower case.
const MISSING: [&str; 13] = [
    "", "nan", "na", "n/a", "null", "none", "#n/a", "#na", "<na>", "nat", "?", "-", "--",
];

/// Numbers of this size are written without an exponent, as other tools do it.
const PLAIN: std::ops::Range<f64> = 1e-5..1e16;

/// How the numbers of a table are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NumberRules {
    decimal_comma: bool,
    thousands: Option<char>,
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
        Self::with_thousands(decimal_comma, None, missing)
    }

    /// The same with a sign between thousands.
    pub fn with_thousands(
        decimal_comma: bool,
        thousands: Option<char>,
        missing: &[String],
    ) -> Self {
        let mut rules = Self {
            decimal_comma,
            thousands,
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
        self.ungrouped(text.trim())?.parse().ok()
    }

    /// The sign before decimals.
    pub(super) fn decimal_sign(&self) -> char {
        if self.decimal_comma { ',' } else { '.' }
    }

    /// The text without signs between thousands, which must stand where they belong.
    fn ungrouped<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let Some(sign) = self.thousands.filter(|sign| text.contains(*sign)) else {
            return Some(Cow::Borrowed(text));
        };
        let whole = text.split(self.decimal_sign()).next()?;
        let mut groups = whole.trim_start_matches(['-', '+']).split(sign);
        let first = groups.next()?.len();
        let fits = (1..=3).contains(&first) && groups.all(|group| group.len() == 3);
        fits.then(|| Cow::Owned(text.replace(sign, "")))
    }

    fn parse(&self, text: &str) -> Option<f64> {
        let text = self.ungrouped(text)?;
        let number: f64 = match self.decimal_comma {
            // With a decimal comma a point parts thousands, if anything.
            true if text.contains('.') => return None,
            true => text.replace(',', ".").parse().ok()?,
            false => text.parse().ok()?,
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
            "", " ", "NaN", "na", "NULL", "N/A", "None", "#N/A", "<NA>", "?", "-", "-200",
            "-200.0", "broken",
        ] {
            assert_eq!(rules.entry(text), Entry::Missing, "{text:?}");
        }
        assert_eq!(rules.entry(" 1.5 "), Entry::Number(1.5));
        assert_eq!(rules.entry("1,5"), Entry::Text);
        assert_eq!(rules.entry("inf"), Entry::Text);
    }

    #[test]
    fn thousands_are_read_where_the_user_says_how_they_are_parted() {
        let rules = NumberRules::with_thousands(true, Some('.'), &[]);
        assert_eq!(rules.entry("1.234,5"), Entry::Number(1234.5));
        assert_eq!(rules.entry("-12.345.678"), Entry::Number(-12_345_678.0));
        assert_eq!(rules.entry("2,5"), Entry::Number(2.5));
        assert_eq!(rules.entry("1.5"), Entry::Text);
        let rules = NumberRules::with_thousands(false, Some(','), &[]);
        assert_eq!(rules.entry("1,000"), Entry::Number(1000.0));
        assert_eq!(rules.entry("1,00"), Entry::Text);
        assert_eq!(
            rules.integer("9,007,199,254,740,993"),
            Some(9_007_199_254_740_993)
        );
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
        assert_eq!(rules.entry("1.234"), Entry::Text);
        assert_eq!(rules.write(-0.25), "-0,25");
        assert_eq!(rules.write(2.5e-7), "2,5e-7");
        assert!(has_decimal_comma(
            ["2,6", "10/03/2004", "18.00.00", "1360"].into_iter()
        ));
        assert!(!has_decimal_comma(["2.6", "a,b", "7"].into_iter()));
    }
}
