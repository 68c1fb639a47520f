//! Every method on real data: hides known values, trains on the rest, and prints how well each
//! method finds them again.
//!
//! ```sh
//! cargo run --release --example real_data -- glucose
//! cargo run --release --example real_data -- co2 steps=1000 'dynamics=[100,100]' longest=21600
//! ```
//!
//! First the set (`glucose`, `co2`, `air`), then settings as NAME=JSON: those of `TrainConfig` and
//! `ModelConfig`, and `methods`, `part`, `longest` (seconds), `rows`, `gap`, `threads`, `hold-seed`.
//! Errors are in units of each channel's standard deviation.

use cssc::data::Dataset;
use cssc::data::table::{Duplicates, ReadOptions, TimeFormat, read_dataset};
use cssc::fill::{
    Comparison, FillMethod, HoldOut, HoldOutOptions, Interpolator, LearnOptions, Limits,
    MethodScore, Score, deviations, learn, predict_hidden,
};
use cssc::model::{Method, Model};
use cssc::train::Control;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let set = arguments.next().ok_or("which set: glucose, co2 or air?")?;
    let dataset = read(&set)?;
    let mut options = LearnOptions::default();
    let (mut plain_training, mut factor) = (false, 1.0);
    let mut hold = HoldOutOptions::default();
    let mut methods = FillMethod::ALL.to_vec();
    let mut model = serde_json::to_value(&options.model)?;
    let mut training = serde_json::to_value(&options.training)?;
    for pair in arguments {
        let (name, text) = pair.split_once('=').ok_or("settings are NAME=VALUE")?;
        let value: Value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        let number = || text.parse::<f64>();
        match name {
            "methods" => methods = text.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "plain-training" => plain_training = text.parse()?,
            "factor" => factor = number()?,
            "part" => hold.part = number()?,
            "hold-seed" => hold.seed = text.parse()?,
            "longest" => {
                hold.longest = Some(number()?);
                options.longest_gap = hold.longest;
            }
            "rows" => {
                options.windows.rows = text.parse()?;
                options.windows.stride = options.windows.rows / 2;
            }
            "gap" => options.typical_gap = number()?,
            "threads" => rayon::ThreadPoolBuilder::new()
                .num_threads(text.parse()?)
                .build_global()?,
            _ => {
                let map: &mut Map<String, Value> = match model.as_object_mut() {
                    Some(map) if map.contains_key(name) => map,
                    _ => training.as_object_mut().ok_or("no settings")?,
                };
                map.insert(name.into(), value);
                options.keep_observation |= name == "observation";
            }
        }
    }
    options.model = serde_json::from_value(model)?;
    options.training = serde_json::from_value(training)?;

    let held = HoldOut::new(&dataset, &hold)?;
    println!(
        "{} series, {} rows, {} values hidden ({:?})",
        dataset.len(),
        dataset.series().iter().map(|s| s.len()).sum::<usize>(),
        held.hidden.len(),
        held.pattern
    );
    let scales = deviations(&held.visible);
    let limits = Limits::none(dataset.channels());
    let mut rows = Vec::new();
    let mut models: Vec<(Method, Arc<Model>)> = Vec::new();
    for method in methods {
        let interpolator = match Interpolator::plain(method) {
            Some(Interpolator::Smoothing(_)) => Interpolator::Smoothing(factor),
            Some(plain) => plain,
            None => {
                let kind = match method {
                    FillMethod::HiddenCssc => Method::HiddenCssc,
                    _ => Method::Cssc,
                };
                if !models.iter().any(|(known, _)| *known == kind) {
                    let learning =
                        options.with_method(if plain_training { Method::OdeRnn } else { kind });
                    let model = learn(&held.visible, &learning, |_, progress| {
                        if let Some(scores) = progress.validation {
                            eprintln!(
                                "{method} step {:5} {:6.1} s loss {:.5} validation {:.6} hidden {:.6}",
                                progress.step,
                                progress.elapsed.as_secs_f64(),
                                progress.loss,
                                scores.mse_all,
                                scores.mse_hidden
                            );
                        }
                        Control::Continue
                    })?;
                    models.push((kind, Arc::new(model)));
                }
                let (_, model) = models
                    .iter()
                    .find(|(known, _)| *known == kind)
                    .ok_or("just trained")?;
                Interpolator::Model {
                    model: model.clone(),
                    smooth: method == FillMethod::SmoothCssc,
                }
            }
        };
        let found = predict_hidden(&interpolator, &held, &limits)?;
        let score = MethodScore::new(method, &held.hidden, &found, &scales);
        print!(
            "{method:12} mse {:.6} mae {:.6}",
            score.all.mse, score.all.mae
        );
        for (name, channel) in dataset.channel_names().iter().zip(&score.channels) {
            print!("  {name} {:.6}", channel.mse);
        }
        println!();
        if let Interpolator::Model { model, .. } = &interpolator {
            let found = predicted(model, &held)?;
            let score = Score::new(&held.hidden, &found, &scales, |_| true);
            println!("{:12} mse {:.6} mae {:.6}", "  its o", score.mse, score.mae);
        }
        rows.push(score);
    }
    let comparison = Comparison::new(rows);
    println!(
        "chosen {:?}, together {:.6}",
        comparison.chosen, comparison.together.mse
    );
    Ok(())
}

/// What a model predicts of the hidden values by itself.
fn predicted(model: &Model, held: &HoldOut) -> Result<Vec<f64>, Box<dyn Error>> {
    Ok(held.ask(|series, times| Ok(model.interpolate(series, times)?.predicted))?)
}

fn read(set: &str) -> Result<Dataset, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (file, options) = match set {
        "glucose" => (
            "glucose/glucose.csv.gz",
            ReadOptions {
                duplicates: Duplicates::Average,
                ..ReadOptions::default()
            },
        ),
        "co2" => ("co2/co2.csv", ReadOptions::default()),
        "air" => (
            "air-quality/AirQualityUCI.csv",
            ReadOptions {
                time: vec!["Date".into(), "Time".into()],
                time_format: TimeFormat::Pattern("%d/%m/%Y %H:%M:%S".into()),
                missing: vec!["-200".into()],
                ..ReadOptions::default()
            },
        ),
        _ => return Err("the sets are glucose, co2 and air".into()),
    };
    Ok(read_dataset(&root.join(file), &options)?.0)
}
