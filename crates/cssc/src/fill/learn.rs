//! From gappy data to a trained model.
//!
//! Long series are cut into windows; a tenth of the windows validates. What is hidden in
//! training has the pattern of the real gaps. Errors count in units of each channel's deviation.

use super::windows::{Windows, cut};
use crate::data::{Dataset, Random, Scaler, TimeScaling, ValueScaling};
use crate::evaluate::{Gap, Gaps};
use crate::model::{Model, ModelConfig, OdeRnnConfig, Season};
use crate::predict::PredictOptions;
use crate::settings::{Settings, name_and_value};
use crate::train::{Masking, OptimizerKind, RateSchedule, TrainConfig, Trainer};
use crate::{EndRule, Error};
use serde::{Deserialize, Serialize};

/// How a model of people's data is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LearnOptions {
    /// Shape and behaviour of the model; `channels` is set from the data, and videos get networks of frames around it.
    pub model: ModelConfig,
    /// The training; `masking` is set from the gaps unless it was written.
    pub training: TrainConfig,
    /// How long series are cut.
    pub windows: Windows,
    /// What was written: it stands above the defaults of every method.
    #[serde(skip)]
    pub written: Settings,
    /// Gaps longer than this are not imitated in training.
    #[serde(skip)]
    pub longest_gap: Option<f64>,
    /// What is known about the times: the periods of the season.
    #[serde(skip)]
    pub known: PredictOptions,
}

impl Default for LearnOptions {
    fn default() -> Self {
        Self {
            // Smaller than the paper's, for minutes and not hours. Two-sided, with a small α and the
            // `output` rule the error on hidden values falls faster (DESIGN.md has the numbers).
            model: OdeRnnConfig {
                dynamics: vec![100; 2],
                decoder: vec![100],
                cell: 50,
                two_sided: true,
                end_rule: EndRule::Output,
                compensation_weight: 1.0,
                step: 0.2,
                ..OdeRnnConfig::default()
            }
            .into(),
            // Muon reaches in 400 steps what AdaMax needs 3,000 for (DESIGN.md has the numbers).
            training: TrainConfig {
                steps: 800,
                optimizer: OptimizerKind::Muon,
                rate: 0.006,
                clip: Some(1.0),
                validate_every: 100,
                schedule: RateSchedule::OneCycle {
                    rise: 0.05,
                    floor: 0.001,
                },
                ..TrainConfig::default()
            },
            windows: Windows::default(),
            written: Settings::default(),
            longest_gap: None,
            known: PredictOptions::default(),
        }
    }
}

impl LearnOptions {
    /// The defaults with what was written instead, checked.
    ///
    /// # Errors
    /// If a setting is not known or out of range, with its name.
    pub fn from_settings(settings: &Settings) -> Result<Self, Error> {
        let mut options = settings.over(&Self::default())?;
        options.written = settings.clone();
        options.training = options.training_of(&options.model)?;
        options.check()?;
        Ok(options)
    }

    /// How `model` is trained: the defaults, above them what suits it, above that what was written.
    ///
    /// # Errors
    /// If a setting is not known.
    pub fn training_of(&self, model: &ModelConfig) -> Result<TrainConfig, Error> {
        let suited = Self {
            training: self.training.suited_to(model)?,
            ..self.clone()
        };
        Ok(self.written.over(&suited)?.training)
    }

    /// Replaces one setting: `PART.NAME=VALUE`, or `NAME=VALUE` for one of the model where it has
    /// such a setting, otherwise of the training.
    ///
    /// # Errors
    /// If it is not known or not of this form.
    pub fn set(&mut self, pair: &str) -> Result<(), Error> {
        let mut settings = Settings::default();
        match name_and_value(pair) {
            Some((name, _)) if !name.contains('.') => {
                let model = serde_json::to_value(&self.model).unwrap_or_default();
                let part = if model.get(name).is_some() {
                    "model"
                } else {
                    "training"
                };
                settings.set(&format!("{part}.{pair}"))?;
            }
            _ => settings.set(pair)?,
        }
        let mut written = self.written.clone();
        written.extend(settings.clone());
        *self = Self {
            written,
            longest_gap: self.longest_gap,
            known: self.known.clone(),
            ..settings.over(self)?
        };
        Ok(())
    }

