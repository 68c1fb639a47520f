//! People's own tables: every format, layout and time form is read, and every wrong one refused.
use std::io::Write;
use std::path::{Path, PathBuf};

use cssc::Error;
use cssc::data::Dataset;
use cssc::data::table::{Duplicates, Notice, ReadOptions, TimeFormat, read_dataset};
use tempfile::TempDir;

use crate::repository;

fn put(directory: &TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn read_as(text: &str, options: &ReadOptions) -> Result<(Dataset, Vec<Notice>), Error> {
    let directory = TempDir::new().unwrap();
    read_dataset(&put(&directory, "table.csv", text.as_bytes()), options)
}

fn read(text: &str) -> Dataset {
    read_as(text, &ReadOptions::default()).unwrap().0
}

/// The message, without the directory of the file.
fn complaint(text: &str, options: &ReadOptions) -> String {
    let message = read_as(text, options).unwrap_err().to_string();
    message[message.find("table.csv").unwrap()..].to_owned()
}

/// 2004-03-10T18:00:00Z.
const FIRST_HOUR: f64 = 1_078_941_600.0;

#[test]
fn the_italian_air_quality_file_loads() {
    let options = ReadOptions {
        time: vec!["Date".into(), "Time".into()],
        time_format: TimeFormat::Pattern("%d/%m/%Y %H:%M:%S".into()),
        missing: vec!["-200".into()],
        ..ReadOptions::default()
    };
    let path = repository("examples/air-quality/AirQualityUCI.csv");
    let (air, _) = read_dataset(&path, &options).unwrap();
    assert_eq!((air.len(), air.channels()), (1, 13));
    let series = &air.series()[0];
    assert_eq!(series.len(), 9357);
    assert_eq!(series.times()[0], FIRST_HOUR);
    assert!(
        series
            .times()
            .windows(2)
            .all(|pair| pair[1] - pair[0] == 3600.0)
    );
    let missing = series
        .values()
        .iter()
        .filter(|value| value.is_nan())
        .count();
    // 13.7 % of 9,357 x 13.
    assert_eq!(missing, 16_701);
}

/// The form in which the file is first published: semicolons, decimal commas, points in the time,
/// empty columns and rows at the end.
#[test]
fn the_first_published_form_of_that_file_loads_too() {
    let text = "Date;Time;CO(GT);PT08.S1(CO);;\n\
                10/03/2004;18.00.00;2,6;1360;;\n\
                10/03/2004;19.00.00;-200;1292;;\n\
                10/03/2004;20.00.00;2,2;1402;;\n\
                ;;;;;\n\
                ;;;;;\n";
    let options = ReadOptions {
        time_format: TimeFormat::Pattern("%d/%m/%Y %H.%M.%S".into()),
        missing: vec!["-200".into()],
        ..ReadOptions::default()
    };
    let (air, notices) = read_as(text, &options).unwrap();
    assert_eq!(air.channel_names(), ["CO(GT)", "PT08.S1(CO)"]);
    let series = &air.series()[0];
    assert_eq!(
        series.times(),
        [FIRST_HOUR, FIRST_HOUR + 3600.0, FIRST_HOUR + 7200.0]
    );
    assert_eq!(series.observed(0).1, [2.6, 2.2]);
    assert!(notices.contains(&Notice::EmptyRows(2)), "{notices:?}");
}

/// Three of its rows repeat a time.
#[test]
fn the_glucose_example_has_its_52281_rows_and_187_gaps() {
    let path = repository("examples/glucose/glucose.csv.gz");
    let options = ReadOptions {
        duplicates: Duplicates::Average,
        ..ReadOptions::default()
    };
    let (glucose, notices) = read_dataset(&path, &options).unwrap();
    assert_eq!(glucose.channel_names(), ["glucose", "isig"]);
    let times = glucose.series()[0].times();
    assert_eq!(times.len(), 52_281 - 3);
    assert!(notices.contains(&Notice::AveragedRows(3)));
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.iter().filter(|gap| **gap >= 600.0).count(), 187);
    let hours = gaps.iter().copied().fold(0.0, f64::max) / 3600.0;
    assert!((27.0..29.0).contains(&hours), "{hours}");
}

