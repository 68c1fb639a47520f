//! Quantiles of the normal distribution.

/// Half the width, in standard deviations, of the interval that holds the part `level` of a normal
/// distribution.
pub(crate) fn normal_factor(level: f64) -> f64 {
    // Half of the rest lies above; counted from 0 the small parts keep their digits.
    -quantile(0.5 * (1.0 - level))
}

/// The value below which the part `p` of the standard normal distribution lies, 0 < p < 1, to 16
/// digits: Wichura 1988, *The percentage points of the normal distribution*, algorithm AS 241
/// (PPND16). A quotient of polynomials in the middle, and two in √(-ln p) for the tails.
fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * quotient(&MIDDLE, 0.180625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let tail = if r <= 5.0 {
        quotient(&NEAR, r - 1.6)
    } else {
        quotient(&FAR, r - 5.0)
    };
    tail.copysign(q)
}

/// Two polynomials of degree 7, lowest coefficient first, one divided by the other.
fn quotient(coefficients: &[[f64; 8]; 2], x: f64) -> f64 {
    let [over, under] = coefficients.map(|row| row.iter().rev().fold(0.0, |sum, c| sum * x + c));
    over / under
}

#[rustfmt::skip]
const MIDDLE: [[f64; 8]; 2] = [
    [3.387_132_872_796_366_5, 133.141_667_891_784_38, 1_971.590_950_306_551_3, 13_731.693_765_509_46,
     45_921.953_931_549_87, 67_265.770_927_008_7, 33_430.575_583_588_13, 2_509.080_928_730_122_7],
    [1.0, 42.313_330_701_600_91, 687.187_007_492_057_9, 5_394.196_021_424_751,
     21_213.794_301_586_597, 39_307.895_800_092_71, 28_729.085_735_721_943, 5_226.495_278_852_854],
];
#[rustfmt::skip]
const NEAR: [[f64; 8]; 2] = [
    [1.423_437_110_749_683_5, 4.630_337_846_156_546, 5.769_497_221_460_691, 3.647_848_324_763_204_5,
     1.270_458_252_452_368_4, 0.241_780_725_177_450_6, 0.022_723_844_989_269_184, 0.000_774_545_014_278_341_4],
    [1.0, 2.053_191_626_637_759, 1.676_384_830_183_803_8, 0.689_767_334_985_1,
     0.148_103_976_427_480_08, 0.015_198_666_563_616_457, 0.000_547_593_808_499_534_5, 1.050_750_071_644_416_9e-09],
];
#[rustfmt::skip]
const FAR: [[f64; 8]; 2] = [
    [6.657_904_643_501_103, 5.463_784_911_164_114, 1.784_826_539_917_291_3, 0.296_560_571_828_504_87,
     0.026_532_189_526_576_124, 0.001_242_660_947_388_078_4, 2.711_555_568_743_487_6e-05, 2.010_334_399_292_288_1e-07],
    [1.0, 0.599_832_206_555_888, 0.136_929_880_922_735_8, 0.014_875_361_290_850_615,
     0.000_786_869_131_145_613_3, 1.846_318_317_510_054_8e-05, 1.421_511_758_316_446e-07, 2.044_263_103_389_939_7e-15],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Roots of erfc(-x/√2)/2 = p by bisection with the C library's erfc; one for each formula.
    #[test]
    fn quantiles_are_the_textbook_ones() {
        for (p, wanted) in [
            (0.5, 0.0),
            (0.25, -0.674_489_750_196_081_9),
            (0.95, 1.644_853_626_951_473),
            (0.975, 1.959_963_984_540_054_7),
            (1e-5, -4.264_890_793_922_826),
            (1e-300, -37.047_096_299_361_21),
        ] {
            let found = quantile(p);
            assert!(
                (found - wanted).abs() <= 2e-15 * (1.0 + wanted.abs()),
                "{p}: {found}"
            );
        }
    }

    #[test]
    fn a_factor_holds_its_part_on_both_sides() {
        assert!((normal_factor(0.9) - 1.644_853_626_951_472_2).abs() < 1e-14);
        assert!((normal_factor(0.5) - 0.674_489_750_196_081_7).abs() < 1e-14);
    }
}
