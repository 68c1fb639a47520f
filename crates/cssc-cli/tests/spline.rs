//! `cssc spline` on good input, against scipy, polynomials and arithmetic by hand.

mod support;

use serde_json::Value;
use support::Place;

const GOLDEN: &str = include_str!("../../cssc/tests/golden/natural_spline.json");

/// Runs `cssc spline` on a table and gives back the heading and the rows.
fn spline(table: &str, arguments: &[&str]) -> (String, Vec<Vec<f64>>) {
    let place = Place::with("data.csv", table);
    let outcome = place.run(&[&["spline", "data.csv"], arguments].concat());
    let mut lines = outcome.result().lines();
    let heading = lines.next().expect("a heading").to_owned();
    let row = |line: &str| {
        line.split(',')
            .map(|cell| cell.parse().expect("a number"))
            .collect()
    };
    (heading, lines.map(row).collect())
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "found {found}, expected {expected}"
        );
    }
}

fn comma_separated(numbers: &Value) -> String {
    let cells: Vec<String> = numbers
        .as_array()
        .expect("a list")
        .iter()
        .map(Value::to_string)
        .collect();
    cells.join(",")
}

#[test]
fn natural_is_scipys_natural_spline_with_its_derivatives() {
    let golden: Value = serde_json::from_str(GOLDEN).expect("JSON");
    for case in golden["cases"].as_array().expect("cases") {
        let rows = case["t"]
            .as_array()
            .expect("times")
            .iter()
            .zip(case["x"].as_array().expect("values"));
        let mut table = String::new();
        for (time, values) in rows {
            table += &format!("{time},{}\n", comma_separated(values));
        }
        let (_, found) = spline(
            &table,
            &[
                "--kind",
                "natural",
                "--derivatives",
                "--at",
                &comma_separated(&case["q"]),
            ],
        );
        for (index, row) in found.iter().enumerate() {
            for (kind, name) in ["y", "dy", "ddy"].iter().enumerate() {
                let expected: Vec<f64> = case[name][index]
                    .as_array()
                    .expect("row")
                    .iter()
                    .map(|v| v.as_f64().expect("number"))
                    .collect();
                let found: Vec<f64> = row[1..].iter().skip(kind).step_by(3).copied().collect();
                assert_close(&found, &expected, 1e-10);
            }
        }
    }
}

/// x = t³ - 2t² + 3 has slope 3t² - 4t and curvature 6t - 4.
const CUBIC: &str = "t,x\n-1,0\n0,3\n0.5,2.625\n2,3\n3,12\n";

#[test]
fn not_a_knot_gives_back_a_cubic_exactly() {
    let (heading, rows) = spline(
        CUBIC,
        &[
            "--kind",
            "not-a-knot",
            "--derivatives",
            "--at",
            "-0.5,1,2.5",
        ],
    );
    assert_eq!(heading, "t,x,x_slope,x_curvature");
    assert_close(&rows[0], &[-0.5, 2.375, 2.75, -7.0], 1e-12);
    assert_close(&rows[1], &[1.0, 2.0, -1.0, 2.0], 1e-12);
    assert_close(&rows[2], &[2.5, 6.125, 8.75, 11.0], 1e-12);
}

#[test]
fn clamped_with_the_right_end_slopes_gives_back_a_cubic_exactly() {
    let (_, rows) = spline(
        CUBIC,
        &[
            "--kind",
            "clamped",
            "--end-slopes",
            "7,15",
            "--derivatives",
            "--at",
            "-0.5,1,2.5",
        ],
    );
    assert_close(&rows[1], &[1.0, 2.0, -1.0, 2.0], 1e-12);
    assert_close(&rows[2], &[2.5, 6.125, 8.75, 11.0], 1e-12);
}

#[test]
fn clamped_without_end_slopes_is_flat_at_both_ends() {
    let (_, rows) = spline(
        CUBIC,
        &["--kind", "clamped", "--derivatives", "--at", "-1,3"],
    );
    assert_close(&[rows[0][2], rows[1][2]], &[0.0, 0.0], 1e-12);
    assert_close(&[rows[0][1], rows[1][1]], &[0.0, 12.0], 1e-12);
}

#[test]
fn linear_is_the_straight_line_and_its_slope_is_that_of_the_right_side() {
    let (_, rows) = spline(
        "t,x\n0,1\n2,5\n3,4\n",
        &["--kind", "linear", "--derivatives", "--at", "0.5,2,3"],
    );
    assert_eq!(
        rows,
        [
            [0.5, 2.0, 2.0, 0.0],
            [2.0, 5.0, -1.0, 0.0],
            [3.0, 4.0, -1.0, 0.0]
        ]
    );
}

/// scipy 1.17.1: Akima1DInterpolator([0,1,2.5,3,4.5,6], [0,2,1,1,3,-1], method="makima")([0.3,1.7,2.8,4,5.5])
#[test]
fn makima_is_scipys() {
    let table = "t,x\n0,0\n1,2\n2.5,1\n3,1\n4.5,3\n6,-1\n";
    let (_, rows) = spline(table, &["--kind", "makima", "--at", "0.3,1.7,2.8,4,5.5"]);
    let found: Vec<f64> = rows.iter().map(|row| row[1]).collect();
    let scipy = [
        0.8528888888888888,
        1.5365925925925925,
        0.9710588235294118,
        2.377995642701525,
        0.9337606837606836,
    ];
    assert_close(&found, &scipy, 1e-12);
}

