//! The compensation for noisy observations: against brute force, scipy, and its own promises.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod common;

use common::check::{difference, roles, scaled, target};
use common::problem::{Problem, Shape, shape};
use common::random::Random;
use common::smoothing;
use cssc::compensate::Role;
use cssc::smooth::smoothing_spline;
use cssc::{
    CompensationOptions, EndRule, Jets, Path, Penalty, PiecewiseCubic, Side, SmoothOptions,
    Smoothed, SplineKind, compensate, smooth,
};
use proptest::prelude::*;
use serde_json::Value;

fn smoothed(problem: &Problem, options: &SmoothOptions) -> Smoothed {
    let values: Vec<f64> = (problem.values.iter().zip(&problem.observed))
        .map(|(&x, &seen)| if seen { x } else { f64::NAN })
        .collect();
    let (left, right) = (problem.left.as_slices(), problem.right.as_slices());
    smooth(
        &problem.times,
        problem.channels,
        &values,
        left,
        right,
        options,
    )
    .unwrap()
}

/// CompensationOptions with random weights.
fn weighted(problem: &Problem, penalty: f64, seed: u64) -> SmoothOptions {
    let mut random = Random::new(seed);
    let weights = (0..problem.values.len()).map(|_| 10f64.powf(random.signed()));
    SmoothOptions {
        weights: Some(weights.collect()),
        ..smoothing::options(problem, Penalty::Given(penalty))
    }
}

/// A standard normal number, by Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

fn increasing(random: &mut Random, count: usize) -> Vec<f64> {
    let mut time = 0.0;
    let mut step = || {
        time += 0.2 + random.unit();
        time
    };
    (0..count).map(|_| step()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// 1e-10 of the largest coefficient; gaps over one power of ten, penalties over twelve.
    #[test]
    fn it_minimises_the_objective_under_the_constraints(
        shape in shape(14, 1.0), penalty in -6.0..6.0f64,
    ) {
        let problem = Shape { knots: shape.knots.clamp(2, 14), channels: shape.channels.min(3), ..shape }
            .problem();
        let penalty = 10f64.powf(penalty);
        let options = weighted(&problem, penalty, shape.seed);
        let c = smoothed(&problem, &options).compensation;
        for channel in 0..problem.channels {
            let dense = smoothing::solve(&problem, &options, penalty, channel);
            let found = scaled(&problem, &c, channel);
            prop_assert!(difference(&found, &dense) < 1e-10, "{}", difference(&found, &dense));
        }
    }

    #[test]
    fn without_strength_it_is_the_compensation(shape in shape(60, 3.0)) {
        let mut problem = shape.problem();
        problem.options.end_rule = EndRule::Compensation;
        let exact = problem.compensation();
        let none = smoothed(&problem, &weighted(&problem, 0.0, 1)).compensation;
        prop_assert_eq!(exact.coefficients(), none.coefficients());
        // And it goes there continuously.
        let nearly = smoothed(&problem, &weighted(&problem, 1e-22, 1)).compensation;
        for channel in 0..problem.channels {
            let pair = [&nearly, &exact].map(|c| scaled(&problem, c, channel));
            prop_assert!(difference(&pair[0], &pair[1]) < 1e-8);
        }
    }

    /// Stretching time by a and weights by b is the same problem for λ·a³·b.
    #[test]
    fn units_do_not_matter(shape in shape(40, 1.0), a in -4.0..4.0f64, b in -4.0..4.0f64) {
        let [a, b] = [a, b].map(|power| 2f64.powi(power as i32));
        let problem = shape.problem();
        let mut stretched = problem.clone();
        stretched.times.iter_mut().for_each(|t| *t *= a);
        for limits in [&mut stretched.left, &mut stretched.right] {
            limits.slope.iter_mut().for_each(|x| *x /= a);
            limits.curvature.iter_mut().for_each(|x| *x /= a * a);
        }
        let mut options = smoothing::options(&problem, Penalty::CrossValidated);
        let here = smoothed(&problem, &options);
        options.weights = Some(vec![b; problem.values.len()]);
        let there = smoothed(&stretched, &options);
        for channel in 0..problem.channels {
            let [here, there] = [here.penalties[channel] * a.powi(3) * b, there.penalties[channel]];
            prop_assert!((here - there).abs() <= 1e-2 * there, "{here} {there}");
        }
    }

    /// Against kriging, the dense way to the same variance; 1e-8 of the largest.
    #[test]
    fn deviations_are_those_of_a_dense_gaussian_process(
        shape in shape(12, 0.7), penalty in -3.0..2.0f64,
    ) {
        let problem = Shape { knots: shape.knots.clamp(3, 12), channels: 1, ..shape }.problem();
        let penalty = 10f64.powf(penalty);
        let options = weighted(&problem, penalty, shape.seed);
        let found = smoothed(&problem, &options);
        let weights = smoothing::weights(&problem, &options, 0);
        let own: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] > 0.0).collect();
        prop_assume!(own.len() > 2);
        let times: Vec<f64> = own.iter().map(|&k| problem.times[k]).collect();
        let variances: Vec<f64> = own.iter().map(|&k| penalty / weights[k]).collect();
        let span = times[times.len() - 1] - times[0];
        let mut query: Vec<f64> = (-4..25).map(|i| times[0] + span * f64::from(i) / 20.0).collect();
        query.extend(&times);
        query.sort_by(f64::total_cmp);
        let std_devs = found.std_devs(&query).unwrap();
        let intensity = found.noise[0].powi(2) / penalty;
        let dense: Vec<f64> = query
            .iter()
            .map(|&t| intensity * smoothing::posterior_variance(&times, &variances, t))
            .collect();
        let size = dense.iter().fold(0.0, |m: f64, v| m.max(*v));
        for (std_dev, variance) in std_devs.iter().zip(&dense) {
            prop_assert!((std_dev * std_dev - variance).abs() <= 1e-8 * size);
        }
    }
}

