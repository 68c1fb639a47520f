//! Settings of a model and its training: from a TOML file and from flags, below them the library's defaults.

use crate::failure::{Failure, failure_from};
use cssc::fill::LearnOptions;
use cssc::settings::Settings;
use std::path::{Path, PathBuf};

/// Flags of a training.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Settings of the training")]
pub(crate) struct SettingArguments {
    /// Settings in TOML, with the tables [model], [training] and [windows]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

    /// One setting, such as model.hidden=20 or training.rate=0.005; stands above the file
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

impl SettingArguments {
    /// The file that is read.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.settings.as_deref()
    }

    /// Defaults, then the file, then the flags.
    pub(crate) fn options(&self) -> Result<LearnOptions, Failure> {
        let mut settings = match &self.settings {
            Some(path) => Settings::read(path).map_err(|error| failure_from(&error))?,
            None => Settings::default(),
        };
        for pair in &self.set {
            settings.set(pair).map_err(|error| {
                Failure::new(format!(
                    "--set {error}, with the parts model, training and windows."
                ))
            })?;
        }
        LearnOptions::from_settings(&settings)
            .map_err(|error| Failure::new(format!("settings: {error}.")))
    }
}
