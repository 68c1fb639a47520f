//! Models of videos: every model of series, around which frames are encoded and decoded.
#![cfg(feature = "nn")]

mod common;

use common::models::{assert_smooth, training};
use common::systems::{SystemSizes, every_system};
use cssc::data::{Dataset, Random, Scaler, Series};
use cssc::model::{Compensation, FramesConfig, Model, ModelConfig};
use cssc::nn::{Gradient, Parameters};
use cssc::train::{
    Control, LossStep, Masking, OptimizerKind, ParallelBatch, Sample, TrainConfig, fit,
};

const SIDE: usize = 8;

/// Every system of few numbers, in tiny frames.
fn every_video_system() -> Vec<(String, ModelConfig)> {
    let sizes = SystemSizes {
        channels: 3,
        states: 4,
        layers: 5,
        step: 0.25,
        ..SystemSizes::small()
    };
    let tiny = |inner: ModelConfig| FramesConfig {
        height: SIDE,
        width: SIDE,
        code: 3,
        filters: 2,
        inner: Box::new(inner),
    };
    let systems = every_system(&sizes).into_iter();
    systems
        .map(|(name, inner)| (name, tiny(inner).into()))
        .collect()
}

/// A bright spot that moves across the frame, seen at 7 times.
fn video(random: &mut Random) -> Series {
    let (row, speed) = (random.uniform(2.0, 6.0), random.uniform(0.8, 1.4));
    let times: Vec<f64> = (0..7)
        .map(|i| 0.5 * f64::from(i) + 0.0137 * f64::from(i * i % 5))
        .collect();
    let pixel = |time: f64, at: usize| {
        let (y, x) = (
            (at / SIDE) as f64 - row,
            (at % SIDE) as f64 - 1.0 - 1.6 * speed * time,
        );
        (-0.5 * (y * y + x * x)).exp()
    };
    let values = times
        .iter()
        .flat_map(|&time| (0..SIDE * SIDE).map(move |at| pixel(time, at)));
    Series::new(None, SIDE * SIDE, times.clone(), values.collect()).unwrap()
}

fn videos(count: usize) -> Dataset {
    let mut random = Random::new(2);
    let names = (0..SIDE * SIDE).map(|at| format!("p{at}")).collect();
    let series = (0..count).map(|_| video(&mut random)).collect();
    Dataset::new(names, series).unwrap()
}

fn fitted(config: &ModelConfig, steps: u64, data: &Dataset) -> Model {
    let scaler = Scaler::identity(SIDE * SIDE);
    let training = TrainConfig {
        validate_every: steps,
        optimizer: OptimizerKind::Muon,
        rate: 0.006,
        clip: Some(1.0),
        masking: Masking::Count(4),
        ..training(steps)
    };
    fit(config, &training, &scaler, data, data, |_, _| {
        Control::Continue
    })
    .unwrap()
}

#[test]
fn gradients_reach_encoder_decoder_and_the_model_inside() {
    let data = videos(3);
    let shown = [vec![0, 2, 3, 6], vec![0, 1, 6], vec![0, 3, 4, 5, 6]];
    let samples: Vec<Sample> = data
        .series()
        .iter()
        .zip(&shown)
        .map(|(series, shown)| Sample::new(series, shown))
        .collect();
    for (name, config) in every_video_system() {
        let (network, mut parameters) = config.build::<f64>(3).unwrap();
        // Away from the zeros that biases begin with, where rectified units have their kink.
        let mut random = Random::new(8);
        for x in parameters.values_mut() {
            *x += random.normal(0.0, 0.05);
        }
        parameters.pack();
        let loss = |parameters: &Parameters<f64>| {
            let mut gradient = Gradient::zeros(parameters);
            let at = LossStep {
                step: 500,
                steps: 1000,
                ..LossStep::default()
            };
            let found =
                ParallelBatch::new().loss(&*network, parameters, &samples, at, &mut gradient);
            (found.unwrap(), gradient)
        };
        let (_, gradient) = loss(&parameters);
        let (mut miss, mut norm) = (0.0, 0.0);
        // Every parameter would take long, and a stride that is prime to all shapes sees all of them.
        for i in (0..parameters.values().len()).step_by(7) {
            let (at, step) = (parameters.values()[i], 1e-6);
            let mut shifted = |x: f64| {
                parameters.values_mut()[i] = x;
                parameters.pack();
                loss(&parameters).0
            };
            let difference = (shifted(at + step) - shifted(at - step)) / (2.0 * step);
            shifted(at);
            miss += (difference - gradient.values[i]).powi(2);
            norm += difference.powi(2);
        }
        assert!(
            miss.sqrt() < 1e-5 * norm.sqrt(),
            "{name}: {} of {}",
            miss.sqrt(),
            norm.sqrt()
        );
        for part in ["frame-encoder.first.weight", "frame-decoder.first.weight"] {
            let info = parameters
                .infos()
                .iter()
                .find(|info| info.name == part)
                .unwrap();
            let own = &gradient.values[info.range.clone()];
            assert!(
                own.iter().any(|g| g.abs() > 1e-9),
                "{name}: nothing reaches {part}"
            );
        }
    }
}

