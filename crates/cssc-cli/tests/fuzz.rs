//! Readers of foreign bytes, fed with small changes of good files (`corpus/`) from a seed: an error is an answer, a panic,
//! an abort, gigabytes or a minute of work are not.
//!
//! In `cargo test` a few hundred inputs a target. With `CSSC_FUZZ_SECONDS=600 cargo test --release --test fuzz NAME`
//! one target is fed for ten minutes, with `CSSC_FUZZ_SEED=2` by other inputs than with 1. An input that fails is kept in the directory that the message names; one that
//! aborts is the last one there, since every input is written before it is read.

#[path = "support/container.rs"]
mod container;
#[path = "support/feed.rs"]
mod feed;
#[path = "support/mutate.rs"]
mod mutate;

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use container::{Container, nonsense, pointers};
use cssc::compensate::PredictionDocument;
use cssc::data::table::{ReadOptions, TableReader, TableWriter, apply};
use cssc::data::{Dataset, Filled, Random, Series, npz};
use cssc::fill::LearnOptions;
use cssc::model::Model;
use cssc::settings::Settings;
use cssc::train::{Control, Trainer};
use feed::{Target, bytes_of, corpus, feed};
use mutate::mutate;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

// ---- tables --------------------------------------------------------------------------------------------------------

/// Reads a table as the command does, and writes what was read as text, and now and then as Parquet.
fn read_table(path: &Path) -> bool {
    let through = || -> Result<(), cssc::Error> {
        let mut reader = TableReader::open(path, ReadOptions::default())?;
        let loaded = reader.load(1_000_000)?;
        let shape = reader.shape().clone();
        let last = loaded
            .dataset
            .series()
            .iter()
            .map(Series::len)
            .sum::<usize>();
        let output = path.with_extension(if last % 5 == 0 {
            "out.parquet"
        } else {
            "out.csv"
        });
        let mut writer = TableWriter::create(&output, &shape)?;
        loaded.apply(&mut reader, &mut writer, |series| {
            Ok::<_, cssc::Error>(Filled {
                values: series.values().to_vec(),
                ..Filled::default()
            })
        })?;
        writer.finish()
    };
    through().is_ok()
}

