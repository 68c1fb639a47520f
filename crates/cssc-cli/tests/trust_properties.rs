//! Over random tables: what was observed comes back equal in value and type, rows and their order are kept, nothing
//! is filled outside the limits or, by straight lines, outside the observed range, and `--in-place` equals a copy.

mod support;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use cssc::data::Random;
use cssc::data::npz;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::sync::Arc;
use support::Place;

/// Tables for each format.
const TABLES: u64 = 30;

/// A table without pattern: some series, their rows mixed or not, some columns of values, and one of remarks.
fn random_table(random: &mut Random, with_nulls: bool) -> RecordBatch {
    let series = 1 + random.below(3);
    let mut rows: Vec<(usize, i64)> = Vec::new();
    for id in 0..series {
        let (mut time, step) = (random.below(1000) as i64, 1 + random.below(3) as i64);
        for _ in 0..4 + random.below(20) {
            rows.push((id, time));
            time += step * (1 + random.below(4) as i64);
        }
    }
    if random.below(2) == 0 {
        random.shuffle(&mut rows);
    }
    let count = rows.len();
    let times = rows.iter().map(|(_, time)| *time);
    let time: ArrayRef = match random.below(4) {
        0 => Arc::new(times.collect::<Int64Array>()),
        1 => Arc::new(
            times
                .map(|time| time as f64 * 0.25)
                .collect::<Float64Array>(),
        ),
        2 if with_nulls => Arc::new(
            times
                .map(|time| Some(time as i32 + 19_000))
                .collect::<Date32Array>(),
        ),
        _ => {
            let moments = times.map(|time| Some(1_700_000_000_000_000 + time * 60_000_000));
            Arc::new(moments.collect::<TimestampMicrosecondArray>())
        }
    };
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    if series > 1 {
        let ids = rows.iter().map(|(id, _)| Some(format!("s{id}")));
        columns.push(("id".to_owned(), Arc::new(ids.collect::<StringArray>())));
    }
    columns.push(("time".to_owned(), time));
    for number in 0..1 + random.below(3) {
        columns.push((format!("v{number}"), values(random, count, with_nulls)));
    }
    if with_nulls || random.below(2) == 0 {
        let notes = (0..count).map(|row| Some(format!("remark {row}, \"so\"")));
        columns.push(("note".to_owned(), Arc::new(notes.collect::<StringArray>())));
    }
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .expect("columns of equal length")
}

/// A column of values with holes; NumPy's integers have none, so there only floats do.
fn values(random: &mut Random, count: usize, with_nulls: bool) -> ArrayRef {
    let hole = |random: &mut Random| random.below(4) == 0;
    let size = 10_f64.powi(random.below(9) as i32 - 4);
    match random.below(if with_nulls { 4 } else { 1 }) {
        0 => Arc::new(
            (0..count)
                .map(|_| (!hole(random)).then(|| size * random.normal(0.0, 1.0)))
                .collect::<Float64Array>(),
        ),
        1 => Arc::new(
            (0..count)
                .map(|_| (!hole(random)).then(|| random.below(1 << 53) as i64 * 512 + 1))
                .collect::<Int64Array>(),
        ),
        2 => Arc::new(
            (0..count)
                .map(|_| (!hole(random)).then(|| random.below(200) as i32 - 100))
                .collect::<Int32Array>(),
        ),
        _ => Arc::new(
            (0..count)
                .map(|_| (!hole(random)).then(|| (random.below(10_000) as f64) / 100.0))
                .collect::<Float64Array>(),
        ),
    }
}

fn put(place: &Place, name: &str, batch: &RecordBatch) {
    let file = std::fs::File::create(place.path(name)).expect("the place is writable");
    match name.rsplit('.').next() {
        Some("parquet") => {
            let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a schema");
            writer.write(batch).expect("written");
            writer.close().expect("closed");
        }
        Some("arrow") => {
            let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a schema");
            writer.write(batch).expect("written");
            writer.finish().expect("finished");
        }
        _ => panic!("no such format"),
    }
}

