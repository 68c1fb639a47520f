//! Limit: signals that jump themselves. A C² curve cannot.

use super::finding::{Finding, Measurement};
use super::workshop::{Workshop, plain_error, samples};
use cssc::Error;
use cssc::data::{Dataset, Random, Series};
use cssc::train::Masking;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let mut random = Random::new(5);
    let mut draw = |count: usize| -> Result<Vec<Series>, Error> {
        (0..count).map(|_| staircase(&mut random)).collect()
    };
    let test = draw(workshop.series(200))?;
    let channel = || vec!["x".to_owned()];
    let train = Dataset::new(channel(), draw(workshop.series(800))?)?;
    let validation = Dataset::new(channel(), draw(workshop.series(80))?)?;
    let mut table = Measurement::new(
        "Limit: signals that jump",
        "Four levels drawn from N(0, 1), changing at random times; 100 points, of which 10, 30 or 50 are observed. Models \
         are trained on 800 such series for 300 steps. Mean squared error.",
        &[
            "previous value",
            "linear",
            "natural spline",
            "ODE-RNN",
            "CSSC",
            "latent CSSC",
        ],
    );
    for percent in [10, 30, 50] {
        let masking = Masking::Count(percent);
        let samples = samples(&test, &masking);
        let mut row = Vec::new();
        for method in ["previous", "linear", "natural"] {
            row.push(plain_error(method, &samples)?);
        }
        row.extend(workshop.briefly_trained(&masking, &train, &validation, &samples)?);
        table.add(format!("{percent} % observed"), row);
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
        ..Finding::default()
    })
}

/// A signal of four levels.
fn staircase(random: &mut Random) -> Result<Series, Error> {
    let times: Vec<f64> = (0..100).map(|i| f64::from(i) * 5.0 / 99.0).collect();
    let mut changes: Vec<f64> = (0..3).map(|_| random.uniform(0.0, 5.0)).collect();
    changes.sort_unstable_by(f64::total_cmp);
    let levels: Vec<f64> = (0..4).map(|_| random.normal(0.0, 1.0)).collect();
    let value = |time: &f64| levels[changes.iter().filter(|change| *change <= time).count()];
    Series::new(None, 1, times.clone(), times.iter().map(value).collect())
}
