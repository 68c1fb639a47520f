//! `cssc spline`: the plain interpolators, for a table.

use crate::destination::Destination;
use crate::failure::{Failure, printable};
use crate::reading::{TableArguments, with_flags};
use crate::times::{note_extrapolation, read_times};
use crate::watching::Verbosity;
use clap::ValueEnum;
use cssc::data::table::{SeriesRows, Shape};
use cssc::{Jets, Path as _, PiecewiseCubic, Side, SplineKind};
use std::io::{self, Write};
use std::path::Path;

/// Interpolate a table with a plain spline
///
/// Every column of numbers is a channel; a missing value is left out of its own channel only. Times are written in the
/// form of the table. Without an id column the whole table is one series; otherwise each series is asked for all times.
///
/// The result is a table with commas: id, time and channels, one line for each time asked for. Before the first and
/// after the last value of a channel its end pieces are extended.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cssc spline data.csv --kind natural --at 0.5,1.25,2 --derivatives"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,

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
    /// Monotone between neighbouring points: once continuously differentiable, no overshoot
    Pchip,
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

/// A series and its spline at the times asked for.
struct Answer {
    rows: SeriesRows,
    jets: Jets,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let kind = self.library_kind()?;
        if self.table.data == Path::new("-") && self.at == "-" {
            return Err(Failure::new(
                "both the table and --at are to be read from standard input, which holds only one of them. \
                 Give a file name for the other.",
            ));
        }
        self.destination
            .check(&[&self.table.data, Path::new(&self.at)])?;
        let mut reader = self.table.open(Verbosity::default())?;
        let shape = reader.shape().clone();
        let times = read_times(&self.at, &shape)?;
        let answers = reader.by_ref().map(|rows| {
            let rows = rows.map_err(|error| with_flags(&error))?;
            let jets = self.interpolate(&shape, &rows, kind, &times)?;
            Ok(Answer { rows, jets })
        });
        let answers = answers.collect::<Result<Vec<Answer>, Failure>>()?;
        let Some(first) = answers.first() else {
            let name = self.table.name();
            return Err(Failure::new(format!(
                "{name} holds no rows. Give a table with times and values."
            )));
        };
        for notice in reader.notices().iter().filter(|notice| notice.is_warning()) {
            let _ = writeln!(io::stderr(), "{}", printable(&format!("note: {notice}.")));
        }
        note_extrapolation(&times, ends(&answers), |time| {
            shape
                .write_time(time, &first.rows.time_entry(&shape, 0))
                .unwrap_or_else(|_| time.to_string())
        });
        self.destination.write(|writer| {
            let mut lines = csv::Writer::from_writer(writer);
            lines
                .write_record(self.heading(&shape))
                .map_err(unwrapped)?;
            for answer in &answers {
                self.print(answer, &shape, &times, &mut lines)
                    .map_err(unwrapped)?;
            }
            lines.flush()
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
            Choice::Pchip => SplineKind::Pchip,
        })
    }

    fn interpolate(
        &self,
        shape: &Shape,
        rows: &SeriesRows,
        kind: SplineKind,
        times: &[f64],
    ) -> Result<Jets, Failure> {
        let (series, names) = (&rows.series, shape.columns.channel_names());
        let refuse = |problem: String| {
            let id = series
                .id()
                .map_or(String::new(), |id| format!(", series {id}"));
            Failure::new(format!("{}{id}: {problem}", self.table.name()))
        };
        let is_empty = |&channel: &usize| series.observed(channel).0.is_empty();
        if let Some(empty) = (0..names.len()).find(is_empty) {
            return Err(refuse(format!(
                "column `{}` has no values at all. Leave it out with --values.",
                names[empty]
            )));
        }
        let jets = PiecewiseCubic::fit(series.times(), series.channels(), series.values(), kind)
            .and_then(|spline| spline.sample_in_any_order(times, Side::Right))
            .map_err(|error| refuse(format!("{error}.")))?;
        let blocks: &[&[f64]] = if self.derivatives {
            &[&jets.value, &jets.slope, &jets.curvature]
        } else {
            &[&jets.value]
        };
        for block in blocks {
            if let Some(entry) = block.iter().position(|number| !number.is_finite()) {
                let (time, name) = (times[entry / names.len()], &names[entry % names.len()]);
                return Err(refuse(format!(
                    "the result for {name:?} at time {time:?} is too large for a double. Rescale the column or the \
                     times."
                )));
            }
        }
        Ok(jets)
    }

    fn print(
        &self,
        answer: &Answer,
        shape: &Shape,
        times: &[f64],
        lines: &mut csv::Writer<&mut dyn Write>,
    ) -> csv::Result<()> {
        let (series, jets) = (&answer.rows.series, &answer.jets);
        let like = answer.rows.time_entry(shape, 0);
        for (row, &time) in times.iter().enumerate() {
            let id = series.id().unwrap_or_default();
            let parts = shape.columns.ids.len();
            if parts > 0 {
                id.splitn(parts, " / ")
                    .try_for_each(|part| lines.write_field(part))?;
            }
            if shape.times_are_seconds() {
                let text = shape.write_time(time, &like).map_err(io::Error::other)?;
                let parts = shape.columns.time.len();
                text.splitn(parts, ' ')
                    .try_for_each(|part| lines.write_field(part))?;
            } else {
                write_number(lines, time)?;
            }
            for entry in row * series.channels()..(row + 1) * series.channels() {
                write_number(lines, jets.value[entry])?;
                if self.derivatives {
                    write_number(lines, jets.slope[entry])?;
                    write_number(lines, jets.curvature[entry])?;
                }
            }
            lines.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    fn heading(&self, shape: &Shape) -> Vec<String> {
        let columns = &shape.columns;
        let kept = columns.ids.iter().chain(&columns.time);
        let mut names: Vec<String> = kept
            .map(|&column| columns.name(column).to_owned())
            .collect();
        for name in columns.channel_names() {
            names.push(name.clone());
            if self.derivatives {
                names.extend([format!("{name}_slope"), format!("{name}_curvature")]);
            }
        }
        names
    }
}

/// The first and the last time of all series.
fn ends(answers: &[Answer]) -> (f64, f64) {
    let times = answers.iter().flat_map(|answer| {
        let times = answer.rows.series.times();
        [times.first(), times.last()]
    });
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    times
        .flatten()
        .fold(ends, |(start, end), &time| (start.min(time), end.max(time)))
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
