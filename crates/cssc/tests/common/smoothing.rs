//! The compensation for noisy observations by brute force: the coefficients of all pieces that
//! minimise the objective under the constraints, with one Lagrange multiplier a constraint.
//! Written from the definition; it knows nothing of kicks, filters or reduced equations.

use cssc::compensate::Role;
use cssc::{Penalty, Side, SmoothOptions};

use super::check::{roles, target};
use super::dense::{Row, derivative, refined_solution};
use super::problem::Problem;

/// The options that ask for this problem's roles.
pub fn options(problem: &Problem, penalty: Penalty) -> SmoothOptions {
    SmoothOptions {
        penalty,
        max_fold: problem.options.max_fold,
        last_value: problem.options.last_value,
        ..SmoothOptions::default()
    }
}

/// The weight of every knot of a channel; 0 where it is folded.
pub fn weights(problem: &Problem, options: &SmoothOptions, channel: usize) -> Vec<f64> {
    let own = |k: usize| match &options.weights {
        Some(weights) => weights[k * problem.channels + channel],
        None => 1.0,
    };
    let roles = roles(problem, channel);
    let seen: Vec<f64> = (0..roles.len())
        .filter(|&k| roles[k] == Role::Observed)
        .map(own)
        .collect();
    let mean = match seen.len() {
        0 => 1.0,
        count => seen.iter().sum::<f64>() / count as f64,
    };
    let weight = |(k, role): (usize, &Role)| match role {
        Role::Observed => own(k),
        Role::Pinned => options.pin_weight * mean,
        Role::Folded => 0.0,
    };
    roles.iter().enumerate().map(weight).collect()
}

/// The scaled coefficients $a_p h^p$ of all pieces of one channel; at least two knots.
pub fn solve(
    problem: &Problem,
    options: &SmoothOptions,
    penalty: f64,
    channel: usize,
) -> Vec<[f64; 4]> {
    let unknowns = 4 * (problem.times.len() - 1);
    let (mut rows, mut rhs) = objective(problem, options, penalty, channel);
    for (row, value) in constraints(problem, channel) {
        let multiplier = rows.len();
        for &(column, a) in &row {
            rows[column].push((multiplier, a));
        }
        rows.push(row);
        rhs.push(value);
    }
    let solution = refined_solution(&rows, &rhs);
    solution[..unknowns]
        .chunks_exact(4)
        .map(|a| [a[0], a[1], a[2], a[3]])
        .collect()
}

fn limit(problem: &Problem, channel: usize, side: Side, order: usize, knot: usize) -> f64 {
    let jets = problem.limits(side);
    [&jets.value, &jets.slope, &jets.curvature][order][knot * problem.channels + channel]
}

/// The gradient of half the objective. With u = s/h a piece has
/// $c'' = (2a_2 h^2 + 6a_3h^3 u)/h^2$, so $\int c''^2 = (4A^2 + 12AB + 12B^2)/h^3$ with
/// $A = a_2h^2$, $B = a_3h^3$.
fn objective(
    problem: &Problem,
    options: &SmoothOptions,
    penalty: f64,
    channel: usize,
) -> (Vec<Row>, Vec<f64>) {
    let pieces = problem.times.len() - 1;
    let mut rows: Vec<Row> = vec![Vec::new(); 4 * pieces];
    let mut rhs = vec![0.0; 4 * pieces];
    for piece in 0..pieces {
        let factor = penalty / problem.gap(piece).powi(3);
        let (a, b) = (4 * piece + 2, 4 * piece + 3);
        rows[a].extend([(a, 4.0 * factor), (b, 6.0 * factor)]);
        rows[b].extend([(a, 6.0 * factor), (b, 12.0 * factor)]);
    }
    let roles = roles(problem, channel);
    for (knot, weight) in weights(problem, options, channel).into_iter().enumerate() {
        if weight == 0.0 {
            continue;
        }
        // The curve's value: from the right, at the last knot from the left.
        let (side, row) = match knot {
            _ if knot == pieces => (Side::Left, derivative(knot - 1, 0, 1.0, 1.0, 1.0)),
            _ => (Side::Right, derivative(knot, 0, 0.0, 1.0, 1.0)),
        };
        let wanted =
            target(problem, roles[knot], knot, channel) - limit(problem, channel, side, 0, knot);
        for &(column, a) in &row {
            rows[column].extend(row.iter().map(|&(other, b)| (other, weight * a * b)));
            rhs[column] += weight * a * wanted;
        }
    }
    (rows.into_iter().map(merged).collect(), rhs)
}

