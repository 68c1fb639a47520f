//! `cssc spline`: the plain interpolators, for a table.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::query;
use crate::source::Source;
use crate::table::{Channel, Table};
use clap::ValueEnum;
use cssc::{Jets, PiecewiseCubic, SplineKind};
use std::io::{self, Write};

/// Interpolate a table with a plain spline
///
/// DATA.csv is a table with commas: the first column is time and must increase, each other column is a channel. An
/// empty cell is a missing value; it is left out of its own channel only. The first line is the heading unless its
/// first cell is a number.
///
/// The result is a table with the same columns, one line for each time asked for. Before the first and after the last
/// value of a channel its end pieces are extended.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cssc spline data.csv --kind natural --at 0.5,1.25,2 --derivatives"
)]
pub(crate) struct Arguments {
    /// The table, or - for standard input
    #[arg(value_name = "DATA.csv")]
    data: Source,

    /// Which interpolator
    #[arg(long, value_enum)]
    kind: Choice,

    /// Times to interpolate at: numbers with commas between them, a file of numbers, or - for standard input
    #[arg(long, value_name = "TIMES|FILE", allow_hyphen_values = true)]
    at: String,

    /// Slopes at the two ends, for --kind clamped [default: 0,0]
    #[arg(long, value_name = "FIRST,LAST", value_parser = end_slopes, allow_hyphen_values = true)]
    end_slopes: Option<[f64; 2]>,

    /// Add the columns NAME_slope and NAME_curvature (at a knot: those of the right side, at the last of the left)
    #[arg(long)]
    derivatives: bool,

    #[command(flatten)]
    destination: Destination,
}

/// The interpolators by the names they have on the command line.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Choice {
    /// Straight lines
    Linear,
    /// Cubic, twice continuously differentiable, no curvature at the ends
    Natural,
    /// Cubic, twice continuously differentiable, the outer two pieces at each end are one cubic
    NotAKnot,
    /// Cubic, twice continuously differentiable, slopes at the ends given
    Clamped,
    /// Modified Akima: once continuously differentiable, little overshoot
    Makima,
}

fn end_slopes(text: &str) -> Result<[f64; 2], String> {
    let slopes: Vec<f64> = text
        .split(',')
        .map_while(|entry| entry.trim().parse().ok())
        .collect();
    match slopes[..] {
        [first, last] if first.is_finite() && last.is_finite() && text.split(',').count() == 2 => {
            Ok([first, last])
        }
        _ => Err("expected two finite numbers with a comma between them, like 0,-1.5".to_owned()),
    }
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let kind = self.library_kind()?;
        if matches!(self.data, Source::StandardInput) && self.at == "-" {
            return Err(Failure::new(
                "both the table and --at are to be read from standard input, which holds only one of them. \
                 Give a file name for the other.",
            ));
        }
        let times = query::read_times(&self.at)?;
        let table = Table::read(&self.data)?;
        let jets = self.interpolate(&table, kind, &times)?;
        query::note_extrapolation(&times, table.times[0], table.times[table.times.len() - 1]);
        self.destination.write(|writer| {
            let mut lines = csv::Writer::from_writer(writer);
            self.print(&table, &times, &jets, &mut lines)
                .map_err(unwrapped)
        })
    }

    fn library_kind(&self) -> Result<SplineKind, Failure> {
        if self.end_slopes.is_some() && self.kind != Choice::Clamped {
            return Err(Failure::new(
                "--end-slopes is only for --kind clamped; the other kinds find their end slopes themselves. \
                 Leave it out, or choose --kind clamped.",
            ));
        }
        Ok(match self.kind {
            Choice::Linear => SplineKind::Linear,
            Choice::Natural => SplineKind::Natural,
            Choice::NotAKnot => SplineKind::NotAKnot,
            Choice::Clamped => {
                let [start_slope, end_slope] = self.end_slopes.unwrap_or_default();
                SplineKind::Clamped {
                    start_slope,
                    end_slope,
                }
            }
            Choice::Makima => SplineKind::Makima,
        })
    }

    fn interpolate(&self, table: &Table, kind: SplineKind, times: &[f64]) -> Result<Jets, Failure> {
        let jets = PiecewiseCubic::fit(
            &table.times,
            table.channels.len(),
            &table.time_major(),
            kind,
        )
        .and_then(|spline| query::sample(&spline, times))
        .map_err(|error| Failure::new(format!("{}: {error}.", self.data)))?;
        let blocks: &[&[f64]] = if self.derivatives {
            &[&jets.value, &jets.slope, &jets.curvature]
        } else {
            &[&jets.value]
        };
        for block in blocks {
            if let Some(entry) = block.iter().position(|number| !number.is_finite()) {
                let (time, channel) = (
                    times[entry / table.channels.len()],
                    &table.channels[entry % table.channels.len()],
                );
                return Err(Failure::new(format!(
                    "{}: the result for {:?} at time {time:?} is too large for a double. Rescale the column or the times.",
                    self.data, channel.name
                )));
            }
        }
        Ok(jets)
    }

    fn print(
        &self,
        table: &Table,
        times: &[f64],
        jets: &Jets,
        lines: &mut csv::Writer<&mut dyn Write>,
    ) -> csv::Result<()> {
        lines.write_record(self.heading(table))?;
        let channels = table.channels.len();
        for (row, &time) in times.iter().enumerate() {
            write_number(lines, time)?;
            for entry in row * channels..(row + 1) * channels {
                write_number(lines, jets.value[entry])?;
                if self.derivatives {
                    write_number(lines, jets.slope[entry])?;
                    write_number(lines, jets.curvature[entry])?;
                }
            }
            lines.write_record(None::<&[u8]>)?;
        }
        Ok(lines.flush()?)
    }

    fn heading(&self, table: &Table) -> Vec<String> {
        let mut names = vec![table.time_name.clone()];
        for Channel { name, .. } in &table.channels {
            names.push(name.clone());
            if self.derivatives {
                names.extend([format!("{name}_slope"), format!("{name}_curvature")]);
            }
        }
        names
    }
}

/// The shortest text that reads back as the same double.
fn write_number(lines: &mut csv::Writer<&mut dyn Write>, number: f64) -> csv::Result<()> {
    lines.write_field(format!("{number:?}"))
}

/// The failure of the writer itself, whose kind tells a closed pipe from a full disk.
fn unwrapped(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
