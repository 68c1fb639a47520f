//! One number of a table: how it is made (a TOML file under `experiments/`), and what came out (a JSON file under
//! `experiments/results/`).

use crate::paper_set::PaperSet;
use cssc::Error;
use cssc::fill::Method;
use cssc::model::{Compensation, MODEL_METHODS, ModelConfig};
use cssc::settings::Settings;
use cssc::train::{Masking, TrainConfig};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A training as its file describes it; `[model]` and `[training]` stand above the defaults of the method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cell {
    /// The table of the paper.
    pub table: String,
    /// What differs from the paper's own form; nothing for that.
    #[serde(default)]
    pub variant: String,
    /// The data.
    pub dataset: PaperSet,
    /// The system; `natural` and `not-a-knot` need no training.
    pub method: String,
    /// Points observed of 100.
    pub observed: usize,
    /// Seeds 0, 1, … below this are trained.
    #[serde(default = "one")]
    pub seeds: u64,
    /// Learning rates that are tried with the first seed, of which the one counts that validates best; other seeds take it.
    #[serde(default)]
    pub rates: Vec<f64>,
    /// Steps of each trial, before a whole training with the best rate; if this is left out, every trial is a whole
    /// training and the best of them is the result.
    #[serde(default)]
    pub trial_steps: Option<u64>,
    /// The result whose learning rate is taken, by its name.
    #[serde(default)]
    pub rate_from: Option<String>,
    /// The same training read in other ways, each with a result of its own: variant, and what is compensated.
    #[serde(default)]
    pub readings: BTreeMap<String, Compensation>,
    /// So many training series at most; all if this is left out.
    #[serde(default)]
    pub training_series: Option<usize>,
    /// The model.
    #[serde(default)]
    pub model: ModelConfig,
    /// Its training.
    #[serde(default)]
    pub training: TrainConfig,
}

fn one() -> u64 {
    1
}

/// Which cell a file is about; the rest is read when the defaults of the method are known.
#[derive(Deserialize)]
struct Heading {
    dataset: PaperSet,
    method: String,
    observed: usize,
}

/// What is trained, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSettings {
    /// The model.
    pub model: ModelConfig,
    /// Its training.
    pub training: TrainConfig,
}

impl Cell {
    /// Reads the description of a cell.
    ///
    /// # Errors
    /// If the file cannot be read, or something in it is unknown or out of range.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        let wrong = |problem: String| Error::content(path, problem.trim_end().to_owned());
        let heading: Heading = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let defaults = Self::of(&heading).map_err(|error| wrong(error.to_string()))?;
        let settings = Settings::read(path)?;
        let cell: Self = settings
            .over(&defaults)
            .map_err(|error| wrong(error.to_string()))?;
        cell.check().map_err(|error| wrong(error.to_string()))?;
        Ok(cell)
    }

    /// The defaults of a method.
    fn of(heading: &Heading) -> Result<Self, Error> {
        let &Heading {
            dataset, observed, ..
        } = heading;
        let method = heading.method.as_str();
        let training = TrainConfig {
            masking: Masking::Count(dataset.count(observed)),
            ..TrainConfig::default()
        };
        let model = if is_plain(method) {
            ModelConfig::default()
        } else {
            dataset.model(ModelConfig::of_method(method).ok_or_else(|| unknown(method))?)
        };
        Ok(Self {
            table: String::new(),
            variant: String::new(),
            dataset,
            method: method.to_owned(),
            observed,
            seeds: one(),
            rates: Vec::new(),
            trial_steps: None,
            rate_from: None,
            readings: BTreeMap::new(),
            training_series: None,
            training: training.suited_to(&model)?,
            model,
        })
    }

    fn check(&self) -> Result<(), Error> {
        if !(2..=100).contains(&self.observed) {
            let observed = self.observed;
            return Err(Error::Setting(format!(
                "`observed` is {observed}; give 2 to 100"
            )));
        }
        if let (Some(from), false) = (&self.rate_from, self.rates.is_empty()) {
            return Err(Error::Setting(format!(
                "`rates` are to be tried, and `rate-from` is {from}; give one of the two"
            )));
        }
        if self
            .trial_steps
            .is_some_and(|steps| steps == 0 || steps >= self.training.steps)
        {
            return Err(Error::Setting(format!(
                "`trial-steps` must be from 1 to below `steps`, which is {}",
                self.training.steps
            )));
        }
        self.model.check()?;
        self.training.check().map_err(Error::Setting)
    }

    /// The set it is about, and how many of its series are trained on at most.
    #[must_use]
    pub const fn set(&self) -> (PaperSet, Option<usize>) {
        (self.dataset, self.training_series)
    }

    /// The variants that one training of this cell gives.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.variant.as_str()).chain(self.readings.keys().map(String::as_str))
    }

    /// What tells one seed of this cell from all others; also the beginning of its files' names.
    #[must_use]
    pub fn name(&self, seed: u64) -> String {
        self.name_of(&self.variant, seed)
    }

    /// The name of one variant.
    #[must_use]
    pub fn name_of(&self, variant: &str, seed: u64) -> String {
        let variant = match variant {
            "" => String::new(),
            variant => format!("-{variant}"),
        };
        let (table, dataset) = (&self.table, self.dataset);
        let (method, observed) = (&self.method, self.observed);
        format!("table{table}-{dataset}-{method}{variant}-{observed}-seed{seed}")
    }

    /// The result that gives the learning rate of `seed`, if one does.
    #[must_use]
    pub fn rate_source(&self, seed: u64) -> Option<String> {
        let first = (seed > 0 && !self.rates.is_empty()).then(|| self.name(0));
        first.or_else(|| self.rate_from.clone())
    }

    /// The learning rates to be tried with `seed`.
    #[must_use]
    pub fn rates(&self, seed: u64) -> &[f64] {
        if seed == 0 { &self.rates } else { &[] }
    }

    /// The settings with which `seed` is trained, with the learning rate that another result gives; none where nothing
    /// is trained.
    #[must_use]
    pub fn settings(&self, seed: u64, rate: Option<f64>) -> Option<CellSettings> {
        let trained = !is_plain(&self.method);
        trained.then(|| CellSettings {
            model: self.model.clone(),
            training: TrainConfig {
                seed,
                rate: rate.unwrap_or(self.training.rate),
                ..self.training.clone()
            },
        })
    }
}

