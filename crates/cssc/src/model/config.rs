//! All models by their settings: the only place that knows every kind.

use super::compensated::Compensation;
use super::frames::{Frames, FramesConfig};
use super::gru_d::{GruD, GruDConfig};
use super::gru_ode_bayes::{GruOdeBayes, GruOdeBayesConfig};
use super::latent_cssc::{LatentCssc, LatentCsscConfig};
use super::latent_ode::{LatentOde, LatentOdeConfig};
use super::network::Network;
use super::ode_rnn::{OdeRnn, OdeRnnConfig};
use super::rnn_dt::{RnnDt, RnnDtConfig};
use crate::Error;
use crate::nn::{Float, Parameters};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Shape and behaviour of a model, told apart by `kind`. The defaults of each kind are those of its
/// paper, as far as it says.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModelConfig {
    /// An ODE-RNN, plain or compensated: CSSC and hidden CSSC.
    OdeRnn(OdeRnnConfig),
    /// A recurrent network that reads the time since the last observation.
    RnnDt(RnnDtConfig),
    /// A recurrent network whose inputs and state decay.
    GruD(GruDConfig),
    /// A curve from an initial state that all observations determine.
    LatentOde(LatentOdeConfig),
    /// A continuous gated recurrent unit with Bayesian updates.
    GruOdeBayes(GruOdeBayesConfig),
    /// Attention to all observations and a smooth decoder, compensated.
    LatentCssc(LatentCsscConfig),
    /// Videos: an encoder and a decoder of frames around one of the others.
    Frames(FramesConfig),
    /// A network from outside this library; its program builds it.
    Custom(CustomConfig),
}

/// What is known of a network from outside this library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CustomConfig {
    /// Its name.
    pub name: String,
    /// Channels of the data.
    pub channels: usize,
    /// Whatever its program wants to find again.
    #[serde(default)]
    pub settings: Value,
}

/// A method by its name in the paper's tables: a kind of model, and what is compensated.
#[derive(Clone, Copy, Debug)]
pub struct ModelMethod {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    /// Its settings by default.
    pub config: fn() -> ModelConfig,
    /// Settings of its training, NAME=VALUE, where it learns better with others than the defaults.
    pub training: &'static [&'static str],
}

fn ode_rnn(compensation: Compensation) -> ModelConfig {
    ModelConfig::OdeRnn(OdeRnnConfig {
        compensation,
        ..OdeRnnConfig::default()
    })
}

/// All methods that are trained, the simpler first.
pub const MODEL_METHODS: &[ModelMethod] = &[
    ModelMethod {
        name: "rnn-dt",
        description: "a recurrent network that reads the time since the last observation",
        config: || RnnDtConfig::default().into(),
        training: &[],
    },
    ModelMethod {
        name: "gru-d",
        description: "a recurrent network whose inputs and state decay between observations",
        config: || GruDConfig::default().into(),
        training: &[],
    },
    ModelMethod {
        name: "latent-ode",
        description: "an ODE from an initial state that all observations determine: no jumps",
        config: || LatentOdeConfig::default().into(),
        training: &[],
    },
    ModelMethod {
        name: "gru-ode-bayes",
        description: "a continuous recurrent unit that says how sure it is: jumps",
        config: || GruOdeBayesConfig::default().into(),
        training: &[],
    },
    ModelMethod {
        name: "ode-rnn",
        description: "an ODE between observations, a recurrent update at each: jumps",
        config: || ode_rnn(Compensation::None),
        training: &[],
    },
    ModelMethod {
        name: "cssc",
        description: "an ODE-RNN with the compensation of its output",
        config: || ode_rnn(Compensation::Output),
        training: &[],
    },
    ModelMethod {
        name: "hidden-cssc",
        description: "an ODE-RNN with the compensation of its state",
        config: || ode_rnn(Compensation::Hidden),
        training: &[],
    },
    ModelMethod {
        name: "latent-cssc",
        description: "attention to all observations, a smooth decoder, the compensation",
        config: || ModelConfig::LatentCssc(LatentCsscConfig::default()),
        // Muon reaches in 500 steps a third of the error of Adam (DESIGN.md).
        training: &[
            "optimizer=muon",
            "rate=0.005",
            "weight-decay=0.0001",
            "clip=1.0",
        ],
    },
];

