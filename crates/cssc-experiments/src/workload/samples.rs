//! Made series: sine curves, all points of which are asked for.
//!
//! Times and values are rounded to `f32` once, so that a file of inputs holds them exactly.

use super::{BATCH, GRID_STEP, POINTS};
use cssc::data::Random;
use cssc::train::Sample;
use std::f64::consts::TAU;

const RAGGED_POINTS: usize = 30;

/// Sine curves of some channels on a grid, `observed` points of each shown.
pub(super) fn grid(
    observed: usize,
    batch: usize,
    channels: usize,
    random: &mut Random,
) -> Vec<Sample> {
    let times: Vec<f64> = (0..POINTS).map(|i| rounded(GRID_STEP * i as f64)).collect();
    (0..batch)
        .map(|_| {
            let shown = random.observed_points(POINTS, observed);
            curves(&times, &shown, channels, random)
        })
        .collect()
}

/// Sine curves at times of their own, every point shown.
pub(super) fn ragged(random: &mut Random) -> Vec<Sample> {
    let mut places: Vec<usize> = (0..BATCH * RAGGED_POINTS).collect();
    random.shuffle(&mut places);
    let unit = GRID_STEP * POINTS as f64 / (BATCH * RAGGED_POINTS) as f64;
    places
        .chunks_exact_mut(RAGGED_POINTS)
        .map(|places| {
            places.sort_unstable();
            let times: Vec<f64> = places.iter().map(|&p| rounded(unit * p as f64)).collect();
            curves(&times, &(0..RAGGED_POINTS).collect::<Vec<_>>(), 1, random)
        })
        .collect()
}

fn curves(times: &[f64], shown: &[usize], channels: usize, random: &mut Random) -> Sample {
    let waves: Vec<(f64, f64)> = (0..channels)
        .map(|_| (random.uniform(0.4, 0.8), random.normal(1.0, 0.1)))
        .collect();
    let row = |time: f64| {
        waves
            .iter()
            .map(move |(frequency, level)| rounded((TAU * frequency * time).sin() + level))
    };
    let mut mask = vec![false; times.len() * channels];
    for &i in shown {
        mask[i * channels..(i + 1) * channels].fill(true);
    }
    Sample {
        times: shown.iter().map(|&i| times[i]).collect(),
        values: shown.iter().flat_map(|&i| row(times[i])).collect(),
        query: times.to_vec(),
        targets: times.iter().flat_map(|&time| row(time)).collect(),
        shown: mask,
    }
}

fn rounded(x: f64) -> f64 {
    f64::from(x as f32)
}
