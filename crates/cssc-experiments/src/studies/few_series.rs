//! Limit: few series to learn from.

use super::finding::{Finding, Measurement};
use super::workshop::{Workshop, model_error, plain_error};
use crate::paper_set::PaperSet;
use cssc::Error;
use cssc::model::CurveOptions;
use cssc::train::{Masking, OptimizerKind, TrainConfig};

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
        for method in ["ode-rnn", "cssc", "latent-cssc"] {
            let training = TrainConfig {
                steps: 300,
                validate_every: 30,
                optimizer: OptimizerKind::Muon,
                rate: 0.006,
                clip: Some(1.0),
                masking: Masking::Count(30),
                ..TrainConfig::default()
            };
            let model = workshop.trained(method, training, &train, &set.parts.validation)?;
            row.push(model_error(&model, &CurveOptions::default(), &samples)?);
        }
        table.add(format!("{} series", first.len()), row);
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
    })
}
