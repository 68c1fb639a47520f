use crate::destination;
use crate::failure::{Failure, failure_from};
use cssc::data::listed;
use cssc::model::Model;
use cssc::train::{Summary, TrainConfig};
use cssc_report::{TextTable, grouped};
use std::path::PathBuf;

/// Tell what a model file holds
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cssc info curves.cssc\n  cssc info curves.cssc --json | jq .summary"
)]
pub(crate) struct Arguments {
    /// The model file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// All of it as JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let model = Model::load(&self.file).map_err(|error| failure_from(&error))?;
        let about = model.info();
        let text = if self.json {
            let value = serde_json::to_string_pretty(about);
            value.map_err(|error| failure_from(&error))? + "\n"
        } else {
            describe(&model)?
        };
        destination::print(text.as_bytes())
    }
}

fn describe(model: &Model) -> Result<String, Failure> {
    let about = model.info();
    let (training, summary) = (TrainConfig::of(model), Summary::of(model));
    let training = training.map_err(|error| failure_from(&error))?;
    let summary = summary.map_err(|error| failure_from(&error))?;
    let mut table = TextTable::new(&["model", ""]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("method", about.model.method());
    row("columns", listed(&about.channel_names));
    row("parameters", grouped(model.parameters().values().len()));
    let settings = serde_json::to_value(&about.model).map_err(|error| failure_from(&error))?;
    let shape = [
        ("hidden state", "hidden"),
        ("layers of f", "dynamics"),
        ("layers of g", "decoder"),
        ("two-sided", "two-sided"),
    ];
    for (name, key) in shape {
        if let Some(value) = settings.get(key) {
            row(name, value.to_string().replace(',', ", "));
        }
    }
    if let Some(season) = &about.season {
        row("waves of the season", season.lengths.len().to_string());
    }
    row("steps trained", grouped(summary.steps as usize));
    if let Some((error, step)) = summary.best_validation {
        row(
            "best validation error",
            format!("{error:.4e} at step {step}"),
        );
    }
    row("stopped early", summary.stopped_early.to_string());
    row("seed", training.seed.to_string());
    row("written by cssc", about.program.clone());
    Ok(table.text())
}