/// What the observed knots tell by a dense influence matrix: GCV and the noise's variance.
fn dense_criterion(problem: &Problem, options: &SmoothOptions, penalty: f64) -> [f64; 2] {
    let roles = roles(problem, 0);
    let weights = smoothing::weights(problem, options, 0);
    let last = roles.len() - 1;
    let values = |problem: &Problem| -> Vec<f64> {
        let pieces = smoothing::solve(problem, options, penalty, 0);
        (0..roles.len())
            .map(|k| match k {
                _ if k == last => pieces[k - 1].iter().sum::<f64>() + problem.left.value[k],
                _ => pieces[k][0] + problem.right.value[k],
            })
            .collect()
    };
    let fitted = values(problem);
    let (mut squares, mut freedom, mut count) = (0.0, 0.0, 0.0);
    for k in (0..roles.len()).filter(|&k| roles[k] == Role::Observed) {
        let mut moved = problem.clone();
        moved.values[k] += 1.0;
        let influence = values(&moved)[k] - fitted[k];
        squares += weights[k] * (target(problem, roles[k], k, 0) - fitted[k]).powi(2);
        freedom += 1.0 - influence;
        count += 1.0;
    }
    [count * squares / freedom.powi(2), squares / freedom]
}

#[test]
fn strength_and_noise_follow_from_the_dense_influence_matrix() {
    let mut inside = 0;
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let shape = Shape {
            seed,
            knots: 12,
            channels: 1,
            missing: 0.2 * random.unit(),
            decades: 0.5,
            options: CompensationOptions::default(),
        };
        let problem = shape.problem();
        let options = smoothing::options(&problem, Penalty::CrossValidated);
        let found = smoothed(&problem, &options);
        let penalty = found.penalties[0];
        if penalty == 0.0 || penalty > 1e4 {
            continue; // at an end of the range
        }
        inside += 1;
        let [score, variance] = dense_criterion(&problem, &options, penalty);
        assert!(
            (found.noise[0].powi(2) / variance - 1.0).abs() < 1e-9,
            "seed {seed}"
        );
        for power in -16..=16 {
            let other = penalty * 10f64.powf(f64::from(power) / 4.0);
            let [other, _] = dense_criterion(&problem, &options, other);
            assert!(
                score <= other * (1.0 + 1e-9),
                "seed {seed}: {score} {other}"
            );
        }
    }
    assert!(inside >= 10, "{inside} cases are tested");
}

