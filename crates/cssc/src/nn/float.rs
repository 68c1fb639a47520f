//! The number types of the engine: `f32` to train, `f64` to check gradients.
//!
//! [`Float`] names the few vector instructions the kernels are written in, once for both types
//! and for every instruction set. `pulp` picks the instruction set when the program runs:
//! AVX-512, AVX2 with FMA, or plain scalar code.

use super::elementary::Elementary;
use super::kernel::Kernels;
use crate::Real;
use pulp::Simd;
use std::fmt::Display;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// How tanh is computed.
#[derive(Clone, Copy, Debug)]
pub enum TanhForm<T: 'static> {
    /// x·P(x²)/Q(x²) up to |x| = `reach`, beyond which it is ±1; coefficients of P (`above`)
    /// and Q (`below`) from the highest power.
    Quotient {
        /// See above.
        reach: T,
        /// See above.
        above: [T; 5],
        /// See above.
        below: [T; 5],
    },
    /// By the series of eˣ - 1.
    Series {
        /// 1/k! for k = n, n-1, …, 2, long enough for |x| ≤ 0.63.
        coefficients: &'static [T],
        /// -2|x| below which tanh x is ±1 to the last bit.
        cutoff: T,
        /// How often eˣ - 1 is doubled: `cutoff` / 2^this is at least -0.63.
        doublings: usize,
    },
}

/// `f32` or `f64`, with the vector instructions the kernels need.
///
/// `Register<S>` holds `lanes::<S>()` numbers of the instruction set `S`.
pub trait Float:
    Real
    + Kernels
    + Elementary
    + Display
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    /// One vector register.
    type Register<S: Simd>: Copy;

    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// How tanh is computed for this type.
    const TANH: TanhForm<Self>;

    /// Larger of two numbers, NaN if one is.
    fn maximum(self, other: Self) -> Self {
        if self > other || self.to_f64().is_nan() {
            self
        } else {
            other
        }
    }
    /// Natural exponential.
    fn exp(self) -> Self;
    /// eˣ - 1 without cancellation.
    fn exp_m1(self) -> Self;
    /// ln(1 + x) without cancellation.
    fn ln_1p(self) -> Self;
    /// Hyperbolic tangent of the standard library.
    fn tanh(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// Numbers in a register.
    #[inline(always)]
    fn lanes<S: Simd>() -> usize {
        size_of::<Self::Register<S>>() / size_of::<Self>()
    }
    /// A register full of `x`.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Register<S>;
    /// Reads a register.
    ///
    /// # Safety
    /// `source` must be valid for reading `lanes::<S>()` numbers; any alignment.
    #[inline(always)]
    unsafe fn load<S: Simd>(source: *const Self) -> Self::Register<S> {
        // SAFETY: promised by the caller.
        unsafe { source.cast::<Self::Register<S>>().read_unaligned() }
    }
    /// Writes a register.
    ///
    /// # Safety
    /// `target` must be valid for writing `lanes::<S>()` numbers; any alignment.
    #[inline(always)]
    unsafe fn store<S: Simd>(target: *mut Self, value: Self::Register<S>) {
        // SAFETY: promised by the caller.
        unsafe { target.cast::<Self::Register<S>>().write_unaligned(value) }
    }
    /// a·b + c, fused where the instruction set can.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Register<S>,
        b: Self::Register<S>,
        c: Self::Register<S>,
    ) -> Self::Register<S>;
    /// a + b.
    fn vadd<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a - b.
    fn vsub<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a·b.
    fn vmul<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a / b.
    fn vdiv<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// The smaller of a and b (either, where one is NaN).
    fn vmin<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// The larger of a and b (either, where one is NaN).
    fn vmax<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// |a|.
    fn vabs<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// `magnitude` (not negative) with the sign of `sign`.
    fn vsigned<S: Simd>(
        simd: S,
        magnitude: Self::Register<S>,
        sign: Self::Register<S>,
    ) -> Self::Register<S>;
}

macro_rules! float {
    ($type:ident, $register:ident, $splat:ident, $fma:ident, $add:ident, $sub:ident, $mul:ident,
     $div:ident, $min:ident, $max:ident, $abs:ident, $less:ident, $select:ident, $neg:ident,
     $tanh:expr) => {
        impl Float for $type {
            type Register<S: Simd> = S::$register;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TANH: TanhForm<Self> = $tanh;

            fn exp(self) -> Self {
                $type::exp(self)
            }
            fn exp_m1(self) -> Self {
                $type::exp_m1(self)
            }
            fn ln_1p(self) -> Self {
                $type::ln_1p(self)
            }
            fn tanh(self) -> Self {
                $type::tanh(self)
            }
            fn sqrt(self) -> Self {
                $type::sqrt(self)
            }
            fn abs(self) -> Self {
                $type::abs(self)
            }
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$register {
                simd.$splat(x)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: S::$register,
                b: S::$register,
                c: S::$register,
            ) -> S::$register {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn vadd<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn vsub<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn vmul<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn vdiv<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$div(a, b)
            }
            #[inline(always)]
            fn vmin<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$min(a, b)
            }
            #[inline(always)]
            fn vmax<S: Simd>(simd: S, a: S::$register, b: S::$register) -> S::$register {
                simd.$max(a, b)
            }
            #[inline(always)]
            fn vabs<S: Simd>(simd: S, a: S::$register) -> S::$register {
                simd.$abs(a)
            }
            #[inline(always)]
            fn vsigned<S: Simd>(
                simd: S,
                magnitude: S::$register,
                sign: S::$register,
            ) -> S::$register {
                let negative = simd.$less(sign, simd.$splat(0.0));
                simd.$select(negative, simd.$neg(magnitude), magnitude)
            }
        }
    };
}

float!(
    f32,
    f32s,
    splat_f32s,
    mul_add_e_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    min_f32s,
    max_f32s,
    abs_f32s,
    less_than_f32s,
    select_f32s,
    neg_f32s,
    // Fitted for the smallest relative error, which is 2.2e-8; rounding adds ten times as much.
    TanhForm::Quotient {
        reach: 9.01,
        above: [
            1.340_191_2e-8,
            2.064_844_3e-5,
            0.003_498_221,
            0.133_833_29,
            1.0
        ],
        below: [7.797_432e-7, 3.289_768e-4, 0.025_887_262, 0.467_166_5, 1.0],
    }
);
float!(
    f64,
    f64s,
    splat_f64s,
    mul_add_e_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    min_f64s,
    max_f64s,
    abs_f64s,
    less_than_f64s,
    select_f64s,
    neg_f64s,
    TanhForm::Series {
        coefficients: &[
            1.0 / 20922789888000.0,
            1.0 / 1307674368000.0,
            1.0 / 87178291200.0,
            1.0 / 6227020800.0,
            1.0 / 479001600.0,
            1.0 / 39916800.0,
            1.0 / 3628800.0,
            1.0 / 362880.0,
            1.0 / 40320.0,
            1.0 / 5040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
        ],
        cutoff: -40.0,
        doublings: 6,
    }
);
