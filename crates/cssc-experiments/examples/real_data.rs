//! Every method on real data: hides known values, trains on the rest, and prints how well each
//! method finds them again.
//!
//! ```sh
//! cargo run --release --example real_data -- co2 steps=1000 'dynamics=[100,100]'
//! cargo run --release --example real_data -- glucose longest=7200 outer=5
//! ```
//!
//! First the set (`glucose`, `co2`, `air`), then settings as NAME=VALUE: those of `TrainConfig` and
//! `ModelConfig`, and `methods`, `part`, `longest` (seconds), `rows`, `gap`, `threads`, `seed`.
//! `outer=N` asks what the choice is worth: N times values are hidden before anything else, and
//! every method is judged by those as well, over all times together. Errors are in units of
//! each channel's standard deviation; in brackets, relative to straight lines, and for `auto`
//! relative to the best method.

use cssc::data::Dataset;
use cssc::data::table::{Duplicates, ReadOptions, TimeFormat, read_dataset};
use cssc::evaluate::{Evaluation, Gaps, HoldOut, HoldOutOptions, Judging, Score};
use cssc::fill::{Event, Fitted, Imputer, METHODS, Method};
use cssc::settings::name_and_value;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let set = arguments.next().ok_or("which set: glucose, co2 or air?")?;
    let dataset = read(&set)?;
    let mut imputer = Imputer {
        methods: Some(METHODS.iter().filter(|method| method.by_default).collect()),
        ..Imputer::default()
    };
    let mut outer = 0;
    for pair in arguments {
        let (name, text) = name_and_value(&pair).ok_or("settings are NAME=VALUE")?;
        match name {
            "methods" => imputer.methods = Some(Method::list(text.split(','))?),
            "part" => imputer.hold_out.part = text.parse()?,
            "seed" => imputer.seed = text.parse()?,
            "outer" => outer = text.parse()?,
            "longest" => imputer.longest_gap = Some(text.parse()?),
            "rows" => {
                imputer.learn.windows.rows = text.parse()?;
                imputer.learn.windows.stride = imputer.learn.windows.rows / 2;
            }
            "gap" => imputer.learn.windows.typical_gap = text.parse()?,
            "threads" => rayon::ThreadPoolBuilder::new()
                .num_threads(text.parse()?)
                .build_global()?,
            _ => imputer.learn.set(&pair)?,
        }
    }
    if outer == 0 {
        let fitted = run(&dataset, &imputer)?;
        let found = fitted.evaluation().ok_or("too little could be hidden")?;
        show(found);
        if let Some(together) = &found.best_of_each {
            show_one("best of each", together, f64::NAN);
        }
        println!("chosen {}", chosen(&fitted, &dataset));
        return Ok(());
    }
    let (mut rows, mut auto) = (Vec::new(), Vec::new());
    for seed in 1..=outer {
        let once = HoldOutOptions {
            rounds: 1,
            seed: 1000 + seed,
            longest: imputer.longest_gap,
            ..imputer.hold_out.clone()
        };
        let held = HoldOut::new(&dataset, &Gaps::find(&dataset), &once)?;
        let fitted = run(&held.visible, &imputer)?;
        println!("chosen {}", chosen(&fitted, &dataset));
        let (methods, chosen) = judge(&fitted, &held)?;
        rows.push(methods);
        auto.push(chosen);
    }
    let auto = Score::pooled(auto);
    println!("on {} values that had no part in the choice:", auto.count);
    let together: Vec<Score> = (0..rows[0].methods.len())
        .map(|m| Score::pooled(rows.iter().map(|row| row.methods[m].all)))
        .collect();
    let linear = rows[0].reference.map_or(f64::NAN, |at| together[at].mse);
    for (method, score) in rows[0].methods.iter().zip(&together) {
        show_one(&method.name, score, linear);
    }
    let best = together.iter().map(|score| score.mse);
    show_one("auto", &auto, best.fold(f64::INFINITY, f64::min));
    Ok(())
}

fn chosen(fitted: &Fitted, dataset: &Dataset) -> String {
    let names = (0..dataset.channels()).map(|channel| fitted.method(channel));
    names.collect::<Vec<_>>().join(", ")
}

/// Hides, trains and compares, telling how it goes.
fn run(dataset: &Dataset, imputer: &Imputer) -> Result<Fitted, Box<dyn Error>> {
    let fitted = imputer.fit(dataset, |event| {
        if let Event::Training { name, progress } = event
            && let Some(scores) = progress.validation
        {
            eprintln!(
                "{name} step {:5} {:6.1} s loss {:.5} validation {:.6} hidden {:.6}",
                progress.step,
                progress.elapsed.as_secs_f64(),
                progress.loss,
                scores.mse_all,
                scores.mse_hidden
            );
        }
        ControlFlow::Continue(())
    })?;
    println!(
        "{} series, {} rows, {} values hidden",
        dataset.len(),
        dataset.series().iter().map(|s| s.len()).sum::<usize>(),
        fitted.hidden()
    );
    Ok(fitted)
}

/// Every method on values that had no part in the choice, and what was chosen.
fn judge(fitted: &Fitted, held: &HoldOut) -> Result<(Evaluation, Score), Box<dyn Error>> {
    let filler = fitted.filler();
    let mut answers = Vec::new();
    for candidate in &filler.candidates {
        let found = held.answers(candidate.as_ref(), &filler.bounds)?;
        answers.push((candidate.name(), found));
    }
    let found = Evaluation::new(held, &answers, &Judging::default());
    let chosen = filler.chosen.iter().enumerate();
    let auto = chosen.map(|(channel, &method)| found.methods[method].channels[channel].score);
    let auto = Score::pooled(auto);
    Ok((found, auto))
}

fn show(found: &Evaluation) {
    let linear = found.reference.map(|at| found.methods[at].all.mse);
    for row in &found.methods {
        show_one(&row.name, &row.all, linear.unwrap_or(f64::NAN));
        for channel in &row.channels {
            println!("    {} {:.6}", channel.column, channel.score.mse);
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
