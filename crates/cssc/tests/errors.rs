//! Every kind of bad input is refused with a message that says where and what to do.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

use cssc::compensate::Plan;
use cssc::{
    CompensationOptions, Error, Jets, Path, PiecewiseCubic, Side, SplineKind, Sum, compensate,
};

const NAN: f64 = f64::NAN;
const INFINITE: f64 = f64::INFINITY;

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

fn says<T: std::fmt::Debug>(result: Result<T, Error>, parts: &[&str]) {
    let message = message(result);
    for part in parts {
        assert!(message.contains(part), "`{message}` does not say `{part}`");
    }
}

/// Two channels at the times 0, 1, 3.
fn run(change: impl FnOnce(&mut Vec<f64>, &mut Jets, &mut Jets)) -> Result<PiecewiseCubic, Error> {
    let (mut values, mut left, mut right) = (vec![1.0; 6], Jets::zeros(6), Jets::zeros(6));
    change(&mut values, &mut left, &mut right);
    let options = CompensationOptions::default();
    compensate(
        &[0.0, 1.0, 3.0],
        2,
        &values,
        left.as_slices(),
        right.as_slices(),
        options,
    )
}

#[test]
fn knots_must_be_finite_and_strictly_increase() {
    let plan = |times: &[f64]| Plan::new(times, 1, None, CompensationOptions::default());
    says(plan(&[0.0, 2.0, 1.0]), &["times[2] = 1 follows 2", "sort"]);
    says(plan(&[0.0, 2.0, 2.0]), &["times[2] = 2 follows 2", "merge"]);
    says(plan(&[0.0, NAN, 2.0]), &["times[1] is NaN", "finite"]);
    says(plan(&[0.0, 1.0, INFINITE]), &["times[2] is inf"]);
    says(plan(&[-INFINITE, 1.0]), &["times[0] is -inf"]);
    says(plan(&[NAN]), &["times[0] is NaN"]);
    says(plan(&[]), &["at least one time"]);
    says(
        PiecewiseCubic::fit(&[1.0, 1.0], 1, &[0.0, 0.0], SplineKind::Natural),
        &["times[1] = 1 follows 1"],
    );
    says(
        PiecewiseCubic::new(vec![1.0, 0.0], 1, vec![0.0; 4]),
        &["times[1] = 0 follows 1"],
    );
}

#[test]
fn query_times_must_be_finite_and_sorted() {
    let line = PiecewiseCubic::fit(&[0.0, 1.0], 1, &[0.0, 1.0], SplineKind::Linear).unwrap();
    says(
        line.sample(&[0.5, 0.25], Side::Right),
        &["query[1] = 0.25 follows 0.5", "sort"],
    );
    says(line.sample(&[0.5, NAN], Side::Right), &["query[1] is NaN"]);
    says(
        line.values_into(&[0.5], Side::Right, &mut [0.0; 2]),
        &["into has 2 entries, expected 1"],
    );
}

#[test]
fn values_and_limits_must_be_finite_where_they_are_read() {
    says(
        run(|x, _, _| x[3] = INFINITE),
        &["value of channel 1 at index 1 (time 1) is inf", "repair"],
    );
    let names = ["value", "slope", "curvature"];
    for (which, name) in names.into_iter().enumerate() {
        let set = |jets: &mut Jets, at: usize, to: f64| {
            [&mut jets.value, &mut jets.slope, &mut jets.curvature][which][at] = to;
        };
        let at_first = format!("right limit of the {name} of channel 1 at index 0 (time 0) is NaN");
        says(run(|_, _, right| set(right, 1, NAN)), &[&at_first]);
        let at_last = format!("left limit of the {name} of channel 0 at index 2 (time 3) is -inf");
        says(run(|_, left, _| set(left, 4, -INFINITE)), &[&at_last]);
        assert!(
            run(|_, left, _| set(left, 0, NAN)).is_ok(),
            "left at the first knot is not read"
        );
        assert!(
            run(|_, _, right| set(right, 5, NAN)).is_ok(),
            "right at the last knot is not read"
        );
    }
    let pinned = |x: &mut Vec<f64>, right: &mut Jets| (x[5], right.value[5]) = (NAN, NAN);
    says(
        run(|x, _, right| pinned(x, right)),
        &["right limit of the value of channel 1 at index 2"],
    );
    // and in a folded knot
    says(
        run(|x, left, _| (x[2], left.curvature[2]) = (NAN, NAN)),
        &["left limit of the curvature"],
    );
}