fn batch() -> RecordBatch {
    let rows = 12;
    let times: ArrayRef = Arc::new(
        (0..rows)
            .map(|row| Some(60_000 * row))
            .collect::<TimestampMillisecondArray>(),
    );
    let ids: ArrayRef = Arc::new((0..rows).map(|row| Some(row / 6)).collect::<Int64Array>());
    let value = |row: i64| (row % 5 != 3).then_some(row as f64 / 3.0);
    let values: ArrayRef = Arc::new((0..rows).map(value).collect::<Float64Array>());
    let notes: ArrayRef = Arc::new(
        (0..rows)
            .map(|row| Some(format!("n{row}")))
            .collect::<StringArray>(),
    );
    let columns = [
        ("id", ids, true),
        ("t", times, true),
        ("x", values, true),
        ("note", notes, true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of equal length")
}

/// Columns of the other types that tables have: days, moments of a zone, decimals, small integers, truth, words of a
/// dictionary, texts of other layouts.
fn typed_batch() -> RecordBatch {
    use arrow_array::types::Int8Type;
    use arrow_array::{
        BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Int8Array,
        LargeStringArray, StringViewArray, TimestampMicrosecondArray, UInt16Array,
    };
    let rows = 10;
    let hole = |row: i64| row % 4 != 2;
    let days = (0..rows).map(|row| Some(19_000 + row as i32));
    let days: ArrayRef = Arc::new(days.collect::<Date32Array>());
    let moments = (0..rows).map(|row| Some(1_700_000_000_000_000 + 3_600_000_000 * row));
    let moments = moments.collect::<TimestampMicrosecondArray>();
    let moments: ArrayRef = Arc::new(moments.with_timezone("Europe/Rome"));
    let decimals = (0..rows).map(|row| hole(row).then_some(i128::from(100 * row + 25)));
    let decimals = decimals.collect::<Decimal128Array>();
    let decimals = decimals.with_precision_and_scale(9, 2).expect("a decimal");
    let small = (0..rows).map(|row| hole(row).then_some(row as i8 - 5));
    let counts = (0..rows).map(|row| hole(row + 1).then_some(60_000 + row as u16));
    let floats = (0..rows).map(|row| hole(row + 2).then_some(row as f32 / 7.0));
    let flags = (0..rows).map(|row| hole(row).then_some(row % 3 == 0));
    let words = (0..rows).map(|row| ["north", "south"][row as usize % 2]);
    let words: DictionaryArray<Int8Type> = words.collect();
    let columns: [(&str, ArrayRef, bool); 10] = [
        ("day", days, true),
        ("moment", moments, true),
        ("price", Arc::new(decimals), true),
        ("small", Arc::new(small.collect::<Int8Array>()), true),
        ("count", Arc::new(counts.collect::<UInt16Array>()), true),
        ("x", Arc::new(floats.collect::<Float32Array>()), true),
        ("flag", Arc::new(flags.collect::<BooleanArray>()), true),
        ("place", Arc::new(words), true),
        (
            "long",
            Arc::new(
                (0..rows)
                    .map(|row| Some(row.to_string()))
                    .collect::<LargeStringArray>(),
            ),
            true,
        ),
        (
            "view",
            Arc::new(
                (0..rows)
                    .map(|row| Some(format!("v{row}")))
                    .collect::<StringViewArray>(),
            ),
            true,
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of equal length")
}

fn bytes_only(text: bool) -> impl Fn(&[u8], &[u8], &mut Random) -> Vec<u8> {
    move |input, other, random| mutate(input, other, text, random)
}

#[test]
fn text_tables() {
    feed(&Target {
        name: "csv",
        ending: ".csv",
        corpus: bytes_of("csv"),
        wrap: &bytes_only(true),
        read: &read_table,
        short: 1500,
    });
}

/// Changes inside what was compressed, so that the damage reaches the table.
#[test]
fn compressed_text_tables() {
    let pack = |input: &[u8], other: &[u8], random: &mut Random| {
        if random.below(4) == 0 {
            return mutate(input, other, false, random);
        }
        let mut plain = Vec::new();
        let _ = flate2::read::MultiGzDecoder::new(input)
            .take(1 << 16)
            .read_to_end(&mut plain);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&mutate(&plain, &plain, true, random))
            .expect("in memory");
        gzip.finish().expect("in memory")
    };
    let corpus = corpus("csv")
        .into_iter()
        .filter(|(name, _)| name.ends_with(".gz"));
    feed(&Target {
        name: "gzip",
        ending: ".csv.gz",
        corpus: corpus.map(|(_, bytes)| bytes).collect(),
        wrap: &pack,
        read: &read_table,
        short: 400,
    });
}

fn binary(name: &'static str, ending: &'static str, short: usize) {
    feed(&Target {
        name,
        ending,
        corpus: bytes_of(name),
        wrap: &bytes_only(false),
        read: &read_table,
        short,
    });
}

#[test]
fn arrow_tables() {
    binary("arrow", ".arrow", 1500);
}

#[test]
fn parquet_tables() {
    binary("parquet", ".parquet", 1500);
}

/// Half of the changes are inside an array, under a right sum of the archive.
#[test]
fn numpy_archives() {
    let pack = |input: &[u8], other: &[u8], random: &mut Random| match random.below(2) {
        0 => mutate(input, other, false, random),
        _ => repacked(input, random).unwrap_or_default(),
    };
    let read = |path: &Path| npz::read(path).is_ok() | read_table(path);
    feed(&Target {
        name: "npz",
        ending: ".npz",
        corpus: bytes_of("npz"),
        wrap: &pack,
        read: &read,
        short: 1500,
    });
}

/// The archive with one array changed.
fn repacked(archive: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).ok()?;
    let mut entries = BTreeMap::new();
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number).ok()?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).ok()?;
        entries.insert(entry.name().ok()?.to_string(), bytes);
    }
    let names: Vec<String> = entries.keys().cloned().collect();
    let changed = entries.get_mut(&names[random.below(names.len())])?;
    // The head of an array is text.
    *changed = mutate(changed, &changed.clone(), random.below(2) == 0, random);
    let mut written = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        written
            .start_file(name, zip::write::SimpleFileOptions::default())
            .ok()?;
        written.write_all(&bytes).ok()?;
    }
    Some(written.finish().ok()?.into_inner())
}

// ---- the rest ------------------------------------------------------------------------------------------------------

#[cfg(feature = "experiments")]
#[test]
fn digit_files() {
    use cssc_experiments::generate::idx::Images;
    feed(&Target {
        name: "idx",
        ending: ".idx",
        corpus: bytes_of("idx"),
        wrap: &bytes_only(false),
        read: &|path| {
            Images::read(path)
                .is_ok_and(|images| (0..images.count()).all(|k| !images.image(k).is_empty()))
        },
        short: 3000,
    });
}

