//! A model from outside the library, by public means only: at most 60 lines, and it is trained, kept in a
//! file, read again and asked for a curve like any other.
#![cfg(feature = "nn")]

mod common;

use common::models::{curves, training};
use cssc::Error;
use cssc::data::{Random, Scaler, TimeScaling, ValueScaling};
use cssc::model::{
    Batch, CustomConfig, Model, ModelConfig, ModelInfo, Network, Prediction, Rebuilt,
};
use cssc::nn::{Activation, Float, Graph, Initializer, Layer, Mlp, Parameters};
use cssc::train::{Control, Trainer};
use std::sync::Arc;

// What is added: from the last value and the next one, and the time to both, to the value between.
#[derive(Clone, Debug)]
struct Neighbours {
    mlp: Mlp,
}

impl Neighbours {
    fn new<T: Float>(parameters: &mut Parameters<T>, seed: u64) -> Self {
        let (activations, random) = ([Activation::Tanh, Activation::Identity], Random::new(seed));
        let (widths, initializer) = ([4, 32, 1], Initializer::Glorot);
        let mlp = Mlp::new(parameters, "mlp", &widths, activations, initializer, &mut {
            random
        });
        Self { mlp }
    }
}

impl<T: Float> Network<T> for Neighbours {
    fn sees_future(&self) -> bool {
        true
    }

    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        _: &mut Random,
    ) -> Result<Prediction, Error> {
        let mut features = Vec::new();
        for series in batch.series {
            let last = series.times.len() - 1;
            for &time in series.query {
                let next = series.times.partition_point(|&knot| knot < time).min(last);
                for knot in [next.saturating_sub(1), next] {
                    features.push(T::from_f64(series.values[knot]));
                    features.push(T::from_f64(series.times[knot] - time));
                }
            }
        }
        let features = graph.input(features.len() / 4, 4, &features);
        Ok(Prediction {
            values: self.mlp.forward(graph, features),
            penalty: None,
            order: (0..batch.series.len()).collect(),
        })
    }
}

fn config() -> ModelConfig {
    ModelConfig::Custom(CustomConfig {
        name: "neighbours".into(),
        channels: 1,
        settings: serde_json::Value::Null,
    })
}

fn build(_: &ModelInfo) -> Result<Rebuilt, Error> {
    let mut parameters = Parameters::new();
    let network = Neighbours::new(&mut parameters, 0);
    Ok((Arc::new(network), parameters))
}

#[test]
fn a_model_from_outside_is_trained_kept_and_asked_like_any_other() {
    let (data, unseen) = (curves(60, 20, 1), curves(20, 20, 2));
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None).unwrap();
    let (data, unseen) = (
        scaler.scale_all(&data).unwrap(),
        scaler.scale_all(&unseen).unwrap(),
    );
    let mut parameters = Parameters::new();
    let network = Neighbours::new(&mut parameters, 1);
    parameters.pack();
    let boxed = Box::new(network.clone());
    let settings = training(400);
    let mut trainer =
        Trainer::with_network(&config(), boxed, parameters, &settings, &data, &unseen).unwrap();
    trainer.run(|_, _| Control::Continue).unwrap();
    // In standard deviations: the mean alone would have an error of 1.
    let error = trainer.summary().best_validation.unwrap().0;
    assert!(error < 0.5, "{error}");
    let model = trainer.into_model_of(Arc::new(network), scaler, vec!["x".into()]);
    assert_eq!(model.info().model.method(), "neighbours");

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.cssc");
    model.save(&path).unwrap();
    let refused = Model::load(&path).unwrap_err().to_string();
    assert!(
        refused.contains("`neighbours` is not a model of this library"),
        "{refused}"
    );
    let loaded = Model::load_with(&path, build).unwrap();
    let series = &curves(1, 12, 5).series()[0].clone();
    let times: Vec<f64> = series
        .times()
        .windows(2)
        .map(|pair| 0.5 * (pair[0] + pair[1]))
        .collect();
    let curve = model.interpolate(series, &times).unwrap();
    assert_eq!(
        curve.smoothed.value,
        loaded.interpolate(series, &times).unwrap().smoothed.value
    );
    assert!(curve.smoothed.value.iter().all(|x| x.is_finite()));
    assert!(
        curve.smoothed.slope.iter().all(|x| x.is_nan()),
        "a network without limits has no slopes"
    );
}