/// One arm a kind.
macro_rules! each {
    (
        $model:expr,
        $config:ident => $body:expr,
        frames $frames:ident => $video:expr,
        custom $custom:ident => $other:expr
    ) => {
        match $model {
            ModelConfig::OdeRnn($config) => $body,
            ModelConfig::RnnDt($config) => $body,
            ModelConfig::GruD($config) => $body,
            ModelConfig::LatentOde($config) => $body,
            ModelConfig::GruOdeBayes($config) => $body,
            ModelConfig::LatentCssc($config) => $body,
            ModelConfig::Frames($frames) => $video,
            ModelConfig::Custom($custom) => $other,
        }
    };
}

/// A number type in which networks are built: `f32` to train, `f64` for curves. Networks are generic, and
/// generic code is compiled again in every program that uses it; through this trait they are compiled
/// once, here.
pub trait Precision: Float {
    /// The network of `config`, its parameters added to the store.
    ///
    /// # Errors
    /// As [`ModelConfig::build`].
    fn network(
        config: &ModelConfig,
        parameters: &mut Parameters<Self>,
        seed: u64,
    ) -> Result<Box<dyn Network<Self>>, Error>;
}

macro_rules! precision {
    ($($number:ty),*) => {
        $(impl Precision for $number {
            fn network(
                config: &ModelConfig,
                parameters: &mut Parameters<Self>,
                seed: u64,
            ) -> Result<Box<dyn Network<Self>>, Error> {
                config.build_in(parameters, seed)
            }
        })*
    };
}

precision!(f32, f64);

/// Most parameters of a model: 1 GiB in single precision, which the optimiser and the kernels hold
/// several times. The paper's models have less than a thousandth of it.
const MOST_PARAMETERS: usize = 1 << 28;

/// A network with its parameters.
pub type Built<T> = (Box<dyn Network<T>>, Parameters<T>);

impl Default for ModelConfig {
    fn default() -> Self {
        Self::OdeRnn(OdeRnnConfig::default())
    }
}

/// Settings of each kind are settings of a model.
macro_rules! from_settings {
    ($($variant:ident($config:ty)),*) => {
        $(impl From<$config> for ModelConfig {
            fn from(config: $config) -> Self {
                Self::$variant(config)
            }
        })*
    };
}

from_settings!(
    OdeRnn(OdeRnnConfig),
    RnnDt(RnnDtConfig),
    GruD(GruDConfig),
    LatentOde(LatentOdeConfig),
    GruOdeBayes(GruOdeBayesConfig),
    LatentCssc(LatentCsscConfig),
    Frames(FramesConfig)
);

impl ModelConfig {
    /// The default settings of a method, if there is one of that name.
    #[must_use]
    pub fn of_method(name: &str) -> Option<Self> {
        let method = MODEL_METHODS.iter().find(|method| method.name == name)?;
        Some((method.config)())
    }

    /// The method these settings are; a compensated model that has no name of its own has `+cssc`.
    #[must_use]
    pub fn method(&self) -> String {
        let named = |method: &&ModelMethod| {
            let config = (method.config)();
            std::mem::discriminant(&config) == std::mem::discriminant(self)
                && config.compensation() == self.compensation()
        };
        match self {
            Self::Custom(custom) => return custom.name.clone(),
            Self::Frames(frames) => return frames.inner.method(),
            _ => (),
        }
        match MODEL_METHODS.iter().find(named) {
            Some(method) => method.name.to_owned(),
            None => format!("{}+cssc", self.kind()),
        }
    }

