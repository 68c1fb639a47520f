//! Models as their users meet them: the curve, the file, the training that can be killed.
#![cfg(feature = "nn")]

mod common;

use common::models::{assert_smooth, curves, small, trained, training};
use cssc::EndRule;
use cssc::data::{Dataset, Random, Scaler, Series, TimeScaling, ValueScaling};
use cssc::model::{Compensation, Derivatives, Model, ModelConfig, OdeRnnConfig, Season, Truth};
use cssc::nn::Gradient;
use cssc::ode::Solver;
use cssc::train::{
    Control, LossStep, Masking, Optimizer, OptimizerKind, ParallelBatch, RateSchedule, Sample,
    Summary, TrainConfig, Trainer, fit,
};
use rayon::prelude::*;
use std::path::Path;

#[test]
fn the_curve_passes_through_every_observation() {
    let data = curves(3, 15, 7);
    for two_sided in [false, true] {
        let model = trained(
            &OdeRnnConfig {
                two_sided,
                ..small(Compensation::Output)
            },
            20,
        );
        for series in data.series() {
            let curve = model.interpolate(series, series.times()).unwrap();
            for (found, expected) in curve.smoothed.value.iter().zip(series.values()) {
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs(),
                    "{found} {expected}"
                );
            }
        }
    }
}

#[test]
fn value_slope_and_curvature_of_the_sampled_curve_are_continuous() {
    for method in [Compensation::Output, Compensation::Hidden] {
        for solver in [Solver::Euler, Solver::Rk4] {
            let model = trained(
                &OdeRnnConfig {
                    solver,
                    ..small(method)
                },
                20,
            );
            let series = &curves(1, 9, 8).series()[0].clone();
            assert_smooth(series, &format!("{method:?} {solver:?}"), |times| {
                model.interpolate(series, times).unwrap().smoothed
            });
        }
    }
}

#[test]
fn slopes_and_curvatures_are_those_of_the_sampled_curve() {
    let model = trained(&small(Compensation::Output), 20);
    let series = &curves(1, 9, 8).series()[0].clone();
    let step = 1e-5;
    let middle = 0.63 * series.times()[3] + 0.37 * series.times()[4];
    let at = model
        .interpolate(series, &[middle - step, middle, middle + step])
        .unwrap()
        .smoothed;
    let slope = (at.value[2] - at.value[0]) / (2.0 * step);
    let curvature = (at.slope[2] - at.slope[0]) / (2.0 * step);
    assert!(
        (slope - at.slope[1]).abs() < 1e-6 * (1.0 + slope.abs()),
        "{slope} {:?}",
        at.slope
    );
    let allowed = 1e-6 * (1.0 + curvature.abs());
    assert!(
        (curvature - at.curvature[1]).abs() < allowed,
        "{curvature} {:?}",
        at.curvature
    );
}

#[test]
fn an_answer_does_not_depend_on_what_else_is_asked() {
    let model = trained(&small(Compensation::Output), 5);
    let series = &curves(1, 9, 8).series()[0].clone();
    let times: Vec<f64> = (0..50).map(|i| 0.5 + 0.05 * f64::from(i)).collect();
    let all = model.interpolate(series, &times).unwrap();
    for (i, &time) in times.iter().enumerate() {
        let alone = model.interpolate(series, &[time]).unwrap();
        let (alone, all) = (alone.smoothed.value[0], all.smoothed.value[i]);
        assert!(
            alone == all || (alone.is_nan() && all.is_nan()),
            "{time}: {alone} {all}"
        );
    }
}

#[test]
fn series_in_parallel_give_the_same_as_alone_and_nothing_outside_is_made_up() {
    let model = trained(&small(Compensation::Hidden), 5);
    let data = curves(6, 9, 8);
    let times = [-1.0, 1.0, 2.0, 9.0];
    let all: Vec<_> = (data.series().par_iter())
        .map(|series| model.interpolate(series, &times).unwrap())
        .collect();
    for (series, together) in data.series().iter().zip(&all) {
        let alone = model.interpolate(series, &times).unwrap();
        assert_eq!(format!("{alone:?}"), format!("{together:?}"));
        assert!(alone.smoothed.value[0].is_nan() && alone.smoothed.value[3].is_nan());
        assert!(alone.smoothed.value[1].is_finite());
    }
}