fn get(place: &Place, name: &str) -> RecordBatch {
    let file = std::fs::File::open(place.path(name)).expect("the command wrote it");
    let batch = match name.rsplit('.').next() {
        Some("parquet") => ParquetRecordBatchReaderBuilder::try_new(file)
            .expect("a table")
            .build()
            .expect("rows")
            .next(),
        _ => FileReader::try_new(file, None).expect("a table").next(),
    };
    batch.expect("a batch").expect("readable")
}

fn fill(place: &Place, input: &str, more: &[&str]) {
    let mut arguments = vec!["fill", input, "--quiet", "--method", "linear"];
    arguments.extend_from_slice(more);
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
}

/// Names of the columns of values, for `--values`.
fn value_names(batch: &RecordBatch) -> String {
    let fields = batch.schema();
    let names = fields.fields().iter().map(|field| field.name().as_str());
    names
        .filter(|name| name.starts_with('v'))
        .collect::<Vec<_>>()
        .join(",")
}

/// A value as a number, `None` where there is none; NaN is none in NumPy.
fn number(column: &ArrayRef, row: usize) -> Option<f64> {
    if column.is_null(row) {
        return None;
    }
    let value = match column.data_type() {
        arrow_schema::DataType::Float64 => column.as_primitive::<Float64Type>().value(row),
        arrow_schema::DataType::Int64 => column.as_primitive::<Int64Type>().value(row) as f64,
        arrow_schema::DataType::Int32 => f64::from(column.as_primitive::<Int32Type>().value(row)),
        other => panic!("unexpected {other}"),
    };
    (!value.is_nan()).then_some(value)
}

/// Observed cells are bit for bit the same, and what was filled lies between the values of its series.
fn compare(before: &RecordBatch, after: &RecordBatch, seed: u64) {
    assert_eq!(before.num_rows(), after.num_rows(), "seed {seed}");
    let schema = before.schema();
    for (place, field) in schema.fields().iter().enumerate() {
        let (old, new) = (before.column(place), after.column(place));
        assert_eq!(
            old.data_type(),
            new.data_type(),
            "seed {seed}, {}",
            field.name()
        );
        if !field.name().starts_with('v') {
            assert_eq!(
                old, new,
                "seed {seed}: ids, times and remarks stay where they are"
            );
            continue;
        }
        for row in 0..before.num_rows() {
            if number(old, row).is_some() {
                assert_eq!(
                    &old.slice(row, 1),
                    &new.slice(row, 1),
                    "seed {seed}, row {row}"
                );
            } else if let Some(filled) = number(new, row) {
                let (low, high) = range(before, place, row);
                assert!(
                    low <= filled && filled <= high,
                    "seed {seed}, row {row}: {filled} outside {low} to {high}"
                );
            }
        }
    }
}

