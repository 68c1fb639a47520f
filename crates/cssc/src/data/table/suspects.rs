//! Columns that may not mean what they seem to: numbers that can be read in two ways, a stray word
//! among numbers, a number that stands for missing.
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};

use super::cells::{self, is_text};
use super::columns::Columns;
use super::formats::TextStyle;
use super::notice::Notice;
use super::number::{Entry, NumberRules};
use super::options::ReadOptions;
use super::shape::Shape;

/// A word among numbers is a slip and not a column of words if there are so many numbers for it.
const NUMBERS_PER_STRAY: usize = 5;
/// A value is suspected to mean missing if it is this many times the range of all others away.
const FAR: f64 = 2.0;
/// Times that it must be there.
const OFTEN: usize = 2;

/// Columns of text that are no id and no time, as text.
fn other_texts<'a>(
    columns: &'a Columns,
    sample: &'a RecordBatch,
) -> impl Iterator<Item = (usize, StringArray)> + 'a {
    let taken = |column: &usize| columns.ids.contains(column) || columns.time.contains(column);
    let texts = (0..sample.num_columns()).filter(move |column| !taken(column));
    let texts = texts.filter(|column| is_text(sample.column(*column).data_type()));
    texts.filter_map(|column| Some((column, cells::texts(sample.column(column)).ok()?)))
}

/// Column and row of a number that can be read in two ways, unless the user has said how, or uses
/// other columns.
pub(super) fn ambiguous(
    columns: &Columns,
    sample: &RecordBatch,
    numbers: &NumberRules,
    style: TextStyle,
    options: &ReadOptions,
) -> Option<(usize, usize)> {
    if options.thousands.is_some() || options.decimal_comma.is_some() {
        return None;
    }
    let wanted = |column: usize| options.channels.is_empty() || columns.channels.contains(&column);
    let mut texts = other_texts(columns, sample).filter(|(column, _)| wanted(*column));
    texts.find_map(|(column, texts)| {
        let row = ambiguous_number(&texts, numbers, style.comma_separates)?;
        Some((column, row))
    })
}

/// Column and row of a stray entry in a column that would hold numbers without it.
pub(super) fn stray(sample: &RecordBatch, rules: &NumberRules) -> Option<(usize, usize)> {
    let is_text = |column: &usize| is_text(sample.column(*column).data_type());
    (0..sample.num_columns())
        .filter(is_text)
        .find_map(|column| {
            let texts = cells::texts(sample.column(column)).ok()?;
            Some((column, stray_text(&texts, rules)?))
        })
}

/// What looks wrong in the first rows.
pub(super) fn suspicions(shape: &Shape, sample: &RecordBatch, numbers: &[u64]) -> Vec<Notice> {
    let (columns, rules) = (&shape.columns, &shape.numbers);
    let passed = |(column, _): &(usize, StringArray)| !columns.channels.contains(column);
    let strays = other_texts(columns, sample)
        .filter(passed)
        .filter_map(|(column, texts)| {
            let row = stray_text(&texts, rules)?;
            Some(Notice::StrayText {
                column: columns.name(column).to_owned(),
                at: numbers[row],
                entry: texts.value(row).trim().to_owned(),
            })
        });
    let sentinels = columns.channels.iter().filter_map(|&column| {
        let (value, count) = suspected_sentinel(channel_values(sample.column(column), rules))?;
        Some(Notice::Sentinel {
            column: columns.name(column).to_owned(),
            value: rules.write(value),
            count,
        })
    });
    strays.chain(sentinels).collect()
}

/// Known values of a channel, as far as they can be read; others are NaN.
fn channel_values(column: &ArrayRef, rules: &NumberRules) -> std::vec::IntoIter<f64> {
    let values = if is_text(column.data_type()) {
        let number = |text: &str| match rules.entry(text) {
            Entry::Number(number) => number,
            _ => f64::NAN,
        };
        let texts = cells::texts(column);
        texts.map(|texts| texts.iter().flatten().map(number).collect())
    } else {
        cells::floats(column)
    };
    let mut values = values.unwrap_or_default();
    values.retain(|value| !rules.is_sentinel(*value));
    values.into_iter()
}

