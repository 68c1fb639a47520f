//! Files keep their mode, their owner and their links; pipes are read like files; nothing is left behind.
#![cfg(unix)]

mod support;

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;
use support::Place;

const TABLE: &str = "time,x\n0,1\n1,\n2,3\n";
const FILLED: &str = "time,x\n0,1\n1,2\n2,3\n";

fn fill(place: &Place, input: &str, output: &str) -> support::Outcome {
    place.run(&["fill", input, "-o", output, "--method", "linear", "--quiet"])
}

fn mode(place: &Place, name: &str) -> u32 {
    std::fs::metadata(place.path(name)).expect("there").mode() & 0o7777
}

fn set_mode(place: &Place, name: &str, mode: u32) {
    std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(mode)).expect("set");
}

#[test]
fn tables_pictures_reports_and_models_keep_the_mode_of_what_they_replace() {
    let place = Place::with("in.csv", TABLE);
    for name in ["out.csv", "out.svg", "out.html"] {
        place.put(name, "old");
        set_mode(&place, name, 0o600);
    }
    let outcome = place.run(&[
        "fill", "in.csv", "-o", "out.csv", "--plot", "out.svg", "--report", "out.html", "--method",
        "linear", "--quiet",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for name in ["out.csv", "out.svg", "out.html"] {
        assert_eq!(mode(&place, name), 0o600, "{name}");
        assert_ne!(place.read(name), "old", "{name}");
    }
}

#[test]
fn a_link_to_a_table_stays_a_link() {
    let place = Place::with("in.csv", TABLE);
    place.put("target.csv", "old");
    symlink("target.csv", place.path("out.csv")).expect("linked");
    assert_eq!(fill(&place, "in.csv", "out.csv").code, Some(0));
    assert!(place.path("out.csv").is_symlink());
    assert_eq!(place.read("target.csv"), FILLED);
    symlink("new.csv", place.path("dangling.csv")).expect("linked");
    assert_eq!(fill(&place, "in.csv", "dangling.csv").code, Some(0));
    assert!(place.path("dangling.csv").is_symlink());
    assert_eq!(place.read("new.csv"), FILLED);
}

#[test]
fn a_write_protected_table_is_not_overwritten() {
    let place = Place::with("in.csv", TABLE);
    place.put("out.csv", "old");
    set_mode(&place, "out.csv", 0o444);
    let outcome = fill(&place, "in.csv", "out.csv");
    assert!(
        outcome.complaint().contains("write-protected"),
        "{outcome:?}"
    );
    assert_eq!(place.read("out.csv"), "old");
}

#[test]
fn what_a_killed_run_left_behind_is_removed_by_the_next() {
    let place = Place::with("in.csv", TABLE);
    place.put(".cssc-a1b2c3.tmp", "half a table");
    place.put(".cssc-mine", "not a temporary file");
    assert_eq!(fill(&place, "in.csv", "out.csv").code, Some(0));
    assert_eq!(place.files(), [".cssc-mine", "in.csv", "out.csv"]);
}

#[test]
fn standard_input_by_its_other_names_is_read_like_a_dash() {
    let place = Place::new();
    for name in ["-", "/dev/stdin", "/dev/fd/0"] {
        let arguments = ["fill", name, "-o", "-", "--method", "linear", "--quiet"];
        let outcome = place.run_with_input(&arguments, TABLE);
        assert_eq!(
            (outcome.code, outcome.stdout.as_str()),
            (Some(0), FILLED),
            "{name}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_named_pipe_is_read_once_and_written_directly() {
    let place = Place::new();
    for name in ["in.pipe", "out.pipe"] {
        let made = std::process::Command::new("mkfifo")
            .arg(place.path(name))
            .status();
        assert!(made.expect("mkfifo is there").success());
    }
    let input = place.path("in.pipe");
    let writer = std::thread::spawn(move || {
        std::fs::OpenOptions::new()
            .write(true)
            .open(input)
            .expect("opened")
            .write_all(TABLE.as_bytes())
    });
    let output = place.path("out.pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(output));
    let mut child = place.command(&[
        "fill", "in.pipe", "-o", "out.pipe", "--format", "csv", "--method", "linear", "--quiet",
    ]);
    let outcome = child.stdin(Stdio::null()).output().expect("it ends");
    assert_eq!(
        outcome.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&outcome.stderr)
    );
    writer.join().expect("no panic").expect("written");
    assert_eq!(reader.join().expect("no panic").expect("read"), FILLED);
}
