//! The gradient of every operation against central differences, in f64.

use crate::operations::{self, ACTIVATIONS, Matrix, Operation, evaluate};
use cssc::data::Random;
use cssc::nn::{Gradient, Graph, Memory, Parameters};

/// Truncation is about STEP² and rounding about 1e-16/STEP, both far below the tolerance.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-6;

/// The one check: each entry of each gradient, relative to the largest entry of its block.
fn check(operation: &impl Operation) {
    let (operands, parameters) = (operation.operands(), operation.parameters());
    let found = evaluate::<f64>(operation, &operands, &parameters);
    let loss = |operands: &[Matrix], parameters: &Parameters<f64>| {
        evaluate::<f64>(operation, operands, parameters).loss
    };
    for (operand, gradient) in found.operand_gradients.iter().enumerate() {
        let differences = central(gradient.len(), |i, step| {
            let mut moved = operands.clone();
            moved[operand].values[i] += step;
            loss(&moved, &parameters)
        });
        compare(&format!("operand {operand}"), gradient, &differences);
    }
    for info in parameters.infos() {
        let differences = central(info.range.len(), |i, step| {
            let mut moved = parameters.clone();
            moved.values_mut()[info.range.start + i] += step;
            moved.pack();
            loss(&operands, &moved)
        });
        compare(
            &info.name,
            &found.parameter_gradient[info.range.clone()],
            &differences,
        );
    }
}

fn central(count: usize, loss: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    (0..count)
        .map(|i| (loss(i, STEP) - loss(i, -STEP)) / (2.0 * STEP))
        .collect()
}

fn compare(what: &str, gradient: &[f64], differences: &[f64]) {
    let largest = differences.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
    for (i, (g, d)) in gradient.iter().zip(differences).enumerate() {
        assert!(
            (g - d).abs() <= TOLERANCE * largest.max(1e-3),
            "{what}, entry {i}: gradient {g}, central difference {d}"
        );
    }
}

every_operation!(check);

#[test]
fn no_gradient_flows_through_what_is_detached() {
    let parameters = Parameters::<f64>::new();
    let mut memory = Memory::new();
    let mut graph = Graph::new(&mut memory, &parameters);
    let x = graph.tracked_input(1, 3, &[1.5, -2.0, 0.5]);
    let constant = graph.detach(x);
    let y = graph.product(x, constant);
    assert_eq!(graph.value(y), [2.25, 4.0, 0.25]);
    let loss = graph.square(y, None, None, 0.5);
    let mut found = Vec::new();
    graph.backward_with(loss, &mut Gradient::zeros(&parameters), |var, g| {
        assert_eq!(var, x, "only the tracked input has a gradient");
        found.extend_from_slice(g);
    });
    // y ⊙ x: the derivative by the factor that is not detached, and no more.
    assert_eq!(found, [3.375, -8.0, 0.125]);
}

#[test]
fn a_computation_without_gradients_gives_the_same_numbers() {
    let operation = operations::network::OdeRnn::new();
    let parameters = operation.parameters();
    let run = |mut graph: Graph<'_, f64>| {
        let inputs: Vec<_> = operation
            .operands()
            .iter()
            .map(|x| graph.input(x.rows, x.columns, &x.values))
            .collect();
        let y = operation.run(&mut graph, &inputs);
        graph.value(y).to_vec()
    };
    let recorded = run(Graph::new(&mut Memory::new(), &parameters));
    let plain = run(Graph::forward_only(&mut Memory::new(), &parameters));
    assert_eq!(recorded, plain);
}

#[test]
fn gradients_of_two_losses_add_up_in_one_buffer() {
    let operation = operations::network::Network::new(operations::network::PAIRS[0]);
    let parameters = operation.parameters();
    let mut random = Random::new(5);
    let x: Vec<f64> = (0..12).map(|_| random.uniform(-1.0, 1.0)).collect();
    let mut memory = Memory::new();
    let mut add = |rows: &[f64], gradient: &mut Gradient<f64>| {
        let mut graph = Graph::new(&mut memory, &parameters);
        let x = graph.input(rows.len() / 3, 3, rows);
        let y = operation.run(&mut graph, &[x]);
        let loss = graph.square(y, None, None, 1.0);
        graph.backward(loss, gradient);
    };
    let (mut whole, mut halves) = (Gradient::zeros(&parameters), Gradient::zeros(&parameters));
    add(&x, &mut whole);
    add(&x[..6], &mut halves);
    add(&x[6..], &mut halves);
    for (a, b) in whole.values.iter().zip(&halves.values) {
        assert!((a - b).abs() <= 1e-14 * a.abs().max(1.0), "{a} {b}");
    }
}
