//! Theorem 2 at work: the error of a compensated curve against the largest gap, and over the course of a training.
//!
//! On the left nothing is trained: x and o are known functions, o jumps at every knot. Inside the series the error falls
//! with τ⁴; near ends at which the curve is not bent as the truth is, with τ² (method notes; the paper's theorem leaves
//! the condition out). On the right a small CSSC learns sines without noise: ‖(x - o)⁗‖, the bound made of it, and the error.

use super::finding::{Finding, Measurement};
use super::workshop::{Workshop, samples};
use crate::paper_set::shown;
use cssc::data::{Dataset, Random, Series};
use cssc::model::{Model, ModelConfig, ModelInfo, OdeRnnConfig};
use cssc::ode::Solver;
use cssc::train::{Control, Masking, OptimizerKind, Sample, TrainConfig, Trainer};
use cssc::{
    CompensationOptions, EndRule, Error, Jets, Path, Side, compensate, compensate::error_bound,
    data::Scaler,
};
use cssc_report::{Axis, Chart, Ink, Mark, Plot};
use std::f64::consts::TAU;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let mut table = Measurement::new(
        "The error bound over a training",
        "A small CSSC learns sines without noise (20 of 60 points shown); means over 20 test series. The bound is \
         5/384 ‖(x - o)⁗‖ τ⁴ plus the term of the ends.",
        &[
            "largest error",
            "‖(x - o)⁗‖",
            "bound, first term",
            "bound, ends",
            "bound",
        ],
    );
    let plots = vec![against_gaps()?, over_training(workshop, &mut table)?];
    table.about.push_str(&explanation(&table));
    let title = "The error bound: against the largest gap, and over a training";
    let chart = Chart::new(title, plots).with_panels(420.0, 260.0);
    Ok(Finding {
        chart: Some(chart),
        measurement: Some(table),
        ..Finding::default()
    })
}

/// Does the bound explain what the training does? From the first and the last row.
fn explanation(table: &Measurement) -> String {
    let (Some((_, first)), Some((_, last))) = (table.rows.first(), table.rows.last()) else {
        return String::new();
    };
    let times = |column: usize| last[column] / first[column];
    let verdict = match times(0) < 1.0 && times(1) > 1.0 {
        true => "the bound holds, but it is not what a training makes smaller",
        false => "error and bound go the same way",
    };
    format!(
        " In this training the largest error becomes {:.2} times what it was, ‖(x - o)⁗‖ {:.2} times: {verdict}.",
        times(0),
        times(1)
    )
}

/// Errors for knots that are closer and closer.
fn against_gaps() -> Result<Plot, Error> {
    let (mut inside, mut natural, mut matched, mut bounds) = (vec![], vec![], vec![], vec![]);
    for intervals in [8, 12, 16, 24, 32, 48, 64, 96, 128] {
        let gap = 4.0 / f64::from(intervals);
        let knots: Vec<f64> = (0..=intervals).map(|k| f64::from(k) * gap).collect();
        let bent = Known::curve(&knots, EndRule::Output)?;
        let kept = Known::curve(&knots, EndRule::Compensation)?;
        inside.push((gap, bent.error_between(1.0, 3.0)?));
        natural.push((gap, bent.error_between(0.0, 4.0)?));
        matched.push((gap, kept.error_between(0.0, 4.0)?));
        bounds.push((gap, bent.bound()?));
    }
    let slope = |order: i32, from: (f64, f64)| -> Vec<(f64, f64)> {
        let first = inside[inside.len() - 1].0;
        [from.0, first]
            .map(|gap| (gap, from.1 * (gap / from.0).powi(order)))
            .to_vec()
    };
    let marks = vec![
        Mark::line(Ink::Grey, slope(4, (inside[0].0, 0.35 * inside[0].1)))
            .dashed()
            .called("slopes 4 and 2"),
        Mark::line(Ink::Grey, slope(2, (natural[0].0, 2.2 * bounds[0].1))).dashed(),
        Mark::line(Ink::Black, bounds).called("bound"),
        Mark::line(Ink::Vermilion, natural.clone()).called("largest error, straight ends"),
        Mark::dots(Ink::Vermilion, natural),
        Mark::line(Ink::Green, matched.clone()).called("largest error, ends bent as o"),
        Mark::dots(Ink::Green, matched),
        Mark::line(Ink::Blue, inside.clone()).called("largest error inside"),
        Mark::dots(Ink::Blue, inside.clone()),
    ];
    Ok(Plot {
        title: "known x and o".to_owned(),
        x: Axis::of("largest gap τ").logarithmic(),
        y: Axis::of("error").logarithmic(),
        marks,
        ..Plot::default()
    })
}

