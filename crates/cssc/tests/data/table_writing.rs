//! Tables are written as they were read: untouched entries, time form, separator, format.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, RecordBatch,
    TimestampMillisecondArray,
};
use cssc::Error;
use cssc::data::Series;
use cssc::data::table::{
    Counts, Duplicates, Filled, ReadOptions, TableReader, TableWriter, TimeFormat, apply,
    read_dataset,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use tempfile::TempDir;

/// Passes `input` through `method` to `output`.
fn pass(
    input: &Path,
    output: &Path,
    options: ReadOptions,
    method: impl Fn(&Series) -> Filled + Sync,
) -> Counts {
    let mut reader = TableReader::open(input, options).unwrap();
    let mut writer = TableWriter::create(output, reader.shape()).unwrap();
    let counts = apply(&mut reader, &mut writer, |series| {
        Ok::<_, Error>(method(series))
    })
    .unwrap();
    writer.finish().unwrap();
    counts
}

struct Files {
    directory: TempDir,
}

impl Files {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What becomes of a text table.
    fn text(
        &self,
        text: &str,
        options: ReadOptions,
        method: impl Fn(&Series) -> Filled + Sync,
    ) -> String {
        std::fs::write(self.path("in.csv"), text).unwrap();
        pass(&self.path("in.csv"), &self.path("out.csv"), options, method);
        std::fs::read_to_string(self.path("out.csv")).unwrap()
    }
}

/// Fills every hole with 0.5.
fn fill_half(series: &Series) -> Filled {
    let values = series
        .values()
        .iter()
        .map(|value| if value.is_nan() { 0.5 } else { *value });
    Filled {
        values: values.collect(),
        ..Filled::default()
    }
}

/// A new row of 7s midway between the first two times.
fn add_one_row(series: &Series) -> Filled {
    let middle = (series.times()[0] + series.times()[1]) / 2.0;
    Filled {
        new_times: vec![middle],
        new_values: vec![7.0; series.channels()],
        ..Filled::unchanged(series)
    }
}

#[test]
fn an_untouched_text_table_is_written_byte_for_byte() {
    let files = Files::new();
    for (ending, text) in [
        (
            "csv",
            "id,time,x,note\na,0,1.50,\"one, two\"\na,1,NA,\nb,0,-0.0,x\n",
        ),
        (
            "csv",
            "Date;Time;CO\n10/03/2004;18.00.00;2,60\n10/03/2004;19.00.00;\n",
        ),
        ("tsv", "t\tx\n0\t1e3\n1\t+2\n"),
    ] {
        let mut options = ReadOptions::default();
        if text.starts_with("Date") {
            options.time_format = TimeFormat::Pattern("%d/%m/%Y %H.%M.%S".into());
        }
        let [input, output] = ["in", "out"].map(|name| files.path(&format!("{name}.{ending}")));
        std::fs::write(&input, text).unwrap();
        pass(&input, &output, options, Filled::unchanged);
        assert_eq!(std::fs::read_to_string(output).unwrap(), text);
    }
}

#[test]
fn holes_are_filled_and_everything_else_is_left_as_it_was() {
    let text = "id;when;x;note\na;2024-01-01 00:00;1,50;keep\na;2024-01-01 00:10;;\nb;2024-01-01 00:00;NA;\n";
    let expected = "id;when;x;note\na;2024-01-01 00:00;1,50;keep\na;2024-01-01 00:10;0,5;\nb;2024-01-01 00:00;0,5;\n";
    assert_eq!(
        Files::new().text(text, ReadOptions::default(), fill_half),
        expected
    );
}

#[test]
fn new_rows_have_the_id_the_time_in_its_form_and_the_values() {
    let files = Files::new();
    assert_eq!(
        files.text(
            "id,time,x,note\na,0,1,k\na,1,2,l\n",
            ReadOptions::default(),
            add_one_row
        ),
        "id,time,x,note\na,0,1,k\na,0.5,7,\na,1,2,l\n"
    );
    assert_eq!(
        files.text(
            "time,x\n2024-03-31T01:00:00+01:00,1\n2024-03-31T02:00:00+01:00,2\n",
            ReadOptions::default(),
            add_one_row
        ),
        "time,x\n2024-03-31T01:00:00+01:00,1\n2024-03-31T01:30:00+01:00,7\n2024-03-31T02:00:00+01:00,2\n"
    );
    let pattern = ReadOptions {
        time_format: TimeFormat::Pattern("%d/%m/%Y %H.%M.%S".into()),
        ..ReadOptions::default()
    };
    assert_eq!(
        files.text(
            "Date;Time;CO\n10/03/2004;23.00.00;2,6\n11/03/2004;02.00.00;2\n",
            pattern,
            add_one_row
        ),
        "Date;Time;CO\n10/03/2004;23.00.00;2,6\n11/03/2004;00.30.00;7\n11/03/2004;02.00.00;2\n"
    );
    let milliseconds = ReadOptions {
        time_format: TimeFormat::EpochMilliseconds,
        ..ReadOptions::default()
    };
    assert_eq!(
        files.text(
            "time,x\n1700000000000,1\n1700000001000,2\n",
            milliseconds,
            add_one_row
        ),
        "time,x\n1700000000000,1\n1700000000500,7\n1700000001000,2\n"
    );
}

#[test]
fn averaged_rows_are_written_once_with_their_means() {
    let options = ReadOptions {
        duplicates: Duplicates::Average,
        ..ReadOptions::default()
    };
    let text = "t,x,note\n0,1,a\n1,2,b\n1,5,c\n";
    assert_eq!(
        Files::new().text(text, options, Filled::unchanged),
        "t,x,note\n0,1,a\n1,3.5,b\n"
    );
}

#[test]
fn every_format_comes_back_the_same_through_every_other() {
    let files = Files::new();
    let text = "id,time,x,y,note\na,0,1.5,2,one\na,0.25,,3,\nb,0,-4.75,,two\n";
    std::fs::write(files.path("0.csv"), text).unwrap();
    let names = [
        "0.csv",
        "1.parquet",
        "2.arrow",
        "3.npz",
        "4.tsv.gz",
        "5.parquet.gz",
        "6.feather",
        "7.csv.zst",
        "8.npz",
        "9.csv",
    ];
    let (expected, _) = read_dataset(&files.path("0.csv"), &ReadOptions::default()).unwrap();
    for pair in names.windows(2) {
        let counts = pass(
            &files.path(pair[0]),
            &files.path(pair[1]),
            ReadOptions::default(),
            Filled::unchanged,
        );
        assert_eq!(
            counts,
            Counts {
                series: 2,
                rows: 3,
                filled: 0,
                added: 0
            }
        );
        let (found, _) = read_dataset(&files.path(pair[1]), &ReadOptions::default()).unwrap();
        assert_eq!(found.channel_names(), expected.channel_names());
        // NaN is not equal to itself: compare as text.
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{pair:?}");
    }
    let last = std::fs::read_to_string(files.path("9.csv")).unwrap();
    assert!(last.contains("one") && last.contains("two"), "{last}");
}

/// Typed columns as other tools write them: categories as ids, timestamps with a zone, whole
/// numbers with holes, truth values.
fn typed_table(path: &Path) {
    let ids: DictionaryArray<Int32Type> = ["a", "a", "b", "b"].into_iter().collect();
    let times =
        TimestampMillisecondArray::from(vec![0, 60_000, 0, 90_000]).with_timezone("Europe/Rome");
    let counts = Int32Array::from(vec![Some(1), None, Some(3), Some(4)]);
    let flags = BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]);
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(ids)),
        ("when", Arc::new(times)),
        ("count", Arc::new(counts)),
        ("flag", Arc::new(flags)),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    );
    let batch = batch.unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn typed_columns_keep_their_types_and_whole_numbers_stay_whole() {
    let files = Files::new();
    typed_table(&files.path("in.parquet"));
    let method = |series: &Series| Filled {
        values: fill_half(series).values,
        ..add_one_row(series)
    };
    let counts = pass(
        &files.path("in.parquet"),
        &files.path("out.parquet"),
        ReadOptions::default(),
        method,
    );
    assert_eq!(
        counts,
        Counts {
            series: 2,
            rows: 4,
            filled: 1,
            added: 2
        }
    );

    let file = std::fs::File::open(files.path("out.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batch = reader.next().unwrap().unwrap();
    let kinds: Vec<String> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().to_string())
        .collect();
    assert_eq!(kinds[0], "Dictionary(Int32, Utf8)");
    assert_eq!(kinds[1], "Timestamp(ms, \"Europe/Rome\")");
    assert_eq!(kinds[2..], ["Int32", "Boolean"]);
    let times = batch
        .column(1)
        .as_any()
        .downcast_ref::<TimestampMillisecondArray>()
        .unwrap();
    assert_eq!(times.values(), &[0, 30_000, 60_000, 0, 45_000, 90_000]);
    let counts = batch
        .column(2)
        .as_any()
        .downcast_ref::<Int32Array>()
        .unwrap();
    // 0.5 was filled in, and is rounded.
    assert_eq!(counts.values(), &[1, 7, 1, 3, 7, 4]);
    let flags = batch
        .column(3)
        .as_any()
        .downcast_ref::<BooleanArray>()
        .unwrap();
    let flags: Vec<Option<bool>> = flags.iter().collect();
    assert_eq!(
        flags,
        [Some(true), None, None, Some(false), None, Some(true)]
    );
}

#[test]
fn a_table_can_be_written_over_the_one_it_is_read_from() {
    let files = Files::new();
    let path = files.path("same.csv");
    std::fs::write(&path, "t,x\n0,1\n1,\n").unwrap();
    pass(&path, &path, ReadOptions::default(), fill_half);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "t,x\n0,1\n1,0.5\n");
}

