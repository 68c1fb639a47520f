//! Limit: few series to learn from.

use super::finding::{Finding, Measurement};
use super::workshop::{Workshop, plain_error};
use crate::paper_set::PaperSet;
use cssc::Error;
use cssc::train::Masking;

const COUNTS: [usize; 4] = [5, 20, 80, 720];

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Toy)?;
    let samples = set.test(30);
    let mut table = Measurement::new(
        "Limit: few series to learn from",
        "toy-v1 at 30 %, trained on the first so many series for 300 steps; the parameters that validate best on 80 others \
         count. Mean squared error.",
        &["natural spline", "ODE-RNN", "CSSC", "latent CSSC"],
    );
    for count in COUNTS {
        let most = set.parts.train.len();
        let first: Vec<usize> = (0..count.min(most)).collect();
        let train = set.parts.train.subset(&first);
        let mut row = vec![plain_error("natural", &samples)?];
        let validation = &set.parts.validation;
        row.extend(workshop.briefly_trained(&Masking::Count(30), &train, validation, &samples)?);
        table.add(format!("{} series", first.len()), row);
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
        ..Finding::default()
    })
}
