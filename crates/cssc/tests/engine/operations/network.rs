//! Compositions: networks, their jets, the gated cell, a step of an ODE-RNN.

use super::{Matrix, Operation, filled};
use cssc::Jets;
use cssc::data::Random;
use cssc::nn::{Activation, Float, GatedCell, Graph, Initializer, Layer, Mlp, Parameters, Var};

/// Activation of the hidden layers and after the last.
pub(crate) const PAIRS: [[Activation; 2]; 6] = [
    [Activation::Tanh, Activation::Identity],
    [Activation::Tanh, Activation::Sigmoid],
    [Activation::Silu, Activation::Identity],
    [Activation::Softplus, Activation::Tanh],
    [Activation::Gelu, Activation::Identity],
    [Activation::Sine, Activation::Sine],
];

/// Widths of f in [`Flow`] and [`OdeRnn`], and of the networks.
pub(crate) const DYNAMICS: [usize; 4] = [3, 9, 6, 3];
/// Widths of g.
pub(crate) const DECODER: [usize; 3] = [3, 8, 2];

fn mlp(
    parameters: &mut Parameters<f64>,
    name: &str,
    widths: &[usize],
    activations: [Activation; 2],
) -> Mlp {
    let mut random = Random::new(0);
    Mlp::new(
        parameters,
        name,
        widths,
        activations,
        Initializer::Zeros,
        &mut random,
    )
}

/// A network's value.
pub(crate) struct Network {
    #[allow(dead_code)] // read by whoever compares with another engine
    pub(crate) activations: [Activation; 2],
    pub(crate) network: Mlp,
    parameters: Parameters<f64>,
}

impl Network {
    pub(crate) fn new(activations: [Activation; 2]) -> Self {
        let mut parameters = Parameters::new();
        let network = mlp(&mut parameters, "network", &DYNAMICS, activations);
        Self {
            activations,
            network,
            parameters: filled(parameters),
        }
    }
}

impl Operation for Network {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(5, DYNAMICS[0], 61)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        self.network.forward(graph, operands[0])
    }
}

/// Value, slope and curvature through a network, side by side.
pub(crate) struct NetworkJet {
    pub(crate) network: Network,
    rows: usize,
}

impl NetworkJet {
    pub(crate) fn new(activations: [Activation; 2]) -> Self {
        Self::of_rows(activations, 5)
    }

    pub(crate) fn of_rows(activations: [Activation; 2], rows: usize) -> Self {
        Self {
            network: Network::new(activations),
            rows,
        }
    }
}

impl Operation for NetworkJet {
    fn operands(&self) -> Vec<Matrix> {
        (62..65)
            .map(|seed| Matrix::random(self.rows, DYNAMICS[0], seed))
            .collect()
    }
    fn parameters(&self) -> Parameters<f64> {
        self.network.parameters()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let jet = Jets {
            value: operands[0],
            slope: operands[1],
            curvature: operands[2],
        };
        let jet = self.network.network.jet(graph, jet);
        side_by_side(graph, jet)
    }
}

fn side_by_side<T: Float>(graph: &mut Graph<'_, T>, jet: Jets<Var>) -> Var {
    let both = graph.concat(jet.value, jet.slope);
    graph.concat(both, jet.curvature)
}

/// o, ȯ, ö for o = g(h), h' = f(h): the exact derivatives of a prediction.
pub(crate) struct Flow {
    #[allow(dead_code)] // read by whoever compares with another engine
    pub(crate) activations: [Activation; 2],
    pub(crate) dynamics: Mlp,
    pub(crate) decoder: Mlp,
    parameters: Parameters<f64>,
}

impl Flow {
    pub(crate) fn new(activations: [Activation; 2]) -> Self {
        let mut parameters = Parameters::new();
        let dynamics = mlp(&mut parameters, "dynamics", &DYNAMICS, activations);
        let decoder = mlp(&mut parameters, "decoder", &DECODER, activations);
        Self {
            activations,
            dynamics,
            decoder,
            parameters: filled(parameters),
        }
    }
}

impl Operation for Flow {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(5, DYNAMICS[0], 65)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let value = operands[0];
        let trace = self.dynamics.forward_traced(graph, value);
        let slope = trace.output;
        let curvature = self.dynamics.tangent(graph, &trace, slope);
        let hidden = Jets {
            value,
            slope,
            curvature,
        };
        let jet = self.decoder.jet(graph, hidden);
        side_by_side(graph, jet)
    }
}

/// Widths of [`Cell`]: state, input, gate networks.
pub(crate) const CELL: [usize; 3] = [3, 4, 5];

/// The gated recurrent unit.
pub(crate) struct Cell {
    cell: GatedCell,
    parameters: Parameters<f64>,
}

impl Cell {
    pub(crate) fn new() -> Self {
        let mut parameters = Parameters::new();
        let zeros = Initializer::Zeros;
        let cell = GatedCell::new(&mut parameters, "cell", CELL, zeros, &mut Random::new(0));
        Self {
            cell,
            parameters: filled(parameters),
        }
    }
}

impl Operation for Cell {
    fn operands(&self) -> Vec<Matrix> {
        vec![
            Matrix::random(5, CELL[0], 66),
            Matrix::random(5, CELL[1], 67),
        ]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        self.cell.forward(graph, operands[0], operands[1])
    }
}

/// Step length of each row of [`OdeRnn`].
pub(crate) const STEPS: [f64; 5] = [0.1, 0.4, 0.25, 0.3, 0.2];
/// Its rows with an observation at the end of the step.
pub(crate) const UPDATED: [usize; 3] = [0, 2, 4];

/// An Euler step, the update of the rows that are observed, and the read-out.
pub(crate) struct OdeRnn {
    dynamics: Mlp,
    cell: GatedCell,
    decoder: Mlp,
    parameters: Parameters<f64>,
}

impl OdeRnn {
    pub(crate) fn new() -> Self {
        let mut parameters = Parameters::new();
        let (zeros, mut random) = (Initializer::Zeros, Random::new(0));
        let dynamics = mlp(&mut parameters, "dynamics", &DYNAMICS, PAIRS[0]);
        let cell = GatedCell::new(&mut parameters, "cell", CELL, zeros, &mut random);
        let decoder = mlp(&mut parameters, "decoder", &DECODER, PAIRS[0]);
        Self {
            dynamics,
            cell,
            decoder,
            parameters: filled(parameters),
        }
    }
}

impl Operation for OdeRnn {
    fn operands(&self) -> Vec<Matrix> {
        vec![
            Matrix::random(5, CELL[0], 68),
            Matrix::random(UPDATED.len(), CELL[1], 69),
        ]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let [hidden, inputs] = [operands[0], operands[1]];
        let slope = self.dynamics.forward(graph, hidden);
        let left = graph.add_scaled(hidden, &[(slope, T::ONE)], &STEPS.map(T::from_f64));
        let observed = graph.collect(&[left], UPDATED.map(|row| (0, row)));
        let updated = self.cell.forward(graph, observed, inputs);
        let picks = (0..5).map(|row| match UPDATED.iter().position(|&u| u == row) {
            Some(place) => (1, place),
            None => (0, row),
        });
        let right = graph.collect(&[left, updated], picks);
        self.decoder.forward(graph, right)
    }
}
