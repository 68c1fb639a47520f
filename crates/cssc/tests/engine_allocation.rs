//! An iteration asks the system for nothing once its memory is there.

#![cfg(feature = "nn")]

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use cssc::data::Random;
use cssc::nn::{
    Activation, AttentionGroups, GatedCell, Gradient, Graph, Initializer, KnotLimits, Layer,
    LayerNorm, Memory, Mlp, Parameters, SeriesKnots, Var,
};
use cssc::{CompensationOptions, Jets};

const ROWS: usize = 6;
const HIDDEN: usize = 5;
const CHANNELS: usize = 2;
const STEPS: usize = 30;
const TIMES: [f64; ROWS] = [0.0, 0.3, 0.4, 0.9, 1.1, 1.5];
const QUERY: [f64; 4] = [0.1, 0.35, 1.0, 1.5];

struct Model {
    dynamics: Mlp,
    decoder: Mlp,
    cell: GatedCell,
    norm: LayerNorm,
}

fn model() -> (Model, Parameters<f32>) {
    let mut parameters = Parameters::new();
    let mut random = Random::new(1);
    let (tanh, init) = (
        [Activation::Tanh, Activation::Identity],
        Initializer::Glorot,
    );
    let model = Model {
        dynamics: Mlp::new(
            &mut parameters,
            "f",
            &[HIDDEN, 40, HIDDEN],
            tanh,
            init,
            &mut random,
        ),
        decoder: Mlp::new(
            &mut parameters,
            "g",
            &[HIDDEN, 20, CHANNELS],
            tanh,
            init,
            &mut random,
        ),
        cell: GatedCell::new(
            &mut parameters,
            "cell",
            [HIDDEN, CHANNELS, 20],
            init,
            &mut random,
        ),
        norm: LayerNorm::new(&mut parameters, "norm", HIDDEN),
    };
    parameters.pack();
    (model, parameters)
}

/// A walk with updates, jets at its end, the compensation and a loss: every operation.
fn iteration(
    model: &Model,
    parameters: &Parameters<f32>,
    memory: &mut Memory<f32>,
    gradient: &mut Gradient<f32>,
) {
    gradient.values.fill(0.0);
    let mut graph = Graph::new(memory, parameters);
    let mut hidden = graph.input(ROWS, HIDDEN, &[0.3; ROWS * HIDDEN]);
    let observed = graph.input(ROWS, CHANNELS, &[0.5; ROWS * CHANNELS]);
    for step in 0..STEPS {
        let slope = model.dynamics.forward(&mut graph, hidden);
        hidden = graph.add_scaled(hidden, &[(slope, 1.0)], &[0.05; ROWS]);
        if step % 10 == 9 {
            hidden = model.cell.forward(&mut graph, hidden, observed);
        }
    }
    hidden = encoded(model, &mut graph, hidden);
    let trace = model.dynamics.forward_traced(&mut graph, hidden);
    let curvature = model.dynamics.tangent(&mut graph, &trace, trace.output);
    let state = Jets {
        value: hidden,
        slope: trace.output,
        curvature,
    };
    let limits = model.decoder.jet(&mut graph, state);
    let limits = KnotLimits {
        values: observed,
        left: limits,
        right: limits,
    };
    let series = [SeriesKnots {
        times: &TIMES,
        observed: None,
        query: &QUERY,
    }];
    let compensation = graph
        .compensate(series.into_iter(), limits, CompensationOptions::default())
        .expect("valid knots");
    let loss = graph.square(compensation, None, None, 1.0);
    graph.backward(loss, gradient);
}

/// Attention of normalised rows over themselves, in two groups, beside their group's mean.
fn encoded(model: &Model, graph: &mut Graph<'_, f32>, hidden: Var) -> Var {
    let offsets = [0, 2, ROWS];
    let groups = AttentionGroups {
        queries: &offsets,
        keys: &offsets,
    };
    let normal = model.norm.forward(graph, hidden);
    let seen = graph.attention([normal; 3], 1, groups);
    let means = graph.group_means(seen, &offsets);
    let spread = graph.collect(&[means], (0..ROWS).map(|r| (0, usize::from(r >= 2))));
    let rest = graph.difference(seen, spread);
    let rest = graph.scale(rest, 0.5);
    let both = graph.concat(rest, spread);
    let parts = [0, HIDDEN].map(|first| graph.columns_of(both, first, HIDDEN));
    let gelu = graph.activate(parts[0], Activation::Gelu);
    graph.sum(gelu, parts[1])
}

#[test]
fn an_iteration_allocates_nothing_after_two_to_warm_up() {
    let (model, parameters) = model();
    let (mut memory, mut gradient) = (Memory::new(), Gradient::zeros(&parameters));
    for _ in 0..2 {
        iteration(&model, &parameters, &mut memory, &mut gradient);
    }
    let one = allocations(|| drop(vec![0_u8; 7]));
    assert_eq!(one, 1, "the allocator counts");
    let found = allocations(|| {
        for _ in 0..3 {
            iteration(&model, &parameters, &mut memory, &mut gradient);
        }
    });
    assert_eq!(found, 0);
    assert!(
        gradient.values.iter().any(|&g| g != 0.0),
        "there is a gradient"
    );
}