#[test]
fn an_unfinished_table_leaves_no_trace() {
    let files = Files::new();
    std::fs::write(files.path("in.csv"), "t,x\n0,1\n1,2\n").unwrap();
    let mut reader = TableReader::open(&files.path("in.csv"), ReadOptions::default()).unwrap();
    let mut writer = TableWriter::create(&files.path("out.csv"), reader.shape()).unwrap();
    let failed = apply(&mut reader, &mut writer, |_| {
        Err::<Filled, _>(Error::other("nothing"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "nothing");
    drop(writer);
    let left: Vec<_> = std::fs::read_dir(files.directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_method_that_gives_too_few_values_is_refused() {
    let files = Files::new();
    std::fs::write(files.path("in.csv"), "id,t,x\na,0,1\na,1,2\n").unwrap();
    let mut reader = TableReader::open(&files.path("in.csv"), ReadOptions::default()).unwrap();
    let mut writer = TableWriter::create(&files.path("out.csv"), reader.shape()).unwrap();
    let short = |_: &Series| {
        Ok::<_, Error>(Filled {
            values: vec![1.0],
            ..Filled::default()
        })
    };
    let message = apply(&mut reader, &mut writer, short)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "series a: expected 2 times x 1 channels = 2 values, found 1"
    );
}

/// Rows of a few series at whole times, in any order, some missing.
fn rows() -> impl Strategy<Value = Vec<(u8, i8, Option<i16>)>> {
    prop::collection::vec((0u8..4, any::<i8>(), prop::option::of(any::<i16>())), 1..60)
}

fn table(rows: &[(u8, i8, Option<i16>)]) -> String {
    let line = |(id, time, value): &(u8, i8, Option<i16>)| {
        let value = value.map_or(String::new(), |value| value.to_string());
        format!("s{id},{time},{value}\n")
    };
    let lines: String = rows.iter().map(line).collect();
    format!("id,time,x\n{lines}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_rows_and_the_size_of_blocks_do_not_matter(rows in rows(), batch_rows in 1usize..9) {
        let files = Files::new();
        let channels = vec!["x".to_owned()];
        let options = ReadOptions { duplicates: Duplicates::Average, batch_rows, channels, ..ReadOptions::default() };
        let read = |rows: &[(u8, i8, Option<i16>)]| {
            std::fs::write(files.path("in.csv"), table(rows)).unwrap();
            let (data, _) = read_dataset(&files.path("in.csv"), &options).unwrap();
            let mut series = data.series().to_vec();
            series.sort_by(|a, b| a.id().cmp(&b.id()));
            series
        };
        let mut sorted = rows.clone();
        sorted.sort_by_key(|row| (row.0, row.1));
        prop_assert_eq!(format!("{:?}", read(&rows)), format!("{:?}", read(&sorted)));
    }

    #[test]
    fn averaging_keeps_every_time_once_and_the_mean_of_its_values(rows in rows()) {
        let files = Files::new();
        let channels = vec!["x".to_owned()];
        let options = ReadOptions { duplicates: Duplicates::Average, channels, ..ReadOptions::default() };
        std::fs::write(files.path("in.csv"), table(&rows)).unwrap();
        let (data, _) = read_dataset(&files.path("in.csv"), &options).unwrap();
        for series in data.series() {
            prop_assert!(series.times().windows(2).all(|pair| pair[0] < pair[1]));
            for (index, &time) in series.times().iter().enumerate() {
                let same = rows.iter().filter(|row| Some(format!("s{}", row.0).as_str()) == series.id());
                let same = same.filter(|row| f64::from(row.1) == time);
                let there: Vec<f64> = same.filter_map(|row| row.2.map(f64::from)).collect();
                let mean = there.iter().sum::<f64>() / there.len() as f64;
                match series.value(index, 0) {
                    Some(value) => prop_assert!((value - mean).abs() < 1e-9),
                    None => prop_assert!(there.is_empty()),
                }
            }
        }
    }

    #[test]
    fn numbers_come_back_bit_for_bit_from_every_format(
        values in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 2..20),
    ) {
        let files = Files::new();
        let lines: String = values.iter().enumerate().map(|(time, x)| format!("{time},{x}\n")).collect();
        std::fs::write(files.path("in.csv"), format!("t,x\n{lines}")).unwrap();
        for name in ["out.parquet", "out.arrow", "out.npz", "out.csv"] {
            pass(&files.path("in.csv"), &files.path(name), ReadOptions::default(), Filled::unchanged);
            let (data, _) = read_dataset(&files.path(name), &ReadOptions::default()).unwrap();
            prop_assert_eq!(data.series()[0].values(), &values[..]);
        }
    }
}