    /// Settings of a training, NAME=VALUE, with which these models learn better than with the defaults.
    #[must_use]
    pub fn training_settings(&self) -> &'static [&'static str] {
        let name = self.method();
        let method = MODEL_METHODS.iter().find(|method| method.name == name);
        let method = method.or_else(|| {
            MODEL_METHODS
                .iter()
                .find(|method| method.name == self.kind())
        });
        method.map_or(&[], |method| method.training)
    }

    /// Whether it learns better without the season of the data: what sees a few hundred values of its window does, and
    /// what walks from row to row with all channels finds more in the values themselves (DESIGN.md has the numbers).
    #[must_use]
    pub fn suits_season(&self) -> bool {
        matches!(self, Self::LatentCssc(_))
    }

    /// The kind of model, as in `kind`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OdeRnn(_) => "ode-rnn",
            Self::RnnDt(_) => "rnn-dt",
            Self::GruD(_) => "gru-d",
            Self::LatentOde(_) => "latent-ode",
            Self::GruOdeBayes(_) => "gru-ode-bayes",
            Self::LatentCssc(_) => "latent-cssc",
            Self::Frames(_) => "frames",
            Self::Custom(_) => "custom",
        }
    }

    /// Channels of the data.
    #[must_use]
    pub fn channels(&self) -> usize {
        each!(
            self,
            config => config.channels,
            frames frames => frames.pixels(),
            custom custom => custom.channels
        )
    }

    /// Sets the channels of the data.
    pub fn set_channels(&mut self, channels: usize) {
        each!(
            self,
            config => config.channels = channels,
            frames frames => frames.set_pixels(channels),
            custom custom => custom.channels = channels
        );
    }

    /// Shortens the steps of the solver to those that were made in training, where they end at every row. A field learns
    /// what its solver does with it: with steps twice as long, models of toy curves had two to seven times their error.
    pub fn shorten_steps(&mut self, longest: f64) {
        let step = match self {
            Self::OdeRnn(config) => &mut config.step,
            Self::LatentOde(config) => &mut config.step,
            Self::GruOdeBayes(config) => &mut config.step,
            Self::Frames(config) => return config.inner.shorten_steps(longest),
            Self::RnnDt(_) | Self::GruD(_) | Self::LatentCssc(_) | Self::Custom(_) => return,
        };
        if longest > 0.0 {
            *step = step.min(longest);
        }
    }

    /// Sets rows and columns of the frames of videos: a model of series of numbers becomes one of videos, with itself
    /// inside.
    pub fn set_frame(&mut self, [height, width]: [usize; 2]) {
        let around = match self {
            Self::Custom(custom) => {
                custom.channels = height * width;
                return;
            }
            Self::Frames(frames) => frames.clone(),
            ref inner => FramesConfig::around((*inner).clone()),
        };
        *self = Self::Frames(FramesConfig {
            height,
            width,
            ..around
        });
    }

    /// What is compensated.
    #[must_use]
    pub fn compensation(&self) -> Compensation {
        each!(
            self,
            config => config.compensation,
            frames frames => frames.inner.compensation(),
            custom _custom => Compensation::None
        )
    }

    /// Sets what is compensated, where the library knows the model.
    pub fn set_compensation(&mut self, compensation: Compensation) {
        each!(
            self,
            config => config.compensation = compensation,
            frames frames => frames.inner.set_compensation(compensation),
            custom _custom => ()
        );
    }

    /// The same model with something else compensated; its parameters are laid out the same way.
    ///
    /// # Errors
    /// If this model cannot do that.
    pub fn with_compensation(&self, compensation: Compensation) -> Result<Self, Error> {
        let mut other = self.clone();
        each!(
            &mut other,
            config => config.compensation = compensation,
            frames frames => frames.inner.set_compensation(compensation),
            custom custom => return Err(custom.unknown())
        );
        other.check()?;
        Ok(other)
    }

    /// Checks that all settings are in their range.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), Error> {
        each!(
            self,
            config => config.check().map_err(Error::Setting),
            frames frames => frames.check().map_err(Error::Setting),
            custom _custom => Ok(())
        )
    }

    /// The network of these settings, with parameters drawn from `seed`.
    ///
    /// # Errors
    /// If a setting is out of range, or the network is not one of this library.
    pub fn build<T: Precision>(&self, seed: u64) -> Result<Built<T>, Error> {
        let (_, planned) = self.plan::<T>()?;
        if planned.count() > MOST_PARAMETERS {
            return Err(Error::Setting(format!(
                "a model of these settings has {} parameters, and {MOST_PARAMETERS} are the most; give \
                 smaller layers",
                planned.count()
            )));
        }
        let mut parameters = Parameters::new();
        let network = T::network(self, &mut parameters, seed)?;
        parameters.pack();
        Ok((network, parameters))
    }

    /// The network with parameters that are all zero and not packed, to be filled from a file that holds
    /// `count` numbers.
    pub(crate) fn blank<T: Precision>(&self, count: usize) -> Result<Built<T>, Error> {
        let (_, planned) = self.plan::<T>()?;
        if planned.count() != count {
            return Err(Error::Setting(format!(
                "it holds {count} numbers, but a model of its settings has {}",
                planned.count()
            )));
        }
        let mut parameters = Parameters::blank();
        let network = T::network(self, &mut parameters, 0)?;
        Ok((network, parameters))
    }

    /// The network, with the names and shapes of its parameters only.
    pub(crate) fn plan<T: Precision>(&self) -> Result<Built<T>, Error> {
        let mut parameters = Parameters::planned();
        let network = T::network(self, &mut parameters, 0)?;
        Ok((network, parameters))
    }

    fn build_in<T: Precision>(
        &self,
        parameters: &mut Parameters<T>,
        seed: u64,
    ) -> Result<Box<dyn Network<T>>, Error> {
        self.check()?;
        Ok(match self {
            Self::OdeRnn(config) => Box::new(OdeRnn::new(config, parameters, seed)),
            Self::RnnDt(config) => Box::new(RnnDt::new(config, parameters, seed)),
            Self::GruD(config) => Box::new(GruD::new(config, parameters, seed)),
            Self::LatentOde(config) => Box::new(LatentOde::new(config, parameters, seed)),
            Self::GruOdeBayes(config) => Box::new(GruOdeBayes::new(config, parameters, seed)),
            Self::LatentCssc(config) => Box::new(LatentCssc::new(config, parameters, seed)),
            Self::Frames(config) => {
                let inner = T::network(&config.inner, parameters, seed)?;
                Box::new(Frames::new(config, inner, parameters, seed))
            }
            Self::Custom(custom) => return Err(custom.unknown()),
        })
    }
}

