//! Order of convergence, and the error bound against measured errors.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod common;

use common::random::Random;
use cssc::compensate::error_bound;
use cssc::{CompensationOptions, EndRule, Error, Jets, Path, Side, Sum, compensate};

/// The truth: x = sin(2t) + t²/4, whose curvature does not vanish at the ends.
fn truth(t: f64) -> f64 {
    (2.0 * t).sin() + 0.25 * t * t
}

fn truth_curvature(t: f64) -> f64 {
    -4.0 * (2.0 * t).sin() + 0.5
}

/// A prediction that jumps at every knot: on piece k it is a_k sin(3t + 1), where a_k is
/// 0.2 and -0.1 in turn (so that it is equally rough for any number of knots).
struct Jumping {
    knots: Vec<f64>,
}

impl Jumping {
    fn amplitude(k: usize) -> f64 {
        if k.is_multiple_of(2) { 0.2 } else { -0.1 }
    }

    /// The largest |(x - o)⁗| between the knots, on a fine grid.
    fn fourth_derivative(&self) -> f64 {
        let mut largest: f64 = 0.0;
        for k in 0..self.knots.len() - 1 {
            for i in 0..=200 {
                let t = self.knots[k] + (self.knots[k + 1] - self.knots[k]) * f64::from(i) / 200.0;
                let o = Self::amplitude(k) * 81.0 * (3.0 * t + 1.0).sin();
                largest = largest.max((16.0 * (2.0 * t).sin() - o).abs());
            }
        }
        largest
    }
}

impl Path for Jumping {
    fn channels(&self) -> usize {
        1
    }

    fn start(&self) -> f64 {
        self.knots[0]
    }

    fn end(&self) -> f64 {
        self.knots[self.knots.len() - 1]
    }

    fn sample_into(&self, times: &[f64], side: Side, into: &mut Jets) -> Result<(), Error> {
        into.reset(times.len());
        for (i, &t) in times.iter().enumerate() {
            let passed = self.knots.partition_point(|&knot| match side {
                Side::Left => knot < t,
                Side::Right => knot <= t,
            });
            let k = passed.saturating_sub(1).min(self.knots.len() - 2);
            let (a, angle) = (Self::amplitude(k), 3.0 * t + 1.0);
            into.value[i] = a * angle.sin();
            into.slope[i] = 3.0 * a * angle.cos();
            into.curvature[i] = -9.0 * a * angle.sin();
        }
        Ok(())
    }
}

struct Errors {
    everywhere: f64,
    inside: f64,
    bound: f64,
}

/// Largest errors of the smoothed curve on [0, 3]: everywhere, and in the middle third.
fn errors(knots: Vec<f64>, end_rule: EndRule) -> Errors {
    let predicted = Jumping {
        knots: knots.clone(),
    };
    let values: Vec<f64> = knots.iter().map(|&t| truth(t)).collect();
    let left = predicted.sample(&knots, Side::Left).unwrap();
    let right = predicted.sample(&knots, Side::Right).unwrap();
    let options = CompensationOptions {
        end_rule,
        ..CompensationOptions::default()
    };
    let c = compensate(
        &knots,
        1,
        &values,
        left.as_slices(),
        right.as_slices(),
        options,
    )
    .unwrap();
    let gap = knots
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(0.0, f64::max);
    let last = knots.len() - 1;
    let kept = |curvature: f64| {
        if end_rule == EndRule::Output {
            0.0
        } else {
            curvature
        }
    };
    let ends = [
        truth_curvature(knots[0]) - kept(right.curvature[0]),
        truth_curvature(knots[last]) - kept(left.curvature[last]),
    ];
    let bound = error_bound(gap, predicted.fourth_derivative(), ends);
    let query: Vec<f64> = (0..=6000).map(|i| f64::from(i) / 2000.0).collect();
    let smoothed = Sum::new(predicted, c)
        .unwrap()
        .sample(&query, Side::Right)
        .unwrap()
        .value;
    let error = |(t, s): (&f64, &f64)| (truth(*t) - s).abs();
    let everywhere = query.iter().zip(&smoothed).map(error).fold(0.0, f64::max);
    let middle = |(t, _): &(&f64, &f64)| (1.0..2.0).contains(*t);
    let inside = query
        .iter()
        .zip(&smoothed)
        .filter(middle)
        .map(error)
        .fold(0.0, f64::max);
    Errors {
        everywhere,
        inside,
        bound,
    }
}

fn uniform(intervals: usize) -> Vec<f64> {
    (0..=intervals)
        .map(|k| 3.0 * k as f64 / intervals as f64)
        .collect()
}

#[test]
fn the_order_is_four_inside_and_two_at_ends_that_are_bent() {
    for end_rule in [EndRule::Output, EndRule::Compensation] {
        let [coarse, fine] = [80, 160].map(|n| errors(uniform(n), end_rule));
        let order = |coarse: f64, fine: f64| (coarse / fine).log2();
        let (inside, ends) = (
            order(coarse.inside, fine.inside),
            order(coarse.everywhere, fine.everywhere),
        );
        assert!((inside - 4.0).abs() < 0.15, "inside: order {inside}");
        assert!((ends - 2.0).abs() < 0.15, "at the ends: order {ends}");
    }
}

#[test]
fn errors_stay_below_the_bound_and_come_near_it() {
    let mut random = Random::new(3);
    let mut nearest: f64 = 0.0;
    for end_rule in [EndRule::Output, EndRule::Compensation] {
        for case in 0..100 {
            let mut knots = uniform(4 + case % 40);
            let last = knots.len() - 1;
            for knot in &mut knots[1..last] {
                *knot += 0.9 / last as f64 * random.signed();
            }
            let errors = errors(knots, end_rule);
            assert!(
                errors.everywhere <= errors.bound,
                "{} {}",
                errors.everywhere,
                errors.bound
            );
            nearest = nearest.max(errors.everywhere / errors.bound);
        }
    }
    assert!(
        nearest > 0.3,
        "the bound is never nearly reached: {nearest}"
    );
}

#[test]
fn without_curvature_mismatch_at_the_ends_the_order_is_four_everywhere() {
    // On [0, π] the truth sin t has no curvature at the ends, and the prediction 0.1 sin 3t none.
    let error = |n: usize| {
        let knots: Vec<f64> = (0..=n)
            .map(|k| std::f64::consts::PI * k as f64 / n as f64)
            .collect();
        let values: Vec<f64> = knots
            .iter()
            .map(|t| t.sin() - 0.1 * (3.0 * t).sin())
            .collect();
        let none = Jets::<Vec<f64>>::zeros(n + 1);
        let (left, right) = (none.as_slices(), none.as_slices());
        let c = compensate(
            &knots,
            1,
            &values,
            left,
            right,
            CompensationOptions::default(),
        )
        .unwrap();
        let query: Vec<f64> = (0..=3000).map(|i| f64::from(i) / 1000.0).collect();
        let found = c.sample(&query, Side::Right).unwrap().value;
        let pairs = query.iter().zip(found);
        pairs
            .map(|(t, c)| (t.sin() - 0.1 * (3.0 * t).sin() - c).abs())
            .fold(0.0, f64::max)
    };
    let order = (error(60) / error(120)).log2();
    assert!((order - 4.0).abs() < 0.1, "order {order}");
    let gap = std::f64::consts::PI / 60.0;
    assert!(error(60) <= error_bound(gap, 1.0 + 8.1, [0.0, 0.0]));
}
