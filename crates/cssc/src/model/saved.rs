//! A trained model: networks, parameters, scaler and the story of its training, in one file.

use super::config::ModelConfig;
use super::container::{self, Tensor};
use super::network::Network;
use crate::Error;
use crate::data::Scaler;
use crate::nn::Parameters;
use crate::train::{Summary, TrainConfig};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FORMAT: &str = "cssc-model";

/// A trained model.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) network: Network,
    pub(crate) parameters: Parameters<f32>,
    /// The same in double precision, for curves.
    pub(crate) precise: Parameters<f64>,
    pub(crate) about: ModelInfo,
}

/// Everything about a model but its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelInfo {
    /// Version of the program that wrote it.
    pub program: String,
    /// Shape and behaviour.
    pub model: ModelConfig,
    /// Names of the channels.
    pub channel_names: Vec<String>,
    /// From the user's units to the model's.
    pub scaler: Scaler,
    /// How it was trained.
    pub training: TrainConfig,
    /// What came of it.
    pub summary: Summary,
}

impl Model {
    pub(crate) fn new(network: Network, parameters: Parameters<f32>, about: ModelInfo) -> Self {
        let precise = parameters.cast();
        Self {
            network,
            parameters,
            precise,
            about,
        }
    }

    /// Settings, scaler and training summary.
    #[must_use]
    pub fn about(&self) -> &ModelInfo {
        &self.about
    }

    /// The networks.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters<f32> {
        &self.parameters
    }

    /// Writes the model, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        container::write(path, FORMAT, &self.about, &tensors(&self.parameters, ""))
    }

    /// Reads a model and checks it: nothing missing, nothing altered, every shape as its
    /// settings say, every number finite. Nothing in the file is ever run.
    ///
    /// # Errors
    /// If the file cannot be read or is not a whole, unaltered model this program knows.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let (about, tensors): (ModelInfo, Vec<Tensor>) = container::read(path, FORMAT)?;
        let wrong = |problem: String| Error::content(path, problem);
        about.model.check().map_err(wrong)?;
        let channels = about.model.channels;
        if about.channel_names.len() != channels || about.scaler.channels() != channels {
            return Err(wrong(format!(
                "it names {} channels and scales {}, but its settings say {channels}",
                about.channel_names.len(),
                about.scaler.channels()
            )));
        }
        let (network, mut parameters) = Network::empty(&about.model);
        fill(&mut parameters, &tensors, "").map_err(wrong)?;
        Ok(Self::new(network, parameters, about))
    }
}

/// All parameters as tensors whose names begin with `prefix`.
pub(crate) fn tensors(parameters: &Parameters<f32>, prefix: &str) -> Vec<Tensor> {
    parameters
        .infos()
        .iter()
        .map(|info| Tensor {
            name: format!("{prefix}{}", info.name),
            shape: info.shape.to_vec(),
            values: parameters.values()[info.range.clone()].to_vec(),
        })
        .collect()
}

/// Fills all parameters from the tensors whose names begin with `prefix`.
pub(crate) fn fill(
    parameters: &mut Parameters<f32>,
    tensors: &[Tensor],
    prefix: &str,
) -> Result<(), String> {
    let ours = tensors
        .iter()
        .filter(|t| t.name.starts_with(prefix))
        .count();
    if ours != parameters.infos().len() {
        return Err(format!(
            "it holds {ours} parameters, but a model of its settings has {}",
            parameters.infos().len()
        ));
    }
    for info in parameters.infos().to_vec() {
        let name = format!("{prefix}{}", info.name);
        let tensor = tensors
            .iter()
            .find(|tensor| tensor.name == name)
            .ok_or_else(|| format!("parameter `{name}` is missing"))?;
        if tensor.shape != info.shape {
            return Err(format!(
                "parameter `{name}` has shape {:?}, but its settings ask for {:?}",
                tensor.shape, info.shape
            ));
        }
        if let Some(index) = tensor.values.iter().position(|x| !x.is_finite()) {
            return Err(format!(
                "number {index} of parameter `{name}` is not finite"
            ));
        }
        parameters.values_mut()[info.range].copy_from_slice(&tensor.values);
    }
    parameters.pack();
    Ok(())
}
