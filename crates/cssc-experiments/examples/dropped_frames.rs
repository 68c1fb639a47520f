//! Frames that a camera dropped, filled by a model that learns from the frames that are there.
//!
//! ```sh
//! cargo run --release --example dropped_frames
//! ```
//!
//! Writes into target/dropped-frames: clips.npz (short videos of a ball, as `values` [series, time, height, width], `times`
//! and a `mask` that is 0 where a frame was dropped), filled.npz with all frames, and filled.png, a strip of one clip. What
//! it does to clips.npz can be done to any such file without a line of code:
//!
//! ```sh
//! cssc train clips.npz -o ball.cssc --method hidden-cssc
//! cssc interpolate ball.cssc clips.npz -o filled.npz
//! ```

use cssc::data::npz::{self, Array, Elements};
use cssc::data::table::{ReadOptions, TableReader, TableWriter};
use cssc::data::{Random, Series};
use cssc::fill::{LearnOptions, Learning, Method};
use cssc::settings::Settings;
use cssc::train::Control;
use cssc_report::{Film, FilmFrame, FilmRow};
use std::error::Error;
use std::path::Path;

const CLIPS: usize = 200;
const FRAMES: usize = 16;
const SIDE: usize = 16;
const PIXELS: usize = SIDE * SIDE;
/// Every so many frames one is dropped, on average, and the ones after it with an even chance.
const DROP: f64 = 0.2;
const STEPS: u64 = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = Path::new("target/dropped-frames");
    std::fs::create_dir_all(directory)?;
    let [clips, filled, strip] =
        ["clips.npz", "filled.npz", "filled.png"].map(|name| directory.join(name));
    let (truth, kept) = film(&mut Random::new(1));
    npz::write(&clips, &arrays(&truth, &kept))?;

    let mut reader = TableReader::open(&clips, ReadOptions::default())?;
    let loaded = reader.load(usize::MAX)?;
    let mut settings = Settings::default();
    settings.set(&format!("training.steps={STEPS}"))?;
    let mut options = LearnOptions::from_settings(&settings)?;
    let method = Method::named("hidden-cssc")?;
    options.model = method.model(&options.model).ok_or("it is not trained")?;
    let learning = Learning::new(&loaded.dataset, &options)?;
    let mut trainer = learning.trainer()?;
    trainer.run(|_, progress| {
        if progress.step.is_multiple_of(50) {
            println!(
                "step {} of {STEPS}: loss {:.2e}",
                progress.step, progress.loss
            );
        }
        Control::Continue
    })?;
    let model = learning.model(trainer)?;

    let fill = |series: &Series| {
        let curve = model.interpolate(series, series.times())?;
        let mut values = series.values().to_vec();
        for (value, found) in values.iter_mut().zip(&curve.smoothed.value) {
            if value.is_nan() {
                *value = *found;
            }
        }
        Ok::<_, cssc::Error>(cssc::data::Filled {
            values,
            ..Default::default()
        })
    };
    let mut writer = TableWriter::create(&filled, reader.shape())?;
    loaded.apply(&mut reader, &mut writer, fill)?;
    writer.finish()?;

    let written = npz::read(&filled)?;
    let found = written.iter().find(|array| array.name == "values");
    let found = found.and_then(Array::floats).ok_or("no frames")?;
    let dropped = (0..truth.len()).filter(|at| !kept[at / PIXELS]);
    let squares: Vec<f64> = dropped.map(|at| (found[at] - truth[at]).powi(2)).collect();
    let error = squares.iter().sum::<f64>() / squares.len() as f64;
    println!(
        "mean squared error of {} dropped frames: {error:.5}",
        squares.len() / PIXELS
    );
    let mut png = Vec::new();
    strip_of(&truth, &found, &kept).write_strip(&mut png)?;
    std::fs::write(&strip, png)?;
    println!(
        "{}, {} and {} written",
        clips.display(),
        filled.display(),
        strip.display()
    );
    Ok(())
}

/// A ball that bounces in a box, clip after clip, and which frames were kept.
fn film(random: &mut Random) -> (Vec<f64>, Vec<bool>) {
    let (mut truth, mut kept) = (Vec::new(), Vec::new());
    let (low, high) = (3.0, SIDE as f64 - 4.0);
    for _ in 0..CLIPS {
        let mut place = [random.uniform(low, high), random.uniform(low, high)];
        let angle = random.uniform(0.0, std::f64::consts::TAU);
        let mut speed = [0.8 * angle.cos(), 0.8 * angle.sin()];
        for frame in 0..FRAMES {
            for pixel in 0..PIXELS {
                let far = (pixel / SIDE) as f64 - place[0];
                let far = far.hypot((pixel % SIDE) as f64 - place[1]);
                truth.push(1.0 / (1.0 + (2.5 * (far - 2.5)).exp()));
            }
            let after_drop = kept.last() == Some(&false) && random.unit() < 0.5;
            let inside = frame > 0 && frame + 1 < FRAMES;
            kept.push(!(inside && (after_drop || random.unit() < DROP)));
            for (place, speed) in place.iter_mut().zip(&mut speed) {
                if !(low..=high).contains(&(*place + *speed)) {
                    *speed = -*speed;
                }
                *place += *speed;
            }
        }
    }
    (truth, kept)
}

fn arrays(truth: &[f64], kept: &[bool]) -> [Array; 3] {
    let array = |name: &str, shape: &[usize], elements| Array {
        name: name.to_owned(),
        shape: shape.to_vec(),
        elements,
    };
    let seen = |(at, &light): (usize, &f64)| if kept[at / PIXELS] { light as f32 } else { 0.0 };
    let times = (0..FRAMES).map(|frame| frame as f64 / 25.0).collect();
    let values = truth.iter().enumerate().map(seen).collect();
    [
        array("times", &[FRAMES], Elements::Float(times)),
        array(
            "values",
            &[CLIPS, FRAMES, SIDE, SIDE],
            Elements::Float32(values),
        ),
        array("mask", &[CLIPS, FRAMES], Elements::Boolean(kept.to_vec())),
    ]
}

/// The first clip: as it was, as it came, and as it was filled.
fn strip_of(truth: &[f64], found: &[f64], kept: &[bool]) -> Film {
    let row = |name: &str, values: &[f64], shown: &dyn Fn(usize) -> bool| FilmRow {
        name: name.to_owned(),
        frames: (0..FRAMES)
            .map(|frame| FilmFrame {
                pixels: match shown(frame) {
                    true => values[frame * PIXELS..(frame + 1) * PIXELS].to_vec(),
                    false => Vec::new(),
                },
                boxed: kept[frame],
                note: String::new(),
            })
            .collect(),
    };
    Film {
        title: "Dropped frames; boxed ones were there".to_owned(),
        size: [SIDE; 2],
        rows: vec![
            row("truth", truth, &|_| true),
            row("camera", truth, &|frame| kept[frame]),
            row("filled", found, &|_| true),
        ],
    }
}
