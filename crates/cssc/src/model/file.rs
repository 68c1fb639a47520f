//! A trained model: networks, parameters, scaler and the story of its training, in one file.

use super::compensated::Compensation;
use super::config::ModelConfig;
use super::container::{self, Tensor};
use super::network::Network;
use super::season::Season;
use super::times::TimeInfo;
use crate::Error;
use crate::data::Scaler;
use crate::nn::Parameters;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

const FORMAT: &str = "cssc-model";

/// A trained model. Cloning it shares its numbers.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) network: Arc<dyn Network<f64>>,
    parameters: Arc<Parameters<f32>>,
    /// The same in double precision, for curves.
    pub(crate) precise: Arc<Parameters<f64>>,
    pub(crate) info: ModelInfo,
}

/// A network from outside this library for curves, and room for its parameters.
pub type Rebuilt = (Arc<dyn Network<f64>>, Parameters<f32>);

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
    /// What the calendar explains, which the networks never see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub season: Option<Season>,
    /// What times were in training; models from before version 2 do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<TimeInfo>,
    /// How it was trained: a [`TrainConfig`](crate::train::TrainConfig) as JSON.
    pub training: Value,
    /// What came of it: a [`Summary`](crate::train::Summary) as JSON.
    pub summary: Value,
}

impl Model {
    /// A model of any network, also one from outside this library ([`ModelConfig::Custom`]).
    #[must_use]
    pub fn new(
        network: Arc<dyn Network<f64>>,
        parameters: Parameters<f32>,
        info: ModelInfo,
    ) -> Self {
        Self {
            network,
            precise: Arc::new(parameters.cast()),
            parameters: Arc::new(parameters),
            info,
        }
    }

    /// Settings, scaler and training summary.
    #[must_use]
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &dyn Network<f64> {
        &*self.network
    }

    /// The same numbers with something else compensated: the paper's pre-hoc (trained with the
    /// compensation, applied without) and post-hoc (trained without, applied with) strategies.
    ///
    /// # Errors
    /// If this model cannot do that.
    pub fn with_compensation(&self, compensation: Compensation) -> Result<Self, Error> {
        let config = self.info.model.with_compensation(compensation)?;
        let (network, _) = config.plan::<f64>()?;
        let mut other = self.clone();
        other.network = network.into();
        other.info.model = config;
        Ok(other)
    }

    /// The same model of data whose season was taken off: it is taken off from every series, and put back into the curve.
    #[must_use]
    pub fn with_season(mut self, season: Option<Season>) -> Self {
        self.info.season = season;
        self
    }

    /// The same model, which knows what times were in training and can refuse others
    /// ([`TimeInfo::compare`]).
    #[must_use]
    pub fn with_times(mut self, times: Option<TimeInfo>) -> Self {
        self.info.times = times;
        self
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
        container::write(path, FORMAT, &self.info, &tensors(&self.parameters, ""))
    }

    /// Reads a model and checks it: nothing missing, nothing altered, every shape as its
    /// settings say, every number finite. Nothing in the file is ever run.
    ///
    /// # Errors
    /// If the file cannot be read or is not a whole, unaltered model this program knows.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let (info, tensors) = read(path)?;
        let count = tensors.iter().map(|tensor| tensor.values.len()).sum();
        let network = info.model.plan::<f64>().and_then(|(network, _)| {
            let (_, parameters) = info.model.blank::<f32>(count)?;
            Ok((network, parameters))
        });
        let (network, parameters) = network.map_err(|error| Error::content(path, error))?;
        Self::filled(path, network.into(), parameters, info, &tensors)
    }

    /// Reads a model whose network is from outside this library: `build` makes it from what the file
    /// says, in both precisions, with parameters of any content.
    ///
    /// # Errors
    /// As [`Model::load`], and what `build` says.
    pub fn load_with(
        path: &Path,
        build: impl FnOnce(&ModelInfo) -> Result<Rebuilt, Error>,
    ) -> Result<Self, Error> {
        let (info, tensors) = read(path)?;
        let (network, parameters) = build(&info)?;
        Self::filled(path, network, parameters, info, &tensors)
    }

    fn filled(
        path: &Path,
        network: Arc<dyn Network<f64>>,
        mut parameters: Parameters<f32>,
        info: ModelInfo,
        tensors: &[Tensor],
    ) -> Result<Self, Error> {
        fill(&mut parameters, tensors, "").map_err(|problem| Error::content(path, problem))?;
        Ok(Self::new(network, parameters, info))
    }
}

/// What stands in a file, as far as it can be checked without its network.
fn read(path: &Path) -> Result<(ModelInfo, Vec<Tensor>), Error> {
    let (info, tensors): (ModelInfo, Vec<Tensor>) = container::read(path, FORMAT)?;
    let channels = info.model.channels();
    if info.channel_names.len() != channels || info.scaler.channels() != channels {
        let problem = format!(
            "it names {} channels and scales {}, but its settings say {channels}",
            info.channel_names.len(),
            info.scaler.channels()
        );
        return Err(Error::content(path, problem));
    }
    let season = info.season.as_ref();
    let times = info.times.as_ref();
    season
        .map_or(Ok(()), |season| season.check(channels))
        .and_then(|()| times.map_or(Ok(()), TimeInfo::check))
        .map_err(|problem| Error::content(path, problem))?;
    Ok((info, tensors))
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
