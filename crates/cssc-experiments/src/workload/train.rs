//! A training step of a whole model.

use super::{Array, Program, build};
use cssc::Error;
use cssc::compensate::EndRule;
use cssc::model::{Compensation, Network, OdeRnnConfig};
use cssc::nn::{Gradient, Parameters};
use cssc::ode::Solver;
use cssc::train::{LossStep, Optimizer, OptimizerKind, ParallelBatch, Sample};

const RATE: f64 = 0.005;

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
    pub(super) fn new(compensation: Compensation, samples: Vec<Sample>, optimise: bool) -> Self {
        let channels = samples[0].targets.len() / samples[0].query.len();
        let config = OdeRnnConfig {
            channels,
            compensation,
            end_rule: EndRule::Output,
            solver: Solver::Euler,
            step: 1e9,
            ..OdeRnnConfig::default()
        };
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
            LossStep::default(),
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
        arrays.extend(Array::of_outcome(&before, &self.gradient, self.loss));
        Ok(arrays)
    }
}
