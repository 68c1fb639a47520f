//! The rows of the plain interpolators on the frozen sets.
//!
//! toy-v1 is a file, so its rows are exact. hopper-v1 is made by the generator; its rows were
//! measured once with Python's MuJoCo on other random starts, so ours differ by sampling.
use cssc::data::table::{ReadOptions, read_dataset};
use cssc::data::{Dataset, Random, Series};
use cssc::{Path as _, PiecewiseCubic, Side, SplineKind};
use cssc_experiments::ToyV1;
use cssc_experiments::generate::{Generator, hopper};

use crate::repository;

/// Squared errors at all points of a series.
fn squared_errors(series: &Series, observed: &[usize], kind: SplineKind) -> Vec<f64> {
    let known = series.take(observed).unwrap();
    let spline = PiecewiseCubic::fit(known.times(), known.channels(), known.values(), kind);
    let found = spline
        .unwrap()
        .sample(series.times(), Side::Left)
        .unwrap()
        .value;
    found
        .iter()
        .zip(series.values())
        .map(|(a, b)| (a - b).powi(2))
        .collect()
}

#[test]
fn the_rows_of_toy_v1_are_reproduced_to_six_digits() {
    let toy = ToyV1::load(&repository("data/toy_v1.npz")).unwrap();
    let test = toy.split.apply(&toy.dataset).unwrap().test;
    let rows = [
        (SplineKind::Linear, [0.378682, 0.028267, 0.003941]),
        (SplineKind::Natural, [0.503375, 0.002298, 0.000152]),
        (SplineKind::NotAKnot, [0.911781, 0.002400, 0.000498]),
        (SplineKind::Makima, [0.412144, 0.011323, 0.001095]),
    ];
    for (kind, row) in rows {
        for (percent, expected) in [10, 30, 50].into_iter().zip(row) {
            let curves = test
                .series()
                .iter()
                .zip(toy.test_observed(percent).unwrap());
            let errors = curves.flat_map(|(curve, observed)| squared_errors(curve, observed, kind));
            let errors: Vec<f64> = errors.collect();
            let found = errors.iter().sum::<f64>() / errors.len() as f64;
            assert!(
                (found - expected).abs() <= 0.5e-6,
                "{kind:?} at {percent} %: {found}"
            );
        }
    }
}

/// Mean squared errors at all points, and at those not observed, with 10, 30 and 50 of 100 frames
/// observed, as measured with Python's MuJoCo on 2,000 trajectories.
const HOPPER_ROWS: [(SplineKind, [f64; 3], Option<[f64; 3]>); 3] = [
    (
        SplineKind::Natural,
        [0.0093, 0.00033, 0.000052],
        Some([0.0103, 0.00047, 0.000104]),
    ),
    (
        SplineKind::NotAKnot,
        [0.0116, 0.00046, 0.000067],
        Some([0.0129, 0.00066, 0.000134]),
    ),
    (SplineKind::Linear, [0.0110, 0.00080, 0.000157], None),
];

/// Mean over series and its standard error.
fn mean_and_error(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Four standard errors of our sample are allowed, and those of the sample that was measured, which
/// had 2,000 trajectories; and half a unit of the last digit printed.
fn check_hopper(set: &Dataset, seed: u64) {
    let scaled = hopper::scaler().scale_all(set).unwrap();
    for (kind, all, hidden) in HOPPER_ROWS {
        for (at, observed) in [10, 30, 50].into_iter().enumerate() {
            let mut random = Random::new(seed);
            let (mut every, mut unseen) = (Vec::new(), Vec::new());
            for series in scaled.series() {
                let points = random.observed_points(hopper::FRAMES, observed);
                let total: f64 = squared_errors(series, &points, kind).iter().sum();
                every.push(total / series.values().len() as f64);
                // At observed points a spline is exact, up to rounding.
                let hidden = series.values().len() - observed * series.channels();
                unseen.push(total / hidden as f64);
            }
            compare(&every, all[at], (kind, observed));
            if let Some(hidden) = hidden {
                compare(&unseen, hidden[at], (kind, observed));
            }
        }
    }
}

fn compare(found: &[f64], expected: f64, what: (SplineKind, usize)) {
    let (mean, error) = mean_and_error(found);
    let measured_error = error * (found.len() as f64 / 2000.0).sqrt();
    let allowed = 4.0 * error.hypot(measured_error) + 0.01 * expected;
    assert!(
        (mean - expected).abs() <= allowed,
        "{what:?}: {mean} +- {error}, expected {expected}"
    );
}

#[test]
fn the_rows_of_hopper_v1_hold_on_the_64_committed_trajectories() {
    let path = repository("data/hopper_v1_64.npz");
    let (set, _) = read_dataset(&path, &ReadOptions::default()).unwrap();
    assert_eq!((set.len(), set.channels()), (64, 7));
    check_hopper(&set, 3);
}

#[test]
fn the_rows_of_hopper_v1_hold_on_2000_fresh_trajectories() {
    let Some(mut hopper) = crate::hopper::open(11) else {
        return;
    };
    check_hopper(&hopper.dataset(2000).unwrap(), 4);
}
