//! Long and noisy series: curves in windows, and near the observations instead of through them.
#![cfg(feature = "nn")]

mod common;

use common::models::{assert_smooth, curves, small, trained, training};
use cssc::data::{Dataset, Random, Scaler, Series, TimeScaling, ValueScaling};
use cssc::model::{Compensation, CurveOptions, Interpolation, Model, ModelConfig, OdeRnnConfig};
use cssc::ode::Solver;
use cssc::train::{Control, Masking, ParallelBatch, Sample, TrainConfig, fit};
use cssc::{EndRule, Penalty, SmoothOptions};

const METHODS: [Compensation; 3] = [
    Compensation::None,
    Compensation::Output,
    Compensation::Hidden,
];

/// A series of `points` observations at uneven times, gaps from 0.05 to 0.25.
fn long(points: usize, noise: f64) -> Series {
    let mut random = Random::new(17);
    let mut time = 0.0;
    let mut times = Vec::new();
    let mut values = Vec::new();
    for _ in 0..points {
        time += random.uniform(0.05, 0.25);
        times.push(time);
        values.push(10.0 + 5.0 * (2.4 * time).sin() + noise * random.normal(0.0, 1.0));
    }
    Series::new(None, 1, times, values).unwrap()
}

/// The same times with two channels of which every third entry is missing.
fn holey(points: usize) -> Series {
    let series = long(points, 0.0);
    let mut random = Random::new(5);
    let entry = |x: f64, random: &mut Random| match random.below(3) {
        0 => f64::NAN,
        _ => x,
    };
    let values = (series.values().iter())
        .flat_map(|&x| [entry(x, &mut random), entry(0.1 * x * x, &mut random)])
        .collect();
    Series::new(None, 2, series.times().to_vec(), values).unwrap()
}

fn model(method: Compensation, two_sided: bool) -> Model {
    let config = OdeRnnConfig {
        two_sided,
        ..small(method)
    };
    trained(&config, 20)
}

fn windows(length: usize, warm_up: usize) -> CurveOptions {
    CurveOptions {
        window: Some(length),
        warm_up,
        ..CurveOptions::default()
    }
}

/// All knots and three times in each gap.
fn times(series: &Series) -> Vec<f64> {
    let gaps = series.times().windows(2);
    let inside = gaps.flat_map(|gap| [0.0, 0.2, 0.5, 0.9].map(|u| gap[0] + u * (gap[1] - gap[0])));
    inside.chain(series.times().last().copied()).collect()
}

fn curve(model: &Model, series: &Series, options: &CurveOptions) -> Interpolation {
    model
        .interpolate_with(series, &times(series), options)
        .unwrap()
}

#[test]
fn a_window_longer_than_the_series_changes_nothing() {
    let series = long(30, 0.0);
    for method in METHODS {
        for two_sided in [false, true] {
            let model = model(method, two_sided);
            let whole = model.interpolate(&series, &times(&series)).unwrap();
            assert_eq!(whole, curve(&model, &series, &windows(30, 5)));
            assert_eq!(whole, curve(&model, &series, &windows(1000, 5)));
        }
    }
}

/// By hand: with length 12 and warm-up 3 the first window walks 0 to 11 and is responsible up to
/// knot 11; the second walks 8 to 19 and is responsible from 11 to 19. Two-sided: 0 to 11, up
/// to 8; then 5 to 16, from 8 to 13.
#[test]
fn every_interval_has_the_prediction_of_its_window_alone() {
    let series = long(40, 0.0);
    let part = |from: usize, to: usize| {
        let (times, values) = (series.times(), series.values());
        Series::new(
            None,
            1,
            times[from..=to].to_vec(),
            values[from..=to].to_vec(),
        )
        .unwrap()
    };
    for (two_sided, cases) in [
        (false, [(0, 11, 10), (8, 19, 11), (8, 19, 18)]),
        (true, [(0, 11, 7), (5, 16, 8), (5, 16, 12)]),
    ] {
        let model = model(Compensation::None, two_sided);
        for (from, to, interval) in cases {
            let [a, b] = [0, 1].map(|i| series.times()[interval + i]);
            let times = [a, a + 0.3 * (b - a), b - 1e-6];
            let cut = model
                .interpolate_with(&series, &times, &windows(12, 3))
                .unwrap();
            let alone = model.interpolate(&part(from, to), &times).unwrap();
            for (x, y) in cut.predicted.iter().zip(&alone.predicted) {
                assert!(
                    (x - y).abs() < 1e-12 * y.abs(),
                    "interval {interval}: {x} {y}"
                );
            }
        }
    }
}