fn numbers(value: &Value) -> Vec<f64> {
    let entries = value.as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry.as_f64().unwrap())
        .collect()
}

/// `golden/smoothing.json` was written by `golden/make_smoothing.py`. Given penalties must agree
/// to rounding; scipy's own choice is only as good as its tolerance.
#[test]
fn a_zero_prediction_gives_the_smoothing_splines_of_scipy() {
    let file: Value = serde_json::from_str(include_str!("golden/smoothing.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let [times, values, query] = ["t", "x", "q"].map(|key| numbers(&case[key]));
        let penalty = case["strength"].as_f64().unwrap();
        let chosen = case["chosen"].as_bool().unwrap();
        let options = SmoothOptions {
            penalty: if chosen {
                Penalty::CrossValidated
            } else {
                Penalty::Given(penalty)
            },
            weights: Some(numbers(&case["w"])),
            ..SmoothOptions::default()
        };
        let zero = Jets::<Vec<f64>>::zeros(values.len());
        let (left, right) = (zero.as_slices(), zero.as_slices());
        let answers = [
            smoothing_spline(&times, 1, &values, &options).unwrap(),
            smooth(&times, 1, &values, left, right, &options).unwrap(),
        ];
        for answer in answers {
            if chosen {
                let difference = (answer.penalties[0] / penalty - 1.0).abs();
                assert!(difference < 5e-3, "{} {penalty}", answer.penalties[0]);
                // n·σ²/Σ(1 - a) is the criterion again
                let residuals = answer
                    .compensation
                    .sample(&times, Side::Right)
                    .unwrap()
                    .value;
                let squares: f64 = (residuals.iter().zip(&values))
                    .map(|(s, x)| (s - x).powi(2))
                    .sum();
                let noise = answer.noise[0].powi(2);
                let criterion = times.len() as f64 * noise * noise / squares;
                let expected = case["criterion"].as_f64().unwrap();
                assert!(
                    (criterion / expected - 1.0).abs() < 1e-5,
                    "{criterion} {expected}"
                );
            }
            let found = answer.compensation.sample(&query, Side::Right).unwrap();
            let tolerance = if chosen { 1e-3 } else { 1e-10 };
            for (key, found) in [
                ("y", &found.value),
                ("dy", &found.slope),
                ("ddy", &found.curvature),
            ] {
                let expected = numbers(&case[key]);
                let size = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
                for (a, b) in found.iter().zip(&expected) {
                    assert!(
                        (a - b).abs() < tolerance * size,
                        "{key}: {a} {b}, {} points",
                        times.len()
                    );
                }
            }
        }
    }
}

/// 60 motions drawn from the model, 150 knots each, 149 places between them: their errors are
/// dependent over some knots, so about 60·149/10 ≈ 900 independent ones, for which 95 % has a
/// standard error of 0.7 %. λ counts as known although it is estimated: a little less than
/// nominal is expected.
#[test]
fn bands_cover_as_often_as_they_say() {
    let mut random = Random::new(5);
    let mut counts = [0.0; 3];
    let mut all = 0.0;
    for series in 0..60 {
        let times = increasing(&mut random, 299);
        let noise = [0.3, 1.0, 5.0][series % 3];
        let (mut value, mut slope, mut path) = (0.0, 0.0, Vec::new());
        for (k, &time) in times.iter().enumerate() {
            let gap = if k == 0 { 1.0 } else { time - times[k - 1] };
            let [a, b] = [normal(&mut random), normal(&mut random)];
            // value and slope of integrated white noise: covariance h³/3, h²/2, h
            value += gap * slope + gap.powf(1.5) * (0.5 * a + b / 12f64.sqrt());
            slope += gap.sqrt() * a;
            path.push(value);
        }
        let knots: Vec<f64> = times.iter().step_by(2).copied().collect();
        let places: Vec<f64> = times.iter().skip(1).step_by(2).copied().collect();
        let truth = path.iter().skip(1).step_by(2);
        let seen: Vec<f64> = path
            .iter()
            .step_by(2)
            .map(|x| x + noise * normal(&mut random))
            .collect();
        let answer = smoothing_spline(&knots, 1, &seen, &SmoothOptions::default()).unwrap();
        let curve = answer
            .compensation
            .sample(&places, Side::Right)
            .unwrap()
            .value;
        let bands = answer.std_devs(&places).unwrap();
        for ((truth, curve), band) in truth.zip(curve).zip(bands) {
            let off = (truth - curve).abs() / band;
            for (count, limit) in counts.iter_mut().zip([0.6745, 1.6449, 1.96]) {
                *count += f64::from(u8::from(off < limit));
            }
            all += 1.0;
        }
    }
    for (count, nominal) in counts.iter().zip([0.5, 0.9, 0.95]) {
        let covered = count / all;
        assert!((covered - nominal).abs() < 0.03, "{covered} of {nominal}");
    }
}

#[test]
fn without_noise_the_curve_passes_through_the_observations() {
    let times: Vec<f64> = (0..80).map(|k| 0.1 * f64::from(k)).collect();
    let values: Vec<f64> = times.iter().map(|t| t.sin()).collect();
    let answer = smoothing_spline(&times, 1, &values, &SmoothOptions::default()).unwrap();
    let exact = PiecewiseCubic::fit(&times, 1, &values, SplineKind::Natural).unwrap();
    let query: Vec<f64> = (0..790).map(|k| 0.01 * f64::from(k)).collect();
    let [near, exact] =
        [&answer.compensation, &exact].map(|c| c.sample(&query, Side::Left).unwrap());
    for (a, b) in near.value.iter().zip(&exact.value) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    assert!(answer.noise[0] < 1e-4, "{:?}", answer.noise);
}

/// GCV follows pure noise now and then (Wahba 1990, sec. 4.9), and a little bend is often a
/// little better than none; but at least half are straight.
#[test]
fn nothing_but_noise_becomes_a_straight_line() {
    let mut straight = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let times = increasing(&mut random, 100);
        let values: Vec<f64> = times.iter().map(|_| normal(&mut random)).collect();
        let answer = smoothing_spline(&times, 1, &values, &SmoothOptions::default()).unwrap();
        let curve = answer.compensation.sample(&times, Side::Right).unwrap();
        let line = least_squares(&times, &values);
        let off = times
            .iter()
            .zip(&curve.value)
            .map(|(t, x)| (x - line[0] - line[1] * t).abs());
        straight += usize::from(off.fold(0.0, f64::max) < 1e-4);
    }
    assert!(straight >= 20, "{straight} of 40");
}

