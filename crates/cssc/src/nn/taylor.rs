//! Taylor series in time through networks, to any order.
//!
//! Training needs slopes and curvatures ([`Jets`](crate::Jets)); the error bound of Theorem 2 needs the fourth derivative of
//! the prediction, and the paper writes it as a page of tensors (appendix B). Coefficients need no tensors: with
//! a(t) = Σ aₖ tᵏ every operation has a rule for its coefficients, and h' = f(h) gives hₖ₊₁ = f(h)ₖ/(k + 1), one order after
//! the other (Moore 1966; "Taylor mode").
//!
//! | y = φ(a) | rule | |
//! |---|---|---|
//! | tanh | y' = (1 - y²) a' | (k+1) yₖ₊₁ = Σⱼ (j+1) aⱼ₊₁ (1 - y²)ₖ₋ⱼ |
//! | sigmoid | y' = (y - y²) a' | likewise |
//! | exp | y' = y a' | likewise |
//! | softplus | y' = σ(a) a' | with the series of σ |
//! | SiLU | y = a σ(a) | a product of series |
//! | sine | s' = c a', c' = -s a' | both together |
//!
//! ReLU, ELU and GELU are left out: the first two have no fourth derivative, the third nobody needed. Plain `f64`, made to
//! be right and not fast: it serves evaluations, not training.

use super::activation::Activation;
use super::mlp::Mlp;
use super::parameters::Parameters;
use crate::Error;

/// Coefficients of a vector of functions of time around a moment: row k belongs to tᵏ.
#[derive(Clone, Debug, PartialEq)]
pub struct Taylor {
    width: usize,
    rows: Vec<f64>,
}

impl Taylor {
    /// A series that does not change, to be extended to `order`.
    #[must_use]
    pub fn constant(values: &[f64], order: usize) -> Self {
        let mut rows = values.to_vec();
        rows.resize(values.len() * (order + 1), 0.0);
        Self {
            width: values.len(),
            rows,
        }
    }

    /// The highest power.
    #[must_use]
    pub fn order(&self) -> usize {
        self.rows.len() / self.width - 1
    }

    /// The coefficients of tᵏ.
    #[must_use]
    pub fn row(&self, k: usize) -> &[f64] {
        &self.rows[k * self.width..(k + 1) * self.width]
    }

    /// The k-th derivatives at the moment: k! times the coefficients.
    #[must_use]
    pub fn derivative(&self, k: usize) -> Vec<f64> {
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        self.row(k).iter().map(|x| factorial * x).collect()
    }

    /// The value `t` after the moment.
    #[must_use]
    pub fn at(&self, t: f64) -> Vec<f64> {
        let mut sum = vec![0.0; self.width];
        for k in (0..=self.order()).rev() {
            for (sum, x) in sum.iter_mut().zip(self.row(k)) {
                *sum = *sum * t + x;
            }
        }
        sum
    }

    /// The path of h' = f(h) from a state.
    ///
    /// # Errors
    /// If an activation of f has no such rule.
    pub fn flow(
        parameters: &Parameters<f64>,
        field: &Mlp,
        state: &[f64],
        order: usize,
    ) -> Result<Self, Error> {
        let mut path = Self::constant(state, order);
        for k in 0..order {
            // Coefficients up to k are right, and so is f of them up to k.
            let velocity = path.through(parameters, field)?;
            let next = (k + 1) * path.width;
            for (place, x) in velocity.row(k).iter().enumerate() {
                path.rows[next + place] = x / (k + 1) as f64;
            }
        }
        Ok(path)
    }

    /// The series behind a network.
    ///
    /// # Errors
    /// If one of its activations has no such rule.
    pub fn through(&self, parameters: &Parameters<f64>, network: &Mlp) -> Result<Self, Error> {
        let mut series = self.clone();
        for layer in network.layers() {
            let (weight, bias) = layer.linear.numbers(parameters);
            series = series.linear(weight, bias);
            series.activate(layer.activation)?;
        }
        Ok(series)
    }

