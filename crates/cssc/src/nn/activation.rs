//! Activation functions φ, with the derivatives that jets need.
//!
//! Most activations know their derivatives from their own value y = φ(a), so a fused layer
//! keeps y only; SiLU, GELU and sine need a. Both are called the *source* s, and every
//! derivative below is a function of s:
//!
//! | | φ | source | φ' | φ'' |
//! |---|---|---|---|---|
//! | tanh | tanh a | y | 1 - y² | -2y(1 - y²) |
//! | sigmoid | 1/(1 + e⁻ᵃ) | y | y(1 - y) | y(1 - y)(1 - 2y) |
//! | softplus | ln(1 + eᵃ) | y | 1 - e⁻ʸ | e⁻ʸ(1 - e⁻ʸ) |
//! | ELU | a or eᵃ - 1 | y | 1 or y + 1 | 0 or y + 1 |
//! | ReLU | max(a, 0) | y | 0 or 1 | 0 |
//! | SiLU | a·σ(a) | a | | |
//! | GELU | a·σ(v), v = √(8/π)(a + 0.044715 a³) | a | | |
//! | sine | sin a | a | cos a | -sin a |
//! | exp | eᵃ | y | y | y |
//!
//! GELU is the form with tanh (Hendrycks and Gimpel 2016), written with σ. With s = σ(v),
//! d = s(1 - s) and e = 1 - 2s, for both y = a·σ(v(a)):
//!
//! ```text
//!   y'   = s + a d v'
//!   y''  = d (2v' + a (e v'² + v''))
//!   y''' = d (3e v'² + 3v'' + a ((e² - 2d) v'³ + 3e v' v'' + v'''))
//! ```
//!
//! All but softplus and ELU become vector code. tanh and sigmoid run in vector registers, without branches or tables. In `f32` tanh is a
//! quotient of polynomials, right to 3e-7. In `f64`: with
//! z = -2|a| / 2ⁿ, eᶻ - 1 is a short series, and doubling n times by
//! e²ᶻ - 1 = (eᶻ - 1)(eᶻ - 1 + 2) keeps the relative error at a few units in the last place,
//! also near 0 where 1 - e⁻²ᵃ would cancel. Then tanh|a| = -E/(E + 2) with E = e^(-2|a|) - 1.
//! NaN stays NaN.
//!
//! ReLU is only C⁰ and ELU C¹, all others are C∞: a curve is C² only if the activations are.

use super::chain;
use super::float::{Float, TanhForm};
use pulp::{Arch, Simd, WithSimd};

/// An activation function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "nn", derive(serde::Serialize, serde::Deserialize))]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// No activation: φ(a) = a.
    Identity,
    /// Hyperbolic tangent, the paper's choice (C∞, as Theorem 2 asks).
    #[default]
    Tanh,
    /// Logistic function, for gates.
    Sigmoid,
    /// ln(1 + eᵃ).
    Softplus,
    /// a for a > 0, eᵃ - 1 below. Not C².
    Elu,
    /// a·σ(a), the sigmoid linear unit.
    Silu,
    /// eᵃ.
    Exp,
    /// max(a, 0). Not C¹.
    Relu,
    /// a·σ(√(8/π)(a + 0.044715 a³)): the Gaussian error linear unit in its tanh form.
    Gelu,
    /// sin a.
    Sine,
}

/// φ', φ'' as functions of the source s, and their derivatives with respect to s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slopes<T> {
    /// φ'.
    pub(crate) first: T,
    /// dφ'/ds.
    pub(crate) first_by_source: T,
    /// φ''.
    pub(crate) second: T,
    /// dφ''/ds.
    pub(crate) second_by_source: T,
}

impl Activation {
    /// Whether the *source*, from which [`Graph::tangent`](super::Graph::tangent) and
    /// [`Graph::curve`](super::Graph::curve) compute derivatives, is a (true) or y = φ(a)
    /// (false).
    #[must_use]
    pub fn source_is_input(self) -> bool {
        matches!(self, Self::Silu | Self::Gelu | Self::Sine)
    }

    /// y = φ(a), in place.
    pub(crate) fn apply<T: Float>(self, arch: Arch, block: &mut [T]) {
        let two = T::from_f64(2.0);
        match self {
            Self::Identity => {}
            Self::Tanh => arch.dispatch(Saturate {
                block,
                inner: T::ONE,
                scale: T::ONE,
                shift: T::ZERO,
            }),
            Self::Sigmoid => {
                let half = T::ONE / two;
                arch.dispatch(Saturate {
                    block,
                    inner: half,
                    scale: half,
                    shift: half,
                });
            }
            Self::Softplus => block.iter_mut().for_each(|a| {
                *a = a.maximum(T::ZERO) + (-a.abs()).exp().ln_1p();
            }),
            Self::Elu => block.iter_mut().for_each(|a| {
                if *a <= T::ZERO {
                    *a = a.exp_m1();
                }
            }),
            _ => chain::apply(arch, self, block),
        }
    }

