//! A prediction from elsewhere and its compensation, written as JSON: the exchange format of `cssc compensate`.
//!
//! What any model says just before and just after each knot comes in, the pieces of c go out.

use super::{CompensationOptions, EndRule, compensate};
use crate::error::Error;
use crate::path::{Jets, Path as _, Side};
use crate::spline::PiecewiseCubic;
use serde::{Deserialize, Deserializer, Serialize};
use std::io::{self, Write};
use std::path::Path;

/// One row a channel, one entry a knot; `null` where there is no number.
pub type Matrix = Vec<Vec<Option<f64>>>;

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that describes a prediction"
)]
pub struct PredictionDocument {
    /// The knots, increasing.
    pub times: Vec<f64>,
    /// The observations.
    pub values: Matrix,
    /// The prediction just before each knot; null is allowed at the first.
    pub left: LimitsDocument,
    /// The prediction just after each knot; null is allowed at the last, where it means the left one.
    pub right: LimitsDocument,
    /// What holds at the two ends of the series.
    pub end_rule: Option<EndRule>,
    /// Leaving it out and writing null are two things: the library's default, and no limit.
    #[serde(default, deserialize_with = "present")]
    pub max_fold: Option<Option<usize>>,
    /// Times at which c is wanted, in any order.
    pub query: Option<Vec<f64>>,
}

/// What the model says just before (`left`) or just after (`right`) each knot.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with value, slope and curvature"
)]
pub struct LimitsDocument {
    /// The values.
    pub value: Matrix,
    /// First derivatives.
    pub slope: Matrix,
    /// Second derivatives.
    pub curvature: Matrix,
}

