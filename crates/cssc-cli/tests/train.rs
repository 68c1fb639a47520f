//! Trainings of the real binary: models that are written, stopped, resumed and applied.

mod support;

use cssc::data::npz;
use std::io::{BufRead, BufReader};
use std::path::Path;
use support::Place;

/// Sines of different speed, 25 rows each, with some cells missing.
fn waves() -> String {
    let mut table = String::from("id,time,x\n");
    for series in 0..24 {
        for row in 0..25 {
            let t = 0.2 * f64::from(row) + 0.01 * f64::from(series);
            let x = ((1.0 + 0.03 * f64::from(series)) * t).sin();
            let cell = if (row + series) % 9 == 4 {
                String::new()
            } else {
                x.to_string()
            };
            table += &format!("s{series},{t},{cell}\n");
        }
    }
    table
}

const SMALL: [&str; 8] = [
    "--set",
    "model.dynamics=[12]",
    "--set",
    "model.decoder=[12]",
    "--set",
    "model.cell=8",
    "--set",
    "model.hidden=6",
];

fn train<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["train", "waves.csv", "--seed", "3"];
    arguments.extend_from_slice(&SMALL);
    arguments.extend_from_slice(more);
    arguments
}

/// Hours of 20 days with a wave of a day, and every fifth value missing.
fn hours() -> String {
    let mut text = "time,x\n".to_owned();
    for k in 0..480 {
        let x = 20.0 + (std::f64::consts::TAU * f64::from(k) / 24.0).sin();
        let cell = match k % 5 {
            0 => String::new(),
            _ => x.to_string(),
        };
        text += &format!("2024-03-{:02} {:02}:00,{cell}\n", 1 + k / 24, k % 24);
    }
    text
}

#[test]
fn latent_cssc_learns_what_the_calendar_leaves_and_others_do_where_they_are_told_to() {
    let place = Place::with("hours.csv", &hours());
    let waves = |more: &[&str]| {
        let mut all = vec!["train", "hours.csv", "-o", "m.cssc", "--steps", "2"];
        all.extend_from_slice(more);
        let trained = place.run(&all);
        assert_eq!(trained.code, Some(0), "{}", trained.stderr);
        let told = place.run(&["info", "m.cssc"]).stdout;
        let line = told
            .lines()
            .find(|line| line.contains("waves of the season"));
        line.map(|line| {
            line.split_whitespace()
                .last()
                .unwrap_or_default()
                .to_owned()
        })
    };
    // A day of hours has six waves of at least four rows, a week twelve, of which one is the day.
    assert_eq!(waves(&["--method", "latent-cssc"]).as_deref(), Some("17"));
    let day = ["--method", "latent-cssc", "--period", "24h"];
    assert_eq!(waves(&day).as_deref(), Some("6"));
    assert_eq!(waves(&SMALL), None);
    let mut told = SMALL.to_vec();
    told.extend(["--set", "windows.season=true"]);
    assert_eq!(waves(&told).as_deref(), Some("17"));
    let not = ["--method", "latent-cssc", "--set", "windows.season=false"];
    assert_eq!(waves(&not), None);
}

