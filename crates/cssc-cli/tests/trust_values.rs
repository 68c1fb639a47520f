//! No wrong number is written silently: values that are filled in, and values that were there, in every format.

mod support;

use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, Float64Array, Int8Array, Int32Array, Int64Array,
    RecordBatch, TimestampMillisecondArray, cast::AsArray,
};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::sync::Arc;
use support::{Outcome, Place};

fn put_parquet(place: &Place, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of equal length");
    let file = std::fs::File::create(place.path(name)).expect("the place is writable");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a schema");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

fn get_parquet(place: &Place, name: &str) -> RecordBatch {
    let file = std::fs::File::open(place.path(name)).expect("the command wrote it");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a table");
    reader
        .build()
        .expect("rows")
        .next()
        .expect("a batch")
        .expect("readable")
}

fn fill(place: &Place, input: &str, output: &str, more: &[&str]) -> Outcome {
    let mut arguments = vec!["fill", input, "-o", output, "--quiet"];
    if !more.contains(&"--method") {
        arguments.extend_from_slice(&["--method", "linear"]);
    }
    arguments.extend_from_slice(more);
    place.run(&arguments)
}

/// The filled text of a text table.
fn filled(table: &str, more: &[&str]) -> String {
    let place = Place::with("in.csv", table);
    let outcome = fill(&place, "in.csv", "out.csv", more);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    place.read("out.csv")
}

#[test]
fn large_numbers_are_filled_between_their_neighbours() {
    let table = "time,meter\n0,1234567891\n1,\n2,1234567893\n";
    assert_eq!(
        filled(table, &[]),
        "time,meter\n0,1234567891\n1,1234567892\n2,1234567893\n"
    );
}

#[test]
fn the_previous_value_comes_back_digit_for_digit() {
    let table = "time,x\n0,0.12345678901234567\n1,\n2,5\n";
    let text = filled(table, &["--method", "previous"]);
    let cell = |line: usize| -> f64 {
        let line = text.lines().nth(line).expect("a row");
        line.split(',')
            .nth(1)
            .expect("a cell")
            .parse()
            .expect("a number")
    };
    assert_eq!(cell(1), cell(2));
}

#[test]
fn limits_hold_for_what_is_written() {
    let text = filled("time,x\n0,0\n1,\n2,0.2\n", &["--min", "0.12345678901"]);
    assert!(text.contains("\n1,0.12345678901\n"), "{text}");
}

#[test]
fn very_large_and_small_numbers_are_short() {
    let text = filled("time,x\n0,1e300\n1,\n2,3e300\n3,1e-9\n4,\n5,1e-9\n", &[]);
    assert!(
        text.contains("\n1,2e300\n") && text.contains("\n4,1e-9\n"),
        "{text}"
    );
}

#[test]
fn integers_of_a_text_table_are_rounded_on_request_only() {
    let table = "time,x\n0,1\n1,2\n2,3\n";
    let halves = "time,x\n0,1\n0.5,1.5\n1,2\n1.5,2.5\n2,3\n";
    assert_eq!(filled(table, &["--every", "0.5"]), halves);
    let rounded = "time,x\n0,1\n0.5,2\n1,2\n1.5,3\n2,3\n";
    assert_eq!(
        filled(table, &["--every", "0.5", "--integer", "x"]),
        rounded
    );
}

#[test]
fn floats_that_hold_integers_are_not_rounded_and_integer_types_stay_inside_their_type() {
    let place = Place::new();
    let floats = Float64Array::from(vec![1.0, 2.0, 4.0]);
    let bytes = Int8Array::from(vec![Some(100), None, Some(127), None, Some(120)]);
    put_parquet(
        &place,
        "float.parquet",
        vec![
            ("t", Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0]))),
            ("x", Arc::new(floats)),
        ],
    );
    assert_eq!(
        fill(&place, "float.parquet", "out.parquet", &["--every", "0.5"]).code,
        Some(0)
    );
    let x = get_parquet(&place, "out.parquet");
    let x = x
        .column(1)
        .as_primitive::<arrow_array::types::Float64Type>();
    assert_eq!(x.values(), &[1.0, 1.5, 2.0, 3.0, 4.0]);
    put_parquet(
        &place,
        "byte.parquet",
        vec![
            (
                "t",
                Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0, 3.0, 4.0])),
            ),
            ("x", Arc::new(bytes)),
        ],
    );
    let more = ["--method", "natural", "--mark"];
    assert_eq!(
        fill(&place, "byte.parquet", "out.parquet", &more).code,
        Some(0)
    );
    let x = get_parquet(&place, "out.parquet");
    assert_eq!(x.column(1).data_type(), &DataType::Int8);
    assert_eq!(
        x.column(1).null_count(),
        0,
        "what counts as filled is there: {x:?}"
    );
}

