//! `cssc fill` on real files, and what it does about limits, rows, marks and streams.

mod support;

use std::path::PathBuf;
use support::Place;

fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name);
    path.canonicalize()
        .expect("examples ship with the project")
        .display()
        .to_string()
}

fn cells(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(row).collect()
}

const SMALL: &str = "time,a,b\n0,0,10\n1,,11\n2,2,\n3,3,13\n4,,\n5,5,15\n";

#[test]
fn missing_cells_are_filled_and_all_else_stays_as_it_was() {
    let place = Place::with(
        "in.csv",
        "when;x;note\n2024-03-31 00:00;1,50;ok\n2024-03-31 01:00;;late\n2024-03-31 02:00;2,5;\"a;b\"\n",
    );
    let outcome = place.run(&["fill", "in.csv", "--method", "linear", "-o", "out.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(
        place.read("out.csv"),
        "when;x;note\n2024-03-31 00:00;1,50;ok\n2024-03-31 01:00;2;late\n2024-03-31 02:00;2,5;\"a;b\"\n"
    );
    assert!(
        outcome.stderr.contains("1 cell filled"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stdout, "");
}

#[test]
fn without_output_the_gaps_are_described_and_nothing_is_written() {
    let place = Place::with("in.csv", SMALL);
    let outcome = place.run(&["fill", "in.csv"]);
    assert_eq!(outcome.code, Some(0));
    assert!(
        outcome.stderr.contains("6 rows, typically 1 apart"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("Nothing was written"),
        "{}",
        outcome.stderr
    );
    assert_eq!(place.files(), ["in.csv"]);
}

#[test]
fn whole_numbers_stay_whole_and_limits_are_kept() {
    let place = Place::with("in.csv", "t,x\n0,3.5\n1,1.5\n2,0\n3,\n4,0\n5,1.5\n6,3\n");
    let outcome = place.run(&[
        "fill", "in.csv", "--method", "natural", "-o", "-", "--quiet",
    ]);
    assert!(
        cells(&outcome.stdout)[4][1].starts_with('-'),
        "a cubic overshoots: {}",
        outcome.stdout
    );
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--method",
        "natural",
        "-o",
        "-",
        "--nonnegative",
        "--quiet",
    ]);
    assert_eq!(cells(&outcome.stdout)[4][1], "0");
    let outcome = place.run(&[
        "fill", "in.csv", "--method", "natural", "-o", "-", "--min", "x=-0.5", "--quiet",
    ]);
    assert_eq!(cells(&outcome.stdout)[4][1], "-0.5");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn rows_are_added_every_so_often_and_marked() {
    let place = Place::with(
        "in.csv",
        "time,x\n2024-03-31T00:00:00Z,1\n2024-03-31T00:05:00Z,2\n2024-03-31T00:20:00Z,5.5\n",
    );
    let outcome = place.run(&[
        "fill", "in.csv", "--every", "5min", "--method", "linear", "-o", "-", "--mark", "--quiet",
    ]);
    assert_eq!(
        outcome.stdout,
        "time,x,filled\n2024-03-31T00:00:00Z,1,\n2024-03-31T00:05:00Z,2,\n2024-03-31T00:10:00Z,3.166666666666667,x\n\
         2024-03-31T00:15:00Z,4.333333333333334,x\n2024-03-31T00:20:00Z,5.5,\n"
    );
}

#[test]
fn rows_at_times_asked_for_and_no_others() {
    let place = Place::with("in.csv", SMALL);
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--at",
        "2.5,3",
        "--only",
        "--method",
        "linear",
        "--integer",
        "b",
        "-o",
        "-",
        "--quiet",
    ]);
    assert_eq!(
        outcome.stdout, "time,a,b\n2.5,2.5,13\n3,3,13\n",
        "12.5 is rounded, because it was asked for"
    );
    place.put("times.txt", "0.5\n\n4.5\n");
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--at",
        "times.txt",
        "--only",
        "--method",
        "linear",
        "-o",
        "-",
        "--quiet",
    ]);
    assert_eq!(cells(&outcome.stdout).len(), 3);
}

