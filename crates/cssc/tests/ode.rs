//! Solvers: each shows its order on a problem whose answer is known, and its exact discrete
//! gradient.
#![cfg(feature = "nn")]

use cssc::data::Random;
use cssc::nn::{Activation, Graph, Initializer, Memory, Mlp, Parameters};
use cssc::ode::{Solver, advance};

/// h' = tanh(h), whose solution is sinh h(t) = sinh h(0) · eᵗ: a network of one unit with
/// weights 1 (tanh layer, then identity).
fn tanh_field() -> (Mlp, Parameters<f64>) {
    let mut parameters = Parameters::new();
    let activations = [Activation::Tanh, Activation::Identity];
    let mut random = Random::new(0);
    let field = Mlp::new(
        &mut parameters,
        "f",
        &[1, 1, 1],
        activations,
        Initializer::Zeros,
        &mut random,
    );
    for name in ["f.0.weight", "f.1.weight"] {
        let id = parameters.find(name).unwrap();
        let range = parameters
            .infos()
            .iter()
            .find(|info| info.name == name)
            .unwrap()
            .range
            .clone();
        assert_eq!(parameters.get(id).len(), 1);
        parameters.values_mut()[range].fill(1.0);
    }
    parameters.pack();
    (field, parameters)
}

/// Errors at t = 1 and t = 2 from h = 0.7 and h = -0.3 with `steps` equal steps each.
fn error(solver: Solver, steps: usize) -> f64 {
    let (field, parameters) = tanh_field();
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, &parameters);
    let (starts, ends) = ([0.7, -0.3], [1.0, 2.0]);
    let mut state = graph.input(2, 1, &starts);
    let lengths = ends.map(|end: f64| end / steps as f64);
    for _ in 0..steps {
        state = advance(&mut graph, &field, solver.tableau(), state, &lengths, false).end;
    }
    let found = graph.value(state).to_vec();
    (0..2)
        .map(|i| (found[i] - (starts[i].sinh() * ends[i].exp()).asinh()).abs())
        .fold(0.0, f64::max)
}

#[test]
fn each_solver_shows_its_order() {
    for solver in Solver::ALL {
        let (coarse, fine) = (error(solver, 40), error(solver, 80));
        let order = (coarse / fine).log2();
        let expected = f64::from(solver.tableau().order);
        assert!(
            (order - expected).abs() < 0.1,
            "{solver:?}: order {order}, not {expected}"
        );
    }
}
