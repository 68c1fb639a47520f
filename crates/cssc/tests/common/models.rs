//! Small trained models, and the one check "is this curve smooth?".

use cssc::Jets;
use cssc::data::{Dataset, Random, Scaler, Series, TimeScaling, ValueScaling};
use cssc::model::{Compensation, Model, OdeRnnConfig};
use cssc::train::{Control, Masking, TrainConfig, fit};

/// Sine curves with their own frequency and level on irregular times.
pub fn curves(count: usize, points: usize, seed: u64) -> Dataset {
    let series = (0..count).map(|i| {
        let mut random = Random::stream(seed, i as u64);
        let mut times: Vec<f64> = (0..points).map(|_| random.uniform(0.0, 4.0)).collect();
        times.sort_by(f64::total_cmp);
        let (frequency, level) = (random.uniform(0.3, 0.5), random.normal(10.0, 1.0));
        let values = times
            .iter()
            .map(|t| level + 5.0 * (6.0 * frequency * t).sin())
            .collect();
        Series::new(None, 1, times, values).unwrap()
    });
    Dataset::new(vec!["x".into()], series.collect()).unwrap()
}

pub fn small(method: Compensation) -> OdeRnnConfig {
    OdeRnnConfig {
        hidden: 8,
        dynamics: vec![32, 32],
        decoder: vec![32],
        cell: 16,
        compensation: method,
        initial_std_dev: 0.3,
        ..OdeRnnConfig::default()
    }
}

pub fn training(steps: u64) -> TrainConfig {
    TrainConfig {
        steps,
        batch: 20,
        rate: 0.01,
        masking: Masking::Fraction(0.4),
        validate_every: 10,
        ..TrainConfig::default()
    }
}

pub fn trained(config: &OdeRnnConfig, steps: u64) -> Model {
    let data = curves(30, 20, 1);
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None).unwrap();
    let validation = curves(10, 20, 2);
    fit(
        &config.clone().into(),
        &training(steps),
        &scaler,
        &data,
        &validation,
        |_, _| Control::Continue,
    )
    .unwrap()
}

/// Asserts that value, slope and curvature of a sampled curve do not jump: at the inner knots
/// of `series` and at many places between them, among them the stops of the solver.
pub fn assert_smooth(series: &Series, name: &str, sample: impl Fn(&[f64]) -> Jets) {
    let width = 1e-9;
    let last = series.len() - 1;
    let (start, end) = (series.times()[0], series.times()[last]);
    let mut places: Vec<f64> = series.times()[1..last].to_vec();
    places.extend((1..200).map(|i| start + (end - start) * f64::from(i) / 200.0));
    places.sort_by(f64::total_cmp);
    let around: Vec<f64> = (places.iter())
        .flat_map(|place| [place - width, place + width])
        .collect();
    let sorted = around.windows(2).all(|pair| pair[0] <= pair[1]);
    assert!(sorted, "places are further apart than their neighbours");
    let jets = sample(&around);
    let scale = [20.0, 200.0, 3000.0];
    for (block, scale) in [jets.value, jets.slope, jets.curvature].iter().zip(scale) {
        for (place, sides) in places.iter().zip(block.chunks_exact(2 * series.channels())) {
            let (before, after) = sides.split_at(series.channels());
            for (a, b) in before.iter().zip(after) {
                assert!((b - a).abs() < 2e-5 * scale, "{name} at {place}: {a} {b}");
            }
        }
    }
}
