//! Fully connected networks and the passage of derivatives through them.
//!
//! A [`Jet`] is a value with its first and, if wanted, second derivative by time. A linear
//! layer maps each by the same matrix; an activation by the chain rule (`ops/jet.rs`). So
//! (h, h', h'') through g gives o, ȯ, ö exactly, Hessian included, for about three forward
//! passes (method notes, section 4), and the tangent pass of f along itself gives
//! h'' = (∂f/∂h) f.

use super::activation::Activation;
use super::float::Float;
use super::graph::Graph;
use super::memory::Var;
use super::ops::Linear;
use super::parameters::{Initializer, Parameters};
use crate::data::Random;

/// A value with its derivatives by time, each [rows, columns].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jet {
    /// Value.
    pub value: Var,
    /// First derivative.
    pub slope: Var,
    /// Second derivative.
    pub curvature: Option<Var>,
}

/// A fully connected network: `activation` after every layer but the last, `last` after that.
#[derive(Clone, PartialEq, Debug)]
pub struct Mlp {
    layers: Vec<Linear>,
    activation: Activation,
    last: Activation,
}

/// The sources of the activations of one pass, layer by layer: what a tangent pass needs.
/// They lie on the record at even distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trace {
    first: Var,
    stride: u32,
    /// What came out of the network.
    pub output: Var,
}

impl Trace {
    /// Source of the activation after layer `layer`.
    #[must_use]
    pub fn source(&self, layer: usize) -> Var {
        Var(self.first.0 + self.stride * layer as u32)
    }
}

impl Mlp {
    /// Adds layers `NAME.0`, `NAME.1`, … for the given widths (input first) to the store.
    ///
    /// # Panics
    /// With fewer than two widths.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        widths: &[usize],
        [activation, last]: [Activation; 2],
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        assert!(widths.len() > 1, "a network needs an input and an output width");
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(i, pair)| {
                let layer = format!("{name}.{i}");
                Linear::new(parameters, &layer, pair[0], pair[1], initializer, random)
            })
            .collect();
        Self { layers, activation, last }
    }

    /// Number of layers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Width of what goes in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.layers[0].inputs()
    }

    /// Width of what comes out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers[self.depth() - 1].outputs()
    }

    fn activation_of(&self, layer: usize) -> Activation {
        if layer + 1 == self.depth() { self.last } else { self.activation }
    }

    /// The network of x [rows, inputs]: [rows, outputs].
    pub fn forward<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        let mut y = x;
        for (i, layer) in self.layers.iter().enumerate() {
            let next = graph.linear(y, layer, self.activation_of(i));
            if i > 0 {
                graph.forget(y);
            }
            y = next;
        }
        y
    }

    /// Like [`Mlp::forward`], keeping what a tangent pass needs.
    pub fn forward_traced<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> Trace {
        let stride = if self.activation.source_is_input() { 2 } else { 1 };
        let first = graph.next_var();
        let mut y = x;
        for (i, layer) in self.layers.iter().enumerate() {
            y = graph.linear(y, layer, self.activation_of(i));
        }
        Trace { first, stride, output: y }
    }

    /// First derivative of the output along x' = `slope`, given the sources of a value pass.
    pub fn tangent<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        source: impl Fn(usize) -> Var,
        slope: Var,
    ) -> Var {
        let mut slope = slope;
        for (i, layer) in self.layers.iter().enumerate() {
            slope = graph.linear_tangent(slope, layer);
            let activation = self.activation_of(i);
            if activation != Activation::Identity {
                slope = graph.tangent(source(i), slope, activation);
            }
        }
        slope
    }

    /// Value and derivatives of the output from those of the input.
    pub fn jet<T: Float>(&self, graph: &mut Graph<'_, T>, x: Jet) -> Jet {
        let mut jet = x;
        for (i, layer) in self.layers.iter().enumerate() {
            let activation = self.activation_of(i);
            let before = graph.next_var();
            let value = graph.linear(jet.value, layer, activation);
            let source = if activation.source_is_input() { before } else { value };
            let slope = graph.linear_tangent(jet.slope, layer);
            let curvature = jet.curvature.map(|c| graph.linear_tangent(c, layer));
            jet = Jet { value, slope, curvature };
            if activation != Activation::Identity {
                jet = Jet {
                    value,
                    slope: graph.tangent(source, slope, activation),
                    curvature: curvature.map(|c| graph.curve(source, slope, c, activation)),
                };
            }
        }
        jet
    }
}
