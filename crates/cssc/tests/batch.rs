//! Many series in one call.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod common;

use common::check::assert_correct;
use common::problem::{Problem, Shape};
use common::random::Random;
use cssc::compensate::{
    BatchInputs, BatchKnots, BatchQuery, Compensator, InputGradients, Workspace,
};
use cssc::{CompensationOptions, Error, Jets, Path, PiecewiseCubic, Side};

const CHANNELS: usize = 3;

/// Series of very different lengths, one after the other.
struct Block {
    problems: Vec<Problem>,
    offsets: Vec<usize>,
    times: Vec<f64>,
    observed: Vec<bool>,
    values: Vec<f64>,
    left: Jets,
    right: Jets,
    query_offsets: Vec<usize>,
    query: Vec<f64>,
}

fn extend(all: &mut Jets, more: &Jets) {
    all.value.extend(&more.value);
    all.slope.extend(&more.slope);
    all.curvature.extend(&more.curvature);
}

fn block(series: usize) -> Block {
    let mut random = Random::new(11);
    let mut block = Block {
        problems: Vec::new(),
        offsets: vec![0],
        times: Vec::new(),
        observed: Vec::new(),
        values: Vec::new(),
        left: Jets::default(),
        right: Jets::default(),
        query_offsets: vec![0],
        query: Vec::new(),
    };
    for i in 0..series {
        let knots = if i % 50 == 7 {
            3000
        } else {
            1 + (random.bits() % 90) as usize
        };
        let (seed, missing) = (random.bits(), 0.4 * random.unit());
        let options = CompensationOptions::default();
        let shape = Shape {
            seed,
            knots,
            channels: CHANNELS,
            missing,
            decades: 1.0,
            options,
        };
        let problem = shape.problem();
        block.times.extend(&problem.times);
        block.observed.extend(&problem.observed);
        block.values.extend(&problem.values);
        extend(&mut block.left, &problem.left);
        extend(&mut block.right, &problem.right);
        block.offsets.push(block.times.len());
        // every tenth series asks nothing
        let count = if i % 10 == 3 {
            0
        } else {
            1 + (random.bits() % 40) as usize
        };
        let (start, end) = (problem.times[0], problem.times[knots - 1]);
        let mut query: Vec<f64> = (0..count)
            .map(|_| start + (end - start) * random.unit())
            .collect();
        query.sort_by(f64::total_cmp);
        block.query.extend(query);
        block.query_offsets.push(block.query.len());
        block.problems.push(problem);
    }
    block
}

impl Block {
    fn knots(&self) -> BatchKnots<'_> {
        BatchKnots {
            offsets: &self.offsets,
            times: &self.times,
            channels: CHANNELS,
            observed: Some(&self.observed),
        }
    }

    fn inputs(&self) -> BatchInputs<'_, f64> {
        let (left, right) = (self.left.as_slices(), self.right.as_slices());
        BatchInputs {
            values: &self.values,
            left,
            right,
        }
    }

    fn query(&self) -> BatchQuery<'_> {
        BatchQuery {
            offsets: &self.query_offsets,
            times: &self.query,
            side: Side::Right,
        }
    }

    fn evaluate(&self) -> Vec<f64> {
        let mut into = vec![f64::NAN; self.query.len() * CHANNELS];
        let compensator = Compensator::new(CompensationOptions::default());
        compensator
            .evaluate(self.knots(), self.inputs(), self.query(), &mut into)
            .unwrap();
        into
    }

    fn backward(&self, gradient: &[f64]) -> InputGradients {
        let mut into = InputGradients::zeros(self.values.len());
        let compensator = Compensator::new(CompensationOptions::default());
        compensator
            .backward(self.knots(), self.query(), gradient, into.as_mut_slices())
            .unwrap();
        into
    }
}

fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[test]
fn a_batch_is_bit_for_bit_its_series_one_by_one() {
    let block = block(120);
    let together = block.evaluate();
    let g = Random::new(5).block(together.len());
    let gradient = block.backward(&g);
    let mut pieces = vec![PiecewiseCubic::default(); block.problems.len()];
    let compensator = Compensator::new(CompensationOptions::default());
    compensator
        .pieces(block.knots(), block.inputs(), &mut pieces)
        .unwrap();
    for (i, problem) in block.problems.iter().enumerate() {
        let query = block.query_offsets[i]..block.query_offsets[i + 1];
        let rows = query.start * CHANNELS..query.end * CHANNELS;
        let c = problem.compensation();
        let mut alone = vec![0.0; rows.len()];
        c.values_into(&block.query[query.clone()], Side::Right, &mut alone)
            .unwrap();
        assert_eq!(alone, together[rows.clone()], "series {i}");
        assert_eq!(c, pieces[i], "series {i}");
        let mut one = InputGradients::zeros(problem.values.len());
        let (plan, mut workspace) = (problem.plan().unwrap(), Workspace::default());
        let (times, into) = (&block.query[query], one.as_mut_slices());
        plan.backward(times, Side::Right, &g[rows], &mut workspace, into)
            .unwrap();
        let knots = block.offsets[i] * CHANNELS..block.offsets[i + 1] * CHANNELS;
        assert_eq!(one.values, gradient.values[knots.clone()], "series {i}");
        assert_eq!(
            one.left.slope,
            gradient.left.slope[knots.clone()],
            "series {i}"
        );
        assert_eq!(
            one.right.curvature, gradient.right.curvature[knots],
            "series {i}"
        );
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let block = block(200);
    let one = with_threads(1, || block.evaluate());
    let g = Random::new(9).block(one.len());
    let gradient = with_threads(1, || block.backward(&g));
    for threads in [2, 3, 8] {
        assert_eq!(one, with_threads(threads, || block.evaluate()));
        assert_eq!(gradient, with_threads(threads, || block.backward(&g)));
    }
}

#[test]
fn the_first_bad_series_is_named() {
    let mut block = block(150);
    for series in [140, 60] {
        let at = block.offsets[series];
        block.times[at] = f64::NAN;
    }
    let mut into = vec![0.0; block.query.len() * CHANNELS];
    let compensator = Compensator::new(CompensationOptions::default());
    let error = compensator
        .evaluate(block.knots(), block.inputs(), block.query(), &mut into)
        .unwrap_err();
    assert!(
        matches!(error, Error::InSeries { series: 60, .. }),
        "{error}"
    );
    assert!(
        error.to_string().starts_with("series 60: times[0] is NaN"),
        "{error}"
    );
}

#[test]
fn offsets_that_do_not_fit_are_refused() {
    let block = block(5);
    let compensator = Compensator::new(CompensationOptions::default());
    let mut into = vec![PiecewiseCubic::default(); 5];
    for (offsets, index) in [
        (vec![1, 2, 3, 4, 5, block.times.len()], 0),
        (vec![0, 9, 3, 4, 5, block.times.len()], 2),
        (vec![0, 1, 2, 3, 4, 5], 5),
    ] {
        let knots = BatchKnots {
            offsets: &offsets,
            ..block.knots()
        };
        let error = compensator
            .pieces(knots, block.inputs(), &mut into)
            .unwrap_err();
        assert!(
            matches!(error, Error::BadOffsets { index: i, .. } if i == index),
            "{error}"
        );
    }
    let none = BatchKnots {
        offsets: &[],
        times: &[],
        observed: None,
        channels: 1,
    };
    let empty = Jets::<Vec<f64>>::default();
    let inputs = BatchInputs {
        values: &[],
        left: empty.as_slices(),
        right: empty.as_slices(),
    };
    assert!(compensator.pieces(none, inputs, &mut []).is_err());
    let none = BatchKnots {
        offsets: &[0],
        ..none
    };
    assert!(compensator.pieces(none, inputs, &mut []).is_ok());
}

/// Long enough to be split between threads.
#[test]
fn a_long_series_is_correct_and_the_same_with_any_number_of_threads() {
    let options = CompensationOptions::default();
    let shape = Shape {
        seed: 4,
        knots: 50_000,
        channels: 2,
        missing: 0.2,
        decades: 3.0,
        options,
    };
    let problem = shape.problem();
    let g = Random::new(8).block(problem.values.len());
    let run = || {
        let c = problem.compensation();
        let mut values = vec![0.0; problem.values.len()];
        c.values_into(&problem.times, Side::Left, &mut values)
            .unwrap();
        let mut gradient = InputGradients::zeros(problem.values.len());
        let (plan, mut workspace) = (problem.plan().unwrap(), Workspace::default());
        let (times, into) = (&problem.times, gradient.as_mut_slices());
        plan.backward(times, Side::Left, &g, &mut workspace, into)
            .unwrap();
        (c, values, gradient)
    };
    let (c, values, gradient) = with_threads(1, run);
    assert_correct(&problem, &c, 1e-12);
    let at_knots = c.sample(&problem.times, Side::Left).unwrap().value;
    assert_eq!(values, at_knots);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let through = dot(&gradient.values, &problem.values)
        + dot(&gradient.left.value, &problem.left.value)
        + dot(&gradient.left.slope, &problem.left.slope)
        + dot(&gradient.left.curvature, &problem.left.curvature)
        + dot(&gradient.right.value, &problem.right.value)
        + dot(&gradient.right.slope, &problem.right.slope)
        + dot(&gradient.right.curvature, &problem.right.curvature);
    let size: f64 = g.iter().zip(&values).map(|(g, c)| (g * c).abs()).sum();
    assert!((dot(&g, &values) - through).abs() <= 1e-11 * size);
    for threads in [2, 5] {
        let other = with_threads(threads, run);
        assert!(
            other == (c.clone(), values.clone(), gradient.clone()),
            "{threads} threads"
        );
    }
}