/// A known truth, a known prediction that jumps at every knot, and the compensation of it.
struct Known {
    knots: Vec<f64>,
    compensation: cssc::PiecewiseCubic,
    natural: bool,
}

impl Known {
    /// x and its derivatives.
    fn truth(time: f64, derivative: i32) -> f64 {
        let shift = f64::from(derivative) * std::f64::consts::FRAC_PI_2;
        2f64.powi(derivative) * (2.0 * time + 0.6 + shift).sin()
    }

    /// o on interval `number` and its derivatives: a wave whose height and phase change at every knot.
    fn prediction(number: usize, time: f64, derivative: i32) -> f64 {
        let phase = 0.9 * number as f64;
        let shift = f64::from(derivative) * std::f64::consts::FRAC_PI_2;
        0.5 * (1.5f64).powi(derivative) * (1.5 * time + phase.sin() + shift).sin()
    }

    fn jets(knots: &[f64], before: bool) -> Jets<Vec<f64>> {
        let last = knots.len() - 2;
        let at = |derivative: i32| -> Vec<f64> {
            let number = |knot: usize| match before {
                true => knot.saturating_sub(1),
                false => knot.min(last),
            };
            let knots = knots.iter().enumerate();
            knots
                .map(|(knot, &time)| Self::prediction(number(knot), time, derivative))
                .collect()
        };
        Jets {
            value: at(0),
            slope: at(1),
            curvature: at(2),
        }
    }

    fn curve(knots: &[f64], end_rule: EndRule) -> Result<Self, Error> {
        let values: Vec<f64> = knots.iter().map(|&time| Self::truth(time, 0)).collect();
        let (left, right) = (Self::jets(knots, true), Self::jets(knots, false));
        let options = CompensationOptions {
            end_rule,
            ..CompensationOptions::default()
        };
        let (left, right) = (left.as_slices(), right.as_slices());
        Ok(Self {
            compensation: compensate(knots, 1, &values, left, right, options)?,
            knots: knots.to_vec(),
            natural: end_rule == EndRule::Output,
        })
    }

    /// The largest |x - ô| from `start` to `end`.
    fn error_between(&self, start: f64, end: f64) -> Result<f64, Error> {
        let mut largest = 0.0f64;
        for (number, pair) in self.knots.windows(2).enumerate() {
            let places = (0..32).map(|i| pair[0] + (pair[1] - pair[0]) * f64::from(i) / 32.0);
            let times: Vec<f64> = places.filter(|time| (start..=end).contains(time)).collect();
            let c = self.compensation.sample(&times, Side::Right)?;
            for (time, c) in times.iter().zip(&c.value) {
                let error = Self::truth(*time, 0) - Self::prediction(number, *time, 0) - c;
                largest = largest.max(error.abs());
            }
        }
        Ok(largest)
    }

    fn bound(&self) -> Result<f64, Error> {
        let mut fourth = 0.0f64;
        for (number, pair) in self.knots.windows(2).enumerate() {
            for i in 0..=32 {
                let time = pair[0] + (pair[1] - pair[0]) * f64::from(i) / 32.0;
                let rest = Self::truth(time, 4) - Self::prediction(number, time, 4);
                fourth = fourth.max(rest.abs());
            }
        }
        let ends = [self.knots[0], self.knots[self.knots.len() - 1]];
        assert!(
            self.natural,
            "only a natural end's curvature is known to be 0"
        );
        let ends = ends.map(|time| Self::truth(time, 2));
        Ok(error_bound(self.knots[1] - self.knots[0], fourth, ends))
    }
}

/// A sine without noise, and its frequency.
fn sine(random: &mut Random) -> (Series, f64) {
    let frequency = random.uniform(0.4, 0.8);
    let times: Vec<f64> = (0..60).map(|i| f64::from(i) * 5.0 / 59.0).collect();
    let values = times.iter().map(|time| (TAU * frequency * time).sin());
    let series = Series::new(None, 1, times.clone(), values.collect());
    (series.expect("times increase"), frequency)
}

