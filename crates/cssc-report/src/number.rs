//! Numbers for people.

/// An integer with commas between thousands.
#[must_use]
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A length in the unit of the table's times, for people.
#[must_use]
pub fn readable(length: f64, dates: bool) -> String {
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
#[must_use]
pub fn short(number: f64) -> String {
    let rounded = format!("{number:.2e}").parse::<f64>().unwrap_or(number);
    let size = rounded.abs();
    if size.is_finite() && size != 0.0 && !(1e-5..1e9).contains(&size) {
        return format!("{rounded:e}");
    }
    rounded.to_string()
}

/// So many of something.
#[must_use]
pub fn several(count: u64, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(count as usize))
}

/// A part of a whole in percent.
#[must_use]
pub fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_parted_by_commas() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(123), "123");
        assert_eq!(grouped(0), "0");
    }

    #[test]
    fn lengths_and_numbers_are_short() {
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
