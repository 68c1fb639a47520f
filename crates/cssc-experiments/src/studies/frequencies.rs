//! Limit: other frequencies than in training.

use super::finding::{Finding, Measurement};
use super::workshop::{ToySystems, Workshop, samples};
use crate::generate::Generator;
use crate::generate::toy::{Toy, ToyOptions};
use cssc::Error;
use cssc::train::Masking;

/// Frequencies of the test series; those of the training are the second.
const RANGES: [(f64, f64); 4] = [(0.2, 0.4), (0.4, 0.8), (0.8, 1.2), (1.2, 1.6)];

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let systems = ToySystems::new(workshop)?;
    let mut table = Measurement::new(
        "Limit: other frequencies than in training",
        "Sines of other frequencies, 30 of 100 points observed, for the models of table 1, which saw 0.4 to 0.8. Mean \
         squared error.",
        &ToySystems::NAMES,
    );
    for frequencies in RANGES {
        let toy = ToyOptions {
            frequencies,
            ..ToyOptions::default()
        };
        let curves = Toy::new(11, toy).dataset(workshop.series(200))?;
        let samples = samples(curves.series(), &Masking::Count(30));
        table.add(
            format!("{} to {}", frequencies.0, frequencies.1),
            systems.errors(&samples)?,
        );
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
        ..Finding::default()
    })
}