#[test]
fn a_ragged_batch_gives_the_same_as_each_series_alone() {
    let model = trained(&small(Compensation::Output), 5);
    let mut random = Random::new(3);
    let samples: Vec<Sample> = [5, 12, 20, 3, 9]
        .into_iter()
        .map(|points| {
            let series = curves(1, points, points as u64).series()[0].clone();
            Sample::draw(&series, &Masking::Fraction(0.5), &mut random)
        })
        .collect();
    let (network, _) = model.info().model.build::<f32>(0).unwrap();
    let score = |samples: &[Sample]| {
        ParallelBatch::new()
            .score(&*network, model.parameters(), samples, 0)
            .unwrap()
    };
    let together = score(&samples);
    let alone: f64 = samples
        .iter()
        .map(|s| {
            let one = score(std::slice::from_ref(s));
            one.mse_all * one.counts.0 as f64
        })
        .sum();
    let total = together.mse_all * together.counts.0 as f64;
    assert!((alone - total).abs() < 1e-12 * total, "{alone} {total}");
}

#[test]
fn one_small_batch_can_be_learnt_by_heart() {
    let mut random = Random::new(1);
    let data = curves(2, 10, 4);
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None).unwrap();
    let batch: Vec<Sample> = scaler
        .scale_all(&data)
        .unwrap()
        .series()
        .iter()
        .map(|series| Sample::draw(series, &Masking::Count(6), &mut random))
        .collect();
    let config = OdeRnnConfig {
        compensation_weight: 0.01,
        ..small(Compensation::Output)
    };
    let (network, mut parameters) = ModelConfig::from(config).build::<f32>(1).unwrap();
    let mut optimizer = Optimizer::new(OptimizerKind::AdaMax, 0.0, parameters.infos());
    let mut gradient = Gradient::zeros(&parameters);
    let mut shards = ParallelBatch::new();
    let schedule = RateSchedule::Cosine { floor: 0.001 };
    for step in 0..3000 {
        shards
            .loss(
                &*network,
                &parameters,
                &batch,
                LossStep::default(),
                &mut gradient,
            )
            .unwrap();
        let rate = 0.02 * schedule.factor(step, 3000);
        optimizer.step(parameters.values_mut(), &gradient.values, 1.0, rate);
        parameters.pack();
    }
    let scores = shards.score(&*network, &parameters, &batch, 0).unwrap();
    assert!(scores.mse_all < 1e-6, "{scores:?}");
}

#[test]
fn with_the_compensation_a_small_training_does_better_on_unseen_series() {
    let data = curves(100, 25, 11);
    let unseen = curves(50, 25, 12);
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None).unwrap();
    let error = |method| {
        let config = TrainConfig {
            steps: 400,
            ..training(400)
        };
        let model = small(method);
        let trained = fit(&model.into(), &config, &scaler, &data, &unseen, |_, _| {
            Control::Continue
        });
        Summary::of(&trained.unwrap())
            .unwrap()
            .best_validation
            .unwrap()
            .0
    };
    let (plain, compensated) = (error(Compensation::None), error(Compensation::Output));
    assert!(
        compensated < 0.5 * plain,
        "CSSC {compensated}, ODE-RNN {plain}"
    );
}

#[test]
fn training_is_the_same_bit_for_bit_on_any_number_of_threads() {
    let data = curves(60, 12, 3);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let config = TrainConfig {
                batch: 60,
                ..training(6)
            };
            let none = Dataset::new(vec!["x".into()], vec![]).unwrap();
            let mut trainer =
                Trainer::new(&small(Compensation::Output).into(), &config, &data, &none).unwrap();
            trainer.run(|_, _| Control::Continue).unwrap();
            trainer.parameters().values().to_vec()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}

#[test]
fn a_training_that_blows_up_recovers_and_then_gives_up_with_advice() {
    let data = curves(20, 12, 3);
    let none = Dataset::new(vec!["x".into()], vec![]).unwrap();
    let config = TrainConfig {
        rate: 1e30,
        schedule: RateSchedule::Constant,
        ..training(50)
    };
    let mut trainer =
        Trainer::new(&small(Compensation::Output).into(), &config, &data, &none).unwrap();
    let mut recoveries = Vec::new();
    let error = trainer
        .run(|_, progress| {
            recoveries.extend(progress.recovered);
            Control::Continue
        })
        .unwrap_err()
        .to_string();
    assert_eq!(recoveries, [1, 2, 3, 4, 5]);
    assert!(
        error.contains("not finite") && error.contains("smaller `rate`"),
        "{error}"
    );
}