#[test]
fn predictions_in_json() {
    let read = |path: &Path| {
        let bytes = std::fs::read(path).expect("just written");
        let text = String::from_utf8_lossy(&bytes);
        let prediction = PredictionDocument::parse(path, &text);
        prediction.is_ok_and(|prediction| prediction.compensate().is_ok())
    };
    feed(&Target {
        name: "json",
        ending: ".json",
        corpus: bytes_of("json"),
        wrap: &bytes_only(true),
        read: &read,
        short: 3000,
    });
}

#[test]
fn settings() {
    let data = waves();
    let read = |path: &Path| {
        let options =
            Settings::read(path).and_then(|settings| LearnOptions::from_settings(&settings));
        let Ok(options) = options else { return false };
        // What is accepted can be built, or is refused then; networks that are merely large are left out.
        let small = serde_json::to_string(&options.model).is_ok_and(|text| !text.contains("0000"));
        if small {
            let learning = cssc::fill::Learning::new(&data, &options);
            let _ = learning.and_then(|learning| learning.trainer().map(drop));
        }
        true
    };
    feed(&Target {
        name: "settings",
        ending: ".toml",
        corpus: bytes_of("settings"),
        wrap: &bytes_only(true),
        read: &read,
        short: 600,
    });
}

/// Either bytes anywhere, or nonsense in the head, or changed numbers, both under a right checksum.
fn container_changed(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut container = Container::parse(input);
    match random.below(4) {
        0 => return mutate(input, other, false, random),
        1 => {
            let length = container.numbers_mut().len();
            let changed = mutate(container.numbers_mut(), &[], false, random);
            let numbers = container.numbers_mut();
            numbers.clear();
            numbers.extend_from_slice(&changed);
            numbers.resize(length, 0);
        }
        _ => {
            let mut about = container.about();
            for _ in 0..1 + random.below(3) {
                let places = pointers(&about);
                let Some(place) = about.pointer_mut(&places[random.below(places.len())]) else {
                    continue;
                };
                let values = nonsense(place);
                *place = values[random.below(values.len())].clone();
            }
            container.set_about(&about);
        }
    }
    container.file()
}

/// A few waves, as the models of the corpus were trained on.
fn waves() -> Dataset {
    let series = (0..4).map(|number| {
        let times: Vec<f64> = (0..12).map(|row| 0.2 * f64::from(row)).collect();
        let values = times
            .iter()
            .map(|t| (t + f64::from(number)).sin())
            .collect();
        Series::new(Some(number.to_string()), 1, times, values).expect("a series")
    });
    Dataset::new(vec!["x".to_owned()], series.collect()).expect("a data set")
}

#[test]
fn model_files() {
    let data = waves();
    let read = |path: &Path| {
        let Ok(model) = Model::load(path) else {
            return false;
        };
        let series = &data.series()[0];
        model.info().channel_names.len() == 1 && model.interpolate(series, &[0.1, 0.3, 1.9]).is_ok()
    };
    feed(&Target {
        name: "model",
        ending: ".cssc",
        corpus: bytes_of("model"),
        wrap: &container_changed,
        read: &read,
        short: 800,
    });
}

#[test]
fn checkpoints() {
    let data = waves();
    let read = |path: &Path| {
        let trainer = Trainer::resume(path, &data, &data, |config| {
            config.steps = config.steps.min(6)
        });
        // Two steps more, so that what was accepted is also used.
        trainer.is_ok_and(|mut trainer| {
            let mut steps = 0;
            let run = trainer.run(|_, _| {
                steps += 1;
                if steps < 2 {
                    Control::Continue
                } else {
                    Control::Stop
                }
            });
            run.is_ok()
        })
    };
    feed(&Target {
        name: "checkpoint",
        ending: ".checkpoint",
        corpus: bytes_of("checkpoint"),
        wrap: &container_changed,
        read: &read,
        short: 300,
    });
}