/// scipy 1.17.1: PchipInterpolator([0,1,2.5,3,4.5,6], x)([0.3,1.7,2.8,4,5.5]), and of three points the derivative at each.
#[test]
fn pchip_is_scipys() {
    let table = "t,x,y\n0,0,0\n1,2,1\n2.5,1,2\n3,1,5\n4.5,3,5.5\n6,-1,9\n";
    let (_, rows) = spline(table, &["--kind", "pchip", "--at", "0.3,1.7,2.8,4,5.5"]);
    let column = |number: usize| rows.iter().map(|row| row[number]).collect::<Vec<f64>>();
    let turning = [
        0.8828,
        1.549925925925926,
        1.0,
        2.4814814814814814,
        1.0740740740740742,
    ];
    assert_close(&column(1), &turning, 1e-12);
    let rising = [
        0.33151891891891894,
        1.3702847462847463,
        3.9570182394924647,
        5.323214967544864,
        7.416666666666667,
    ];
    assert_close(&column(2), &rising, 1e-12);
    let options = ["--kind", "pchip", "--at", "0,1,3", "--derivatives"];
    let (_, rows) = spline("t,x\n0,0\n1,1\n3,-2\n", &options);
    let slopes: Vec<f64> = rows.iter().map(|row| row[2]).collect();
    assert_close(&slopes, &[11.0 / 6.0, 0.0, -19.0 / 6.0], 1e-12);
}

#[test]
fn an_empty_cell_is_left_out_of_its_own_channel_only() {
    let table = "time,a,b\n0,0,0\n1,,7\n2,4,2\n3,6,\n4,8,4\n";
    let (heading, rows) = spline(table, &["--kind", "linear", "--at", "1,3"]);
    assert_eq!(heading, "time,a,b");
    assert_eq!(rows, [[1.0, 2.0, 7.0], [3.0, 6.0, 3.0]]);
}

#[test]
fn times_are_taken_from_a_file_in_the_order_given_there() {
    let place = Place::with("data.csv", "t,x\n0,0\n2,4\n");
    place.put("times.txt", "2\n0.5, 1\n\n0\n");
    let outcome = place.run(&[
        "spline",
        "data.csv",
        "--kind",
        "natural",
        "--at",
        "times.txt",
    ]);
    assert_eq!(
        outcome.result(),
        "t,x\n2.0,4.0\n0.5,1.0\n1.0,2.0\n0.0,0.0\n"
    );
    let piped = place.run_with_input(
        &["spline", "-", "--kind", "natural", "--at", "1"],
        "t,x\n0,0\n2,4\n",
    );
    assert_eq!(piped.result(), "t,x\n1.0,2.0\n");
}

#[test]
fn a_table_without_heading_keeps_its_first_row() {
    let (heading, rows) = spline("0,1\n1,3\n", &["--kind", "linear", "--at", "0,0.5"]);
    assert_eq!(heading, "column_1,column_2");
    assert_eq!(rows, [[0.0, 1.0], [0.5, 2.0]]);
}

#[test]
fn names_with_commas_and_quotes_come_back_as_they_were() {
    let (heading, _) = spline(
        "t,\"a, \"\"b\"\"\"\n0,1\n1,3\n",
        &["--kind", "linear", "--at", "0"],
    );
    assert_eq!(heading, "t,\"a, \"\"b\"\"\"");
}

#[test]
fn times_outside_the_table_extend_the_end_pieces_and_are_noted() {
    let place = Place::with("data.csv", "t,x\n0,0\n2,4\n");
    let outcome = place.run(&["spline", "data.csv", "--kind", "linear", "--at", "-1,1,3"]);
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (Some(0), "t,x\n-1.0,-2.0\n1.0,2.0\n3.0,6.0\n")
    );
    assert!(
        outcome
            .stderr
            .starts_with("note: 2 of the 3 times asked for lie outside the data (0 to 2)"),
        "{outcome:?}"
    );
}

#[test]
fn every_table_that_can_be_filled_can_be_interpolated() {
    let place = Place::with("data.tsv", "when\tx\n2024-03-01\t1,5\n2024-03-03\t2,5\n");
    let at = ["--kind", "linear", "--at", "2024-03-02"];
    let run = |name: &str| place.run(&[&["spline", name], &at[..]].concat());
    assert_eq!(run("data.tsv").result(), "when,x\n2024-03-02,2.0\n");
    for name in ["data.parquet", "data.arrow", "data.csv.gz"] {
        let fill = [
            "fill", "data.tsv", "--method", "linear", "-o", name, "--quiet",
        ];
        assert_eq!(place.run(&fill).code, Some(0));
        // Parquet and Arrow hold the moments, not the text.
        let found = run(name).result().replace("T00:00:00,", ",");
        assert_eq!(found.lines().last(), Some("2024-03-02,2.0"), "{name}");
    }
    place.put(
        "ids.csv",
        "id,t,x,note\na,0,1,p\na,2,3,q\nb,0,5,r\nb,2,5,s\n",
    );
    let outcome = place.run(&["spline", "ids.csv", "--kind", "linear", "--at", "1"]);
    assert_eq!(outcome.result(), "id,t,x\na,1.0,2.0\nb,1.0,5.0\n");
}