#[test]
fn a_model_is_trained_described_judged_and_applied() {
    let place = Place::with("waves.csv", &waves());
    let trained = place.run(&train(&["-o", "waves.cssc", "--steps", "40"]));
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    assert!(
        trained.stderr.contains("waves.cssc written"),
        "{}",
        trained.stderr
    );
    assert_eq!(
        place.files(),
        ["waves.cssc", "waves.csv"],
        "no checkpoint is left"
    );

    let told = place.run(&["info", "waves.cssc", "--json"]);
    let about: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(about["summary"]["steps"], 40);
    assert_eq!(about["training"]["seed"], 3);
    assert_eq!(about["model"]["hidden"], 6);

    let judged = place.run(&[
        "evaluate",
        "waves.csv",
        "--model",
        "waves.cssc",
        "--method",
        "linear",
        "--output-format",
        "json",
    ]);
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    let scores: serde_json::Value = serde_json::from_str(&judged.stdout).expect("JSON");
    assert_eq!(scores["methods"].as_array().map(Vec::len), Some(2));
    assert!(
        scores["methods"][1]["all"]["mse"]
            .as_f64()
            .is_some_and(|mse| mse < 1.0)
    );

    let applied = place.run(&[
        "interpolate",
        "waves.cssc",
        "waves.csv",
        "-o",
        "dense.csv",
        "--every",
        "0.1",
        "--bands",
        "0.8",
        "--export",
        "o,c,slopes,curvatures",
        "--export-to",
        "parts.npz",
    ]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    let dense = place.read("dense.csv");
    check_export(&place.path("parts.npz"), &dense);
    assert!(dense.starts_with("id,time,x,x_lower,x_upper\n"));
    assert!(dense.lines().count() > 24 * 40);
    // Every known value is still there, text for text.
    for line in waves().lines().filter(|line| !line.ends_with(',')).skip(1) {
        assert!(dense.contains(&format!("{line},,\n")), "{line}");
    }
}

/// One row of the export for each row of the table; its parts add up and are derivatives of each other.
fn check_export(path: &Path, table: &str) {
    let arrays = npz::read(path).expect("an archive");
    let part = |name| {
        let array = npz::find(&arrays, name, path).expect("exported");
        array.floats().expect("numbers")
    };
    let [series, times, values] = ["series", "times", "values"].map(part);
    let [o, c, slopes, curvatures] = ["o", "c", "slopes", "curvatures"].map(part);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|l| l.split(',').collect())
        .collect();
    assert_eq!(rows.len(), times.len());
    let mut compared = 0;
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row[0], format!("s{}", series[k]));
        assert_eq!(row[1].parse(), Ok(times[k]));
        if values[k].is_nan() {
            assert_eq!(row[2], "", "outside the observations nothing is known");
            continue;
        }
        assert!((values[k] - o[k] - c[k]).abs() < 1e-12);
        if let Ok(value) = row[2].parse::<f64>() {
            assert!((values[k] - value).abs() < 1e-6, "{row:?}: {}", values[k]);
        }
        if k == 0 || series[k] != series[k - 1] || values[k - 1].is_nan() {
            continue;
        }
        // The trapezoidal rule with its correction; a walk of few Euler steps is no smooth one.
        let h = times[k] - times[k - 1];
        let rise = 0.5 * h * (slopes[k] + slopes[k - 1])
            - h * h / 12.0 * (curvatures[k] - curvatures[k - 1]);
        let off = values[k] - values[k - 1] - rise;
        assert!(off.abs() < 1e-3, "{row:?}: {off} after {h}");
        compared += 1;
    }
    assert!(compared > 24 * 40);
}

/// Ctrl-C in the middle, then --resume: the same model, byte for byte.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_at_a_checkpoint_and_resume_ends_like_an_uninterrupted_run() {
    let place = Place::with("waves.csv", &waves());
    let whole = place.run(&train(&["-o", "whole.cssc", "--steps", "400", "--quiet"]));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);

    let mut child = place
        .command(&train(&["-o", "parts.cssc", "--steps", "400", "--json"]))
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let began = lines
        .by_ref()
        .map(|line| line.expect("text"))
        .find(|line| line.contains("\"step\""));
    assert!(began.is_some());
    interrupt(&child);
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{rest:?}");
    assert!(
        rest.iter().any(|line| line.contains("--resume")),
        "{rest:?}"
    );
    assert_eq!(
        place.files(),
        ["parts.cssc.checkpoint", "waves.csv", "whole.cssc"]
    );

    let resume = ["-o", "parts.cssc", "--steps", "400", "--resume"];
    let other = ["--set", "training.rate=0.5"];
    let changed = place.run(&train(&[&resume[..], &other].concat()));
    assert_eq!(changed.code, Some(2), "{}", changed.stderr);
    let words = "was made with training.rate = 0.006, and now it is 0.5";
    assert!(changed.stderr.contains(words), "{}", changed.stderr);

    let resumed = place.run(&train(&resume));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("going on from step"),
        "{}",
        resumed.stderr
    );
    let bytes = |name: &str| std::fs::read(place.path(name)).expect("written");
    assert!(bytes("whole.cssc") == bytes("parts.cssc"), "bit for bit");
}

