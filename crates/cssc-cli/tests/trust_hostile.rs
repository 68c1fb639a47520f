//! Damaged and hostile tables end with exit code 2 and the name of the file: no panic, no abort, no gigabytes.

mod support;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::io::Write;
use std::sync::Arc;
use support::{Outcome, Place};

fn table() -> RecordBatch {
    let rows = 40;
    let times: ArrayRef = Arc::new((0..rows).map(Some).collect::<Int64Array>());
    let value = |row: i64| (row % 7 != 3).then_some(row as f64 / 3.0);
    let values: ArrayRef = Arc::new((0..rows).map(value).collect::<Float64Array>());
    let notes: ArrayRef = Arc::new(
        (0..rows)
            .map(|row| Some(format!("note {row}")))
            .collect::<StringArray>(),
    );
    let columns = [
        ("t", times, true),
        ("x", values, true),
        ("note", notes, true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of equal length")
}

fn arrow_file() -> Vec<u8> {
    let batch = table();
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a schema");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("finished")
}

fn arrow_stream() -> Vec<u8> {
    let batch = table();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a schema");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("finished")
}

fn parquet_file() -> Vec<u8> {
    let batch = table();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a schema");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    bytes
}

fn run(place: &Place, name: &str, more: &[&str]) -> Outcome {
    let mut arguments = vec![
        "fill", name, "-o", "out.csv", "--method", "linear", "--quiet",
    ];
    arguments.extend_from_slice(more);
    place.run(&arguments)
}

/// Either the damage does no harm, or it is said.
fn survives(place: &Place, name: &str, bytes: &[u8], what: &str) {
    std::fs::write(place.path(name), bytes).expect("the place is writable");
    let outcome = run(place, name, &[]);
    match outcome.code {
        Some(0) => {}
        Some(2) => assert!(outcome.complaint().contains(name), "{what}: {outcome:?}"),
        _ => panic!("{what}: {outcome:?}"),
    }
}

/// Cuts, and changes of single bytes to what lengths fear most, all over the file.
fn survives_damage(name: &str, good: &[u8], steps: usize) {
    let place = Place::new();
    std::fs::write(place.path(name), good).expect("the place is writable");
    assert_eq!(
        run(&place, name, &[]).code,
        Some(0),
        "the file itself is fine"
    );
    for step in 0..steps {
        let at = step * good.len() / steps;
        survives(&place, name, &good[..at], &format!("cut at {at}"));
        let mut bytes = good.to_vec();
        bytes[at] = [0x00, 0xff, 0x7f, 0x80][step % 4];
        survives(&place, name, &bytes, &format!("byte {at} changed"));
        if at + 4 <= bytes.len() {
            bytes[at..at + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
            survives(&place, name, &bytes, &format!("length at {at}"));
        }
    }
}

#[test]
fn damaged_arrow_files_are_refused_or_read() {
    survives_damage("in.arrow", &arrow_file(), 120);
}

#[test]
fn damaged_arrow_streams_are_refused_or_read() {
    survives_damage("in.arrows", &arrow_stream(), 120);
}

#[test]
fn damaged_parquet_files_are_refused_or_read() {
    survives_damage("in.parquet", &parquet_file(), 120);
}

#[test]
fn a_tiny_file_that_asks_for_gigabytes_is_refused() {
    let place = Place::new();
    let mut bytes = vec![0xff; 4];
    bytes.extend(i32::MAX.to_le_bytes());
    bytes.extend([0; 100]);
    std::fs::write(place.path("in.arrow"), bytes).expect("written");
    let outcome = run(&place, "in.arrow", &[]);
    assert!(
        outcome
            .complaint()
            .contains("2147483647 bytes, the file has 108"),
        "{outcome:?}"
    );
}

/// A packed file whose last page says that it has two gigabytes once it is unpacked.
fn parquet_of_gigabytes(place: &Place, name: &str) {
    let batch = table();
    let packed =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let file = std::fs::File::create(place.path(name)).expect("created");
    let writer = ArrowWriter::try_new(file, batch.schema(), Some(packed.build()));
    let mut writer = writer.expect("a schema");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    let file = std::fs::File::open(place.path(name)).expect("there");
    let head = SerializedFileReader::new(file).expect("a Parquet file");
    let column = head.metadata().row_group(0).columns().last().cloned();
    let at = column.expect("three columns").data_page_offset() as usize;
    let mut bytes = std::fs::read(place.path(name)).expect("there");
    // Field 1, the kind of the page; field 2, the length, seven bits a byte.
    let length = at + 3;
    assert_eq!([bytes[at], bytes[at + 2]], [0x15, 0x15]);
    let digits = bytes[length..].iter().take_while(|&&byte| byte >= 0x80);
    let end = length + digits.count() + 1;
    bytes.splice(length..end, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    std::fs::write(place.path(name), bytes).expect("written");
}

#[test]
fn a_page_that_asks_for_gigabytes_is_refused() {
    let place = Place::new();
    parquet_of_gigabytes(&place, "in.parquet");
    let outcome = run(&place, "in.parquet", &[]);
    let told = "column `note` has a page that takes 2147483647 bytes, and 67108864 are allowed";
    assert!(outcome.complaint().contains(told), "{outcome:?}");
    assert!(outcome.complaint().contains("in.parquet"), "{outcome:?}");
}

/// Writes as much again and again of one entry, compressed to nearly nothing.
fn bomb(place: &Place, name: &str, megabytes: usize) {
    let file = std::fs::File::create(place.path(name)).expect("created");
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(b"t,x\n0,1\n1,\"").expect("written");
    for _ in 0..megabytes {
        gzip.write_all(&[b'a'; 1 << 20]).expect("written");
    }
    gzip.finish().expect("finished");
}

#[test]
fn one_entry_that_would_fill_the_memory_is_refused() {
    let place = Place::new();
    bomb(&place, "in.csv.gz", 1100);
    let outcome = run(&place, "in.csv.gz", &[]);
    assert!(
        outcome.complaint().contains("one row has more than"),
        "{outcome:?}"
    );
    let outcome = run(&place, "in.csv.gz", &["--max-memory", "1MB"]);
    assert!(
        outcome.complaint().contains("more than 1048576 bytes"),
        "{outcome:?}"
    );
}

#[test]
fn a_series_that_takes_more_than_the_memory_allowed_is_refused() {
    let rows: String = (0..20_000).map(|row| format!("{row},{row}.5\n")).collect();
    let place = Place::with("in.csv", &format!("t,x\n{rows}"));
    let outcome = run(&place, "in.csv", &["--max-memory", "100kB"]);
    assert!(outcome.complaint().contains("--max-memory"), "{outcome:?}");
    assert_eq!(
        run(&place, "in.csv", &["--max-memory", "100MB"]).code,
        Some(0)
    );
}

#[test]
fn a_step_that_would_make_billions_of_rows_is_refused_at_once() {
    let place = Place::with("in.csv", "time,x\n2024-01-01,1\n2024-02-10,2\n");
    let outcome = run(&place, "in.csv", &["--every", "1ms"]);
    assert!(
        outcome.complaint().contains("3.5 billion rows"),
        "{outcome:?}"
    );
}

#[test]
fn names_and_cells_do_not_command_the_terminal() {
    let place = Place::with(
        "in.csv",
        "time,x\u{1b}[2J,y\n0,1,2\n1,,3\n2,3,high\u{7}\n3,4,5\n",
    );
    let outcome = place.run(&["fill", "in.csv", "--budget", "0s"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("x\\u{1b}[2J"), "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains(['\u{1b}', '\u{7}']),
        "{:?}",
        outcome.stderr
    );
    let outcome = run(&place, "in.csv", &["--values", "y"]);
    assert!(outcome.complaint().contains("`high\\u{7}`"), "{outcome:?}");
}