impl CustomConfig {
    fn unknown(&self) -> Error {
        Error::Setting(format!(
            "`{}` is not a model of this library; only the program that made it can build it",
            self.name
        ))
    }
}

/// By `kind`; settings from before there were kinds are those of an ODE-RNN.
impl<'de> Deserialize<'de> for ModelConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut settings = Map::<String, Value>::deserialize(deserializer)?;
        let kind = match settings.remove("kind") {
            None => "ode-rnn".to_owned(),
            Some(Value::String(kind)) => kind,
            Some(other) => {
                return Err(D::Error::custom(format!(
                    "`kind` is {other}, expected a name"
                )));
            }
        };
        let settings = Value::Object(settings);
        let config = match kind.as_str() {
            "ode-rnn" => named(settings).map(Self::OdeRnn),
            "rnn-dt" => named(settings).map(Self::RnnDt),
            "gru-d" => named(settings).map(Self::GruD),
            "latent-ode" => named(settings).map(Self::LatentOde),
            "gru-ode-bayes" => named(settings).map(Self::GruOdeBayes),
            "latent-cssc" => named(settings).map(Self::LatentCssc),
            "frames" => named(settings).map(Self::Frames),
            "custom" => named(settings).map(Self::Custom),
            _ => {
                return Err(D::Error::custom(format!(
                    "there is no kind of model `{kind}`"
                )));
            }
        };
        config.map_err(D::Error::custom)
    }
}

/// Settings of one kind; what is wrong is told with the name of the setting.
fn named<T: DeserializeOwned>(
    settings: Value,
) -> Result<T, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_what_its_name_says() {
        for method in MODEL_METHODS {
            let config = (method.config)();
            assert_eq!(config.method(), method.name);
            assert_eq!(ModelConfig::of_method(method.name), Some(config));
        }
    }

    #[test]
    fn settings_come_back_from_json_by_their_kind() {
        for method in MODEL_METHODS {
            let config = (method.config)();
            let json = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<ModelConfig>(&json).unwrap(), config);
        }
        let message = |json| {
            serde_json::from_str::<ModelConfig>(json)
                .unwrap_err()
                .to_string()
        };
        assert!(message(r#"{"kind":"oracle"}"#).contains("no kind of model `oracle`"));
        assert!(message(r#"{"kind":"ode-rnn","hiden":3}"#).contains("hiden"));
    }

    #[test]
    fn settings_from_before_there_were_kinds_are_read() {
        let old = r#"{"method":"hidden-cssc","initial-deviation":0.2}"#;
        let expected = OdeRnnConfig {
            compensation: Compensation::Hidden,
            initial_std_dev: 0.2,
            ..OdeRnnConfig::default()
        };
        assert_eq!(
            serde_json::from_str::<ModelConfig>(old).unwrap(),
            expected.into()
        );
    }
}