/// A step of this model takes many seconds, so that both signals fall into the first one.
#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let place = Place::with("waves.csv", &waves());
    let mut child = place
        .command(&[
            "train",
            "waves.csv",
            "-o",
            "model.cssc",
            "--set",
            "model.dynamics=[3000,3000,3000]",
            "--set",
            "model.step=0.01",
        ])
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    for awaited in ["windows to train on", "press Ctrl-C again"] {
        let said = lines.by_ref().map(|line| line.expect("text"));
        assert!(said.into_iter().any(|line| line.contains(awaited)));
        interrupt(&child);
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(place.files(), ["waves.csv"]);
}

#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill runs");
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = Place::with("waves.csv", &waves());
    let refused = |arguments: &[&str], words: &str| {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    };
    refused(&train(&["-o", "m.cssc", "--resume"]), "no checkpoint");
    refused(
        &train(&["-o", "m.cssc", "--set", "training.speed=1"]),
        "speed",
    );
    refused(
        &train(&["-o", "m.cssc", "--set", "training.rate=-1"]),
        "`rate` is -1",
    );
    refused(&["train", "waves.csv", "-o", "."], "is a directory");
    refused(&["info", "waves.csv"], "waves.csv");
    refused(
        &["interpolate", "waves.csv", "waves.csv", "-o", "out.csv"],
        "waves.csv",
    );
    refused(
        &["evaluate", "waves.csv", "--method", "cssc"],
        "needs a trained model",
    );
    assert_eq!(place.files(), ["waves.csv"]);
    place.run(&train(&["-o", "m.cssc", "--steps", "2"]));
    place.put("other.csv", "time,y\n0,1\n1,2\n2,3\n");
    refused(
        &["interpolate", "m.cssc", "other.csv", "-o", "out.csv"],
        "trained on the columns x",
    );
    // A model that was altered is noticed.
    let mut bytes = std::fs::read(place.path("m.cssc")).expect("written");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(place.path("m.cssc"), bytes).expect("writable");
    refused(&["info", "m.cssc"], "m.cssc");
}

#[test]
fn manual_pages_and_completions_come_from_the_flags() {
    let place = Place::new();
    let written = place.run(&["manual", "man"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let page =
        std::fs::read_to_string(place.path("man/cssc-fill.1")).expect("a page for each command");
    assert!(page.contains("max\\-gap"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        let printed = place.run(&["completions", shell]);
        assert!(printed.result().contains("max-gap"), "{shell}");
    }
}

/// The waves are sin(w t) with w below 2, so |x⁗| is at most 16; the ends of the first are known exactly.
#[test]
fn evaluate_tells_how_far_a_curve_can_be_from_a_known_truth() {
    let place = Place::with("waves.csv", &waves());
    let settings = [
        "-o",
        "waves.cssc",
        "--steps",
        "30",
        "--set",
        "model.two-sided=false",
    ];
    let trained = place.run(&train(&settings));
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let first: String = waves()
        .lines()
        .filter(|line| line.starts_with("id") || line.starts_with("s0,") && !line.ends_with(','))
        .map(|line| format!("{line}\n"))
        .collect();
    place.put("first.csv", &first);
    let end = -4.8_f64.sin();
    let bound = format!("16,0,{end}");
    let told = place.run(&[
        "evaluate",
        "first.csv",
        "--model",
        "waves.cssc",
        "--bound",
        &bound,
    ]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    let line = told.stdout.lines().last().unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[..4], ["waves.cssc", "s0", "x", "0.4"], "{line}");
    let allowed: f64 = cells[5].parse().unwrap();

    let dense = place.run(&[
        "interpolate",
        "waves.cssc",
        "first.csv",
        "-o",
        "dense.csv",
        "--every",
        "0.02",
    ]);
    assert_eq!(dense.code, Some(0), "{}", dense.stderr);
    let error = place
        .read("dense.csv")
        .lines()
        .skip(1)
        .fold(0.0, |most: f64, line| {
            let cells: Vec<&str> = line.split(',').collect();
            let [t, x] = [1, 2].map(|i| cells[i].parse::<f64>().unwrap());
            most.max((x - t.sin()).abs())
        });
    assert!(
        error > 0.0 && error <= allowed,
        "{error} of {allowed} allowed"
    );

    let wrong = place.run(&[
        "evaluate",
        "first.csv",
        "--model",
        "waves.cssc",
        "--bound",
        "16",
    ]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("give three numbers"),
        "{}",
        wrong.stderr
    );
}
