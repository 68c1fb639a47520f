//! Where results go: files are complete or untouched, closed pipes are forgiven, full devices are not.

mod support;

use std::io::Read;
use std::process::Stdio;
use support::Place;

const JUMP: &str = include_str!("../../../examples/jump.json");
const COMPENSATE: [&str; 4] = ["compensate", "jump.json", "--output", "answer.json"];

/// Far more output than a pipe can hold.
fn long_table() -> (Place, String) {
    let place = Place::with("data.csv", "t,x\n0,1\n1,2\n2,0\n");
    let times: Vec<String> = (0..20_000)
        .map(|step| format!("{}", f64::from(step) / 10_000.0))
        .collect();
    place.put("times.txt", &times.join("\n"));
    (place, times.join(","))
}

#[test]
fn a_pipe_that_is_closed_early_is_not_an_error() {
    let (place, _) = long_table();
    let mut child = place
        .command(&[
            "spline",
            "data.csv",
            "--kind",
            "natural",
            "--at",
            "times.txt",
        ])
        .spawn()
        .expect("starts");
    let mut head = [0; 4];
    child
        .stdout
        .take()
        .expect("piped")
        .read_exact(&mut head)
        .expect("the first bytes come");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(
        (output.status.code(), output.stderr.as_slice(), &head),
        (Some(0), b"".as_slice(), b"t,x\n")
    );
}

#[test]
fn closed_standard_error_does_not_panic() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = place
        .command(&["compensate", "absent.json"])
        .stderr(writer)
        .status()
        .expect("ends");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn an_existing_file_is_replaced_as_a_whole() {
    let place = Place::with("jump.json", JUMP);
    place.put("answer.json", &"old ".repeat(100_000));
    place.run(&COMPENSATE).result();
    let written = std::fs::read_to_string(place.path("answer.json")).expect("written");
    assert_eq!(written, place.run(&["compensate", "jump.json"]).result());
    assert_eq!(place.files(), ["answer.json", "jump.json"]);
}

#[test]
fn an_input_is_not_written_over() {
    let table = "t,x\n0,1\n2,3\n";
    let place = Place::with("data.csv", table);
    let refused = place.run(&[
        "spline", "data.csv", "--kind", "linear", "--at", "0,1,2", "-o", "data.csv",
    ]);
    assert!(
        refused.complaint().contains("a file that is read"),
        "{refused:?}"
    );
    assert_eq!(place.read("data.csv"), table);
}

#[test]
fn bad_input_leaves_the_output_file_as_it_was() {
    let place = Place::with("jump.json", &JUMP[..JUMP.len() / 2]);
    place.run(&COMPENSATE).complaint();
    assert_eq!(place.files(), ["jump.json"]);
    place.put("answer.json", "old");
    place.run(&COMPENSATE).complaint();
    assert_eq!(
        std::fs::read_to_string(place.path("answer.json")).expect("there"),
        "old"
    );
}

#[test]
fn a_missing_directory_is_named_and_not_made() {
    let place = Place::with("jump.json", JUMP);
    let outcome = place.run(&["compensate", "jump.json", "--output", "absent/answer.json"]);
    assert!(
        outcome.complaint().contains("absent/answer.json"),
        "{outcome:?}"
    );
    assert!(
        outcome.complaint().contains("Create its directory first"),
        "{outcome:?}"
    );
    assert_eq!(place.files(), ["jump.json"]);
}

#[test]
fn a_directory_as_output_is_refused_and_stays() {
    let place = Place::with("jump.json", JUMP);
    std::fs::create_dir(place.path("answer.json")).expect("made");
    let outcome = place.run(&COMPENSATE);
    assert!(
        outcome
            .complaint()
            .contains("Give the name of a file inside it"),
        "{outcome:?}"
    );
    assert_eq!(place.files(), ["answer.json", "jump.json"]);
    assert!(place.path("answer.json").is_dir());
}

