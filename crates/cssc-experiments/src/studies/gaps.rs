//! Limit: gaps longer than any in training.

use super::finding::{Finding, Measurement};
use super::workshop::{ToySystems, Workshop};
use crate::paper_set::PaperSet;
use cssc::Error;
use cssc::train::Sample;

/// Lengths of the gap in the middle, in the time of the set, whose curves last 5 and swing in 1.25 to 2.5.
const LENGTHS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 3.0];

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Toy)?;
    let systems = ToySystems::new(workshop)?;
    let mut table = Measurement::new(
        "Limit: gaps longer than in training",
        "toy-v1 at 30 %, but nothing is observed in the middle of every test series for so long (curves last 5, their \
         period is 1.25 to 2.5; the mean gap of the training is 0.17). Mean squared error over the whole series.",
        &ToySystems::NAMES,
    );
    for length in LENGTHS {
        let samples: Vec<Sample> = set
            .test(30)
            .iter()
            .map(|sample| hollow(sample, length))
            .collect();
        table.add(format!("gap of {length}"), systems.errors(&samples)?);
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
        ..Finding::default()
    })
}

/// The sample without what is observed around its middle.
fn hollow(sample: &Sample, length: f64) -> Sample {
    let (first, last) = (sample.times[0], sample.times[sample.times.len() - 1]);
    let middle = 0.5 * (first + last);
    let inside = |time: f64| (time - middle).abs() < 0.5 * length;
    let mut sample = sample.clone();
    let kept: Vec<bool> = sample.times.iter().map(|&time| !inside(time)).collect();
    let mut keep = kept.iter();
    sample.values.retain(|_| *keep.next().unwrap_or(&true));
    sample.times.retain(|&time| !inside(time));
    for (shown, &time) in sample.shown.iter_mut().zip(&sample.query) {
        *shown &= !inside(time);
    }
    sample
}
