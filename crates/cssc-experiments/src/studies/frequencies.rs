//! Limit: other frequencies than in training.

use super::finding::{Finding, Measurement};
use super::workshop::{Workshop, model_error, plain_error, samples};
use crate::generate::Generator;
use crate::generate::toy::{Toy, ToyOptions};
use cssc::Error;
use cssc::model::CurveOptions;
use cssc::train::Masking;

/// Frequencies of the test series; those of the training are the second.
const RANGES: [(f64, f64); 4] = [(0.2, 0.4), (0.4, 0.8), (0.8, 1.2), (1.2, 1.6)];

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let models = [
        workshop.model("table1/toy-ode-rnn-30")?,
        workshop.model("table1/toy-hidden-cssc-30")?,
        workshop.model("table1/toy-cssc-30")?,
        workshop.model("table1/toy-latent-cssc-30")?,
    ];
    let mut table = Measurement::new(
        "Limit: other frequencies than in training",
        "Sines of other frequencies, 30 of 100 points observed, for the models of table 1, which saw 0.4 to 0.8. Mean \
         squared error.",
        &[
            "linear",
            "natural spline",
            "ODE-RNN",
            "hidden CSSC",
            "CSSC",
            "latent CSSC",
        ],
    );
    let options = CurveOptions::default();
    for frequencies in RANGES {
        let toy = ToyOptions {
            frequencies,
            ..ToyOptions::default()
        };
        let curves = Toy::new(11, toy).dataset(workshop.series(200))?;
        let samples = samples(curves.series(), &Masking::Count(30));
        let mut row = vec![
            plain_error("linear", &samples)?,
            plain_error("natural", &samples)?,
        ];
        for model in &models {
            row.push(model_error(model, &options, &samples)?);
        }
        table.add(format!("{} to {}", frequencies.0, frequencies.1), row);
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
    })
}
