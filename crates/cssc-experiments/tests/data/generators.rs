//! Generators: the same seed gives the same series, for ever, in every format.
use cssc::data::table::{ReadOptions, read_dataset};
use cssc_experiments::generate::idx::Images;
use cssc_experiments::generate::moving_mnist::MovingMnist;
use cssc_experiments::generate::toy::{Toy, ToyOptions};
use cssc_experiments::generate::{Generator, write};
use tempfile::TempDir;

use crate::repository;

/// FNV-1a of the values rounded to 1e-6: the last bits of sines may differ between systems.
fn hash(generator: &mut dyn Generator, count: usize) -> u64 {
    let set = generator.dataset(count).unwrap();
    let numbers = set
        .series()
        .iter()
        .flat_map(|series| [series.times(), series.values()].concat());
    let bytes = numbers.flat_map(|number| ((number * 1e6).round() as i64).to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn videos(seed: u64) -> MovingMnist {
    let digits = |name: &str| Images::read(&repository("data/mnist").join(name)).unwrap();
    let training = digits("train2000-images-idx3-ubyte.gz");
    MovingMnist::new(seed, 10, training, digits("test500-images-idx3-ubyte.gz")).unwrap()
}

#[test]
fn a_seed_means_the_same_toy_curves_for_ever() {
    let of = |seed| hash(&mut Toy::new(seed, ToyOptions::default()), 20);
    assert_eq!(of(1), 14_118_437_331_527_594_406);
    assert_ne!(of(2), of(1));
}

#[test]
fn a_seed_means_the_same_videos_for_ever() {
    assert_eq!(hash(&mut videos(1), 10), 13_459_801_333_859_847_051);
    assert_ne!(hash(&mut videos(2), 10), hash(&mut videos(1), 10));
}

#[test]
fn a_seed_means_the_same_hopper_trajectories_for_ever() {
    let Some(mut hopper) = crate::hopper::open(1) else {
        return;
    };
    let first = hash(&mut hopper, 3);
    let Some(mut again) = crate::hopper::open(1) else {
        return;
    };
    assert_eq!(hash(&mut again, 3), first);
    let Some(mut other) = crate::hopper::open(2) else {
        return;
    };
    assert_ne!(hash(&mut other, 3), first);
}

#[test]
fn every_format_holds_the_same_series_as_32_bit_floats() {
    let directory = TempDir::new().unwrap();
    let mut toy = Toy::new(3, ToyOptions::default());
    let expected = toy.dataset(5).unwrap();
    for name in ["toy.parquet", "toy.npz", "toy.arrow", "toy.csv.gz"] {
        let path = directory.path().join(name);
        let mut made = 0;
        write(&mut toy, 5, &path, || made += 1).unwrap();
        assert_eq!(made, 5);
        let (found, _) = read_dataset(&path, &ReadOptions::default()).unwrap();
        assert_eq!(found.channel_names(), expected.channel_names());
        for (found, expected) in found.series().iter().zip(expected.series()) {
            assert_eq!(
                (found.id(), found.times()),
                (expected.id(), expected.times())
            );
            let rounded = expected.values().iter().map(|&value| value as f32);
            assert!(
                found.values().iter().map(|&value| value as f32).eq(rounded),
                "{name}"
            );
        }
    }
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let directory = TempDir::new().unwrap();
    for name in ["a.parquet", "a.npz"] {
        let bytes = |number: u32| {
            let path = directory.path().join(format!("{number}-{name}"));
            write(&mut Toy::new(3, ToyOptions::default()), 5, &path, || ()).unwrap();
            std::fs::read(path).unwrap()
        };
        assert_eq!(bytes(1), bytes(2), "{name}");
    }
}

#[test]
fn videos_of_1024_channels_fit_both_formats() {
    let directory = TempDir::new().unwrap();
    for name in ["videos.parquet", "videos.npz"] {
        let path = directory.path().join(name);
        write(&mut videos(1), 10, &path, || ()).unwrap();
        let (found, _) = read_dataset(&path, &ReadOptions::default()).unwrap();
        assert_eq!((found.len(), found.channels()), (10, 1024));
        assert_eq!(found.series()[0].len(), 20);
    }
}

#[test]
fn an_ending_that_says_nothing_is_refused() {
    let path = TempDir::new().unwrap().path().join("toy.dat");
    let message = write(&mut Toy::new(1, ToyOptions::default()), 1, &path, || ()).unwrap_err();
    assert!(
        message
            .to_string()
            .contains("an ending that tells the format, such as .parquet")
    );
}
