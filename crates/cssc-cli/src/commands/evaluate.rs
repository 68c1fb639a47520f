use super::fill::level;
use crate::destination;
use crate::failure::{Failure, failure_from};
use crate::reading::{TableArguments, load_dataset, must_hold_values};
use crate::span::{Span, readable, short};
use crate::summary::{Table, grouped};
use crate::watching::Verbosity;
use cssc::Error;
use cssc::data::Dataset;
use cssc::fill::{
    BandCalibration, Bounds, Coverage, HoldOut, HoldOutOptions, Interpolator, Method, Pattern,
    Score, hidden_std_devs, predict_hidden, std_devs,
};
use cssc::model::Model;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Measure how well a model or a method finds values that are hidden from it
///
/// Hides a part of the known values and prints the errors: over all, for every column, and by the length of the gap.
/// Errors are in standard deviations of the column. A model must not have been trained on these data to be judged
/// fairly; cssc fill keeps what it hides from its own models.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc evaluate sensors.csv --method linear,natural\n  \
                  cssc evaluate other.csv --model curves.cssc --hide 0.5 --pattern single --output-format json"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,

    /// A trained model; may be given several times
    #[arg(long, value_name = "FILE", required_unless_present = "method")]
    model: Vec<PathBuf>,

    /// Methods that need no training
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',')]
    method: Vec<Method>,

    /// The part of the known values to be hidden in each of three rounds
    #[arg(long, value_name = "PART", default_value = "0.1", value_parser = level)]
    hide: f64,

    /// Hide in the pattern of the gaps, or values one by one
    #[arg(long, value_name = "gaps|single", default_value = "gaps")]
    pattern: HidePattern,

    /// Gaps longer than this, such as 6h, are not imitated
    #[arg(long, value_name = "LENGTH")]
    max_gap: Option<Span>,

    /// Level of the bands whose coverage is measured
    #[arg(long, value_name = "LEVEL", default_value = "0.9", value_parser = level)]
    bands: f64,

    /// Seed of what is hidden
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// How the result is printed
    #[arg(
        long = "output-format",
        value_name = "table|json|csv",
        default_value = "table"
    )]
    output_format: Form,

    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum HidePattern {
    Gaps,
    Single,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    Table,
    Json,
    Csv,
}

/// What was measured of one method.
struct Measured {
    name: String,
    all: Score,
    channels: Vec<Score>,
    coverage: Vec<Coverage>,
    /// Up to this length of the gap.
    lengths: Vec<(f64, Score)>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut reader = self.table.open()?;
        let (dataset, _) = load_dataset(&mut reader, self.verbosity)?;
        must_hold_values(&dataset, &self.table.name())?;
        let dates = reader.shape().times_are_seconds();
        let longest = self
            .max_gap
            .map(|span| span.in_table(dates, "--max-gap"))
            .transpose()?;
        let options = HoldOutOptions {
            part: self.hide,
            pattern: match self.pattern {
                HidePattern::Gaps => Pattern::Gaps,
                HidePattern::Single => Pattern::Single,
            },
            longest,
            seed: self.seed,
            ..HoldOutOptions::default()
        };
        let held = HoldOut::new(&dataset, &options).map_err(|error| failure_from(&error))?;
        if held.hidden.is_empty() {
            return Err(Failure::new(format!(
                "no value of {} could be hidden: there are too few. Give more data.",
                self.table.name()
            )));
        }
        let results = self.results(&dataset, &held)?;
        let text = match self.output_format {
            Form::Table => table(&results, &dataset, held.hidden.len(), dates),
            Form::Json => json_text(&results, &dataset, held.hidden.len())?,
            Form::Csv => csv_text(&results, &dataset),
        };
        destination::print(text.as_bytes())
    }

    fn results(&self, dataset: &Dataset, held: &HoldOut) -> Result<Vec<Measured>, Failure> {
        let mut interpolators: Vec<(String, Interpolator)> = Vec::new();
        for &method in &self.method {
            let plain = Interpolator::plain(method).ok_or_else(|| {
                Failure::new(format!(
                    "the method {method} needs a trained model. Train one with cssc train and give it with --model."
                ))
            })?;
            interpolators.push((method.to_string(), plain));
        }
        for path in &self.model {
            let model = Model::load(path).map_err(|error| failure_from(&error))?;
            interpolators.push((
                path.display().to_string(),
                Interpolator::Model {
                    model: Arc::new(model),
                    smooth: false,
                },
            ));
        }
        let limits = Bounds::none(dataset.channels());
        let scales = std_devs(&held.visible);
        let bounds = bounds(held);
        let widths = hidden_std_devs(held).map_err(|error| failure_from(&error))?;
        let measure = |name: &str, interpolator: &Interpolator| -> Result<Measured, Error> {
            let found = predict_hidden(interpolator, held, &limits)?;
            let score = |counts: &dyn Fn(&cssc::fill::Hidden) -> bool| {
                Score::new(&held.hidden, &found, &scales, counts)
            };
            let channels = dataset.channels();
            let (_, coverage) =
                BandCalibration::calibrate(self.bands, channels, &held.hidden, &found, &widths);
            let mut from = 0.0;
            let lengths = bounds.iter().map(|&to| {
                let score = score(&|hidden| hidden.gap > from && hidden.gap <= to);
                from = to;
                (to, score)
            });
            let lengths = lengths.collect();
            Ok(Measured {
                name: name.to_owned(),
                all: score(&|_| true),
                channels: (0..channels)
                    .map(|c| score(&|hidden| hidden.channel == c))
                    .collect(),
                coverage,
                lengths,
            })
        };
        interpolators
            .iter()
            .map(|(name, interpolator)| {
                measure(name, interpolator).map_err(|error| failure_from(&error))
            })
            .collect()
    }
}

