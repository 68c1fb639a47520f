//! Every method on real data: hides known values, trains on the rest, and prints how well each
//! method finds them again.
//!
//! ```sh
//! cargo run --release --example real_data -- co2 steps=1000 'dynamics=[100,100]'
//! cargo run --release --example real_data -- glucose longest=7200 outer=5
//! ```
//!
//! First the set (`glucose`, `co2`, `air`), then settings as NAME=JSON: those of `TrainConfig` and
//! `ModelConfig`, and `methods`, `part`, `longest` (seconds), `rows`, `gap`, `threads`, `hold-seed`.
//! `outer=N` asks what the choice is worth: N times values are hidden before anything else, and
//! every method is judged by those as well, over all times together. Errors are in units of
//! each channel's standard deviation; in brackets, relative to straight lines, and for `auto`
//! relative to the best method.

use cssc::data::Dataset;
use cssc::data::table::{Duplicates, ReadOptions, TimeFormat, read_dataset};
use cssc::fill::{
    AutoOptions, Bounds, Choice, HoldOut, HoldOutOptions, LearnOptions, Method, MethodScore, Score,
    choose, predict_hidden, std_devs,
};
use cssc::train::Control;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let set = arguments.next().ok_or("which set: glucose, co2 or air?")?;
    let dataset = read(&set)?;
    let mut learn = LearnOptions::default();
    let mut hold_out = HoldOutOptions::default();
    let mut methods = Method::ALL.to_vec();
    let mut outer = 0;
    let mut model = serde_json::to_value(&learn.model)?;
    let mut training = serde_json::to_value(&learn.training)?;
    for pair in arguments {
        let (name, text) = pair.split_once('=').ok_or("settings are NAME=VALUE")?;
        let value: Value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        match name {
            "methods" => methods = text.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "part" => hold_out.part = text.parse()?,
            "hold-seed" => hold_out.seed = text.parse()?,
            "outer" => outer = text.parse()?,
            "longest" => {
                hold_out.longest = Some(text.parse()?);
                learn.longest_gap = hold_out.longest;
            }
            "rows" => {
                learn.windows.rows = text.parse()?;
                learn.windows.stride = learn.windows.rows / 2;
            }
            "gap" => learn.typical_gap = text.parse()?,
            "threads" => rayon::ThreadPoolBuilder::new()
                .num_threads(text.parse()?)
                .build_global()?,
            _ => {
                let map: &mut Map<String, Value> = match model.as_object_mut() {
                    Some(map) if map.contains_key(name) => map,
                    _ => training.as_object_mut().ok_or("no settings")?,
                };
                map.insert(name.into(), value);
                learn.keep_masking |= name == "masking";
            }
        }
    }
    learn.model = serde_json::from_value(model)?;
    learn.training = serde_json::from_value(training)?;

    let options = AutoOptions {
        methods,
        require_all: true,
        hold_out,
        learn,
        budget: None,
        bands: None,
        limits: Bounds::none(dataset.channels()),
    };
    let names = dataset.channel_names();
    if outer == 0 {
        let choice = run(&dataset, &options)?;
        show(&choice.comparison.methods, names);
        show_one("best of each", &choice.comparison.together, f64::NAN);
        println!("chosen {:?}", choice.comparison.chosen);
        return Ok(());
    }
    let (mut rows, mut auto) = (Vec::new(), Vec::new());
    for seed in 1..=outer {
        let once = HoldOutOptions {
            rounds: 1,
            seed: 1000 + seed,
            ..options.hold_out.clone()
        };
        let held = HoldOut::new(&dataset, &once)?;
        let choice = run(&held.visible, &options)?;
        println!("chosen {:?}", choice.comparison.chosen);
        let (methods, chosen) = judge(&choice, &held, &options)?;
        rows.push(methods);
        auto.push(chosen);
    }
    let together: Vec<MethodScore> = (0..rows[0].len())
        .map(|m| MethodScore {
            method: rows[0][m].method,
            all: Score::pooled(rows.iter().map(|row| row[m].all)),
            channels: (0..names.len())
                .map(|channel| Score::pooled(rows.iter().map(|row| row[m].channels[channel])))
                .collect(),
        })
        .collect();
    let auto = Score::pooled(auto);
    println!("on {} values that had no part in the choice:", auto.count);
    show(&together, names);
    let best = together.iter().map(|row| row.all.mse);
    show_one("auto", &auto, best.fold(f64::INFINITY, f64::min));
    Ok(())
}

/// Hides, trains and compares, telling how it goes.
fn run(dataset: &Dataset, options: &AutoOptions) -> Result<Choice, Box<dyn Error>> {
    let choice = choose(dataset, options, |method, _, progress| {
        if let Some(scores) = progress.validation {
            eprintln!(
                "{method:?} step {:5} {:6.1} s loss {:.5} validation {:.6} hidden {:.6}",
                progress.step,
                progress.elapsed.as_secs_f64(),
                progress.loss,
                scores.mse_all,
                scores.mse_hidden
            );
        }
        Control::Continue
    })?;
    println!(
        "{} series, {} rows, {} values hidden ({:?})",
        dataset.len(),
        dataset.series().iter().map(|s| s.len()).sum::<usize>(),
        choice.hidden,
        choice.pattern
    );
    Ok(choice)
}

/// Every method on values that had no part in the choice, and what was chosen.
fn judge(
    choice: &Choice,
    held: &HoldOut,
    options: &AutoOptions,
) -> Result<(Vec<MethodScore>, Score), Box<dyn Error>> {
    let scales = std_devs(&held.visible);
    let mut rows = Vec::new();
    let mut chosen = vec![f64::NAN; held.hidden.len()];
    for candidate in &choice.candidates {
        let method = candidate.method();
        let found = predict_hidden(candidate, held, &options.limits)?;
        for ((place, hidden), &value) in chosen.iter_mut().zip(&held.hidden).zip(&found) {
            if choice.comparison.chosen[hidden.channel] == method {
                *place = value;
            }
        }
        rows.push(MethodScore::new(method, &held.hidden, &found, &scales));
    }
    let auto = Score::new(&held.hidden, &chosen, &scales, |_| true);
    Ok((rows, auto))
}

fn show(rows: &[MethodScore], names: &[String]) {
    let linear = rows.iter().find(|row| row.method == Method::Linear);
    let linear = linear.map_or(f64::NAN, |row| row.all.mse);
    for row in rows {
        show_one(row.method.name(), &row.all, linear);
        for (name, channel) in names.iter().zip(&row.channels) {
            println!("    {name} {:.6}", channel.mse);
        }
    }
}

fn show_one(name: &str, score: &Score, one: f64) {
    println!(
        "{name:12} mse {:.6} mae {:.6} ({:.3})",
        score.mse,
        score.mae,
        score.mse / one
    );
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