/// Whether a method needs no training.
fn is_plain(method: &str) -> bool {
    Method::named(method).is_ok_and(|method| !method.is_trained())
}

fn unknown(method: &str) -> Error {
    let names: Vec<&str> = MODEL_METHODS.iter().map(|known| known.name).collect();
    Error::Setting(format!(
        "`method` is {method}; give natural, not-a-knot, or one of {}",
        names.join(", ")
    ))
}

/// A learning rate that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The rate.
    pub rate: f64,
    /// Best validation error of its training; none if that did not go well.
    pub validation: Option<f64>,
    /// Steps of the trial, where it was shorter than the training of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
}

/// What came out of one seed of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// The table of the paper.
    pub table: String,
    /// What differs from the paper's own form.
    pub variant: String,
    /// The data.
    pub dataset: PaperSet,
    /// The system.
    pub method: String,
    /// Points observed of 100.
    pub observed: usize,
    /// Seed of the training.
    pub seed: u64,
    /// Mean squared error over all points of the test series.
    pub mse_all: f64,
    /// Over those that were not shown.
    pub mse_unobserved: f64,
    /// Best validation error, and its step.
    pub validation: Option<f64>,
    /// Step of the parameters that were tested.
    pub best_step: Option<u64>,
    /// Steps made.
    pub steps: u64,
    /// Wall-clock seconds of this training.
    pub seconds: f64,
    /// Its seconds of processor time, where the system tells.
    pub cpu_seconds: Option<f64>,
    /// Threads of the training.
    pub threads: usize,
    /// Vector instructions in use.
    pub instructions: String,
    /// Version of the program.
    pub version: String,
    /// Hash of the data.
    pub data: String,
    /// Series trained on.
    pub training_series: usize,
    /// Numbers in the model.
    pub parameters: usize,
    /// The trials of learning rates.
    pub trials: Vec<Trial>,
    /// Settings as the cell's file gives them.
    pub asked: Option<CellSettings>,
    /// Settings as they were used.
    pub settings: Option<CellSettings>,
    /// Validation errors (step, error).
    pub curve: Vec<(u64, f64)>,
}

impl CellResult {
    /// Reads a result.
    ///
    /// # Errors
    /// If it cannot be read or is not a result.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        serde_json::from_str(&text).map_err(|error| Error::content(path, error))
    }

    /// Writes it whole, or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(Error::other)? + "\n";
        cssc::io::write_whole(path, |file| file.write_all(text.as_bytes()))
            .map_err(Error::writing(path))
    }

    /// Whether it answers this seed of the cell: the same settings and data.
    #[must_use]
    pub fn answers(&self, cell: &Cell, seed: u64, rate: Option<f64>, data: &str) -> bool {
        let tried = self.trials.iter().map(|trial| (trial.rate, trial.steps));
        let rates = cell.rates(seed).iter();
        self.asked == cell.settings(seed, rate)
            && self.data == data
            && tried.eq(rates.map(|rate| (*rate, cell.trial_steps)))
    }
}

/// All files with this ending in a directory, by name.
///
/// # Errors
/// If the directory cannot be read.
pub fn files(directory: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let reading = Error::reading(directory);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(&reading)? {
        let path = entry.map_err(&reading)?.path();
        if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
