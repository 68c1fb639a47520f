//! The chain rule through an activation, number by number: one pass over memory each.
//!
//! With the source s of [`Activation`], and G the gradient of what comes out:
//!
//! | pass | forward | backward |
//! |---|---|---|
//! | value | y = φ(a) | da = G φ' |
//! | slope | y' = φ'(s) x | dx += G φ',  ds += G x dφ'/ds |
//! | curvature | y'' = φ'(s) x₂ + φ''(s) x₁² | dx₂ += G φ', dx₁ += 2 G φ'' x₁, ds += G (x₂ dφ'/ds + x₁² dφ''/ds) |
//!
//! The loops are plain code, compiled once for each instruction set and, for the common
//! activations, with the activation known: so they become vector code.

use super::activation::Activation;
use super::float::Float;
use pulp::{Arch, Simd, WithSimd};

/// Runs `$pass` inside the dispatch, with the activation a constant where that pays.
macro_rules! with_constant_activation {
    ($pass:expr) => {
        match $pass.activation {
            Activation::Tanh => $pass.run(Activation::Tanh),
            Activation::Sigmoid => $pass.run(Activation::Sigmoid),
            Activation::Identity => $pass.run(Activation::Identity),
            Activation::Silu => $pass.run(Activation::Silu),
            Activation::Gelu => $pass.run(Activation::Gelu),
            Activation::Sine => $pass.run(Activation::Sine),
            Activation::Relu => $pass.run(Activation::Relu),
            Activation::Exp => $pass.run(Activation::Exp),
            other => $pass.run(other),
        }
    };
}

/// A gradient being collected: overwritten at its first use, added to afterwards.
#[derive(Debug)]
pub(crate) struct Collected<'a, T> {
    /// The gradient so far; any content unless `used`.
    pub(crate) block: &'a mut [T],
    /// Whether something has been collected already.
    pub(crate) used: bool,
}

impl<T: Float> Collected<'_, T> {
    #[inline(always)]
    fn add(&mut self, i: usize, term: T) {
        let before = if self.used { self.block[i] } else { T::ZERO };
        self.block[i] = before + term;
    }
}

/// φ of every number of `block`, in place.
pub(crate) fn apply<T: Float>(arch: Arch, activation: Activation, block: &mut [T]) {
    arch.dispatch(Apply { activation, block });
}

struct Apply<'a, T> {
    activation: Activation,
    block: &'a mut [T],
}

impl<T: Float> WithSimd for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        with_constant_activation!(self);
    }
}

impl<T: Float> Apply<'_, T> {
    #[inline(always)]
    fn run(self, activation: Activation) {
        for a in self.block.iter_mut() {
            *a = activation.value(*a);
        }
    }
}

/// gradient ⊙ φ'(source), in place; sums over rows are added to `bias` if there is one.
pub(crate) fn pull_back<T: Float>(
    arch: Arch,
    activation: Activation,
    source: &[T],
    gradient: &mut [T],
    bias: Option<&mut [T]>,
) {
    arch.dispatch(PullBack {
        activation,
        source,
        gradient,
        bias,
    });
}

struct PullBack<'a, T> {
    activation: Activation,
    source: &'a [T],
    gradient: &'a mut [T],
    bias: Option<&'a mut [T]>,
}

impl<T: Float> WithSimd for PullBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        with_constant_activation!(self);
    }
}

impl<T: Float> PullBack<'_, T> {
    #[inline(always)]
    fn run(self, activation: Activation) {
        let Some(bias) = self.bias else {
            for (g, &s) in self.gradient.iter_mut().zip(self.source) {
                *g *= activation.slopes(s).first;
            }
            return;
        };
        let columns = bias.len();
        let rows = self
            .gradient
            .chunks_exact_mut(columns)
            .zip(self.source.chunks_exact(columns));
        for (gradient, source) in rows {
            for ((g, &s), sum) in gradient.iter_mut().zip(source).zip(&mut *bias) {
                *g *= activation.slopes(s).first;
                *sum += *g;
            }
        }
    }
}

/// out = φ'(source) ⊙ x.
pub(crate) fn slope<T: Float>(
    arch: Arch,
    activation: Activation,
    [source, x]: [&[T]; 2],
    out: &mut [T],
) {
    arch.dispatch(Slope {
        activation,
        source,
        x,
        out,
    });
}

