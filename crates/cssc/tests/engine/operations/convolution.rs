//! Convolutions of images, their transposes, and means over squares.

use super::{Matrix, Operation, filled};
use cssc::Jets;
use cssc::data::Random;
use cssc::nn::{
    Activation, AveragePooling, Convolution, Float, Graph, ImageShape, Kernel, Layer, Parameters,
    Var,
};

/// A convolution on its own, with its store.
pub(crate) struct Images {
    pub(crate) layer: Convolution,
    parameters: Parameters<f64>,
}

impl Images {
    fn new(transposed: bool, [side, stride, padding]: [usize; 3], activation: Activation) -> Self {
        let mut parameters = Parameters::new();
        let kernel = Kernel {
            side,
            stride,
            padding,
        };
        let shape = (ImageShape::new(5, 4, 2), 3);
        let (store, random) = (&mut parameters, &mut Random::new(0));
        let layer = match transposed {
            true => Convolution::transposed(store, "layer", shape, kernel, activation, random),
            false => Convolution::new(store, "layer", shape, kernel, activation, random),
        };
        Self {
            layer,
            parameters: filled(parameters),
        }
    }

    pub(crate) fn all() -> Vec<Self> {
        let kernels = [[3, 1, 1], [3, 2, 1], [4, 2, 1], [2, 1, 0]];
        let mut all = Vec::new();
        for transposed in [false, true] {
            for kernel in kernels {
                for activation in [Activation::Identity, Activation::Tanh, Activation::Silu] {
                    all.push(Self::new(transposed, kernel, activation));
                }
            }
        }
        all
    }
}

impl Operation for Images {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(3, 40, 1)]
    }
    fn parameters(&self) -> Parameters<f64> {
        self.parameters.clone()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        self.layer.forward(graph, operands[0])
    }
}

/// Value, slope and curvature side by side.
pub(crate) struct ImagesJet(pub(crate) Images);

impl Operation for ImagesJet {
    fn operands(&self) -> Vec<Matrix> {
        [1, 2, 3].map(|seed| Matrix::random(2, 40, seed)).into()
    }
    fn parameters(&self) -> Parameters<f64> {
        self.0.parameters()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let x = Jets {
            value: operands[0],
            slope: operands[1],
            curvature: operands[2],
        };
        let y = self.0.layer.jet(graph, x);
        let two = graph.concat(y.value, y.slope);
        graph.concat(two, y.curvature)
    }
}

/// Means over squares, value, slope and curvature side by side.
pub(crate) struct Means;

impl Operation for Means {
    fn operands(&self) -> Vec<Matrix> {
        [1, 2, 3].map(|seed| Matrix::random(2, 48, seed)).into()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let layer = AveragePooling::new(ImageShape::new(4, 6, 2), 2);
        let x = Jets {
            value: operands[0],
            slope: operands[1],
            curvature: operands[2],
        };
        let y = layer.jet(graph, x);
        let two = graph.concat(y.value, y.slope);
        graph.concat(two, y.curvature)
    }
}

#[test]
fn a_mean_is_that_of_its_square() {
    let layer = AveragePooling::new(ImageShape::new(4, 6, 2), 2);
    let image: Vec<f64> = (0..48).map(|i| f64::from(i * i % 31)).collect();
    let (mut memory, parameters) = (cssc::nn::Memory::new(), Parameters::new());
    let mut graph = Graph::new(&mut memory, &parameters);
    let x = graph.input(1, 48, &image);
    let y = layer.forward(&mut graph, x);
    let pixel = |row: usize, column: usize, channel: usize| image[(row * 6 + column) * 2 + channel];
    for (at, &mean) in graph.value(y).iter().enumerate() {
        let (row, column, channel) = (at / 6, at / 2 % 3, at % 2);
        let square = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let sum: f64 = square
            .map(|(down, right)| pixel(2 * row + down, 2 * column + right, channel))
            .iter()
            .sum();
        assert!((mean - sum / 4.0).abs() < 1e-14, "{at}");
    }
}
