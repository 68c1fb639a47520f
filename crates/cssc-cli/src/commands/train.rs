use crate::failure::{Failure, failure_from};
use crate::filling::Periods;
use crate::outputs::{self, Output};
use crate::reading::{TableArguments, load_dataset, must_hold_values, times_of};
use crate::settings::SettingArguments;
use crate::signals;
use crate::times::in_table;
use crate::watching::{Verbosity, Watch};
use cssc::data::Span;
use cssc::fill::{Learning, METHODS, Method};
use cssc::nn::InstructionSet;
use cssc::predict::PredictOptions;
use cssc::settings::first_difference;
use cssc::train::{Control, TrainConfig, Trainer};
use cssc_report::grouped;
use serde::Serialize;
use serde_json::json;
use std::ffi::OsString;
use std::ops::ControlFlow;
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

    #[arg(long, value_name = "METHOD", help = methods_help())]
    method: Option<String>,

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

    /// Begin anew although there is a checkpoint beside MODEL
    #[arg(long, conflicts_with = "resume")]
    restart: bool,

    /// Time between checkpoints
    #[arg(long, value_name = "LENGTH", default_value = "30s")]
    checkpoint_every: Span,

    #[command(flatten)]
    periods: Periods,

    #[command(flatten)]
    settings: SettingArguments,

    #[command(flatten)]
    verbosity: Verbosity,
}

