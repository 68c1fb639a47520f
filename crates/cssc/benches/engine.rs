//! Parts of the engine: `cargo bench --bench engine`. Whole iterations: `cssc bench`.

use criterion::{Criterion, criterion_group, criterion_main};
use cssc::Jets;
use cssc::data::Random;
use cssc::nn::{
    Activation, AttentionGroups, Gradient, Graph, Initializer, Layer, Memory, Mlp, Parameters,
};

const ROWS: usize = 25;
const HIDDEN: usize = 15;

fn dynamics() -> (Mlp, Parameters<f32>, Vec<f32>) {
    let mut parameters = Parameters::new();
    let mut random = Random::new(1);
    let network = Mlp::new(
        &mut parameters,
        "f",
        &[HIDDEN, 300, 300, 300, 300, HIDDEN],
        [Activation::Tanh, Activation::Identity],
        Initializer::Normal(0.1),
        &mut random,
    );
    parameters.pack();
    let block = (0..ROWS * HIDDEN)
        .map(|_| random.normal(0.0, 1.0) as f32)
        .collect();
    (network, parameters, block)
}

fn passes(criterion: &mut Criterion) {
    let (network, mut parameters, block) = dynamics();
    let mut memory = Memory::new();
    let mut group = criterion.benchmark_group("f 15-300-300-300-300-15, 25 rows");
    group.bench_function("forward", |bencher| {
        bencher.iter(|| {
            let mut graph = Graph::forward_only(&mut memory, &parameters);
            let x = graph.input(ROWS, HIDDEN, &block);
            network.forward(&mut graph, x)
        });
    });
    let mut gradient = Gradient::zeros(&parameters);
    group.bench_function("forward and backward", |bencher| {
        bencher.iter(|| {
            let mut graph = Graph::new(&mut memory, &parameters);
            let x = graph.input(ROWS, HIDDEN, &block);
            let y = network.forward(&mut graph, x);
            let loss = graph.square(y, None, None, 1.0);
            graph.backward(loss, &mut gradient);
        });
    });
    group.bench_function("second-order jet, forward and backward", |bencher| {
        bencher.iter(|| {
            let mut graph = Graph::new(&mut memory, &parameters);
            let value = graph.input(ROWS, HIDDEN, &block);
            let jet = Jets {
                value,
                slope: value,
                curvature: value,
            };
            let jet = network.jet(&mut graph, jet);
            let loss = graph.square(jet.curvature, None, None, 1.0);
            graph.backward(loss, &mut gradient);
        });
    });
    group.bench_function("packing the weights", |bencher| {
        bencher.iter(|| parameters.pack());
    });
    group.finish();
}

fn activations(criterion: &mut Criterion) {
    let parameters = Parameters::<f32>::new();
    let mut memory = Memory::new();
    let block: Vec<f32> = (0..1_000_000)
        .map(|i| (i % 997) as f32 * 0.01 - 5.0)
        .collect();
    let mut group = criterion.benchmark_group("a million numbers");
    for activation in [
        Activation::Tanh,
        Activation::Silu,
        Activation::Gelu,
        Activation::Sine,
        Activation::Exp,
    ] {
        group.bench_function(format!("{activation:?}"), |bencher| {
            bencher.iter(|| {
                let mut graph = Graph::forward_only(&mut memory, &parameters);
                let x = graph.input(1000, 1000, &block);
                graph.activate(x, activation)
            });
        });
    }
    group.finish();
}

/// 25 series of 30 observations each, asked at 100 times, 4 heads of 24 columns.
fn attention(criterion: &mut Criterion) {
    const SERIES: usize = 25;
    const COLUMNS: usize = 96;
    let parameters = Parameters::<f32>::new();
    let mut gradient = Gradient::zeros(&parameters);
    let mut memory = Memory::new();
    let mut random = Random::new(2);
    let queries: Vec<usize> = (0..=SERIES).map(|i| 100 * i).collect();
    let keys: Vec<usize> = (0..=SERIES).map(|i| 30 * i).collect();
    let mut block = |rows: usize| -> Vec<f32> {
        (0..rows * COLUMNS)
            .map(|_| random.normal(0.0, 1.0) as f32)
            .collect()
    };
    let blocks = [100, 30, 30].map(|rows| block(rows * SERIES));
    let mut group = criterion.benchmark_group("attention, 25 series, 100 x 30, 4 heads of 24");
    for (name, backwards) in [("forward", false), ("forward and backward", true)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut graph = Graph::new(&mut memory, &parameters);
                let operands = blocks
                    .each_ref()
                    .map(|x| graph.tracked_input(x.len() / COLUMNS, COLUMNS, x));
                let groups = AttentionGroups {
                    queries: &queries,
                    keys: &keys,
                };
                let y = graph.attention(operands, 4, groups);
                if backwards {
                    let loss = graph.square(y, None, None, 1.0);
                    graph.backward(loss, &mut gradient);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, passes, activations, attention);
criterion_main!(benches);
