//! Attention and layer normalisation against plain loops, and their derivatives by time
//! against differences.

use crate::jets::{compare, differences};
use crate::operations::attention::{
    Attention, COLUMNS, HEADS, KEYS, Normalization, QUERIES, groups,
};
use crate::operations::{Matrix, Operation, evaluate};
use cssc::Jets;
use cssc::nn::{Graph, Layer, Memory, Parameters, Var};

/// Softmax attention as it is written in a book.
fn plain(queries: &[f64], keys: &[f64], values: &[f64]) -> Vec<f64> {
    let width = COLUMNS / HEADS;
    let mut out = vec![0.0; queries.len()];
    for (q_rows, k_rows) in QUERIES.windows(2).zip(KEYS.windows(2)) {
        for (head, row) in (0..HEADS).flat_map(|h| (q_rows[0]..q_rows[1]).map(move |r| (h, r))) {
            let at = |row: usize| row * COLUMNS + head * width;
            let weights: Vec<f64> = (k_rows[0]..k_rows[1])
                .map(|k| {
                    let dot: f64 = (0..width)
                        .map(|c| queries[at(row) + c] * keys[at(k) + c])
                        .sum();
                    (dot / (width as f64).sqrt()).exp()
                })
                .collect();
            let total: f64 = weights.iter().sum();
            for c in 0..width {
                let terms = weights.iter().zip(k_rows[0]..k_rows[1]);
                let sum: f64 = terms.map(|(w, k)| w * values[at(k) + c]).sum();
                out[at(row) + c] = sum / total;
            }
        }
    }
    out
}

#[test]
fn attention_is_the_mean_of_values_weighted_by_the_softmax_of_scores() {
    let operands = Attention.operands();
    let [q, k, v] = [0, 1, 2].map(|i| &operands[i].values);
    let expected = plain(q, k, v);
    let parameters = Parameters::new();
    let double = evaluate::<f64>(&Attention, &operands, &parameters).result;
    let single = evaluate::<f32>(&Attention, &operands, &parameters).result;
    for ((a, b), exact) in double.iter().zip(&single).zip(&expected) {
        assert!((a - exact).abs() < 1e-14 && (b - exact).abs() < 1e-6);
    }
}

#[test]
fn scores_of_any_size_do_not_overflow() {
    let mut operands = Attention.operands();
    operands[0].values.iter_mut().for_each(|q| *q *= 1e4);
    let found = evaluate::<f32>(&Attention, &operands, &Parameters::new());
    let all = found
        .result
        .iter()
        .chain(found.operand_gradients.iter().flatten());
    assert!(all.into_iter().all(|x| x.is_finite()));
}

#[test]
#[should_panic(expected = "series 1 has queries and no keys")]
fn queries_without_keys_are_refused() {
    let parameters = Parameters::<f64>::new();
    let mut memory = Memory::new();
    let mut graph = Graph::new(&mut memory, &parameters);
    let x = graph.input(2, 2, &[0.0; 4]);
    let k = graph.input(1, 2, &[0.0; 2]);
    let groups = cssc::nn::AttentionGroups {
        queries: &[0, 1, 2],
        keys: &[0, 1, 1],
    };
    graph.attention([x, k, k], 1, groups);
}

/// Value, slope and curvature found by `f` along x + t x' + t²/2 x''.
fn jet_of(
    parameters: &Parameters<f64>,
    x: &[Matrix; 3],
    f: impl Fn(&mut Graph<'_, f64>, Jets<Var>) -> Jets<Var>,
) -> [Vec<f64>; 3] {
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, parameters);
    let [value, slope, curvature] = x
        .each_ref()
        .map(|x| graph.input(x.rows, x.columns, &x.values));
    let jet = Jets {
        value,
        slope,
        curvature,
    };
    let y = f(&mut graph, jet);
    [y.value, y.slope, y.curvature].map(|var| graph.value(var).to_vec())
}

fn moved([x, slope, curvature]: &[Matrix; 3], t: f64) -> Vec<f64> {
    let terms = x.values.iter().zip(&slope.values).zip(&curvature.values);
    terms
        .map(|((x, s), c)| x + t * s + 0.5 * t * t * c)
        .collect()
}

#[test]
fn a_jet_through_attention_is_the_derivative_along_a_curve_of_queries() {
    let operands = Attention.operands();
    let [k, v] = [1, 2].map(|i| operands[i].clone());
    let x = [91, 92, 93].map(|seed| Matrix::random(QUERIES[4], COLUMNS, seed));
    let found = jet_of(&Parameters::new(), &x, |graph, jet| {
        let [k, v] = [&k, &v].map(|m| graph.input(m.rows, m.columns, &m.values));
        graph.attention_jet(jet, [k, v], HEADS, groups())
    });
    compare(
        found,
        differences(|t| plain(&moved(&x, t), &k.values, &v.values)),
    );
}

#[test]
fn a_jet_through_a_layer_normalization_is_the_derivative_along_a_curve() {
    let operation = Normalization::new();
    let parameters = operation.parameters();
    let x = [94, 95, 96].map(|seed| Matrix::random(4, Normalization::WIDTH, seed));
    let found = jet_of(&parameters, &x, |graph, jet| {
        operation.layer.jet(graph, jet)
    });
    let curve = |t: f64| {
        let mut memory = Memory::new();
        let mut graph = Graph::forward_only(&mut memory, &parameters);
        let x = graph.input(4, Normalization::WIDTH, &moved(&x, t));
        let y = operation.layer.forward(&mut graph, x);
        graph.value(y).to_vec()
    };
    compare(found, differences(curve));
}

#[test]
fn rows_are_normalized_to_mean_0_and_variance_1() {
    let mut parameters = Parameters::<f64>::new();
    let layer = cssc::nn::LayerNorm::new(&mut parameters, "norm", 20);
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, &parameters);
    let x = Matrix::random(3, 20, 97);
    let x = graph.input(3, 20, &x.values);
    let y = layer.forward(&mut graph, x);
    for row in graph.value(y).chunks_exact(20) {
        let mean = row.iter().sum::<f64>() / 20.0;
        let variance = row.iter().map(|y| y * y).sum::<f64>() / 20.0;
        assert!(mean.abs() < 1e-14 && (variance - 1.0).abs() < 1e-4);
    }
}
