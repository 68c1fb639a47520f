//! y = φ(x ∗ W + b): a convolution of images, and its transpose, fused with an activation.
//!
//! Rows are images [height, width, channels]. Every image becomes a matrix U of its windows (`window.rs`), and one product
//! with the packed weights gives all its pixels:
//!
//! ```text
//!   convolution   y = U(x)·W + b           W [side² · channels in, channels out]
//!   transposed    y = Uᵀ(x·W) + b          W [channels in, side² · channels out], windows on y
//! ```
//!
//! Backward, with A = G ⊙ φ' and image by image:
//!
//! ```text
//!   convolution   dx += Uᵀ(A·Wᵀ)           dW += U(x)ᵀ·A
//!   transposed    dx += U(A)·Wᵀ            dW += xᵀ·U(A)         db += Σ A for both
//! ```
//!
//! U is made again in the backward pass: it is side² times as large as an image, and one image's fits into the
//! second-level cache. Cost: 2 · pixels out · side² · channels in · channels out operations each way and image.

use super::super::activation::Activation;
use super::super::chain;
use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::kernel::{Output, Use, outer_product, product};
use super::super::layer::{Layer, jet_through};
use super::super::memory::Var;
use super::super::parameters::{Initializer, ParameterId, ParameterRole, Parameters};
use super::super::window::{ImageShape, Kernel, Windows};
use super::Op;
use crate::Jets;
use crate::data::Random;

/// A convolution or its transpose, with its activation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Convolution {
    map: ConvolutionMap,
    input: ImageShape,
    output: ImageShape,
    activation: Activation,
}

/// The linear part, as the record keeps it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ConvolutionMap {
    weight: ParameterId,
    bias: ParameterId,
    windows: Windows,
    transposed: bool,
    /// Numbers of an image in and out.
    sizes: [usize; 2],
}

impl Convolution {
    /// Adds `NAME.weight` and `NAME.bias` (zero) to the store, for images of `input` and so many channels out.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        (input, channels): (ImageShape, usize),
        kernel: Kernel,
        activation: Activation,
        random: &mut Random,
    ) -> Self {
        let windows = Windows::new(input, kernel);
        let (height, width) = windows.counts();
        let output = ImageShape::new(height, width, channels);
        let shape = [windows.width(), channels];
        Self::build(
            parameters,
            name,
            (input, output),
            (windows, shape, false),
            activation,
            random,
        )
    }

    /// The transpose of a convolution: from images of `input` to those whose convolution would have that shape, with so
    /// many channels.
    pub fn transposed<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        (input, channels): (ImageShape, usize),
        kernel: Kernel,
        activation: Activation,
        random: &mut Random,
    ) -> Self {
        let Kernel {
            side,
            stride,
            padding,
        } = kernel;
        let length = |windows: usize| (windows - 1) * stride + side - 2 * padding;
        let output = ImageShape::new(length(input.height), length(input.width), channels);
        let windows = Windows::new(output, kernel);
        let shape = [input.channels, windows.width()];
        Self::build(
            parameters,
            name,
            (input, output),
            (windows, shape, true),
            activation,
            random,
        )
    }

    fn build<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        (input, output): (ImageShape, ImageShape),
        (windows, shape, transposed): (Windows, [usize; 2], bool),
        activation: Activation,
        random: &mut Random,
    ) -> Self {
        let mut add = |part: &str, role, shape, initializer| {
            parameters.add(format!("{name}.{part}"), role, shape, initializer, random)
        };
        let weight = add("weight", ParameterRole::Weight, shape, Initializer::FanIn);
        let zeros = Initializer::Zeros;
        let bias = add("bias", ParameterRole::Bias, [1, output.channels], zeros);
        Self {
            map: ConvolutionMap {
                weight,
                bias,
                windows,
                transposed,
                sizes: [input.len(), output.len()],
            },
            input,
            output,
            activation,
        }
    }

    /// What goes in.
    #[must_use]
    pub fn input(&self) -> ImageShape {
        self.input
    }

    /// What comes out.
    #[must_use]
    pub fn output(&self) -> ImageShape {
        self.output
    }

    /// Its kernel.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.map.windows.kernel()
    }

    /// Whether it is the transpose of a convolution.
    #[must_use]
    pub fn is_transposed(&self) -> bool {
        self.map.transposed
    }

    /// φ.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// φ(x ∗ W + b), and the source of φ's derivatives there.
    fn value_and_source<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> (Var, Var) {
        if self.activation.source_is_input() {
            let source = graph.convolve(x, self.map, true, Activation::Identity);
            return (graph.activate(source, self.activation), source);
        }
        let value = graph.convolve(x, self.map, true, self.activation);
        (value, value)
    }
}

