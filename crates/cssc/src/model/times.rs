//! What the times of a training were, so that a model is not applied to times of another kind.
//!
//! A network learns how fast things move between rows. Applied to rows that are thousands of times further apart
//! (hours as seconds, where plain numbers 1 apart were learned), it walks thousands of steps through
//! states it has never seen and gives numbers that mean nothing. Dates are seconds since 1970 in this
//! library, whatever unit a file keeps them in, so dates never have to be converted here.

use crate::Error;
use crate::data::Dataset;
use serde::{Deserialize, Serialize};

/// How many times further apart, or closer together, rows may be than in training before it is told.
const FAR: f64 = 4.0;

/// What numbers of time mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeKind {
    /// Numbers of an unknown unit.
    Numbers,
    /// Seconds since 1970.
    Dates,
}

/// The times of a data set.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimeInfo {
    /// What they are.
    pub kind: TimeKind,
    /// The median distance of neighbouring rows; seconds where they are dates.
    pub typical_step: f64,
}

impl TimeInfo {
    /// The times of `dataset`; `None` where no series has two rows.
    #[must_use]
    pub fn of(dataset: &Dataset, kind: TimeKind) -> Option<Self> {
        let typical_step = dataset.typical_step()?;
        Some(Self { kind, typical_step })
    }

    /// Whether a model that was trained on `self` can be applied to `other`; a note where rows are much
    /// further apart, or much closer together, than it has learned.
    ///
    /// # Errors
    /// If one are dates and the other plain numbers: nobody knows how long 1 is.
    pub fn compare(&self, other: &Self) -> Result<Option<String>, Error> {
        if self.kind != other.kind {
            return Err(Error::Setting(format!(
                "the model was trained on times that are {}, and the times of the data are {}: how long a \
                 step is cannot be told; give times as in the training, or train a model on these data",
                self.kind, other.kind
            )));
        }
        let factor = other.typical_step / self.typical_step;
        let (times, word) = match factor {
            factor if factor > FAR => (factor, "further apart"),
            factor if factor < 1.0 / FAR => (1.0 / factor, "closer together"),
            _ => return Ok(None),
        };
        Ok(Some(format!(
            "rows are typically {} times {word} than those the model was trained on ({} instead of {}); it has \
             never seen such steps, so look at what it fills in, or train a model on these data",
            rounded(times),
            self.describe(other.typical_step),
            self.describe(self.typical_step)
        )))
    }

    /// Refuses numbers that no training has.
    pub(crate) fn check(&self) -> Result<(), String> {
        let step = self.typical_step;
        if !(step > 0.0 && step.is_finite()) {
            return Err(format!(
                "its typical step of time is {step}, expected a positive number"
            ));
        }
        Ok(())
    }

    fn describe(&self, step: f64) -> String {
        match self.kind {
            TimeKind::Numbers => rounded(step),
            TimeKind::Dates => format!("{} s", rounded(step)),
        }
    }
}

/// Three digits are enough for people.
fn rounded(number: f64) -> String {
    let digits = (2 - number.abs().log10().floor() as i32).max(0);
    match number {
        number if (1e-3..1e9).contains(&number) => {
            let text = format!("{number:.*}", usize::try_from(digits).unwrap_or(0));
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        number => format!("{number:.1e}"),
    }
}

impl std::fmt::Display for TimeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Numbers => "plain numbers",
            Self::Dates => "dates",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(kind: TimeKind, typical_step: f64) -> TimeInfo {
        TimeInfo { kind, typical_step }
    }

    #[test]
    fn dates_and_numbers_are_not_mixed() {
        let (dates, numbers) = (
            times(TimeKind::Dates, 3600.0),
            times(TimeKind::Numbers, 1.0),
        );
        let wrong = numbers.compare(&dates).unwrap_err().to_string();
        assert!(
            wrong.contains("trained on times that are plain numbers"),
            "{wrong}"
        );
        assert!(dates.compare(&numbers).is_err());
    }

    #[test]
    fn steps_far_from_those_of_the_training_are_told() {
        let trained = times(TimeKind::Dates, 600.0);
        let note = |step| trained.compare(&times(TimeKind::Dates, step)).unwrap();
        assert_eq!([600.0, 200.0, 2400.0].map(note), [None, None, None]);
        let far = note(3600.0).unwrap();
        assert!(
            far.contains("6 times further apart") && far.contains("3600 s instead of 600 s"),
            "{far}"
        );
        assert!(note(60.0).unwrap().contains("10 times closer together"));
    }
}