fn least_squares(times: &[f64], values: &[f64]) -> [f64; 2] {
    let count = times.len() as f64;
    let [t, x] = [times, values].map(|all| all.iter().sum::<f64>() / count);
    let product: f64 = times
        .iter()
        .zip(values)
        .map(|(a, b)| (a - t) * (b - x))
        .sum();
    let square: f64 = times.iter().map(|a| (a - t).powi(2)).sum();
    [x - t * product / square, product / square]
}

/// The banded equations have lost all digits long before.
#[test]
fn any_strength_is_accurate_on_long_series() {
    let mut random = Random::new(3);
    let times = increasing(&mut random, 100_000);
    let values: Vec<f64> = times
        .iter()
        .map(|t| 0.001 * t + normal(&mut random))
        .collect();
    let strong = SmoothOptions {
        penalty: Penalty::Given(1e35),
        ..SmoothOptions::default()
    };
    let answer = smoothing_spline(&times, 1, &values, &strong).unwrap();
    let line = least_squares(&times, &values);
    let curve = answer
        .compensation
        .sample(&times, Side::Right)
        .unwrap()
        .value;
    for (t, x) in times.iter().zip(curve) {
        assert!((x - line[0] - line[1] * t).abs() < 1e-9);
    }
    // The deviation of a regression line at its middle: σ/√n.
    let middle = times.iter().sum::<f64>() / 1e5;
    let std_dev = answer.std_devs(&[middle]).unwrap()[0];
    assert!((std_dev / (answer.noise[0] / 1e5f64.sqrt()) - 1.0).abs() < 1e-6);
}