#[test]
fn a_right_value_at_the_last_knot_may_be_absent_when_pins_take_the_left_one() {
    let mut right = Jets::zeros(4);
    right.value[3] = NAN;
    let left = Jets {
        value: vec![0.0, 0.0, 5.0, 7.0],
        ..Jets::zeros(4)
    };
    let options = CompensationOptions {
        last_value: Side::Left,
        ..CompensationOptions::default()
    };
    let c = compensate(
        &[0.0, 1.0],
        2,
        &[1.0, 1.0, 1.0, NAN],
        left.as_slices(),
        right.as_slices(),
        options,
    );
    assert_eq!(
        c.unwrap().sample(&[1.0], Side::Left).unwrap().value,
        [-4.0, 0.0]
    );
}

#[test]
fn huge_but_finite_numbers_are_not_refused() {
    assert!(
        run(|x, left, right| {
            x.fill(1.5e308);
            left.value.fill(1.5e308);
            right.value.fill(1.5e308);
        })
        .is_ok()
    );
}

#[test]
fn lengths_must_fit() {
    says(
        run(|x, _, _| x.truncate(5)),
        &["values has 5 entries, expected 6 (times x channels)"],
    );
    says(
        run(|_, left, _| left.slope.push(0.0)),
        &["left slope has 7 entries, expected 6"],
    );
    says(
        run(|_, _, right| right.curvature.clear()),
        &["right curvature has 0 entries, expected 6"],
    );
    says(
        Plan::new(
            &[0.0, 1.0],
            1,
            Some(&[true]),
            CompensationOptions::default(),
        ),
        &["observed has 1 entries"],
    );
    says(
        Plan::new(&[0.0, 1.0], 0, None, CompensationOptions::default()),
        &["at least one channel"],
    );
    says(
        PiecewiseCubic::fit(&[0.0], 0, &[0.0; 0], SplineKind::Linear),
        &["at least one channel"],
    );
    says(
        PiecewiseCubic::new(vec![0.0, 1.0], 2, vec![0.0; 4]),
        &["coefficients has 4 entries, expected 8"],
    );
}

#[test]
fn something_must_be_observed() {
    says(
        run(|x, _, _| x.fill(NAN)),
        &[
            "no channel has an observation",
            "3 times from 0 to 3",
            "remove",
        ],
    );
    let values = [1.0, NAN, 2.0, NAN];
    let spline = PiecewiseCubic::fit(&[0.0, 1.0], 2, &values, SplineKind::Natural);
    says(
        spline,
        &["channel 1 has no observation", "leave the channel out"],
    );
    says(
        PiecewiseCubic::fit(&[0.0], 1, &[INFINITE], SplineKind::Linear),
        &["channel 0 at index 0 (time 0) is inf"],
    );
}

#[test]
fn a_failed_plan_is_empty_and_can_be_used_again() {
    let mut plan = Plan::new(&[0.0, 1.0], 1, None, CompensationOptions::default()).unwrap();
    assert!(
        plan.prepare(&[1.0, 0.0], 1, None, CompensationOptions::default())
            .is_err()
    );
    assert!(plan.times().is_empty());
    let mut c = PiecewiseCubic::default();
    let (none, two) = (Jets::<Vec<f64>>::zeros(0), Jets::<Vec<f64>>::zeros(2));
    assert!(
        plan.forward(&[], none.as_slices(), none.as_slices(), &mut c)
            .is_err()
    );
    plan.prepare(&[0.0, 1.0], 1, None, CompensationOptions::default())
        .unwrap();
    plan.forward(&[1.0, 2.0], two.as_slices(), two.as_slices(), &mut c)
        .unwrap();
    assert_eq!(c.piece(0, 0), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn paths_with_different_channels_are_not_added() {
    let one = PiecewiseCubic::fit(&[0.0, 1.0], 1, &[0.0, 1.0], SplineKind::Linear).unwrap();
    let two = PiecewiseCubic::fit(&[0.0, 1.0], 2, &[0.0; 4], SplineKind::Linear).unwrap();
    says(Sum::new(one, two), &["1 channels and one of 2"]);
}