/// The least and the largest value of a column in the series of a row; integers may be rounded by one.
fn range(batch: &RecordBatch, place: usize, row: usize) -> (f64, f64) {
    let id = |row: usize| batch.column_by_name("id").map(|ids| ids.slice(row, 1));
    let own = (0..batch.num_rows()).filter(|other| id(*other) == id(row));
    let known = own.filter_map(|row| number(batch.column(place), row));
    let (low, high) = known.fold((f64::MAX, f64::MIN), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    // One unit in the last place for sums of two products.
    (low - low.abs() * 1e-15, high + high.abs() * 1e-15)
}

fn keeps(ending: &str) {
    let place = Place::new();
    for seed in 0..TABLES {
        let random = &mut Random::stream(7, seed);
        let table = random_table(random, true);
        let (input, output) = (format!("in.{ending}"), format!("out.{ending}"));
        put(&place, &input, &table);
        let names = value_names(&table);
        let ids = table
            .column_by_name("id")
            .map_or(vec![], |_| vec!["--id", "id"]);
        let common = [&["--time", "time", "--values", names.as_str()][..], &ids].concat();
        fill(&place, &input, &[&common[..], &["-o", &output]].concat());
        compare(&table, &get(&place, &output), seed);
        let copy = std::fs::read(place.path(&output)).expect("written");
        fill(&place, &input, &[&common[..], &["--in-place"]].concat());
        assert_eq!(
            std::fs::read(place.path(&input)).expect("replaced"),
            copy,
            "seed {seed}"
        );
    }
}

#[test]
fn parquet_comes_back_as_it_was() {
    keeps("parquet");
}

#[test]
fn arrow_comes_back_as_it_was() {
    keeps("arrow");
}

/// Cells as text: what was written by people comes back letter by letter.
#[test]
fn text_comes_back_as_it_was() {
    let place = Place::new();
    for seed in 0..TABLES {
        let random = &mut Random::stream(8, seed);
        let (rows, columns) = (4 + random.below(30), 1 + random.below(3));
        let separator = [",", ";", "\t"][random.below(3)];
        let cell = |random: &mut Random| match random.below(6) {
            0 => String::new(),
            1 => "NA".to_owned(),
            2 => random.below(1000).to_string(),
            3 => format!("{:.3}", random.normal(0.0, 10.0)),
            4 => format!("{:e}", random.normal(0.0, 1e-9)),
            _ => random.normal(0.0, 1e6).to_string(),
        };
        let lines: Vec<Vec<String>> = (0..rows)
            .map(|row| {
                let time = format!("2024-02-{:02} {:02}:00", 1 + row / 24, row % 24);
                let mut line = vec![time, format!("\"remark{separator} {row}\"")];
                line.extend((0..columns).map(|_| cell(random)));
                line
            })
            .collect();
        let names: Vec<String> = (0..columns).map(|number| format!("v{number}")).collect();
        let head = [&["time".to_owned(), "note".to_owned()][..], &names].concat();
        let mut table = head.join(separator) + "\n";
        for line in &lines {
            table += &(line.join(separator) + "\n");
        }
        place.put("in.csv", &table);
        let values = names.join(",");
        let common = [
            "--separator",
            separator,
            "--time",
            "time",
            "--values",
            &values,
        ];
        let known = |line: &[String], column: usize| line[2 + column].parse::<f64>().ok();
        if (0..columns).any(|column| lines.iter().all(|line| known(line, column).is_none())) {
            continue;
        }
        fill(
            &place,
            "in.csv",
            &[&common[..], &["-o", "out.csv"]].concat(),
        );
        let written = place.read("out.csv");
        let after: Vec<&str> = written.lines().collect();
        assert_eq!(after.len(), rows + 1, "seed {seed}");
        assert_eq!(after[0], head.join(separator), "seed {seed}");
        let marked = format!("remark{separator} ");
        for (row, line) in lines.iter().enumerate() {
            let found = after[row + 1].replace(&marked, "remark ");
            let found: Vec<&str> = found.split(separator).collect();
            assert_eq!(found[0], line[0], "seed {seed}");
            for column in 0..columns {
                let cell = found[2 + column];
                match known(line, column) {
                    Some(_) => assert_eq!(cell, line[2 + column], "seed {seed}, row {row}"),
                    None => {
                        let all = lines.iter().filter_map(|line| known(line, column));
                        let (low, high) =
                            all.fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
                        let filled = cell.parse::<f64>();
                        assert!(
                            filled.as_ref().is_err()
                                || filled.is_ok_and(|x| (low..=high).contains(&x)),
                            "seed {seed}, row {row}: {cell} outside {low} to {high}"
                        );
                    }
                }
            }
        }
        fill(&place, "in.csv", &[&common[..], &["--in-place"]].concat());
        assert_eq!(place.read("in.csv"), written, "seed {seed}");
        fill(
            &place,
            "out.csv",
            &[&common[..], &["-o", "again.csv"]].concat(),
        );
        assert_eq!(
            place.read("again.csv"),
            written,
            "seed {seed}: what is filled stays"
        );
    }
}

/// NumPy has no null: holes are NaN, and only columns of floats have them.
#[test]
fn numpy_archives_come_back_as_they_were() {
    let place = Place::new();
    for seed in 0..TABLES {
        let random = &mut Random::stream(9, seed);
        let rows = 4 + random.below(30);
        let value = |random: &mut Random| match random.below(4) {
            0 => f64::NAN,
            _ => random.normal(0.0, 100.0),
        };
        let floats =
            |random: &mut Random| npz::Elements::Float((0..rows).map(|_| value(random)).collect());
        let times = match random.below(2) {
            0 => npz::Elements::Integer((0..rows).map(|row| 3 * row as i64).collect()),
            _ => npz::Elements::Moments(
                npz::MomentUnit::Second,
                (0..rows)
                    .map(|row| 1_700_000_000 + 60 * row as i64)
                    .collect(),
            ),
        };
        let array = |name: &str, elements| npz::Array {
            name: name.to_owned(),
            shape: vec![rows],
            elements,
        };
        let mut arrays = vec![
            array("time", times),
            array("v0", floats(random)),
            array("v1", floats(random)),
        ];
        let counts = (0..rows).map(|_| random.below(50) as i64).collect();
        arrays.push(array("v2", npz::Elements::Integer(counts)));
        npz::write(&place.path("in.npz"), &arrays).expect("written");
        fill(&place, "in.npz", &["-o", "out.npz"]);
        let after = npz::read(&place.path("out.npz")).expect("an archive");
        for before in &arrays {
            let found = after
                .iter()
                .find(|array| array.name == before.name)
                .expect("all arrays");
            assert_eq!(
                std::mem::discriminant(&found.elements),
                std::mem::discriminant(&before.elements)
            );
            let (old, new) = (
                before.floats().expect("numbers"),
                found.floats().expect("numbers"),
            );
            let known = old.iter().copied().filter(|x| !x.is_nan());
            let (low, high) = known.fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
            for (old, new) in old.iter().zip(&new) {
                let same = old.to_bits() == new.to_bits();
                let inside = low <= *new && *new <= high || new.is_nan();
                assert!(
                    if old.is_nan() { inside } else { same },
                    "seed {seed}: {old} became {new}"
                );
            }
        }
        let copy = std::fs::read(place.path("out.npz")).expect("written");
        fill(&place, "in.npz", &["--in-place"]);
        assert_eq!(
            std::fs::read(place.path("in.npz")).expect("replaced"),
            copy,
            "seed {seed}"
        );
    }
}

/// All methods that need no training, with limits inside the range of the data.
#[test]
fn nothing_is_filled_outside_the_limits() {
    let place = Place::new();
    for seed in 0..8 {
        let random = &mut Random::stream(10, seed);
        let rows: String = (0..60)
            .map(|row| match random.below(3) {
                0 => format!("{row},\n"),
                _ => format!("{row},{}\n", random.normal(0.0, 3.0)),
            })
            .collect();
        place.put(
            "in.csv",
            &format!("t,x\n0,1.5\n{}", rows.split_once('\n').expect("rows").1),
        );
        for method in ["linear", "natural", "makima", "smoothing", "previous"] {
            let fill = [
                "fill", "in.csv", "-o", "out.csv", "--mark", "--quiet", "--method", method,
            ];
            let outcome = place.run(&[&fill[..], &["--min", "-1.25", "--max", "2.5"]].concat());
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            for line in place.read("out.csv").lines().skip(1) {
                let cells: Vec<&str> = line.split(',').collect();
                if cells[2] == "x" {
                    let filled: f64 = cells[1].parse().expect("a number");
                    assert!(
                        (-1.25..=2.5).contains(&filled),
                        "seed {seed}, {method}: {line}"
                    );
                }
            }
        }
    }
}