#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_full_device_as_output_file_is_an_error() {
        let place = Place::with("jump.json", JUMP);
        let outcome = place.run(&["compensate", "jump.json", "--output", "/dev/full"]);
        assert!(
            outcome
                .complaint()
                .contains("cannot write the result to /dev/full"),
            "{outcome:?}"
        );
        assert!(
            outcome.complaint().contains("Free some space"),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_full_device_as_standard_output_is_an_error() {
        let place = Place::with("jump.json", JUMP);
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("the device exists");
        let child = place
            .command(&["compensate", "jump.json"])
            .stdout(full)
            .spawn()
            .expect("starts");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(2));
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output")
        );
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let place = Place::with("jump.json", JUMP);
        let outcome = place.run(&["compensate", "jump.json", "--output", "/dev/stdout"]);
        assert!(outcome.result().starts_with('{'));
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let place = Place::with("jump.json", JUMP);
        place.put("target.json", "old");
        symlink("target.json", place.path("answer.json")).expect("linked");
        place.run(&COMPENSATE).result();
        assert!(place.path("answer.json").is_symlink());
        assert!(
            std::fs::read_to_string(place.path("target.json"))
                .expect("there")
                .starts_with('{')
        );
    }

    #[test]
    fn permissions_are_those_of_the_file_that_was_there_or_of_any_new_file() {
        let place = Place::with("jump.json", JUMP);
        let mode = |name: &str| {
            std::fs::metadata(place.path(name))
                .expect("there")
                .permissions()
                .mode()
                & 0o777
        };
        place.run(&COMPENSATE).result();
        assert_eq!(mode("answer.json"), mode("jump.json"));
        std::fs::set_permissions(place.path("answer.json"), PermissionsExt::from_mode(0o640))
            .expect("set");
        place.run(&COMPENSATE).result();
        assert_eq!(mode("answer.json"), 0o640);
    }

    #[test]
    fn a_write_protected_file_is_not_replaced() {
        let place = Place::with("jump.json", JUMP);
        place.put("answer.json", "old");
        std::fs::set_permissions(place.path("answer.json"), PermissionsExt::from_mode(0o444))
            .expect("set");
        let outcome = place.run(&COMPENSATE);
        assert!(
            outcome
                .complaint()
                .contains("Check that you may write there"),
            "{outcome:?}"
        );
        assert_eq!(
            std::fs::read_to_string(place.path("answer.json")).expect("there"),
            "old"
        );
    }
}

#[test]
fn a_dash_as_output_is_standard_output() {
    let place = Place::with("jump.json", JUMP);
    let outcome = place.run(&["compensate", "jump.json", "--output", "-"]);
    assert!(outcome.result().starts_with('{'));
    assert_eq!(place.files(), ["jump.json"]);
}

#[test]
fn every_command_has_help_with_an_example() {
    let place = Place::new();
    for command in ["compensate", "spline"] {
        let outcome = place.run(&[command, "--help"]);
        assert!(
            outcome
                .result()
                .contains(&format!("Example:\n  cssc {command} ")),
            "{outcome:?}"
        );
    }
}

#[test]
fn the_defaults_in_the_help_are_those_of_the_library() {
    let help = Place::new().run(&["compensate", "--help"]);
    let default = cssc::CompensationOptions::default();
    assert_eq!(default.end_rule, cssc::EndRule::Output);
    assert!(
        help.result().contains("curvature at its ends (default);"),
        "{help:?}"
    );
    let limit = default.max_fold.expect("a limit");
    assert!(
        help.result()
            .contains(&format!("null for no limit [default: {limit}]")),
        "{help:?}"
    );
}

#[test]
fn an_unknown_command_could_not_run() {
    let outcome = Place::new()
        .command(&["interpolat"])
        .stdin(Stdio::null())
        .output()
        .expect("ends");
    assert_eq!(outcome.status.code(), Some(2));
}
