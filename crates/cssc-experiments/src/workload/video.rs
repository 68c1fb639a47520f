//! Frames to codes and back: the convolutions of videos and their gradient, without a model of codes.

use super::{Array, Program};
use cssc::Error;
use cssc::data::Random;
use cssc::model::{FrameDecoder, FrameEncoder, FramesConfig};
use cssc::nn::{Gradient, Graph, Memory, Parameters};
use cssc::train::SHARD;
use rayon::prelude::*;

const FRAMES: usize = 250;

/// The networks, their input and what one iteration gave.
pub(super) struct Video {
    encoder: FrameEncoder,
    decoder: FrameDecoder,
    parameters: Parameters<f32>,
    config: FramesConfig,
    frames: Vec<f32>,
    shards: Vec<(Memory<f32>, Gradient<f32>, f64)>,
    total: Gradient<f32>,
    loss: f64,
}

impl Video {
    pub(super) fn new(random: &mut Random) -> Self {
        let config = FramesConfig::default();
        let mut parameters = Parameters::new();
        let encoder = FrameEncoder::new(&mut parameters, &config, random);
        let decoder = FrameDecoder::new(&mut parameters, &config, random);
        parameters.pack();
        let frames = (0..FRAMES * config.pixels()).map(|_| random.unit() as f32);
        let shards = (0..FRAMES.div_ceil(SHARD))
            .map(|_| (Memory::new(), Gradient::zeros(&parameters), 0.0))
            .collect();
        Self {
            encoder,
            decoder,
            frames: frames.collect(),
            total: Gradient::zeros(&parameters),
            parameters,
            config,
            shards,
            loss: f64::NAN,
        }
    }
}

impl Program for Video {
    fn run(&mut self) -> Result<(), Error> {
        let pixels = self.config.pixels();
        let (encoder, decoder, parameters) = (&self.encoder, &self.decoder, &self.parameters);
        let parts = self.frames.par_chunks(SHARD * pixels);
        self.shards
            .par_iter_mut()
            .zip(parts)
            .for_each(|((memory, gradient, loss), part)| {
                gradient.values.fill(0.0);
                let mut graph = Graph::new(memory, parameters);
                let frames = graph.input(part.len() / pixels, pixels, part);
                let codes = encoder.forward(&mut graph, frames);
                let found = decoder.forward(&mut graph, codes);
                let scale = 1.0 / (FRAMES * pixels) as f64;
                let mean = graph.square(found, Some(frames), None, scale);
                graph.backward(mean, gradient);
                *loss = f64::from(graph.value(mean)[0]);
            });
        self.total.values.fill(0.0);
        for (_, gradient, _) in &self.shards {
            let pairs = self.total.values.iter_mut().zip(&gradient.values);
            pairs.for_each(|(sum, g)| *sum += g);
        }
        self.loss = self.shards.iter().map(|shard| shard.2).sum();
        Ok(())
    }

    fn arrays(&mut self) -> Result<Vec<Array>, Error> {
        self.run()?;
        let shape = [FRAMES, self.config.height, self.config.width];
        let mut arrays = vec![Array::new("frames", &shape, self.frames.clone())];
        arrays.extend(Array::of_outcome(&self.parameters, &self.total, self.loss));
        Ok(arrays)
    }
}
