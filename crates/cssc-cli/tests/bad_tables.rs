//! `cssc spline` on bad input: each message gives file, line and column, nothing is written, the exit code is 2.

mod support;

use support::Place;

/// Checks that a table is refused with a message holding all `parts`, and that no file appears.
fn refused(table: &str, arguments: &[&str], parts: &[&str]) {
    let place = Place::with("data.csv", table);
    let outcome = place.run(
        &[
            &["spline", "data.csv", "--output", "answer.csv", "--kind"],
            arguments,
        ]
        .concat(),
    );
    let message = outcome.complaint();
    for part in parts {
        assert!(message.contains(part), "{part:?} should be in {message:?}");
    }
    assert_eq!(place.files(), ["data.csv"]);
}

fn refused_table(table: &str, parts: &[&str]) {
    refused(table, &["natural", "--at", "0.5"], parts);
}

const GOOD: &str = "t,x\n0,1\n1,2\n";

#[test]
fn a_cell_that_is_no_finite_number_is_refused_with_line_and_column() {
    for cell in ["high", "inf", "1e999", "1,5\"", "0x10"] {
        let table = format!("t,x,level\n0,1,2\n1,2,\"{}\"\n", cell.replace('"', "\"\""));
        refused(
            &table,
            &["natural", "--at", "0.5", "--values", "x,level"],
            &[
                "data.csv, line 3, column `level`",
                "expected a number",
                "--missing",
            ],
        );
    }
    refused_table(
        "t,x\n0,1\nnoon,2\n",
        &["data.csv, line 3, column `t`", "`noon`"],
    );
}

#[test]
fn repeated_times_are_refused_with_their_line() {
    refused_table(
        "t,x\n0,1\n1,2\n1,3\n",
        &[
            "line 4, column `t`",
            "the time `1` was in line or row 3",
            "--duplicates average",
        ],
    );
}

#[test]
fn a_missing_time_is_refused() {
    refused_table("t,x\n0,1\n,2\n", &["line 3, column `t`", "expected a time"]);
}

#[test]
fn rows_of_another_length_are_refused() {
    refused_table(
        "t,x\n0,1\n1\n",
        &["data.csv, line 3", "expected 2 entries", "found 1"],
    );
    refused_table(
        "t,x\n0,1\n1,2,3\n",
        &["data.csv, line 3", "expected 2 entries", "found 3"],
    );
}

#[test]
fn tables_without_rows_or_channels_are_refused() {
    refused_table("", &["data.csv: it has no rows"]);
    refused_table("t,x\n", &["data.csv: it has no rows"]);
    refused_table(
        "t\n0\n1\n",
        &["data.csv", "no column of numbers is left for values"],
    );
}

#[test]
fn a_channel_without_values_is_named() {
    refused(
        "t,x,y\n0,1,\n1,2,\n",
        &["natural", "--at", "0.5", "--values", "x,y"],
        &["data.csv", "column `y`", "no values", "--values"],
    );
}

#[test]
fn line_numbers_count_blank_lines_and_lines_inside_quotes() {
    refused(
        "t,\"two\nlines\"\n\n0,1\n1,x\n",
        &["natural", "--at", "0.5", "--values", "two\nlines"],
        &["line 5, column"],
    );
}

#[test]
fn times_asked_for_must_be_finite_numbers_or_a_file_of_them() {
    refused(
        GOOD,
        &["natural", "--at", "0,nan"],
        &["--at", "entry 2", "nan"],
    );
    refused(
        GOOD,
        &["natural", "--at", "absent.txt"],
        &["absent.txt", "comma"],
    );
    let place = Place::with("data.csv", GOOD);
    place.put("times.txt", "0\n0.5 1,x\n");
    let outcome = place.run(&[
        "spline",
        "data.csv",
        "--kind",
        "natural",
        "--at",
        "times.txt",
    ]);
    assert!(
        outcome
            .complaint()
            .starts_with("times.txt, line 2, entry 3: expected a time as a number, found `x`"),
        "{outcome:?}"
    );
    place.put("times.txt", "\n");
    let outcome = place.run(&[
        "spline",
        "data.csv",
        "--kind",
        "natural",
        "--at",
        "times.txt",
    ]);
    assert!(
        outcome.complaint().contains("times.txt holds no times"),
        "{outcome:?}"
    );
}

#[test]
fn end_slopes_belong_to_the_clamped_kind_only() {
    refused(
        GOOD,
        &["natural", "--at", "0", "--end-slopes", "0,0"],
        &["--end-slopes is only for --kind clamped", "Leave it out"],
    );
}

#[test]
fn end_slopes_are_two_finite_numbers() {
    for slopes in ["1", "1,2,3", "1,x", "nan,0", "inf,0", ""] {
        let place = Place::with("data.csv", GOOD);
        let outcome = place.run(&[
            "spline",
            "data.csv",
            "--kind",
            "clamped",
            "--at",
            "0",
            "--end-slopes",
            slopes,
        ]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(
            outcome.stderr.contains("expected two finite numbers"),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_result_that_overflows_is_refused() {
    refused(
        "t,x\n0,1e308\n1,-1e308\n2,1e308\n",
        &["natural", "--at", "0.5"],
        &["data.csv", "\"x\"", "too large"],
    );
}

#[test]
fn standard_input_cannot_hold_both_the_table_and_the_times() {
    let outcome =
        Place::new().run_with_input(&["spline", "-", "--kind", "natural", "--at", "-"], GOOD);
    assert!(
        outcome.complaint().contains("standard input"),
        "{outcome:?}"
    );
}
