//! Settings of a model of videos.

use crate::model::{LatentOdeConfig, ModelConfig, OdeRnnConfig};
use serde::{Deserialize, Serialize};

/// How often the encoder halves a side.
pub(super) const HALVINGS: u32 = 3;

/// Shape and behaviour of a model of videos.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct FramesConfig {
    /// Rows of pixels, a multiple of 8. Default 32.
    pub height: usize,
    /// Pixels of a row, a multiple of 8. Default 32.
    pub width: usize,
    /// Numbers of a code. Default 32.
    pub code: usize,
    /// Channels of the encoder's first layer and of the decoder's last but one; further inside they double. Default 16.
    pub filters: usize,
    /// The model of the codes; its channels are the numbers of a code. Default hidden CSSC.
    pub inner: Box<ModelConfig>,
}

impl Default for FramesConfig {
    fn default() -> Self {
        let inner = ModelConfig::of_method("hidden-cssc").unwrap_or_default();
        Self::around(inner)
    }
}

impl FramesConfig {
    /// Videos of 32 x 32 pixels for a model of codes. Where the size of its state is the default of its kind, made for
    /// a few channels, it becomes one that can hold a frame.
    #[must_use]
    pub fn around(mut inner: ModelConfig) -> Self {
        widen(&mut inner);
        let mut config = Self {
            height: 32,
            width: 32,
            code: 32,
            filters: 16,
            inner: Box::new(inner),
        };
        config.inner.set_channels(config.code);
        config
    }

    /// Pixels of a frame.
    #[must_use]
    pub const fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Takes another number of pixels as those of a square, if they can be one; [`FramesConfig::check`] tells otherwise.
    pub fn set_pixels(&mut self, pixels: usize) {
        if pixels != self.pixels() {
            let side = pixels.isqrt();
            (self.height, self.width) = (side, pixels / side.max(1));
        }
    }

    /// What is wrong with these settings, if anything.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        let unit = 2usize.pow(HALVINGS);
        for (name, side) in [("height", self.height), ("width", self.width)] {
            if side == 0 || !side.is_multiple_of(unit) || side > 1024 {
                return Err(format!(
                    "`{name}` is {side}; give a multiple of {unit} up to 1024"
                ));
            }
        }
        for (name, count) in [("code", self.code), ("filters", self.filters)] {
            if !(1..=1024).contains(&count) {
                return Err(format!("`{name}` is {count}; give 1 to 1024"));
            }
        }
        if matches!(*self.inner, ModelConfig::Frames(_) | ModelConfig::Custom(_)) {
            return Err(format!(
                "`inner` is of kind {}; give a model of series of numbers",
                self.inner.kind()
            ));
        }
        if self.inner.channels() != self.code {
            return Err(format!(
                "`inner.channels` is {}, but `code` is {}; give the same",
                self.inner.channels(),
                self.code
            ));
        }
        self.inner.check().map_err(|error| error.to_string())
    }
}

/// Numbers of a state that can hold two digits and where they go; with 15 they cannot be told apart.
const STATE: usize = 64;

/// Gives a state of default size room for a frame, with smaller networks around it for the same time.
fn widen(inner: &mut ModelConfig) {
    match inner {
        ModelConfig::OdeRnn(config) if config.hidden == OdeRnnConfig::default().hidden => {
            config.hidden = STATE;
            config.dynamics = vec![200; 2];
            config.decoder = vec![128];
        }
        ModelConfig::LatentOde(config) if config.latent == LatentOdeConfig::default().latent => {
            (config.latent, config.hidden) = (STATE, STATE);
            config.dynamics = vec![200; 2];
            config.encoder_dynamics = vec![200; 2];
            config.decoder = vec![128];
        }
        _ => (),
    }
}