#[test]
fn at_the_borders_of_windows_the_curve_is_smooth_and_passes_through_every_observation() {
    let series = long(50, 0.0);
    for method in [Compensation::Output, Compensation::Hidden] {
        for two_sided in [false, true] {
            let model = model(method, two_sided);
            let options = windows(12, 4);
            assert_smooth(&series, &format!("{method:?} {two_sided}"), |times| {
                model
                    .interpolate_with(&series, times, &options)
                    .unwrap()
                    .smoothed
            });
            let cut = curve(&model, &series, &options);
            let whole = model.interpolate(&series, &times(&series)).unwrap();
            assert_ne!(cut.predicted, whole.predicted, "the windows are used");
            if method == Compensation::Output {
                for (k, x) in series.values().iter().enumerate() {
                    let found = cut.smoothed.value[4 * k];
                    assert!((found - x).abs() < 1e-9 * x.abs(), "knot {k}: {found} {x}");
                }
            }
        }
    }
}

#[test]
fn windows_work_with_holes() {
    let series = holey(50);
    let data = Dataset::new(vec!["x".into(), "y".into()], vec![series.clone()]).unwrap();
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::TypicalGap(0.1)).unwrap();
    let training = TrainConfig {
        steps: 3,
        masking: Masking::Fraction(0.5),
        ..TrainConfig::default()
    };
    let config = OdeRnnConfig {
        channels: 2,
        ..small(Compensation::Output)
    };
    let model = fit(&config.into(), &training, &scaler, &data, &data, |_, _| {
        Control::Continue
    })
    .unwrap();
    let options = windows(12, 4);
    assert_smooth(&series, "holes", |times| {
        model
            .interpolate_with(&series, times, &options)
            .unwrap()
            .smoothed
    });
    let known = model
        .interpolate_with(&series, series.times(), &options)
        .unwrap();
    for (found, x) in known.smoothed.value.iter().zip(series.values()) {
        assert!(
            x.is_nan() || (found - x).abs() < 1e-9 * (1.0 + x.abs()),
            "{found} {x}"
        );
    }
}

#[test]
fn windows_give_the_same_bits_on_any_number_of_threads_and_for_any_partition_of_the_times() {
    let series = long(150, 0.0);
    let asked = times(&series);
    for method in METHODS {
        let model = model(method, true);
        let options = windows(14, 3);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| curve(&model, &series, &options))
        };
        let one = run(1);
        assert_eq!(one, run(2));
        let mut value = Vec::new();
        let mut curvature = Vec::new();
        for part in [&asked[..1], &asked[1..7], &asked[7..400], &asked[400..]] {
            let answer = model.interpolate_with(&series, part, &options).unwrap();
            value.extend(answer.smoothed.value);
            curvature.extend(answer.smoothed.curvature);
        }
        assert_eq!(one.smoothed.value, value);
        assert_eq!(one.smoothed.curvature, curvature);
    }
}

fn near(penalty: Penalty) -> CurveOptions {
    CurveOptions {
        smoothing: Some(SmoothOptions {
            penalty,
            ..SmoothOptions::default()
        }),
        ..CurveOptions::default()
    }
}

#[test]
fn without_strength_a_curve_near_the_observations_passes_through_them() {
    let config = OdeRnnConfig {
        end_rule: EndRule::Compensation,
        ..small(Compensation::Output)
    };
    let model = trained(&config, 20);
    let series = &curves(1, 15, 9).series()[0].clone();
    let through = model.interpolate(series, &times(series)).unwrap();
    let near = curve(&model, series, &near(Penalty::Given(0.0)));
    assert_eq!(through.smoothed, near.smoothed);
    assert_eq!(through.bands, None);
    assert_eq!(near.bands.unwrap().penalties, [0.0]);
}

#[test]
fn near_noisy_observations_the_curve_is_closer_to_the_truth_and_its_bands_say_how_close() {
    let series = long(150, 0.8);
    let model = model(Compensation::Output, true);
    let asked = times(&series);
    let through = model.interpolate(&series, &asked).unwrap();
    let options = CurveOptions {
        window: Some(60),
        warm_up: 10,
        ..near(Penalty::CrossValidated)
    };
    let near = model.interpolate_with(&series, &asked, &options).unwrap();
    let bands = near.bands.clone().unwrap();
    let truth = |t: f64| 10.0 + 5.0 * (2.4 * t).sin();
    let off = |value: &[f64]| -> f64 {
        let squares = asked
            .iter()
            .zip(value)
            .map(|(&t, x)| (x - truth(t)).powi(2));
        (squares.sum::<f64>() / asked.len() as f64).sqrt()
    };
    let [through, close] = [&through, &near].map(|curve| off(&curve.smoothed.value));
    assert!(close < 0.7 * through, "{close} {through}");
    assert!(
        (bands.noise[0] / 0.8 - 1.0).abs() < 0.25,
        "{:?}",
        bands.noise
    );
    let typical = bands.std_devs.iter().sum::<f64>() / asked.len() as f64;
    assert!(
        close < 2.0 * typical && typical < 2.0 * close,
        "{close} {typical}"
    );
    assert_smooth(&series, "near", |times| {
        model
            .interpolate_with(&series, times, &options)
            .unwrap()
            .smoothed
    });
}

