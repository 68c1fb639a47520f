//! Figure 4: frames of two flying digits, true and interpolated; observed frames are boxed, and below them stands how far
//! the video jumps there.

use super::finding::{Filmed, Finding, Measurement};
use super::workshop::Workshop;
use crate::generate::moving_mnist::SIDE;
use crate::paper_set::shown;
use cssc::Error;
use cssc::train::Sample;
use cssc_report::{Film, FilmFrame, FilmRow};

/// The cells whose models are compared, and their names.
const SYSTEMS: [(&str, &str); 3] = [
    ("ODE-RNN", "table1/moving-mnist-ode-rnn-20"),
    ("hidden CSSC", "table1/moving-mnist-hidden-cssc-20"),
    ("latent CSSC", "table1/moving-mnist-latent-cssc-20"),
];
/// Moments of the animation for one frame of the video.
const FINER: usize = 4;
/// How close to an observation its two sides are looked at, in units of the model's time (a quarter of it is a frame).
const BESIDE: f64 = 1e-4;
/// A jump of so much light (root of the mean square over the pixels) is written below the frame.
const VISIBLE: f64 = 0.005;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set_of(SYSTEMS[0].1)?;
    let samples = set.test(20);
    // Frames are observed by chance: the first video whose first and last frames are.
    let both = |sample: &&Sample| sample.shown[0] && sample.shown.last() == Some(&true);
    let sample = samples.iter().find(both).unwrap_or(&samples[0]);
    let series = shown(sample)?;
    let pixels = series.channels();
    let observed: Vec<bool> = sample.shown.iter().step_by(pixels).copied().collect();
    let plain = |values: &[f64]| -> Vec<FilmFrame> {
        let frames = values.chunks(pixels).zip(&observed);
        let frame = |(pixels, &boxed): (&[f64], &bool)| FilmFrame {
            pixels: pixels.to_vec(),
            boxed,
            note: String::new(),
        };
        frames.map(frame).collect()
    };
    let moments = finer(&sample.query);
    let sides: Vec<f64> = sample
        .query
        .iter()
        .flat_map(|time| [time - BESIDE, time + BESIDE])
        .collect();
    let row = |name: &str, frames| FilmRow {
        name: name.to_owned(),
        frames,
    };
    let mut strip = vec![row("truth", plain(&sample.targets))];
    let mut sheet = vec![row("truth", held(&sample.targets, pixels))];
    let about = "Two digits fly through a box; 4 of 20 frames are observed (boxed). Below an observed frame stands the jump of \
                 the video there, the root of the mean squared difference of its two sides, where it can be seen. In \
                 `cssc report --html` the videos play. The table is of this video.";
    let title = "Figure 4: videos, 4 of 20 frames observed";
    let mut measurement = Measurement::new(title, about, &["squared error", "largest jump"]);
    for (name, cell) in SYSTEMS {
        let model = workshop.model(cell)?;
        let values =
            |times: &[f64]| Ok::<_, Error>(model.interpolate(&series, times)?.smoothed.value);
        let (found, fine, beside) = (values(&sample.query)?, values(&moments)?, values(&sides)?);
        let jumps: Vec<f64> = beside
            .chunks(2 * pixels)
            .map(|pair| distance(&pair[..pixels], &pair[pixels..]))
            .collect();
        let mut frames = plain(&found);
        for (number, frame) in frames.iter_mut().enumerate() {
            // Outside of the observed time there is nothing on the other side.
            let inside = (1..observed.len() - 1).contains(&number);
            if frame.boxed && inside && jumps[number] > VISIBLE {
                frame.note = format!("jump {:.2}", jumps[number]);
            }
        }
        strip.push(row(name, frames));
        sheet.push(row(name, frames_of(&fine, pixels)));
        let error = distance(&found, &sample.targets).powi(2);
        let largest = jumps[1..jumps.len() - 1]
            .iter()
            .copied()
            .fold(0.0, f64::max);
        measurement.add(name, vec![error, largest]);
    }
    let film = |rows| Film {
        title: title.to_owned(),
        size: [SIDE; 2],
        rows,
    };
    Ok(Finding {
        measurement: Some(measurement),
        film: Some(Filmed {
            strip: film(strip),
            sheet: film(sheet),
        }),
        ..Finding::default()
    })
}

/// Times between the given ones too.
fn finer(times: &[f64]) -> Vec<f64> {
    let mut finer: Vec<f64> = times
        .windows(2)
        .flat_map(|pair| {
            (0..FINER).map(|part| pair[0] + (pair[1] - pair[0]) * part as f64 / FINER as f64)
        })
        .collect();
    finer.extend(times.last());
    finer
}

fn frames_of(values: &[f64], pixels: usize) -> Vec<FilmFrame> {
    let frame = |pixels: &[f64]| FilmFrame {
        pixels: pixels.to_vec(),
        ..FilmFrame::default()
    };
    values.chunks(pixels).map(frame).collect()
}

/// The truth is known at its frames only: each is shown until the next.
fn held(values: &[f64], pixels: usize) -> Vec<FilmFrame> {
    let mut frames = frames_of(values, pixels);
    let last = frames.pop();
    let held = frames
        .into_iter()
        .flat_map(|frame| std::iter::repeat_n(frame, FINER));
    held.chain(last).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    (sum / a.len().max(1) as f64).sqrt()
}
