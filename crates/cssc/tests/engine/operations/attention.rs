//! Softmax attention over ragged groups of rows, and layer normalisation.

use super::{Matrix, Operation, filled};
use cssc::nn::{AttentionGroups, Float, Graph, LayerNorm, Parameters, Var};

/// Two heads of three columns.
pub(crate) const HEADS: usize = 2;
/// Columns of queries, keys and values.
pub(crate) const COLUMNS: usize = 6;
/// Four series: one query, none (its keys are not seen), more than fit into one register.
pub(crate) const QUERIES: [usize; 5] = [0, 3, 4, 4, 9];
/// Their keys.
pub(crate) const KEYS: [usize; 5] = [0, 2, 7, 8, 28];

/// The groups of [`Attention`].
pub(crate) fn groups() -> AttentionGroups<'static> {
    AttentionGroups {
        queries: &QUERIES,
        keys: &KEYS,
    }
}

/// Queries, keys and values of their own.
pub(crate) struct Attention;

impl Operation for Attention {
    fn operands(&self) -> Vec<Matrix> {
        vec![
            Matrix::random(QUERIES[4], COLUMNS, 81),
            Matrix::random(KEYS[4], COLUMNS, 82),
            Matrix::random(KEYS[4], COLUMNS, 83),
        ]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.attention([operands[0], operands[1], operands[2]], HEADS, groups())
    }
}

/// One matrix as queries, keys and values.
pub(crate) struct SelfAttention;

impl Operation for SelfAttention {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(KEYS[4], COLUMNS, 84)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let groups = AttentionGroups {
            queries: &KEYS,
            keys: &KEYS,
        };
        graph.attention([operands[0]; 3], HEADS, groups)
    }
}

/// Rows brought to mean 0 and variance 1; more columns than one register.
pub(crate) struct Normalization {
    pub(crate) layer: LayerNorm,
    parameters: Parameters<f64>,
}

impl Normalization {
    /// Columns.
    pub(crate) const WIDTH: usize = 19;

    pub(crate) fn new() -> Self {
        let mut parameters = Parameters::new();
        let layer = LayerNorm::new(&mut parameters, "norm", Self::WIDTH);
        Self {
            layer,
            parameters: filled(parameters),
        }
    }
}

impl Operation for Normalization {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(4, Self::WIDTH, 85)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.layer_norm(operands[0], &self.layer)
    }
}
