//! The forward pass of a model alone.

use super::{Array, BATCH, POINTS, Program, WHOLE_GAP, build};
use cssc::Error;
use cssc::data::Random;
use cssc::model::{Batch, Compensation, Network, Observed, OdeRnnConfig};
use cssc::nn::{Graph, Memory, Parameters};
use cssc::train::{SHARD, Sample};
use rayon::prelude::*;

/// The forward pass alone.
pub(super) struct Infer {
    network: Box<dyn Network<f32>>,
    parameters: Parameters<f32>,
    samples: Vec<Sample>,
    shards: Vec<(Memory<f32>, Vec<f32>, Vec<usize>)>,
}

impl Infer {
    pub(super) fn new(samples: Vec<Sample>) -> Self {
        let config = OdeRnnConfig {
            compensation: Compensation::None,
            step: WHOLE_GAP,
            ..OdeRnnConfig::default()
        };
        let (network, parameters) = build(config);
        let shards = (0..BATCH.div_ceil(SHARD))
            .map(|_| (Memory::new(), Vec::new(), Vec::new()))
            .collect();
        Self {
            network,
            parameters,
            samples,
            shards,
        }
    }

    fn predicted(&self) -> Vec<f32> {
        let mut all = vec![0.0; BATCH * POINTS];
        for (i, (_, predicted, order)) in self.shards.iter().enumerate() {
            for (block, item) in predicted.chunks_exact(POINTS).zip(order) {
                let start = (i * SHARD + item) * POINTS;
                all[start..start + POINTS].copy_from_slice(block);
            }
        }
        all
    }
}

impl Program for Infer {
    fn run(&mut self) -> Result<(), Error> {
        let Self {
            network,
            parameters,
            samples,
            shards,
        } = self;
        let parts = samples.par_chunks(SHARD);
        shards
            .par_iter_mut()
            .zip(parts)
            .try_for_each(|((memory, predicted, order), part)| {
                let series: Vec<Observed<'_>> = part
                    .iter()
                    .map(|s| Observed::new(&s.times, &s.values, &s.query))
                    .collect();
                let mut graph = Graph::forward_only(memory, parameters);
                let batch = Batch {
                    series: &series,
                    training: None,
                };
                let prediction = network.predict(&mut graph, &batch, &mut Random::new(0))?;
                predicted.clear();
                predicted.extend_from_slice(graph.value(prediction.values));
                *order = prediction.order;
                Ok(())
            })
    }

    fn arrays(&mut self) -> Result<Vec<Array>, Error> {
        self.run()?;
        let mut arrays = Array::of_samples(&self.samples);
        arrays.extend(Array::of_parameters(&self.parameters));
        arrays.push(Array::new("predicted", &[BATCH, POINTS], self.predicted()));
        Ok(arrays)
    }
}
