//! What a command may never do: lose a file, fill what it should not, go on when it is told to stop, or say what is
//! not so.

mod support;

use std::io::{BufRead, BufReader};
use support::{Outcome, Place};

const SMALL: &str = "time,a,b\n0,0.5,10\n1,,11\n2,2.5,\n3,3.5,13\n4,,\n5,5.5,15\n";

fn refused(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
}

/// The second column of a table.
fn column(table: &str) -> Vec<&str> {
    let cells = table.lines().skip(1).map(|line| line.split(',').nth(1));
    cells.map(Option::unwrap_or_default).collect()
}

#[test]
fn a_gap_of_two_hours_is_not_shorter_than_one_second_less() {
    let place = Place::with("in.csv", "t,x\n0,1.5\n3600,\n7200,2.5\n");
    let fill = |longest: &str| {
        let arguments = ["fill", "in.csv", "--method", "linear", "-o", "-", "-q"];
        let outcome = place.run(&[&arguments[..], &["--max-gap", longest]].concat());
        column(&outcome.stdout)[1].to_owned()
    };
    assert_eq!(fill("7200"), "2");
    assert_eq!(fill("7199"), "");
}

#[test]
fn the_outside_obeys_the_longest_gap_too() {
    let place = Place::with("in.csv", "t,x\n0,\n1,1.5\n2,2.5\n3,\n4,\n5,\n");
    let fill = |longest: &str| {
        let arguments = ["fill", "in.csv", "--method", "linear", "-o", "-", "-q"];
        let more = ["--extrapolate", "--max-gap", longest];
        let outcome = place.run(&[&arguments[..], &more].concat());
        column(&outcome.stdout).join(" ")
    };
    assert_eq!(fill("1"), "1.5 1.5 2.5   ");
    assert_eq!(fill("3"), "1.5 1.5 2.5 2.5 2.5 2.5");
}

#[test]
fn bounds_that_leave_nothing_are_refused() {
    let place = Place::with("in.csv", SMALL);
    let outcome = place.run(&[
        "fill", "in.csv", "-o", "out.csv", "--min", "5", "--max", "1",
    ]);
    refused(&outcome, "above the largest");
    let outcome = place.run(&[
        "fill", "in.csv", "-o", "out.csv", "--min", "5", "--max", "b=1",
    ]);
    refused(&outcome, "`b`, 5, is above the largest, 1");
    assert_eq!(place.files(), ["in.csv"]);
}

#[test]
fn nothing_is_written_over_an_input_by_accident() {
    let place = Place::with("in.csv", SMALL);
    let over = |flag: &str, name: &str| {
        let mut arguments = vec!["fill", "in.csv", "--method", "linear", flag, name];
        if flag != "-o" {
            arguments.extend(["-o", "out.csv"]);
        }
        place.run(&arguments)
    };
    refused(&over("-o", "in.csv"), "--in-place");
    refused(&over("-o", "./in.csv"), "--in-place");
    refused(&over("--save-model", "in.csv"), "would write over");
    place.put("page.html", SMALL);
    let outcome = place.run(&["fill", "page.html", "--report", "page.html"]);
    refused(&outcome, "would write over");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path("in.csv"), place.path("link.csv")).expect("a link");
        std::fs::hard_link(place.path("in.csv"), place.path("hard.csv")).expect("a link");
        refused(&over("-o", "link.csv"), "--in-place");
        refused(&over("-o", "hard.csv"), "--in-place");
    }
    let outcome = place.run(&["train", "in.csv", "-o", "in.csv"]);
    refused(&outcome, "would write over");
    assert_eq!(place.read("in.csv"), SMALL);
}

#[test]
fn in_place_is_the_same_as_a_copy() {
    let place = Place::with("in.csv", SMALL);
    let fill = ["fill", "in.csv", "--method", "linear"];
    let copy = place.run(&[&fill[..], &["-o", "copy.csv"]].concat());
    assert_eq!(copy.code, Some(0), "{}", copy.stderr);
    let replaced = place.run(&[&fill[..], &["--in-place"]].concat());
    assert_eq!(replaced.code, Some(0), "{}", replaced.stderr);
    assert_eq!(place.read("in.csv"), place.read("copy.csv"));
    assert_ne!(place.read("in.csv"), SMALL);
    let outcome = place.run_with_input(&["fill", "-", "--in-place"], SMALL);
    refused(&outcome, "standard input");
}

#[test]
fn two_outputs_of_one_name_are_refused() {
    let place = Place::with("in.csv", SMALL);
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--method",
        "linear",
        "-o",
        "out.csv",
        "--save-model",
        "./out.csv",
    ]);
    refused(&outcome, "name the same file");
    assert_eq!(place.files(), ["in.csv"]);
}

