//! A training that is killed at any moment goes on from its checkpoint and ends bit for bit
//! like one that was never interrupted. The child is a real process, ended by a real SIGKILL.
#![cfg(all(feature = "nn", unix))]

use cssc::data::{Dataset, Random, Series};
use cssc::model::{Compensation, ModelConfig, OdeRnnConfig};
use cssc::train::{Control, Masking, TrainConfig, Trainer};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const CHILD: &str = "CSSC_TEST_TRAIN_IN";
const STEPS: u64 = 60;

fn data(seed: u64) -> Dataset {
    let series = (0..20).map(|i| {
        let mut random = Random::stream(seed, i);
        let times: Vec<f64> = (0..12).map(|k| 0.3 * f64::from(k)).collect();
        let shift = random.uniform(0.0, 6.0);
        let values = times.iter().map(|t| (t + shift).sin()).collect();
        Series::new(None, 1, times, values).unwrap()
    });
    Dataset::new(vec!["x".into()], series.collect()).unwrap()
}

fn settings() -> (ModelConfig, TrainConfig) {
    let model = OdeRnnConfig {
        hidden: 6,
        dynamics: vec![24, 24],
        decoder: vec![16],
        cell: 12,
        compensation: Compensation::Output,
        ..OdeRnnConfig::default()
    };
    let training = TrainConfig {
        steps: STEPS,
        batch: 8,
        masking: Masking::Fraction(0.5),
        validate_every: 7,
        ..TrainConfig::default()
    };
    (model.into(), training)
}

/// Trains in `directory`, writing a checkpoint after every third step, and its last numbers
/// when it is done.
fn train_in(directory: &Path, slowly: bool) {
    let (train, validation) = (data(1), data(2));
    let checkpoint = directory.join("checkpoint");
    let mut trainer = if checkpoint.exists() {
        Trainer::resume(&checkpoint, &train, &validation, |_| {}).unwrap()
    } else {
        let (model, training) = settings();
        Trainer::new(&model, &training, &train, &validation).unwrap()
    };
    trainer
        .run(|trainer, progress| {
            if progress.step % 3 == 0 {
                trainer.save_checkpoint(&checkpoint).unwrap();
            }
            if slowly {
                std::thread::sleep(Duration::from_millis(3));
            }
            Control::Continue
        })
        .unwrap();
    let (parameters, summary) = trainer.into_best();
    let bits: Vec<u8> = parameters
        .values()
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    std::fs::write(directory.join("parameters"), bits).unwrap();
    std::fs::write(directory.join("summary"), format!("{summary:?}")).unwrap();
}

/// Not a test of its own: what the killed process runs.
#[test]
fn child_process() {
    if let Some(directory) = std::env::var_os(CHILD) {
        train_in(&PathBuf::from(directory), true);
    }
}

#[test]
fn a_killed_training_ends_bit_for_bit_like_one_that_was_not() {
    let whole = tempfile::tempdir().unwrap();
    train_in(whole.path(), false);
    let killed = tempfile::tempdir().unwrap();
    let mut kills = 0;
    let mut random = Random::new(4);
    while !killed.path().join("summary").exists() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_process", "--nocapture"])
            .env(CHILD, killed.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Kill five times, at any moment; then let it finish.
        if kills < 5 {
            std::thread::sleep(Duration::from_millis(20 + random.below(120) as u64));
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
    }
    for name in ["parameters", "summary"] {
        let read = |directory: &Path| std::fs::read(directory.join(name)).unwrap();
        assert_eq!(read(whole.path()), read(killed.path()), "{name}");
    }
}

#[test]
fn a_checkpoint_of_other_data_or_that_is_damaged_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let (train, validation) = (data(1), data(2));
    let (model, training) = settings();
    let trainer = Trainer::new(&model, &training, &train, &validation).unwrap();
    trainer.save_checkpoint(&path).unwrap();
    let other = data(3);
    let message = Trainer::resume(&path, &other, &validation, |_| {})
        .unwrap_err()
        .to_string();
    assert!(message.contains("other data"), "{message}");
    let file = std::fs::read(&path).unwrap();
    std::fs::write(&path, &file[..file.len() - 5]).unwrap();
    let message = Trainer::resume(&path, &train, &validation, |_| {})
        .unwrap_err()
        .to_string();
    assert!(message.contains("cut short"), "{message}");
}
