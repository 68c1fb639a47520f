//! Fully connected layers.

use super::{Matrix, Operation, filled};
use cssc::data::Random;
use cssc::nn::{
    Activation, Float, Graph, Initializer, Linear, ParameterId, ParameterRole, Parameters, Var,
};

/// A layer on its own, with its store.
fn layer(inputs: usize, outputs: usize) -> (Linear, Parameters<f64>) {
    let mut parameters = Parameters::new();
    let zeros = Initializer::Zeros;
    let layer = Linear::new(
        &mut parameters,
        "layer",
        inputs,
        outputs,
        zeros,
        &mut Random::new(0),
    );
    (layer, filled(parameters))
}

/// φ(x·W + b).
pub(crate) struct Layer {
    pub(crate) activation: Activation,
    layer: Linear,
    parameters: Parameters<f64>,
}

impl Layer {
    pub(crate) fn new(activation: Activation) -> Self {
        let (layer, parameters) = layer(7, 19);
        Self {
            activation,
            layer,
            parameters,
        }
    }
}

impl Operation for Layer {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(5, 7, 1)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.linear(operands[0], &self.layer, self.activation)
    }
}

/// x·W: how derivatives pass a layer.
pub(crate) struct LayerTangent {
    layer: Linear,
    parameters: Parameters<f64>,
}

impl LayerTangent {
    pub(crate) fn new() -> Self {
        let (layer, parameters) = layer(6, 3);
        Self { layer, parameters }
    }
}

impl Operation for LayerTangent {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(8, 6, 2)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.linear_tangent(operands[0], &self.layer)
    }
}

/// x ← x + tanh(x·W + b)/`uses`, `uses` times: one weight, many gradients to sum.
pub(crate) struct RepeatedLayer {
    pub(crate) rows: usize,
    pub(crate) uses: usize,
    layer: Linear,
    parameters: Parameters<f64>,
}

impl RepeatedLayer {
    pub(crate) fn new(rows: usize, uses: usize) -> Self {
        let (layer, parameters) = layer(3, 3);
        Self {
            rows,
            uses,
            layer,
            parameters,
        }
    }
}

impl Operation for RepeatedLayer {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(self.rows, 3, 3)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let steps = vec![T::from_f64(1.0 / self.uses as f64); self.rows];
        (0..self.uses).fold(operands[0], |x, _| {
            let y = graph.linear(x, &self.layer, Activation::Tanh);
            graph.add_scaled(x, &[(y, T::ONE)], &steps)
        })
    }
}

/// A learned row, used twice: x + p, times p.
pub(crate) struct Learned {
    row: ParameterId,
    parameters: Parameters<f64>,
}

impl Learned {
    pub(crate) fn new() -> Self {
        let mut parameters = Parameters::new();
        let (role, zeros) = (ParameterRole::Bias, Initializer::Zeros);
        let row = parameters.add("row", role, [1, 4], zeros, &mut Random::new(0));
        Self {
            row,
            parameters: filled(parameters),
        }
    }
}

impl Operation for Learned {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(1, 4, 2)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let [row, again] = [0, 1].map(|_| graph.parameter(self.row));
        let sum = graph.add_row(operands[0], row);
        graph.product(sum, again)
    }
}
