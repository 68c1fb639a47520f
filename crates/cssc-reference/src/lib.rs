//! The layers of cssc's engine in plain candle, differentiated by candle: slow and obvious.
//!
//! Nothing here is fused, packed or deferred. `tests/operations.rs` compares values and
//! gradients of every operation of the engine with these; `examples/field.rs` compares times.

use candle_core::{DType, Device, Result, Tensor, Var};
use cssc::nn::{Activation, Float, Parameters};
use std::collections::HashMap;

/// Parameters by name, as candle variables.
pub type Named = HashMap<String, Var>;

/// The engine's parameters for candle, in precision `dtype`.
///
/// # Errors
/// If candle cannot make a tensor.
pub fn named<T: Float>(parameters: &Parameters<T>, dtype: DType) -> Result<Named> {
    let one = |info: &cssc::nn::ParameterInfo| {
        let numbers = &parameters.values()[info.range.clone()];
        let tensor = matrix(info.shape, numbers.iter().map(|x| x.to_f64()), dtype)?;
        Ok((info.name.clone(), Var::from_tensor(&tensor)?))
    };
    parameters.infos().iter().map(one).collect()
}

/// A matrix [rows, columns] of numbers, row by row.
///
/// # Errors
/// If there are not as many numbers.
pub fn matrix(
    shape: [usize; 2],
    numbers: impl Iterator<Item = f64>,
    dtype: DType,
) -> Result<Tensor> {
    let numbers: Vec<f64> = numbers.collect();
    Tensor::from_vec(numbers, (shape[0], shape[1]), &Device::Cpu)?.to_dtype(dtype)
}

/// φ(a).
///
/// # Errors
/// If candle fails.
pub fn activate(a: &Tensor, activation: Activation) -> Result<Tensor> {
    match activation {
        Activation::Identity => Ok(a.clone()),
        Activation::Tanh => a.tanh(),
        Activation::Sigmoid => sigmoid(a),
        Activation::Softplus => (a.exp()? + 1.0)?.log(),
        Activation::Elu => a.gt(0.0)?.where_cond(a, &(a.exp()? - 1.0)?),
        Activation::Silu => a * sigmoid(a)?,
        Activation::Exp => a.exp(),
        Activation::Relu => a.relu(),
        Activation::Gelu => a * sigmoid(&gelu_gate(a)?[0])?,
        Activation::Sine => a.sin(),
    }
}

/// v = √(8/π)(a + 0.044715 a³) with two derivatives.
fn gelu_gate(a: &Tensor) -> Result<[Tensor; 3]> {
    let (linear, cubic) = ((8.0 / std::f64::consts::PI).sqrt(), 0.044_715);
    let square = a.sqr()?;
    Ok([
        ((a * linear)? * ((&square * cubic)? + 1.0)?)?,
        (((square * (3.0 * cubic))? + 1.0)? * linear)?,
        (a * (6.0 * cubic * linear))?,
    ])
}

/// Derivatives of a·σ(v).
fn gated(a: &Tensor, [v, v1, v2]: [Tensor; 3]) -> Result<[Tensor; 2]> {
    let s = sigmoid(&v)?;
    let d = (&s * (1.0 - &s)?)?;
    let bend = (((1.0 - (&s * 2.0)?)? * v1.sqr()?)? + v2)?;
    let second = (&d * ((&v1 * 2.0)? + (a * bend)?)?)?;
    Ok([(s + ((a * d)? * v1)?)?, second])
}

fn sigmoid(a: &Tensor) -> Result<Tensor> {
    (a.neg()?.exp()? + 1.0)?.recip()
}

