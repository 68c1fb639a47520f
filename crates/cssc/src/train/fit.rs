//! From settings and data to a model.

use super::trainer::{Control, Progress, TrainConfig, Trainer};
use crate::Error;
use crate::data::{Dataset, Scaler};
use crate::model::{Model, ModelConfig, ModelInfo};

/// Trains a model on `train`, validating on `validation` (which may be empty), both in the
/// user's units; `scaler` was fitted on the training part. `progress` is called after every
/// step and may stop the training.
///
/// # Errors
/// If settings do not fit the data, or the training diverges.
pub fn fit(
    model: &ModelConfig,
    config: &TrainConfig,
    scaler: &Scaler,
    train: &Dataset,
    validation: &Dataset,
    progress: impl FnMut(&Trainer<'_>, &Progress) -> Control,
) -> Result<Model, Error> {
    let scaled = scaler.scale_all(train)?;
    let scaled_validation = scaler.scale_all(validation)?;
    let mut trainer = Trainer::new(model, config, &scaled, &scaled_validation)?;
    trainer.run(progress)?;
    Ok(trainer.into_model(scaler.clone(), train.channel_names().to_vec()))
}

impl Trainer<'_> {
    /// Ends the training: the best parameters as a model.
    #[must_use]
    pub fn into_model(self, scaler: Scaler, channel_names: Vec<String>) -> Model {
        let training = self.config.clone();
        let (network, parameters, summary) = self.into_best();
        let about = ModelInfo {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            model: network.config().clone(),
            channel_names,
            scaler,
            training,
            summary,
        };
        Model::new(network, parameters, about)
    }
}