    /// x·W + b; W is [inputs, outputs].
    fn linear(&self, weight: &[f64], bias: &[f64]) -> Self {
        let mut result = Self::constant(bias, self.order());
        for (row, inputs) in self.rows.chunks_exact(self.width).enumerate() {
            let outputs = &mut result.rows[row * bias.len()..(row + 1) * bias.len()];
            for (x, weights) in inputs.iter().zip(weight.chunks_exact(bias.len())) {
                for (y, w) in outputs.iter_mut().zip(weights) {
                    *y += x * w;
                }
            }
        }
        result
    }

    fn activate(&mut self, activation: Activation) -> Result<(), Error> {
        if activation == Activation::Identity {
            return Ok(());
        }
        let count = self.order() + 1;
        for place in 0..self.width {
            let column = |k: usize| self.rows[k * self.width + place];
            let a: Vec<f64> = (0..count).map(column).collect();
            let y = activated(activation, &a)?;
            for (k, y) in y.into_iter().enumerate() {
                self.rows[k * self.width + place] = y;
            }
        }
        Ok(())
    }
}

/// Coefficients of φ(a).
fn activated(activation: Activation, a: &[f64]) -> Result<Vec<f64>, Error> {
    let sigmoid = || solve(a, sigma(a[0]), |y, k| y[k] - product(y, y, k));
    Ok(match activation {
        Activation::Tanh => solve(a, a[0].tanh(), |y, k| {
            f64::from(u8::from(k == 0)) - product(y, y, k)
        }),
        Activation::Sigmoid => sigmoid(),
        Activation::Exp => solve(a, a[0].exp(), |y, k| y[k]),
        Activation::Softplus => {
            let slope = sigmoid();
            let start = a[0].max(0.0) + (-a[0].abs()).exp().ln_1p();
            solve(a, start, |_, k| slope[k])
        }
        Activation::Silu => {
            let gate = sigmoid();
            (0..a.len()).map(|k| product(a, &gate, k)).collect()
        }
        Activation::Sine => sines(a),
        _ => {
            return Err(Error::Setting(format!(
                "the activation {activation:?} has no Taylor series here; use tanh, sigmoid, softplus, SiLU, exp or sine"
            )));
        }
    })
}

/// y with y' = w a' and its first coefficient; `w` gives the k-th coefficient of w where y is known up to k.
fn solve(a: &[f64], first: f64, w: impl Fn(&[f64], usize) -> f64) -> Vec<f64> {
    let mut y = vec![first];
    let mut known = Vec::new();
    for k in 0..a.len() - 1 {
        known.push(w(&y, k));
        let sum: f64 = (0..=k)
            .map(|j| (j + 1) as f64 * a[j + 1] * known[k - j])
            .sum();
        y.push(sum / (k + 1) as f64);
    }
    y
}

/// The sine, with the cosine beside it.
fn sines(a: &[f64]) -> Vec<f64> {
    let (mut s, mut c) = (vec![a[0].sin()], vec![a[0].cos()]);
    for k in 0..a.len() - 1 {
        let sum = |other: &[f64]| -> f64 {
            let terms = (0..=k).map(|j| (j + 1) as f64 * a[j + 1] * other[k - j]);
            terms.sum::<f64>() / (k + 1) as f64
        };
        let (sine, cosine) = (sum(&c), -sum(&s));
        s.push(sine);
        c.push(cosine);
    }
    s
}

/// The k-th coefficient of a product.
fn product(a: &[f64], b: &[f64], k: usize) -> f64 {
    (0..=k).map(|j| a[j] * b[k - j]).sum()
}

