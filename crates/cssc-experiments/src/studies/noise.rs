//! Limit: noisy observations. A curve that passes through every observation passes through its noise.

use super::finding::{Finding, Measurement};
use super::workshop::{Workshop, model_error, plain_error};
use crate::paper_set::PaperSet;
use cssc::data::Random;
use cssc::model::CurveOptions;
use cssc::train::Sample;
use cssc::{Error, SmoothOptions};
use cssc_report::{Axis, Chart, Ink, Mark, Plot};

const LEVELS: [f64; 7] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Toy)?;
    let cssc = workshop.model("table1/toy-cssc-30")?;
    let hidden = workshop.model("table1/toy-hidden-cssc-30")?;
    let latent = workshop.model("table1/toy-latent-cssc-30")?;
    let (exact, near) = (
        CurveOptions::default(),
        CurveOptions {
            smoothing: Some(SmoothOptions::default()),
            ..CurveOptions::default()
        },
    );
    let names = [
        "natural spline",
        "hidden CSSC",
        "CSSC",
        "CSSC, noise-aware",
        "latent CSSC",
        "latent CSSC, noise-aware",
    ];
    let mut table = Measurement::new(
        "Limit: noisy observations",
        "Gaussian noise is added to the observations of toy-v1 at 30 % (sines of height 1), not to what is asked; models \
         of table 1, trained without it. Mean squared error.",
        &names,
    );
    let samples = set.test(30);
    for level in LEVELS {
        let noisy = noisy(&samples, level);
        table.add(
            format!("noise {level}"),
            vec![
                plain_error("natural", &noisy)?,
                model_error(&hidden, &exact, &noisy)?,
                model_error(&cssc, &exact, &noisy)?,
                model_error(&cssc, &near, &noisy)?,
                model_error(&latent, &exact, &noisy)?,
                model_error(&latent, &near, &noisy)?,
            ],
        );
    }
    let inks = [
        Ink::Grey,
        Ink::Pink,
        Ink::Blue,
        Ink::Blue,
        Ink::Green,
        Ink::Green,
    ];
    let line = |number: usize| {
        let rows = LEVELS.iter().zip(&table.rows).skip(1);
        let points = rows.map(|(level, row)| (*level, row.1[number])).collect();
        let line = Mark::line(inks[number], points).called(names[number]);
        match names[number].ends_with("aware") {
            true => line.dashed(),
            false => line,
        }
    };
    let plot = Plot {
        x: Axis::of("standard deviation of the noise").logarithmic(),
        y: Axis::of("mean squared error").logarithmic(),
        marks: (0..names.len()).map(line).collect(),
        ..Plot::default()
    };
    let chart = Chart::new("Noisy observations (toy-v1, 30 %)", vec![plot]);
    Ok(Finding {
        chart: Some(chart.with_panels(780.0, 280.0)),
        measurement: Some(table),
        ..Finding::default()
    })
}

/// The samples with noise on what is shown.
fn noisy(samples: &[Sample], level: f64) -> Vec<Sample> {
    let mut random = Random::new(7);
    let mut samples = samples.to_vec();
    for sample in &mut samples {
        for value in &mut sample.values {
            *value += random.normal(0.0, level);
        }
    }
    samples
}
