//! The gradient of the whole loss against central differences in f64, for every model and
//! option, on tiny sizes: walk, cell, jets, compensation and loss in one.
#![cfg(feature = "nn")]

mod common;

use common::systems::{SystemSizes, every_system};
use cssc::EndRule;
use cssc::data::Random;
use cssc::model::{Compensation, Derivatives, ModelConfig, Network, OdeRnnConfig, StopGradient};
use cssc::nn::{Activation, Gradient, Parameters};
use cssc::ode::Solver;
use cssc::train::{LossStep, ParallelBatch, Sample};

fn tiny(method: Compensation) -> OdeRnnConfig {
    OdeRnnConfig {
        channels: 2,
        hidden: 3,
        dynamics: vec![5, 4],
        decoder: vec![4],
        cell: 4,
        initial_std_dev: 0.4,
        compensation: method,
        compensation_weight: 3.0,
        step: 0.4,
        ..OdeRnnConfig::default()
    }
}

/// Series of 1 to 7 points with holes, at irregular times, each with its own.
fn samples() -> Vec<Sample> {
    let mut random = Random::new(5);
    [7, 4, 1, 2, 6]
        .into_iter()
        .map(|points| {
            let mut time = 0.0;
            let query: Vec<f64> = (0..points)
                .map(|_| {
                    time += random.uniform(0.05, 0.9);
                    time
                })
                .collect();
            let targets: Vec<f64> = (0..2 * points).map(|_| random.normal(0.0, 1.0)).collect();
            let shown: Vec<bool> = (0..points)
                .map(|i| i == 0 || i == points - 1 || random.unit() < 0.6)
                .collect();
            let kept = || (0..points).filter(|&i| shown[i]);
            let mut values: Vec<f64> = kept()
                .flat_map(|i| [targets[2 * i], targets[2 * i + 1]])
                .collect();
            // Holes: one channel missing, also at the ends, never both.
            for (i, x) in values.iter_mut().enumerate() {
                if i % 2 == i / 2 % 2 && random.unit() < 0.4 {
                    *x = f64::NAN;
                }
            }
            let times = kept().map(|i| query[i]).collect();
            Sample {
                times,
                values,
                query,
                targets,
                shown,
            }
        })
        .collect()
}

fn loss(network: &dyn Network<f64>, parameters: &Parameters<f64>) -> (f64, Gradient<f64>) {
    let mut gradient = Gradient::zeros(parameters);
    // A weight of the fit other than 1, and a step where all terms count.
    let at = LossStep {
        fit_weight: 1.7,
        step: 500,
        steps: 1000,
        ..LossStep::default()
    };
    let loss = ParallelBatch::new().loss(network, parameters, &samples(), at, &mut gradient);
    (loss.expect("a finite loss"), gradient)
}

/// The one check: autodiff against central differences, every parameter.
fn gradient_is_right(config: &(impl Clone + Into<ModelConfig>)) {
    let config: ModelConfig = config.clone().into();
    let (network, mut parameters) = config.build::<f64>(3).unwrap();
    // Away from the zeros that biases begin with: some models have kinks there.
    let mut random = Random::new(8);
    for x in parameters.values_mut() {
        *x += random.normal(0.0, 0.02);
    }
    parameters.pack();
    let (_, gradient) = loss(&*network, &parameters);
    let step = 1e-5;
    let mut differences = Vec::new();
    for i in 0..parameters.values().len() {
        let at = parameters.values()[i];
        let mut shifted = |x: f64| {
            parameters.values_mut()[i] = x;
            parameters.pack();
            loss(&*network, &parameters).0
        };
        let difference = (shifted(at + step) - shifted(at - step)) / (2.0 * step);
        shifted(at);
        differences.push(difference);
    }
    let norm = differences.iter().map(|d| d * d).sum::<f64>().sqrt();
    let miss = differences
        .iter()
        .zip(&gradient.values)
        .map(|(d, g)| (d - g) * (d - g))
        .sum::<f64>()
        .sqrt();
    assert!(
        norm > 1e-3,
        "the loss must depend on the parameters: {norm}"
    );
    assert!(miss < 1e-6 * norm, "{config:?}: {miss} of {norm}");
}

#[test]
fn of_every_method_with_holes_and_ragged_series() {
    for method in [
        Compensation::None,
        Compensation::Output,
        Compensation::Hidden,
    ] {
        gradient_is_right(&tiny(method));
    }
}

#[test]
fn of_every_system_and_of_the_compensation_over_it() {
    let sizes = SystemSizes {
        channels: 2,
        states: 3,
        layers: 4,
        step: 0.4,
        initial_std_dev: 0.4,
        compensation_weight: 3.0,
    };
    for (name, config) in every_system(&sizes) {
        println!("{name}");
        gradient_is_right(&config);
    }
}

#[test]
fn of_both_end_rules_and_every_way_through_holes() {
    for end_rule in [EndRule::Output, EndRule::Compensation] {
        for max_fold in [Some(0), Some(1), None] {
            gradient_is_right(&OdeRnnConfig {
                end_rule,
                max_fold,
                ..tiny(Compensation::Output)
            });
        }
    }
}

#[test]
fn of_every_way_to_take_derivatives() {
    for derivatives in [Derivatives::NoHessian, Derivatives::Numerical(0.02)] {
        for method in [Compensation::Output, Compensation::Hidden] {
            gradient_is_right(&OdeRnnConfig {
                derivatives,
                ..tiny(method)
            });
        }
    }
    gradient_is_right(&OdeRnnConfig {
        drop_curvature: true,
        ..tiny(Compensation::Output)
    });
}

#[test]
fn of_two_sided_models() {
    for method in [
        Compensation::None,
        Compensation::Output,
        Compensation::Hidden,
    ] {
        gradient_is_right(&OdeRnnConfig {
            two_sided: true,
            ..tiny(method)
        });
    }
    let derivatives = Derivatives::Numerical(0.02);
    gradient_is_right(&OdeRnnConfig {
        two_sided: true,
        derivatives,
        ..tiny(Compensation::Output)
    });
}

#[test]
fn of_every_solver_and_smooth_activation() {
    for solver in Solver::ALL {
        gradient_is_right(&OdeRnnConfig {
            solver,
            ..tiny(Compensation::Output)
        });
    }
    for activation in [Activation::Softplus, Activation::Silu] {
        gradient_is_right(&OdeRnnConfig {
            activation,
            ..tiny(Compensation::Output)
        });
    }
}

#[test]
fn blocking_changes_the_gradient_and_not_the_loss() {
    let build = |config: OdeRnnConfig| ModelConfig::from(config).build::<f64>(3).unwrap();
    let (network, parameters) = build(tiny(Compensation::Output));
    let (free, gradient) = loss(&*network, &parameters);
    for stop_gradient in [
        StopGradient::Slope,
        StopGradient::Curvature,
        StopGradient::Both,
    ] {
        let config = OdeRnnConfig {
            stop_gradient,
            ..tiny(Compensation::Output)
        };
        let (network, parameters) = build(config);
        let (loss, other) = loss(&*network, &parameters);
        assert_eq!(loss, free);
        assert_ne!(gradient, other);
    }
}