/// The bound and the error while a small CSSC is trained.
fn over_training(workshop: &Workshop<'_>, table: &mut Measurement) -> Result<Plot, Error> {
    let mut random = Random::new(3);
    let mut draw =
        |count: usize| -> Vec<(Series, f64)> { (0..count).map(|_| sine(&mut random)).collect() };
    let (train, test) = (draw(400), draw(20));
    let channel = || vec!["x".to_owned()];
    let train = Dataset::new(channel(), train.into_iter().map(|sine| sine.0).collect())?;
    let empty = Dataset::new(channel(), Vec::new())?;
    let masking = Masking::Count(20);
    let series: Vec<Series> = test.iter().map(|sine| sine.0.clone()).collect();
    let samples = samples(&series, &masking);
    // Steps so short that the walk is the flow whose fourth derivative is taken.
    let config = ModelConfig::OdeRnn(OdeRnnConfig {
        dynamics: vec![64, 64],
        decoder: vec![64],
        cell: 32,
        solver: Solver::Rk4,
        ..OdeRnnConfig::default()
    });
    let training = TrainConfig {
        steps: workshop.steps(800),
        optimizer: OptimizerKind::Muon,
        rate: 0.006,
        clip: Some(1.0),
        masking,
        late_fit_weight: 1000.0,
        validate_every: u64::MAX,
        ..TrainConfig::default()
    };
    let mut trainer = Trainer::new(&config, &training, &train, &empty)?;
    let mut looks = Vec::new();
    let mut failed = None;
    let look_at = |step: u64| step == 1 || step.is_power_of_two() || step.is_multiple_of(200);
    trainer.run(|trainer, progress| {
        if look_at(progress.step) {
            let look = snapshot(&config, trainer).and_then(|model| look(&model, &test, &samples));
            match look {
                Ok(look) => looks.push((progress.step, look)),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(_) => Control::Stop,
            None => Control::Continue,
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    for (step, look) in &looks {
        table.add(format!("step {step}"), look.to_vec());
    }
    let line = |number: usize| -> Vec<(f64, f64)> {
        looks
            .iter()
            .map(|(step, look)| (*step as f64, look[number]))
            .collect()
    };
    let marks = vec![
        Mark::line(Ink::Grey, line(1)).called("‖(x - o)⁗‖"),
        Mark::line(Ink::Black, line(4)).called("bound"),
        Mark::line(Ink::Black, line(2))
            .dashed()
            .called("bound, first term"),
        Mark::line(Ink::Vermilion, line(0)).called("largest error"),
    ];
    Ok(Plot {
        title: "a training".to_owned(),
        x: Axis::of("step").logarithmic(),
        y: Axis::default().logarithmic(),
        marks,
        ..Plot::default()
    })
}

/// The model as it is now.
fn snapshot(config: &ModelConfig, trainer: &Trainer<'_>) -> Result<Model, Error> {
    let (network, _) = config.build::<f64>(0)?;
    let info = ModelInfo {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        model: config.clone(),
        channel_names: vec!["x".to_owned()],
        scaler: Scaler::identity(1),
        season: None,
        times: None,
        training: serde_json::Value::Null,
        summary: serde_json::Value::Null,
    };
    Ok(Model::new(
        network.into(),
        trainer.parameters().clone(),
        info,
    ))
}

/// Largest error, ‖(x - o)⁗‖, both terms of the bound, the bound: means over test series.
fn look(model: &Model, test: &[(Series, f64)], samples: &[Sample]) -> Result<[f64; 5], Error> {
    let mut sums = [0.0; 5];
    for ((_, frequency), sample) in test.iter().zip(samples) {
        let series = shown(sample)?;
        let knots = series.times();
        let rate = TAU * frequency;
        let mut times = Vec::new();
        for pair in knots.windows(2) {
            let place = |i: i32| pair[0] + (pair[1] - pair[0]) * (f64::from(i) + 0.5) / 16.0;
            times.extend((0..16).map(place));
        }
        let curve = model.interpolate(&series, &times)?;
        let truth = |time: &f64| (rate * time).sin();
        let errors = times.iter().zip(&curve.smoothed.value);
        let error = errors.fold(0.0f64, |most, (time, found)| {
            most.max((truth(time) - found).abs())
        });
        let fourth = model.fourth_derivatives(&series, &times)?;
        let rest = times.iter().zip(&fourth);
        let rest = rest.fold(0.0f64, |most, (time, o)| {
            most.max((rate.powi(4) * truth(time) - o).abs())
        });
        let ends = [knots[0], knots[knots.len() - 1]];
        let bent = model.interpolate(&series, &ends)?.smoothed.curvature;
        let ends = [0, 1].map(|end| -rate * rate * truth(&ends[end]) - bent[end]);
        let gap = knots
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .fold(0.0, f64::max);
        let (inner, outer) = (
            error_bound(gap, rest, [0.0; 2]),
            error_bound(gap, 0.0, ends),
        );
        for (sum, number) in sums
            .iter_mut()
            .zip([error, rest, inner, outer, inner + outer])
        {
            *sum += number / test.len() as f64;
        }
    }
    Ok(sums)
}
