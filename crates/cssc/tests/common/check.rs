//! The one check: is this a correct compensation?
//!
//! It looks only at the definition: which knots prescribe a value, that value, slope and
//! curvature of o + c agree on both sides, that c's third derivative is continuous where a
//! jump is folded, and the end rule. It knows nothing about folding formulas or moments.
//!
//! Each residual is measured against the size of the terms of the cubics it compares, which a
//! coefficient alone may not show: with neighbouring gaps of 1e-5 and 1 a slope of 10 is the
//! difference of terms of 1e5. Between two own knots the compensation is one cubic (less
//! parabolas) written about several knots, so there the size is the largest on the way.

use cssc::compensate::Role;
use cssc::{EndRule, PiecewiseCubic, Side};

use super::problem::Problem;

/// The role of every knot for one channel, read off the description in words.
pub fn roles(problem: &Problem, channel: usize) -> Vec<Role> {
    let seen: Vec<bool> = problem
        .observed
        .iter()
        .skip(channel)
        .step_by(problem.channels)
        .copied()
        .collect();
    let mut roles = vec![Role::Pinned; seen.len()];
    let observations: Vec<usize> = (0..seen.len()).filter(|&k| seen[k]).collect();
    for &k in &observations {
        roles[k] = Role::Observed;
    }
    for hole in observations.windows(2) {
        for (count, k) in (hole[0] + 1..hole[1]).enumerate() {
            // every (max_fold + 1)-th jump in a hole is pinned
            let pinned = problem
                .options
                .max_fold
                .is_some_and(|m| (count + 1) % (m + 1) == 0);
            roles[k] = if pinned { Role::Pinned } else { Role::Folded };
        }
    }
    roles
}

/// The value the smoothed curve must take at an own knot.
pub fn target(problem: &Problem, role: Role, knot: usize, channel: usize) -> f64 {
    let at = knot * problem.channels + channel;
    let is_last = knot + 1 == problem.times.len();
    match role {
        Role::Observed => problem.values[at],
        _ if is_last => problem.limits(problem.options.last_value).value[at],
        _ => problem.right.value[at],
    }
}

/// A sum that should vanish, and the size of its terms.
struct Residual {
    sum: f64,
    size: f64,
}

impl Residual {
    fn of(terms: &[f64]) -> Self {
        Residual {
            sum: terms.iter().sum(),
            size: terms.iter().map(|x| x.abs()).sum(),
        }
    }

    fn relative(&self) -> f64 {
        if self.sum == 0.0 {
            0.0
        } else {
            self.sum.abs() / self.size
        }
    }
}

/// The terms of the `order`-th derivative of a cubic at distance `s`.
fn terms(cubic: [f64; 4], order: usize, s: f64) -> Vec<f64> {
    (order..4)
        .map(|power| {
            let factor: usize = (power - order + 1..=power).product();
            factor as f64 * cubic[power] * s.powi((power - order) as i32)
        })
        .collect()
}

fn minus(terms: Vec<f64>) -> impl Iterator<Item = f64> {
    terms.into_iter().map(|x| -x)
}

/// The largest residual of all defining constraints, each relative to the size of its terms.
pub fn worst_residual(problem: &Problem, c: &PiecewiseCubic) -> f64 {
    (0..problem.channels)
        .flat_map(|channel| residuals(problem, c, channel))
        .map(|residual| residual.relative())
        .fold(0.0, f64::max)
}

fn residuals(problem: &Problem, c: &PiecewiseCubic, channel: usize) -> Vec<Residual> {
    let roles = roles(problem, channel);
    let last = roles.len() - 1;
    let limit = |side, order: usize, knot: usize| {
        let jets = problem.limits(side);
        [&jets.value, &jets.slope, &jets.curvature][order][knot * problem.channels + channel]
    };
    let right = |order, knot| terms(c.piece(knot, channel), order, 0.0);
    let left = |order, knot: usize| terms(c.piece(knot - 1, channel), order, problem.gap(knot - 1));
    let way = |order: usize, knot: usize| {
        let size = |k| Residual::of(&left(order, k)).size;
        let start = (1..knot)
            .rev()
            .take_while(|&k| roles[k] == Role::Folded)
            .last();
        (start.unwrap_or(knot)..=knot).map(size).fold(0.0, f64::max)
    };
    let hits = |mut smoothed: Vec<f64>, side, knot: usize| {
        smoothed.push(limit(side, 0, knot));
        smoothed.push(-target(problem, roles[knot], knot, channel));
        let mut residual = Residual::of(&smoothed);
        if side == Side::Left && last > 0 {
            residual.size = residual.size.max(way(0, knot));
        }
        residual
    };
    if last == 0 {
        return vec![hits(right(0, 0), problem.options.last_value, 0)];
    }
    let mut all = vec![
        hits(right(0, 0), Side::Right, 0),
        hits(left(0, last), Side::Left, last),
    ];
    for knot in 1..last {
        for order in 0..3 {
            let mut sum = right(order, knot);
            sum.push(limit(Side::Right, order, knot));
            sum.push(-limit(Side::Left, order, knot));
            sum.extend(minus(left(order, knot)));
            let mut residual = Residual::of(&sum);
            let next = Residual::of(&left(order, knot + 1)).size;
            residual.size = residual.size.max(way(order, knot)).max(next);
            all.push(residual);
        }
        if roles[knot] == Role::Folded {
            let mut sum = right(3, knot);
            sum.extend(minus(left(3, knot)));
            all.push(Residual::of(&sum));
        } else {
            all.push(hits(left(0, knot), Side::Left, knot));
        }
    }
    let (mut first, mut end) = (right(2, 0), left(2, last));
    if problem.options.end_rule == EndRule::Output {
        first.push(limit(Side::Right, 2, 0));
        end.push(limit(Side::Left, 2, last));
    }
    let (first, mut end) = (Residual::of(&first), Residual::of(&end));
    end.size = end.size.max(way(2, last));
    all.extend([first, end]);
    all
}

/// Asserts that `c` meets every defining constraint of `problem` to `tolerance`.
pub fn assert_correct(problem: &Problem, c: &PiecewiseCubic, tolerance: f64) {
    let worst = worst_residual(problem, c);
    assert!(
        worst <= tolerance,
        "relative residual {worst:e} above {tolerance:e}"
    );
}

/// The coefficients of one channel, each times its power of the gap.
pub fn scaled(problem: &Problem, c: &PiecewiseCubic, channel: usize) -> Vec<[f64; 4]> {
    let scale = |k: usize, power: usize| problem.gap(k).powi(power as i32);
    (0..problem.times.len() - 1)
        .map(|k| {
            let piece = c.piece(k, channel);
            std::array::from_fn(|power| piece[power] * scale(k, power))
        })
        .collect()
}

/// Largest difference relative to the largest number of either.
pub fn difference(found: &[[f64; 4]], expected: &[[f64; 4]]) -> f64 {
    let largest = |m: f64, a: &f64| m.max(a.abs());
    let size = expected
        .as_flattened()
        .iter()
        .chain(found.as_flattened())
        .fold(0.0, largest);
    let pairs = found.as_flattened().iter().zip(expected.as_flattened());
    let worst = pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    if worst == 0.0 { 0.0 } else { worst / size }
}
