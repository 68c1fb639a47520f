//! `cssc compensate` on good input: the answer is checked against scipy and against the constraints that define it.

mod support;

use serde_json::{Value, json};
use support::Place;

const JUMP: &str = include_str!("../../../examples/jump.json");
const GOLDEN: &str = include_str!("../../cssc/tests/golden/natural_spline.json");

/// The answer for `input` given as a file.
fn answer(input: &Value) -> Value {
    let place = Place::with("input.json", &input.to_string());
    parse(place.run(&["compensate", "input.json"]).result())
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the result is JSON")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("a number, not {value}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}

/// Value, slope and curvature of a piece, a distance after its start.
fn at(piece: &Value, distance: f64) -> [f64; 3] {
    let [a, b, c, d] = numbers(piece)[..] else {
        panic!("four coefficients, not {piece}")
    };
    let s = distance;
    [
        a + s * (b + s * (c + s * d)),
        b + s * (2.0 * c + s * 3.0 * d),
        2.0 * c + s * 6.0 * d,
    ]
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(1.0);
    assert!(
        (found - expected).abs() <= tolerance * scale,
        "{what}: found {found}, expected {expected}"
    );
}

/// Swaps rows and columns: scipy's file is [time][channel], ours [channel][time].
fn transpose(rows: &Value) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = rows.as_array().expect("rows").iter().map(numbers).collect();
    (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect()
}

#[test]
fn a_zero_prediction_gives_scipys_natural_spline() {
    for case in parse(GOLDEN)["cases"].as_array().expect("cases") {
        let (values, curves) = (transpose(&case["x"]), transpose(&case["y"]));
        let zero = json!(vec![vec![0.0; values[0].len()]; values.len()]);
        let limits = json!({"value": zero, "slope": zero, "curvature": zero});
        let answer = answer(&json!({
            "times": case["t"], "values": values, "left": limits, "right": limits,
            "end_rule": "output", "query": case["q"],
        }));
        for (channel, expected) in curves.iter().enumerate() {
            let found = numbers(&answer["compensation"][channel]);
            assert_eq!(found.len(), expected.len());
            for (&found, &expected) in found.iter().zip(expected) {
                assert_close(
                    found,
                    expected,
                    1e-11,
                    &format!("{} knots, channel {channel}", values[0].len()),
                );
            }
        }
    }
}

/// Smoothed at a knot: model plus compensation, from the left and from the right.
fn sides(input: &Value, answer: &Value, channel: usize, knot: usize) -> [Option<[f64; 3]>; 2] {
    let times = numbers(&input["times"]);
    let pieces = answer["pieces"][channel].as_array().expect("pieces");
    let model = |side: &str| {
        ["value", "slope", "curvature"].map(|kind| number(&input[side][kind][channel][knot]))
    };
    let sum = |side, piece: usize, distance| {
        let (o, c) = (model(side), at(&pieces[piece], distance));
        [o[0] + c[0], o[1] + c[1], o[2] + c[2]]
    };
    let left = (knot > 0).then(|| sum("left", knot - 1, times[knot] - times[knot - 1]));
    let right = (knot + 1 < times.len()).then(|| sum("right", knot, 0.0));
    [left, right]
}

#[test]
fn the_example_becomes_smooth_passes_through_the_observations_and_ends_without_curvature() {
    let (input, answer) = (
        parse(JUMP),
        parse(
            Place::with("jump.json", JUMP)
                .run(&["compensate", "jump.json"])
                .result(),
        ),
    );
    let last = numbers(&input["times"]).len() - 1;
    for channel in 0..2 {
        for knot in 0..=last {
            let [left, right] = sides(&input, &answer, channel, knot);
            let present = left.or(right).expect("one side exists");
            for order in 0..3 {
                let what = format!("channel {channel}, knot {knot}, derivative {order}");
                assert_close(
                    left.unwrap_or(present)[order],
                    right.unwrap_or(present)[order],
                    1e-13,
                    &what,
                );
            }
            if let Some(observed) = input["values"][channel][knot].as_f64() {
                assert_close(
                    present[0],
                    observed,
                    1e-13,
                    &format!("channel {channel}, knot {knot}"),
                );
            }
            if knot == 0 || knot == last {
                assert_close(
                    present[2],
                    0.0,
                    1e-13,
                    &format!("curvature at the end, channel {channel}"),
                );
            }
        }
    }
}

