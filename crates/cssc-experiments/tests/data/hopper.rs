//! The hopper through the real MuJoCo library, against trajectories from Python's MuJoCo.
//!
//! `scripts/get-mujoco` brings the library. In continuous integration (`CI` is set) a missing
//! library fails these tests; elsewhere they say that they were left out.
use std::path::{Path, PathBuf};

use cssc::data::table::{ReadOptions, read_dataset};
use cssc_experiments::generate::Generator;
use cssc_experiments::generate::hopper::{self, Hopper};
use cssc_experiments::generate::mujoco::{DEFAULT_DIRECTORY, DIRECTORY_VARIABLE};
use serde_json::Value;

use crate::repository;

pub(crate) fn open(seed: u64) -> Option<Hopper> {
    let directory = std::env::var_os(DIRECTORY_VARIABLE)
        .map_or_else(|| repository(DEFAULT_DIRECTORY), PathBuf::from);
    match Hopper::new(&directory, seed) {
        Ok(hopper) => Some(hopper),
        Err(error) if std::env::var_os("CI").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("LEFT OUT, because MuJoCo is not here: {error}");
            None
        }
    }
}

fn golden() -> Value {
    let text = std::fs::read_to_string(repository("data/golden_hopper_v1.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

#[test]
fn trajectories_agree_with_those_of_python() {
    let Some(mut hopper) = open(0) else { return };
    let golden = golden();
    let trajectories = golden["trajectories"].as_array().unwrap();
    assert_eq!(trajectories.len(), 3);
    for trajectory in trajectories {
        let start = [numbers(&trajectory["qpos"]), numbers(&trajectory["qvel"])].concat();
        let found = hopper.trajectory(&start.try_into().unwrap());
        let frames = trajectory["frames"].as_array().unwrap();
        assert_eq!(frames.len(), hopper::FRAMES);
        for (found, frame) in found.chunks(7).zip(frames) {
            for (found, expected) in found.iter().zip(numbers(frame)) {
                assert!(
                    (found - expected).abs() < 1e-4,
                    "{found} against {expected}"
                );
            }
        }
    }
}

#[test]
fn the_scaling_constants_are_those_of_the_reference_set() {
    let scaler = hopper::scaler();
    assert_eq!(scaler.offsets(), numbers(&golden()["minimum"]));
    assert_eq!(scaler.scales(), numbers(&golden()["maximum"]));
}

#[test]
fn a_trajectory_does_not_depend_on_those_made_before() {
    let (Some(mut one), Some(mut other)) = (open(5), open(5)) else {
        return;
    };
    one.values(0).unwrap();
    one.values(1).unwrap();
    assert_eq!(one.values(2).unwrap(), other.values(2).unwrap());
}

#[test]
fn without_the_library_the_error_names_the_command_that_brings_it() {
    let Err(error) = Hopper::new(Path::new("no/such/directory"), 0) else {
        panic!("opened a library that is not there")
    };
    let message = error.to_string();
    assert!(
        message.contains("no MuJoCo library (libmujoco.so*) in no/such/directory"),
        "{message}"
    );
    assert!(message.contains("run `scripts/get-mujoco`"), "{message}");
}

#[test]
fn the_committed_trajectories_are_the_first_of_seed_1() {
    let Some(mut hopper) = open(1) else { return };
    let path = repository("data/hopper_v1_64.npz");
    let (set, _) = read_dataset(&path, &ReadOptions::default()).unwrap();
    let made = hopper.dataset(set.len()).unwrap();
    assert_eq!(set.channel_names(), made.channel_names());
    for (committed, made) in set.series().iter().zip(made.series()) {
        assert_eq!(committed.times(), made.times());
        for (a, b) in committed.values().iter().zip(made.values()) {
            assert!((a - b).abs() < 1e-4, "{a} against {b}");
        }
    }
}
