//! Properties that hold for every compensation, on random problems.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod common;

use common::check::{assert_correct, difference, roles, scaled, worst_residual};
use common::dense;
use common::problem::{Problem, Shape, shape};
use common::random::Random;
use cssc::compensate::{Plan, Role};
use cssc::{EndRule, Jets, Path, PiecewiseCubic, Side, SplineKind};
use proptest::prelude::*;

/// Asserts that two compensations of the same knots agree to `tolerance`.
fn assert_close(
    problem: &Problem,
    found: &PiecewiseCubic,
    expected: &PiecewiseCubic,
    tolerance: f64,
) {
    for channel in 0..problem.channels {
        let (a, b) = (
            scaled(problem, found, channel),
            scaled(problem, expected, channel),
        );
        let difference = difference(&a, &b);
        assert!(difference <= tolerance, "channel {channel}: {difference:e}");
    }
}

/// `a * x + b * y`, entry by entry.
fn combine(a: f64, x: &[f64], b: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()
}

fn combine_jets(a: f64, x: &Jets, b: f64, y: &Jets) -> Jets {
    Jets {
        value: combine(a, &x.value, b, &y.value),
        slope: combine(a, &x.slope, b, &y.slope),
        curvature: combine(a, &x.curvature, b, &y.curvature),
    }
}

