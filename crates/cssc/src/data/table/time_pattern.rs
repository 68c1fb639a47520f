//! Patterns of times such as `%d/%m/%Y %H.%M`: what they read, and how fine they are.
use jiff::civil::{DateTime, Weekday};
use jiff::fmt::strtime::BrokenDownTime;

/// What a pattern without a zone reads.
pub(super) fn read_local(pattern: &str, text: &str) -> Result<DateTime, jiff::Error> {
    local(&parse(pattern, text)?)
}

/// Whether a pattern has no day: its times are months, quarters or weeks.
pub(super) fn is_period(pattern: &str) -> bool {
    ![
        "%d", "%e", "%j", "%F", "%D", "%-d", "%s", "%x", "%c", "%A", "%a", "%u",
    ]
    .iter()
    .any(|day| pattern.contains(day))
}

/// The parts of a text; those of a month, a quarter or a week are of its first day.
pub(super) fn parse(pattern: &str, text: &str) -> Result<BrokenDownTime, jiff::Error> {
    let mut parts = if pattern.contains("%q") {
        // A quarter can be written by its number, but only a month can be read.
        let mut parts = BrokenDownTime::parse(pattern.replace("%q", "%m"), text)?;
        let month = parts.month().map(|quarter| quarter * 3 - 2);
        parts.set_month(month)?;
        parts
    } else {
        BrokenDownTime::parse(pattern, text)?
    };
    if is_period(pattern) {
        if parts.month().is_some() && parts.day().is_none() {
            parts.set_day(Some(1))?;
        }
        if parts.iso_week().is_some() && parts.weekday().is_none() {
            parts.set_weekday(Some(Weekday::Monday));
        }
    }
    Ok(parts)
}

/// Day and hour of the parts; its first hour where they tell none.
pub(super) fn local(parts: &BrokenDownTime) -> Result<DateTime, jiff::Error> {
    parts
        .to_datetime()
        .or_else(|_| parts.to_date().map(DateTime::from))
}

/// What the parts of a pattern tell apart: a second if there is one, else a minute, an hour, a day.
pub(super) fn finest(pattern: &str) -> Option<f64> {
    let has = |directives: &str| {
        let mut letters = pattern.chars().peekable();
        let mut found = false;
        while let Some(letter) = letters.next() {
            if letter != '%' {
                continue;
            }
            while letters
                .next_if(|flag| "-_0^#.:123456789".contains(*flag))
                .is_some()
            {}
            found |= letters.next().is_some_and(|one| directives.contains(one));
        }
        found
    };
    let parts = [
        ("fNc", None),
        ("STsXr", Some(1.0)),
        ("MR", Some(60.0)),
        ("HIkl", Some(3600.0)),
        ("", Some(86_400.0)),
    ];
    let found = parts.iter().find(|(part, _)| part.is_empty() || has(part));
    found.and_then(|(_, finest)| *finest)
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_tell_how_fine_their_times_are() {
        for (pattern, finest) in [
            ("%Y%m%d", Some(86_400.0)),
            ("%d/%m/%Y %H", Some(3600.0)),
            ("%d/%m/%Y %-H:%M", Some(60.0)),
            ("%F %T", Some(1.0)),
            ("%Y-%m-%d %H:%M:%S%.3f", None),
        ] {
            assert_eq!(super::finest(pattern), finest, "{pattern}");
        }
    }
}
