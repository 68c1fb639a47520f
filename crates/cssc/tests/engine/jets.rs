//! Exact time derivatives against differences in time.
//!
//! A curve h(t) is given, or follows h' = f(h) by many small Runge-Kutta steps; o(t) = g(h(t))
//! is computed by plain forward passes, and its differences over t are compared with the jet.

use crate::operations::network::{Flow, NetworkJet, PAIRS};
use crate::operations::{Operation, evaluate};
use cssc::nn::{Graph, Layer, Memory, Mlp, Parameters};

const STEP: f64 = 1e-3;

/// Value, slope and curvature at 0 by differences of fourth order: errors of about
/// STEP⁴ = 1e-12 and 1e-16/STEP² = 1e-10.
pub(crate) fn differences(curve: impl Fn(f64) -> Vec<f64>) -> [Vec<f64>; 3] {
    let [a, b, m, c, d] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|i| curve(i * STEP));
    let each = |f: &dyn Fn(usize) -> f64| (0..m.len()).map(f).collect::<Vec<f64>>();
    let slope = each(&|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * STEP));
    let curvature =
        each(&|i| (-a[i] + 16.0 * b[i] - 30.0 * m[i] + 16.0 * c[i] - d[i]) / (12.0 * STEP * STEP));
    [m, slope, curvature]
}

/// Rows of value, slope and curvature side by side, as three blocks.
fn blocks(side_by_side: &[f64], columns: usize) -> [Vec<f64>; 3] {
    [0, 1, 2].map(|part| {
        let rows = side_by_side.chunks_exact(3 * columns);
        rows.flat_map(|row| &row[part * columns..(part + 1) * columns])
            .copied()
            .collect()
    })
}

pub(crate) fn compare(found: [Vec<f64>; 3], expected: [Vec<f64>; 3]) {
    for (order, tolerance) in [1e-14, 1e-9, 1e-7].into_iter().enumerate() {
        for (x, y) in found[order].iter().zip(&expected[order]) {
            assert!(
                (x - y).abs() < tolerance,
                "derivative {order}: jet {x}, difference {y}"
            );
        }
    }
}

fn forward(network: &Mlp, parameters: &Parameters<f64>, x: &[f64]) -> Vec<f64> {
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, parameters);
    let x = graph.input(x.len() / network.inputs(), network.inputs(), x);
    let y = network.forward(&mut graph, x);
    graph.value(y).to_vec()
}

/// a + factor·b.
fn moved(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

#[test]
fn a_jet_through_a_network_is_the_derivative_along_a_given_curve() {
    for activations in PAIRS {
        let operation = NetworkJet::new(activations);
        let (operands, parameters) = (operation.operands(), operation.parameters());
        let found = evaluate::<f64>(&operation, &operands, &parameters).result;
        let [h, slope, curvature] = [0, 1, 2].map(|i| &operands[i].values);
        let curve = |t: f64| {
            let h = moved(&moved(h, t, slope), 0.5 * t * t, curvature);
            forward(&operation.network.network, &parameters, &h)
        };
        compare(
            blocks(&found, operation.network.network.outputs()),
            differences(curve),
        );
    }
}

#[test]
fn a_jet_along_the_flow_is_the_derivative_of_the_decoded_solution() {
    for activations in PAIRS {
        let operation = Flow::new(activations);
        let (operands, parameters) = (operation.operands(), operation.parameters());
        let found = evaluate::<f64>(&operation, &operands, &parameters).result;
        let field = |h: &[f64]| forward(&operation.dynamics, &parameters, h);
        let curve = |t: f64| {
            // One classical Runge-Kutta step: its error t⁵ ~ 1e-15 does not count.
            let h = &operands[0].values;
            let k1 = field(h);
            let k2 = field(&moved(h, 0.5 * t, &k1));
            let k3 = field(&moved(h, 0.5 * t, &k2));
            let k4 = field(&moved(h, t, &k3));
            let outer = moved(&moved(h, t / 6.0, &k1), t / 6.0, &k4);
            let end = moved(&moved(&outer, t / 3.0, &k2), t / 3.0, &k3);
            forward(&operation.decoder, &parameters, &end)
        };
        compare(
            blocks(&found, operation.decoder.outputs()),
            differences(curve),
        );
    }
}
