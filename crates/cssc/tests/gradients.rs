//! The backward pass is the transpose of the forward pass.
#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod common;

use common::problem::{Problem, Shape, shape};
use common::random::Random;
use cssc::compensate::{InputGradients, Workspace};
use cssc::{PiecewiseCubic, Side};
use proptest::prelude::*;

/// Sorted query times from a little before the first knot to a little after the last, with all
/// knots among them.
fn query(problem: &Problem, random: &mut Random) -> Vec<f64> {
    let (start, end) = (problem.times[0], problem.times[problem.times.len() - 1]);
    let span = (end - start).max(1.0);
    let mut query: Vec<f64> = (0..30)
        .map(|_| start - 0.05 * span + 1.1 * span * random.unit())
        .collect();
    query.extend(&problem.times);
    query.sort_by(f64::total_cmp);
    query
}

fn backward(problem: &Problem, query: &[f64], side: Side, gradient: &[f64]) -> InputGradients {
    let mut into = InputGradients::zeros(problem.values.len());
    let plan = problem.plan().unwrap();
    plan.backward(
        query,
        side,
        gradient,
        &mut Workspace::default(),
        into.as_mut_slices(),
    )
    .unwrap();
    into
}

fn values(c: &PiecewiseCubic, query: &[f64], side: Side, channels: usize) -> Vec<f64> {
    let mut values = vec![0.0; query.len() * channels];
    c.values_into(query, side, &mut values).unwrap();
    values
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn size(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

/// Each input block of a problem beside the gradient with respect to it.
fn blocks<'a>(
    problem: &'a mut Problem,
    gradient: &'a InputGradients,
) -> [(&'a mut Vec<f64>, &'a [f64]); 7] {
    [
        (&mut problem.values, &gradient.values),
        (&mut problem.left.value, &gradient.left.value),
        (&mut problem.left.slope, &gradient.left.slope),
        (&mut problem.left.curvature, &gradient.left.curvature),
        (&mut problem.right.value, &gradient.right.value),
        (&mut problem.right.slope, &gradient.right.slope),
        (&mut problem.right.curvature, &gradient.right.curvature),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// ⟨g, L u⟩ = ⟨Lᵀ g, u⟩ for every input u and every g.
    #[test]
    fn backward_passes_the_dot_product_test(shape in shape(120, 3.0), left in any::<bool>()) {
        let mut problem = shape.problem();
        let side = if left { Side::Left } else { Side::Right };
        let mut random = Random::new(!shape.seed);
        let query = query(&problem, &mut random);
        let g = random.block(query.len() * problem.channels);
        let c = values(&problem.compensation(), &query, side, problem.channels);
        let gradient = backward(&problem, &query, side, &g);
        let (forward, mut through, mut terms) = (dot(&g, &c), 0.0, size(&g, &c));
        for (input, gradient) in blocks(&mut problem, &gradient) {
            through += dot(input, gradient);
            terms += size(input, gradient);
        }
        prop_assert!((forward - through).abs() <= 1e-12 * terms, "{forward} {through}, terms {terms}");
    }

    #[test]
    fn the_gradient_of_pieces_passes_the_dot_product_test(shape in shape(120, 3.0)) {
        let mut problem = shape.problem();
        let c = problem.compensation();
        let g = Random::new(!shape.seed).block(c.coefficients().len());
        let mut gradient = InputGradients::zeros(problem.values.len());
        problem.plan().unwrap()
            .backward_pieces(&g, &mut Workspace::default(), gradient.as_mut_slices()).unwrap();
        let (forward, mut through) = (dot(&g, c.coefficients()), 0.0);
        let mut terms = size(&g, c.coefficients());
        for (input, gradient) in blocks(&mut problem, &gradient) {
            through += dot(input, gradient);
            terms += size(input, gradient);
        }
        prop_assert!((forward - through).abs() <= 1e-12 * terms);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// The loss Σ sin(c) is not linear, so the differences are honest central ones.
    #[test]
    fn gradients_agree_with_central_differences(shape in shape(12, 1.0)) {
        let mut problem = Shape { channels: 1 + shape.channels % 3, ..shape }.problem();
        let query = query(&problem, &mut Random::new(!shape.seed));
        let curve = |p: &Problem| values(&p.compensation(), &query, Side::Right, p.channels);
        let loss = |p: &Problem| curve(p).iter().map(|c| (0.1 * c).sin()).sum::<f64>();
        let g: Vec<f64> = curve(&problem).iter().map(|c| 0.1 * (0.1 * c).cos()).collect();
        let gradient = backward(&problem, &query, Side::Right, &g);
        let step = 1e-5;
        for block in 0..7 {
            for at in 0..problem.values.len() {
                let mut loss_after = |by: f64| {
                    blocks(&mut problem, &gradient)[block].0[at] += by;
                    loss(&problem)
                };
                let (above, below) = (loss_after(step), loss_after(-2.0 * step));
                loss_after(step);
                let expected = (above - below) / (2.0 * step);
                let found = blocks(&mut problem, &gradient)[block].1[at];
                let size = 1.0 + g.len() as f64 + found.abs().powi(3);
                prop_assert!((found - expected).abs() <= 1e-7 * size,
                    "block {block}, entry {at}: {found} against {expected}");
            }
        }
    }
}
