use crate::destination;
use crate::failure::{Failure, failure_from};
use crate::summary::{Table, grouped};
use cssc::fill::model_name;
use cssc::model::Model;
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
        let about = model.about();
        let text = if self.json {
            let value = serde_json::to_string_pretty(about);
            value.map_err(|error| failure_from(&error))? + "\n"
        } else {
            describe(&model)
        };
        destination::print(text.as_bytes())
    }
}

fn describe(model: &Model) -> String {
    let about = model.about();
    let mut table = Table::new(&["model", ""]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("method", model_name(&about.model).to_owned());
    row("columns", about.channel_names.join(", "));
    row("parameters", grouped(model.parameters().values().len()));
    row("hidden state", about.model.hidden.to_string());
    row("layers of f", format!("{:?}", about.model.dynamics));
    row("layers of g", format!("{:?}", about.model.decoder));
    row("two-sided", about.model.two_sided.to_string());
    row("steps trained", grouped(about.summary.steps as usize));
    if let Some((error, step)) = about.summary.best_validation {
        row(
            "best validation error",
            format!("{error:.4e} at step {step}"),
        );
    }
    row("stopped early", about.summary.stopped_early.to_string());
    row("seed", about.training.seed.to_string());
    row("written by cssc", about.program.clone());
    table.text()
}
