//! Every system that is trained, at any sizes: so that a new one is tested like all others.

use cssc::model::{Compensation, MODEL_METHODS, ModelConfig};
use serde_json::{Value, json};

/// Sizes that all systems have in common.
#[derive(Clone, Copy, Debug)]
pub struct SystemSizes {
    pub channels: usize,
    /// Of every state.
    pub states: usize,
    /// Of every hidden layer.
    pub layers: usize,
    pub step: f64,
    pub initial_std_dev: f64,
    pub compensation_weight: f64,
}

impl SystemSizes {
    /// For tests that train.
    pub fn small() -> Self {
        Self {
            channels: 1,
            states: 8,
            layers: 16,
            step: 0.1,
            initial_std_dev: 0.3,
            compensation_weight: 1.0,
        }
    }

    /// The settings with these sizes; what a kind does not have is left out.
    pub fn of(&self, config: &ModelConfig) -> ModelConfig {
        let mut settings = serde_json::to_value(config).unwrap();
        for (name, value) in settings.as_object_mut().unwrap() {
            *value = match (name.as_str(), value.take()) {
                ("channels", _) => json!(self.channels),
                ("hidden" | "latent" | "prepared", _) => json!(self.states),
                ("cell" | "feed-forward", _) => json!(self.layers),
                // Attention: a width that its heads divide.
                ("frequencies" | "sines" | "code", _) => json!(self.states),
                ("width", _) => json!(4 * self.states.div_ceil(4)),
                ("heads", _) => json!(2),
                ("layers", _) => json!(1),
                ("step", _) => json!(self.step),
                ("initial-std-dev", _) => json!(self.initial_std_dev),
                ("compensation-weight", _) => json!(self.compensation_weight),
                // Lists of integers are widths of hidden layers.
                (_, Value::Array(widths)) if widths.iter().all(Value::is_u64) => {
                    json!([self.layers])
                }
                (_, other) => other,
            };
        }
        serde_json::from_value(settings).unwrap()
    }
}

/// Every method, and every method that compensates nothing with its output compensated, by name.
pub fn every_system(sizes: &SystemSizes) -> Vec<(String, ModelConfig)> {
    let mut all = Vec::new();
    for method in MODEL_METHODS {
        let config = sizes.of(&(method.config)());
        if let Ok(compensated) = config.with_compensation(Compensation::Output) {
            all.push((compensated.method(), compensated));
        }
        all.push((method.name.to_owned(), config));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|a, b| a.0 == b.0);
    all
}
