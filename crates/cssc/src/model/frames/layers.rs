//! From a frame to a code, and back.
//!
//! ```text
//!   encoder   [h, w, 1] ─4x4/2→ [h/2, w/2, f] ─residual→ ─4x4/2→ [h/4, w/4, 2f] ─residual→ ─4x4/2→ [h/8, w/8, 4f] → code
//!   decoder   code → [h/8, w/8, 4f] ─4x4·2→ [h/4, w/4, 2f] ─4x4·2→ [h/2, w/2, f] ─4x4·2→ [h, w, 1] in (0, 1)
//! ```
//!
//! A residual block adds to its input what two convolutions of 3 x 3 make of it. The encoder's activation is ReLU; the
//! decoder's is SiLU, since a curve of frames is C² only if the decoder is.

use super::config::FramesConfig;
use crate::Jets;
use crate::data::Random;
use crate::nn::{
    Activation, Convolution, Dense, Float, Graph, ImageShape, Initializer, Kernel, Layer,
    Parameters, Var,
};

/// Halves or doubles a side.
const HALVE: Kernel = Kernel {
    side: 4,
    stride: 2,
    padding: 1,
};
/// Keeps it.
const KEEP: Kernel = Kernel {
    side: 3,
    stride: 1,
    padding: 1,
};

/// From frames to codes.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameEncoder {
    first: Convolution,
    blocks: [[Convolution; 2]; 2],
    halving: [Convolution; 2],
    code: Dense,
}

impl FrameEncoder {
    /// Adds its parameters, `frame-encoder.…`, to the store.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &FramesConfig,
        random: &mut Random,
    ) -> Self {
        let mut convolution = |name: &str, input, channels, kernel, activation| {
            let name = format!("frame-encoder.{name}");
            Convolution::new(
                parameters,
                &name,
                (input, channels),
                kernel,
                activation,
                random,
            )
        };
        let (relu, plain) = (Activation::Relu, Activation::Identity);
        let frame = ImageShape::new(config.height, config.width, 1);
        let filters = config.filters;
        let first = convolution("first", frame, filters, HALVE, relu);
        let mut block = |name: &str, shape: ImageShape| {
            let inner = format!("{name}.0");
            let outer = format!("{name}.1");
            [
                convolution(&inner, shape, shape.channels, KEEP, relu),
                convolution(&outer, shape, shape.channels, KEEP, plain),
            ]
        };
        let half = first.output();
        let quarter = ImageShape::new(half.height / 2, half.width / 2, 2 * filters);
        let blocks = [block("block0", half), block("block1", quarter)];
        let halving = [
            convolution("halving0", half, 2 * filters, HALVE, relu),
            convolution("halving1", quarter, 4 * filters, HALVE, relu),
        ];
        let widths = [halving[1].output().len(), config.code];
        let fan_in = Initializer::FanIn;
        let code = Dense::new(
            parameters,
            "frame-encoder.code",
            widths,
            plain,
            fan_in,
            random,
        );
        Self {
            first,
            blocks,
            halving,
            code,
        }
    }

    /// Codes of frames, [frames, code].
    pub fn forward<T: Float>(&self, graph: &mut Graph<'_, T>, frames: Var) -> Var {
        let mut x = self.first.forward(graph, frames);
        for (block, halving) in self.blocks.iter().zip(&self.halving) {
            let mut more = x;
            for convolution in block {
                more = convolution.forward(graph, more);
            }
            let sum = graph.sum(x, more);
            x = halving.forward(graph, sum);
        }
        self.code.forward(graph, x)
    }
}

/// From codes to frames.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameDecoder {
    first: Dense,
    doubling: [Convolution; 3],
}

impl FrameDecoder {
    /// Adds its parameters, `frame-decoder.…`, to the store.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &FramesConfig,
        random: &mut Random,
    ) -> Self {
        let (silu, filters) = (Activation::Silu, config.filters);
        let small = ImageShape::new(config.height / 8, config.width / 8, 4 * filters);
        let widths = [config.code, small.len()];
        let fan_in = Initializer::FanIn;
        let first = Dense::new(
            parameters,
            "frame-decoder.first",
            widths,
            silu,
            fan_in,
            random,
        );
        let mut shape = small;
        let mut doubling = |number: usize, channels, activation| {
            let name = format!("frame-decoder.doubling{number}");
            let step = (shape, channels);
            let made = Convolution::transposed(parameters, &name, step, HALVE, activation, random);
            shape = made.output();
            made
        };
        let doubling = [
            doubling(0, 2 * filters, silu),
            doubling(1, filters, silu),
            doubling(2, 1, Activation::Sigmoid),
        ];
        Self { first, doubling }
    }

    fn layers<T: Float>(&self) -> impl Iterator<Item = &dyn Layer<T>> {
        let first: &dyn Layer<T> = &self.first;
        let rest = self.doubling.iter().map(|layer| layer as &dyn Layer<T>);
        std::iter::once(first).chain(rest)
    }

    /// Frames of codes, [codes, pixels].
    pub fn forward<T: Float>(&self, graph: &mut Graph<'_, T>, codes: Var) -> Var {
        self.layers()
            .fold(codes, |x, layer| layer.forward(graph, x))
    }

    /// The same with slope and curvature.
    pub fn jet<T: Float>(&self, graph: &mut Graph<'_, T>, codes: Jets<Var>) -> Jets<Var> {
        self.layers().fold(codes, |x, layer| layer.jet(graph, x))
    }
}
