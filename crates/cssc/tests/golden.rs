//! Numbers from scipy. `golden/splines.json` was written by `golden/make_splines.py`;
//! `golden/natural_spline.json` by scipy 1.17.1's `CubicSpline(bc_type="natural")`.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

use cssc::{
    CompensationOptions, EndRule, Jets, Path, PiecewiseCubic, Side, SplineKind, compensate,
};
use serde_json::Value;

struct Case {
    kind: SplineKind,
    times: Vec<f64>,
    channels: usize,
    values: Vec<f64>,
    query: Vec<f64>,
    expected: Jets,
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn kind(name: Option<&str>) -> SplineKind {
    match name {
        None | Some("natural") => SplineKind::Natural,
        Some("not-a-knot") => SplineKind::NotAKnot,
        Some("clamped") => SplineKind::Clamped {
            start_slope: 0.5,
            end_slope: -1.25,
        },
        Some("makima") => SplineKind::Makima,
        Some(other) => panic!("unknown kind {other}"),
    }
}

fn cases(json: &str) -> Vec<Case> {
    let file: Value = serde_json::from_str(json).unwrap();
    let case = |case: &Value| {
        let (times, values) = (numbers(&case["t"]), numbers(&case["x"]));
        Case {
            kind: kind(case["kind"].as_str()),
            channels: values.len() / times.len(),
            times,
            values,
            query: numbers(&case["q"]),
            expected: Jets {
                value: numbers(&case["y"]),
                slope: numbers(&case["dy"]),
                curvature: numbers(&case["ddy"]),
            },
        }
    };
    file["cases"].as_array().unwrap().iter().map(case).collect()
}

fn assert_close(found: &Jets, expected: &Jets, tolerance: f64) {
    for ((name, found), (_, expected)) in found
        .as_slices()
        .by_name()
        .into_iter()
        .zip(expected.as_slices().by_name())
    {
        assert_eq!(found.len(), expected.len());
        let size = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!(
                (a - b).abs() <= tolerance * size,
                "{name} {i}: {a} against {b}"
            );
        }
    }
}

#[test]
fn a_zero_prediction_gives_the_natural_splines_of_scipy() {
    let cases = cases(include_str!("golden/natural_spline.json"));
    assert_eq!(cases.len(), 7);
    for case in cases {
        let none = Jets::<Vec<f64>>::zeros(case.values.len());
        for end_rule in [EndRule::Output, EndRule::Compensation] {
            let options = CompensationOptions {
                end_rule,
                ..CompensationOptions::default()
            };
            let (left, right) = (none.as_slices(), none.as_slices());
            let c = compensate(
                &case.times,
                case.channels,
                &case.values,
                left,
                right,
                options,
            )
            .unwrap();
            assert_close(
                &c.sample(&case.query, Side::Right).unwrap(),
                &case.expected,
                1e-12,
            );
        }
        let spline = PiecewiseCubic::fit(
            &case.times,
            case.channels,
            &case.values,
            SplineKind::Natural,
        )
        .unwrap();
        assert_close(
            &spline.sample(&case.query, Side::Right).unwrap(),
            &case.expected,
            1e-12,
        );
    }
}

#[test]
fn plain_splines_of_every_kind_and_length_agree_with_scipy() {
    let cases = cases(include_str!("golden/splines.json"));
    assert_eq!(cases.len(), 32);
    for case in cases {
        let spline =
            PiecewiseCubic::fit(&case.times, case.channels, &case.values, case.kind).unwrap();
        assert_close(
            &spline.sample(&case.query, Side::Right).unwrap(),
            &case.expected,
            1e-11,
        );
    }
}

#[test]
fn a_channel_with_missing_points_is_the_spline_through_the_others() {
    for case in cases(include_str!("golden/splines.json")) {
        // Between and around the points come knots at which nothing is known.
        let mut times = case.times.clone();
        let span = times[times.len() - 1] - times[0];
        times.extend((0..7).map(|i| case.times[0] + span * (f64::from(i) * 0.23 - 0.2)));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let mut values = vec![f64::NAN; times.len() * (case.channels + 1)];
        for (k, time) in times.iter().enumerate() {
            let row = &mut values[k * (case.channels + 1)..(k + 1) * (case.channels + 1)];
            row[case.channels] = 1.0; // one channel is known everywhere
            if let Some(i) = case.times.iter().position(|t| t == time) {
                row[..case.channels]
                    .copy_from_slice(&case.values[i * case.channels..(i + 1) * case.channels]);
            }
        }
        let spline = PiecewiseCubic::fit(&times, case.channels + 1, &values, case.kind).unwrap();
        let own = |block: Vec<f64>| -> Vec<f64> {
            block
                .chunks(case.channels + 1)
                .flat_map(|row| row[..case.channels].to_vec())
                .collect()
        };
        let found = spline.sample(&case.query, Side::Right).unwrap().map(own);
        assert_close(&found, &case.expected, 1e-10);
    }
}

#[test]
fn linear_interpolation_is_piecewise_straight() {
    let spline =
        PiecewiseCubic::fit(&[0.0, 1.0, 3.0], 1, &[1.0, 2.0, 0.0], SplineKind::Linear).unwrap();
    let jets = spline
        .sample(&[-1.0, 0.5, 1.0, 2.0, 4.0], Side::Right)
        .unwrap();
    assert_eq!(jets.value, [0.0, 1.5, 2.0, 1.0, -1.0]);
    assert_eq!(jets.slope, [1.0, 1.0, -1.0, -1.0, -1.0]);
    assert_eq!(jets.curvature, [0.0; 5]);
    assert_eq!(spline.sample(&[1.0], Side::Left).unwrap().slope, [1.0]);
}

#[test]
fn one_point_gives_a_constant_of_every_kind() {
    for kind in [
        SplineKind::Linear,
        SplineKind::Natural,
        SplineKind::NotAKnot,
        SplineKind::clamped(),
        SplineKind::Makima,
        SplineKind::Pchip,
    ] {
        let alone = PiecewiseCubic::fit(&[2.0], 1, &[3.0], kind).unwrap();
        assert_eq!(
            alone.sample(&[-5.0, 2.0, 9.0], Side::Left).unwrap().value,
            [3.0; 3]
        );
        for known in 0..3 {
            let mut values = [f64::NAN; 3];
            values[known] = 4.0;
            let spline = PiecewiseCubic::fit(&[0.0, 1.0, 2.0], 1, &values, kind).unwrap();
            assert_eq!(
                spline
                    .sample(&[-1.0, 0.5, 1.5, 3.0], Side::Right)
                    .unwrap()
                    .value,
                [4.0; 4]
            );
        }
    }
}