#[test]
fn a_good_prediction_helps_where_observations_are_few_and_noisy() {
    let mut random = Random::new(8);
    let times = increasing(&mut random, 60);
    let truth = |t: f64| (1.7 * t).sin();
    let values: Vec<f64> = times
        .iter()
        .map(|&t| truth(t) + 0.3 * normal(&mut random))
        .collect();
    // right but for a jump at every knot
    let mut limits = || {
        let mut jets = Jets::<Vec<f64>>::zeros(60);
        for (k, &t) in times.iter().enumerate() {
            jets.value[k] = truth(t) + 0.05 * random.signed();
            jets.slope[k] = 1.7 * (1.7 * t).cos();
            jets.curvature[k] = -1.7 * 1.7 * truth(t);
        }
        jets
    };
    let (left, right) = (limits(), limits());
    let options = SmoothOptions::default();
    let with = smooth(
        &times,
        1,
        &values,
        left.as_slices(),
        right.as_slices(),
        &options,
    )
    .unwrap();
    let c = with
        .compensation
        .sample(&times[1..59], Side::Right)
        .unwrap()
        .value;
    let without = smoothing_spline(&times, 1, &values, &options).unwrap();
    let plain = without
        .compensation
        .sample(&times[1..59], Side::Right)
        .unwrap()
        .value;
    let (mut ours, mut theirs) = (0.0, 0.0);
    for k in 1..59 {
        ours += (right.value[k] + c[k - 1] - truth(times[k])).powi(2);
        theirs += (plain[k - 1] - truth(times[k])).powi(2);
    }
    assert!(ours < 0.25 * theirs, "{ours} {theirs}");
}

#[test]
fn up_to_three_observations_are_passed_through() {
    for count in 1..=3 {
        let times = &[0.0, 1.0, 4.0][..count];
        let values = &[1.0, 3.0, 2.0][..count];
        let answer = smoothing_spline(times, 1, values, &SmoothOptions::default()).unwrap();
        assert_eq!(answer.penalties, [0.0]);
        let natural = PiecewiseCubic::fit(times, 1, values, SplineKind::Natural).unwrap();
        assert_eq!(answer.compensation.coefficients(), natural.coefficients());
        let std_devs = answer.std_devs(&[-1.0, 0.0, 0.5, 9.0]).unwrap();
        if count < 3 {
            assert!(answer.noise[0].is_nan() && std_devs.iter().all(|d| d.is_nan()));
        } else {
            assert_eq!((answer.noise[0], std_devs[1]), (0.0, 0.0));
            assert!(std_devs[0] > std_devs[2] && std_devs[3] > std_devs[0]);
        }
    }
}