    /// Refuses settings that are out of range.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), Error> {
        self.model.check()?;
        self.training.check().map_err(Error::Setting)?;
        self.windows.check()
    }
}

/// Data made ready for a training.
#[derive(Clone, Debug)]
pub struct Learning {
    /// Settings as they will be used.
    pub options: LearnOptions,
    /// From the user's units to the model's.
    pub scaler: Scaler,
    /// Windows to train on, scaled.
    pub train: Dataset,
    /// Windows to validate on, scaled.
    pub validation: Dataset,
    /// What was taken off before.
    pub season: Option<Season>,
}

impl Learning {
    /// Cuts, scales and splits.
    ///
    /// # Errors
    /// If there is too little to learn from, with what there is.
    pub fn new(dataset: &Dataset, options: &LearnOptions) -> Result<Self, Error> {
        let mut options = options.clone();
        match dataset.frame() {
            Some(frame) => options.model.set_frame(frame),
            None => options.model.set_channels(dataset.channels()),
        }
        options.model.check()?;
        // Frames are missing as a whole, mostly: one pixel tells, and the gaps of a thousand would take gigabytes.
        let gaps = match dataset.frame() {
            Some(_) => Gaps::find(&dataset.only(0)?),
            None => Gaps::find(dataset),
        };
        if !options.written.has("training", "masking") {
            options.training.masking = masking(dataset.channels(), &gaps, &options);
        }
        let season = season(dataset, &gaps, &options);
        let windows = match &season {
            Some(season) => cut(
                &season.taken_off_all(dataset)?,
                gaps.typical,
                options.windows,
            )?,
            None => cut(dataset, gaps.typical, options.windows)?,
        };
        if windows.len() < 4 {
            return Err(Error::Setting(format!(
                "there are only {} stretches of at least four rows to learn from; give more \
                 data, or use a method that needs no training",
                windows.len()
            )));
        }
        let times = TimeScaling::TypicalGap(options.windows.typical_gap);
        let values = match options.model {
            // Their decoder gives pixels from 0 to 1.
            ModelConfig::Frames(_) => ValueScaling::MinMaxOfAll,
            _ => ValueScaling::Standard,
        };
        let scaler = Scaler::fit(&windows, values, times)?;
        let scaled = scaler.scale_all(&windows)?;
        let mut numbers: Vec<usize> = (0..scaled.len()).collect();
        Random::stream(options.training.seed, 0x7661_6c69).shuffle(&mut numbers);
        let (validation, train) = numbers.split_at((scaled.len() / 10).clamp(1, 200));
        Ok(Self {
            scaler,
            train: scaled.subset(train),
            validation: scaled.subset(validation),
            options,
            season,
        })
    }

    /// A trainer for it.
    ///
    /// # Errors
    /// If settings are out of range.
    pub fn trainer(&self) -> Result<Trainer<'_>, Error> {
        self.trainer_of(&self.options.model, &self.options.training)
    }

    /// A trainer of another model, or of another training, on the same data.
    ///
    /// # Errors
    /// If settings are out of range.
    pub fn trainer_of(
        &self,
        model: &ModelConfig,
        training: &TrainConfig,
    ) -> Result<Trainer<'_>, Error> {
        Trainer::new(model, training, &self.train, &self.validation)
    }

    /// What came of it, as a model.
    ///
    /// # Errors
    /// If the network is not one of this library.
    pub fn model(&self, trainer: Trainer<'_>) -> Result<Model, Error> {
        let names = self.train.channel_names().to_vec();
        let model = trainer.into_model(self.scaler.clone(), names)?;
        Ok(model.with_season(self.season.clone()))
    }
}

/// What the calendar explains, if that is asked for. Videos have none: every channel is a pixel.
fn season(dataset: &Dataset, gaps: &Gaps, options: &LearnOptions) -> Option<Season> {
    let usual = gaps.typical.filter(|usual| *usual > 0.0)?;
    let asked = options.windows.season;
    let asked = asked.unwrap_or_else(|| options.model.suits_season());
    if dataset.frame().is_some() || !asked {
        return None;
    }
    let periods = options.known.periods_of(dataset, usual);
    Season::fit(dataset, &periods, usual)
}