struct Slope<'a, T> {
    activation: Activation,
    source: &'a [T],
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Float> WithSimd for Slope<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        with_constant_activation!(self);
    }
}

impl<T: Float> Slope<'_, T> {
    #[inline(always)]
    fn run(self, activation: Activation) {
        for ((y, &s), &x) in self.out.iter_mut().zip(self.source).zip(self.x) {
            *y = activation.slopes(s).first * x;
        }
    }
}

/// Gradients of [`slope`], for the source and x.
pub(crate) fn slope_back<T: Float>(
    arch: Arch,
    activation: Activation,
    operands: [&[T]; 2],
    gradient: &[T],
    targets: [Collected<'_, T>; 2],
) {
    arch.dispatch(SlopeBack {
        activation,
        operands,
        gradient,
        targets,
    });
}

struct SlopeBack<'a, T> {
    activation: Activation,
    operands: [&'a [T]; 2],
    gradient: &'a [T],
    targets: [Collected<'a, T>; 2],
}

impl<T: Float> WithSimd for SlopeBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        with_constant_activation!(self);
    }
}

impl<T: Float> SlopeBack<'_, T> {
    #[inline(always)]
    fn run(self, activation: Activation) {
        let len = self.gradient.len();
        let [source, x] = self.operands.map(|block| &block[..len]);
        let [mut d_source, mut d_x] = self.targets.map(|target| cut(target, len));
        for i in 0..len {
            let (g, at) = (self.gradient[i], activation.slopes(source[i]));
            d_source.add(i, at.first_by_source * x[i] * g);
            d_x.add(i, at.first * g);
        }
    }
}

/// Exactly `len` numbers, so that the loops need no bounds checks.
#[inline(always)]
fn cut<T>(target: Collected<'_, T>, len: usize) -> Collected<'_, T> {
    Collected {
        block: &mut target.block[..len],
        used: target.used,
    }
}

/// out = φ'(source) ⊙ second + φ''(source) ⊙ first².
pub(crate) fn curvature<T: Float>(
    arch: Arch,
    activation: Activation,
    [source, first, second]: [&[T]; 3],
    out: &mut [T],
) {
    arch.dispatch(Curvature {
        activation,
        source,
        first,
        second,
        out,
    });
}

struct Curvature<'a, T> {
    activation: Activation,
    source: &'a [T],
    first: &'a [T],
    second: &'a [T],
    out: &'a mut [T],
}

impl<T: Float> WithSimd for Curvature<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        with_constant_activation!(self);
    }
}

impl<T: Float> Curvature<'_, T> {
    #[inline(always)]
    fn run(self, activation: Activation) {
        let inputs = self.source.iter().zip(self.first).zip(self.second);
        for (y, ((&s, &x1), &x2)) in self.out.iter_mut().zip(inputs) {
            let at = activation.slopes(s);
            *y = at.first * x2 + at.second * x1 * x1;
        }
    }
}

/// Gradients of [`curvature`], for the source, first and second.
pub(crate) fn curvature_back<T: Float>(
    arch: Arch,
    activation: Activation,
    operands: [&[T]; 3],
    gradient: &[T],
    targets: [Collected<'_, T>; 3],
) {
    arch.dispatch(CurvatureBack {
        activation,
        operands,
        gradient,
        targets,
    });
}

struct CurvatureBack<'a, T> {
    activation: Activation,
    operands: [&'a [T]; 3],
    gradient: &'a [T],
    targets: [Collected<'a, T>; 3],
}

impl<T: Float> WithSimd for CurvatureBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        with_constant_activation!(self);
    }
}

impl<T: Float> CurvatureBack<'_, T> {
    #[inline(always)]
    fn run(self, activation: Activation) {
        let len = self.gradient.len();
        let [source, first, second] = self.operands.map(|block| &block[..len]);
        let [mut d_source, mut d_first, mut d_second] = self.targets.map(|target| cut(target, len));
        let two = T::from_f64(2.0);
        for i in 0..len {
            let (g, at, x1) = (self.gradient[i], activation.slopes(source[i]), first[i]);
            d_source.add(
                i,
                (at.first_by_source * second[i] + at.second_by_source * x1 * x1) * g,
            );
            d_first.add(i, two * at.second * x1 * g);
            d_second.add(i, at.first * g);
        }
    }
}
