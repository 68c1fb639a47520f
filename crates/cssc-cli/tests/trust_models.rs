//! Models and checkpoints that are whole but make no sense, and models for other times than those of the data: an
//! error in a sentence, never a panic, never gigabytes, never numbers that mean nothing.

#[path = "support/container.rs"]
mod container;
mod support;

use container::{Container, nonsense, pointers};
use serde_json::{Value, json};
use support::{Outcome, Place};

/// Rows `step` apart with some cells missing; `time` writes a time.
fn table(rows: u32, time: impl Fn(u32) -> String) -> String {
    let mut table = String::from("time,x,y\n");
    for row in 0..rows {
        let t = 0.2 * f64::from(row);
        let x = if row % 11 == 5 {
            String::new()
        } else {
            t.sin().to_string()
        };
        table += &format!("{},{x},{}\n", time(row), (0.7 * t).cos());
    }
    table
}

fn numbers(rows: u32) -> String {
    table(rows, |row| row.to_string())
}

/// Dates `seconds` apart.
fn dates(rows: u32, seconds: u32) -> String {
    table(rows, |row| {
        let (minutes, second) = (row * seconds / 60, row * seconds % 60);
        let (hours, minute) = (minutes / 60, minutes % 60);
        format!(
            "2024-01-{:02} {:02}:{minute:02}:{second:02}",
            1 + hours / 24,
            hours % 24
        )
    })
}

const SMALL: [&str; 12] = [
    "--set",
    "windows.rows=16",
    "--set",
    "windows.stride=8",
    "--set",
    "model.dynamics=[6]",
    "--set",
    "model.decoder=[6]",
    "--set",
    "model.cell=4",
    "--set",
    "model.hidden=3",
];

