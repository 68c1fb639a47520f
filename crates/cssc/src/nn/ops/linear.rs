//! y = φ(x·W + b): a fully connected layer, fused with its activation.
//!
//! Forward: one product with the packed weight, the bias added as the sums leave the
//! registers, then φ as a pass over the block while it is still in the cache. (Inside the
//! product it would need the registers of the sums.)
//!
//! Backward, with G the gradient of y: A = G ⊙ φ'; dx += A·Wᵀ; db += Σ rows of A; the pair
//! (x, A) waits for the deferred dW += xᵀ·A. Only y is kept; SiLU, GELU and sine, which need
//! x·W + b for their derivatives, are recorded as two operations.

use super::super::activation::Activation;
use super::super::chain;
use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::kernel::{Output, product};
use super::super::memory::Var;
use super::super::parameters::{Initializer, ParameterId, ParameterRole, Parameters};
use super::Op;
use crate::data::Random;

/// A layer: weight `[inputs, outputs]` and a bias `[outputs]`, which tangents leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    weight: ParameterId,
    bias: ParameterId,
    inputs: usize,
    outputs: usize,
}

impl Linear {
    /// Weights [inputs, outputs] and biases.
    pub(crate) fn numbers<'a, T: Float>(
        &self,
        parameters: &'a Parameters<T>,
    ) -> (&'a [T], &'a [T]) {
        (parameters.get(self.weight), parameters.get(self.bias))
    }

    /// Adds `NAME.weight` and `NAME.bias` (zero) to the store.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        inputs: usize,
        outputs: usize,
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        let weight = parameters.add(
            format!("{name}.weight"),
            ParameterRole::Weight,
            [inputs, outputs],
            initializer,
            random,
        );
        let bias = parameters.add(
            format!("{name}.bias"),
            ParameterRole::Bias,
            [1, outputs],
            Initializer::Zeros,
            random,
        );
        Self {
            weight,
            bias,
            inputs,
            outputs,
        }
    }

    /// Width of what goes in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Width of what comes out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

impl<T: Float> Graph<'_, T> {
    /// φ(x·W + b) for x [rows, inputs]: [rows, outputs].
    pub fn linear(&mut self, x: Var, layer: &Linear, activation: Activation) -> Var {
        if activation.source_is_input() {
            let a = self.layer(x, layer, true, Activation::Identity);
            return self.activate(a, activation);
        }
        self.layer(x, layer, true, activation)
    }

    /// x·W without the bias: how derivatives of x pass the layer.
    pub fn linear_tangent(&mut self, x: Var, layer: &Linear) -> Var {
        self.layer(x, layer, false, Activation::Identity)
    }

    fn layer(&mut self, x: Var, layer: &Linear, biased: bool, activation: Activation) -> Var {
        let rows = self.rows(x);
        assert_eq!(
            self.columns(x),
            layer.inputs,
            "the layer takes {} columns",
            layer.inputs
        );
        let len = rows * layer.outputs;
        let mut block = self.memory.pool.take(len);
        let bias = biased.then(|| self.parameters.get(layer.bias));
        let weights = self.parameters.straight(layer.weight);
        product(
            self.arch,
            self.value(x),
            weights,
            bias,
            &mut block[..len],
            Output::Store,
        );
        activation.apply(self.arch, &mut block[..len]);
        let op = Op::Linear {
            x,
            weight: layer.weight,
            bias: biased.then_some(layer.bias),
            activation,
        };
        self.push(op, rows, layer.outputs, block, true)
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn linear(
        &mut self,
        y: Var,
        x: Var,
        weight: ParameterId,
        bias: Option<ParameterId>,
        activation: Activation,
        mut g: Vec<T>,
    ) {
        let node = &self.nodes[y.index()];
        let len = node.len();
        let bias = bias.map(|id| &mut self.gradient.values[self.parameters.range(id)]);
        if bias.is_some() || activation != Activation::Identity {
            chain::pull_back(self.arch, activation, node.value(), &mut g[..len], bias);
        }
        let dy = &g[..len];
        if self.tracked(x) {
            let (mut block, used) = self.take(x);
            let output = if used { Output::Add } else { Output::Store };
            let len = self.nodes[x.index()].len();
            let weights = self.parameters.transposed(weight);
            product(self.arch, dy, weights, None, &mut block[..len], output);
            self.put(x, block);
        }
        self.defer(weight, x, g);
    }
}