    /// φ(a) for the activations that [`chain::apply`] runs.
    #[inline(always)]
    pub(crate) fn value<T: Float>(self, a: T) -> T {
        match self {
            Self::Silu => a * a.plain_sigmoid(),
            Self::Gelu => a * gelu_gate(a)[0].plain_sigmoid(),
            Self::Exp => a.plain_exp(),
            Self::Sine => a.plain_sin_cos().0,
            // A NaN is not below 0 and stays.
            Self::Relu if a < T::ZERO => T::ZERO,
            _ => a,
        }
    }

    /// Derivatives at a source.
    #[inline(always)]
    pub(crate) fn slopes<T: Float>(self, s: T) -> Slopes<T> {
        let (one, two, six) = (T::ONE, T::from_f64(2.0), T::from_f64(6.0));
        let (first, first_by_source, second, second_by_source) = match self {
            Self::Identity => (one, T::ZERO, T::ZERO, T::ZERO),
            Self::Tanh => {
                let d = one - s * s;
                (d, -two * s, -two * s * d, six * s * s - two)
            }
            Self::Sigmoid => {
                let (d, e) = (s * (one - s), one - two * s);
                (d, e, d * e, one - six * d)
            }
            Self::Softplus => {
                let e = (-s).exp();
                (one - e, e, e * (one - e), two * e * e - e)
            }
            Self::Elu if s > T::ZERO => (one, T::ZERO, T::ZERO, T::ZERO),
            Self::Elu => (s + one, one, s + one, one),
            Self::Silu => gated(s, [s, one, T::ZERO, T::ZERO]),
            Self::Gelu => gated(s, gelu_gate(s)),
            Self::Exp => (s, one, s, one),
            Self::Relu if s > T::ZERO => (one, T::ZERO, T::ZERO, T::ZERO),
            Self::Relu => (T::ZERO, T::ZERO, T::ZERO, T::ZERO),
            Self::Sine => {
                let (sin, cos) = s.plain_sin_cos();
                (cos, -sin, -sin, -cos)
            }
        };
        Slopes {
            first,
            first_by_source,
            second,
            second_by_source,
        }
    }
}

/// What GELU's σ is taken of, with three derivatives.
#[inline(always)]
fn gelu_gate<T: Float>(a: T) -> [T; 4] {
    // √(8/π), and times 0.044715.
    let (linear, cubic) = (
        T::from_f64(1.595_769_121_605_730_7),
        T::from_f64(1.595_769_121_605_730_7 * 0.044_715),
    );
    let (three, six) = (T::from_f64(3.0), T::from_f64(6.0));
    [
        a * (linear + cubic * a * a),
        linear + three * cubic * a * a,
        six * cubic * a,
        six * cubic,
    ]
}

/// First derivative, second, second, third of a·σ(v) for v with its derivatives.
#[inline(always)]
fn gated<T: Float>(a: T, [v, v1, v2, v3]: [T; 4]) -> (T, T, T, T) {
    let (two, three) = (T::from_f64(2.0), T::from_f64(3.0));
    let s = v.plain_sigmoid();
    let (d, e) = (s * (T::ONE - s), T::ONE - two * s);
    let bend = e * v1 * v1 + v2;
    let second = d * (two * v1 + a * bend);
    let turn = (e * e - two * d) * v1 * v1 * v1 + three * e * v1 * v2 + v3;
    let third = d * (three * bend + a * turn);
    (s + a * d * v1, second, second, third)
}

/// shift + scale·tanh(inner·a), in place.
struct Saturate<'a, T> {
    block: &'a mut [T],
    inner: T,
    scale: T,
    shift: T,
}

/// Registers in flight: the steps of one tanh wait for each other, those of four do not.
const INTERLEAVED: usize = 4;

impl<T: Float> WithSimd for Saturate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let count = INTERLEAVED * T::lanes::<S>();
        let constants = [self.inner, self.scale, self.shift];
        let mut blocks = self.block.chunks_exact_mut(count);
        for chunk in &mut blocks {
            // SAFETY: the chunk holds so many registers.
            unsafe { saturate::<T, S>(simd, constants, chunk.as_mut_ptr()) };
        }
        let rest = blocks.into_remainder();
        if !rest.is_empty() {
            let mut full = [T::ZERO; INTERLEAVED * 16];
            full[..rest.len()].copy_from_slice(rest);
            // SAFETY: no register holds more than 16 numbers.
            unsafe { saturate::<T, S>(simd, constants, full.as_mut_ptr()) };
            rest.copy_from_slice(&full[..rest.len()]);
        }
    }
}

