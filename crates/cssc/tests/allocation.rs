//! Once the memory is there, no series allocates: counted, not believed. (One test alone in
//! this file, since the count is that of the whole process.)
#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::problem::{Problem, Shape};
use counting::allocations;
use cssc::compensate::{
    BatchInputs, BatchKnots, BatchQuery, Compensator, InputGradients, Plan, Workspace,
};
use cssc::{CompensationOptions, Jets, PiecewiseCubic, Side};

fn problem(seed: u64, knots: usize) -> Problem {
    let options = CompensationOptions::default();
    Shape {
        seed,
        knots,
        channels: 5,
        missing: 0.3,
        decades: 1.0,
        options,
    }
    .problem()
}

/// Plans, solves, evaluates and goes back for series of changing knots and masks, reusing
/// everything.
fn one_by_one(problems: &[Problem]) -> usize {
    let (mut plan, mut c) = (Plan::default(), PiecewiseCubic::default());
    let (mut workspace, mut gradient) = (Workspace::default(), InputGradients::zeros(40 * 5));
    let (mut values, ones) = (vec![0.0; 40 * 5], vec![1.0; 40 * 5]);
    let mut pass = || {
        for p in problems {
            plan.prepare(&p.times, p.channels, Some(&p.observed), p.options)
                .unwrap();
            plan.forward(&p.values, p.left.as_slices(), p.right.as_slices(), &mut c)
                .unwrap();
            c.values_into(&p.times, Side::Left, &mut values).unwrap();
            let into = gradient.as_mut_slices();
            plan.backward(&p.times, Side::Left, &ones, &mut workspace, into)
                .unwrap();
        }
    };
    pass();
    allocations(pass)
}

/// The same in one call, with `copies` times as many series.
fn in_a_batch(problems: &[Problem], copies: usize) -> usize {
    let count = problems.len() * copies;
    let all: Vec<&Problem> = problems.iter().cycle().take(count).collect();
    let gather = |f: &dyn Fn(&Problem) -> &[f64]| -> Vec<f64> {
        all.iter().flat_map(|p| f(p).iter().copied()).collect()
    };
    let jets = |side| Jets {
        value: gather(&|p| &p.limits(side).value),
        slope: gather(&|p| &p.limits(side).slope),
        curvature: gather(&|p| &p.limits(side).curvature),
    };
    let (times, values) = (gather(&|p| &p.times), gather(&|p| &p.values));
    let (left, right) = (jets(Side::Left), jets(Side::Right));
    let observed: Vec<bool> = all
        .iter()
        .flat_map(|p| p.observed.iter().copied())
        .collect();
    let offsets: Vec<usize> = (0..=count).map(|i| i * 40).collect();
    let knots = BatchKnots {
        offsets: &offsets,
        times: &times,
        channels: 5,
        observed: Some(&observed),
    };
    let inputs = BatchInputs {
        values: &values,
        left: left.as_slices(),
        right: right.as_slices(),
    };
    let query = BatchQuery {
        offsets: &offsets,
        times: &times,
        side: Side::Right,
    };
    let compensator = Compensator::new(CompensationOptions::default());
    let mut into = vec![0.0; values.len()];
    let mut gradient = InputGradients::zeros(values.len());
    let mut pass = || {
        compensator
            .evaluate(knots, inputs, query, &mut into)
            .unwrap();
        compensator
            .backward(knots, query, &values, gradient.as_mut_slices())
            .unwrap();
    };
    (0..5).for_each(|_| pass()); // let every thread meet every kind of series
    allocations(|| (0..5).for_each(|_| pass()))
}

#[test]
fn no_series_allocates_in_steady_state() {
    let problems: Vec<Problem> = (0..50).map(|seed| problem(seed, 40)).collect();
    // The counter sees the whole process, and the test's own runner may still be at work beside it.
    let fewest = (0..5).map(|_| one_by_one(&problems)).min();
    assert_eq!(fewest, Some(0));
    // Handing a call to the thread pool may allocate; 2000 series allocate no more than 200.
    for copies in [4, 40] {
        // On a busy machine a thread may meet its first series only after the passes that warm it up.
        let tries = (0..5).map(|_| in_a_batch(&problems, copies));
        let count = tries.min().expect("there are five");
        assert!(
            count <= 20,
            "{count} allocations in ten calls with {} series",
            50 * copies
        );
    }
}
