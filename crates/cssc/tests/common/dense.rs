//! The compensation by brute force: every constraint is a row of a matrix, the unknowns are the
//! coefficients of all pieces. Written from the constraints, not from the theorem.
//!
//! Unknowns are $a_p h^p$ and rows are scaled to unit size; residuals of the refinement are
//! summed in twice the precision, so the answer is better than the one under test.

use cssc::compensate::Role;
use cssc::{EndRule, Side};

use super::check::{roles, target};
use super::problem::Problem;

/// The entries of a row that are not 0: column and number.
pub type Row = Vec<(usize, f64)>;

/// The scaled coefficients $a_p h^p$ of all pieces of one channel; at least two knots.
pub fn solve(problem: &Problem, channel: usize) -> Vec<[f64; 4]> {
    let (rows, rhs) = constraints(problem, channel);
    let solution = refined_solution(&rows, &rhs);
    solution
        .chunks_exact(4)
        .map(|a| [a[0], a[1], a[2], a[3]])
        .collect()
}

/// The `order`-th derivative at distance `u * gap` (u = 0 or 1) of a piece, times `sign`.
pub fn derivative(piece: usize, order: usize, u: f64, gap: f64, sign: f64) -> Row {
    let powers = if u == 0.0 { order..order + 1 } else { order..4 };
    powers
        .map(|power| {
            let factor: usize = (power - order + 1..=power).product();
            (
                4 * piece + power,
                sign * factor as f64 / gap.powi(order as i32),
            )
        })
        .collect()
}

fn constraints(problem: &Problem, channel: usize) -> (Vec<Row>, Vec<f64>) {
    let roles = roles(problem, channel);
    let last = roles.len() - 1;
    let (mut rows, mut rhs) = (Vec::new(), Vec::new());
    let mut add = |row: Row, value: f64| {
        let size = row.iter().map(|(_, a)| a.abs()).fold(0.0, f64::max);
        rows.push(
            row.into_iter()
                .map(|(column, a)| (column, a / size))
                .collect::<Row>(),
        );
        rhs.push(value / size);
    };
    let limit = |side, order: usize, knot: usize| {
        let jets = problem.limits(side);
        [&jets.value, &jets.slope, &jets.curvature][order][knot * problem.channels + channel]
    };
    let right = |order, knot: usize, sign| derivative(knot, order, 0.0, problem.gap(knot), sign);
    let left =
        |order, knot: usize, sign| derivative(knot - 1, order, 1.0, problem.gap(knot - 1), sign);
    let wanted = |knot: usize| target(problem, roles[knot], knot, channel);
    let natural = problem.options.end_rule == EndRule::Output;
    let bend = |side, knot| if natural { -limit(side, 2, knot) } else { 0.0 };

    add(right(0, 0, 1.0), wanted(0) - limit(Side::Right, 0, 0));
    add(right(2, 0, 1.0), bend(Side::Right, 0));
    for knot in 1..last {
        let jump = |order| limit(Side::Right, order, knot) - limit(Side::Left, order, knot);
        let continuous = |order| [right(order, knot, 1.0), left(order, knot, -1.0)].concat();
        if roles[knot] == Role::Folded {
            add(continuous(0), -jump(0));
            add(continuous(3), 0.0);
        } else {
            add(
                left(0, knot, 1.0),
                wanted(knot) - limit(Side::Left, 0, knot),
            );
            add(
                right(0, knot, 1.0),
                wanted(knot) - limit(Side::Right, 0, knot),
            );
        }
        add(continuous(1), -jump(1));
        add(continuous(2), -jump(2));
    }
    add(
        left(0, last, 1.0),
        wanted(last) - limit(Side::Left, 0, last),
    );
    add(left(2, last, 1.0), bend(Side::Left, last));
    (rows, rhs)
}

/// Gaussian elimination with row pivoting on a full matrix (zeros are skipped).
struct Factored {
    size: usize,
    matrix: Vec<f64>,
    order: Vec<usize>,
}

impl Factored {
    fn new(rows: &[Row]) -> Self {
        let size = rows.len();
        let mut matrix = vec![0.0; size * size];
        for (i, row) in rows.iter().enumerate() {
            for &(column, a) in row {
                matrix[i * size + column] = a;
            }
        }
        let mut factored = Factored {
            size,
            matrix,
            order: (0..size).collect(),
        };
        (0..size).for_each(|step| factored.eliminate(step));
        factored
    }

    fn eliminate(&mut self, step: usize) {
        let size = self.size;
        let column = |i: usize, m: &[f64]| m[i * size + step].abs();
        let pivot = (step..size)
            .max_by(|&i, &j| column(i, &self.matrix).total_cmp(&column(j, &self.matrix)))
            .unwrap();
        self.order.swap(step, pivot);
        for k in 0..size {
            self.matrix.swap(step * size + k, pivot * size + k);
        }
        let (above, below) = self.matrix.split_at_mut((step + 1) * size);
        let pivot_row = &above[step * size..];
        for row in below.chunks_exact_mut(size).filter(|row| row[step] != 0.0) {
            let factor = row[step] / pivot_row[step];
            row[step] = factor;
            for k in step + 1..size {
                row[k] -= factor * pivot_row[k];
            }
        }
    }

    fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let row = |i: usize| &self.matrix[i * self.size..(i + 1) * self.size];
        let mut x: Vec<f64> = self.order.iter().map(|&i| rhs[i]).collect();
        for i in 0..self.size {
            x[i] -= row(i)[..i].iter().zip(&x).map(|(a, x)| a * x).sum::<f64>();
        }
        for i in (0..self.size).rev() {
            let known: f64 = row(i)[i + 1..]
                .iter()
                .zip(&x[i + 1..])
                .map(|(a, x)| a * x)
                .sum();
            x[i] = (x[i] - known) / row(i)[i];
        }
        x
    }
}

/// The solution of a square system, better than working precision.
pub fn refined_solution(rows: &[Row], rhs: &[f64]) -> Vec<f64> {
    let factored = Factored::new(rows);
    let mut x = factored.solve(rhs);
    for _ in 0..3 {
        let residual: Vec<f64> = rows
            .iter()
            .zip(rhs)
            .map(|(row, &b)| residual(row, b, &x))
            .collect();
        x.iter_mut()
            .zip(factored.solve(&residual))
            .for_each(|(x, change)| *x += change);
    }
    x
}

/// `b - row · x` in about twice the working precision (Ogita, Rump and Oishi's Dot2).
fn residual(row: &Row, b: f64, x: &[f64]) -> f64 {
    let (mut sum, mut tail) = (b, 0.0);
    for &(column, a) in row {
        let product = -a * x[column];
        tail += (-a).mul_add(x[column], -product);
        let new = sum + product;
        let part = new - sum;
        tail += (sum - (new - part)) + (product - part);
        sum = new;
    }
    sum + tail
}