/// The first row of a column whose numbers can be read in two ways, such as `1,000`; `None` if all
/// is clear. `comma_separates` says that commas stand between the entries of the table.
///
/// A sign is ambiguous if every number that has it has groups of three digits behind it and none
/// begins with 0. That is asked about where the sign is not the decimal one, where it is repeated,
/// or where other numbers of the column go without it; three decimals all through are fine, and so
/// is a decimal point in a table with commas.
fn ambiguous_number(
    texts: &StringArray,
    rules: &NumberRules,
    comma_separates: bool,
) -> Option<usize> {
    let decimal = rules.decimal_sign();
    [',', '.'].into_iter().find_map(|sign| {
        if sign == '.' && comma_separates && decimal == '.' {
            return None;
        }
        let (mut first, mut without, mut repeated) = (None, false, false);
        for (row, text) in texts.iter().enumerate() {
            let text = text.unwrap_or_default().trim();
            if !text.contains(sign) {
                match rules.entry(text) {
                    Entry::Number(_) => without = true,
                    Entry::Missing => {}
                    Entry::Text => return None,
                }
            } else if is_grouped(text, sign) {
                first.get_or_insert(row);
                repeated |= text.matches(sign).count() > 1;
            } else {
                // Either it shows that the sign is the decimal one, or it is no number at all.
                return None;
            }
        }
        let asked = sign != decimal || repeated || without || (sign == ',' && comma_separates);
        first.filter(|_| asked)
    })
}

/// What the numbers of a channel have shown so far about the decimal sign, over the whole table: the first rows are
/// looked at before anything is read ([`ambiguous`]), but `1.000` may come after a million integers.
#[derive(Debug, Clone, Default)]
pub(super) struct SignWatch {
    /// The first number with groups of three digits behind the sign: where it stands, and its text.
    grouped: Option<(u64, String)>,
    /// Whether a number can only be read with the sign as the decimal one.
    is_clear: bool,
    /// Whether a number goes without it.
    without: bool,
}

impl SignWatch {
    /// Looks at further entries, which stand in these lines.
    pub(super) fn add(&mut self, texts: &StringArray, lines: &[u64], sign: char) {
        for (text, line) in texts.iter().zip(lines) {
            if self.is_clear {
                return;
            }
            let text = text.unwrap_or_default().trim();
            if !text.contains(sign) {
                self.without |= text.bytes().any(|byte| byte.is_ascii_digit());
            } else if is_grouped(text, sign) {
                self.grouped.get_or_insert_with(|| (*line, text.to_owned()));
            } else {
                self.is_clear = true;
            }
        }
    }

    /// The number that can be read in two ways, after all were looked at.
    pub(super) fn found(&self) -> Option<&(u64, String)> {
        let asked = self.without && !self.is_clear;
        self.grouped.as_ref().filter(|_| asked)
    }
}

/// Digits in groups of three: `1,000`, `-12,345,678`.
fn is_grouped(text: &str, sign: char) -> bool {
    let mut groups = text.trim_start_matches(['-', '+']).split(sign);
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && digits(first)
        && !first.starts_with('0')
        && groups.all(|group| group.len() == 3 && digits(group))
}

/// The first row of a column that holds no number, where nearly all others do.
fn stray_text(texts: &StringArray, rules: &NumberRules) -> Option<usize> {
    let (mut numbers, mut strays, mut first) = (0, 0, None);
    for (row, text) in texts.iter().enumerate() {
        match rules.entry(text.unwrap_or_default()) {
            Entry::Number(_) => numbers += 1,
            Entry::Missing => {}
            Entry::Text => {
                strays += 1;
                first.get_or_insert(row);
            }
        }
    }
    first.filter(|_| numbers >= NUMBERS_PER_STRAY * strays)
}

