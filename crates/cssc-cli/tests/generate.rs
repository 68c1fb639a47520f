//! `cssc generate`, run as a user runs it.

mod support;

use support::Place;

/// A directory of the repository, for arguments.
fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn toy_curves_are_written_as_a_long_table() {
    let place = Place::new();
    let outcome = place.run(&[
        "generate", "toy", "--seed", "5", "--series", "2", "--out", "toy.csv",
    ]);
    assert_eq!(outcome.result(), "");
    let text = std::fs::read_to_string(place.path("toy.csv")).expect("the file is there");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (201, "id,time,x"));
    assert!(lines[1].starts_with("0,0.0,"), "{}", lines[1]);
    assert!(lines[200].starts_with("1,"), "{}", lines[200]);
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let place = Place::new();
    let make = |seed: &str, name: &str| {
        place
            .run(&[
                "generate", "toy", "--seed", seed, "--series", "3", "--out", name,
            ])
            .result();
        std::fs::read(place.path(name)).expect("the file is there")
    };
    let first = make("1", "a.parquet");
    assert_eq!(first, make("1", "b.parquet"));
    assert_ne!(first, make("2", "c.parquet"));
    assert_eq!(place.files(), ["a.parquet", "b.parquet", "c.parquet"]);
}

#[test]
fn videos_are_made_from_the_digits_of_the_repository() {
    let place = Place::new();
    let digits = repository("data/mnist");
    place
        .run(&[
            "generate",
            "moving-mnist",
            "--series",
            "10",
            "--digits",
            &digits,
            "-o",
            "videos.npz",
        ])
        .result();
    assert_eq!(place.files(), ["videos.npz"]);
}

#[test]
fn without_digits_or_library_the_command_that_brings_them_is_named() {
    let place = Place::new();
    let videos = place.run(&["generate", "moving-mnist", "--out", "videos.npz"]);
    assert!(
        videos.complaint().contains("Run scripts/get-mnist"),
        "{}",
        videos.stderr
    );
    let hopper = place.run(&[
        "generate",
        "hopper",
        "--mujoco",
        "nowhere",
        "--out",
        "hopper.npz",
    ]);
    assert!(
        hopper.complaint().contains("run `scripts/get-mujoco`"),
        "{}",
        hopper.stderr
    );
    assert!(place.files().is_empty());
}

#[test]
fn wrong_arguments_are_refused() {
    let place = Place::new();
    let noise = place.run(&["generate", "toy", "--noise", "-1", "--out", "toy.csv"]);
    assert_eq!(noise.code, Some(2));
    let ending = place.run(&["generate", "toy", "--series", "1", "--out", "toy.dat"]);
    assert!(
        ending
            .complaint()
            .contains("an ending that tells the format"),
        "{}",
        ending.stderr
    );
    assert!(place.files().is_empty());
}
