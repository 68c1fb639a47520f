//! What is asked of a table, and within which limits: flags shared by the commands that fill.

use crate::failure::Failure;
use crate::times::{in_table, read_times};
use cssc::data::table::Shape;
use cssc::data::{Dataset, Span};
use cssc::fill::{Asked, Bound, Bounds};

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

    /// Before the first and after the last value of a column: nothing, the nearest value, or what other columns predict
    #[arg(long, value_name = "empty|nearest|predict", default_value = "empty")]
    edges: Edges,

    /// The same as --edges nearest
    #[arg(long)]
    extrapolate: bool,

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

/// Periods after which things repeat themselves.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Periods {
    /// Length after which things repeat themselves, such as 24h; otherwise day, week, year and what the data show
    #[arg(long, value_name = "LENGTH,...", value_delimiter = ',')]
    period: Vec<Span>,
}

impl Periods {
    /// In the table's unit.
    pub(crate) fn in_table(&self, dates: bool) -> Result<Vec<f64>, Failure> {
        let periods = self.period.iter();
        periods
            .map(|span| in_table(*span, dates, "--period"))
            .collect()
    }
}

/// What is filled in before the first and after the last value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Edges {
    Empty,
    Nearest,
    Predict,
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
            let step = in_table(every, shape.times_are_seconds(), "--every")?;
            shape
                .check_step(step)
                .map_err(|problem| Failure::new(format!("--every: {problem}.")))?;
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
    /// Whether something is filled in outside the known values.
    pub(crate) fn extrapolates(&self) -> bool {
        self.extrapolate || self.edges != Edges::Empty
    }

    /// Whether that is predicted.
    pub(crate) fn predicts_edges(&self) -> bool {
        self.edges == Edges::Predict
    }

    /// The longest gap that is filled, in the table's unit.
    pub(crate) fn longest_gap(&self, dates: bool) -> Result<Option<f64>, Failure> {
        let longest = self.max_gap.map(|span| in_table(span, dates, "--max-gap"));
        longest.transpose()
    }

    /// Smallest and largest values, checked against the columns there are.
    pub(crate) fn bounds(&self, dataset: &Dataset) -> Result<Vec<Bound>, Failure> {
        let mut found = Vec::new();
        let mut all = Bounds::none(dataset.channels());
        let zero = self.nonnegative.then(|| "0".to_owned());
        let least = zero.iter().chain(&self.min).map(|text| ("--min", text));
        let most = self.max.iter().map(|text| ("--max", text));
        for (flag, text) in least.chain(most) {
            let refuse = |error: cssc::Error| Failure::new(format!("{flag} {text}: {error}."));
            let bound = match flag {
                "--min" => Bound::at_least(text),
                _ => Bound::at_most(text),
            };
            let bound = bound.map_err(refuse)?;
            all.restrict(&bound, dataset.channel_names())
                .map_err(refuse)?;
            found.push(bound);
        }
        Ok(found)
    }
}