/// Keeps null apart from a field that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<usize>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl PredictionDocument {
    /// Reads the text of the file `path` and checks that its lists fit together and where nulls stand.
    ///
    /// # Errors
    /// [`Error::Content`] where the text is not such an object, naming the field.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let document: Self =
            serde_json::from_str(text).map_err(|error| misread(path, text, &error))?;
        let checked = document.check();
        checked.map_err(|problem| Error::content(path, problem))?;
        Ok(document)
    }

    /// The compensation, as it is written.
    ///
    /// # Errors
    /// As [`compensate`], and [`Error::Setting`] where a number overflows, which JSON cannot write.
    pub fn compensate(&self) -> Result<CompensationDocument, Error> {
        let compensation = self.compensation()?;
        let (channels, intervals) = (self.channels(), self.times.len() - 1);
        let pieces = |channel| {
            let pieces = (0..intervals).map(|piece| compensation.piece(piece, channel));
            pieces.collect()
        };
        let asked = self.query.as_deref();
        let asked = asked.map(|times| compensation.sample_in_any_order(times, Side::Right));
        let column = |block: &[f64], channel| {
            let column = block.iter().skip(channel).step_by(channels);
            column.copied().collect()
        };
        let columns = |jets: Jets| {
            (0..channels)
                .map(|channel| column(&jets.value, channel))
                .collect()
        };
        let answer = CompensationDocument {
            pieces: (0..channels).map(pieces).collect(),
            compensation: asked.transpose()?.map(columns),
        };
        answer.check(&self.times)?;
        Ok(answer)
    }

    fn compensation(&self) -> Result<PiecewiseCubic, Error> {
        let default = CompensationOptions::default();
        let options = CompensationOptions {
            end_rule: self.end_rule.unwrap_or(default.end_rule),
            max_fold: self.max_fold.unwrap_or(default.max_fold),
            ..default
        };
        let values = time_major(&self.values);
        let left = self.left.jets();
        let mut right = self.right.jets();
        // Where the last right value is null, a pin there takes the left one.
        let last = values.len() - self.channels();
        for (right, left) in right.value[last..].iter_mut().zip(&left.value[last..]) {
            if right.is_nan() {
                *right = *left;
            }
        }
        let (left, right) = (left.as_slices(), right.as_slices());
        compensate(&self.times, self.channels(), &values, left, right, options)
    }

    /// How many channels there are.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.values.len()
    }

    fn check(&self) -> Result<(), String> {
        if self.times.is_empty() {
            return Err("`times` is empty. Give at least one knot".into());
        }
        if self.values.is_empty() {
            return Err(
                "`values` has no channel. Give one list of observations for each channel".into(),
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
                     {knot} knot there is nothing to the {side}. Give the number",
                    self.times[index]
                ));
            }
        }
        Ok(())
    }

    fn check_shape(&self, field: &str, matrix: &Matrix) -> Result<(), String> {
        if matrix.len() != self.channels() {
            return Err(format!(
                "`{field}` has {} but `values` has {}. Give one list for each channel",
                count(matrix.len(), "channel", "channels"),
                self.channels()
            ));
        }
        let knots = self.times.len();
        match matrix.iter().position(|row| row.len() != knots) {
            None => Ok(()),
            Some(channel) => Err(format!(
                "`{field}[{channel}]` (channel {channel}) has {}, but there are {knots} `times`. Give one entry for \
                 each time, null where there is none",
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

impl LimitsDocument {
    fn jets(&self) -> Jets {
        Jets {
            value: time_major(&self.value),
            slope: time_major(&self.slope),
            curvature: time_major(&self.curvature),
        }
    }
}

/// `[channels][knots]` to one row a knot, with NaN for null.
fn time_major(matrix: &Matrix) -> Vec<f64> {
    let knots = matrix.first().map_or(0, Vec::len);
    (0..knots)
        .flat_map(|knot| matrix.iter().map(move |row| row[knot].unwrap_or(f64::NAN)))
        .collect()
}

/// Reads once more, now keeping track of the field, so that good input does not pay for it.
fn misread(path: &Path, text: &str, error: &serde_json::Error) -> Error {
    let field = serde_path_to_error::deserialize::<_, PredictionDocument>(
        &mut serde_json::Deserializer::from_str(text),
    )
    .err()
    .map(|error| error.path().to_string())
    .filter(|path| path != ".");
    let place = field
        .map(|field| format!("in `{field}`: "))
        .unwrap_or_default();
    let advice = match error.classify() {
        serde_json::error::Category::Eof => {
            "The text ends too early, as if the file had been cut off while it was written or copied"
        }
        serde_json::error::Category::Syntax => {
            "Expected JSON; numbers must be finite (NaN and Infinity are not JSON), and a missing value is null"
        }
        _ => "`cssc compensate --help` lists the fields",
    };
    Error::content(path, format!("{place}{error}. {advice}"))
}

/// The result, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct CompensationDocument {
    /// `[channels][intervals]`: c in powers of t - t_k, the constant first.
    pub pieces: Vec<Vec<[f64; 4]>>,
    /// `[channels][query]`: c at the times asked for, at a knot just after it.
    pub compensation: Option<Vec<Vec<f64>>>,
}

impl CompensationDocument {
    /// JSON has no way to write an infinite number, so an overflow has to be reported here.
    fn check(&self, times: &[f64]) -> Result<(), Error> {
        let bad_piece = |pieces: &Vec<[f64; 4]>| {
            pieces
                .iter()
                .position(|piece| piece.iter().any(|number| !number.is_finite()))
        };
        let bad_value = |values: &Vec<f64>| values.iter().position(|value| !value.is_finite());
        for (channel, pieces) in self.pieces.iter().enumerate() {
            if let Some(index) = bad_piece(pieces) {
                return Err(too_large(
                    channel,
                    &format!("after index {index} (time {:?})", times[index]),
                ));
            }
        }
        for (channel, values) in self.compensation.iter().flatten().enumerate() {
            if let Some(index) = bad_value(values) {
                return Err(too_large(channel, &format!("for `query[{index}]`")));
            }
        }
        Ok(())
    }

    /// JSON for people too: one piece a line, then one channel a line.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        write!(writer, "{{\n\"pieces\": [")?;
        for (channel, pieces) in self.pieces.iter().enumerate() {
            write!(writer, "{}[", if channel == 0 { "" } else { ", " })?;
            print_lines(writer, pieces)?;
            write!(writer, "]")?;
        }
        write!(writer, "]")?;
        if let Some(compensation) = &self.compensation {
            write!(writer, ",\n\"compensation\": [")?;
            print_lines(writer, compensation)?;
            write!(writer, "]")?;
        }
        writeln!(writer, "\n}}")
    }
}

fn print_lines(writer: &mut dyn Write, lists: &[impl Serialize]) -> io::Result<()> {
    for (index, list) in lists.iter().enumerate() {
        writer.write_all(if index == 0 { b"\n  " } else { b",\n  " })?;
        serde_json::to_writer(&mut *writer, list)?;
    }
    if lists.is_empty() {
        Ok(())
    } else {
        writeln!(writer)
    }
}

fn too_large(channel: usize, place: &str) -> Error {
    Error::Setting(format!(
        "the compensation of channel {channel} {place} is too large for a double. Rescale the values, or move times that \
         are nearly equal apart"
    ))
}
