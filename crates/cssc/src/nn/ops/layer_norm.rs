//! Rows brought to mean 0 and variance 1, then scaled and shifted column by column
//! (Ba, Kiros and Hinton 2016).
//!
//! ```text
//!   c = x - mean x     ρ = (mean c² + ε)^(-1/2)     y = γ ⊙ cρ + β
//! ```
//!
//! Gradient, with u = γ ⊙ G and x̂ = cρ: dx = ρ (u - mean u - x̂ mean(u x̂)), dγ = Σ G ⊙ x̂ and
//! dβ = Σ G over the rows. c and ρ are computed again: cheaper than to keep.
//!
//! Along a curve x(t), with v = mean c² + ε:
//!
//! ```text
//!   ρ' = -½ρ³ v',  v' = 2 mean cc'      ρ'' = ¾ρ⁵ v'² - ½ρ³ v'',  v'' = 2 mean (c'² + cc'')
//!   y' = γ ⊙ (c'ρ + cρ')                y'' = γ ⊙ (c''ρ + 2c'ρ' + cρ'')
//! ```

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::layer::Layer;
use super::super::memory::Var;
use super::super::parameters::{Initializer, ParameterId, ParameterRole, Parameters};
use super::super::reduce::{dot, sum};
use super::Op;
use crate::Jets;
use crate::data::Random;
use pulp::{Simd, WithSimd};

/// ε, so that a row of equal numbers becomes 0.
const VARIANCE_FLOOR: f64 = 1e-5;

/// A layer normalisation of rows of one width.
///
/// Its jets have no gradient: they are for computations with [`Graph::forward_only`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayerNorm {
    gain: ParameterId,
    bias: ParameterId,
    width: usize,
}

impl LayerNorm {
    /// Adds `NAME.gain` (ones) and `NAME.bias` (zeros) to the store.
    pub fn new<T: Float>(parameters: &mut Parameters<T>, name: &str, width: usize) -> Self {
        let mut random = Random::new(0); // not used by constants
        let mut add = |part: &str, role, initializer| {
            let name = format!("{name}.{part}");
            parameters.add(name, role, [1, width], initializer, &mut random)
        };
        Self {
            gain: add("gain", ParameterRole::Gain, Initializer::Ones),
            bias: add("bias", ParameterRole::Bias, Initializer::Zeros),
            width,
        }
    }
}

impl<T: Float> Layer<T> for LayerNorm {
    fn inputs(&self) -> usize {
        self.width
    }

    fn outputs(&self) -> usize {
        self.width
    }

    fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        graph.layer_norm(x, self)
    }

    /// # Panics
    /// In a computation that is recorded.
    fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
        graph.layer_norm_jet(x, self)
    }
}

impl<T: Float> Graph<'_, T> {
    /// Layer normalisation of x [rows, width].
    pub fn layer_norm(&mut self, x: Var, layer: &LayerNorm) -> Var {
        let (rows, columns, _) = self.shape_of(x);
        assert_eq!(columns, layer.width, "the normalisation's own width");
        let mut block = self.copy_of(x);
        self.arch.dispatch(Normalize {
            block: &mut block[..rows * columns],
            gain: self.parameters.get(layer.gain),
            bias: self.parameters.get(layer.bias),
        });
        let op = Op::LayerNorm {
            x,
            gain: layer.gain,
            bias: layer.bias,
        };
        self.push(op, rows, columns, block, true)
    }

    /// Value, slope and curvature of a layer normalisation.
    ///
    /// # Panics
    /// In a computation that is recorded: derivatives have no gradient here.
    pub fn layer_norm_jet(&mut self, x: Jets<Var>, layer: &LayerNorm) -> Jets<Var> {
        self.assert_not_recording("the jet of a layer normalisation");
        let value = self.layer_norm(x.value, layer);
        let (rows, columns, _) = self.shape_of(x.value);
        let len = rows * columns;
        let (mut slope, mut curvature) = (self.copy_of(x.slope), self.copy_of(x.curvature));
        let mut centred = self.copy_of(x.value);
        self.arch.dispatch(NormalizeJet {
            centred: &mut centred[..len],
            slope: &mut slope[..len],
            curvature: &mut curvature[..len],
            gain: self.parameters.get(layer.gain),
        });
        self.memory.pool.give(centred);
        Jets {
            value,
            slope: self.push(Op::Leaf, rows, columns, slope, false),
            curvature: self.push(Op::Leaf, rows, columns, curvature, false),
        }
    }
}

