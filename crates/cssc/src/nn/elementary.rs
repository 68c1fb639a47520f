//! eˣ, the logistic function, sine and cosine in plain code without branches or tables: inside
//! `Arch::dispatch` their loops become vector code, and every instruction set gives the same
//! bits.
//!
//! - eˣ: with n = round(x / ln 2) and r = x - n ln 2, |r| ≤ 0.35, a short series gives eʳ and
//!   2ⁿ is put together from its bits. What would be denormal is 0.
//! - sin, cos: with n = round(x / π) and r = x - nπ, |r| ≤ π/2, series in r and a sign by the
//!   last bit of n. π is subtracted in three parts (Cody and Waite 1980), the first two short
//!   enough that n times them is exact for |n| < 2¹³ (f32) or 2²⁷ (f64). Beyond that the phase
//!   is no longer right; the result stays bounded.
//!
//! Rounding: adding 1.5·2^(bits of the mantissa) leaves the nearest integer in the last bits.
//! NaN stays NaN.

/// The functions, for one number type.
#[allow(unreachable_pub)] // a supertrait of `Float` that nobody can name
pub trait Elementary: Sized {
    /// eˣ to about two units in the last place; 0 below about -87 (f32), -708 (f64).
    #[doc(hidden)]
    fn plain_exp(self) -> Self;
    /// 1/(1 + e⁻ˣ).
    #[doc(hidden)]
    fn plain_sigmoid(self) -> Self;
    /// sin x and cos x.
    #[doc(hidden)]
    fn plain_sin_cos(self) -> (Self, Self);
}

/// Σ c_i xⁱ with coefficients from the highest power.
macro_rules! horner {
    ($x:expr, $first:expr $(, $next:expr)*) => {{
        let mut sum = $first;
        $( sum = sum * $x + $next; )*
        sum
    }};
}

macro_rules! elementary {
    ($type:ident, $bits:ident, mantissa $mantissa:literal, exp [$($exp:expr),*] in $range:expr,
     ln2 $ln2:expr, pi $pi:expr, sin [$($sin:expr),*], cos [$($cos:expr),*]) => {
        impl Elementary for $type {
            #[inline(always)]
            fn plain_exp(self) -> Self {
                let [lowest, highest]: [Self; 2] = $range;
                let x = if self > highest { highest } else { self };
                let x = if x < lowest { lowest } else { x };
                let shifted = x * std::$type::consts::LOG2_E + ROUND_AT;
                let n = shifted - ROUND_AT;
                let r = x - n * $ln2[0] - n * $ln2[1];
                let series = horner!(r, $($exp),*);
                // 2ⁿ⁻¹ and another 2: 2ⁿ itself may be too large, eˣ not yet.
                let exponent = shifted.to_bits().wrapping_add(BIAS - 1);
                series * Self::from_bits(exponent << $mantissa) * 2.0
            }

            #[inline(always)]
            fn plain_sigmoid(self) -> Self {
                1.0 / (1.0 + (-self).plain_exp())
            }

            #[inline(always)]
            fn plain_sin_cos(self) -> (Self, Self) {
                let shifted = self * std::$type::consts::FRAC_1_PI + ROUND_AT;
                let n = shifted - ROUND_AT;
                let r = self - n * $pi[0] - n * $pi[1] - n * $pi[2];
                // Only beyond the reach of the reduction; a NaN passes.
                let r = if r > 2.0 { 2.0 } else { r };
                let r = if r < -2.0 { -2.0 } else { r };
                let square = r * r;
                let sin = r * horner!(square, $($sin),*);
                let cos = horner!(square, $($cos),*);
                let sign = shifted.to_bits() << ($bits::BITS - 1);
                (
                    Self::from_bits(sin.to_bits() ^ sign),
                    Self::from_bits(cos.to_bits() ^ sign),
                )
            }
        }
    };
}