#[test]
fn the_carbon_dioxide_example_has_59_holes_in_2284_weeks() {
    let path = repository("examples/co2/co2.csv");
    let (co2, _) = read_dataset(&path, &ReadOptions::default()).unwrap();
    let series = &co2.series()[0];
    assert_eq!((series.len(), series.observed(0).0.len()), (2284, 2225));
    assert!(
        series
            .times()
            .windows(2)
            .all(|pair| pair[1] - pair[0] == 7.0 * 86_400.0)
    );
}

#[test]
fn a_long_table_makes_one_series_for_each_id() {
    let data = read("id,time,x,y,note\na,0,1,2,first\na,1.5,3,,\nb,0,5,NA,last\n");
    assert_eq!(data.channel_names(), ["x", "y"]);
    let ids: Vec<_> = data
        .series()
        .iter()
        .map(|series| series.id().unwrap())
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(data.series()[0].times(), [0.0, 1.5]);
    assert_eq!(data.series()[0].observed(1), (vec![0.0], vec![2.0]));
}

#[test]
fn gzip_and_zstandard_are_read_whatever_the_name_says() {
    let directory = TempDir::new().unwrap();
    let text = b"t,x\n0,1\n1,2\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    let gzip = put(&directory, "a.csv.gz", &gzip.finish().unwrap());
    let zstd = put(
        &directory,
        "b.csv",
        &zstd::encode_all(&text[..], 0).unwrap(),
    );
    let plain = put(&directory, "c", text);
    let expected = read("t,x\n0,1\n1,2\n");
    for path in [gzip, zstd, plain] {
        assert_eq!(
            read_dataset(&path, &ReadOptions::default()).unwrap().0,
            expected
        );
    }
}

#[test]
fn rows_out_of_order_are_sorted_and_it_is_said() {
    let (data, notices) = read_as("t,x\n2,30\n0,10\n1,20\n", &ReadOptions::default()).unwrap();
    assert_eq!(data.series()[0].times(), [0.0, 1.0, 2.0]);
    assert_eq!(data.series()[0].values(), [10.0, 20.0, 30.0]);
    assert!(notices.contains(&Notice::UnsortedSeries(1)));
}

#[test]
fn ungrouped_rows_are_sorted_by_id_first_and_it_is_said() {
    let text = "id,t,x\nb,0,1\na,0,2\nb,1,3\na,1,4\n";
    let (data, notices) = read_as(text, &ReadOptions::default()).unwrap();
    let [b, a] = data.series() else {
        panic!("two series")
    };
    assert_eq!((b.id(), b.values()), (Some("b"), &[1.0, 3.0][..]));
    assert_eq!((a.id(), a.values()), (Some("a"), &[2.0, 4.0][..]));
    assert!(notices.contains(&Notice::Ungrouped));
    assert!(
        notices
            .iter()
            .any(|notice| notice.to_string().contains("sorted by id first"))
    );
}

#[test]
fn a_series_may_reach_over_many_blocks() {
    let mut text = String::from("id,t,x\n");
    for row in 0..1000 {
        text.push_str(&format!("{},{},{}\n", row / 300, row % 300, row));
    }
    let whole = read(&text);
    for batch_rows in [1, 7, 299, 300, 301] {
        let options = ReadOptions {
            batch_rows,
            ..ReadOptions::default()
        };
        assert_eq!(read_as(&text, &options).unwrap().0, whole);
    }
    let lengths: Vec<usize> = whole.series().iter().map(|series| series.len()).collect();
    assert_eq!(lengths, [300, 300, 300, 100]);
}