#[test]
fn a_channel_goes_on_straight_outside_its_observations() {
    let times = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let x = f64::NAN;
    let values = [x, 0., x, 0., 1., 0., 3., 0., 2., 0., 5., 0., x, 0., x, 0.];
    let options = SmoothOptions {
        penalty: Penalty::Given(0.3),
        ..SmoothOptions::default()
    };
    let answer = smoothing_spline(&times, 2, &values, &options).unwrap();
    let alone = smoothing_spline(&times[2..6], 1, &[1., 3., 2., 5.], &options).unwrap();
    let ends = alone.compensation.sample(&[2.0, 5.0], Side::Left).unwrap();
    let found = answer
        .compensation
        .sample(&[0.5, 1.5, 5.5, 6.5], Side::Right)
        .unwrap();
    for (i, (end, distance)) in [(0, -1.5), (0, -0.5), (1, 0.5), (1, 1.5)]
        .into_iter()
        .enumerate()
    {
        let expected = ends.value[end] + distance * ends.slope[end];
        assert!((found.value[2 * i] - expected).abs() < 1e-12);
        assert_eq!(found.curvature[2 * i], 0.0);
    }
    assert_eq!(found.value[1], 0.0);
}

#[test]
fn a_channel_that_is_never_observed_is_the_smoothed_prediction() {
    let mut problem = Shape {
        seed: 4,
        knots: 9,
        channels: 2,
        missing: 0.0,
        decades: 0.5,
        options: CompensationOptions::default(),
    }
    .problem();
    problem.options.end_rule = EndRule::Compensation;
    problem
        .observed
        .iter_mut()
        .skip(1)
        .step_by(2)
        .for_each(|seen| *seen = false);
    let answer = smoothed(&problem, &SmoothOptions::default());
    assert_eq!(answer.penalties[1], 0.0);
    assert!(answer.noise[1].is_nan());
    let exact = problem.compensation();
    for piece in 0..8 {
        assert_eq!(answer.compensation.piece(piece, 1), exact.piece(piece, 1));
    }
}

#[test]
fn bad_options_are_refused_by_name() {
    let refused = |options: SmoothOptions| {
        let values = [1.0, f64::NAN, 2.0];
        let error = smoothing_spline(&[0.0, 1.0, 2.0], 1, &values, &options).unwrap_err();
        let zero = Jets::<Vec<f64>>::zeros(3);
        let (left, right) = (zero.as_slices(), zero.as_slices());
        let same = smooth(&[0.0, 1.0, 2.0], 1, &values, left, right, &options).unwrap_err();
        assert_eq!(error.to_string(), same.to_string());
        error.to_string()
    };
    let message = refused(SmoothOptions {
        penalty: Penalty::Given(-1.0),
        ..SmoothOptions::default()
    });
    assert!(message.contains("`penalty` is -1"), "{message}");
    let message = refused(SmoothOptions {
        pin_weight: 0.0,
        ..SmoothOptions::default()
    });
    assert!(message.contains("`pin_weight` is 0"), "{message}");
    let weights = Some(vec![1.0, -3.0, f64::NAN]); // the second is not read
    let message = refused(SmoothOptions {
        weights,
        ..SmoothOptions::default()
    });
    assert!(message.contains("`weights` is NaN"), "{message}");
    let message = refused(SmoothOptions {
        weights: Some(vec![1.0]),
        ..SmoothOptions::default()
    });
    assert!(
        message.contains("weights has 1 entries, expected 3"),
        "{message}"
    );
    let zero = Jets::<Vec<f64>>::zeros(2);
    let (left, mut right) = (zero.clone(), zero);
    right.slope[0] = f64::INFINITY;
    let options = SmoothOptions::default();
    let message = smooth(
        &[0.0, 1.0],
        1,
        &[0.0, 1.0],
        left.as_slices(),
        right.as_slices(),
        &options,
    );
    assert!(
        message
            .unwrap_err()
            .to_string()
            .contains("right limit of the slope")
    );
    let options = CompensationOptions {
        end_rule: EndRule::Compensation,
        ..CompensationOptions::default()
    };
    assert_eq!(SmoothOptions::default().compensation(), options);
    assert!(
        compensate(
            &[0.0],
            1,
            &[1.0],
            left.as_slices(),
            left.as_slices(),
            options
        )
        .is_err()
    );
}
