//! What holds for every system that is trained, plain and with its output compensated. A new method
//! in `MODEL_METHODS` is tested here without a further line.
#![cfg(feature = "nn")]

mod common;

use common::models::{assert_smooth, curves, training};
use common::systems::{SystemSizes, every_system};
use cssc::data::{Dataset, Random, Scaler, Series, TimeScaling, ValueScaling};
use cssc::model::{Batch, Compensation, CurveOptions, Model, ModelConfig, Network, Observed};
use cssc::nn::{Gradient, Graph, Memory, Parameters};
use cssc::train::{
    Control, LossStep, Masking, Optimizer, OptimizerKind, ParallelBatch, RateSchedule, Sample,
    Summary, TrainConfig, Trainer, fit,
};
use cssc::{Penalty, SmoothOptions};

/// A few steps are enough for everything but learning.
const FEW_STEPS: u64 = 3;

fn fitted(config: &ModelConfig, data: &Dataset, steps: u64, unseen: &Dataset) -> Model {
    let scaler = Scaler::fit(data, ValueScaling::Standard, TimeScaling::None).unwrap();
    let training = TrainConfig {
        validate_every: steps.max(1),
        ..training(steps)
    };
    fit(config, &training, &scaler, data, unseen, |_, _| {
        Control::Continue
    })
    .unwrap()
}

/// Two channels at uneven times with holes, also at the ends, but never both at once.
fn holey(points: usize, seed: u64) -> Series {
    let mut random = Random::new(seed);
    let mut time = 0.0;
    let mut times = Vec::new();
    let mut values = Vec::new();
    for i in 0..points {
        time += random.uniform(0.05, 0.5);
        times.push(time);
        let mut both = [5.0 + (2.0 * time).sin(), 3.0 * (1.3 * time).cos()];
        if random.unit() < 0.5 {
            both[i % 2] = f64::NAN;
        }
        values.extend(both);
    }
    Series::new(None, 2, times, values).unwrap()
}

/// All values of the series in a batch of its own or with others, in f64.
fn predicted(
    network: &dyn Network<f64>,
    parameters: &Parameters<f64>,
    series: &[Observed<'_>],
) -> Vec<Vec<f64>> {
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, parameters);
    let batch = Batch {
        series,
        training: None,
    };
    let prediction = network
        .predict(&mut graph, &batch, &mut Random::new(0))
        .unwrap();
    let columns = graph.columns(prediction.values);
    let mut rows = graph.value(prediction.values);
    let mut values = vec![Vec::new(); series.len()];
    for &item in &prediction.order {
        let (own, others) = rows.split_at(series[item].query.len() * columns);
        values[item] = own.to_vec();
        rows = others;
    }
    values
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() < tolerance * (1.0 + b.abs()),
            "{what}, number {i}: {a} is not {b}"
        );
    }
}

#[test]
fn one_small_batch_can_be_learnt_by_heart() {
    let data = curves(2, 10, 4);
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None).unwrap();
    let mut random = Random::new(1);
    let batch: Vec<Sample> = (scaler.scale_all(&data).unwrap().series().iter())
        .map(|series| Sample::draw(series, &Masking::Count(6), &mut random))
        .collect();
    for (name, config) in every_system(&SystemSizes::small()) {
        let (network, mut parameters) = config.build::<f32>(1).unwrap();
        let mut optimizer = Optimizer::new(OptimizerKind::AdaMax, 0.0, parameters.infos());
        let mut gradient = Gradient::zeros(&parameters);
        let mut shards = ParallelBatch::new();
        let schedule = RateSchedule::Cosine { floor: 0.01 };
        let steps = 1200;
        for step in 0..steps {
            let at = LossStep {
                step,
                steps,
                ..LossStep::default()
            };
            shards
                .loss(&*network, &parameters, &batch, at, &mut gradient)
                .unwrap();
            let rate = 0.02 * schedule.factor(step, steps);
            optimizer.step(parameters.values_mut(), &gradient.values, 1.0, rate);
            parameters.pack();
        }
        let scores = shards.score(&*network, &parameters, &batch, 0).unwrap();
        println!("{name}: {}", scores.mse_all);
        assert!(scores.mse_all < 0.01, "{name}: {scores:?}");
    }
}

