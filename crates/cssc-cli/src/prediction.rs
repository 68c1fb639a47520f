//! The input of `cssc compensate`: a prediction from elsewhere, written as JSON.

use crate::failure::Failure;
use crate::reading::{name_of, read_text};
use serde::{Deserialize, Deserializer};
use std::path::Path;

/// One row a channel, one entry a knot; `null` where there is no number.
pub(crate) type Matrix = Vec<Vec<Option<f64>>>;

/// The file as written: every field in its place, nothing checked beyond the grammar.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that describes a prediction"
)]
pub(crate) struct Prediction {
    pub(crate) times: Vec<f64>,
    pub(crate) values: Matrix,
    pub(crate) left: Limits,
    pub(crate) right: Limits,
    pub(crate) end_rule: Option<EndRule>,
    /// Leaving it out and writing null are two things: the library's default, and no limit.
    #[serde(default, deserialize_with = "present")]
    pub(crate) max_fold: Option<Option<usize>>,
    pub(crate) query: Option<Vec<f64>>,
}

/// What the model says just before (`left`) or just after (`right`) each knot.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with value, slope and curvature"
)]
pub(crate) struct Limits {
    pub(crate) value: Matrix,
    pub(crate) slope: Matrix,
    pub(crate) curvature: Matrix,
}

/// What holds at the two ends of the series.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EndRule {
    Output,
    Compensation,
}

impl From<EndRule> for cssc::EndRule {
    fn from(rule: EndRule) -> Self {
        match rule {
            EndRule::Output => Self::Output,
            EndRule::Compensation => Self::Compensation,
        }
    }
}

/// Keeps null apart from a field that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<usize>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Prediction {
    /// Reads a file and checks what the library cannot see: that lists fit together and where nulls stand.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_text(path)?;
        let prediction: Self =
            serde_json::from_str(&text).map_err(|error| misread(path, &text, &error))?;
        prediction
            .check()
            .map_err(|message| Failure::new(format!("{}: {message}", name_of(path))))?;
        Ok(prediction)
    }

    pub(crate) fn channels(&self) -> usize {
        self.values.len()
    }

    fn check(&self) -> Result<(), String> {
        if self.times.is_empty() {
            return Err("`times` is empty. Give at least one knot.".into());
        }
        if self.values.is_empty() {
            return Err(
                "`values` has no channel. Give one list of observations for each channel.".into(),
            );
        }
        self.check_shape("values", &self.values)?;
        let last = self.times.len() - 1;
        for (side, limits, absent, knot) in [
            ("left", &self.left, 0, "first"),
            ("right", &self.right, last, "last"),
        ] {
            for (kind, matrix) in [
                ("value", &limits.value),
                ("slope", &limits.slope),
                ("curvature", &limits.curvature),
            ] {
                let field = format!("{side}.{kind}");
                self.check_shape(&field, matrix)?;
                let Some((channel, index)) = unexpected_null(matrix, absent) else {
                    continue;
                };
                return Err(format!(
                    "`{field}[{channel}][{index}]` (channel {channel}, index {index}, time {}) is null, but only at the \
                     {knot} knot there is nothing to the {side}. Give the number.",
                    self.times[index]
                ));
            }
        }
        Ok(())
    }

    fn check_shape(&self, field: &str, matrix: &Matrix) -> Result<(), String> {
        if matrix.len() != self.channels() {
            return Err(format!(
                "`{field}` has {} but `values` has {}. Give one list for each channel.",
                count(matrix.len(), "channel", "channels"),
                self.channels()
            ));
        }
        let knots = self.times.len();
        match matrix.iter().position(|row| row.len() != knots) {
            None => Ok(()),
            Some(channel) => Err(format!(
                "`{field}[{channel}]` (channel {channel}) has {}, but there are {knots} `times`. Give one entry for \
                 each time, null where there is none.",
                count(matrix[channel].len(), "entry", "entries")
            )),
        }
    }
}

/// The first null at another knot than `absent`.
fn unexpected_null(matrix: &Matrix, absent: usize) -> Option<(usize, usize)> {
    matrix.iter().enumerate().find_map(|(channel, row)| {
        let index = (0..row.len()).find(|&index| index != absent && row[index].is_none())?;
        Some((channel, index))
    })
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `[channels][knots]` to one row a knot, with NaN for null.
pub(crate) fn time_major(matrix: &Matrix) -> Vec<f64> {
    let knots = matrix.first().map_or(0, Vec::len);
    (0..knots)
        .flat_map(|knot| matrix.iter().map(move |row| row[knot].unwrap_or(f64::NAN)))
        .collect()
}

/// Reads once more, now keeping track of the field, so that good input does not pay for it.
fn misread(path: &Path, text: &str, error: &serde_json::Error) -> Failure {
    let field = serde_path_to_error::deserialize::<_, Prediction>(
        &mut serde_json::Deserializer::from_str(text),
    )
    .err()
    .map(|error| error.path().to_string())
    .filter(|path| path != ".");
    let place = field
        .map(|field| format!(", in `{field}`"))
        .unwrap_or_default();
    let advice = match error.classify() {
        serde_json::error::Category::Eof => {
            "The text ends too early: was the file cut off while it was written or copied?"
        }
        serde_json::error::Category::Syntax => {
            "Expected JSON; numbers must be finite (NaN and Infinity are not JSON), and a missing value is null."
        }
        _ => "`cssc compensate --help` lists the fields.",
    };
    Failure::new(format!("{}{place}: {error}. {advice}", name_of(path)))
}
