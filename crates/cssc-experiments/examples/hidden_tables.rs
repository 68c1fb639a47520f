//! How well gaps of whole tables are filled: hides known cells in several patterns, fills with
//! `cssc fill --budget 0s` as a library, and compares with what was hidden.
//!
//! ```sh
//! cargo run --release --example hidden_tables -- P10,P50,BLOCK,BLOCKALL tables/*.csv
//! ```
//!
//! Columns: the error of straight lines as the comparison reports it, relative to the true one; then
//! squared errors relative to straight lines on the same cells: what was filled, and every method; last
//! the parts of the hidden values inside bands of 90 %, and seconds.

use cssc::data::table::{ReadOptions, TableReader};
use cssc::data::{Dataset, Random, Series};
use cssc::evaluate::Gaps;
use cssc::fill::{Asked, Imputer, Method};
use cssc::predict::PredictOptions;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let tasks = arguments
        .next()
        .ok_or("which tasks: P10,P50,BLOCK,BLOCKALL?")?;
    let tasks: Vec<String> = tasks.split(',').map(str::to_owned).collect();
    let mut sums = vec![(0.0, 0.0); tasks.len()];
    for path in arguments {
        let mut reader = TableReader::open(Path::new(&path), ReadOptions::default())?;
        let seconds = reader.shape().times_are_seconds();
        let data = reader.load(50_000_000)?.dataset;
        for (task, sum) in tasks.iter().zip(&mut sums) {
            let relative = run(&path, task, &data, seconds)?;
            sum.0 += relative.ln();
            sum.1 += 1.0;
        }
    }
    for (task, (sum, count)) in tasks.iter().zip(sums) {
        println!("geometric mean {task}: {:.3}", f64::exp(sum / count));
    }
    Ok(())
}

fn run(path: &str, task: &str, data: &Dataset, seconds: bool) -> Result<f64, Box<dyn Error>> {
    let hidden = hide(data, task)?;
    let begun = Instant::now();
    let imputer = Imputer {
        budget: Some(Duration::ZERO),
        bands: Some(0.9),
        predict: PredictOptions {
            seconds,
            ..PredictOptions::default()
        },
        ..Imputer::default()
    };
    let fitted = imputer.fit_with(&hidden, &Gaps::find(&hidden), |_| ControlFlow::Continue(()))?;
    let filled: Result<Vec<_>, _> = hidden
        .series()
        .iter()
        .map(|series| fitted.fill(series, &Asked::Holes))
        .collect();
    let filled = filled?;
    let seconds = begun.elapsed().as_secs_f64();
    let scales = cssc::evaluate::std_devs(&hidden);
    let linear = Method::named("linear")?.plain().ok_or("plain")?;
    let mut errors = vec![0.0; fitted.filler().candidates.len() + 2];
    let (mut inside, mut count) = (0.0, 0.0);
    for (number, series) in hidden.series().iter().enumerate() {
        let channels = series.channels();
        let all: Vec<usize> = (0..channels).collect();
        let mut curves = vec![linear.curve(series, &all, series.times())?.values];
        for candidate in &fitted.filler().candidates {
            curves.push(candidate.curve(series, &all, series.times())?.values);
        }
        curves.push(filled[number].values.clone());
        let bands = filled[number].bands.as_ref();
        for at in 0..series.values().len() {
            let truth = data.series()[number].values()[at];
            if truth.is_nan() || !series.values()[at].is_nan() || curves[0][at].is_nan() {
                continue;
            }
            for (error, curve) in errors.iter_mut().zip(&curves) {
                let one = (curve[at] - truth) / scales[at % channels];
                *error += one * one;
            }
            if let Some([low, high]) = bands {
                inside += f64::from(u8::from(low[at] <= truth && truth <= high[at]));
            }
            count += 1.0;
        }
    }
    let reported = fitted
        .evaluation()
        .and_then(|found| Some(found.methods[found.reference?].all.mse));
    let name = Path::new(path)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    print!(
        "{name:12} {task:8} lin {:.4} rep/true {:.2} | auto {:.3} |",
        errors[0] / count,
        reported.unwrap_or(f64::NAN) / (errors[0] / count),
        errors[errors.len() - 1] / errors[0]
    );
    for (candidate, error) in fitted.filler().candidates.iter().zip(&errors[1..]) {
        if !["previous", "linear"].contains(&candidate.name()) {
            print!(" {} {:.3}", candidate.name(), error / errors[0]);
        }
    }
    println!(" | in bands {:.3} | {seconds:.2} s", inside / count);
    Ok(errors[errors.len() - 1] / errors[0])
}

/// The data with known cells hidden: single ones at random (P10, P50), or blocks of 3 to 48 rows in single
/// columns (BLOCK) or in all (BLOCKALL).
fn hide(data: &Dataset, task: &str) -> Result<Dataset, Box<dyn Error>> {
    let mut random = Random::new(17);
    let mut all = Vec::new();
    for series in data.series() {
        let (rows, channels) = (series.len(), series.channels());
        let mut values = series.values().to_vec();
        if let Some(part) = task.strip_prefix('P') {
            let part = part.parse::<f64>()? / 100.0;
            for at in channels..(rows - 1) * channels {
                if random.unit() < part {
                    values[at] = f64::NAN;
                }
            }
        } else {
            let together = task == "BLOCKALL";
            for first in 0..if together { 1 } else { channels } {
                let mut mask = vec![false; rows];
                for _ in 0..100 * rows {
                    if mask.iter().filter(|hidden| **hidden).count() * 10 >= rows {
                        break;
                    }
                    let length = 3 + random.below(46.min(rows / 5 - 2));
                    let start = 1 + random.below(rows - length - 2);
                    if mask[start - 1..=start + length]
                        .iter()
                        .all(|hidden| !hidden)
                    {
                        mask[start..start + length].fill(true);
                    }
                }
                for row in (0..rows).filter(|&row| mask[row]) {
                    let columns = if together {
                        0..channels
                    } else {
                        first..first + 1
                    };
                    values[row * channels..][columns].fill(f64::NAN);
                }
            }
        }
        all.push(Series::new(
            series.id().map(str::to_owned),
            channels,
            series.times().to_vec(),
            values,
        )?);
    }
    Ok(Dataset::new(data.channel_names().to_vec(), all)?)
}