/// x - mean x, in place; ρ.
#[inline(always)]
fn centre<T: Float>(row: &mut [T]) -> T {
    let count = T::from_f64(row.len() as f64);
    subtract_mean(row);
    let variance = dot(row, row) / count;
    T::ONE / (variance + T::from_f64(VARIANCE_FLOOR)).sqrt()
}

#[inline(always)]
fn subtract_mean<T: Float>(row: &mut [T]) {
    let mean = sum(row) / T::from_f64(row.len() as f64);
    for x in row {
        *x -= mean;
    }
}

struct Normalize<'a, T> {
    block: &'a mut [T],
    gain: &'a [T],
    bias: &'a [T],
}

impl<T: Float> WithSimd for Normalize<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.block.chunks_exact_mut(self.gain.len()) {
            let factor = centre(row);
            for ((y, &gain), &bias) in row.iter_mut().zip(self.gain).zip(self.bias) {
                *y = gain * (*y * factor) + bias;
            }
        }
    }
}

struct NormalizeJet<'a, T> {
    /// x on the way in.
    centred: &'a mut [T],
    slope: &'a mut [T],
    curvature: &'a mut [T],
    gain: &'a [T],
}

impl<T: Float> WithSimd for NormalizeJet<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let columns = self.gain.len();
        let count = T::from_f64(columns as f64);
        let (half, two) = (T::from_f64(0.5), T::from_f64(2.0));
        let rows = self.centred.chunks_exact_mut(columns);
        let rows = rows.zip(self.slope.chunks_exact_mut(columns));
        let rows = rows.zip(self.curvature.chunks_exact_mut(columns));
        for ((c, c1), c2) in rows {
            let factor = centre(c);
            subtract_mean(c1);
            subtract_mean(c2);
            let first = two * dot(c, c1) / count;
            let second = two * (dot(c1, c1) + dot(c, c2)) / count;
            let cube = factor * factor * factor;
            let factor1 = -half * cube * first;
            let factor2 =
                T::from_f64(0.75) * cube * factor * factor * first * first - half * cube * second;
            for (((c, c1), c2), &gain) in c.iter().zip(c1).zip(c2).zip(self.gain) {
                let slope = gain * (*c1 * factor + *c * factor1);
                *c2 = gain * (*c2 * factor + two * *c1 * factor1 + *c * factor2);
                *c1 = slope;
            }
        }
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn layer_norm(&mut self, x: Var, [gain, bias]: [ParameterId; 2], mut g: Vec<T>) {
        let node = &self.nodes[x.index()];
        let (len, columns) = (node.len(), node.columns);
        let mut sums = self.pool.take(2 * columns);
        sums[..2 * columns].fill(T::ZERO);
        let mut scratch = self.pool.take(columns);
        let (d_gain, d_bias) = sums[..2 * columns].split_at_mut(columns);
        self.arch.dispatch(NormalizeBack {
            x: node.value(),
            gain: self.parameters.get(gain),
            gradient: &mut g[..len],
            normal: &mut scratch[..columns],
            d_gain,
            d_bias,
        });
        for (id, part) in [gain, bias].into_iter().zip(sums.chunks_exact(columns)) {
            let target = &mut self.gradient.values[self.parameters.range(id)];
            target.iter_mut().zip(part).for_each(|(sum, &d)| *sum += d);
        }
        self.add_each(x, |_, i| g[i]);
        for block in [sums, scratch, g] {
            self.pool.give(block);
        }
    }
}

struct NormalizeBack<'a, T> {
    x: &'a [T],
    gain: &'a [T],
    /// Of y on the way in, of x on the way out.
    gradient: &'a mut [T],
    normal: &'a mut [T],
    d_gain: &'a mut [T],
    d_bias: &'a mut [T],
}

impl<T: Float> WithSimd for NormalizeBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let columns = self.gain.len();
        let count = T::from_f64(columns as f64);
        let rows = self.gradient.chunks_exact_mut(columns);
        for (g, x) in rows.zip(self.x.chunks_exact(columns)) {
            self.normal.copy_from_slice(x);
            let factor = centre(self.normal);
            let sums = self.d_gain.iter_mut().zip(&mut *self.d_bias).zip(self.gain);
            for ((g, normal), ((d_gain, d_bias), &gain)) in
                g.iter_mut().zip(&mut *self.normal).zip(sums)
            {
                *normal *= factor;
                *d_gain += *g * *normal;
                *d_bias += *g;
                *g *= gain;
            }
            let (mean, slope) = (sum(g) / count, dot(g, self.normal) / count);
            for (g, &normal) in g.iter_mut().zip(&*self.normal) {
                *g = factor * (*g - mean - normal * slope);
            }
        }
    }
}
