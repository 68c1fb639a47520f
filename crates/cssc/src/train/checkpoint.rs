//! A training on disk: everything needed to go on bit for bit.
//!
//! Batches and observations are functions of seed and step, so the data position and the
//! random state are the step number. Beside the parameters there are the optimiser's two
//! averages, the same three before the last step (to undo it), and the best parameters.

use super::optimizer::OptimizerState;
use super::trainer::{MOST_RECOVERIES, Summary, TrainConfig, Trainer, Weights};
use crate::Error;
use crate::data::Dataset;
use crate::model::ModelConfig;
use crate::model::container::{self, Tensor};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FORMAT: &str = "cssc-checkpoint";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct State {
    model: ModelConfig,
    training: TrainConfig,
    data: u64,
    summary: Summary,
    rate_factor: f64,
    validations_since_best: u32,
    optimizer_steps: u64,
    undo_steps: Option<u64>,
    has_best: bool,
}

impl State {
    /// Whether the numbers can be those of a training: a file can be whole and make no sense.
    fn check(&self, tensors: &[Tensor]) -> Result<(), String> {
        self.training.check()?;
        let planned = self
            .model
            .plan::<f32>()
            .map_err(|error| error.to_string())?;
        let count = planned.1.count();
        for tensor in tensors {
            let Tensor { name, values, .. } = tensor;
            if values.len() != count {
                return Err(format!(
                    "`{name}` is of {} numbers, but a model of its settings has {count}",
                    values.len()
                ));
            }
            if let Some(index) = values.iter().position(|x| !x.is_finite()) {
                return Err(format!("number {index} of `{name}` is not finite"));
            }
        }
        let steps = self.summary.steps;
        let later = [Some(self.optimizer_steps), self.undo_steps];
        if let Some(later) = later.into_iter().flatten().find(|&step| step > steps) {
            return Err(format!(
                "it was written at step {steps}, but its optimiser has made {later}"
            ));
        }
        // Every recovery halves the rate, and there are few.
        let least = 0.5_f64.powi(MOST_RECOVERIES as i32);
        if !(least..=1.0).contains(&self.rate_factor) || self.summary.recoveries > MOST_RECOVERIES {
            return Err(format!(
                "its rate is multiplied by {} after {} recoveries; a factor from {least} to 1 is possible",
                self.rate_factor, self.summary.recoveries
            ));
        }
        Ok(())
    }
}

impl<'d> Trainer<'d> {
    /// Writes the training as it is now, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_checkpoint(&self, path: &Path) -> Result<(), Error> {
        let state = State {
            model: self.model.clone(),
            training: self.config.clone(),
            data: self.fingerprint(),
            summary: self.summary.clone(),
            rate_factor: self.rate_factor,
            validations_since_best: self.validations_since_best,
            optimizer_steps: self.optimizer.steps,
            undo_steps: self.last_good.as_ref().map(|good| good.optimizer.steps),
            has_best: self.best.is_some(),
        };
        let mut tensors = vec![
            flat("now.parameters", self.parameters.values()),
            flat("now.mean", &self.optimizer.mean),
            flat("now.size", &self.optimizer.size),
        ];
        if let Some(good) = &self.last_good {
            tensors.push(flat("undo.parameters", &good.values));
            tensors.push(flat("undo.mean", &good.optimizer.mean));
            tensors.push(flat("undo.size", &good.optimizer.size));
        }
        if let Some(best) = &self.best {
            tensors.push(flat("best.parameters", best));
        }
        container::write(path, FORMAT, &state, &tensors)
    }

    /// Goes on from a checkpoint with the same data. Its settings are those of the run it was
    /// written by; only `steps` and `seconds` may be changed, through `adjust`.
    ///
    /// # Errors
    /// If the file cannot be read, is not whole, or belongs to other data.
    pub fn resume(
        path: &Path,
        train: &'d Dataset,
        validation: &Dataset,
        adjust: impl FnOnce(&mut TrainConfig),
    ) -> Result<Self, Error> {
        let (state, tensors): (State, Vec<Tensor>) = container::read(path, FORMAT)?;
        let wrong = |problem: String| Error::content(path, problem);
        state.check(&tensors).map_err(wrong)?;
        let mut training = state.training.clone();
        adjust(&mut training);
        let mut trainer = Self::new(&state.model, &training, train, validation)?;
        if trainer.fingerprint() != state.data {
            return Err(wrong(
                "it was written by a training on other data; give the same data, or start anew"
                    .to_owned(),
            ));
        }
        let count = trainer.parameters.values().len();
        let get = |name: &str| -> Result<Vec<f32>, Error> {
            let found = tensors.iter().find(|tensor| tensor.name == name);
            match found {
                Some(tensor) if tensor.values.len() == count => Ok(tensor.values.clone()),
                _ => Err(wrong(format!(
                    "`{name}` is missing or not of {count} numbers"
                ))),
            }
        };
        let optimizer = |part: &str, steps| -> Result<OptimizerState<f32>, Error> {
            Ok(OptimizerState {
                steps,
                mean: get(&format!("{part}.mean"))?,
                size: get(&format!("{part}.size"))?,
            })
        };
        trainer
            .parameters
            .values_mut()
            .copy_from_slice(&get("now.parameters")?);
        trainer.parameters.pack();
        let now = optimizer("now", state.optimizer_steps)?;
        trainer.optimizer.restore(&now);
        if let Some(steps) = state.undo_steps {
            let values = get("undo.parameters")?;
            trainer.last_good = Some(Weights {
                values,
                optimizer: optimizer("undo", steps)?,
            });
        }
        if state.has_best {
            trainer.best = Some(get("best.parameters")?);
        }
        trainer.summary = state.summary;
        trainer.rate_factor = state.rate_factor;
        trainer.validations_since_best = state.validations_since_best;
        Ok(trainer)
    }
}

fn flat(name: &str, values: &[f32]) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: vec![values.len()],
        values: values.to_vec(),
    }
}