/// Adds to the prediction on the interval after knot `k` the cubic `a0 + a1 s + a2 s² + a3 s³`
/// with s counted from `origin`.
fn add_cubic(problem: &mut Problem, k: usize, channel: usize, origin: f64, cubic: [f64; 4]) {
    let added = PiecewiseCubic::new(vec![origin], 1, cubic.to_vec()).unwrap();
    for (side, knot) in [(Side::Right, k), (Side::Left, k + 1)] {
        let jets = added.sample(&[problem.times[knot]], side).unwrap();
        let at = knot * problem.channels + channel;
        let limits = match side {
            Side::Left => &mut problem.left,
            Side::Right => &mut problem.right,
        };
        limits.value[at] += jets.value[0];
        limits.slope[at] += jets.slope[0];
        limits.curvature[at] += jets.curvature[0];
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn the_compensation_is_the_solution_of_its_constraints(shape in shape(200, 3.0)) {
        let problem = shape.problem();
        let c = problem.compensation();
        assert_correct(&problem, &c, 1e-12);
        if problem.times.len() > 1 {
            for channel in 0..problem.channels {
                let expected = dense::solve(&problem, channel);
                let difference = difference(&scaled(&problem, &c, channel), &expected);
                prop_assert!(difference <= 1e-11, "channel {channel}: {difference:e}");
            }
        }
    }

    /// 1e-12: folded stretches re-expand a cubic up to 200 times.
    #[test]
    fn residuals_stay_at_rounding_level_with_gaps_over_six_orders(shape in shape(200, 6.0)) {
        let problem = shape.problem();
        assert_correct(&problem, &problem.compensation(), 1e-12);
    }

    /// 4e-15 is eighteen times the rounding of one operation.
    #[test]
    fn without_holes_residuals_over_six_orders_are_a_few_roundings(shape in shape(200, 6.0)) {
        let problem = Shape { missing: 0.0, ..shape }.problem();
        assert_correct(&problem, &problem.compensation(), 4e-15);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_zero_prediction_gives_the_natural_spline(shape in shape(60, 2.0)) {
        let mut problem = shape.problem();
        let len = problem.values.len();
        (problem.left, problem.right) = (Jets::zeros(len), Jets::zeros(len));
        problem.options.max_fold = None;
        // A natural spline begins and ends at the channel's own observations.
        let last = len - problem.channels;
        problem.observed[..problem.channels].fill(true);
        problem.observed[last..].fill(true);
        let mut points = problem.values.clone();
        points.iter_mut().zip(&problem.observed).filter(|(_, seen)| !**seen).for_each(|(x, _)| *x = f64::NAN);
        let natural = PiecewiseCubic::fit(&problem.times, problem.channels, &points, SplineKind::Natural).unwrap();
        if problem.times.len() > 1 {
            assert_close(&problem, &problem.compensation(), &natural, 1e-11);
        } else {
            prop_assert_eq!(problem.compensation(), natural);
        }
    }

    #[test]
    fn a_correct_prediction_gives_exactly_zero_compensation(shape in shape(60, 3.0)) {
        let mut problem = shape.problem();
        problem.options.end_rule = EndRule::Compensation;
        problem.left = problem.right.clone();
        problem.values = problem.right.value.clone();
        let c = problem.compensation();
        prop_assert!(c.coefficients().iter().all(|&a| a == 0.0));
    }

    #[test]
    fn the_compensation_is_linear_in_its_inputs(shape in shape(60, 2.0), a in -2.0..2.0f64) {
        let first = shape.problem();
        let second = Shape { seed: !shape.seed, ..shape }.problem();
        let mut both = first.clone();
        both.values = combine(a, &first.values, 1.0, &second.values);
        both.left = combine_jets(a, &first.left, 1.0, &second.left);
        both.right = combine_jets(a, &first.right, 1.0, &second.right);
        let second = Problem { times: first.times.clone(), observed: first.observed.clone(), ..second };
        let found = both.compensation();
        let parts = [first.compensation(), second.compensation()];
        let sum = combine(a, parts[0].coefficients(), 1.0, parts[1].coefficients());
        let sum = PiecewiseCubic::new(first.times.clone(), first.channels, sum).unwrap();
        if first.times.len() > 1 {
            // relative to the parts, which may cancel in the sum
            for channel in 0..first.channels {
                let size = |c: &PiecewiseCubic| {
                    scaled(&first, c, channel).as_flattened().iter().fold(0.0, |m: f64, x| m.max(x.abs()))
                };
                let whole = size(&parts[0]) * a.abs() + size(&parts[1]);
                let (x, y) = (scaled(&first, &found, channel), scaled(&first, &sum, channel));
                let pairs = x.as_flattened().iter().zip(y.as_flattened());
                prop_assert!(pairs.fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())) <= 1e-11 * whole);
            }
        }
    }

    #[test]
    fn shifting_and_stretching_time_changes_nothing(
        shape in shape(60, 2.0), shift in -10.0..10.0f64, stretch in 0.1..10.0f64,
    ) {
        let problem = shape.problem();
        let mut moved = problem.clone();
        moved.times.iter_mut().for_each(|t| *t = *t * stretch + shift);
        for jets in [&mut moved.left, &mut moved.right] {
            jets.slope.iter_mut().for_each(|slope| *slope /= stretch);
            jets.curvature.iter_mut().for_each(|curvature| *curvature /= stretch * stretch);
        }
        if problem.times.len() > 1 {
            let (c, moved_c) = (problem.compensation(), moved.compensation());
            for channel in 0..problem.channels {
                let (a, b) = (scaled(&problem, &c, channel), scaled(&moved, &moved_c, channel));
                // Moved times are rounded, which changes gaps of 0.01 by some 1e-12.
                prop_assert!(difference(&a, &b) <= 1e-8);
            }
        }
    }

    #[test]
    fn channels_do_not_mix(shape in shape(60, 3.0)) {
        let problem = shape.problem();
        let together = problem.compensation();
        let column = |block: &[f64], channel: usize| -> Vec<f64> {
            block.iter().skip(channel).step_by(problem.channels).copied().collect()
        };
        for channel in 0..problem.channels {
            let observed: Vec<bool> =
                problem.observed.iter().skip(channel).step_by(problem.channels).copied().collect();
            if !observed.contains(&true) {
                continue; // alone it would be a series without observation
            }
            let jets = |side| problem.limits(side).clone().map(|block| column(&block, channel));
            let alone = Problem {
                channels: 1,
                observed,
                values: column(&problem.values, channel),
                left: jets(Side::Left),
                right: jets(Side::Right),
                ..problem.clone()
            }
            .compensation();
            for piece in 0..alone.pieces() {
                prop_assert_eq!(alone.piece(piece, 0), together.piece(piece, channel));
            }
        }
    }

    #[test]
    fn what_is_not_observed_is_not_read(shape in shape(60, 3.0)) {
        let problem = shape.problem();
        let mut other = problem.clone();
        other.values.iter_mut().zip(&problem.observed).filter(|(_, seen)| !**seen).for_each(|(x, _)| *x = f64::NAN);
        if problem.times.len() > 1 {
            for block in [&mut other.left.value, &mut other.left.slope, &mut other.left.curvature] {
                block[..problem.channels].fill(f64::NAN);
            }
            let last = problem.values.len() - problem.channels;
            for block in [&mut other.right.slope, &mut other.right.curvature] {
                block[last..].fill(f64::NAN);
            }
        }
        prop_assert_eq!(problem.compensation(), other.compensation());
    }

    #[test]
    fn a_knot_without_jump_or_observation_changes_nothing(shape in shape(40, 1.0), place in 0.0..1.0f64) {
        let problem = Shape { missing: 0.0, ..shape }.problem();
        let problem = Problem { options: cssc::CompensationOptions { max_fold: None, ..problem.options }, ..problem };
        prop_assume!(problem.times.len() > 1);
        let after = (place * (problem.times.len() - 1) as f64) as usize;
        let channels = problem.channels;
        let mut padded = problem.clone();
        let middle = problem.times[after] + 0.5 * problem.gap(after);
        padded.times.insert(after + 1, middle);
        let at = (after + 1) * channels;
        padded.observed.splice(at..at, vec![false; channels]);
        padded.values.splice(at..at, vec![f64::NAN; channels]);
        for jets in [&mut padded.left, &mut padded.right] {
            for block in [&mut jets.value, &mut jets.slope, &mut jets.curvature] {
                block.splice(at..at, vec![0.25; channels]);
            }
        }
        let query: Vec<f64> = (0..50).map(|i| {
            problem.times[0] + (problem.times.last().unwrap() - problem.times[0]) * f64::from(i) / 50.0
        }).collect();
        let found = padded.compensation().sample(&query, Side::Right).unwrap().value;
        let expected = problem.compensation().sample(&query, Side::Right).unwrap().value;
        let size = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (a, b) in found.iter().zip(&expected) {
            prop_assert!((a - b).abs() <= 1e-11 * size, "{a} {b}");
        }
    }

    /// What the smoothed curve cannot see: with the output rule, any quadratic on any interval,
    /// and any cubic on an interval between own knots that holds no folded jump, or one third
    /// derivative common to all intervals between two own knots.
    #[test]
    fn cubics_added_to_the_prediction_do_not_change_the_smoothed_curve(shape in shape(40, 1.5)) {
        let mut problem = shape.problem();
        problem.options.end_rule = EndRule::Output;
        prop_assume!(problem.times.len() > 1);
        let before = problem.compensation();
        let mut changed = problem.clone();
        let mut random = Random::new(shape.seed ^ 1);
        let mut added = Vec::new(); // [piece][channel]
        for channel in 0..problem.channels {
            let roles = roles(&problem, channel);
            let mut third = 0.0;
            for (k, role) in roles.iter().enumerate().take(problem.times.len() - 1) {
                if *role != Role::Folded {
                    third = random.signed();
                }
                let cubic = [random.signed(), random.signed(), random.signed(), third];
                add_cubic(&mut changed, k, channel, problem.times[k], cubic);
                added.push(cubic);
            }
        }
        // A pin follows the prediction's own value, so it must be told to stay where it was.
        let pieces = problem.times.len() - 1;
        for channel in 0..problem.channels {
            for (k, role) in roles(&problem, channel).into_iter().enumerate() {
                if role == Role::Pinned {
                    let at = k * problem.channels + channel;
                    let side = if k == pieces { problem.options.last_value } else { Side::Right };
                    problem.values[at] = problem.limits(side).value[at];
                    changed.values[at] = problem.values[at];
                    problem.observed[at] = true;
                    changed.observed[at] = true;
                }
            }
        }
        for p in [&mut problem, &mut changed] {
            p.options.max_fold = None;
        }
        assert_close(&problem, &problem.compensation(), &before, 1e-11);
        let after = changed.compensation();
        for channel in 0..problem.channels {
            let expected: Vec<[f64; 4]> = (0..pieces)
                .map(|k| {
                    let (c, a) = (before.piece(k, channel), added[channel * pieces + k]);
                    std::array::from_fn(|p| (c[p] - a[p]) * problem.gap(k).powi(p as i32))
                })
                .collect();
            let found = scaled(&problem, &after, channel);
            prop_assert!(difference(&found, &expected) <= 1e-10);
        }
    }

    #[test]
    fn planning_again_gives_the_same_as_planning_anew(first in shape(60, 2.0), second in shape(60, 2.0)) {
        let (first, second) = (first.problem(), second.problem());
        let mut plan = first.plan().unwrap();
        plan.prepare(&second.times, second.channels, Some(&second.observed), second.options).unwrap();
        let mut c = first.compensation();
        plan.forward(&second.values, second.left.as_slices(), second.right.as_slices(), &mut c).unwrap();
        prop_assert_eq!(c, second.compensation());
    }

    #[test]
    fn the_plan_gives_each_knot_its_role(shape in shape(60, 2.0)) {
        let problem = shape.problem();
        let plan = problem.plan().unwrap();
        for channel in 0..problem.channels {
            let found: Vec<Role> = (0..problem.times.len()).map(|k| plan.role(k, channel)).collect();
            prop_assert_eq!(found, roles(&problem, channel));
        }
    }

    #[test]
    fn single_precision_at_the_border_is_double_precision_inside(shape in shape(60, 2.0)) {
        let problem = shape.problem();
        let narrow = |block: &[f64]| -> Vec<f32> { block.iter().map(|&x| x as f32).collect() };
        let widen = |block: &[f64]| -> Vec<f64> { block.iter().map(|&x| f64::from(x as f32)).collect() };
        let (left, right) = (problem.left.clone().map(|b| narrow(&b)), problem.right.clone().map(|b| narrow(&b)));
        let mut c = PiecewiseCubic::default();
        problem.plan().unwrap()
            .forward(&narrow(&problem.values), left.as_slices(), right.as_slices(), &mut c).unwrap();
        let wide = Problem {
            values: widen(&problem.values),
            left: problem.left.clone().map(|b| widen(&b)),
            right: problem.right.clone().map(|b| widen(&b)),
            ..problem
        };
        prop_assert_eq!(c, wide.compensation());
    }
}

