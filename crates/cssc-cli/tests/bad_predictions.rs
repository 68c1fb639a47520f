//! `cssc compensate` on bad input: each message says where and what to do, nothing is written, the exit code is 2.

mod support;

use serde_json::{Value, json};
use support::Place;

const JUMP: &str = include_str!("../../../examples/jump.json");

/// Checks that `text` is refused with a message holding all `parts`, and that no file appears.
fn refused(text: &str, parts: &[&str]) {
    let place = Place::with("input.json", text);
    let outcome = place.run(&["compensate", "input.json", "--output", "answer.json"]);
    let message = outcome.complaint();
    for part in parts.iter().chain(&["input.json"]) {
        assert!(message.contains(part), "{part:?} should be in {message:?}");
    }
    assert_eq!(place.files(), ["input.json"]);
}

/// The example with one field changed by `change`.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut input: Value = serde_json::from_str(JUMP).expect("JSON");
    change(&mut input);
    input.to_string()
}

/// The example with a piece of its text replaced.
fn replaced(old: &str, new: &str) -> String {
    assert!(JUMP.contains(old), "{old:?} is in the example");
    JUMP.replacen(old, new, 1)
}

#[test]
fn truncated_json_is_called_truncated_wherever_it_is_cut() {
    for length in (1..JUMP.trim_end().len()).step_by(97) {
        refused(&JUMP[..length], &["ends too early", "line"]);
    }
    refused("", &["ends too early"]);
}

#[test]
fn text_that_is_not_json_is_refused_with_its_position() {
    refused("times = 1", &["line 1 column", "Expected JSON"]);
    refused(&format!("{JUMP} more"), &["trailing characters", "line"]);
}

#[test]
fn json_that_is_not_a_prediction_is_refused() {
    refused(
        "5",
        &["integer `5`, expected an object that describes a prediction"],
    );
    refused(
        &changed(|input| input["left"] = json!([])),
        &[
            "`left`",
            "expected an object with value, slope and curvature",
        ],
    );
}

#[test]
fn nan_and_infinity_are_not_json() {
    refused(
        &replaced("0.7446", "NaN"),
        &["`values[0][1]`", "NaN and Infinity are not JSON"],
    );
    refused(
        &replaced("0.761,", "-Infinity,"),
        &["`left.value[0][1]`", "NaN and Infinity are not JSON"],
    );
}

#[test]
fn numbers_too_large_for_a_double_are_refused() {
    refused(
        &replaced("0.7446", "1e999"),
        &["`values[0][1]`", "number out of range", "line 4"],
    );
}

#[test]
fn an_unknown_field_is_named_with_those_that_exist() {
    refused(
        &changed(|input| input["tims"] = json!([0])),
        &["unknown field `tims`", "`times`", "`max_fold`"],
    );
    refused(
        &changed(|input| input["left"]["values"] = json!([0])),
        &["`left", "unknown field `values`", "`curvature`"],
    );
}

#[test]
fn a_field_given_twice_is_refused() {
    refused(
        &replaced("\"end_rule\"", "\"times\": [0, 1], \"end_rule\""),
        &["duplicate field `times`"],
    );
    refused(
        &replaced("\"slope\"", "\"value\": [[0]], \"slope\""),
        &["duplicate field `value`"],
    );
}

#[test]
fn a_missing_field_is_named() {
    for field in ["times", "values", "left", "right"] {
        let without = changed(|input| drop(input.as_object_mut().expect("object").remove(field)));
        refused(&without, &[&format!("missing field `{field}`")]);
    }
}

#[test]
fn a_wrong_type_is_refused_with_its_field() {
    refused(
        &changed(|input| input["values"][1][2] = json!("high")),
        &["`values[1][2]`", "invalid type: string \"high\""],
    );
    refused(
        &changed(|input| input["times"][2] = Value::Null),
        &["`times[2]`", "invalid type: null"],
    );
    refused(
        &changed(|input| input["max_fold"] = json!(-1)),
        &["`max_fold`", "-1"],
    );
    refused(
        &changed(|input| input["max_fold"] = json!(2.5)),
        &["`max_fold`", "2.5"],
    );
    refused(
        &changed(|input| input["end_rule"] = json!("natural")),
        &["`end_rule`", "`natural`", "`output`", "`compensation`"],
    );
}