mod single {
    use super::Elementary;
    const ROUND_AT: f32 = 12_582_912.0;
    const BIAS: u32 = 127;
    elementary!(f32, u32, mantissa 23,
        exp [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
            in [-87.33, 89.0],
        ln2 [0.693_359_4_f32, -2.121_944_4e-4],
        pi [3.140_625_f32, 9.675_026e-4, 1.509_958e-7],
        sin [1.0 / 6_227_020_800.0, -1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5040.0,
             1.0 / 120.0, -1.0 / 6.0, 1.0],
        cos [-1.0 / 87_178_291_200.0, 1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0,
             -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0]
    );
}

mod double {
    use super::Elementary;
    const ROUND_AT: f64 = 6_755_399_441_055_744.0;
    const BIAS: u64 = 1023;
    elementary!(f64, u64, mantissa 52,
        exp [1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0,
             1.0 / 362_880.0, 1.0 / 40_320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0,
             1.0 / 6.0, 0.5, 1.0, 1.0]
            in [-708.39, 710.0],
        ln2 [6.931_457_519_531_25e-1_f64, 1.428_606_820_309_417_2e-6],
        pi [3.141_592_502_593_994_f64, 1.509_957_883_172_319_3e-7, 1.078_060_571_631_623_8e-14],
        sin [1.0 / 51_090_942_171_709_440_000.0, -1.0 / 121_645_100_408_832_000.0,
             1.0 / 355_687_428_096_000.0, -1.0 / 1_307_674_368_000.0, 1.0 / 6_227_020_800.0,
             -1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0],
        cos [-1.0 / 1_124_000_727_777_607_680_000.0, 1.0 / 2_432_902_008_176_640_000.0,
             -1.0 / 6_402_373_705_728_000.0, 1.0 / 20_922_789_888_000.0,
             -1.0 / 87_178_291_200.0, 1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0,
             -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0]
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(found: impl Fn(f64) -> f64, exact: impl Fn(f64) -> f64, reach: f64) -> f64 {
        let count = 20_000;
        (-count..=count)
            .map(|i| reach * f64::from(i) / f64::from(count))
            .map(|x| (x, found(x), exact(x)))
            .map(|(_, y, z)| (y - z).abs() / z.abs().max(1e-3))
            .fold(0.0, f64::max)
    }

    #[test]
    fn exponentials_are_right_to_a_few_units_in_the_last_place() {
        let relative = |x: f64| {
            let exact = f64::from(x as f32).exp();
            (f64::from((x as f32).plain_exp()) / exact - 1.0).abs()
        };
        let single = (-8600..8850).map(|i| relative(0.01 * f64::from(i)));
        assert!(single.fold(0.0, f64::max) < 3e-7);
        let double = (-7000..7090).map(|i| 0.1 * f64::from(i));
        let double = double.map(|x| (x.plain_exp() / x.exp() - 1.0).abs());
        assert!(double.fold(0.0, f64::max) < 1e-15);
    }

    #[test]
    fn exponentials_end_in_nothing_and_in_infinity() {
        assert_eq!((-200.0_f32).plain_exp(), 0.0);
        assert_eq!(f32::NEG_INFINITY.plain_exp(), 0.0);
        assert_eq!(200.0_f32.plain_exp(), f32::INFINITY);
        assert_eq!((-1e4_f64).plain_exp(), 0.0);
        assert_eq!(f64::INFINITY.plain_exp(), f64::INFINITY);
        assert!(f32::NAN.plain_exp().is_nan() && f64::NAN.plain_exp().is_nan());
        assert_eq!(0.0_f32.plain_exp(), 1.0);
        assert!(((-300.0_f64).plain_sigmoid() / (-300.0_f64).exp() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn sines_and_cosines_are_right_in_absolute_terms() {
        for reach in [3.0, 100.0, 20_000.0] {
            let single = |x: f64| f64::from(x as f32);
            let sin = worst(
                |x| f64::from((x as f32).plain_sin_cos().0) + 2.0,
                |x| single(x).sin() + 2.0,
                reach,
            );
            let cos = worst(
                |x| f64::from((x as f32).plain_sin_cos().1) + 2.0,
                |x| single(x).cos() + 2.0,
                reach,
            );
            assert!(sin < 3e-7 && cos < 3e-7, "{reach}: {sin} {cos}");
            let sin = worst(|x| x.plain_sin_cos().0 + 2.0, |x| x.sin() + 2.0, reach);
            let cos = worst(|x| x.plain_sin_cos().1 + 2.0, |x| x.cos() + 2.0, reach);
            assert!(sin < 1e-15 && cos < 1e-15, "{reach}: {sin} {cos}");
        }
        assert!(f64::NAN.plain_sin_cos().0.is_nan() && f32::INFINITY.plain_sin_cos().1.is_nan());
        assert!(1e30_f32.plain_sin_cos().0.abs() <= 1.0);
    }
}
