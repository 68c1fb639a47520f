//! A model with the paper's networks applied to a series far longer than those it was trained
//! on, in windows.
//!
//! ```sh
//! cargo run --release --example long_series -- 100000 500 50
//! ```
//!
//! Arguments: observations, window, warm-up. The model is hardly trained: this is about time,
//! memory and smoothness, not about accuracy.

use std::time::Instant;

use cssc::data::{Dataset, Random, Scaler, Series, TimeScaling, ValueScaling};
use cssc::model::{CurveOptions, ModelConfig};
use cssc::train::{Control, TrainConfig, fit};

fn series(points: usize, seed: u64) -> Result<Series, Box<dyn std::error::Error>> {
    let mut random = Random::new(seed);
    let mut time = 0.0;
    let mut times = Vec::with_capacity(points);
    for _ in 0..points {
        time += random.uniform(0.02, 0.1);
        times.push(time);
    }
    let values = times.iter().map(|t| (3.0 * t).sin() + (0.7 * t).cos());
    let values = values.collect();
    Ok(Series::new(None, 1, times, values)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| match arguments.next() {
        Some(text) => text.parse(),
        None => Ok(default),
    };
    let (points, window, warm_up) = (number(100_000)?, number(500)?, number(50)?);
    let training = (0..20)
        .map(|seed| series(60, seed))
        .collect::<Result<_, _>>()?;
    let data = Dataset::new(vec!["x".into()], training)?;
    let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None)?;
    let config = TrainConfig {
        steps: 20,
        ..TrainConfig::default()
    };
    let model = fit(
        &ModelConfig::default(),
        &config,
        &scaler,
        &data,
        &data,
        |_, _| Control::Continue,
    )?;
    let long = series(points, 1000)?;
    let options = CurveOptions {
        window: Some(window),
        warm_up,
        ..CurveOptions::default()
    };
    let start = Instant::now();
    let curve = model.interpolate_with(&long, long.times(), &options)?;
    let off = curve.smoothed.value.iter().zip(long.values());
    let worst = off.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!(
        "{points} observations in windows of {window}: {:.1?}, furthest from an observation {worst:.1e}",
        start.elapsed()
    );
    Ok(())
}