#[test]
fn long_gaps_and_the_outside_stay_empty_unless_asked() {
    let place = Place::with("in.csv", "t,x\n0,\n1,1.5\n2,\n3,3\n4,\n5,\n6,6\n7,\n");
    let fill = |more: &[&str]| {
        let mut arguments = vec!["fill", "in.csv", "--method", "linear", "-o", "-", "--quiet"];
        arguments.extend_from_slice(more);
        let outcome = place.run(&arguments);
        cells(&outcome.stdout)[1..]
            .iter()
            .map(|row| row[1].clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(fill(&["--max-gap", "2"]), " 1.5 2.25 3   6 ");
    assert_eq!(fill(&["--extrapolate"]), "1.5 1.5 2.25 3 4 5 6 6");
}

#[test]
fn only_targets_are_filled_and_edges_follow_their_rule() {
    let place = Place::with("in.csv", SMALL);
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--method",
        "linear",
        "--targets",
        "b",
        "-o",
        "-",
        "--quiet",
    ]);
    assert_eq!(
        outcome.stdout,
        "time,a,b\n0,0,10\n1,,11\n2,2,12\n3,3,13\n4,,14\n5,5,15\n"
    );
    let refused = place.run(&["fill", "in.csv", "--targets", "c", "-o", "out.csv"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("`c` to be filled; there are a, b"),
        "{}",
        refused.stderr
    );
    place.put("ends.csv", "t,x\n0,\n1,1\n2,\n3,3\n4,\n");
    let fill = |edges: &str| {
        let outcome = place.run(&[
            "fill", "ends.csv", "--method", "linear", "--edges", edges, "-o", "-", "--quiet",
        ]);
        outcome.stdout.replace('\n', " ")
    };
    assert_eq!(fill("empty"), "t,x 0, 1,1 2,2 3,3 4, ");
    assert_eq!(fill("nearest"), "t,x 0,1 1,1 2,2 3,3 4,3 ");
}

/// Column b is twice column a, and ends earlier; c is noise-free and whole.
fn ends_early() -> String {
    let row = |k: i32| {
        let a = (0.3 * f64::from(k)).sin() + 0.02 * f64::from(k % 17);
        let b = if k >= 240 || k % 31 == 5 {
            String::new()
        } else {
            (2.0 * a).to_string()
        };
        format!("{k},{a},{b}\n")
    };
    format!("t,a,b\n{}", (0..300).map(row).collect::<String>())
}

#[test]
fn beyond_its_last_value_a_column_is_predicted_from_the_others() {
    let place = Place::with("in.csv", &ends_early());
    let last = |edges: &str| {
        let outcome = place.run(&[
            "fill", "in.csv", "--budget", "0s", "--edges", edges, "-o", "-", "--quiet",
        ]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let line = outcome.stdout.lines().last().unwrap().to_owned();
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (cells[2] - 2.0 * cells[1]).abs()
    };
    assert!(last("predict") < 0.02, "{}", last("predict"));
    assert!(last("nearest") > 0.1);
    // Weights are told of columns with gaps that they fill.
    let told = place.run(&["fill", "in.csv", "--budget", "0s", "-o", "out.csv"]);
    let words = told.stderr.lines().map(|line| line.split(':').next());
    let combined: Vec<_> = words
        .flatten()
        .filter(|words| words.starts_with("combined for"))
        .collect();
    assert_eq!(combined, ["combined for b"], "{}", told.stderr);
}

#[test]
fn draws_are_files_of_their_own_that_leave_known_values_alone() {
    let place = Place::with("in.csv", &ends_early());
    let run = || {
        let outcome = place.run(&[
            "fill",
            "in.csv",
            "--budget",
            "0s",
            "--samples",
            "2",
            "-o",
            "out.csv",
            "--quiet",
        ]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        ["out.csv", "out-1.csv", "out-2.csv"].map(|name| place.read(name))
    };
    let [mean, first, second] = run();
    assert!(mean != first && first != second);
    for (known, drawn) in ends_early().lines().zip(first.lines()) {
        assert!(known.ends_with(',') || known == drawn, "{known} {drawn}");
    }
    assert_eq!(run(), [mean, first, second]);
    let refused = place.run(&["fill", "in.csv", "--samples", "2", "-o", "-"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("Give -o a file name"),
        "{}",
        refused.stderr
    );
}

#[test]
fn standard_input_becomes_standard_output_of_the_same_format() {
    let place = Place::new();
    let outcome = place.run_with_input(
        &["fill", "-", "--method", "linear", "-o", "-", "--quiet"],
        SMALL,
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "time,a,b\n0,0,10\n1,1,11\n2,2,12\n3,3,13\n4,4,14\n5,5,15\n"
    );
}

#[test]
fn the_ending_tells_the_format_and_integers_stay_integers() {
    let place = Place::with("in.csv", SMALL);
    for name in [
        "out.parquet",
        "out.arrow",
        "out.npz",
        "out.tsv",
        "out.csv.gz",
    ] {
        let outcome = place.run(&["fill", "in.csv", "--method", "linear", "-o", name]);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        let outcome = place.run(&[
            "fill", name, "--method", "linear", "-o", "back.csv", "--every", "0.5",
        ]);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        assert_eq!(cells(&place.read("back.csv")).len(), 12, "{name}");
    }
}

/// Every day at noon in Rome, over the beginning of summer time, with two days missing.
#[test]
fn datetimes_keep_their_zone_over_a_change_of_the_clock() {
    let days = [
        (28, "+01:00"),
        (29, "+01:00"),
        (30, "+01:00"),
        (31, "+02:00"),
    ];
    let rows =
        days.map(|(day, offset)| format!("2024-03-{day}T12:00:00{offset}[Europe/Rome],{day}.5"));
    let table = format!(
        "time,x\n{}\n2024-04-03T12:00:00+02:00[Europe/Rome],34.5\n",
        rows.join("\n")
    );
    let place = Place::with("in.csv", &table);
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--every",
        "24h",
        "--method",
        "linear",
        "-o",
        "-",
        "--quiet",
        "--report",
        "page.html",
    ]);
    assert!(
        outcome
            .stdout
            .contains("2024-04-02T12:00:00+02:00[Europe/Rome],33.5"),
        "{}",
        outcome.stdout
    );
    let page = place.read("page.html");
    assert!(page.contains(r#""zone":"Europe/Rome","offset":3600"#));
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--at",
        "2024-03-30T13:00:00Z",
        "--only",
        "--method",
        "linear",
        "-o",
        "-",
        "--quiet",
    ]);
    assert!(
        outcome
            .stdout
            .contains("2024-03-30T14:00:00+01:00[Europe/Rome]"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn carbon_dioxide_is_filled_by_a_combination_whose_bands_hold() {
    let place = Place::new();
    let outcome = place.run(&[
        "fill",
        &example("co2/co2.csv"),
        "--budget",
        "0s",
        "--bands",
        "0.9",
        "-o",
        "co2.csv",
        "--json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let events: Vec<serde_json::Value> = outcome
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).expect("events are JSON"))
        .collect();
    let comparison = events
        .iter()
        .find(|event| event["event"] == "comparison")
        .expect("a comparison");
    assert_eq!(comparison["chosen"]["co2"], "combined");
    let methods = comparison["methods"].as_array().expect("a list");
    let error = |name: &str| {
        let row = methods.iter().find(|row| row["method"] == name);
        row.expect(name)["mse"].as_f64().expect("a number")
    };
    assert!(error("combined") < 0.7 * error("linear"));
    let coverage = comparison["bands"]["columns"][0]["after"]
        .as_f64()
        .expect("a number");
    assert!((coverage - 0.9).abs() < 0.05, "{coverage}");
    let done = events
        .iter()
        .find(|event| event["event"] == "done")
        .expect("an end");
    assert_eq!(done["filled"], 59);
    let rows = cells(&place.read("co2.csv"));
    assert_eq!(rows[0], ["date", "co2", "co2_lower", "co2_upper"]);
    for row in &rows[1..] {
        assert!(row[1].parse::<f64>().is_ok(), "{row:?}");
        if !row[2].is_empty() {
            let [value, lower, upper] =
                [1, 2, 3].map(|at| row[at].parse::<f64>().expect("a number"));
            assert!(lower < value && value < upper, "{row:?}");
        }
    }
}

/// Chosen by evidence, never worse than straight lines on what was hidden.
#[test]
fn a_small_training_takes_part_in_the_comparison_and_draws_its_report() {
    let place = Place::new();
    let outcome = place.run(&[
        "fill",
        &example("co2/co2.csv"),
        "--steps",
        "20",
        "-o",
        "co2.csv",
        "--report",
        "co2.html",
        "--plot",
        "co2.svg",
        "--save-model",
        "co2.cssc",
        "--json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let comparison = outcome
        .stderr
        .lines()
        .find(|line| line.contains("\"comparison\""))
        .expect("a comparison");
    let comparison: serde_json::Value = serde_json::from_str(comparison).expect("events are JSON");
    let error = |name: &str| {
        let methods = comparison["methods"].as_array().expect("a list");
        let row = methods
            .iter()
            .find(|row| row["method"] == name)
            .expect(name);
        row["mse"].as_f64().expect("a number")
    };
    let chosen = comparison["chosen"]["co2"].as_str().expect("a name");
    for method in [
        "linear",
        "natural",
        "seasonal",
        "regression",
        "cssc",
        "hidden-cssc",
    ] {
        assert!(error(chosen) <= 1.05 * error(method), "{method}");
    }
    let page = place.read("co2.html");
    assert!(
        page.contains("hidden-cssc") && !page.contains("http://"),
        "self-contained"
    );
    assert!(
        place.read("co2.svg").starts_with("<svg") || place.read("co2.svg").starts_with("<?xml")
    );
    let told = place.run(&["info", "co2.cssc"]);
    assert!(told.stdout.contains("steps trained"), "{}", told.stdout);
    let applied = place.run(&[
        "interpolate",
        "co2.cssc",
        &example("co2/co2.csv"),
        "-o",
        "again.csv",
        "--export",
        "o,c,slopes",
        "--export-to",
        "again.npz",
    ]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert_eq!(
        cells(&place.read("again.csv")).len(),
        cells(&place.read("co2.csv")).len()
    );
}

#[test]
fn glucose_gets_the_rows_of_its_shorter_gaps() {
    let place = Place::new();
    let table = example("glucose/glucose.csv.gz");
    let refused = place.run(&["fill", &table, "-o", "out.csv"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("line 14277"), "{}", refused.stderr);
    assert!(place.files().is_empty());
    let outcome = place.run(&[
        "fill",
        &table,
        "--duplicates",
        "average",
        "--every",
        "5min",
        "--max-gap",
        "2h",
        "--method",
        "linear,makima,natural,smoothing",
        "--integer",
        "glucose",
        "-o",
        "out.csv",
        "--mark",
        "--json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("\"isig\":\"makima\""),
        "{}",
        outcome.stderr
    );
    let rows = cells(&place.read("out.csv"));
    let ours = rows.iter().filter(|row| row[3].contains("glucose"));
    let whole = ours.clone().all(|row| row[1].parse::<i64>().is_ok());
    assert!(whole && ours.count() > 100);
}

#[test]
fn air_quality_is_filled_from_two_time_columns() {
    let place = Place::new();
    let outcome = place.run(&[
        "fill",
        &example("air-quality/AirQualityUCI.csv"),
        "--time-format",
        "%d/%m/%Y %H:%M:%S",
        "--missing",
        "-200",
        "--budget",
        "0s",
        "--nonnegative",
        "--min",
        "T=-30",
        "-o",
        "out.csv",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let text = place.read("out.csv");
    assert_eq!(text.lines().count(), 9358);
    let left = text.lines().filter(|line| line.contains("-200")).count();
    assert!(
        left > 0,
        "NMHC ends early, and nothing outside its range is filled"
    );
    let rows = cells(&text);
    assert!(
        rows[1..].iter().all(|row| row[3] != "-200"),
        "this column has values at both ends"
    );
}

#[test]
fn steps_in_the_data_are_noticed() {
    let rows: Vec<String> = (0..200)
        .map(|k| {
            format!(
                "{k},{}",
                if k % 97 == 5 {
                    String::new()
                } else {
                    (k / 50 * 10).to_string()
                }
            )
        })
        .collect();
    let place = Place::with("in.csv", &format!("t,switch\n{}\n", rows.join("\n")));
    let outcome = place.run(&["fill", "in.csv", "--budget", "0s", "-o", "out.csv"]);
    assert_eq!(outcome.code, Some(0));
    assert!(
        outcome.stderr.contains("`switch` moves in steps"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn few_data_are_filled_plainly_and_it_says_so() {
    let place = Place::with("in.csv", SMALL);
    let outcome = place.run(&["fill", "in.csv", "-o", "out.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("a plain interpolator (linear) is used"),
        "{}",
        outcome.stderr
    );
}