#[test]
fn equal_times_are_refused_or_averaged_as_the_user_says() {
    let text = "t,x,y\n0,1,5\n1,2,\n1,4,7\n2,9,\n";
    assert_eq!(
        complaint(text, &ReadOptions::default()),
        "table.csv, line 4, column `t`: the time `1` was in line or row 3 already, in the same series; \
         average rows of equal time, or name the column that tells the series apart"
    );
    let options = ReadOptions {
        duplicates: Duplicates::Average,
        ..ReadOptions::default()
    };
    let (data, notices) = read_as(text, &options).unwrap();
    let series = &data.series()[0];
    assert_eq!(series.times(), [0.0, 1.0, 2.0]);
    assert_eq!(series.observed(0).1, [1.0, 3.0, 9.0]);
    assert_eq!(series.observed(1).1, [5.0, 7.0]);
    assert!(notices.contains(&Notice::AveragedRows(1)));
}

#[test]
fn without_a_header_columns_are_numbered() {
    let data = read("0,1.5\n1,2.5\n");
    assert_eq!(data.channel_names(), ["column_2"]);
    assert_eq!(data.series()[0].values(), [1.5, 2.5]);
}

#[test]
fn every_wrong_table_is_refused_with_file_line_and_column() {
    let options = ReadOptions::default();
    let named = ReadOptions {
        channels: vec!["x".into()],
        ..ReadOptions::default()
    };
    assert_eq!(
        complaint("t,x\n0,1\n1,two\n", &named),
        "table.csv, line 3, column `x`: expected a number or a missing mark, found `two`; say which columns hold \
         the values, or that this mark means missing"
    );
    assert!(
        complaint("t,x\n0,1\nnoon,2\n", &options).starts_with(
            "table.csv, line 3, column `t`: expected a time as a number, found `noon`"
        )
    );
    assert!(
        complaint("t,x\n0,1\n1,2,3\n", &options)
            .starts_with("table.csv, line 3: expected 2 entries as in the first line, found 3")
    );
    assert_eq!(
        complaint("id,t,x\na,0,1\n,1,2\n", &options),
        "table.csv, line 3, column `id`: the id is missing"
    );
    assert!(
        complaint(
            "when,x\nnoon,1\n",
            &ReadOptions {
                time: vec!["when".into()],
                ..options.clone()
            }
        )
        .starts_with("table.csv: column `when`: `noon` is neither a number nor a date")
    );
    let pattern = ReadOptions {
        time_format: TimeFormat::Pattern("%d/%m/%Y".into()),
        ..options.clone()
    };
    assert!(
        complaint("date,time,x\n1/2/2024,12:00,1\n", &pattern)
            .contains("the time format `%d/%m/%Y` must have 2 parts separated by spaces")
    );
    assert!(
        complaint(
            "t,x\n0,1\n",
            &ReadOptions {
                separator: Some('€'),
                ..options.clone()
            }
        )
        .contains("the separator `€` is not an ASCII character")
    );
    assert_eq!(complaint("", &options), "table.csv: it has no rows");
}

#[test]
fn text_that_is_not_utf8_is_refused_with_its_line() {
    let directory = TempDir::new().unwrap();
    let path = put(
        &directory,
        "latin1.csv",
        b"t,x,place\n0,1,here\n1,2,Z\xfcrich\n",
    );
    let message = read_dataset(&path, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("latin1.csv, line 3: the text is not UTF-8"),
        "{message}"
    );
}

#[test]
fn a_missing_file_and_a_broken_one_are_named() {
    let missing = read_dataset(Path::new("no-such.parquet"), &ReadOptions::default());
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .starts_with("cannot read no-such.parquet: ")
    );
    let directory = TempDir::new().unwrap();
    for name in ["broken.parquet", "broken.arrow", "broken.npz"] {
        let path = put(&directory, name, b"t,x\n0,1\n");
        let message = read_dataset(&path, &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(message.contains(name), "{message}");
    }
}