#[test]
fn a_small_training_is_much_better_than_the_mean_on_unseen_series() {
    let (data, unseen) = (curves(60, 20, 11), curves(20, 20, 12));
    for (name, config) in every_system(&SystemSizes::small()) {
        let model = fitted(&config, &data, 300, &unseen);
        let (error, _) = Summary::of(&model).unwrap().best_validation.unwrap();
        println!("{name}: {error}");
        // Values are scaled: the mean has an error of 1.
        assert!(error < 0.5, "{name}: {error}");
    }
}

#[test]
fn a_ragged_batch_with_holes_gives_the_same_as_each_series_alone() {
    let all: Vec<Series> = [5, 12, 1, 3, 9]
        .map(|points| holey(points, points as u64))
        .into();
    let query: Vec<Vec<f64>> = (all.iter())
        .map(|series| {
            let times = series.times();
            let middles = times.windows(2).map(|gap| 0.5 * (gap[0] + gap[1]));
            let mut query: Vec<f64> = times.iter().copied().chain(middles).collect();
            query.sort_by(f64::total_cmp);
            query
        })
        .collect();
    let batch: Vec<Observed<'_>> = (all.iter().zip(&query))
        .map(|(series, query)| Observed::new(series.times(), series.values(), query))
        .collect();
    let sizes = SystemSizes {
        channels: 2,
        ..SystemSizes::small()
    };
    for (name, config) in every_system(&sizes) {
        let (network, parameters) = config.build::<f64>(2).unwrap();
        let together = predicted(&*network, &parameters, &batch);
        for (i, values) in together.iter().enumerate() {
            assert!(values.iter().all(|x| x.is_finite()), "{name}: {values:?}");
            let alone = predicted(&*network, &parameters, &batch[i..=i]);
            assert_close(&alone[0], values, 1e-12, &format!("{name}, series {i}"));
        }
    }
}

#[test]
fn training_is_the_same_bit_for_bit_on_any_number_of_threads() {
    let data = curves(60, 8, 3);
    let none = Dataset::new(vec!["x".into()], vec![]).unwrap();
    for (name, config) in every_system(&SystemSizes::small()) {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let training = TrainConfig {
                    batch: 60,
                    ..training(FEW_STEPS)
                };
                let mut trainer = Trainer::new(&config, &training, &data, &none).unwrap();
                trainer.run(|_, _| Control::Continue).unwrap();
                trainer.parameters().values().to_vec()
            })
        };
        assert_eq!(run(1), run(2), "{name}");
    }
}

#[test]
fn a_model_file_gives_back_the_same_model() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.cssc");
    let data = curves(5, 9, 8);
    let series = &data.series()[0];
    for (name, config) in every_system(&SystemSizes::small()) {
        let model = fitted(&config, &data, FEW_STEPS, &data);
        model.save(&path).unwrap();
        let loaded = Model::load(&path).unwrap();
        assert_eq!(loaded.info(), model.info(), "{name}");
        let times: Vec<f64> = (0..20).map(|i| 0.2 * f64::from(i)).collect();
        let curves = [&model, &loaded].map(|model| model.interpolate(series, &times).unwrap());
        assert_eq!(
            format!("{:?}", curves[0]),
            format!("{:?}", curves[1]),
            "{name}"
        );
    }
}