#[test]
fn holes_add_no_freedom_the_third_derivative_is_continuous_there() {
    let (input, answer) = (
        parse(JUMP),
        parse(
            Place::with("jump.json", JUMP)
                .run(&["compensate", "jump.json"])
                .result(),
        ),
    );
    let mut holes = 0;
    for channel in 0..2 {
        for (knot, value) in input["values"][channel]
            .as_array()
            .expect("values")
            .iter()
            .enumerate()
        {
            if value.is_null() {
                let cubic = |piece: usize| number(&answer["pieces"][channel][piece][3]);
                assert_close(
                    cubic(knot - 1),
                    cubic(knot),
                    1e-12,
                    &format!("channel {channel}, knot {knot}"),
                );
                holes += 1;
            }
        }
    }
    assert_eq!(holes, 5);
}

#[test]
fn max_fold_zero_pins_every_hole_at_the_model_and_null_folds_them_all() {
    let with = |max_fold: Value| {
        let mut input = parse(JUMP);
        input["max_fold"] = max_fold;
        (answer(&input), input)
    };
    let (pinned, input) = with(json!(0));
    for (channel, knot) in [(0, 3), (1, 1), (1, 4), (1, 6), (1, 8)] {
        let [_, right] = sides(&input, &pinned, channel, knot);
        let model = number(&input["right"]["value"][channel][knot]);
        assert_close(
            right.expect("inside")[0],
            model,
            1e-13,
            &format!("channel {channel}, knot {knot}"),
        );
    }
    let (folded, _) = with(Value::Null);
    assert_ne!(pinned["pieces"], folded["pieces"]);
    // No hole here is longer than the default allows, so the default folds them all too.
    assert_eq!(folded, answer(&parse(JUMP)));
}

#[test]
fn the_query_agrees_with_the_pieces_right_of_knots_and_left_of_the_last_in_any_order() {
    let mut input = parse(JUMP);
    input["query"] = json!([8.0, 0.7, 0.0, 3.3, 0.7]);
    let answer = answer(&input);
    for channel in 0..2 {
        let pieces = &answer["pieces"][channel];
        let expected = [
            at(&pieces[8], 8.0 - 6.8),
            at(&pieces[1], 0.0),
            at(&pieces[0], 0.0),
            at(&pieces[4], 3.3 - 3.2),
            at(&pieces[1], 0.0),
        ];
        for (found, expected) in numbers(&answer["compensation"][channel])
            .iter()
            .zip(expected)
        {
            assert_close(*found, expected[0], 1e-14, "query");
        }
    }
}

#[test]
fn query_times_outside_the_knots_extend_the_end_pieces_and_are_noted() {
    let mut input = parse(JUMP);
    input["query"] = json!([-0.5, 4.0, 8.25]);
    let outcome = Place::new().run_with_input(&["compensate", "-"], &input.to_string());
    assert!(
        outcome
            .stderr
            .starts_with("note: 2 of the 3 times asked for lie outside the data (0 to 8)"),
        "{outcome:?}"
    );
    let (answer, found) = (parse(&outcome.stdout), |index: usize| {
        parse(&outcome.stdout)["compensation"][0][index].clone()
    });
    let pieces = &answer["pieces"][0];
    assert_close(number(&found(0)), at(&pieces[0], -0.5)[0], 1e-14, "before");
    assert_close(
        number(&found(2)),
        at(&pieces[8], 8.25 - 6.8)[0],
        1e-14,
        "after",
    );
}