#[test]
fn a_moving_spot_is_learnt_much_better_than_the_mean_frame() {
    let data = videos(24);
    let sizes = SystemSizes {
        channels: 6,
        ..SystemSizes::small()
    };
    let inner = sizes.of(&ModelConfig::of_method("hidden-cssc").unwrap());
    let config = ModelConfig::from(FramesConfig {
        height: SIDE,
        width: SIDE,
        code: 6,
        filters: 4,
        inner: Box::new(inner),
    });
    let model = fitted(&config, 500, &data);
    let count = data.len() as f64;
    let mean: Vec<f64> = (0..SIDE * SIDE)
        .map(|at| data.series().iter().map(|one| one.row(3)[at]).sum::<f64>() / count)
        .collect();
    let (mut error, mut spread) = (0.0, 0.0);
    for series in data.series() {
        let known = series.take(&[0, 2, 4, 6]).unwrap();
        let found = model.interpolate(&known, &series.times()[3..4]).unwrap();
        let truth = series.row(3).iter();
        for ((found, mean), truth) in found.smoothed.value.iter().zip(&mean).zip(truth) {
            error += (found - truth).powi(2);
            spread += (mean - truth).powi(2);
        }
    }
    assert!(error < 0.5 * spread, "{error} of {spread}");
}

#[test]
fn curves_of_frames_are_smooth_where_something_is_compensated_and_inside_zero_and_one() {
    let data = videos(4);
    let series = data.series()[0].take(&[0, 2, 3, 6]).unwrap();
    for (name, config) in every_video_system() {
        let model = fitted(&config, 2, &data);
        let times: Vec<f64> = (0..=30).map(|i| 0.1 * f64::from(i)).collect();
        let curve = model.interpolate(&series, &times).unwrap().smoothed;
        assert_eq!(curve.value.len(), times.len() * SIDE * SIDE, "{name}");
        assert!(
            curve.value.iter().all(|x| (0.0..=1.0).contains(x)),
            "{name}"
        );
        if config.compensation() != Compensation::None {
            assert_smooth(&series, &name, |times| {
                model.interpolate(&series, times).unwrap().smoothed
            });
        }
    }
}

#[test]
fn a_file_gives_back_the_same_model_and_wrong_sizes_are_named() {
    let data = videos(4);
    let (_, config) = every_video_system().pop().unwrap();
    let model = fitted(&config, 2, &data);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("video.cssc");
    model.save(&path).unwrap();
    let again = Model::load(&path).unwrap();
    let series = &data.series()[1];
    let [a, b] = [&model, &again].map(|model| model.interpolate(series, &[0.3, 1.7]).unwrap());
    assert_eq!(a, b);

    let mut odd = config;
    odd.set_channels(49);
    let message = odd.check().unwrap_err().to_string();
    assert!(
        message.contains("`height` is 7; give a multiple of 8"),
        "{message}"
    );
}
