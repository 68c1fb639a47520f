//! What the paper shows beside its tables, and what it leaves open: figures, the error bound at work, appendix C.3, and
//! where the method fails.
//!
//! A [`Study`] needs trained models (cells of `experiments/`, trained if their models are not there) and gives a picture
//! (`docs/NAME.svg`), numbers (`experiments/measurements/NAME.json`), or both. `cssc report` shows them among the tables.
//!
//! | file | holds |
//! |---|---|
//! | [`finding`] | what a study gives, and how numbers are kept |
//! | [`workshop`] | sets and trained models |
//! | [`lines`] | curves of models as lines of a picture |
//! | `figure1` to `figure5` | the paper's figures |
//! | `body` | the hopper's links from its joint angles |
//! | `error_bound` | Theorem 2 against gaps and over a training |
//! | `significance` | appendix C.3: how much the second derivatives matter |
//! | `remaining_error` | where the error that is left sits |
//! | `noise`, `gaps`, `frequencies`, `steps`, `few_series` | limits, each in a table and a sentence |

mod body;
mod error_bound;
mod few_series;
mod figure1;
mod figure2;
mod figure3;
mod figure4;
mod figure5;
pub mod finding;
mod frequencies;
mod gaps;
pub mod lines;
mod noise;
mod remaining_error;
mod significance;
mod steps;
pub mod workshop;

use crate::reproduce::Options;
use crate::reproduce::schedule::Event;
use cssc::Error;
use cssc::train::Control;
pub use finding::{Finding, Measurement};
pub use workshop::Workshop;

/// Something to be found out.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// Whether it is one of the paper's figures, or about the method's limits, or neither.
    pub kind: Kind,
    run: fn(&mut Workshop<'_>) -> Result<Finding, Error>,
}

/// What a study is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A figure of the paper.
    Figure,
    /// The paper's theory.
    Theory,
    /// Where the method fails.
    Limit,
}

/// Studies by their name, or all of a kind by its: `figures`, `theory`, `limits`; none of another name.
#[must_use]
pub fn named(name: &str) -> Vec<Study> {
    let kind = match name {
        "figures" => Some(Kind::Figure),
        "theory" => Some(Kind::Theory),
        "limits" => Some(Kind::Limit),
        _ => None,
    };
    let asked = |study: &Study| Some(study.kind) == kind || study.name == name;
    STUDIES.into_iter().filter(asked).collect()
}

macro_rules! study {
    ($name:literal, $kind:ident, $module:ident) => {
        Study {
            name: $name,
            kind: Kind::$kind,
            run: $module::study,
        }
    };
}

/// All studies, in the order in which they are told.
pub const STUDIES: [Study; 13] = [
    study!("figure1", Figure, figure1),
    study!("figure2", Figure, figure2),
    study!("figure3", Figure, figure3),
    study!("figure4", Figure, figure4),
    study!("figure5", Figure, figure5),
    study!("error-bound", Theory, error_bound),
    study!("significance", Theory, significance),
    study!("remaining-error", Theory, remaining_error),
    study!("limit-noise", Limit, noise),
    study!("limit-gaps", Limit, gaps),
    study!("limit-frequencies", Limit, frequencies),
    study!("limit-steps", Limit, steps),
    study!("limit-few-series", Limit, few_series),
];

/// The name, if `cssc reproduce` knows it: of a table, of studies, or of one of them.
///
/// # Errors
/// If not; those that are known are listed.
pub fn known(name: &str) -> Result<String, String> {
    let tables = ["table1", "table2", "table3", "table4"];
    if tables.contains(&name) || !named(name).is_empty() {
        return Ok(name.to_owned());
    }
    let all = STUDIES.map(|study| study.name).join(", ");
    let tables = tables.join(", ");
    Err(format!(
        "give {tables}, figures, theory, limits, or one of {all}"
    ))
}

/// Carries out studies and writes what they give.
///
/// # Errors
/// If data or trainings fail, or something cannot be written.
pub fn carry_out(
    studies: &[Study],
    options: &Options,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
    tell: &dyn Fn(&str),
) -> Result<(), Error> {
    let mut workshop = Workshop::new(options, watch);
    for study in studies {
        tell(study.name);
        let finding = (study.run)(&mut workshop)?;
        for path in finding.write(study.name, options)? {
            tell(&format!("{} written", path.display()));
        }
    }
    Ok(())
}
