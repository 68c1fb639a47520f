//! The batch is cut into shards of fixed size; threads only choose who computes which.

use cssc::data::Random;
use cssc::nn::{Activation, Gradient, Graph, Initializer, Layer, Memory, Mlp, Parameters};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

const ROWS: usize = 5;
const SHARDS: usize = 7;

/// Four Euler steps of h' = f(h) on every shard: losses and the summed gradient, as bits.
fn train_step(threads: usize) -> (Vec<u32>, Vec<u32>) {
    let mut parameters = Parameters::<f32>::new();
    let mut random = Random::new(3);
    let activations = [Activation::Tanh, Activation::Identity];
    let init = Initializer::Glorot;
    let f = Mlp::new(
        &mut parameters,
        "f",
        &[4, 33, 21, 4],
        activations,
        init,
        &mut random,
    );
    parameters.pack();
    let states: Vec<f32> = (0..SHARDS * ROWS * 4)
        .map(|_| random.uniform(-1.0, 1.0) as f32)
        .collect();
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let shards: Vec<(f32, Gradient<f32>)> = pool.install(|| {
        states
            .par_chunks_exact(ROWS * 4)
            .map(|h| shard(&parameters, &f, h))
            .collect()
    });
    let mut sum = Gradient::zeros(&parameters);
    for (_, gradient) in &shards {
        sum.values
            .iter_mut()
            .zip(&gradient.values)
            .for_each(|(sum, g)| *sum += g);
    }
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect();
    (
        bits(shards.iter().map(|one| one.0).collect()),
        bits(sum.values),
    )
}

fn shard(parameters: &Parameters<f32>, f: &Mlp, h: &[f32]) -> (f32, Gradient<f32>) {
    let mut memory = Memory::new();
    let mut graph = Graph::new(&mut memory, parameters);
    let mut h = graph.input(ROWS, 4, h);
    for _ in 0..4 {
        let slope = f.forward(&mut graph, h);
        h = graph.add_scaled(h, &[(slope, 1.0)], &[0.1; ROWS]);
    }
    let loss = graph.square(h, None, None, 1.0);
    let mut gradient = Gradient::zeros(parameters);
    let value = graph.value(loss)[0];
    graph.backward(loss, &mut gradient);
    (value, gradient)
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() {
    let alone = train_step(1);
    assert!(alone.1.iter().any(|&bits| bits != 0), "there is a gradient");
    assert_eq!(alone, train_step(2));
    assert_eq!(alone, train_step(8));
}

#[test]
fn memory_used_before_changes_nothing() {
    let mut parameters = Parameters::<f32>::new();
    let mut random = Random::new(4);
    let activations = [Activation::Tanh, Activation::Identity];
    let f = Mlp::new(
        &mut parameters,
        "f",
        &[3, 17, 2],
        activations,
        Initializer::Glorot,
        &mut random,
    );
    parameters.pack();
    let mut memory = Memory::new();
    let mut once = |rows: usize| {
        let mut graph = Graph::new(&mut memory, &parameters);
        let x: Vec<f32> = (0..rows * 3).map(|i| (i as f32 * 0.7).sin()).collect();
        let x = graph.input(rows, 3, &x);
        let y = f.forward(&mut graph, x);
        let loss = graph.square(y, None, None, 1.0);
        let mut gradient = Gradient::zeros(&parameters);
        graph.backward(loss, &mut gradient);
        gradient
    };
    let first = once(6);
    once(31);
    assert_eq!(first, once(6));
}
