//! A training step of a whole model.

use super::{Array, Program, WHOLE_GAP, build};
use cssc::Error;
use cssc::compensate::EndRule;
use cssc::data::Random;
use cssc::model::{
    Compensation, GruOdeBayesConfig, LatentCsscConfig, LatentOdeConfig, ModelConfig, Network,
    OdeRnnConfig,
};
use cssc::nn::{Gradient, Parameters};
use cssc::ode::Solver;
use cssc::train::{LossStep, Optimizer, OptimizerKind, ParallelBatch, SHARD, Sample};

const RATE: f64 = 0.005;

/// Half of a training, where all terms of a loss count.
const AT: LossStep = LossStep {
    fit_weight: 1.0,
    step: 1,
    steps: 2,
    seed: 0,
};

/// A training iteration of a whole model.
pub(super) struct Train {
    network: Box<dyn Network<f32>>,
    parameters: Parameters<f32>,
    samples: Vec<Sample>,
    shards: ParallelBatch<f32>,
    gradient: Gradient<f32>,
    optimizer: Option<Optimizer<f32>>,
    loss: f64,
}

impl Train {
    /// An ODE-RNN.
    pub(super) fn compensated(
        compensation: Compensation,
        samples: Vec<Sample>,
        optimise: bool,
    ) -> Self {
        let channels = samples[0].targets.len() / samples[0].query.len();
        let config = OdeRnnConfig {
            channels,
            compensation,
            end_rule: EndRule::Output,
            solver: Solver::Euler,
            step: WHOLE_GAP,
            ..OdeRnnConfig::default()
        };
        Self::new(config, samples, optimise)
    }

    pub(super) fn latent_ode(samples: Vec<Sample>) -> Self {
        let config = LatentOdeConfig {
            solver: Solver::Euler,
            step: WHOLE_GAP,
            ..LatentOdeConfig::default()
        };
        Self::new(config, samples, true)
    }

    pub(super) fn gru_ode_bayes(samples: Vec<Sample>) -> Self {
        let config = GruOdeBayesConfig {
            step: WHOLE_GAP,
            ..GruOdeBayesConfig::default()
        };
        Self::new(config, samples, true)
    }

    /// Every parameter is moved a little, so that those which begin at 0 have a gradient to compare.
    pub(super) fn latent_cssc(samples: Vec<Sample>) -> Self {
        let mut train = Self::new(LatentCsscConfig::default(), samples, true);
        let mut random = Random::new(3);
        for x in train.parameters.values_mut() {
            *x += random.normal(0.0, 0.05) as f32;
        }
        train.parameters.pack();
        train
    }

    fn new(config: impl Into<ModelConfig>, samples: Vec<Sample>, optimise: bool) -> Self {
        let (network, parameters) = build(config);
        Self {
            gradient: Gradient::zeros(&parameters),
            optimizer: optimise
                .then(|| Optimizer::new(OptimizerKind::AdaMax, 0.0, parameters.infos())),
            shards: ParallelBatch::new(),
            network,
            parameters,
            samples,
            loss: f64::NAN,
        }
    }
}

impl Program for Train {
    fn run(&mut self) -> Result<(), Error> {
        let gradient = &mut self.gradient;
        self.loss = self.shards.loss(
            &*self.network,
            &self.parameters,
            &self.samples,
            AT,
            gradient,
        )?;
        if let Some(optimizer) = &mut self.optimizer {
            optimizer.step(self.parameters.values_mut(), &gradient.values, 1.0, RATE);
            self.parameters.pack();
        }
        Ok(())
    }
    fn arrays(&mut self) -> Result<Vec<Array>, Error> {
        let before = self.parameters.clone();
        self.run()?;
        let mut arrays = Array::of_samples(&self.samples);
        arrays.push(draws(self.samples.len()));
        arrays.extend(Array::of_outcome(&before, &self.gradient, self.loss));
        Ok(arrays)
    }
}

/// The numbers that a Latent-ODE draws for its initial states, [batch, latent].
fn draws(batch: usize) -> Array {
    let latent = LatentOdeConfig::default().latent;
    let shards = (0..batch).step_by(SHARD).enumerate();
    let numbers = shards.flat_map(|(shard, first)| {
        let mut random = AT.draws(shard);
        let count = (batch - first).min(SHARD) * latent;
        (0..count).map(move |_| random.normal(0.0, 1.0) as f32)
    });
    Array::new("draws", &[batch, latent], numbers.collect())
}
