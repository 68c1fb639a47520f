//! Figure 5: the fourth position of the hopper under different weights α of the compensation.

use super::finding::Finding;
use super::lines::curves;
use super::workshop::Workshop;
use crate::paper_set::{PaperSet, shown};
use cssc::Error;
use cssc_report::{Axis, Chart, Ink, Mark, Plot};

/// The test series, and its channel: the waist.
const SERIES: usize = 0;
const CHANNEL: usize = 3;
const WEIGHTS: [&str; 6] = ["0", "1", "10", "100", "1000", "10000"];

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Hopper)?;
    let sample = &set.test(10)[SERIES];
    let series = shown(sample)?;
    let column = |values: &[f64]| -> Vec<f64> {
        let values = values.iter().skip(CHANNEL).step_by(series.channels());
        values.copied().collect()
    };
    let truth = sample.query.iter().copied();
    let truth = truth.zip(column(&sample.targets)).collect();
    let observed = series.times().iter().copied();
    let observed = observed.zip(column(series.values())).collect();
    let truth = Mark::line(Ink::Grey, truth).sized(3.0).called("truth");
    let observed = Mark::dots(Ink::Black, observed).called("observed");
    let mut plots = Vec::new();
    for weight in WEIGHTS {
        let model = workshop.model(&format!("table4/hopper-alpha-{weight}-10"))?;
        let curve = curves(&model, &series, CHANNEL)?;
        plots.push(Plot {
            title: format!("α = {weight}"),
            x: Axis::of("time"),
            marks: vec![
                truth.clone(),
                Mark::line(Ink::Vermilion, curve.predicted).called("prediction o"),
                Mark::line(Ink::Blue, curve.smoothed).called("ô = o + c"),
                observed.clone(),
            ],
            ..Plot::default()
        });
    }
    let title = "Figure 5: the hopper's waist under different weights of the compensation (10 of 100 frames observed)";
    Ok(Finding::picture(Chart::new(title, plots).in_columns(3)))
}