/// Lengths that cut the gaps into at most five parts, each about twice as long as the one before.
fn bounds(held: &HoldOut) -> Vec<f64> {
    let finite = held
        .hidden
        .iter()
        .map(|hidden| hidden.gap)
        .filter(|gap| gap.is_finite());
    let longest = finite.clone().fold(0.0, f64::max);
    let shortest = finite.fold(f64::INFINITY, f64::min);
    let mut bounds = vec![longest];
    while bounds.len() < 5 && bounds[0] / 2.0 > shortest {
        bounds.insert(0, bounds[0] / 2.0);
    }
    bounds
}

fn table(results: &[Measured], dataset: &Dataset, hidden: usize, dates: bool) -> String {
    let mut text = format!(
        "{} values hidden. Errors in standard deviations of the column.\n",
        grouped(hidden)
    );
    let mut table = Table::new(&[
        "method",
        "part",
        "values",
        "mean squared",
        "mean absolute",
        "in bands",
    ]);
    for result in results {
        let mut row = |part: &str, score: &Score, coverage: Option<f64>| {
            if score.count > 0 {
                table.row(vec![
                    result.name.clone(),
                    part.to_owned(),
                    grouped(score.count),
                    short(score.mse),
                    short(score.mae),
                    coverage.map_or(String::new(), |part| format!("{:.1} %", 100.0 * part)),
                ]);
            }
        };
        row(
            "all",
            &result.all,
            Some(Coverage::after_of_all(&result.coverage)),
        );
        for ((name, score), coverage) in dataset
            .channel_names()
            .iter()
            .zip(&result.channels)
            .zip(&result.coverage)
        {
            row(name, score, Some(coverage.after));
        }
        for (to, score) in &result.lengths {
            row(&format!("gaps to {}", readable(*to, dates)), score, None);
        }
    }
    text += &table.text();
    text
}

fn json_text(results: &[Measured], dataset: &Dataset, hidden: usize) -> Result<String, Failure> {
    let score =
        |score: &Score| json!({ "mse": score.mse, "mae": score.mae, "values": score.count });
    let methods: Vec<Value> = results
        .iter()
        .map(|result| {
            let channels = dataset.channel_names().iter().zip(&result.channels).zip(&result.coverage);
            let channels = channels.map(|((name, one), coverage)| {
                let mut value = score(one);
                value["column"] = json!(name);
                value["coverage"] = json!({ "before": coverage.before, "after": coverage.after });
                value
            });
            let lengths = result.lengths.iter().map(|(to, one)| {
                let mut value = score(one);
                value["gap_to"] = json!(to);
                value
            });
            json!({
                "method": result.name, "all": score(&result.all), "coverage": Coverage::after_of_all(&result.coverage),
                "columns": channels.collect::<Vec<_>>(), "lengths": lengths.collect::<Vec<_>>(),
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&json!({ "hidden": hidden, "methods": methods }));
    Ok(text.map_err(|error| failure_from(&error))? + "\n")
}

fn csv_text(results: &[Measured], dataset: &Dataset) -> String {
    let mut text = String::from("method,part,values,mse,mae\n");
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    for result in results {
        let name = quoted(&result.name);
        let mut row = |part: String, score: &Score| {
            text += &format!(
                "{name},{part},{},{},{}\n",
                score.count, score.mse, score.mae
            );
        };
        row("all".to_owned(), &result.all);
        for (column, score) in dataset.channel_names().iter().zip(&result.channels) {
            row(quoted(column), score);
        }
        for (to, score) in &result.lengths {
            row(format!("gaps to {to}"), score);
        }
    }
    text
}