/// What is hidden in training looks like what is missing: a quarter of the cells where single
/// channels miss single values, otherwise runs of rows as long as the gaps are, a quarter of
/// the rows in all.
fn masking(channels: usize, gaps: &Gaps, options: &LearnOptions) -> Masking {
    if misses_single_cells(channels, gaps) {
        return Masking::Cells(0.75);
    }
    let usual = gaps.typical.unwrap_or(1.0);
    let longest = options.windows.rows / 3;
    let rows = |length: f64| ((length / usual).round() as usize).saturating_sub(1);
    let mut lengths: Vec<usize> = gaps
        .all
        .iter()
        .filter(|gap| gap.is_within(options.longest_gap))
        .map(Gap::length)
        .map(|length| rows(length).clamp(1, longest.max(1)))
        .collect();
    lengths.sort_unstable();
    // A hundred lengths, evenly over the sorted ones, tell the distribution.
    let every = lengths.len().div_ceil(100).max(1);
    let mut lengths: Vec<usize> = lengths.into_iter().step_by(every).collect();
    if lengths.is_empty() {
        lengths.push(1);
    }
    Masking::Runs {
        hidden: 0.25,
        lengths,
    }
}

/// Whether most gaps are single cells of some channels, and not rows or runs of rows.
fn misses_single_cells(channels: usize, gaps: &Gaps) -> bool {
    let shared = gaps.shared();
    let single = |gaps: &&Vec<Gap>| gaps.len() < channels && (1..=2).contains(&gaps[0].cells);
    2 * shared.iter().filter(single).count() > shared.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Compensation;

    fn options(set: &[&str]) -> Result<LearnOptions, String> {
        let mut settings = Settings::default();
        for pair in set {
            settings.set(pair).map_err(|error| error.to_string())?;
        }
        LearnOptions::from_settings(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn single_settings_replace_defaults() {
        assert_eq!(options(&[]).unwrap(), LearnOptions::default());
        let found = options(&[
            "model.compensation=hidden",
            "training.rate=0.5",
            "windows.rows=12",
            "training.masking={fraction=0.5}",
        ])
        .unwrap();
        assert_eq!(found.model.compensation(), Compensation::Hidden);
        assert_eq!(found.training.rate, 0.5);
        assert_eq!(found.windows.rows, 12);
        assert_eq!(found.training.masking, Masking::Fraction(0.5));
        assert!(found.written.has("training", "masking"));
    }

    #[test]
    fn a_setting_without_its_part_is_of_the_model_or_the_training() {
        let mut options = LearnOptions {
            longest_gap: Some(5.0),
            ..LearnOptions::default()
        };
        for pair in [
            "step=0.5",
            "clip=1.0",
            "windows.rows=12",
            "masking={count=3}",
        ] {
            options.set(pair).unwrap();
        }
        let ModelConfig::OdeRnn(model) = &options.model else {
            panic!("the default is an ODE-RNN")
        };
        assert_eq!((model.step, options.training.clip), (0.5, Some(1.0)));
        assert_eq!((options.windows.rows, options.longest_gap), (12, Some(5.0)));
        assert!(options.written.has("training", "masking"));
        assert!(options.set("speed=1").is_err());
        assert!(options.set("speed").is_err());
    }

    #[test]
    fn names_of_older_versions_still_work() {
        let old = options(&[
            "model.method=hidden-cssc",
            "model.initial-deviation=0.2",
            "training.observation={count=5}",
        ])
        .unwrap();
        assert_eq!(old.model.compensation(), Compensation::Hidden);
        let ModelConfig::OdeRnn(model) = &old.model else {
            panic!("the default is an ODE-RNN")
        };
        assert_eq!(model.initial_std_dev, 0.2);
        assert_eq!(old.training.masking, Masking::Count(5));
        assert!(old.written.has("training", "masking"));
    }

    #[test]
    fn wrong_settings_are_refused_by_name() {
        for (pair, words) in [
            ("training.speed=1", "training.speed: unknown field `speed`"),
            ("model.hidden=\"many\"", "model: hidden: invalid type"),
            ("training.rate=-1", "`rate` is -1"),
            ("model.step=0", "`step` is 0"),
            ("windows.rows=3", "`rows` is 3"),
            ("windows.stride=0", "`stride` is 0"),
        ] {
            let message = options(&[pair]).unwrap_err();
            assert!(message.contains(words), "{pair}: {message}");
        }
    }
}