/// The logistic function, without overflow.
fn sigma(a: f64) -> f64 {
    0.5 * (1.0 + (0.5 * a).tanh())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;
    use crate::nn::Initializer;

    const SMOOTH: [Activation; 6] = [
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::Softplus,
        Activation::Silu,
        Activation::Exp,
        Activation::Sine,
    ];

    fn network(
        parameters: &mut Parameters<f64>,
        name: &str,
        widths: &[usize],
        activation: Activation,
    ) -> Mlp {
        let activations = [activation, Activation::Identity];
        let initializer = Initializer::Normal(0.7);
        Mlp::new(
            parameters,
            name,
            widths,
            activations,
            initializer,
            &mut Random::new(widths[0] as u64 + 3),
        )
    }

    /// Along the flow, the differences of each derivative are the next one.
    #[test]
    fn every_derivative_is_the_slope_of_the_one_before() {
        for activation in SMOOTH {
            let mut parameters = Parameters::new();
            let f = network(&mut parameters, "f", &[3, 5, 3], activation);
            let g = network(&mut parameters, "g", &[3, 4, 2], activation);
            let state = [0.3, -0.2, 0.5];
            let o = |state: &[f64]| {
                let path = Taylor::flow(&parameters, &f, state, 4).unwrap();
                path.through(&parameters, &g).unwrap()
            };
            let h = 1e-3;
            let path = Taylor::flow(&parameters, &f, &state, 12).unwrap();
            let [far_before, before, after, far_after] =
                [-2.0 * h, -h, h, 2.0 * h].map(|t| o(&path.at(t)));
            let here = o(&state);
            for k in 0..4 {
                let next = here.derivative(k + 1);
                for channel in 0..2 {
                    let of = |series: &Taylor| series.derivative(k)[channel];
                    let slope = (8.0 * (of(&after) - of(&before))
                        - (of(&far_after) - of(&far_before)))
                        / (12.0 * h);
                    let error = (slope - next[channel]).abs();
                    assert!(
                        error < 1e-6 * (1.0 + next[channel].abs()),
                        "{activation:?}, order {k}: {error}"
                    );
                }
            }
        }
    }

    /// The paper's appendix B, written out for one state: o⁗ by products of derivatives of f and g.
    #[test]
    fn the_fourth_derivative_is_the_long_formula() {
        let mut parameters = Parameters::new();
        let f = network(&mut parameters, "f", &[1, 1, 1], Activation::Tanh);
        let g = network(&mut parameters, "g", &[1, 1, 1], Activation::Tanh);
        // v tanh(w h + b) + d and its derivatives by h.
        let derivatives = |network: &Mlp, h: f64| {
            let of = |layer: usize| {
                let (weight, bias) = network.layers()[layer].linear.numbers(&parameters);
                (weight[0], bias[0])
            };
            let ((w, b), (v, d)) = (of(0), of(1));
            let y = (w * h + b).tanh();
            let s = 1.0 - y * y;
            let slopes = [
                s,
                -2.0 * y * s,
                s * (6.0 * y * y - 2.0),
                s * y * (16.0 - 24.0 * y * y),
            ];
            let mut all = vec![v * y + d];
            for (k, slope) in slopes.iter().enumerate() {
                all.push(v * w.powi(k as i32 + 1) * slope);
            }
            all
        };
        for h in [-0.8, 0.1, 0.9] {
            let (f0, g0) = (derivatives(&f, h), derivatives(&g, h));
            let (v, f1, f2, f3) = (f0[0], f0[1], f0[2], f0[3]);
            let expected = g0[4] * v.powi(4)
                + 6.0 * g0[3] * f1 * v.powi(3)
                + g0[2] * (4.0 * f2 * v.powi(3) + 7.0 * f1 * f1 * v * v)
                + g0[1] * (f3 * v.powi(3) + 4.0 * f2 * f1 * v * v + f1.powi(3) * v);
            let path = Taylor::flow(&parameters, &f, &[h], 4).unwrap();
            let found = path.through(&parameters, &g).unwrap().derivative(4)[0];
            assert!(
                (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                "{found} and {expected}"
            );
        }
    }

    #[test]
    fn an_activation_without_a_fourth_derivative_is_refused() {
        let mut parameters = Parameters::new();
        let f = network(&mut parameters, "f", &[2, 3, 2], Activation::Relu);
        let refused = Taylor::flow(&parameters, &f, &[0.1, 0.2], 4).unwrap_err();
        assert!(
            refused.to_string().contains("Relu has no Taylor series"),
            "{refused}"
        );
    }
}