fn methods_help() -> String {
    let trained = METHODS.iter().filter(|method| method.is_trained());
    let names: Vec<&str> = trained.map(|method| method.name).collect();
    format!("The model that is trained: {}", names.join(", "))
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.output.is_dir() {
            return Err(Failure::new(format!(
                "cannot write the model to {}: it is a directory. Give the name of a file.",
                self.output.display()
            )));
        }
        let checkpoint = checkpoint(&self.output);
        self.check_checkpoint(checkpoint.as_deref())?;
        let mut inputs = vec![self.table.data.as_path()];
        inputs.extend(self.settings.file());
        let output = Output {
            flag: "--output",
            path: &self.output,
        };
        outputs::check(&inputs, &[output], None)?;
        outputs::check_terminal(&self.output, false, "a model")?;
        let mut reader = self.table.open(self.verbosity)?;
        let mut options = self.settings.options()?;
        if let Some(name) = &self.method {
            let method = Method::named(name).map_err(|error| failure_from(&error))?;
            options.model = method.model(&options.model).ok_or_else(|| {
                Failure::new(format!(
                    "the method {method} needs no training. Give a method that is trained, such as cssc."
                ))
            })?;
            let training = options.training_of(&options.model);
            options.training = training.map_err(|error| failure_from(&error))?;
        }
        let loaded = load_dataset(&mut reader, "the model is trained on", self.verbosity)?;
        must_hold_values(&loaded.dataset, &self.table.name())?;
        let dates = reader.shape().times_are_seconds();
        options.training.steps = self.steps.unwrap_or(options.training.steps);
        options.training.seed = self.seed.unwrap_or(options.training.seed);
        if let Some(budget) = self.budget {
            options.training.seconds = Some(budget.seconds());
        }
        options.longest_gap = self
            .max_gap
            .map(|span| in_table(span, dates, "--max-gap"))
            .transpose()?;
        options.known = PredictOptions {
            seconds: dates,
            periods: self.periods.in_table(dates)?,
            ..PredictOptions::default()
        };
        let learning =
            Learning::new(&loaded.dataset, &options).map_err(|error| failure_from(&error))?;
        signals::listen();
        self.verbosity.note(&format!(
            "{} windows to train on, {} to validate; {} instructions.",
            grouped(learning.train.len()),
            grouped(learning.validation.len()),
            InstructionSet::in_use()
        ));
        let mut trainer = self.trainer(&learning, checkpoint.as_deref())?;
        self.train(&mut trainer, checkpoint.as_deref())?;
        if signals::stopped_by().is_some() && trainer.summary().stopped_early {
            if let Some(checkpoint) = &checkpoint {
                trainer
                    .save_checkpoint(checkpoint)
                    .map_err(|error| failure_from(&error))?;
                self.verbosity.note(&format!(
                    "stopped at step {}; the same command with --resume goes on from {}.",
                    trainer.summary().steps,
                    checkpoint.display()
                ));
            }
            self.verbosity
                .event(&json!({ "event": "stopped", "step": trainer.summary().steps }));
            return Err(Failure::new(
                "the training was stopped before its end; no model was written.",
            ));
        }
        let summary = trainer.summary().clone();
        let model = learning
            .model(trainer)
            .map_err(|error| failure_from(&error))?;
        model
            .with_times(times_of(&reader, &loaded.dataset))
            .save(&self.output)
            .map_err(|error| failure_from(&error))?;
        // It has done its work; when it cannot be removed it only takes space.
        let _ = checkpoint.map(std::fs::remove_file);
        let best = summary.best_validation;
        self.verbosity.note(&match best {
            Some((error, step)) => format!(
                "{} written: best validation error {error:.3e} (squared, in standard deviations) at step {step} of {}.",
                self.output.display(),
                summary.steps
            ),
            None => format!("{} written after {} steps.", self.output.display(), summary.steps),
        });
        self.verbosity.event(&json!({
            "event": "done", "steps": summary.steps, "validation": best.map(|best| best.0),
            "model": self.output.display().to_string(),
        }));
        Ok(())
    }

    /// A checkpoint is hours of work: it is neither forgotten nor overwritten without a word.
    fn check_checkpoint(&self, checkpoint: Option<&Path>) -> Result<(), Failure> {
        let Some(checkpoint) = checkpoint else {
            return match self.resume {
                false => Ok(()),
                true => Err(Failure::new(format!(
                    "--resume needs a checkpoint, which is kept beside a model file; {} is none. Give -o FILE.",
                    self.output.display()
                ))),
            };
        };
        let name = checkpoint.display();
        match (self.resume, checkpoint.exists()) {
            (true, false) => Err(Failure::new(format!(
                "there is no checkpoint {name} to go on from. Leave out --resume to begin anew."
            ))),
            (false, true) if !self.restart => Err(Failure::new(format!(
                "there is a checkpoint {name} of a training that was stopped. Go on from it with --resume, or begin \
                 anew with --restart."
            ))),
            _ => Ok(()),
        }
    }

    fn trainer<'d>(
        &self,
        learning: &'d Learning,
        checkpoint: Option<&Path>,
    ) -> Result<Trainer<'d>, Failure> {
        let Some(checkpoint) = checkpoint.filter(|_| self.resume) else {
            return learning.trainer().map_err(|error| failure_from(&error));
        };
        let training = &learning.options.training;
        let mut before = None;
        let resumed = Trainer::resume(
            checkpoint,
            &learning.train,
            &learning.validation,
            |config| {
                if self.steps.is_some() {
                    config.steps = training.steps;
                }
                config.seconds = training.seconds;
                before = Some(config.clone());
            },
        );
        let trainer = resumed.map_err(|error| failure_from(&error))?;
        let asked = TrainConfig {
            steps: before
                .as_ref()
                .map_or(training.steps, |config| config.steps),
            ..training.clone()
        };
        self.must_agree("training", before.as_ref(), &asked, checkpoint)?;
        let model = &learning.options.model;
        self.must_agree("model", Some(trainer.model()), model, checkpoint)?;
        self.verbosity
            .note(&format!("going on from step {}.", trainer.summary().steps));
        Ok(trainer)
    }

    /// Refuses settings other than those the checkpoint was made with, naming the first.
    fn must_agree<T: Serialize>(
        &self,
        part: &str,
        kept: Option<&T>,
        asked: &T,
        checkpoint: &Path,
    ) -> Result<(), Failure> {
        match kept.and_then(|kept| first_difference(kept, asked)) {
            None => Ok(()),
            Some((name, there, value)) => Err(Failure::new(format!(
                "{} was made with {part}.{name} = {there}, and now it is {value}. Give the same settings to go on, or \
                 begin anew with --restart.",
                checkpoint.display()
            ))),
        }
    }

    fn train(&self, trainer: &mut Trainer<'_>, checkpoint: Option<&Path>) -> Result<(), Failure> {
        let every = Duration::from_secs_f64(self.checkpoint_every.seconds());
        let mut saved = Instant::now();
        let mut failed = None;
        let mut watch = Watch::new(self.verbosity, &trainer.model().method());
        let result = trainer.run(|trainer, progress| {
            if let Some(checkpoint) = checkpoint.filter(|_| saved.elapsed() >= every) {
                if let Err(error) = trainer.save_checkpoint(checkpoint) {
                    failed = Some(failure_from(&error));
                    return Control::Stop;
                }
                saved = Instant::now();
            }
            match watch.step(progress) {
                ControlFlow::Continue(()) => Control::Continue,
                ControlFlow::Break(()) => Control::Stop,
            }
        });
        watch.finish();
        match failed {
            Some(failure) => Err(failure),
            None => result.map_err(|error| failure_from(&error)),
        }
    }
}

/// Beside the model, with one more ending; a pipe or a device has nothing beside it.
fn checkpoint(model: &Path) -> Option<PathBuf> {
    if outputs::is_device(model) {
        return None;
    }
    let mut name = OsString::from(model.as_os_str());
    name.push(".checkpoint");
    Some(name.into())
}