#[test]
fn lengths_that_differ_are_refused_with_field_channel_and_both_lengths() {
    let pop = |path: &'static str| {
        changed(|input| {
            drop(
                input
                    .pointer_mut(path)
                    .and_then(Value::as_array_mut)
                    .expect("list")
                    .pop(),
            )
        })
    };
    refused(
        &pop("/values/1"),
        &["`values[1]` (channel 1) has 9 entries", "10 `times`"],
    );
    refused(
        &pop("/left/slope/0"),
        &["`left.slope[0]` (channel 0) has 9 entries", "10 `times`"],
    );
    refused(
        &pop("/right/curvature"),
        &["`right.curvature` has 1 channel", "`values` has 2"],
    );
    refused(
        &pop("/times"),
        &["`values[0]` (channel 0) has 10 entries", "9 `times`"],
    );
}

#[test]
fn no_knots_or_no_channels_are_refused() {
    refused(
        &changed(|input| input["times"] = json!([])),
        &["`times`", "empty"],
    );
    let none = json!({"value": [], "slope": [], "curvature": []});
    let text = changed(|input| {
        input["values"] = json!([]);
        input["left"] = none.clone();
        input["right"] = none.clone();
    });
    refused(&text, &["`values`", "no channel"]);
}

#[test]
fn times_that_do_not_increase_are_refused_with_index_and_time() {
    refused(
        &changed(|input| input["times"][3] = json!(1.5)),
        &["times[3] = 1.5 follows 1.5", "increase"],
    );
    refused(
        &changed(|input| input["times"][4] = json!(2.0)),
        &["times[4] = 2 follows 2.1", "increase"],
    );
}

#[test]
fn a_limit_may_be_missing_only_where_nothing_is_on_that_side() {
    let null = |path: &'static str| {
        changed(|input| *input.pointer_mut(path).expect("there") = Value::Null)
    };
    refused(
        &null("/left/slope/1/3"),
        &[
            "`left.slope[1][3]`",
            "channel 1",
            "index 3",
            "time 2.1",
            "first knot",
        ],
    );
    refused(
        &null("/right/value/0/0"),
        &[
            "`right.value[0][0]`",
            "channel 0",
            "index 0",
            "time 0",
            "last knot",
        ],
    );
    refused(
        &null("/left/curvature/0/9"),
        &["`left.curvature[0][9]`", "time 8", "first knot"],
    );
}

#[test]
fn a_series_without_any_observation_is_refused() {
    let nothing = json!(vec![vec![Value::Null; 10]; 2]);
    refused(
        &changed(|input| input["values"] = nothing),
        &["no channel has an observation", "10 times from 0 to 8"],
    );
}

#[test]
fn an_answer_that_overflows_is_refused_instead_of_written_as_null() {
    refused(
        &changed(|input| input["values"][0] = json!([1e308, -1e308].repeat(5))),
        &["channel 0", "too large"],
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).expect("made");
    std::fs::write(place.path("bytes.json"), b"{\"times\": \xff}").expect("written");
    for (name, part) in [
        ("absent.json", "Check the name"),
        ("folder", "cannot read folder"),
        ("bytes.json", "byte 10 is not valid UTF-8"),
    ] {
        let outcome = place.run(&["compensate", name]);
        assert!(outcome.complaint().contains(part), "{outcome:?}");
        assert!(outcome.complaint().contains(name), "{outcome:?}");
    }
}

#[test]
fn standard_input_is_called_so() {
    let outcome = Place::new().run_with_input(&["compensate", "-"], "{");
    assert!(
        outcome.complaint().starts_with("standard input"),
        "{outcome:?}"
    );
}