/// [`INTERLEAVED`] registers of [`Saturate`], in place. (A closure would not inherit the
/// instruction set.)
///
/// # Safety
/// `place` holds so many registers.
#[inline(always)]
unsafe fn saturate<T: Float, S: Simd>(simd: S, [inner, scale, shift]: [T; 3], place: *mut T) {
    let lanes = T::lanes::<S>();
    let mut a = [T::splat(simd, T::ZERO); INTERLEAVED];
    for (i, a) in a.iter_mut().enumerate() {
        // SAFETY: promised by the caller.
        let x = unsafe { T::load::<S>(place.add(i * lanes)) };
        *a = T::vmul(simd, T::splat(simd, inner), x);
    }
    let y = tanh::<T, S>(simd, a);
    for (i, &y) in y.iter().enumerate() {
        let y = T::mul_add(simd, T::splat(simd, scale), y, T::splat(simd, shift));
        // SAFETY: promised by the caller.
        unsafe { T::store::<S>(place.add(i * lanes), y) };
    }
}

/// tanh of some registers, step by step together; see the module's head.
#[inline(always)]
fn tanh<T: Float, S: Simd>(
    simd: S,
    a: [T::Register<S>; INTERLEAVED],
) -> [T::Register<S>; INTERLEAVED] {
    match const { T::TANH } {
        TanhForm::Quotient {
            reach,
            above,
            below,
        } => tanh_quotient::<T, S>(simd, a, reach, [above, below]),
        TanhForm::Series {
            coefficients,
            cutoff,
            doublings,
        } => tanh_series::<T, S>(simd, a, coefficients, cutoff, doublings),
    }
}

#[inline(always)]
fn tanh_quotient<T: Float, S: Simd>(
    simd: S,
    a: [T::Register<S>; INTERLEAVED],
    reach: T,
    [above, below]: [[T; 5]; 2],
) -> [T::Register<S>; INTERLEAVED] {
    let mut y = a;
    let mut square = a;
    for (y, square) in y.iter_mut().zip(&mut square) {
        *y = clamp::<T, S>(simd, *y, reach);
        *square = T::vmul(simd, *y, *y);
    }
    let above = polynomial::<T, S>(simd, above, square);
    for (y, &above) in y.iter_mut().zip(&above) {
        *y = T::vmul(simd, *y, above);
    }
    let below = polynomial::<T, S>(simd, below, square);
    for ((y, &below), &a) in y.iter_mut().zip(&below).zip(&a) {
        *y = clamp::<T, S>(simd, T::vdiv(simd, *y, below), T::ONE);
        // a - a is 0, or NaN where a is not finite: `clamp` alone would hide a NaN.
        *y = T::vadd(simd, *y, T::vsub(simd, a, a));
    }
    y
}

/// `x`, at most `reach` away from 0.
#[inline(always)]
fn clamp<T: Float, S: Simd>(simd: S, x: T::Register<S>, reach: T) -> T::Register<S> {
    let x = T::vmin(simd, x, T::splat(simd, reach));
    T::vmax(simd, x, T::splat(simd, -reach))
}

#[inline(always)]
fn polynomial<T: Float, S: Simd>(
    simd: S,
    coefficients: [T; 5],
    x: [T::Register<S>; INTERLEAVED],
) -> [T::Register<S>; INTERLEAVED] {
    let mut sum = [T::splat(simd, coefficients[0]); INTERLEAVED];
    for &coefficient in &coefficients[1..] {
        for (sum, &x) in sum.iter_mut().zip(&x) {
            *sum = T::mul_add(simd, *sum, x, T::splat(simd, coefficient));
        }
    }
    sum
}

