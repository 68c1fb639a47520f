//! The bare field: 100 Euler steps of h' = f(h) and their gradient, without cell and decoder.

use super::{Array, BATCH, GRID_STEP, POINTS, Program};
use cssc::Error;
use cssc::data::Random;
use cssc::nn::{Activation, Gradient, Graph, Initializer, Memory, Mlp, Parameters};
use cssc::ode::{Solver, advance};
use cssc::train::SHARD;
use rayon::prelude::*;

const HIDDEN: usize = 15;

/// The field, its input and what one iteration gave.
pub(super) struct Field {
    dynamics: Mlp,
    parameters: Parameters<f32>,
    initial: Vec<f32>,
    shards: Vec<(Memory<f32>, Gradient<f32>, f64)>,
    total: Gradient<f32>,
    loss: f64,
}

impl Field {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut parameters = Parameters::new();
        let dynamics = Mlp::new(
            &mut parameters,
            "dynamics",
            &[HIDDEN, 300, 300, 300, 300, HIDDEN],
            [Activation::Tanh, Activation::Identity],
            Initializer::Normal(0.1),
            random,
        );
        parameters.pack();
        let initial = (0..BATCH * HIDDEN)
            .map(|_| random.normal(0.0, 1.0) as f32)
            .collect();
        let shards = (0..BATCH.div_ceil(SHARD))
            .map(|_| (Memory::new(), Gradient::zeros(&parameters), 0.0))
            .collect();
        let total = Gradient::zeros(&parameters);
        Self {
            dynamics,
            parameters,
            initial,
            shards,
            total,
            loss: f64::NAN,
        }
    }
}

impl Program for Field {
    fn run(&mut self) -> Result<(), Error> {
        let Self {
            dynamics,
            parameters,
            initial,
            shards,
            ..
        } = self;
        let parts = initial.par_chunks(SHARD * HIDDEN);
        shards
            .par_iter_mut()
            .zip(parts)
            .for_each(|((memory, gradient, loss), part)| {
                let rows = part.len() / HIDDEN;
                gradient.values.fill(0.0);
                let mut graph = Graph::new(memory, parameters);
                let mut state = graph.input(rows, HIDDEN, part);
                let lengths = vec![GRID_STEP as f32; rows];
                let tableau = Solver::Euler.tableau();
                let states: Vec<_> = (0..POINTS)
                    .map(|_| {
                        state = advance(&mut graph, dynamics, tableau, state, &lengths);
                        state
                    })
                    .collect();
                let picks = (0..POINTS).flat_map(|step| (0..rows).map(move |row| (step, row)));
                let all = graph.collect(&states, picks);
                let scale = 1.0 / (BATCH * POINTS * HIDDEN) as f64;
                let mean = graph.square(all, None, None, scale);
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
        let mut arrays = vec![Array::new(
            "initial",
            &[BATCH, HIDDEN],
            self.initial.clone(),
        )];
        arrays.extend(Array::of_outcome(&self.parameters, &self.total, self.loss));
        Ok(arrays)
    }
}
