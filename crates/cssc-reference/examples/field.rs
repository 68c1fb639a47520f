//! One iteration of `cssc bench field` in plain candle and in cssc, in turn.
//!
//! ```text
//! RAYON_NUM_THREADS=2 cargo run --release -p cssc-reference --example field
//! ```

use candle_core::{DType, Result, Tensor};
use cssc::data::Random;
use cssc::nn::{Activation, Gradient, Graph, Initializer, Memory, Mlp, Parameters};
use cssc::ode::{Solver, advance};
use cssc_reference::{Named, Network, matrix, named};
use rayon::prelude::*;
use std::time::Instant;

const BATCH: usize = 50;
const SHARD: usize = 25;
const STEPS: usize = 100;
const WIDTHS: [usize; 6] = [15, 300, 300, 300, 300, 15];
const HIDDEN: usize = WIDTHS[0];
const LENGTH: f32 = 0.05;
const TANH: [Activation; 2] = [Activation::Tanh, Activation::Identity];
const ROUNDS: usize = 15;

fn main() -> Result<()> {
    let random = &mut Random::new(1);
    let mut parameters = Parameters::<f32>::new();
    let initial = Initializer::Normal(0.1);
    let dynamics = Mlp::new(&mut parameters, "dynamics", &WIDTHS, TANH, initial, random);
    parameters.pack();
    let start: Vec<f32> = (0..BATCH * HIDDEN)
        .map(|_| random.normal(0.0, 1.0) as f32)
        .collect();
    let variables = named(&parameters, DType::F32)?;
    let numbers = start.iter().map(|&x| f64::from(x));
    let tensor = matrix([BATCH, HIDDEN], numbers, DType::F32)?;
    let mut shards: Vec<_> = (0..BATCH / SHARD)
        .map(|_| (Memory::new(), Gradient::zeros(&parameters)))
        .collect();
    let mut times = [[f64::INFINITY; 2], [0.0; 2]];
    for _ in 0..ROUNDS {
        let clock = Instant::now();
        let theirs = in_candle(&variables, &tensor)?;
        let candle = clock.elapsed().as_secs_f64() * 1e3;
        let clock = Instant::now();
        let ours = in_cssc(&dynamics, &parameters, &start, &mut shards);
        let cssc = clock.elapsed().as_secs_f64() * 1e3;
        assert!(
            (theirs / ours - 1.0).abs() < 1e-5,
            "losses {theirs} and {ours}"
        );
        times[0] = [times[0][0].min(candle), times[0][1].min(cssc)];
        times[1] = [times[1][0] + candle, times[1][1] + cssc];
    }
    let [shortest, total] = times;
    let mean = total.map(|time| time / ROUNDS as f64);
    println!("threads {}", rayon::current_num_threads());
    println!("candle  {:7.1} ms (mean {:.1})", shortest[0], mean[0]);
    println!("cssc    {:7.1} ms (mean {:.1})", shortest[1], mean[1]);
    Ok(())
}

fn in_candle(variables: &Named, start: &Tensor) -> Result<f64> {
    let dynamics = Network {
        parameters: variables,
        name: "dynamics",
        depth: WIDTHS.len() - 1,
        activations: TANH,
    };
    let mut state = start.clone();
    let mut states = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        state = (&state + (dynamics.forward(&state)? * f64::from(LENGTH))?)?;
        states.push(state.clone());
    }
    let loss = Tensor::cat(&states, 0)?.sqr()?.mean_all()?;
    loss.backward()?;
    Ok(f64::from(loss.to_scalar::<f32>()?))
}

fn in_cssc(
    dynamics: &Mlp,
    parameters: &Parameters<f32>,
    start: &[f32],
    shards: &mut [(Memory<f32>, Gradient<f32>)],
) -> f64 {
    let parts = start.par_chunks(SHARD * HIDDEN);
    let losses = shards
        .par_iter_mut()
        .zip(parts)
        .map(|((memory, gradient), part)| {
            gradient.values.fill(0.0);
            let mut graph = Graph::new(memory, parameters);
            let mut state = graph.input(SHARD, HIDDEN, part);
            let tableau = Solver::Euler.tableau();
            let states: Vec<_> = (0..STEPS)
                .map(|_| {
                    let lengths = [LENGTH; SHARD];
                    state = advance(&mut graph, dynamics, tableau, state, &lengths);
                    state
                })
                .collect();
            let picks = (0..STEPS).flat_map(|step| (0..SHARD).map(move |row| (step, row)));
            let all = graph.collect(&states, picks);
            let scale = 1.0 / (BATCH * STEPS * HIDDEN) as f64;
            let loss = graph.square(all, None, None, scale);
            graph.backward(loss, gradient);
            f64::from(graph.value(loss)[0])
        });
    losses.sum()
}
