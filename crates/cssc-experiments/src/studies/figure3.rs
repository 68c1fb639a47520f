//! Figure 3: the hopper's body at every fifth frame, true and interpolated; observed frames are boxed.

use super::body::links;
use super::finding::Finding;
use super::workshop::Workshop;
use crate::generate::hopper;
use crate::paper_set::{PaperSet, shown};
use cssc::Error;
use cssc::data::Scaler;
use cssc::train::Sample;
use cssc_report::{Axis, Chart, Ink, Mark, Plot};

/// Every so many frames one is drawn.
const EVERY: usize = 5;
/// Test series among which one is chosen that shows observed frames.
const CANDIDATES: usize = 200;
/// What a panel shows around the true torso, in metres.
const REACH: f64 = 0.95;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Hopper)?;
    let samples = set.test(10);
    let drawn =
        |sample: &Sample| -> Vec<usize> { (0..sample.query.len()).step_by(EVERY).collect() };
    let boxed = |sample: &Sample| {
        let channels = sample.targets.len() / sample.query.len();
        let seen = drawn(sample).into_iter();
        seen.filter(|frame| sample.shown[frame * channels]).count()
    };
    // Frames are observed by chance: the first series in which most of the drawn ones are.
    let mut sample = &samples[0];
    for candidate in samples.iter().take(CANDIDATES) {
        if boxed(candidate) > boxed(sample) {
            sample = candidate;
        }
    }
    let series = shown(sample)?;
    let channels = series.channels();
    let mut rows = vec![("truth", Ink::Black, sample.targets.clone())];
    for (name, ink, cell) in [
        ("ODE-RNN", Ink::Vermilion, "table1/hopper-ode-rnn-10"),
        ("CSSC", Ink::Blue, "table1/hopper-cssc-10"),
        ("latent CSSC", Ink::Green, "table1/hopper-latent-cssc-10"),
    ] {
        let curve = workshop.model(cell)?.interpolate(&series, &sample.query)?;
        rows.push((name, ink, curve.smoothed.value));
    }
    let scaler = hopper::scaler();
    let truth = &sample.targets;
    let mut plots = Vec::new();
    for (name, ink, values) in &rows {
        for frame in drawn(sample) {
            let positions =
                |values: &[f64]| unscaled(&scaler, &values[frame * channels..][..channels]);
            let body = positions(values);
            let centre = positions(truth);
            let mut marks = vec![Mark::line(
                Ink::Grey,
                vec![(centre[0] - REACH, 0.0), (centre[0] + REACH, 0.0)],
            )];
            if *name != "truth" {
                let ghost = links(&centre).into_iter();
                marks.extend(ghost.map(|link| Mark::line(Ink::Grey, link).sized(1.2)));
            }
            marks.extend(links(&body).map(|link| Mark::line(*ink, link).sized(2.4)));
            plots.push(Plot {
                title: if frame == 0 {
                    (*name).to_owned()
                } else {
                    String::new()
                },
                x: Axis::default().between(centre[0] - REACH, centre[0] + REACH),
                y: Axis::default().between(centre[1] + 1.0 - REACH, centre[1] + 1.0 + REACH),
                marks,
                picture: true,
                framed: sample.shown[frame * channels],
            });
        }
    }
    let title = "Figure 3: the hopper, every fifth frame; boxed frames were observed (10 of 100), grey is the truth";
    let columns = drawn(sample).len();
    let chart = Chart::new(title, plots).in_columns(columns);
    Ok(Finding::picture(chart.with_panels(56.0, 56.0)))
}

fn unscaled(scaler: &Scaler, values: &[f64]) -> Vec<f64> {
    let channels = values.iter().enumerate();
    channels
        .map(|(channel, &value)| scaler.unscale_value(channel, value))
        .collect()
}