impl<T: Float> Layer<T> for Convolution {
    fn inputs(&self) -> usize {
        self.input.len()
    }

    fn outputs(&self) -> usize {
        self.output.len()
    }

    fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        self.value_and_source(graph, x).0
    }

    fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
        let value = self.value_and_source(graph, x.value);
        let plain = Activation::Identity;
        let slope = graph.convolve(x.slope, self.map, false, plain);
        let curvature = graph.convolve(x.curvature, self.map, false, plain);
        jet_through(graph, value, [slope, curvature], self.activation)
    }
}

impl<T: Float> Graph<'_, T> {
    fn convolve(
        &mut self,
        x: Var,
        map: ConvolutionMap,
        biased: bool,
        activation: Activation,
    ) -> Var {
        let (rows, [inputs, outputs]) = (self.rows(x), map.sizes);
        assert_eq!(self.columns(x), inputs, "images of {inputs} numbers");
        let len = rows * outputs;
        let mut block = self.memory.pool.take(len);
        let scratch_len = map.windows.count() * map.windows.width();
        let mut scratch = self.memory.pool.take(scratch_len);
        let cut = &mut scratch[..scratch_len];
        let bias = biased.then(|| self.parameters.get(map.bias));
        let weights = self.parameters.straight(map.weight);
        let images = self.value(x).chunks_exact(inputs);
        for (image, y) in images.zip(block[..len].chunks_exact_mut(outputs)) {
            if map.transposed {
                product(self.arch, image, weights, None, cut, Output::Store);
                match bias {
                    Some(bias) => {
                        let pixels = y.chunks_exact_mut(bias.len());
                        pixels.for_each(|pixel| pixel.copy_from_slice(bias));
                    }
                    None => y.fill(T::ZERO),
                }
                map.windows.fold(cut, y);
            } else {
                map.windows.unfold(image, cut);
                product(self.arch, cut, weights, bias, y, Output::Store);
            }
        }
        self.memory.pool.give(scratch);
        activation.apply(self.arch, &mut block[..len]);
        let op = Op::Convolution {
            x,
            map,
            biased,
            activation,
        };
        self.push(op, rows, outputs, block, true)
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn convolution(
        &mut self,
        y: Var,
        x: Var,
        map: ConvolutionMap,
        biased: bool,
        activation: Activation,
        mut g: Vec<T>,
    ) {
        let node = &self.nodes[y.index()];
        let len = node.len();
        let bias = biased.then(|| &mut self.gradient.values[self.parameters.range(map.bias)]);
        if biased || activation != Activation::Identity {
            chain::pull_back(self.arch, activation, node.value(), &mut g[..len], bias);
        }
        let [inputs, outputs] = map.sizes;
        let scratch_len = map.windows.count() * map.windows.width();
        let mut scratch = self.pool.take(scratch_len);
        let cut = &mut scratch[..scratch_len];
        let tracked = self.tracked(x);
        let (mut dx, used) = if tracked {
            self.take(x)
        } else {
            (Vec::new(), false)
        };
        if tracked && !used {
            dx[..self.nodes[x.index()].len()].fill(T::ZERO);
        }
        let weights = self.parameters.transposed(map.weight);
        let [k, n] = self.parameters.shape(map.weight);
        let range = self.parameters.range(map.weight);
        let images = self.nodes[x.index()].value().chunks_exact(inputs);
        for (number, (image, dy)) in images.zip(g[..len].chunks_exact(outputs)).enumerate() {
            let own = number * inputs..(number + 1) * inputs;
            let one = if map.transposed {
                map.windows.unfold(dy, cut);
                if tracked {
                    product(self.arch, cut, weights, None, &mut dx[own], Output::Add);
                }
                Use { x: image, dy: cut }
            } else {
                if tracked {
                    product(self.arch, dy, weights, None, cut, Output::Store);
                    map.windows.fold(cut, &mut dx[own]);
                }
                map.windows.unfold(image, cut);
                Use { x: cut, dy }
            };
            let target = &mut self.gradient.values[range.clone()];
            outer_product(self.arch, &[one], k, n, target, self.scratch);
        }
        self.pool.give(scratch);
        if tracked {
            self.put(x, dx);
        }
        self.pool.give(g);
    }
}
