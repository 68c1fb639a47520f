//! Where the error that remains sits: at the ends, in the longest gaps, or in a few series.

use super::finding::{Finding, Measurement};
use super::workshop::Workshop;
use crate::paper_set::{PaperSet, shown};
use cssc::Error;
use cssc::model::Model;
use cssc::train::Sample;

/// Test series that are looked at.
const SERIES: usize = 400;
/// The part of the gaps, and of the series, that is looked at by itself.
const WORST: f64 = 0.1;

/// One squared error: its series, the length of the gap it stands in, and whether that gap is the first or the last.
struct Place {
    series: usize,
    gap: f64,
    end: bool,
    square: f64,
}

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let mut table = Measurement::new(
        "Where the remaining error sits",
        "Shares of the squared error of latent CSSC and CSSC on test series: in the first and the last gap, in the tenth \
         of all points that stand in the longest gaps, and in the tenth of the series with the largest errors. If errors \
         were spread evenly, the first column would be the second, and the other two 0.1.",
        &[
            "share of the points in the two outer gaps",
            "of the error",
            "error in the longest gaps",
            "error in the worst series",
        ],
    );
    for (set, name) in [(PaperSet::Toy, "toy"), (PaperSet::Hopper, "hopper")] {
        let loaded = workshop.set(set)?;
        for percent in [10, 30, 50] {
            let samples = loaded.test(percent);
            for method in ["cssc", "latent-cssc"] {
                let model = workshop.model(&format!("table1/{name}-{method}-{percent}"))?;
                let mut places = Vec::new();
                for (number, sample) in samples.iter().take(SERIES).enumerate() {
                    add(&mut places, number, &model, sample)?;
                }
                table.add(format!("{method}, {set}, {percent} %"), shares(&mut places));
            }
        }
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
        ..Finding::default()
    })
}

fn add(
    places: &mut Vec<Place>,
    series: usize,
    model: &Model,
    sample: &Sample,
) -> Result<(), Error> {
    let observed = shown(sample)?;
    let curve = model.interpolate(&observed, &sample.query)?;
    let channels = observed.channels();
    let knots = observed.times();
    for (row, time) in sample.query.iter().enumerate() {
        if sample.shown[row * channels] {
            continue;
        }
        let right = knots
            .partition_point(|knot| knot <= time)
            .clamp(1, knots.len() - 1);
        let square = (0..channels).map(|channel| {
            let at = row * channels + channel;
            (curve.smoothed.value[at] - sample.targets[at]).powi(2)
        });
        places.push(Place {
            series,
            gap: knots[right] - knots[right - 1],
            end: right == 1 || right == knots.len() - 1,
            square: square.sum(),
        });
    }
    Ok(())
}

fn shares(places: &mut [Place]) -> Vec<f64> {
    let sum = |places: &[Place]| places.iter().map(|place| place.square).sum::<f64>();
    let all = sum(places);
    let outer = places.iter().filter(|place| place.end);
    let at_ends = outer.clone().map(|place| place.square).sum::<f64>() / all;
    let points = outer.count() as f64 / places.len() as f64;
    let worst = (WORST * places.len() as f64) as usize;
    places.sort_unstable_by(|a, b| b.gap.total_cmp(&a.gap));
    let in_long = sum(&places[..worst]) / all;
    let last = places.iter().map(|place| place.series).max().unwrap_or(0);
    let mut series = vec![0.0; last + 1];
    for place in places.iter() {
        series[place.series] += place.square;
    }
    series.sort_unstable_by(|a, b| b.total_cmp(a));
    let few = (WORST * series.len() as f64).ceil() as usize;
    let in_few = series[..few].iter().sum::<f64>() / all;
    vec![points, at_ends, in_long, in_few]
}