#[inline(always)]
fn tanh_series<T: Float, S: Simd>(
    simd: S,
    a: [T::Register<S>; INTERLEAVED],
    coefficients: &[T],
    cutoff: T,
    doublings: usize,
) -> [T::Register<S>; INTERLEAVED] {
    let scale = T::from_f64((1_u64 << doublings) as f64);
    let (shrink, cutoff) = (T::from_f64(-2.0) / scale, cutoff / scale);
    let mut z = a;
    for z in &mut z {
        *z = T::vmul(simd, T::vabs(simd, *z), T::splat(simd, shrink));
        *z = T::vmax(simd, *z, T::splat(simd, cutoff));
    }
    let mut e = [T::splat(simd, coefficients[0]); INTERLEAVED];
    for &coefficient in &coefficients[1..] {
        for (series, &z) in e.iter_mut().zip(&z) {
            *series = T::mul_add(simd, *series, z, T::splat(simd, coefficient));
        }
    }
    for (e, &z) in e.iter_mut().zip(&z) {
        *e = T::mul_add(simd, T::vmul(simd, *e, z), z, z);
    }
    for _ in 0..doublings {
        for e in &mut e {
            *e = T::mul_add(simd, *e, *e, T::vadd(simd, *e, *e));
        }
    }
    let (zero, two) = (T::splat(simd, T::ZERO), T::splat(simd, T::from_f64(2.0)));
    for (e, &a) in e.iter_mut().zip(&a) {
        let magnitude = T::vdiv(simd, T::vsub(simd, zero, *e), T::vadd(simd, *e, two));
        // a - a is 0, or NaN where a is not finite: `vmax` alone would hide a NaN.
        *e = T::vadd(
            simd,
            T::vsigned::<S>(simd, magnitude, a),
            T::vsub(simd, a, a),
        );
    }
    e
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::arch::instruction_sets;

    fn worst_relative_error<T: Float>(activation: Activation, exact: fn(f64) -> f64) -> f64 {
        let mut worst: f64 = 0.0;
        for arch in instruction_sets() {
            let inputs: Vec<T> = (-4003..4003)
                .map(|i| T::from_f64(0.005 * f64::from(i)).exp_spread())
                .collect();
            let mut block = inputs.clone();
            activation.apply(arch, &mut block);
            for (a, y) in inputs.iter().zip(&block) {
                let exact = exact(a.to_f64());
                if exact.abs() > 1e-30 {
                    worst = worst.max(((y.to_f64() - exact) / exact).abs());
                }
            }
        }
        worst
    }

    trait Spread {
        fn exp_spread(self) -> Self;
    }
    impl<T: Float> Spread for T {
        /// From ±20 evenly to values near 0 as well: x³/400 keeps the ends.
        fn exp_spread(self) -> Self {
            self * self * self / T::from_f64(400.0)
        }
    }

    #[test]
    fn tanh_is_right_to_a_few_units_in_the_last_place() {
        assert!(worst_relative_error::<f32>(Activation::Tanh, f64::tanh) < 4e-7);
        assert!(worst_relative_error::<f64>(Activation::Tanh, f64::tanh) < 2e-15);
    }

    #[test]
    fn sigmoid_is_right_in_absolute_terms() {
        for arch in instruction_sets() {
            let mut block: Vec<f64> = (-200..200).map(|i| 0.1 * f64::from(i)).collect();
            Activation::Sigmoid.apply(arch, &mut block);
            for (i, y) in (-200..200).zip(&block) {
                let exact = 1.0 / (1.0 + (-0.1 * f64::from(i)).exp());
                assert!((y - exact).abs() < 1e-15, "{i}: {y} is not {exact}");
            }
        }
    }

    #[test]
    fn nan_stays_nan() {
        for arch in instruction_sets() {
            let mut block = [f32::NAN; 19];
            Activation::Tanh.apply(arch, &mut block);
            assert!(block.iter().all(|y| y.is_nan()));
        }
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_function_and_of_each_other() {
        let all = [
            Activation::Identity,
            Activation::Tanh,
            Activation::Sigmoid,
            Activation::Softplus,
            Activation::Elu,
            Activation::Silu,
            Activation::Exp,
            Activation::Relu,
            Activation::Gelu,
            Activation::Sine,
        ];
        let value = |activation: Activation, a: f64| {
            let mut y = [a];
            activation.apply(Arch::Scalar, &mut y);
            y[0]
        };
        for activation in all {
            for a in [-2.3, -0.7, 0.4, 1.9] {
                let source = |a| {
                    if activation.source_is_input() {
                        a
                    } else {
                        value(activation, a)
                    }
                };
                let slopes = |a| activation.slopes(source(a));
                let step = 1e-5;
                let rate = |f: &dyn Fn(f64) -> f64| (f(a + step) - f(a - step)) / (2.0 * step);
                let at = slopes(a);
                let source_rate = rate(&source);
                let close =
                    |x: f64, y: f64| assert!((x - y).abs() < 1e-8, "{activation:?} {a}: {x} {y}");
                close(at.first, rate(&|a| value(activation, a)));
                close(at.second, rate(&|a| slopes(a).first));
                close(at.first_by_source * source_rate, at.second);
                close(
                    at.second_by_source * source_rate,
                    rate(&|a| slopes(a).second),
                );
            }
        }
    }
}
