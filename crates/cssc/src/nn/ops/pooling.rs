//! Means over squares of an image: average pooling.
//!
//! ```text
//!   y[i, j, c] = Σ x[s·i + a, s·j + b, c] / s²     over 0 <= a, b < s
//! ```
//!
//! Rows are images [height, width, channels]. Linear, so slope and curvature pass it as the value does; backward every
//! pixel of a square gets 1/s² of the gradient of its mean. Cost: one pass over the image each way.

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::layer::Layer;
use super::super::memory::Var;
use super::super::window::ImageShape;
use super::Op;
use crate::Jets;

/// Means over squares of pixels that lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AveragePooling {
    input: ImageShape,
    side: usize,
}

impl AveragePooling {
    /// Squares of `side` x `side` pixels.
    ///
    /// # Panics
    /// If they do not cover the image exactly.
    #[must_use]
    pub fn new(input: ImageShape, side: usize) -> Self {
        assert!(
            side > 0 && input.height.is_multiple_of(side) && input.width.is_multiple_of(side),
            "squares of {side} on an image of {} x {}",
            input.height,
            input.width
        );
        Self { input, side }
    }

    /// What comes out.
    #[must_use]
    pub const fn output(self) -> ImageShape {
        let Self { input, side } = self;
        ImageShape::new(input.height / side, input.width / side, input.channels)
    }

    /// Calls `pair` for every pixel of an image with the place of its numbers and that of its mean's.
    #[inline(always)]
    fn pixels(self, mut pair: impl FnMut(usize, usize)) {
        let (ImageShape { height, width, .. }, channels) = (self.input, self.input.channels);
        let across = width / self.side;
        for row in 0..height {
            let means = row / self.side * across;
            for column in 0..width {
                let mean = means + column / self.side;
                pair((row * width + column) * channels, mean * channels);
            }
        }
    }

    fn share<T: Float>(self) -> T {
        T::from_f64(1.0 / (self.side * self.side) as f64)
    }
}

impl<T: Float> Layer<T> for AveragePooling {
    fn inputs(&self) -> usize {
        self.input.len()
    }

    fn outputs(&self) -> usize {
        self.output().len()
    }

    fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        graph.average(x, *self)
    }

    fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
        x.map(|x| graph.average(x, *self))
    }
}

impl<T: Float> Graph<'_, T> {
    fn average(&mut self, x: Var, pooling: AveragePooling) -> Var {
        let (inputs, outputs) = (pooling.input.len(), pooling.output().len());
        let (rows, columns, tracked) = self.shape_of(x);
        assert_eq!(columns, inputs, "images of {inputs} numbers");
        let len = rows * outputs;
        let mut block = self.memory.pool.take(len);
        block[..len].fill(T::ZERO);
        let (share, channels) = (pooling.share::<T>(), pooling.input.channels);
        let images = self.value(x).chunks_exact(inputs);
        for (image, means) in images.zip(block[..len].chunks_exact_mut(outputs)) {
            pooling.pixels(|pixel, mean| {
                let numbers = &image[pixel..pixel + channels];
                let sums = means[mean..mean + channels].iter_mut();
                sums.zip(numbers).for_each(|(sum, &x)| *sum += share * x);
            });
        }
        self.push(Op::Average { x, pooling }, rows, outputs, block, tracked)
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn average(&mut self, y: Var, x: Var, pooling: AveragePooling, g: Vec<T>) {
        let len = self.nodes[y.index()].len();
        if self.tracked(x) {
            let (inputs, outputs) = (pooling.input.len(), pooling.output().len());
            let (share, channels) = (pooling.share::<T>(), pooling.input.channels);
            let images = self.slot(x).chunks_exact_mut(inputs);
            for (image, means) in images.zip(g[..len].chunks_exact(outputs)) {
                pooling.pixels(|pixel, mean| {
                    let numbers = image[pixel..pixel + channels].iter_mut();
                    let means = &means[mean..mean + channels];
                    numbers.zip(means).for_each(|(dx, &g)| *dx += share * g);
                });
            }
        }
        self.pool.give(g);
    }
}
