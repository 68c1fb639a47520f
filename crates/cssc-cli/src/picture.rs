//! From a filled table to what the report shows.

use crate::destination;
use crate::failure::{Failure, failure_from};
use crate::report::{
    self, ChannelPicture, Curve, MethodScore, Points, Report, SeriesPicture, TimeAxis,
    TrainingCurve,
};
use crate::summary;
use cssc::Error;
use cssc::data::table::Shape;
use cssc::data::{Dataset, Series};
use cssc::fill::{Answer, Choice, Coverage, Filler, Gap, Method, gaps};
use cssc::train::Summary;
use std::path::Path;

/// Most series that are drawn.
const MOST_SERIES: usize = 50;
/// Most times of a curve; a longer one is drawn at its rows only.
const MOST_TIMES: usize = 400_000;

/// Refuses an ending that tells no kind of picture, before any work is done.
pub(crate) fn check_ending(path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg" | "png") => Ok(()),
        _ => Err(Failure::new(format!(
            "--plot {}: the ending tells the kind of picture. Give a name that ends in .svg or .png.",
            path.display()
        ))),
    }
}

/// All that is shown.
pub(crate) fn draw(
    title: &str,
    dataset: &Dataset,
    shape: &Shape,
    choice: &Choice,
    filler: &Filler,
    settings: Vec<(String, String)>,
) -> Result<Report, Failure> {
    let all = gaps(dataset);
    let mut series = Vec::new();
    for (number, one) in dataset.series().iter().enumerate().take(MOST_SERIES) {
        let own: Vec<&Gap> = all.iter().filter(|gap| gap.series == number).collect();
        series.push(
            draw_series(one, dataset.channel_names(), &own, filler)
                .map_err(|error| failure_from(&error))?,
        );
    }
    let mut notes = choice.notes.clone();
    if dataset.len() > MOST_SERIES {
        notes.push(format!(
            "{} series are shown, {} are left out",
            MOST_SERIES,
            summary::grouped(dataset.len() - MOST_SERIES)
        ));
    }
    if choice.hidden > 0 {
        notes.push(format!(
            "methods were compared on {} known values that were hidden; errors are in standard deviations of the \
             column, the relative error is the mean squared error divided by that of straight lines",
            summary::grouped(choice.hidden)
        ));
    }
    let time = if shape.times_are_seconds() {
        TimeAxis::Timestamp(shape.time_zone())
    } else {
        TimeAxis::Number
    };
    Ok(Report {
        title: title.to_owned(),
        time,
        series,
        comparison: scores(choice, dataset.channel_names()),
        training: choice.trained.iter().map(training).collect(),
        settings,
        notes,
    })
}

fn scores(choice: &Choice, names: &[String]) -> Vec<MethodScore> {
    let linear = choice
        .comparison
        .method(Method::Linear)
        .map_or(f64::NAN, |row| row.all.mse);
    let coverage = choice.bands.as_ref();
    let coverage = coverage.map(|(_, found)| Coverage::after_of_all(found));
    let rows = choice.comparison.methods.iter().map(|row| {
        let chosen = choice.comparison.chosen.contains(&row.method);
        MethodScore {
            name: row.method.name().to_owned(),
            mse: row.all.mse,
            mae: row.all.mae,
            relative_error: row.all.mse / linear,
            coverage: coverage.filter(|_| chosen),
            chosen,
            note: chosen.then(|| format!("best for {}", best_for(choice, names, row.method))),
        }
    });
    rows.collect()
}

/// The columns a method was chosen for.
fn best_for(choice: &Choice, names: &[String], method: Method) -> String {
    let chosen = choice.comparison.chosen.iter().zip(names);
    let columns = chosen.filter(|(one, _)| **one == method);
    let columns: Vec<&str> = columns.map(|(_, name)| name.as_str()).collect();
    columns.join(", ")
}

