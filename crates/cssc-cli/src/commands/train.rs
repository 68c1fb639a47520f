use crate::failure::{Failure, said};
use crate::reading::{TableArguments, look, must_hold_values};
use crate::settings::SettingArguments;
use crate::span::Span;
use crate::summary;
use crate::watching::{self, Talk, Watch};
use cssc::fill::Learning;
use cssc::model::Method;
use cssc::nn::InstructionSet;
use cssc::train::{Control, Trainer};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Train a model on the series of a table
///
/// Long series are cut into windows; runs of rows as long as the gaps of the table are hidden, and the model learns
/// to find them. A checkpoint is kept beside MODEL while it trains: after Ctrl-C, a crash or a power cut the same
/// command with --resume goes on where it was and ends bit for bit the same.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc train curves.parquet -o curves.cssc\n  \
                  cssc train curves.csv -o curves.cssc --method hidden-cssc --steps 3000 --set training.rate=0.005\n  \
                  cssc train curves.csv -o curves.cssc --resume"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,

    /// The model file to write
    #[arg(long, short, value_name = "MODEL")]
    output: PathBuf,

    /// What is made of the model's states
    #[arg(long, value_name = "ode-rnn|cssc|hidden-cssc")]
    method: Option<Kind>,

    /// Optimiser steps
    #[arg(long, value_name = "N")]
    steps: Option<u64>,

    /// Stop after this time, such as 10min, as if finished
    #[arg(long, value_name = "LENGTH")]
    budget: Option<Span>,

    /// Seed of everything random
    #[arg(long)]
    seed: Option<u64>,

    /// Gaps longer than this, such as 6h, are not imitated in training
    #[arg(long, value_name = "LENGTH")]
    max_gap: Option<Span>,

    /// Go on from the checkpoint beside MODEL
    #[arg(long)]
    resume: bool,

    /// Time between checkpoints
    #[arg(long, value_name = "LENGTH", default_value = "30s")]
    checkpoint_every: Span,

    #[command(flatten)]
    settings: SettingArguments,

    #[command(flatten)]
    talk: Talk,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    OdeRnn,
    Cssc,
    HiddenCssc,
}

impl Kind {
    fn method(self) -> Method {
        match self {
            Self::OdeRnn => Method::OdeRnn,
            Self::Cssc => Method::Cssc,
            Self::HiddenCssc => Method::HiddenCssc,
        }
    }
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.output.is_dir() {
            return Err(Failure::new(format!(
                "cannot write the model to {}: it is a directory. Give the name of a file.",
                self.output.display()
            )));
        }
        let mut reader = self.table.open()?;
        let (dataset, _) = look(&mut reader, self.talk)?;
        must_hold_values(&dataset, &self.table.name())?;
        let dates = reader.shape().times_are_seconds();
        let mut options = self.settings.options()?;
        if let Some(method) = self.method {
            options.model.method = method.method();
        }
        options.training.steps = self.steps.unwrap_or(options.training.steps);
        options.training.seed = self.seed.unwrap_or(options.training.seed);
        if let Some(budget) = self.budget {
            options.training.seconds = Some(budget.seconds());
        }
        options.longest_gap = self
            .max_gap
            .map(|span| span.in_table(dates, "--max-gap"))
            .transpose()?;
        let learning = Learning::new(&dataset, &options).map_err(|error| said(&error))?;
        watching::listen();
        self.talk.note(&format!(
            "{} windows to train on, {} to validate; {} instructions.",
            summary::grouped(learning.train.len()),
            summary::grouped(learning.validation.len()),
            InstructionSet::in_use()
        ));
        let checkpoint = checkpoint(&self.output);
        let mut trainer = self.trainer(&learning, &checkpoint)?;
        self.train(&mut trainer, &checkpoint)?;
        if watching::asked_to_stop() && trainer.summary().stopped_early {
            trainer
                .save_checkpoint(&checkpoint)
                .map_err(|error| said(&error))?;
            self.talk.note(&format!(
                "stopped at step {}; the same command with --resume goes on from {}.",
                trainer.summary().steps,
                checkpoint.display()
            ));
            self.talk
                .event(&json!({ "event": "stopped", "step": trainer.summary().steps }));
            return Err(Failure::new(
                "the training was stopped before its end; no model was written.",
            ));
        }
        let summary = trainer.summary().clone();
        let model = learning.model(trainer);
        model.save(&self.output).map_err(|error| said(&error))?;
        // It has done its work; when it cannot be removed it only takes space.
        let _ = std::fs::remove_file(&checkpoint);
        let best = summary.best_validation;
        self.talk.note(&match best {
            Some((error, step)) => format!(
                "{} written: best validation error {error:.3e} (squared, in standard deviations) at step {step} of {}.",
                self.output.display(),
                summary.steps
            ),
            None => format!("{} written after {} steps.", self.output.display(), summary.steps),
        });
        self.talk.event(&json!({
            "event": "done", "steps": summary.steps, "validation": best.map(|best| best.0),
            "model": self.output.display().to_string(),
        }));
        Ok(())
    }

    fn trainer<'d>(
        &self,
        learning: &'d Learning,
        checkpoint: &Path,
    ) -> Result<Trainer<'d>, Failure> {
        if !self.resume {
            return learning.trainer().map_err(|error| said(&error));
        }
        if !checkpoint.exists() {
            return Err(Failure::new(format!(
                "there is no checkpoint {} to go on from. Leave out --resume to begin anew.",
                checkpoint.display()
            )));
        }
        let training = &learning.options.training;
        let trainer = Trainer::resume(
            checkpoint,
            &learning.train,
            &learning.validation,
            |config| {
                if self.steps.is_some() {
                    config.steps = training.steps;
                }
                config.seconds = training.seconds;
            },
        )
        .map_err(|error| said(&error))?;
        self.talk
            .note(&format!("going on from step {}.", trainer.summary().steps));
        Ok(trainer)
    }

    fn train(&self, trainer: &mut Trainer<'_>, checkpoint: &Path) -> Result<(), Failure> {
        let every = Duration::from_secs_f64(self.checkpoint_every.seconds());
        let mut saved = Instant::now();
        let mut failed = None;
        let mut watch = Watch::new(
            self.talk,
            summary::training_name(trainer.network().config().method),
        );
        let result = trainer.run(|trainer, progress| {
            if saved.elapsed() >= every {
                if let Err(error) = trainer.save_checkpoint(checkpoint) {
                    failed = Some(said(&error));
                    return Control::Stop;
                }
                saved = Instant::now();
            }
            watch.step(progress)
        });
        watch.finish();
        match failed {
            Some(failure) => Err(failure),
            None => result.map_err(|error| said(&error)),
        }
    }
}

/// Beside the model, with one more ending.
fn checkpoint(model: &Path) -> PathBuf {
    let mut name = OsString::from(model.as_os_str());
    name.push(".checkpoint");
    name.into()
}
