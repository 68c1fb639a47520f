//! Settings of a model and its training: from a TOML file and from flags, checked.
//!
//! ```toml
//! [model]
//! method = "hidden-cssc"
//! dynamics = [100, 100]
//!
//! [training]
//! rate = 0.005
//!
//! [windows]
//! rows = 96
//! ```

use crate::failure::Failure;
use cssc::fill::{LearnOptions, Windows};
use cssc::model::ModelConfig;
use cssc::train::TrainConfig;
use serde::{Deserialize, Serialize};
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

/// All settings; what is not given has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Settings {
    model: ModelConfig,
    training: TrainConfig,
    windows: WindowSettings,
}

/// How series are cut and scaled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct WindowSettings {
    /// Rows of a window.
    rows: usize,
    /// Rows from one window to the next.
    stride: usize,
    /// Typical distance of rows in the model's time.
    typical_gap: f64,
}

impl Default for Settings {
    fn default() -> Self {
        let options = LearnOptions::default();
        Self {
            model: options.model,
            training: options.training,
            windows: WindowSettings::default(),
        }
    }
}

impl Default for WindowSettings {
    fn default() -> Self {
        let options = LearnOptions::default();
        Self {
            rows: options.windows.rows,
            stride: options.windows.stride,
            typical_gap: options.typical_gap,
        }
    }
}

impl SettingArguments {
    /// Defaults, then the file, then the flags.
    pub(crate) fn options(&self) -> Result<LearnOptions, Failure> {
        let mut table = match toml::Value::try_from(Settings::default()) {
            Ok(toml::Value::Table(table)) => table,
            _ => unreachable!("settings are a table"),
        };
        let mut keep_masking = false;
        if let Some(path) = &self.settings {
            let given = read(path)?;
            keep_masking |= has(&given, "training", "masking");
            merge(&mut table, given);
        }
        for pair in &self.set {
            let given = parse(pair)?;
            keep_masking |= has(&given, "training", "masking");
            merge(&mut table, given);
        }
        let settings: Settings =
            toml::Value::Table(table)
                .try_into()
                .map_err(|error: toml::de::Error| {
                    Failure::new(format!("settings: {}.", error.message()))
                })?;
        Ok(LearnOptions {
            model: settings.model,
            training: settings.training,
            keep_masking,
            windows: Windows {
                rows: settings.windows.rows,
                stride: settings.windows.stride,
            },
            typical_gap: settings.windows.typical_gap,
            longest_gap: None,
        })
    }
}

fn has(table: &toml::Table, part: &str, name: &str) -> bool {
    table.get(part).and_then(|part| part.get(name)).is_some()
}

fn read(path: &Path) -> Result<toml::Table, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(format!(
            "cannot read the settings {}: {error}.",
            path.display()
        ))
    })?;
    text.parse()
        .map_err(|error: toml::de::Error| Failure::new(format!("{}: {error}", path.display())))
}

/// `part.name=value`; a value that is not TOML counts as text.
fn parse(pair: &str) -> Result<toml::Table, Failure> {
    let wrong = || {
        Failure::new(format!(
            "--set {pair}: expected PART.NAME=VALUE, such as model.hidden=20, with the parts model, training and \
             windows."
        ))
    };
    let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
    let (part, name) = name.trim().split_once('.').ok_or_else(wrong)?;
    let read = |value: &str| format!("{part}.{name} = {value}").parse::<toml::Table>();
    read(value)
        .or_else(|_| read(&format!("{value:?}")))
        .map_err(|_| wrong())
}

/// Entries of `given` replace those of `table`; tables are merged, other values replaced.
fn merge(table: &mut toml::Table, given: toml::Table) {
    for (name, value) in given {
        match (table.get_mut(&name), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) if is_part(&name) => {
                merge(old, new)
            }
            (_, value) => {
                table.insert(name, value);
            }
        }
    }
}

/// Only the three parts are merged entry by entry: below them a table is one value.
fn is_part(name: &str) -> bool {
    ["model", "training", "windows"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssc::model::Compensation;

    fn options(set: &[&str]) -> Result<LearnOptions, String> {
        let arguments = SettingArguments {
            settings: None,
            set: set.iter().map(|&one| one.to_owned()).collect(),
        };
        arguments.options().map_err(|failure| failure.to_string())
    }

    #[test]
    fn flags_replace_single_settings() {
        assert_eq!(options(&[]).unwrap(), LearnOptions::default());
        let found = options(&[
            "model.compensation=hidden-cssc",
            "training.rate=0.5",
            "windows.rows=12",
            "training.masking={fraction=0.5}",
        ])
        .unwrap();
        assert_eq!(found.model.compensation(), Compensation::Hidden);
        assert_eq!(found.training.rate, 0.5);
        assert_eq!(found.windows.rows, 12);
        assert!(found.keep_masking);
    }

    #[test]
    fn wrong_settings_are_refused_by_name() {
        assert!(
            options(&["rate=1"])
                .unwrap_err()
                .contains("PART.NAME=VALUE")
        );
        assert!(
            options(&["training.speed=1"])
                .unwrap_err()
                .contains("speed")
        );
        assert!(
            options(&["model.hidden=\"many\""])
                .unwrap_err()
                .contains("settings")
        );
    }
}
