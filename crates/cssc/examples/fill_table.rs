//! Fills the holes of a table with a plain interpolator, series by series.
//!
//!     cargo run --release --example fill_table -- linear in.parquet out.parquet
//!     cargo run --release --example fill_table -- make 10000000 in.parquet
//!
//! `make` writes a table of sines with holes: series of 100 rows, two channels. With it memory is
//! measured: it holds a batch of series, not the table.
use std::path::Path;

use cssc::Error;
use cssc::data::table::{Filled, ReadOptions, Shape, TableReader, TableWriter, apply};
use cssc::data::{Random, Series};
use cssc::{Path as _, PiecewiseCubic, Side, SplineKind};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["make", rows, output] => make(rows.parse()?, Path::new(output))?,
        ["linear", input, output] => fill(SplineKind::Linear, Path::new(input), Path::new(output))?,
        ["natural", input, output] => {
            fill(SplineKind::Natural, Path::new(input), Path::new(output))?
        }
        _ => return Err("expected: make ROWS FILE, or linear|natural INPUT OUTPUT".into()),
    }
    Ok(())
}

fn fill(kind: SplineKind, input: &Path, output: &Path) -> Result<(), Failure> {
    let mut reader = TableReader::open(input, ReadOptions::default())?;
    let mut writer = TableWriter::create(output, reader.shape())?;
    let counts = apply(&mut reader, &mut writer, |series| fill_series(series, kind))?;
    writer.finish()?;
    reader
        .notices()
        .iter()
        .for_each(|notice| eprintln!("{notice}"));
    eprintln!(
        "{} rows of {} series, {} holes filled",
        counts.rows, counts.series, counts.filled
    );
    Ok(())
}

/// Holes between the first and the last value of a channel are filled; what lies outside, and
/// channels without any value, stay missing.
fn fill_series(series: &Series, kind: SplineKind) -> Result<Filled, Failure> {
    let mut filled = Filled::unchanged(series);
    let channels = series.channels();
    for channel in 0..channels {
        let (times, values) = series.observed(channel);
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            continue;
        };
        if times.len() == series.len() {
            continue;
        }
        let found =
            PiecewiseCubic::fit(&times, 1, &values, kind)?.sample(series.times(), Side::Left)?;
        for (index, &time) in series.times().iter().enumerate() {
            let place = &mut filled.values[index * channels + channel];
            if place.is_nan() && (first..=last).contains(&time) {
                *place = found.value[index];
            }
        }
    }
    Ok(filled)
}

fn make(rows: usize, output: &Path) -> Result<(), Error> {
    let names = ["sine", "cosine"].map(str::to_owned);
    let mut writer = TableWriter::create(output, &Shape::generated(&names))?;
    for number in 0..rows.div_ceil(100) {
        let mut random = Random::stream(1, number as u64);
        let frequency = random.uniform(0.4, 0.8);
        let times: Vec<f64> = (0..100)
            .map(|k| 0.05 * (f64::from(k) + random.unit()))
            .collect();
        let values = times
            .iter()
            .flat_map(|time| [(frequency * time).sin(), (frequency * time).cos()]);
        let values: Vec<f64> = values.collect();
        let holes = values
            .iter()
            .map(|&value| if random.unit() < 0.2 { f64::NAN } else { value });
        let holes = holes.collect();
        writer.write_series(&Series::new(Some(number.to_string()), 2, times, holes)?)?;
    }
    writer.finish()
}