/// A model of a million steps: whoever comes to train it has found nothing to refuse.
#[test]
fn outputs_are_refused_before_any_training() {
    let rows: String = (0..400)
        .map(|k| format!("{k},{}\n", f64::from(k).sin()))
        .collect();
    let place = Place::with("in.csv", &format!("t,x\n{rows}"));
    let train = ["fill", "in.csv", "--steps", "1000000"];
    for (flags, words) in [
        (&["-o", "nowhere/out.csv"][..], "nowhere/out.csv"),
        (&["-o", "out.xlsx"], "Spreadsheets are not supported"),
        (&["-o", "out.json"], "JSON is not supported"),
        (&["-o", "out.docx"], "tells no format that is known"),
        (&["-o", "out.csv", "--report", "page.txt"], ".html"),
        (
            &["-o", "out.csv", "--report", "nowhere/page.html"],
            "nowhere/page.html",
        ),
        (
            &["-o", "out.csv", "--save-model", "nowhere/m.cssc"],
            "nowhere/m.cssc",
        ),
        (
            &["-o", "out.csv", "--plot", "nowhere/p.png"],
            "nowhere/p.png",
        ),
    ] {
        refused(&place.run(&[&train[..], flags].concat()), words);
    }
    place.put("sheet.xlsx", "PK");
    refused(
        &place.run(&["fill", "sheet.xlsx"]),
        "save the sheet as .csv",
    );
    assert_eq!(place.files(), ["in.csv", "sheet.xlsx"]);
}

#[cfg(unix)]
mod signals {
    use super::*;

    fn send(child: &std::process::Child, signal: &str) {
        let id = child.id().to_string();
        let mut kill = std::process::Command::new("kill");
        assert!(
            kill.args([signal, &id])
                .status()
                .expect("kill runs")
                .success()
        );
    }

    /// Stops a long training at its first step; gives the exit code and what was said after it.
    fn stopped(place: &Place, signal: &str, more: &[&str]) -> (Option<i32>, String) {
        let rows: String = (0..600)
            .map(|k| format!("{k},{}\n", f64::from(k).sin()))
            .collect();
        place.put("in.csv", &format!("t,x\n{rows}"));
        let fill = [
            "fill", "in.csv", "-o", "out.csv", "--json", "--steps", "1000000",
        ];
        let small = ["--set", "model.dynamics=[8]", "--set", "model.decoder=[8]"];
        let mut child = place
            .command(&[&fill[..], &small, more].concat())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let began = lines
            .by_ref()
            .map(|line| line.expect("text"))
            .find(|line| line.contains("\"step\""));
        assert!(began.is_some());
        send(&child, signal);
        let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
        (child.wait().expect("it ends").code(), rest.join("\n"))
    }

    #[test]
    fn a_fill_that_is_stopped_writes_nothing_and_says_by_what() {
        for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            let place = Place::new();
            let (found, said) = stopped(&place, signal, &[]);
            assert_eq!(found, Some(code), "{said}");
            assert!(said.contains("nothing was written"), "{said}");
            assert_eq!(place.files(), ["in.csv"], "no temporary file is left");
        }
    }

    #[test]
    fn what_was_learned_so_far_is_used_on_request() {
        let place = Place::new();
        let (code, said) = stopped(&place, "-INT", &["--keep-partial"]);
        assert_eq!(code, Some(130), "{said}");
        assert!(said.contains("stopped before its end"), "{said}");
        assert_eq!(place.files(), ["in.csv", "out.csv"]);
        assert_eq!(place.read("out.csv").lines().count(), 601);
    }

    /// The table is written before the page is drawn, so it tells when to send the signal.
    #[test]
    fn a_signal_while_the_page_is_drawn_leaves_nothing_half_written() {
        let series = |id: u32| {
            let row = move |k: u32| {
                let gap = k % 17 == 3;
                let value = f64::from(k * (id + 3)) * 0.01;
                match gap {
                    true => format!("s{id},{k},,\n"),
                    false => format!("s{id},{k},{},{}\n", value.sin(), value.cos()),
                }
            };
            (0..1500).map(row)
        };
        let rows: String = (0..120).flat_map(series).collect();
        let place = Place::with("in.csv", &format!("id,t,x,y\n{rows}"));
        let fill = ["fill", "in.csv", "-o", "out.csv", "--method", "makima"];
        let drawn = ["--report", "page.html", "--plot", "picture.png"];
        let mut child = place
            .command(&[&fill[..], &drawn].concat())
            .spawn()
            .expect("the binary starts");
        let done = |child: &mut std::process::Child| child.try_wait().expect("asked").is_some();
        while !place.path("out.csv").exists() && !done(&mut child) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let ended_before = done(&mut child);
        if !ended_before {
            send(&child, "-TERM");
        }
        let code = child.wait().expect("it ends").code();
        assert!(code == Some(143) || ended_before, "{code:?}");
        let files = place.files();
        assert!(
            files.iter().all(|name| !name.ends_with(".tmp")),
            "{files:?}"
        );
        assert_eq!(place.read("out.csv").lines().count(), 120 * 1500 + 1);
        if files.contains(&"page.html".to_owned()) {
            assert!(place.read("page.html").trim_end().ends_with("</html>"));
        }
    }

    /// Whether a process has a handler for SIGTERM, number 15.
    #[cfg(target_os = "linux")]
    fn is_ready(child: &std::process::Child) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap_or("0").trim(), 16);
        caught.is_ok_and(|mask| mask >> 14 & 1 == 1)
    }

    /// A command that does not look for signals while it waits for its input ends at once.
    #[cfg(target_os = "linux")]
    #[test]
    fn any_command_that_is_stopped_leaves_no_temporary_file() {
        let place = Place::with("in.csv", SMALL);
        let mut child = place
            .command(&[
                "spline", "-", "--kind", "natural", "--at", "1", "-o", "out.csv",
            ])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // Kept: waiting for a child closes its input, and then it would end by itself.
        let _open = child.stdin.take();
        while !is_ready(&child) && child.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        send(&child, "-TERM");
        assert_eq!(child.wait().expect("it ends").code(), Some(143));
        assert_eq!(place.files(), ["in.csv"]);
    }
}