/// Knots 0.2 apart and questions in their middles: with steps of 0.1 the curve and the training make
/// the same steps.
#[test]
fn curves_have_the_values_that_training_sees() {
    let times: Vec<f64> = (0..6).map(|i| 0.2 * f64::from(i)).collect();
    let values: Vec<f64> = times.iter().map(|t| (3.0 * t).sin()).collect();
    let mut query: Vec<f64> = (times.windows(2))
        .flat_map(|gap| [gap[0], gap[0] + 0.5 * (gap[1] - gap[0])])
        .collect();
    query.extend(times.last());
    let series = [Observed::new(&times, &values, &query)];
    for (name, config) in every_system(&SystemSizes::small()) {
        if config.compensation() != Compensation::None {
            continue;
        }
        let (network, parameters) = config.build::<f64>(2).unwrap();
        let expected = predicted(&*network, &parameters, &series);
        let mut memory = Memory::new();
        let mut graph = Graph::forward_only(&mut memory, &parameters);
        let traces = network.trace(&mut graph, &series).unwrap().unwrap();
        assert_close(&traces[0].signal.value, &expected[0], 1e-10, &name);
    }
}

#[test]
fn slopes_and_curvatures_are_those_of_the_curve() {
    let data = curves(5, 9, 8);
    let series = &data.series()[1];
    let step = 1e-5;
    for (name, config) in every_system(&SystemSizes::small()) {
        let model = fitted(&config, &data, FEW_STEPS, &data);
        for part in [0.2, 0.37, 0.81] {
            let middle = (1.0 - part) * series.times()[3] + part * series.times()[4];
            let times = [middle - step, middle, middle + step];
            let at = model.interpolate(series, &times).unwrap().smoothed;
            let slope = (at.value[2] - at.value[0]) / (2.0 * step);
            let curvature = (at.slope[2] - at.slope[0]) / (2.0 * step);
            assert_close(&at.slope[1..2], &[slope], 1e-6, &format!("slope, {name}"));
            let what = format!("curvature, {name}");
            assert_close(&at.curvature[1..2], &[curvature], 1e-5, &what);
        }
    }
}

#[test]
fn an_answer_does_not_depend_on_what_else_is_asked() {
    let data = curves(5, 9, 8);
    let series = &data.series()[0];
    let (start, end) = (series.times()[0], series.times()[8]);
    let times: Vec<f64> = (0..=12)
        .map(|i| start + (end - start) * f64::from(i) / 12.0)
        .collect();
    for (name, config) in every_system(&SystemSizes::small()) {
        let model = fitted(&config, &data, FEW_STEPS, &data);
        let all = model.interpolate(series, &times).unwrap().smoothed;
        for (i, &time) in times.iter().enumerate() {
            let alone = model.interpolate(series, &[time]).unwrap().smoothed;
            assert_eq!(alone.value[0], all.value[i], "{name} at {time}");
        }
    }
}

/// Padding: rows in which nothing is observed.
#[test]
fn rows_without_a_value_change_nothing() {
    let series = holey(12, 5);
    let mut times = Vec::new();
    let mut values = Vec::new();
    for (row, &time) in series.times().iter().enumerate() {
        times.push(time);
        values.extend_from_slice(series.row(row));
        if row % 3 == 1 && row + 1 < series.len() {
            times.push((time + series.times()[row + 1]) / 2.0);
            values.extend([f64::NAN; 2]);
        }
    }
    let padded = Series::new(None, 2, times, values).unwrap();
    assert!(padded.len() > series.len());
    let data = Dataset::new(vec!["a".into(), "b".into()], vec![series.clone()]).unwrap();
    let query: Vec<f64> = (0..40)
        .map(|i| series.times()[0] + 0.05 * f64::from(i))
        .collect();
    let sizes = SystemSizes {
        channels: 2,
        ..SystemSizes::small()
    };
    for (name, config) in every_system(&sizes) {
        let model = fitted(&config, &data, FEW_STEPS, &data);
        let [plain, more] = [&series, &padded].map(|series| {
            let curve = model.interpolate(series, &query).unwrap();
            curve.smoothed.value
        });
        assert_close(&more, &plain, 1e-9, &name);
    }
}

