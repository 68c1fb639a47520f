//! `cssc compensate`: the smoothing compensation for a prediction from elsewhere.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::prediction::{Limits, Prediction, time_major};
use crate::reading::name_of;
use crate::sampling::{note_extrapolation, sample};
use cssc::{CompensationOptions, Error, Jets, PiecewiseCubic};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// Make a prediction that jumps smooth, and let it pass through the observations
///
/// Takes what any model says just before and just after each knot, and gives the
/// compensation c: the unique piecewise cubic such that prediction + c is twice
/// continuously differentiable and passes through the observations.
///
/// INPUT.json is an object with the fields
///
///   times      [n+1]            the knots, increasing
///   values     [channels][n+1]  the observations, null where there is none
///   left       value, slope and curvature of the prediction just before each knot,
///              each [channels][n+1]; null is allowed at the first knot
///   right      the same just after each knot; null is allowed at the last knot,
///              where it means the left one
///   end_rule   "output": the smoothed curve has no curvature at its ends (default);
///              "compensation": c has none there
///   max_fold   how many jumps in a row are smoothed without a value to pass through
///              before one is pinned to the prediction; null for no limit [default: 8]
///   query      [m], optional    times at which c is wanted
///
/// The result is an object with the fields
///
///   pieces        [channels][n][4]  c between neighbouring knots, in powers of (t - t_k),
///                                   the constant first
///   compensation  [channels][m]     c at the query times, at a knot just after it, at
///                                   the last knot just before it
///
/// All numbers are written so that they read back exactly.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:\n  cssc compensate examples/jump.json --output compensation.json"
)]
pub(crate) struct Arguments {
    /// The prediction, or - for standard input
    #[arg(value_name = "INPUT.json")]
    input: PathBuf,

    #[command(flatten)]
    destination: Destination,
}

/// The result, as it is written.
struct Answer {
    pieces: Vec<Vec<[f64; 4]>>,
    compensation: Option<Vec<Vec<f64>>>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let prediction = Prediction::read(&self.input)?;
        let name = name_of(&self.input);
        let answer =
            answer(&prediction).map_err(|error| Failure::new(format!("{name}: {error}.")))?;
        answer
            .check(&prediction)
            .map_err(|message| Failure::new(format!("{name}: {message}")))?;
        if let Some(times) = &prediction.query {
            let ends = (
                prediction.times[0],
                prediction.times[prediction.times.len() - 1],
            );
            note_extrapolation(times, ends, |time| time.to_string());
        }
        self.destination.write(|writer| answer.print(writer))
    }
}

fn answer(prediction: &Prediction) -> Result<Answer, Error> {
    let compensation = compensation(prediction)?;
    let (channels, intervals) = (prediction.channels(), prediction.times.len() - 1);
    let pieces = |channel| {
        (0..intervals)
            .map(|piece| compensation.piece(piece, channel))
            .collect()
    };
    let asked = prediction
        .query
        .as_deref()
        .map(|times| sample(&compensation, times))
        .transpose()?;
    let column = |block: &[f64], channel| {
        block
            .iter()
            .skip(channel)
            .step_by(channels)
            .copied()
            .collect()
    };
    Ok(Answer {
        pieces: (0..channels).map(pieces).collect(),
        compensation: asked.map(|jets| {
            (0..channels)
                .map(|channel| column(&jets.value, channel))
                .collect()
        }),
    })
}

fn compensation(prediction: &Prediction) -> Result<PiecewiseCubic, Error> {
    let default = CompensationOptions::default();
    let options = CompensationOptions {
        end_rule: prediction.end_rule.map_or(default.end_rule, Into::into),
        max_fold: prediction.max_fold.unwrap_or(default.max_fold),
        ..default
    };
    let values = time_major(&prediction.values);
    let left = jets(&prediction.left);
    let mut right = jets(&prediction.right);
    // Where the last right value is null, a pin there takes the left one.
    let last = values.len() - prediction.channels();
    for (right, left) in right.value[last..].iter_mut().zip(&left.value[last..]) {
        if right.is_nan() {
            *right = *left;
        }
    }
    let (left, right) = (left.as_slices(), right.as_slices());
    cssc::compensate(
        &prediction.times,
        prediction.channels(),
        &values,
        left,
        right,
        options,
    )
}

fn jets(limits: &Limits) -> Jets {
    Jets {
        value: time_major(&limits.value),
        slope: time_major(&limits.slope),
        curvature: time_major(&limits.curvature),
    }
}

impl Answer {
    /// JSON has no way to write an infinite number, so an overflow has to be reported here.
    fn check(&self, prediction: &Prediction) -> Result<(), String> {
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
                    &format!("after index {index} (time {:?})", prediction.times[index]),
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
    fn print(&self, writer: &mut dyn Write) -> io::Result<()> {
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

fn too_large(channel: usize, place: &str) -> String {
    format!(
        "the compensation of channel {channel} {place} is too large for a double. Rescale the values, or move times that \
         are nearly equal apart."
    )
}