/// A model whose unit of time and of values are not the user's: the penalty found, given back,
/// must give the same curve.
#[test]
fn strength_and_weights_are_in_the_users_units() {
    let mut series = long(40, 0.5);
    let data = Dataset::new(vec!["x".into()], vec![series.clone()]).unwrap();
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::TypicalGap(0.02)).unwrap();
    let training = TrainConfig {
        steps: 3,
        ..TrainConfig::default()
    };
    let model = fit(
        &small(Compensation::Output).into(),
        &training,
        &scaler,
        &data,
        &data,
        |_, _| Control::Continue,
    )
    .unwrap();
    // A row without any observation is no knot; its weight is not read.
    let (mut values, mut weights) = (series.values().to_vec(), vec![2.0; 40]);
    (values[7], weights[7]) = (f64::NAN, -1.0);
    series = Series::new(None, 1, series.times().to_vec(), values).unwrap();
    let with = |penalty| {
        let mut options = near(penalty);
        options.smoothing.as_mut().unwrap().weights = Some(weights.clone());
        curve(&model, &series, &options)
    };
    let chosen = with(Penalty::CrossValidated);
    let penalty = chosen.bands.clone().unwrap().penalties[0];
    assert!(penalty > 0.0);
    let given = with(Penalty::Given(penalty));
    for (a, b) in chosen.smoothed.value.iter().zip(&given.smoothed.value) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let [a, b] = [chosen, given].map(|curve| curve.bands.unwrap());
    assert!((a.noise[0] / b.noise[0] - 1.0).abs() < 1e-9);
    // Noise of an observation of weight 1; these have 2.
    assert!(
        (a.noise[0] / (0.5 * 2f64.sqrt()) - 1.0).abs() < 0.5,
        "{:?}",
        a.noise
    );
    for (a, b) in a.std_devs.iter().zip(&b.std_devs) {
        assert!((a / b - 1.0).abs() < 1e-9);
    }
}

#[test]
fn options_that_do_not_fit_are_refused_by_name() {
    let series = long(30, 0.0);
    let refused = |model: &Model, options: &CurveOptions| {
        let error = model
            .interpolate_with(&series, &[1.0], options)
            .unwrap_err();
        error.to_string()
    };
    let one_sided = model(Compensation::Output, false);
    let message = refused(&one_sided, &windows(6, 5));
    assert!(
        message.contains("`window` is 6") && message.contains("at least 7"),
        "{message}"
    );
    let message = refused(&model(Compensation::Output, true), &windows(11, 5));
    assert!(
        message.contains("both sides") && message.contains("at least 12"),
        "{message}"
    );
    let hidden = one_sided.with_compensation(Compensation::Hidden).unwrap();
    let message = refused(&hidden, &near(Penalty::CrossValidated));
    assert!(
        message.contains("`smoothing` is for models whose output is compensated"),
        "{message}"
    );
    let mut short = near(Penalty::CrossValidated);
    short.smoothing.as_mut().unwrap().weights = Some(vec![1.0; 29]);
    let message = refused(&one_sided, &short);
    assert!(
        message.contains("weights has 29 entries, expected 30"),
        "{message}"
    );
}

/// A field learns what the steps of its solver make of it: curves take those of the training, where they end at every
/// row, and not the longest that are allowed. So a curve has the error that was validated.
#[test]
fn curves_step_as_the_training_did() {
    let times: Vec<f64> = (0..40).map(|k| 0.05 * f64::from(k)).collect();
    let wave = |number: usize| {
        let speed = 2.0 + 0.2 * number as f64;
        let values = times.iter().map(|t| (speed * t).sin()).collect();
        Series::new(None, 1, times.clone(), values).unwrap()
    };
    let data = Dataset::new(vec!["x".into()], (0..12).map(wave).collect()).unwrap();
    for compensation in [
        Compensation::None,
        Compensation::Output,
        Compensation::Hidden,
    ] {
        let config: ModelConfig = OdeRnnConfig {
            solver: Solver::Euler,
            step: 0.2,
            ..small(compensation)
        }
        .into();
        let training = TrainConfig {
            masking: Masking::Count(4),
            ..training(30)
        };
        let scaler = Scaler::identity(1);
        let model = fit(&config, &training, &scaler, &data, &data, |_, _| {
            Control::Continue
        });
        let model = model.unwrap();
        let mut random = Random::new(4);
        let draw = |series| Sample::draw(series, &training.masking, &mut random);
        let samples: Vec<Sample> = data.series().iter().map(draw).collect();
        let (network, _) = config.build::<f32>(0).unwrap();
        let validated = ParallelBatch::new()
            .score(&*network, model.parameters(), &samples, 0)
            .unwrap();
        let mut sum = 0.0;
        for sample in &samples {
            let series = Series::new(None, 1, sample.times.clone(), sample.values.clone()).unwrap();
            let curve = model.interpolate(&series, &sample.query).unwrap();
            let errors = curve.smoothed.value.iter().zip(&sample.targets);
            sum += errors.map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
        let found = sum / (samples.len() * times.len()) as f64;
        let relative = (found / validated.mse_all - 1.0).abs();
        assert!(
            relative < 1e-4,
            "{compensation:?}: {found} and {}",
            validated.mse_all
        );
    }
}