fn training(trained: &cssc::fill::Trained) -> TrainingCurve {
    let every = (trained.losses.len() / 500).max(1);
    let losses = trained.losses.chunks(every).enumerate();
    TrainingCurve {
        method: summary::training_name(trained.method).replace("training ", ""),
        loss: losses
            .map(|(k, part)| {
                (
                    ((k + 1) * every) as u64,
                    part.iter().sum::<f64>() / part.len() as f64,
                )
            })
            .collect(),
        validation: Summary::of(&trained.model)
            .map_or_else(|_| Vec::new(), |summary| summary.validations),
    }
}

fn draw_series(
    series: &Series,
    names: &[String],
    gaps: &[&Gap],
    filler: &Filler,
) -> Result<SeriesPicture, Error> {
    let channels = series.channels();
    let filled = filler.fill(series)?;
    let times = dense_times(series, gaps);
    let Answer {
        values,
        bands,
        curve: parts,
    } = filler.at(series, &times)?;
    let column = |block: &[f64], channel: usize| -> Vec<f64> {
        block
            .iter()
            .skip(channel)
            .step_by(channels)
            .copied()
            .collect()
    };
    // A column that is filled without a model has no prediction.
    let told = |block: &Option<Vec<f64>>, channel: usize| {
        let column = block.as_ref().map(|block| column(block, channel));
        column.filter(|values| values.iter().any(|value| !value.is_nan()))
    };
    let draw = |channel: usize| {
        let (known_times, known) = series.observed(channel);
        let mut ours: Vec<(f64, f64)> = (0..series.len())
            .filter(|&row| series.value(row, channel).is_none())
            .map(|row| (series.times()[row], filled.values[row * channels + channel]))
            .collect();
        let new = filled.new_times.iter().enumerate();
        ours.extend(new.map(|(row, &time)| (time, filled.new_values[row * channels + channel])));
        ours.retain(|(_, value)| !value.is_nan());
        ours.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (filled_times, filled_values) = ours.into_iter().unzip();
        ChannelPicture {
            name: names[channel].clone(),
            observed: Points {
                times: known_times,
                values: known,
            },
            hidden: Points::default(),
            filled: Points {
                times: filled_times,
                values: filled_values,
            },
            curve: Some(Curve {
                times: times.clone(),
                smoothed: column(&values, channel),
                predicted: told(&parts.predicted, channel),
                compensation: told(&parts.compensation, channel),
                band: bands
                    .as_ref()
                    .map(|[lower, upper]| (column(lower, channel), column(upper, channel))),
            }),
            gaps: gaps
                .iter()
                .filter(|gap| gap.channel == channel)
                .map(|gap| (gap.start, gap.end))
                .collect(),
        }
    };
    Ok(SeriesPicture {
        id: series.id().map(str::to_owned),
        channels: (0..channels).map(draw).collect(),
    })
}

/// The rows, times between them where there are few, and times inside gaps.
fn dense_times(series: &Series, gaps: &[&Gap]) -> Vec<f64> {
    let mut times = series.times().to_vec();
    let between = 2_000 / times.len().max(1);
    for pair in series.times().windows(2) {
        times.extend((1..=between).map(|k| {
            let part = k as f64 / (between + 1) as f64;
            pair[0] + part * (pair[1] - pair[0])
        }));
    }
    for gap in gaps {
        times.extend((1..32).map(|k| gap.start + f64::from(k) / 32.0 * gap.length()));
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    if times.len() > MOST_TIMES {
        return series.times().to_vec();
    }
    times
}

/// Writes picture and page.
pub(crate) fn write(
    report: &Report,
    plot: Option<&Path>,
    page: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(path) = plot {
        let png = path.extension().is_some_and(|ending| ending == "png");
        destination::write_to(path, |out| {
            if png {
                report::write_png(report, out)
            } else {
                report::write_svg(report, out)
            }
        })?;
    }
    if let Some(path) = page {
        destination::write_to(path, |out| report::write_html(report, out))?;
    }
    Ok(())
}