/// A place with `data.csv` and a model `m.cssc` trained on it.
fn trained(table: &str, more: &[&str]) -> Place {
    let place = Place::with("data.csv", table);
    let train = [
        "train", "data.csv", "-o", "m.cssc", "--steps", "2", "--quiet",
    ];
    let outcome = place.run(&[&train[..], more].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    place
}

fn interpolate(place: &Place, data: &str) -> Outcome {
    place.run(&["interpolate", "m.cssc", data, "-o", "out.csv"])
}

/// Refused in one sentence that names the file, or done with finite numbers.
fn survives(place: &Place, what: &str) -> Outcome {
    let outcome = place.run(&[
        "interpolate",
        "m.cssc",
        "data.csv",
        "-o",
        "out.csv",
        "--quiet",
    ]);
    match outcome.code {
        Some(0) => {
            let text = place.read("out.csv");
            assert!(
                !text.contains("inf") && !text.contains("NaN"),
                "{what}: {text}"
            );
        }
        Some(2) => assert!(outcome.complaint().len() < 600, "{what}: {outcome:?}"),
        _ => panic!("{what}: {outcome:?}"),
    }
    outcome
}

/// Every number and every list of the head of a model replaced with nonsense, under a right checksum.
fn survives_nonsense(method: &str, more: &[&str]) {
    let place = trained(&numbers(60), &[&["--method", method], more].concat());
    let bytes = std::fs::read(place.path("m.cssc")).expect("a model");
    let good = Container::parse(&bytes);
    std::fs::write(place.path("m.cssc"), good.file()).expect("written");
    assert_eq!(
        survives(&place, "unchanged").code,
        Some(0),
        "the checksum is right"
    );
    let about = good.about();
    for pointer in pointers(&about) {
        for value in nonsense(about.pointer(&pointer).expect("there")) {
            let mut changed = about.clone();
            *changed.pointer_mut(&pointer).expect("there") = value.clone();
            let mut container = good.clone();
            container.set_about(&changed);
            std::fs::write(place.path("m.cssc"), container.file()).expect("written");
            survives(&place, &format!("{method}: {pointer} = {value}"));
        }
    }
}

#[test]
fn a_cssc_model_with_nonsense_inside_is_refused_or_harmless() {
    survives_nonsense("cssc", &SMALL);
}

#[test]
fn other_models_with_nonsense_inside_are_refused_or_harmless() {
    let windows = ["--set", "windows.rows=16", "--set", "windows.stride=8"];
    survives_nonsense("latent-cssc", &windows);
}

/// A model with one entry of its head changed.
fn with(place: &Place, good: &Container, pointer: &str, value: Value) -> Outcome {
    let mut about = good.about();
    *about.pointer_mut(pointer).expect("there") = value;
    let mut container = good.clone();
    container.set_about(&about);
    std::fs::write(place.path("m.cssc"), container.file()).expect("written");
    survives(place, pointer)
}

#[test]
fn what_makes_no_sense_is_named() {
    let place = trained(&numbers(60), &SMALL);
    let good = Container::parse(&std::fs::read(place.path("m.cssc")).expect("a model"));
    for (pointer, value, words) in [
        ("/scaler/scales", json!([1.0]), "2 offsets but 1 scales"),
        ("/scaler/scales", json!([1.0, 0.0]), "a scale is 0"),
        ("/scaler/scales", json!([1.0, 1e300]), "a scale is 1"),
        ("/scaler/offsets", json!([0.0, 1e300]), "an offset is 1"),
        ("/scaler/time_unit", json!(0.0), "a unit between"),
        ("/scaler/time_unit", json!(-1.0), "a unit between"),
        ("/model/step", json!(1e-300), "`step` is"),
        ("/model/step", json!(1e-8), "steps of the model's length"),
        (
            "/model/hidden",
            json!(1_000_000),
            "a model of its settings has",
        ),
        (
            "/model/dynamics",
            json!([1_000_000, 1_000_000]),
            "a model of its settings has",
        ),
        ("/model/channels", json!(3), "its settings say 3"),
        ("/channel-names", json!(["x"]), "it names 1 channels"),
        ("/times/typical-step", json!(0.0), "typical step"),
    ] {
        let outcome = with(&place, &good, pointer, value);
        assert!(
            outcome.complaint().contains(words),
            "{pointer}: {outcome:?}"
        );
    }
    let mut infinite = good.clone();
    infinite.numbers_mut()[..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    std::fs::write(place.path("m.cssc"), infinite.file()).expect("written");
    assert!(
        survives(&place, "infinite")
            .complaint()
            .contains("not finite")
    );
}

#[test]
fn a_checkpoint_with_nonsense_inside_is_refused_or_harmless() {
    let place = Place::with("data.csv", &numbers(60));
    let train = |more: &[&str]| {
        let begin = [
            "train", "data.csv", "-o", "m.cssc", "--quiet", "--seed", "1",
        ];
        place.run(&[&begin[..], &SMALL, more].concat())
    };
    let bytes = checkpoint_of(&place);
    let good = Container::parse(&bytes);
    let about = good.about();
    for pointer in pointers(&about) {
        // Three of the ways for a number, all for a list: each run trains a little.
        let all = nonsense(about.pointer(&pointer).expect("there"));
        for value in all
            .into_iter()
            .step_by(if pointer.contains("training") { 3 } else { 2 })
        {
            let mut changed = about.clone();
            *changed.pointer_mut(&pointer).expect("there") = value.clone();
            let mut container = good.clone();
            container.set_about(&changed);
            std::fs::write(place.path("m.cssc.checkpoint"), container.file()).expect("written");
            let outcome = train(&["--steps", "4", "--resume"]);
            let fine = matches!(outcome.code, Some(0))
                || outcome.code == Some(2) && outcome.complaint().len() < 600;
            assert!(fine, "{pointer} = {value}: {outcome:?}");
        }
    }
}

/// Stops a training at a checkpoint, by a time that is over at once.
fn checkpoint_of(place: &Place) -> Vec<u8> {
    use std::io::BufRead;
    let begin = ["train", "data.csv", "-o", "m.cssc", "--json", "--seed", "1"];
    let long = ["--steps", "1000000", "--checkpoint-every", "0.001s"];
    let mut child = place
        .command(&[&begin[..], &SMALL, &long].concat())
        .spawn()
        .expect("the binary starts");
    let lines = std::io::BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut seen = lines
        .map_while(Result::ok)
        .filter(|line| line.contains("\"step\""));
    while seen.next().is_some() && !place.path("m.cssc.checkpoint").exists() {}
    child.kill().expect("it can be stopped");
    child.wait().expect("it ends");
    std::fs::read(place.path("m.cssc.checkpoint")).expect("a checkpoint")
}

#[test]
fn a_model_of_numbers_is_not_applied_to_dates() {
    let place = trained(&numbers(60), &SMALL);
    place.put("dates.csv", &dates(60, 3600));
    for arguments in [
        &["interpolate", "m.cssc", "dates.csv", "-o", "out.csv"][..],
        &["evaluate", "dates.csv", "--model", "m.cssc"],
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let words = "trained on times that are plain numbers, and the times of the data are dates";
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    assert!(!place.path("out.csv").exists());
}

#[test]
fn dates_in_another_unit_are_the_same_dates() {
    let place = trained(&dates(60, 3600), &SMALL);
    let start = 1_704_067_200_000_u64;
    place.put(
        "epoch.csv",
        &table(60, |row| (start + u64::from(row) * 3_600_000).to_string()),
    );
    let text = interpolate(&place, "data.csv");
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    assert!(!text.stderr.contains("further apart"), "{}", text.stderr);
    let values = |table: &str| -> Vec<String> {
        let cells = table
            .lines()
            .map(|line| line.split_once(',').expect("cells").1);
        cells.map(str::to_owned).collect()
    };
    let from_dates = values(&place.read("out.csv"));
    let epoch = interpolate(&place, "epoch.csv");
    assert_eq!(epoch.code, Some(0), "{}", epoch.stderr);
    assert_eq!(values(&place.read("out.csv")), from_dates);
}

#[test]
fn rows_much_further_apart_than_in_training_are_told() {
    let place = trained(&dates(60, 60), &SMALL);
    place.put("hours.csv", &dates(60, 3600));
    for arguments in [
        &["interpolate", "m.cssc", "hours.csv", "-o", "out.csv"][..],
        &["evaluate", "hours.csv", "--model", "m.cssc"],
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let words =
            "60 times further apart than those the model was trained on (3600 s instead of 60 s)";
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}

/// Models from before this was kept say nothing of times; memory is bounded all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_model_that_does_not_tell_its_times_takes_no_gigabytes() {
    let place = trained(&numbers(200), &[]);
    let mut old = Container::parse(&std::fs::read(place.path("m.cssc")).expect("a model"));
    let mut about = old.about();
    about.as_object_mut().expect("an object").remove("times");
    old.set_about(&about);
    std::fs::write(place.path("m.cssc"), old.file()).expect("written");
    assert_eq!(
        interpolate(&place, "data.csv").code,
        Some(0),
        "old files load"
    );
    place.put("dates.csv", &dates(600, 3600));
    let limited = format!(
        "ulimit -v 3000000; exec {} interpolate m.cssc dates.csv -o out.csv",
        support::program().to_string_lossy()
    );
    let outcome = std::process::Command::new("bash")
        .args(["-c", &limited])
        .current_dir(place.path("."))
        .output()
        .expect("bash is there");
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(2), "{said}");
    assert!(said.contains("steps of the model's length"), "{said}");
}
