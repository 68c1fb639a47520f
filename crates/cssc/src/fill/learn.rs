//! From gappy data to a trained model.
//!
//! Long series are cut into windows; a tenth of the windows validates. What is hidden in
//! training has the pattern of the real gaps. Errors count in units of each channel's deviation.

use super::gap::{Gap, gaps, shared_gaps, typical_gap};
use super::windows::{Windows, cut};
use crate::EndRule;
use crate::Error;
use crate::data::{Dataset, Random, Scaler, TimeScaling, ValueScaling};
use crate::model::{Compensation, Model, ModelConfig, OdeRnnConfig};
use crate::train::{Control, Masking, Progress, RateSchedule, TrainConfig, Trainer};

/// How a model of people's data is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnOptions {
    /// Shape and behaviour of the model; `channels` is set from the data.
    pub model: ModelConfig,
    /// The training; `observation` is set from the gaps unless `keep_masking`.
    pub training: TrainConfig,
    /// Leaves `training.observation` as it is.
    pub keep_masking: bool,
    /// How long series are cut.
    pub windows: Windows,
    /// Typical distance of rows in the model's time.
    pub typical_gap: f64,
    /// Gaps longer than this are not imitated in training.
    pub longest_gap: Option<f64>,
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
            training: TrainConfig {
                steps: 1500,
                validate_every: 100,
                schedule: RateSchedule::OneCycle {
                    rise: 0.05,
                    floor: 0.001,
                },
                ..TrainConfig::default()
            },
            keep_masking: false,
            windows: Windows::default(),
            typical_gap: 0.2,
            longest_gap: None,
        }
    }
}

impl LearnOptions {
    /// The same with another method.
    #[must_use]
    pub fn with_method(&self, method: Compensation) -> Self {
        let mut options = self.clone();
        options.model.set_compensation(method);
        options
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
}

impl Learning {
    /// Cuts, scales and splits.
    ///
    /// # Errors
    /// If there is too little to learn from, with what there is.
    pub fn new(dataset: &Dataset, options: &LearnOptions) -> Result<Self, Error> {
        let mut options = options.clone();
        options.model.set_channels(dataset.channels());
        if !options.keep_masking {
            options.training.masking = masking(dataset, &options);
        }
        let windows = cut(dataset, options.windows)?;
        if windows.len() < 4 {
            return Err(Error::Setting(format!(
                "there are only {} stretches of at least four rows to learn from; give more \
                 data, or use a method that needs no training",
                windows.len()
            )));
        }
        let times = TimeScaling::TypicalGap(options.typical_gap);
        let scaler = Scaler::fit(&windows, ValueScaling::Standard, times)?;
        let scaled = scaler.scale_all(&windows)?;
        let mut numbers: Vec<usize> = (0..scaled.len()).collect();
        Random::stream(options.training.seed, 0x7661_6c69).shuffle(&mut numbers);
        let (validation, train) = numbers.split_at((scaled.len() / 10).clamp(1, 200));
        Ok(Self {
            scaler,
            train: scaled.subset(train),
            validation: scaled.subset(validation),
            options,
        })
    }

    /// A trainer for it.
    ///
    /// # Errors
    /// If settings are out of range.
    pub fn trainer(&self) -> Result<Trainer<'_>, Error> {
        Trainer::new(
            &self.options.model,
            &self.options.training,
            &self.train,
            &self.validation,
        )
    }

    /// What came of it, as a model.
    ///
    /// # Errors
    /// If the network is not one of this library.
    pub fn model(&self, trainer: Trainer<'_>) -> Result<Model, Error> {
        trainer.into_model(self.scaler.clone(), self.train.channel_names().to_vec())
    }
}

/// What is hidden in training looks like what is missing: a quarter of the cells where single
/// channels miss single values, otherwise runs of rows as long as the gaps are, a quarter of
/// the rows in all.
fn masking(dataset: &Dataset, options: &LearnOptions) -> Masking {
    if misses_single_cells(dataset) {
        return Masking::Cells(0.75);
    }
    let usual = typical_gap(dataset).unwrap_or(1.0);
    let longest = options.windows.rows / 3;
    let rows = |length: f64| ((length / usual).round() as usize).saturating_sub(1);
    let allowed = |length: f64| options.longest_gap.is_none_or(|most| length <= most);
    let mut lengths: Vec<usize> = gaps(dataset)
        .iter()
        .map(|gap| gap.length())
        .filter(|&length| allowed(length))
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
fn misses_single_cells(dataset: &Dataset) -> bool {
    let shared = shared_gaps(dataset);
    let single =
        |gaps: &&Vec<Gap>| gaps.len() < dataset.channels() && (1..=2).contains(&gaps[0].cells);
    2 * shared.iter().filter(single).count() > shared.len()
}

/// Trains a model on gappy data.
///
/// # Errors
/// If there is too little to learn from, settings are out of range or the training diverges.
pub fn learn(
    dataset: &Dataset,
    options: &LearnOptions,
    progress: impl FnMut(&Trainer<'_>, &Progress) -> Control,
) -> Result<Model, Error> {
    let learning = Learning::new(dataset, options)?;
    let mut trainer = learning.trainer()?;
    trainer.run(progress)?;
    learning.model(trainer)
}