/// The same row with every column once.
fn merged(mut row: Row) -> Row {
    row.sort_by_key(|(column, _)| *column);
    let mut all: Row = Vec::new();
    for (column, a) in row {
        match all.last_mut() {
            Some((last, sum)) if *last == column => *sum += a,
            _ => all.push((column, a)),
        }
    }
    all
}

/// The sum of prediction and compensation is C², the third derivative of the compensation is
/// continuous where a jump is folded, and it has no curvature at the ends.
fn constraints(problem: &Problem, channel: usize) -> Vec<(Row, f64)> {
    let roles = roles(problem, channel);
    let last = roles.len() - 1;
    let right = |order, knot: usize, sign| derivative(knot, order, 0.0, problem.gap(knot), sign);
    let left =
        |order, knot: usize, sign| derivative(knot - 1, order, 1.0, problem.gap(knot - 1), sign);
    let mut all = vec![(right(2, 0, 1.0), 0.0), (left(2, last, 1.0), 0.0)];
    for knot in 1..last {
        for order in 0..4 {
            let row = [right(order, knot, 1.0), left(order, knot, -1.0)].concat();
            let limit = |side| limit(problem, channel, side, order, knot);
            if order < 3 {
                all.push((row, limit(Side::Left) - limit(Side::Right)));
            } else if roles[knot] == Role::Folded {
                all.push((row, 0.0));
            }
        }
    }
    let scaled = |(row, value): (Row, f64)| {
        let size = row.iter().map(|(_, a)| a.abs()).fold(0.0, f64::max);
        let row = row
            .into_iter()
            .map(|(column, a)| (column, a / size))
            .collect();
        (row, value / size)
    };
    all.into_iter().map(scaled).collect()
}

/// The posterior variance at `query` of a motion whose second derivative is white noise of
/// intensity 1, of which nothing else is known, seen at `times` with noise of these
/// `variances`: universal kriging with the covariance of the twice integrated white noise.
pub fn posterior_variance(times: &[f64], variances: &[f64], query: f64) -> f64 {
    let start = times[0].min(query); // any start gives the same, since value and slope are free
    let covariance = |a: f64, b: f64| {
        let (short, long) = ((a - start).min(b - start), (a - start).max(b - start));
        short * short * (3.0 * long - short) / 6.0
    };
    let count = times.len();
    // The variance of the best linear unbiased prediction: weights and two multipliers.
    let mut rows: Vec<Row> = Vec::new();
    let mut rhs = Vec::new();
    for (i, &t) in times.iter().enumerate() {
        let mut row: Row = times
            .iter()
            .enumerate()
            .map(|(j, &s)| (j, covariance(t, s)))
            .collect();
        row[i].1 += variances[i];
        row.extend([(count, 1.0), (count + 1, t - start)]);
        rows.push(row);
        rhs.push(covariance(t, query));
    }
    rows.push((0..count).map(|j| (j, 1.0)).collect());
    rows.push((0..count).map(|j| (j, times[j] - start)).collect());
    rhs.extend([1.0, query - start]);
    let solution = refined_solution(&rows, &rhs);
    let explained: f64 = solution.iter().zip(&rhs).map(|(a, b)| a * b).sum();
    covariance(query, query) - explained
}
