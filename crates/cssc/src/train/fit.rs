//! From settings and data to a model.

use super::trainer::{Control, Progress, TrainConfig, Trainer};
use crate::Error;
use crate::data::{Dataset, Scaler};
use crate::model::{Model, ModelConfig, ModelInfo, Network};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

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
    trainer.into_model(scaler.clone(), train.channel_names().to_vec())
}

impl Trainer<'_> {
    /// Ends the training: the best parameters as a model, whose curves take steps as long as those in training.
    ///
    /// # Errors
    /// If the network is not one of this library: see [`Trainer::into_best`].
    pub fn into_model(
        mut self,
        scaler: Scaler,
        channel_names: Vec<String>,
    ) -> Result<Model, Error> {
        if let Some(rows) = self.train.mean_step() {
            self.model.shorten_steps(rows);
        }
        let (network, _) = self.model.plan::<f64>()?;
        Ok(self.into_model_of(network.into(), scaler, channel_names))
    }

    /// Ends the training of a network from outside this library, which is given in double precision.
    #[must_use]
    pub fn into_model_of(
        self,
        network: Arc<dyn Network<f64>>,
        scaler: Scaler,
        channel_names: Vec<String>,
    ) -> Model {
        let (model, training) = (self.model.clone(), to_json(&self.config));
        let (parameters, summary) = self.into_best();
        let info = ModelInfo {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            model,
            channel_names,
            scaler,
            season: None,
            times: None,
            training,
            summary: to_json(&summary),
        };
        Model::new(network, parameters, info)
    }
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("settings are numbers and names")
}