#[test]
fn a_channel_that_is_never_observed_is_the_smoothed_prediction() {
    let options = cssc::CompensationOptions::default();
    let shape = Shape {
        seed: 7,
        knots: 9,
        channels: 2,
        missing: 0.0,
        decades: 1.0,
        options,
    };
    let mut problem = shape.problem();
    problem
        .observed
        .iter_mut()
        .skip(1)
        .step_by(2)
        .for_each(|seen| *seen = false);
    let c = problem.compensation();
    assert_correct(&problem, &c, 1e-14);
    let right = c.sample(&problem.times, Side::Right).unwrap();
    for k in 0..8 {
        assert_eq!(right.value[2 * k + 1], 0.0, "c vanishes right of knot {k}");
    }
    // The check can fail: no compensation at all leaves every jump.
    let none = PiecewiseCubic::new(problem.times.clone(), 2, vec![0.0; 8 * 4 * 2]).unwrap();
    assert!(worst_residual(&problem, &none) > 0.1);
}

#[test]
fn one_knot_gives_the_constant_through_it() {
    let (left, right) = (
        Jets {
            value: vec![1.0, 1.0],
            slope: vec![9.0; 2],
            curvature: vec![9.0; 2],
        },
        Jets {
            value: vec![2.0, 2.0],
            slope: vec![8.0; 2],
            curvature: vec![8.0; 2],
        },
    );
    for (side, expected) in [(Side::Right, 5.0), (Side::Left, 6.0)] {
        let options = cssc::CompensationOptions {
            last_value: side,
            ..Default::default()
        };
        let plan = Plan::new(&[3.0], 2, Some(&[true, false]), options).unwrap();
        let mut c = PiecewiseCubic::default();
        plan.forward(&[7.0, 0.0], left.as_slices(), right.as_slices(), &mut c)
            .unwrap();
        assert_eq!(c.piece(0, 0), [expected, 0.0, 0.0, 0.0]);
        assert_eq!(c.piece(0, 1), [0.0; 4]);
        assert_eq!(
            c.sample(&[-1.0, 3.0, 8.0], Side::Right).unwrap().value,
            [expected, 0.0, expected, 0.0, expected, 0.0]
        );
    }
}