#[test]
fn with_its_output_compensated_every_system_passes_through_all_observations_and_is_smooth() {
    let data = curves(5, 9, 8);
    let series = &data.series()[0];
    let two = Dataset::new(
        vec!["x".into(), "y".into()],
        vec![holey(9, 2), holey(12, 3)],
    )
    .unwrap();
    for (name, config) in every_system(&SystemSizes::small()) {
        if config.compensation() != Compensation::Output {
            continue;
        }
        let model = fitted(&config, &data, FEW_STEPS, &data);
        assert_smooth(series, &name, |times| {
            model.interpolate(series, times).unwrap().smoothed
        });
        let at = model.interpolate(series, series.times()).unwrap().smoothed;
        assert_close(&at.value, series.values(), 1e-9, &name);
        let mut config = config.clone();
        config.set_channels(2);
        let model = fitted(&config, &two, FEW_STEPS, &two);
        let series = &two.series()[1];
        let name = format!("{name} with holes");
        assert_smooth(series, &name, |times| {
            model.interpolate(series, times).unwrap().smoothed
        });
        let at = model.interpolate(series, series.times()).unwrap().smoothed;
        for (found, x) in at.value.iter().zip(series.values()) {
            assert!(
                x.is_nan() || (found - x).abs() < 1e-8,
                "{name}: {found} {x}"
            );
        }
    }
}

/// Noise of 0.3 on a sine of height 1: the curve that passes near it is much nearer to the sine, at the observations too,
/// is smooth, and its bands know how far. Without any penalty it passes through everything again.
#[test]
fn near_noisy_observations_every_system_is_smooth_and_has_bands() {
    let data = curves(5, 60, 8);
    let mut random = Random::new(4);
    let times: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
    let truth: Vec<f64> = times.iter().map(|time| (1.5 * time).sin()).collect();
    let noisy = truth.iter().map(|x| x + random.normal(0.0, 0.3)).collect();
    let series = Series::new(None, 1, times.clone(), noisy).unwrap();
    let square = |found: &[f64]| -> f64 {
        let errors = found
            .iter()
            .zip(&truth)
            .map(|(found, x)| (found - x).powi(2));
        errors.sum::<f64>() / truth.len() as f64
    };
    for (name, config) in every_system(&SystemSizes::small()) {
        if config.compensation() != Compensation::Output {
            continue;
        }
        let model = fitted(&config, &data, FEW_STEPS, &data);
        let near = |penalty| CurveOptions {
            smoothing: Some(SmoothOptions {
                penalty,
                ..SmoothOptions::default()
            }),
            ..CurveOptions::default()
        };
        let options = near(Penalty::CrossValidated);
        let curve = model.interpolate_with(&series, &times, &options).unwrap();
        let (found, through) = (square(&curve.smoothed.value), square(series.values()));
        assert!(found < 0.5 * through, "{name}: {found} of {through}");
        let bands = curve.bands.unwrap();
        let inside = curve.smoothed.value.iter().zip(&bands.std_devs).zip(&truth);
        let inside = inside.filter(|((found, dev), x)| (*found - *x).abs() < 1.96 * **dev);
        let covered = inside.count() as f64 / truth.len() as f64;
        assert!(covered > 0.6, "{name}: the bands cover {covered}");
        assert_smooth(&series, &name, |times| {
            let curve = model.interpolate_with(&series, times, &options);
            curve.unwrap().smoothed
        });
        let exact = near(Penalty::Given(0.0));
        let exact = model.interpolate_with(&series, &times, &exact).unwrap();
        assert_close(&exact.smoothed.value, series.values(), 1e-7, &name);
    }
}

#[test]
fn a_state_that_follows_no_smooth_path_is_not_compensated() {
    for (name, config) in every_system(&SystemSizes::small()) {
        match config.with_compensation(Compensation::Hidden) {
            Ok(hidden) => assert_eq!(hidden.method(), "hidden-cssc", "{name}"),
            Err(error) => {
                let message = error.to_string();
                for part in ["`compensation` is", "hidden", "give", "output", "none"] {
                    assert!(message.contains(part), "{name}: {message}");
                }
            }
        }
    }
}
