//! Convolutions of images and their transposes.

use super::{Matrix, Operation, filled};
use cssc::Jets;
use cssc::data::Random;
use cssc::nn::{Activation, Convolution, Float, Graph, ImageShape, Kernel, Layer, Parameters, Var};

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