#[test]
fn training_stops_early_when_validation_no_longer_improves_or_when_told() {
    let data = curves(20, 12, 3);
    let config = TrainConfig {
        rate: 1e-12,
        patience: Some(2),
        ..training(500)
    };
    let mut trainer =
        Trainer::new(&small(Compensation::Output).into(), &config, &data, &data).unwrap();
    trainer.run(|_, _| Control::Continue).unwrap();
    assert!(trainer.summary().stopped_early && trainer.summary().steps < 100);
    let mut trainer = Trainer::new(
        &small(Compensation::Output).into(),
        &training(500),
        &data,
        &data,
    )
    .unwrap();
    trainer
        .run(|_, p| {
            if p.step == 7 {
                Control::Stop
            } else {
                Control::Continue
            }
        })
        .unwrap();
    assert_eq!(trainer.summary().steps, 7);
}

/// Sines of known derivatives, observed without noise: nowhere is the curve further away than Theorem 2 allows.
#[test]
fn the_error_of_a_curve_stays_below_its_bound() {
    let (frequency, amplitude, level) = (2.4, 5.0, 10.0);
    let x = |t: f64| level + amplitude * (frequency * t).sin();
    let bend = |t: f64| -amplitude * frequency * frequency * (frequency * t).sin();
    for end_rule in [EndRule::Output, EndRule::Compensation] {
        let config = OdeRnnConfig {
            solver: Solver::Rk4,
            step: 0.02,
            end_rule,
            ..small(Compensation::Output)
        };
        let model = trained(&config, 60);
        for knots in [8, 16, 32] {
            let times: Vec<f64> = (0..=knots)
                .map(|i| 4.0 * f64::from(i) / f64::from(knots))
                .collect();
            let values = times.iter().map(|&t| x(t)).collect();
            let series = Series::new(None, 1, times, values).unwrap();
            let truth = Truth {
                fourth_derivative: amplitude * frequency.powi(4),
                end_curvatures: [bend(0.0), bend(4.0)],
            };
            let bound = model.error_bound(&series, 0, truth).unwrap();
            let query: Vec<f64> = (0..=800).map(|i| 0.005 * f64::from(i)).collect();
            let curve = model.interpolate(&series, &query).unwrap().smoothed.value;
            let errors = curve.iter().zip(&query).map(|(y, &t)| (y - x(t)).abs());
            let largest = errors.fold(0.0, f64::max);
            assert!(
                largest > 0.0 && largest <= bound.error,
                "{largest} beyond {bound:?}"
            );
            assert!((bound.largest_gap - 4.0 / f64::from(knots)).abs() < 1e-12);
        }
    }
    let model = trained(&small(Compensation::None), 2);
    let series = &curves(1, 5, 1).series()[0].clone();
    let refused = model.error_bound(series, 0, Truth::default()).unwrap_err();
    assert!(
        refused.to_string().contains("output is compensated"),
        "{refused}"
    );
}

#[test]
fn pre_hoc_and_post_hoc_are_other_readings_of_the_same_training() {
    let model = trained(&small(Compensation::Output), 20);
    let series = &curves(1, 9, 8).series()[0].clone();
    let own = model.interpolate(series, series.times()).unwrap();
    let bare = model
        .with_compensation(Compensation::None)
        .unwrap()
        .interpolate(series, series.times())
        .unwrap();
    assert_eq!(bare.smoothed.value, bare.predicted);
    assert!(bare.compensation.iter().all(|c| *c == 0.0));
    // But for the last knot, where the plain model is read after its update.
    assert_eq!(own.predicted[..8], bare.predicted[..8]);
    assert_ne!(own.smoothed.value, bare.smoothed.value);
}

#[test]
fn a_model_file_gives_back_the_same_model() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.cssc");
    let config = OdeRnnConfig {
        derivatives: Derivatives::NoHessian,
        ..small(Compensation::Output)
    };
    let model = trained(&config, 12);
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.info(), model.info());
    let series = &curves(1, 9, 8).series()[0].clone();
    let times = [1.0, 1.5, 2.0];
    assert_eq!(
        model.interpolate(series, &times).unwrap(),
        loaded.interpolate(series, &times).unwrap()
    );
}

