//! Where results go: pipes and devices as well as files, never over an input, no bytes to a terminal; and a word now and
//! then from whatever takes long.
#![cfg(unix)]

mod support;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::Place;

fn waves() -> Place {
    let rows: String = (0..400)
        .map(|k| format!("{k},{}\n", f64::from(k).sin()))
        .collect();
    Place::with("in.csv", &format!("t,x\n{rows}"))
}

const TRAIN: [&str; 10] = [
    "train",
    "in.csv",
    "--steps",
    "2",
    "--quiet",
    "--set",
    "model.dynamics=[6]",
    "--set",
    "model.decoder=[6]",
    "-o",
];

#[test]
fn a_model_goes_to_standard_output_a_pipe_or_a_device_as_a_table_does() {
    let place = waves();
    assert_eq!(place.run(&[&TRAIN[..], &["m.cssc"]].concat()).code, Some(0));
    let model = std::fs::read(place.path("m.cssc")).expect("written");
    let output = place
        .command(&[&TRAIN[..], &["-"]].concat())
        .output()
        .expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout == model, "the same bytes");
    assert_eq!(
        place.run(&[&TRAIN[..], &["/dev/null"]].concat()).code,
        Some(0)
    );
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    let pipe = place.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read(pipe));
    assert_eq!(place.run(&[&TRAIN[..], &["pipe"]].concat()).code, Some(0));
    assert!(reader.join().expect("no panic").expect("read") == model);
    assert_eq!(
        place.files(),
        ["in.csv", "m.cssc", "pipe"],
        "no checkpoint beside a pipe"
    );
    let outcome = place.run(&[&TRAIN[..], &["-", "--resume"]].concat());
    assert!(
        outcome.complaint().contains("--resume needs a checkpoint"),
        "{outcome:?}"
    );
}

#[test]
fn splines_and_compensations_are_not_written_over_what_they_are_made_of() {
    let place = waves();
    let before = place.read("in.csv");
    let spline = ["spline", "in.csv", "--kind", "natural", "--at", "1.5"];
    let outcome = place.run(&[&spline[..], &["-o", "./in.csv"]].concat());
    assert!(
        outcome.complaint().contains("would write over"),
        "{outcome:?}"
    );
    assert_eq!(place.read("in.csv"), before);
    place.put("at.txt", "1.5\n");
    let outcome = place.run(&[
        "spline", "in.csv", "--kind", "natural", "--at", "at.txt", "-o", "at.txt",
    ]);
    assert!(
        outcome.complaint().contains("would write over"),
        "{outcome:?}"
    );
    place.put("jump.json", include_str!("corpus/json/two-knots.json"));
    let outcome = place.run(&["compensate", "jump.json", "-o", "jump.json"]);
    assert!(
        outcome.complaint().contains("would write over"),
        "{outcome:?}"
    );
    assert_eq!(
        place
            .run(&["compensate", "jump.json", "-o", "out.json"])
            .code,
        Some(0)
    );
}

/// Runs the command with a terminal as its standard output, made by Python.
fn on_a_terminal(place: &Place, arguments: &[&str]) -> Option<(i32, String)> {
    let script = "import os, pty, sys\n\
                  code = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:]))\n\
                  sys.exit(code)";
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(support::program())
        .args(arguments)
        .current_dir(place.path("."))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some((
        output.status.code()?,
        String::from_utf8_lossy(&output.stdout).into_owned(),
    ))
}

#[test]
fn no_bytes_that_are_not_text_reach_a_terminal() {
    if Command::new("python3").arg("--version").output().is_err() {
        return; // there is no other terminal at hand
    }
    let place = waves();
    let fill = ["fill", "in.csv", "--method", "linear", "--quiet", "-o"];
    assert_eq!(
        place.run(&[&fill[..], &["in.parquet"]].concat()).code,
        Some(0)
    );
    let run = |arguments: &[&str]| on_a_terminal(&place, arguments).expect("Python runs it");
    let (code, said) = run(&[
        "fill",
        "in.parquet",
        "--method",
        "linear",
        "--quiet",
        "-o",
        "-",
    ]);
    assert!(
        code == 2 && said.contains("which a terminal cannot show"),
        "{code}: {said}"
    );
    let (code, said) = run(&[&TRAIN[..], &["-"]].concat());
    assert!(
        code == 2 && said.contains("which a terminal cannot show"),
        "{code}: {said}"
    );
    let (code, said) = run(&[&fill[..], &["-"]].concat());
    assert!(
        code == 0 && said.contains("t,x"),
        "text is welcome: {code}: {said}"
    );
}

/// Standard input that is silent for three seconds.
#[test]
fn reading_that_takes_long_says_so() {
    let place = waves();
    let mut child = place
        .command(&["fill", "-", "--method", "linear", "-o", "out.csv"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut input = child.stdin.take().expect("piped");
    std::thread::sleep(Duration::from_secs(3));
    input
        .write_all(place.read("in.csv").as_bytes())
        .expect("it still reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("reading the table, 2 s so far"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
}