#[test]
fn a_dry_run_says_what_would_be_trained_and_how_to_avoid_it() {
    let place = Place::with("in.csv", SMALL);
    let said = |more: &[&str]| place.run(&[&["fill", "in.csv"], more].concat()).stderr;
    let all = said(&[]);
    let words = "models are trained for cssc, smooth-cssc, hidden-cssc, if a short trial promises a gain (at most 2 min \
                 in all; --budget 0s trains none)";
    assert!(all.contains(words), "{all}");
    assert!(said(&["--budget", "0s"]).contains("without any training"));
    assert!(said(&["--steps", "40"]).contains("40 steps each"));
}

#[test]
fn the_number_of_threads_changes_nothing_but_the_time() {
    let place = Place::with("in.csv", SMALL);
    let fill = ["fill", "in.csv", "--method", "smoothing", "-o", "-", "-q"];
    let one = place.run(&[&["--threads", "1"], &fill[..]].concat());
    let three = place.run(&[&fill[..], &["--threads", "3"]].concat());
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert_eq!(one.stdout, three.stdout);
    let none = place.run(&[&fill[..], &["--threads", "0"]].concat());
    assert_eq!(none.code, Some(2));
}

#[test]
fn of_rows_at_one_time_the_first_or_the_last_is_kept() {
    let place = Place::with("in.csv", "t,x,note\n0,1.5,a\n1,,b\n1,5.5,c\n2,3.5,d\n");
    let fill = |which: &str| {
        let arguments = ["fill", "in.csv", "--method", "linear", "-o", "-"];
        place.run(&[&arguments[..], &["--duplicates", which]].concat())
    };
    let first = fill("first");
    assert_eq!(first.stdout, "t,x,note\n0,1.5,a\n1,2.5,b\n2,3.5,d\n");
    assert!(
        first.stderr.contains("1 rows were left out"),
        "{}",
        first.stderr
    );
    assert_eq!(fill("last").stdout, "t,x,note\n0,1.5,a\n1,5.5,c\n2,3.5,d\n");
}

#[test]
fn where_straight_lines_are_exact_nothing_is_relative_to_them() {
    let rows: String = (0..200)
        .map(|k| {
            if k % 9 == 4 {
                format!("{k},\n")
            } else {
                format!("{k},{k}.5\n")
            }
        })
        .collect();
    let place = Place::with("in.csv", &format!("t,x\n{rows}"));
    let outcome = place.run(&["fill", "in.csv", "--budget", "0s", "-o", "out.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("NaN"), "{}", outcome.stderr);
}

#[test]
fn one_place_is_one_place_and_huge_numbers_are_short() {
    let rows: String = (0..40)
        .filter(|k| !(10..15).contains(k))
        .map(|k| format!("{k},{}e300\n", f64::from(k % 7)))
        .collect();
    let place = Place::with("in.csv", &format!("t,x\n{rows}"));
    let outcome = place.run(&["fill", "in.csv"]);
    assert!(
        outcome.stderr.contains("Rows are missing in 1 place;"),
        "{}",
        outcome.stderr
    );
    let outcome = place.run(&["evaluate", "in.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("smoothing"),
        "without --model or --method: all plain ones"
    );
    let widest = outcome.stdout.lines().map(str::len).max();
    assert!(widest < Some(120), "{}", outcome.stdout);
}

#[test]
fn a_checkpoint_is_not_overwritten_without_a_word() {
    let rows: String = (0..600)
        .map(|k| format!("{k},{}\n", f64::from(k).sin()))
        .collect();
    let place = Place::with("in.csv", &format!("t,x\n{rows}"));
    place.put("m.cssc.checkpoint", "");
    let small = ["--set", "model.dynamics=[8]", "--set", "model.decoder=[8]"];
    let train = [
        &["train", "in.csv", "-o", "m.cssc", "--steps", "3"][..],
        &small,
    ]
    .concat();
    refused(&place.run(&train), "--restart");
    assert_eq!(place.files(), ["in.csv", "m.cssc.checkpoint"]);
    let anew = place.run(&[&train[..], &["--restart"]].concat());
    assert_eq!(anew.code, Some(0), "{}", anew.stderr);
    assert_eq!(place.files(), ["in.csv", "m.cssc"]);
}