/// φ'(a) and φ''(a).
///
/// # Errors
/// If candle fails.
pub fn slopes(a: &Tensor, activation: Activation) -> Result<[Tensor; 2]> {
    let y = activate(a, activation)?;
    let (ones, zeros) = (a.ones_like()?, a.zeros_like()?);
    Ok(match activation {
        Activation::Identity => [ones, zeros],
        Activation::Tanh => {
            let first = (ones - y.sqr()?)?;
            let second = ((&y * &first)? * -2.0)?;
            [first, second]
        }
        Activation::Sigmoid => {
            let first = (&y * (1.0 - &y)?)?;
            let second = (&first * (1.0 - (y * 2.0)?)?)?;
            [first, second]
        }
        Activation::Softplus => {
            let first = sigmoid(a)?;
            let second = (&first * (1.0 - &first)?)?;
            [first, second]
        }
        Activation::Elu => {
            let positive = a.gt(0.0)?;
            let growth = a.exp()?;
            [
                positive.where_cond(&ones, &growth)?,
                positive.where_cond(&zeros, &growth)?,
            ]
        }
        Activation::Silu => {
            let s = sigmoid(a)?;
            let d = (&s * (1.0 - &s)?)?;
            let bend = (a * (1.0 - (&s * 2.0)?)?)?;
            [(s + (a * &d)?)?, (d * (bend + 2.0)?)?]
        }
        Activation::Exp => [y.clone(), y],
        Activation::Relu => [a.gt(0.0)?.where_cond(&ones, &zeros)?, zeros],
        Activation::Gelu => gated(a, gelu_gate(a)?)?,
        Activation::Sine => [a.cos()?, y.neg()?],
    })
}

/// φ'(a) x' and φ'(a) x'' + φ''(a) x'².
///
/// # Errors
/// If candle fails.
pub fn through_activation(
    a: &Tensor,
    [first, second]: [&Tensor; 2],
    activation: Activation,
) -> Result<[Tensor; 2]> {
    let [slope, bend] = slopes(a, activation)?;
    let curvature = ((&slope * second)? + (bend * first.sqr()?)?)?;
    Ok([(slope * first)?, curvature])
}

/// A fully connected network whose layers are `NAME.0`, `NAME.1`, …
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    /// Where its parameters are.
    pub parameters: &'a Named,
    /// Its name.
    pub name: &'a str,
    /// Number of layers.
    pub depth: usize,
    /// Activation after every layer but the last, and after the last.
    pub activations: [Activation; 2],
}

impl Network<'_> {
    fn part(&self, layer: usize, part: &str) -> &Tensor {
        &self.parameters[&format!("{}.{layer}.{part}", self.name)]
    }

    /// x·W + b of one layer.
    fn before_activation(&self, layer: usize, x: &Tensor) -> Result<Tensor> {
        x.matmul(self.part(layer, "weight"))?
            .broadcast_add(self.part(layer, "bias"))
    }

    fn activation_of(&self, layer: usize) -> Activation {
        self.activations[usize::from(layer + 1 == self.depth)]
    }

    /// The network of x.
    ///
    /// # Errors
    /// If candle fails.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        (0..self.depth).try_fold(x.clone(), |x, layer| {
            let a = self.before_activation(layer, &x)?;
            activate(&a, self.activation_of(layer))
        })
    }

    /// Value and first two derivatives of the output from those of the input.
    ///
    /// # Errors
    /// If candle fails.
    pub fn jet(&self, jet: [Tensor; 3]) -> Result<[Tensor; 3]> {
        (0..self.depth).try_fold(jet, |[value, slope, curvature], layer| {
            let activation = self.activation_of(layer);
            let a = self.before_activation(layer, &value)?;
            let weight = self.part(layer, "weight");
            let derivatives = [&slope.matmul(weight)?, &curvature.matmul(weight)?];
            let [slope, curvature] = through_activation(&a, derivatives, activation)?;
            Ok([activate(&a, activation)?, slope, curvature])
        })
    }
}

/// The gated recurrent unit `NAME`: the state after the update.
///
/// # Errors
/// If candle fails.
pub fn gated_cell(
    parameters: &Named,
    name: &str,
    hidden: &Tensor,
    inputs: &Tensor,
) -> Result<Tensor> {
    let gate = |part: &str, last, x: &Tensor| {
        let network = Network {
            parameters,
            name: &format!("{name}.{part}"),
            depth: 2,
            activations: [Activation::Tanh, last],
        };
        network.forward(x)
    };
    let both = Tensor::cat(&[hidden, inputs], 1)?;
    let reset = gate("reset", Activation::Sigmoid, &both)?;
    let update = gate("update", Activation::Sigmoid, &both)?;
    let kept = Tensor::cat(&[&(reset * hidden)?, inputs], 1)?;
    let candidate = gate("candidate", Activation::Tanh, &kept)?;
    ((1.0 - &update)? * candidate)? + (update * hidden)?
}