/// Writes the files of the corpus that are not text: `cargo test --release --test fuzz corpus_is_made -- --ignored`.
#[test]
#[ignore = "writes into the repository; run it when formats change"]
fn the_binary_corpus_is_made_anew() {
    use cssc::model::{LatentCsscConfig, ModelConfig, OdeRnnConfig};
    use cssc::train::{TrainConfig, fit};
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let put = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, bytes).expect("written");
    };
    let batch = batch();
    let schema = batch.schema();
    let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).expect("a schema");
    file.write(&batch).expect("written");
    put("arrow/file.arrow", &file.into_inner().expect("finished"));
    let mut stream =
        arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).expect("a schema");
    stream.write(&batch).expect("written");
    put(
        "arrow/stream.arrow",
        &stream.into_inner().expect("finished"),
    );
    let mut claims = [&[0xff; 4][..], &i32::MAX.to_le_bytes(), &[0; 100]].concat();
    put("arrow/claims-gigabytes.arrow", &claims);
    claims.truncate(8);
    put("arrow/cut.arrow", &claims);
    let mut bytes = Vec::new();
    let mut parquet =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, schema, None).expect("a schema");
    parquet.write(&batch).expect("written");
    parquet.close().expect("closed");
    put("parquet/file.parquet", &bytes);
    let typed = typed_batch();
    for (name, compression) in [
        ("lz4", arrow_ipc::CompressionType::LZ4_FRAME),
        ("zstd", arrow_ipc::CompressionType::ZSTD),
    ] {
        let options = arrow_ipc::writer::IpcWriteOptions::default();
        let options = options
            .try_with_compression(Some(compression))
            .expect("an option");
        let schema = typed.schema();
        let file =
            arrow_ipc::writer::FileWriter::try_new_with_options(Vec::new(), &schema, options);
        let mut file = file.expect("a schema");
        file.write(&typed).expect("written");
        put(
            &format!("arrow/typed-{name}.arrow"),
            &file.into_inner().expect("finished"),
        );
    }
    for (name, compression) in [
        ("snappy", parquet::basic::Compression::SNAPPY),
        (
            "zstd",
            parquet::basic::Compression::ZSTD(Default::default()),
        ),
        (
            "gzip",
            parquet::basic::Compression::GZIP(Default::default()),
        ),
    ] {
        let settings = parquet::file::properties::WriterProperties::builder();
        let settings = settings.set_compression(compression).build();
        let mut bytes = Vec::new();
        let writer =
            parquet::arrow::ArrowWriter::try_new(&mut bytes, typed.schema(), Some(settings));
        let mut writer = writer.expect("a schema");
        writer.write(&typed).expect("written");
        writer.close().expect("closed");
        put(&format!("parquet/typed-{name}.parquet"), &bytes);
    }

    let table = root.join("csv/ids.csv");
    let options = ReadOptions {
        id: vec!["station".to_owned()],
        ..ReadOptions::default()
    };
    let mut reader = TableReader::open(&table, options).expect("a table");
    std::fs::create_dir_all(root.join("npz")).expect("made");
    let mut writer =
        TableWriter::create(&root.join("npz/ids.npz"), reader.shape()).expect("a writer");
    apply(&mut reader, &mut writer, |series| {
        Ok::<_, cssc::Error>(Filled {
            values: series.values().to_vec(),
            ..Filled::default()
        })
    })
    .expect("applied");
    writer.finish().expect("finished");
    put(
        "idx/two.idx",
        &[
            &[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2][..],
            &[7; 12],
        ]
        .concat(),
    );
    put(
        "idx/sizes-that-overflow.idx",
        &[
            &[0, 0, 8, 3, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 4][..],
            &[],
        ]
        .concat(),
    );

    let data = waves();
    let training = TrainConfig {
        steps: 2,
        batch: 2,
        ..TrainConfig::default()
    };
    let cssc = OdeRnnConfig {
        hidden: 2,
        cell: 2,
        dynamics: vec![3],
        decoder: vec![3],
        ..OdeRnnConfig::default()
    };
    let latent = LatentCsscConfig {
        width: 4,
        heads: 2,
        layers: 1,
        feed_forward: 4,
        frequencies: 2,
        sines: 2,
        code: 2,
        ..LatentCsscConfig::default()
    };
    for (name, model) in [("cssc", ModelConfig::from(cssc)), ("latent", latent.into())] {
        let scaler = cssc::data::Scaler::identity(1);
        let model = fit(&model, &training, &scaler, &data, &data, |_, _| {
            Control::Continue
        })
        .expect("trained");
        std::fs::create_dir_all(root.join("model")).expect("made");
        model
            .save(&root.join(format!("model/{name}.cssc")))
            .expect("saved");
        let mut trainer =
            Trainer::new(&model.info().model, &training, &data, &data).expect("a trainer");
        trainer.run(|_, _| Control::Continue).expect("run");
        std::fs::create_dir_all(root.join("checkpoint")).expect("made");
        trainer
            .save_checkpoint(&root.join(format!("checkpoint/{name}.checkpoint")))
            .expect("saved");
    }
}