#[test]
fn numpy_says_what_it_cannot_hold() {
    let place = Place::new();
    typed(&place);
    let more = ["fill", "in.parquet", "-o", "out.npz", "--method", "linear"];
    let outcome = place.run(&more);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for words in [
        "the times of `when` are written in UTC, without their zone Europe/Rome",
        "the values of `money` are written as 64-bit floats",
    ] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    let outcome = place.run(&[
        "fill",
        "in.parquet",
        "-o",
        "out.arrow",
        "--method",
        "linear",
    ]);
    assert!(
        !outcome.stderr.contains("are written"),
        "{}",
        outcome.stderr
    );
}

/// Dates as integers, and moments in all units, in typed columns.
#[test]
fn times_that_are_integers_are_recognised_in_typed_columns_too() {
    let place = Place::new();
    let put = |times: Vec<i64>| {
        let values = Float64Array::from(vec![Some(1.0), None, Some(3.0)]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("when", Arc::new(Int64Array::from(times))),
            ("x", Arc::new(values)),
        ];
        put_parquet(&place, "in.parquet", columns);
    };
    put(vec![20_240_228, 20_240_229, 20_240_302]);
    let outcome = fill(&place, "in.parquet", "out.parquet", &["--every", "1d"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let batch = get_parquet(&place, "out.parquet");
    let days = batch.column(0).as_primitive::<Int64Type>();
    assert_eq!(
        days.values(),
        &[20_240_228, 20_240_229, 20_240_301, 20_240_302]
    );
    let x = batch
        .column(1)
        .as_primitive::<arrow_array::types::Float64Type>();
    assert!(
        (x.value(1) - 5.0 / 3.0).abs() < 1e-12,
        "three days apart: {x:?}"
    );
    for (unit, factor) in [
        ("seconds", 1),
        ("milliseconds", 1000),
        ("microseconds", 1_000_000),
        ("nanoseconds", 1_000_000_000),
    ] {
        put([0, 60, 180]
            .map(|second| (1_700_000_000 + second) * factor)
            .to_vec());
        let outcome = place.run(&[
            "fill",
            "in.parquet",
            "-o",
            "out.parquet",
            "--method",
            "linear",
            "--every",
            "1min",
        ]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(
            outcome
                .stderr
                .contains(&format!("read as {unit} since 1970")),
            "{}",
            outcome.stderr
        );
        let batch = get_parquet(&place, "out.parquet");
        let times = batch.column(0).as_primitive::<Int64Type>();
        assert_eq!(times.value(2), (1_700_000_000 + 120) * factor, "{unit}");
        assert_eq!(times.len(), 4);
    }
}

/// Integers beyond 2^53, small ones, decimals, and moments in a named zone.
fn typed(place: &Place) {
    let decimals = Decimal128Array::from(vec![Some(1250), None, Some(1_i128 << 66)]);
    let decimals = decimals.with_precision_and_scale(30, 2).expect("a decimal");
    let moments = TimestampMillisecondArray::from(vec![0, 60_000, 120_000]);
    put_parquet(
        place,
        "in.parquet",
        vec![
            ("when", Arc::new(moments.with_timezone("Europe/Rome"))),
            (
                "big",
                Arc::new(Int64Array::from(vec![
                    Some((1 << 60) + 1),
                    None,
                    Some((1 << 60) + 3),
                ])),
            ),
            ("small", Arc::new(Int32Array::from(vec![1, 2, 3]))),
            ("money", Arc::new(decimals)),
        ],
    );
}

#[test]
fn what_was_observed_comes_through_text_digit_for_digit() {
    let place = Place::new();
    typed(&place);
    let outcome = fill(&place, "in.parquet", "out.csv", &["--method", "previous"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(
        place.read("out.csv"),
        "when,big,small,money\n\
         1970-01-01T01:00:00+01:00,1152921504606846977,1,12.50\n\
         1970-01-01T01:01:00+01:00,1152921504606846976,2,12.50\n\
         1970-01-01T01:02:00+01:00,1152921504606846979,3,737869762948382064.64\n"
    );
}

#[test]
fn types_stay_when_the_format_can_hold_them() {
    let place = Place::new();
    typed(&place);
    for output in ["out.parquet", "out.arrow"] {
        let outcome = fill(&place, "in.parquet", output, &[]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    let batch = get_parquet(&place, "out.parquet");
    let kinds: Vec<DataType> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().clone())
        .collect();
    assert_eq!(
        kinds[1..],
        [
            DataType::Int64,
            DataType::Int32,
            DataType::Decimal128(30, 2)
        ]
    );
    let big = batch.column(1).as_primitive::<Int64Type>();
    assert_eq!((big.value(0), big.value(2)), ((1 << 60) + 1, (1 << 60) + 3));
    let money = batch.column(3).as_primitive::<Decimal128Type>();
    assert_eq!((money.value(0), money.value(2)), (1250, 1 << 66));
}

#[test]
fn dates_of_a_text_table_become_moments_and_come_back() {
    let place = Place::with(
        "in.csv",
        "when,x\n2024-03-31 01:00,1.5\n2024-03-31 02:00,\n2024-03-31 03:00,2\n",
    );
    assert_eq!(fill(&place, "in.csv", "out.parquet", &[]).code, Some(0));
    let batch = get_parquet(&place, "out.parquet");
    assert_eq!(
        batch.column(0).data_type(),
        &DataType::Timestamp(TimeUnit::Microsecond, None)
    );
    assert_eq!(fill(&place, "out.parquet", "back.csv", &[]).code, Some(0));
    assert!(
        place
            .read("back.csv")
            .starts_with("when,x\n2024-03-31T01:00:00,1.5\n"),
        "{}",
        place.read("back.csv")
    );
    let zone = ["--time-zone", "Europe/Rome"];
    assert_eq!(
        fill(&place, "in.csv", "rome.parquet", &zone).code,
        Some(2),
        "02:00 is not there that night"
    );
    assert_eq!(fill(&place, "in.csv", "out.npz", &[]).code, Some(0));
    assert_eq!(fill(&place, "out.npz", "npz.csv", &[]).code, Some(0));
    assert!(
        place.read("npz.csv").contains("2024-03-31T02:00:00,1.75\n"),
        "{}",
        place.read("npz.csv")
    );
}

#[test]
fn integers_of_a_text_table_that_no_float_holds_are_not_changed() {
    let place = Place::with(
        "in.csv",
        "t,x\n0,9007199254740993\n1,\n2,9007199254740995\n",
    );
    let outcome = fill(&place, "in.csv", "out.parquet", &[]);
    assert!(
        outcome
            .complaint()
            .contains("9007199254740993 would lose digits"),
        "{outcome:?}"
    );
    let outcome = fill(&place, "in.csv", "out.parquet", &["--integer", "x"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let batch = get_parquet(&place, "out.parquet");
    assert_eq!(
        batch.column(1).as_primitive::<Int64Type>().value(0),
        9_007_199_254_740_993
    );
    assert!(filled("t,x\n0,9007199254740993\n1,\n2,9\n", &[]).contains("0,9007199254740993\n"));
}

#[test]
fn new_rows_that_the_times_cannot_tell_apart_are_refused_before_training() {
    let place = Place::new();
    put_parquet(
        &place,
        "days.parquet",
        vec![
            (
                "day",
                Arc::new(Date32Array::from(vec![19_000, 19_001, 19_003])),
            ),
            ("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 4.0]))),
        ],
    );
    let outcome = fill(&place, "days.parquet", "out.parquet", &["--every", "12h"]);
    assert!(
        outcome.complaint().contains("multiple of 1 day"),
        "{outcome:?}"
    );
    assert_eq!(
        fill(&place, "days.parquet", "out.parquet", &["--every", "1d"]).code,
        Some(0)
    );
    assert_eq!(get_parquet(&place, "out.parquet").num_rows(), 4);
    place.put("in.csv", "when,x\n20240131,1\n20240201,2\n20240203,4\n");
    let pattern = ["--time-format", "%Y%m%d", "--every", "6h"];
    let outcome = fill(&place, "in.csv", "out.csv", &pattern);
    assert!(
        outcome.complaint().contains("multiple of 1 day"),
        "{outcome:?}"
    );
    put_parquet(
        &place,
        "whole.parquet",
        vec![
            ("t", Arc::new(Int64Array::from(vec![0, 1, 3]))),
            ("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 4.0]))),
        ],
    );
    let outcome = fill(&place, "whole.parquet", "out.parquet", &["--every", "0.5"]);
    assert!(outcome.complaint().contains("multiple of 1"), "{outcome:?}");
}