/// A value that is there several times and far below or above all others, such as -999, and how
/// often it is there.
fn suspected_sentinel(values: impl Iterator<Item = f64>) -> Option<(f64, usize)> {
    let mut known: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    let (&low, &high) = (known.first()?, known.last()?);
    [low, high].into_iter().find_map(|extreme| {
        let others: Vec<f64> = known
            .iter()
            .copied()
            .filter(|value| *value != extreme)
            .collect();
        let (&first, &last) = (others.first()?, others.last()?);
        let count = known.len() - others.len();
        let distance = (first - extreme).abs().min((last - extreme).abs());
        let far = distance > FAR * (last - first) && last > first;
        (far && count >= OFTEN && others.len() > count && extreme.fract() == 0.0)
            .then_some((extreme, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_watched_over_the_whole_column() {
        let found = |texts: &[&str]| {
            let mut watch = SignWatch::default();
            for (line, text) in (1..).zip(texts) {
                watch.add(&StringArray::from(vec![*text]), &[line], '.');
            }
            watch.found().map(|(line, _)| *line)
        };
        assert_eq!(found(&["998", "", "1.000", "1.001"]), Some(3));
        assert_eq!(found(&["998", "1.000", "1.5"]), None);
        assert_eq!(found(&["1.250", "NA", "2.375"]), None);
        assert_eq!(found(&["998", "0.125"]), None);
    }

    fn ambiguous(texts: &[&str], decimal_comma: bool, comma_separates: bool) -> Option<usize> {
        let texts = StringArray::from(texts.to_vec());
        let rules = NumberRules::new(decimal_comma, &[]);
        ambiguous_number(&texts, &rules, comma_separates)
    }

    #[test]
    fn numbers_that_can_be_read_in_two_ways_are_found() {
        // In a comma-separated table, quoted.
        assert_eq!(ambiguous(&["900", "1,000", ""], false, true), Some(1));
        assert_eq!(ambiguous(&["1,000", "2,500"], true, true), Some(0));
        // Beside a semicolon.
        assert_eq!(ambiguous(&["900", "1.000"], false, false), Some(1));
        assert_eq!(ambiguous(&["1.234.567", "1.000"], false, false), Some(0));
        assert_eq!(ambiguous(&["2,5", "1.000"], true, false), Some(1));
        assert_eq!(ambiguous(&["7", "1.000"], true, false), Some(1));
    }

    #[test]
    fn numbers_that_can_be_read_in_one_way_only_are_not_asked_about() {
        assert_eq!(ambiguous(&["1.250", "2", "3.375"], false, true), None);
        assert_eq!(ambiguous(&["1.250", "0.375", "2"], false, false), None);
        assert_eq!(ambiguous(&["1,250", "2,375"], true, false), None);
        assert_eq!(ambiguous(&["1.5", "1000"], false, false), None);
        assert_eq!(ambiguous(&["18.00.00", "19.00.00"], false, false), None);
        assert_eq!(ambiguous(&["x", "1,000"], false, true), None);
    }

    #[test]
    fn one_word_among_numbers_is_a_slip_and_many_are_words() {
        let rules = NumberRules::default();
        let stray = |texts: &[&str]| stray_text(&StringArray::from(texts.to_vec()), &rules);
        assert_eq!(stray(&["1", "2", "12 C", "4", "", "5", "6"]), Some(2));
        assert_eq!(stray(&["1", "b", "12 C", "4"]), None);
        assert_eq!(stray(&["1", "2"]), None);
    }

    #[test]
    fn a_repeated_number_far_from_all_others_is_suspected() {
        let of = |values: &[f64]| suspected_sentinel(values.iter().copied());
        assert_eq!(
            of(&[1.0, -999.0, 2.5, 3.0, -999.0, f64::NAN]),
            Some((-999.0, 2))
        );
        assert_eq!(of(&[1.0, 2.0, 9999.0, 9999.0, 3.0]), Some((9999.0, 2)));
        assert_eq!(of(&[1.0, -999.0, 2.5, 3.0]), None);
        assert_eq!(of(&[0.0, 0.0, 1.0, 1.0]), None);
        assert_eq!(of(&[0.0, 1.0, 2.0, 2.0, 3.0]), None);
    }
}
