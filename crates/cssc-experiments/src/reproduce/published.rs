//! The numbers that the paper prints, for comparison. Its data are not public; ours are like them, not the same.

use crate::paper_set::PaperSet;

/// A row of the paper's table 1: method, then toy and hopper at 10, 30 and 50 % observed.
type Row = (&'static str, [f64; 3], [f64; 3]);

/// Table 1. The paper's spline is probably the not-a-knot one; it stands beside both of ours.
const TABLE_1: [Row; 9] = [
    ("natural", SPLINE.0, SPLINE.1),
    ("not-a-knot", SPLINE.0, SPLINE.1),
    (
        "rnn-dt",
        [0.449_091, 0.245_546, 0.102_043],
        [0.028_457, 0.019_682, 0.008_975],
    ),
    (
        "gru-d",
        [0.473_954, 0.247_522, 0.121_482],
        [0.056_064, 0.018_285, 0.008_968],
    ),
    (
        "latent-ode",
        [0.013_768, 0.002_282, 0.002_031],
        [0.010_246, 0.009_601, 0.009_032],
    ),
    (
        "gru-ode-bayes",
        [0.117_258, 0.010_716, 0.000_924],
        [0.028_457, 0.006_782, 0.002_352],
    ),
    (
        "ode-rnn",
        [0.025_336, 0.001_429, 0.000_441],
        [0.011_321, 0.001_572, 0.000_388],
    ),
    (
        "hidden-cssc",
        [0.027_073, 0.001_503, 0.000_244],
        [0.004_554, 0.000_378, 0.000_106],
    ),
    (
        "cssc",
        [0.024_656, 0.000_457, 0.000_128],
        [0.006_097, 0.000_375, 0.000_087],
    ),
];
const SPLINE: ([f64; 3], [f64; 3]) = (
    [0.801_249, 0.003_142, 0.000_428],
    [0.016_417, 0.000_813, 0.000_125],
);

/// What the paper prints for a cell of table 1.
#[must_use]
pub fn table_1(dataset: PaperSet, method: &str, observed: usize) -> Option<f64> {
    let (_, toy, hopper) = TABLE_1.iter().find(|row| row.0 == method)?;
    let column = [10, 30, 50]
        .into_iter()
        .position(|known| known == observed)?;
    Some(match dataset {
        PaperSet::Toy => toy[column],
        PaperSet::Hopper => hopper[column],
    })
}
