//! Arrays of frames: trained on, and filled, by the real binary.

mod support;

use cssc::data::npz::{self, Array, Elements};
use support::Place;

const SERIES: usize = 12;
const FRAMES: usize = 8;
const SIDE: usize = 8;

fn array(name: &str, shape: &[usize], elements: Elements) -> Array {
    Array {
        name: name.to_owned(),
        shape: shape.to_vec(),
        elements,
    }
}

/// A bright spot that moves across the frame, as bytes, and which frames were kept.
fn clips() -> (Vec<i64>, Vec<bool>) {
    let (mut values, mut mask) = (Vec::new(), Vec::new());
    for series in 0..SERIES {
        for frame in 0..FRAMES {
            let (row, column) = (1.5 + 0.4 * series as f64, 0.5 + 0.9 * frame as f64);
            for pixel in 0..SIDE * SIDE {
                let (y, x) = ((pixel / SIDE) as f64, (pixel % SIDE) as f64);
                let far = (y - row).powi(2) + (x - column).powi(2);
                values.push((255.0 * (-0.5 * far).exp()).round() as i64);
            }
            mask.push(frame == 0 || frame == FRAMES - 1 || !(series + frame).is_multiple_of(3));
        }
    }
    (values, mask)
}

fn write(place: &Place, name: &str, mask: Array) {
    let (values, _) = clips();
    let shape = [SERIES, FRAMES, SIDE, SIDE];
    let times = (0..FRAMES).map(|frame| frame as f64 / 25.0).collect();
    let arrays = [
        array("times", &[FRAMES], Elements::Float(times)),
        array("values", &shape, Elements::Integer(values)),
        mask,
    ];
    npz::write(&place.path(name), &arrays).unwrap();
}

const TRAIN: [&str; 13] = [
    "train",
    "clips.npz",
    "-o",
    "clips.cssc",
    "--steps",
    "30",
    "--method",
    "hidden-cssc",
    "--set",
    "model.dynamics=[12]",
    "--set",
    "model.cell=8",
    "--quiet",
];

#[test]
fn frames_that_were_dropped_are_filled_and_the_others_stay() {
    let place = Place::new();
    let (values, mask) = clips();
    write(
        &place,
        "clips.npz",
        array("mask", &[SERIES, FRAMES], Elements::Boolean(mask.clone())),
    );
    let trained = place.run(&TRAIN);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let filled = place.run(&["interpolate", "clips.cssc", "clips.npz", "-o", "filled.npz"]);
    assert_eq!(filled.code, Some(0), "{}", filled.stderr);
    assert!(filled.stderr.contains("(64 columns)"), "{}", filled.stderr);
    let arrays = npz::read(&place.path("filled.npz")).unwrap();
    let frames = arrays.iter().find(|array| array.name == "values").unwrap();
    assert_eq!(frames.shape, [SERIES, FRAMES, SIDE, SIDE]);
    let found = frames.floats().unwrap();
    for (number, frame) in found.chunks(SIDE * SIDE).enumerate() {
        let before = &values[number * SIDE * SIDE..][..SIDE * SIDE];
        for (found, &before) in frame.iter().zip(before) {
            if mask[number] {
                assert_eq!(*found, before as f64, "an observed frame was changed");
            }
            assert!((0.0..=255.0).contains(found), "{found} is no light");
        }
        assert!(frame.iter().any(|x| *x > 0.0), "frame {number} is black");
    }
    assert!(!arrays.iter().any(|array| array.name == "mask"));
}

#[test]
fn a_mask_of_another_shape_is_refused() {
    let place = Place::new();
    let mask = Elements::Boolean(vec![true; FRAMES]);
    write(&place, "clips.npz", array("mask", &[FRAMES], mask));
    let outcome = place.run(&TRAIN);
    assert_eq!(outcome.code, Some(2));
    let expected = "clips.npz: `mask` must be [12, 8] or [12, 8, 8, 8], found [8]";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

#[test]
fn frames_of_other_sizes_are_refused_with_those_that_work() {
    let place = Place::new();
    let arrays = [
        array(
            "times",
            &[5],
            Elements::Float((0..5).map(f64::from).collect()),
        ),
        array(
            "values",
            &[6, 5, 3, 5],
            Elements::Float32((0..450).map(|x| x as f32).collect()),
        ),
    ];
    npz::write(&place.path("clips.npz"), &arrays).unwrap();
    let outcome = place.run(&TRAIN);
    assert_eq!(outcome.code, Some(2));
    let expected = "`height` is 3; give a multiple of 8 up to 1024";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

#[test]
fn single_pixels_that_are_masked_are_filled_too() {
    let place = Place::new();
    let (values, _) = clips();
    let mask = (0..values.len()).map(|at| at % 7 != 3).collect();
    let shape = [SERIES, FRAMES, SIDE, SIDE];
    write(
        &place,
        "clips.npz",
        array("mask", &shape, Elements::Boolean(mask)),
    );
    let filled = place.run(&[
        "fill",
        "clips.npz",
        "-o",
        "filled.npz",
        "--method",
        "linear",
    ]);
    assert_eq!(filled.code, Some(0), "{}", filled.stderr);
    let arrays = npz::read(&place.path("filled.npz")).unwrap();
    let frames = arrays.iter().find(|array| array.name == "values").unwrap();
    assert_eq!(frames.shape, shape);
    for (at, (found, before)) in frames.floats().unwrap().iter().zip(&values).enumerate() {
        // Before the first and after the last known value of a pixel nothing is filled.
        if at % 7 != 3 {
            assert_eq!(*found, *before as f64);
        }
    }
}
