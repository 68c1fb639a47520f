//! What is asked of a table, and within which limits: flags shared by the commands that fill.

use crate::failure::Failure;
use crate::span::Span;
use crate::times::read_times;
use cssc::data::Dataset;
use cssc::data::table::Shape;
use cssc::fill::{Asked, Bounds};

/// Which cells and rows are wanted.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "What is asked")]
pub(crate) struct Asking {
    /// Add rows so that no two are further apart than this, such as 5min
    #[arg(long, value_name = "LENGTH", conflicts_with = "at")]
    every: Option<Span>,

    /// Give values at these times: a list with commas, or a file with one a line
    #[arg(long, value_name = "TIMES|FILE", allow_hyphen_values = true)]
    at: Option<String>,

    /// With --every or --at: leave out rows at other times
    #[arg(long)]
    only: bool,
}

/// What must hold for values that are filled in.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Limiting {
    /// Leave longer gaps empty, such as 6h
    #[arg(long, value_name = "LENGTH")]
    max_gap: Option<Span>,

    /// Also fill before the first and after the last value of a column, with the nearest one
    #[arg(long)]
    pub(crate) extrapolate: bool,

    /// Nothing filled in is below this: a number for all columns, or COLUMN=NUMBER
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    min: Vec<String>,

    /// Nothing filled in is above this: a number for all columns, or COLUMN=NUMBER
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    max: Vec<String>,

    /// The same as --min 0
    #[arg(long)]
    nonnegative: bool,
}

impl Asking {
    /// Checked against the table.
    pub(crate) fn asked(&self, shape: &Shape) -> Result<Asked, Failure> {
        if self.only && self.every.is_none() && self.at.is_none() {
            return Err(Failure::new(
                "--only leaves out rows that were not asked for. Give --every or --at as well.",
            ));
        }
        if let Some(every) = self.every {
            let step = every.in_table(shape.times_are_seconds(), "--every")?;
            return Ok(if self.only {
                Asked::Grid(step)
            } else {
                Asked::Every(step)
            });
        }
        let Some(at) = &self.at else {
            return Ok(Asked::Holes);
        };
        let mut times = read_times(at, shape)?;
        times.sort_by(f64::total_cmp);
        times.dedup();
        Ok(if self.only {
            Asked::OnlyAt(times)
        } else {
            Asked::At(times)
        })
    }
}

impl Limiting {
    /// The longest gap that is filled, in the table's unit.
    pub(crate) fn longest_gap(&self, dates: bool) -> Result<Option<f64>, Failure> {
        let longest = self.max_gap.map(|span| span.in_table(dates, "--max-gap"));
        longest.transpose()
    }

    /// Bounds of all columns; columns of integers stay whole.
    pub(crate) fn limits(&self, dataset: &Dataset) -> Result<Bounds, Failure> {
        let mut limits = Bounds::none(dataset.channels()).keep_whole(dataset);
        let names = dataset.channel_names();
        if self.nonnegative {
            (0..names.len()).for_each(|channel| limits.set_smallest(channel, 0.0));
        }
        for text in &self.min {
            for (channel, number) in limit(text, "--min", names)? {
                limits.set_smallest(channel, number);
            }
        }
        for text in &self.max {
            for (channel, number) in limit(text, "--max", names)? {
                limits.set_largest(channel, number);
            }
        }
        Ok(limits)
    }
}

/// `NUMBER` for all channels, or `COLUMN=NUMBER` for one.
fn limit(text: &str, flag: &str, names: &[String]) -> Result<Vec<(usize, f64)>, Failure> {
    let (column, number) = match text.rsplit_once('=') {
        Some((column, number)) => (Some(column), number),
        None => (None, text),
    };
    let number = match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => number,
        _ => {
            return Err(Failure::new(format!(
                "{flag} {text}: expected a number, or COLUMN=NUMBER."
            )));
        }
    };
    match column {
        None => Ok((0..names.len()).map(|channel| (channel, number)).collect()),
        Some(column) => match names.iter().position(|name| name == column.trim()) {
            Some(channel) => Ok(vec![(channel, number)]),
            None => Err(Failure::new(format!(
                "{flag} {text}: there is no column of values `{column}`; there are {}.",
                names.join(", ")
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_for_all_columns_or_one() {
        let names = ["a", "b=c"].map(str::to_owned);
        assert_eq!(
            limit("1.5", "--min", &names).ok(),
            Some(vec![(0, 1.5), (1, 1.5)])
        );
        assert_eq!(limit("b=c=-2", "--min", &names).ok(), Some(vec![(1, -2.0)]));
        assert!(limit("d=1", "--min", &names).is_err());
        assert!(limit("many", "--min", &names).is_err());
    }
}