#[test]
fn what_the_calendar_explains_is_taken_off_and_put_back_with_its_derivatives() {
    let plain = trained(&small(Compensation::Output), 20);
    let season = Season {
        lengths: vec![1.7, 0.6],
        factors: vec![0.8, -0.3, 0.2, 0.1],
    };
    let model = plain.clone().with_season(Some(season.clone()));
    let series = &curves(1, 9, 8).series()[0].clone();
    let below = season.taken_off(series).unwrap();
    let times: Vec<f64> = (0..60).map(|k| 0.05 * f64::from(k)).collect();
    let [with, without] = [(&model, series), (&plain, &below)]
        .map(|(model, series)| model.interpolate(series, &times).unwrap());
    let fourths = [(&model, series), (&plain, &below)]
        .map(|(model, series)| model.fourth_derivatives(series, &times).unwrap());
    for (k, &t) in times.iter().enumerate() {
        // s with its derivatives, by hand.
        let s = |order: i32| -> f64 {
            let wave = |length: f64, a: f64, b: f64| {
                let speed = std::f64::consts::TAU / length;
                let at = speed * t + f64::from(order) * std::f64::consts::FRAC_PI_2;
                speed.powi(order) * (a * at.sin() + b * at.cos())
            };
            wave(1.7, 0.8, -0.3) + wave(0.6, 0.2, 0.1)
        };
        for (order, found, base) in [
            (0, with.smoothed.value[k], without.smoothed.value[k]),
            (0, with.predicted[k], without.predicted[k]),
            (1, with.smoothed.slope[k], without.smoothed.slope[k]),
            (2, with.smoothed.curvature[k], without.smoothed.curvature[k]),
            (4, fourths[0][k], fourths[1][k]),
        ] {
            let expected = base + s(order);
            let close = (found - expected).abs() < 1e-9 * (1.0 + expected.abs());
            assert!(close || found.is_nan() && base.is_nan(), "{order} at {t}");
        }
    }
    assert_eq!(
        format!("{:?}", with.compensation),
        format!("{:?}", without.compensation)
    );
    let knots = model.interpolate(series, series.times()).unwrap();
    for (found, expected) in knots.smoothed.value.iter().zip(series.values()) {
        assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()));
    }

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.cssc");
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.info(), model.info());
    let wrong = Season {
        factors: vec![1.0],
        ..season
    };
    plain.with_season(Some(wrong)).save(&path).unwrap();
    let refused = Model::load(&path).unwrap_err().to_string();
    assert!(refused.contains("season has 1 factors"), "{refused}");
}

#[test]
fn a_model_file_that_is_cut_altered_newer_or_of_other_shapes_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.cssc");
    trained(&small(Compensation::Output), 2)
        .save(&path)
        .unwrap();
    let file = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Model::load(&path).unwrap_err().to_string()
    };
    for cut in [0, 1, 7, 8, 100, file.len() / 2, file.len() - 1] {
        let message = refused(&file[..cut]);
        assert!(message.contains("cut short"), "{cut}: {message}");
    }
    // A flipped bit anywhere: in the head, in the numbers.
    let mut random = Random::new(9);
    for _ in 0..60 {
        let mut altered = file.clone();
        altered[random.below(file.len())] ^= 1 << random.below(8);
        refused(&altered);
    }
    let text = |from: &str, to: &str| {
        let at = file
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        let mut altered = file.clone();
        altered[at..at + from.len()].copy_from_slice(to.as_bytes());
        altered
    };
    let newer = refused(&text("\"version\":\"2\"", "\"version\":\"7\""));
    assert!(
        newer.contains("version 7") && newer.contains("newer cssc"),
        "{newer}"
    );
    let other = refused(&text("cssc-model", "cssc-mofel"));
    assert!(other.contains("cssc-mofel file where"), "{other}");
    let shaped = refused(&text("\\\"hidden\\\":8", "\\\"hidden\\\":9"));
    assert!(shaped.contains("checksum"), "{shaped}");
    refused(b"");
    assert!(Model::load(Path::new("no/such/file")).is_err());
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let data = curves(3, 5, 1);
    let refused = |model: OdeRnnConfig, training: TrainConfig| {
        Trainer::new(&model.into(), &training, &data, &data)
            .unwrap_err()
            .to_string()
    };
    let model = || small(Compensation::Output);
    let message = refused(
        OdeRnnConfig {
            channels: 2,
            ..model()
        },
        training(5),
    );
    assert!(message.contains("set `channels` to 1"), "{message}");
    let message = refused(
        OdeRnnConfig {
            hidden: 0,
            ..model()
        },
        training(5),
    );
    assert!(message.contains("`hidden` is 0"), "{message}");
    let message = refused(
        OdeRnnConfig {
            step: f64::NAN,
            ..model()
        },
        training(5),
    );
    assert!(message.contains("`step` is NaN"), "{message}");
    let message = refused(
        model(),
        TrainConfig {
            batch: 0,
            ..training(5)
        },
    );
    assert!(message.contains("`batch` is 0"), "{message}");
    let masking = Masking::Fraction(1.5);
    let message = refused(
        model(),
        TrainConfig {
            masking,
            ..training(5)
        },
    );
    assert!(message.contains("1.5"), "{message}");
}
