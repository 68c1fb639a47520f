//! `cssc compensate`: the smoothing compensation for a prediction from elsewhere.

use crate::destination::Destination;
use crate::failure::{Failure, failure_from};
use crate::reading::{name_of, read_text};
use crate::times::note_extrapolation;
use cssc::compensate::PredictionDocument;
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

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let text = read_text(&self.input)?;
        let prediction =
            PredictionDocument::parse(&self.input, &text).map_err(|error| failure_from(&error))?;
        let answer = prediction
            .compensate()
            .map_err(|error| Failure::new(format!("{}: {error}.", name_of(&self.input))))?;
        if let Some(query) = &prediction.query {
            let ends = (
                prediction.times[0],
                prediction.times[prediction.times.len() - 1],
            );
            note_extrapolation(query, ends, |time| time.to_string());
        }
        self.destination.write(|writer| answer.write(writer))
    }
}
