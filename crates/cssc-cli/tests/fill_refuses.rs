//! What cannot be filled is refused with a clear message, exit code 2 and nothing written.

mod support;

use support::Place;

/// Runs `fill` on a table and expects it to be refused; gives the message.
fn refused(table: &str, more: &[&str]) -> String {
    let place = Place::with("in.csv", table);
    let mut arguments = vec!["fill", "in.csv", "-o", "out.csv", "--budget", "0s"];
    arguments.extend_from_slice(more);
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert_eq!(place.files(), ["in.csv"], "nothing is written");
    assert_eq!(outcome.stdout, "");
    let message = outcome.stderr.lines().last().unwrap_or_default().to_owned();
    assert!(message.starts_with("error: "), "{}", outcome.stderr);
    message
}

#[test]
fn tables_without_values() {
    assert!(refused("", &[]).contains("in.csv"));
    assert!(refused("time,x\n", &[]).contains("no rows"));
    assert!(refused("time,x\n0,1\n", &[]).contains("only one row"));
    let missing = refused("time,x,y\n0,,1\n1,,2\n2,,3\n", &["--values", "x"]);
    assert!(
        missing.contains("every value of in.csv is missing (x)"),
        "{missing}"
    );
}

#[test]
fn entries_that_cannot_be_read() {
    let text = refused("time,x\n0,1\n1,high\n2,3\n", &["--values", "x"]);
    assert!(
        text.contains("line 3, column `x`") && text.contains("`high`"),
        "{text}"
    );
    let repeated = refused("time,x\n0,1\n0,2\n1,3\n", &[]);
    assert!(repeated.contains("--duplicates average"), "{repeated}");
    let zones = refused(
        "time,x\n2024-01-01T00:00:00Z,1\n2024-01-01T01:00:00,2\n2024-01-01T02:00:00Z,3\n",
        &[],
    );
    assert!(
        zones.contains("line 3") && zones.contains("zone"),
        "{zones}"
    );
    let time = refused("time,x\n2024-01-01,1\nyesterday,2\n", &[]);
    assert!(
        time.contains("line 3, column `time`") && time.contains("`yesterday`"),
        "{time}"
    );
}

#[test]
fn flags_that_do_not_fit() {
    let table = "time,x\n0,1\n1,\n2,3\n";
    assert!(refused(table, &["--every", "5min"]).contains("plain numbers"));
    assert!(refused(table, &["--method", "magic"]).contains("there is no method `magic`"));
    assert!(refused(table, &["--min", "y=0"]).contains("no column of values `y`"));
    assert!(refused(table, &["--only"]).contains("--every or --at"));
    assert!(refused(table, &["--at", "noon"]).contains("neither a time"));
    assert!(refused(table, &["--plot", "picture.gif"]).contains(".svg or .png"));
    assert!(refused(table, &["--values", "z"]).contains("there is no column `z`"));
    let trained = refused(table, &["--method", "cssc", "--steps", "5"]);
    assert!(trained.contains("to learn from"), "{trained}");
}

#[test]
fn places_that_cannot_be_read_or_written() {
    let place = Place::with("in.csv", "time,x\n0,1\n1,\n2,3\n");
    std::fs::create_dir(place.path("folder")).expect("the place is writable");
    let run = |arguments: &[&str]| {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        outcome.stderr
    };
    assert!(run(&["fill", "folder", "-o", "out.csv"]).contains("is a directory"));
    assert!(run(&["fill", "nothing.csv", "-o", "out.csv"]).contains("nothing.csv"));
    let directory = run(&["fill", "in.csv", "-o", "folder", "--method", "linear"]);
    assert!(
        directory.contains("folder") && directory.contains("directory"),
        "{directory}"
    );
    #[cfg(target_os = "linux")]
    assert!(
        run(&["fill", "in.csv", "-o", "/dev/full", "--method", "linear"]).contains("No space left")
    );
    assert_eq!(place.files(), ["folder", "in.csv"]);
}

#[test]
fn a_binary_file_is_no_table() {
    let place = Place::new();
    let noise: Vec<u8> = (0..5000u32)
        .map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    std::fs::write(place.path("in.csv"), noise).expect("the place is writable");
    let outcome = place.run(&["fill", "in.csv", "-o", "out.csv"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert_eq!(place.files(), ["in.csv"]);
    assert!(
        outcome.stderr.starts_with("error: in.csv"),
        "{}",
        outcome.stderr
    );
}

/// A thousand columns are no trouble for plain methods; models are left out and it is said.
#[test]
fn very_many_columns_are_filled_plainly() {
    let names: Vec<String> = (0..1000).map(|k| format!("c{k}")).collect();
    let mut table = format!("time,{}\n", names.join(","));
    for row in 0..40u32 {
        let cell = |k: u32| {
            if (row + k) % 17 == 3 {
                String::new()
            } else {
                format!("{}", f64::from(row * k) * 0.01)
            }
        };
        let cells: Vec<String> = (0..1000).map(cell).collect();
        table += &format!("{row},{}\n", cells.join(","));
    }
    let place = Place::with("in.csv", &table);
    let outcome = place.run(&["fill", "in.csv", "-o", "out.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("1000 channels"),
        "{}",
        outcome.stderr
    );
    assert_eq!(place.read("out.csv").lines().count(), 41);
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let rows: String = (0..200_000).map(|k| format!("{k},{}\n", k % 7)).collect();
    let place = Place::with("in.csv", &format!("t,x\n{rows}"));
    let mut child = place
        .command(&["fill", "in.csv", "--method", "linear", "-o", "-", "--quiet"])
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let outcome = child.wait_with_output().expect("it ends");
    assert_eq!(
        outcome.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&outcome.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), "");
}