/// One interval from t = 0 to 2, x = (1, 5), o⁺ = 0.5 at 0 and o⁻ = 2 at 2, ö = 3 and -6 there. So c = 0.5 and 3 at the ends.
///
/// Rule `output`: c'' runs from -3 to 6, so c = 0.5 + b s - 1.5 s² + 0.75 s³ with 3 = 0.5 + 2b - 6 + 6, b = 1.25.
/// Rule `compensation`: c'' = 0, the straight line 0.5 + 1.25 s.
#[test]
fn one_interval_agrees_with_the_arithmetic_by_hand_for_both_end_rules() {
    for (rule, expected) in [
        ("output", [0.5, 1.25, -1.5, 0.75]),
        ("compensation", [0.5, 1.25, 0.0, 0.0]),
    ] {
        let answer = answer(&json!({
            "times": [0, 2], "values": [[1, 5]], "end_rule": rule,
            "left": {"value": [[null, 2]], "slope": [[null, 7]], "curvature": [[null, -6]]},
            "right": {"value": [[0.5, null]], "slope": [[-7, null]], "curvature": [[3, null]]},
        }));
        for (found, expected) in numbers(&answer["pieces"][0][0]).iter().zip(expected) {
            assert_close(*found, expected, 1e-15, rule);
        }
        assert_eq!(
            answer.as_object().expect("an object").len(),
            1,
            "without a query only pieces are given"
        );
    }
}

#[test]
fn one_knot_gives_the_constant_through_it_and_no_pieces() {
    let one = json!({"value": [[0.25]], "slope": [[3]], "curvature": [[4]]});
    let answer = answer(
        &json!({"times": [1.5], "values": [[1]], "left": one, "right": one, "query": [1.5]}),
    );
    assert_eq!(answer, json!({"pieces": [[]], "compensation": [[0.75]]}));
}

#[test]
fn a_channel_without_observations_is_the_smoothed_model() {
    let mut input = parse(JUMP);
    input["values"][1] = json!(vec![Value::Null; 10]);
    let answer = answer(&input);
    for knot in 0..10 {
        let [left, right] = sides(&input, &answer, 1, knot);
        let model = number(&input[if knot == 9 { "left" } else { "right" }]["value"][1][knot]);
        assert_close(
            left.or(right).expect("a side")[0],
            model,
            1e-13,
            &format!("knot {knot}"),
        );
    }
}

#[test]
fn standard_input_and_an_output_file_give_the_same_bytes_as_a_file_and_standard_output() {
    let place = Place::with("jump.json", JUMP);
    let printed = place.run(&["compensate", "jump.json"]);
    let written = place.run_with_input(&["compensate", "-", "--output", "answer.json"], JUMP);
    assert_eq!(written.result(), "");
    assert_eq!(
        std::fs::read_to_string(place.path("answer.json")).expect("written"),
        printed.result()
    );
    assert_eq!(place.files(), ["answer.json", "jump.json"]);
}

#[test]
fn a_byte_order_mark_in_front_is_ignored() {
    let marked = Place::new().run_with_input(&["compensate", "-"], &format!("\u{feff}{JUMP}"));
    assert_eq!(
        marked.result(),
        Place::with("jump.json", JUMP)
            .run(&["compensate", "jump.json"])
            .result()
    );
}

#[test]
fn every_printed_number_reads_back_as_the_same_double() {
    // With o = 0 and one knot c is x itself: awkward doubles must come back bit for bit.
    for text in [
        "0.1",
        "5e-324",
        "1.7976931348623157e308",
        "-2.2250738585072014e-308",
        "123456789.12345679",
    ] {
        let zero = json!({"value": [[0]], "slope": [[0]], "curvature": [[0]]});
        let x: f64 = text.parse().expect("a double");
        let answer = answer(
            &json!({"times": [0], "values": [[x]], "left": zero, "right": zero, "query": [0]}),
        );
        assert_eq!(
            number(&answer["compensation"][0][0]).to_bits(),
            x.to_bits(),
            "{text}"
        );
    }
}
