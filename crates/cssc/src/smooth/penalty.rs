//! The penalty λ by generalised cross-validation: a grid over all penalties that can matter,
//! then Brent's method around its best point.

use rayon::prelude::*;

use super::channel::{Channel, Knot, Sums};

/// With fewer observations GCV says nothing.
const FEWEST: usize = 4;

/// Distance of the points of the grid in ln λ. The influence of every single oscillation goes
/// from one to nothing over some two powers of ten, so GCV has no narrower valleys.
const SPACING: f64 = 2.0;

/// Points of the grid that are walked at the same time.
const TOGETHER: usize = 4;

/// How well ln λ is found; GCV is flat there.
const TOLERANCE: f64 = 1e-3;

/// λ with the least GCV, which may be 0.
pub(super) fn cross_validated(channel: &Channel) -> f64 {
    let observed = channel.knots.iter().filter(|knot| !knot.pinned).count();
    if observed < FEWEST {
        return 0.0;
    }
    let (points, scores) = grid(channel);
    let best = (0..scores.len())
        .min_by(|&a, &b| scores[a].total_cmp(&scores[b]))
        .expect("the grid has points");
    let bracket = [best.saturating_sub(1), (best + 1).min(scores.len() - 1)];
    let score = |penalty: f64| score(channel.sums([penalty])[0]);
    let found = minimum(bracket.map(|i| points[i]), |x| score(x.exp()));
    let (place, least) = if found.1 < scores[best] {
        found
    } else {
        (points[best], scores[best])
    };
    if score(0.0) <= least {
        0.0
    } else {
        place.exp()
    }
}

/// GCV at points ln λ over the whole range.
fn grid(channel: &Channel) -> (Vec<f64>, Vec<f64>) {
    let [low, high] = range(channel).map(f64::ln);
    let rows = ((high - low) / (SPACING * TOGETHER as f64)).ceil().max(1.0) as usize;
    let last = (rows * TOGETHER - 1) as f64;
    let points: Vec<f64> = (0..rows * TOGETHER)
        .map(|i| low + (high - low) * (i as f64 / last))
        .collect();
    let (rows, _) = points.as_chunks::<TOGETHER>();
    let scores: Vec<[f64; TOGETHER]> = rows
        .par_iter()
        .map(|row| channel.sums(row.map(f64::exp)).map(score))
        .collect();
    (points, scores.into_iter().flatten().collect())
}

fn score(sums: Sums) -> f64 {
    let score = sums.score();
    if score.is_nan() { f64::INFINITY } else { score }
}

/// Strengths outside of which nothing changes any more: below, a knot moves by at most
/// 10⁻⁶ of its distance from the others' curve; above, the slowest bend (a parabola over the
/// whole span T, for which λ∫v̈² / Σwv² = 720λ / T³Σw) keeps 10⁻⁶ of its height. Both scale with
/// the units of time and weights.
fn range(channel: &Channel) -> [f64; 2] {
    let knots = &channel.knots;
    let stiffness = |triple: &[Knot]| {
        let [before, after] = [0, 1].map(|i| triple[i + 1].time - triple[i].time);
        let forces = [1.0 / before, 1.0 / before + 1.0 / after, 1.0 / after];
        let sum: f64 = forces
            .iter()
            .zip(triple)
            .map(|(force, knot)| force * force / knot.weight)
            .sum();
        (before + after) / (3.0 * sum)
    };
    let least = knots
        .windows(3)
        .map(stiffness)
        .fold(f64::INFINITY, f64::min);
    let span = knots[knots.len() - 1].time - knots[0].time;
    let weight: f64 = knots.iter().map(|knot| knot.weight).sum();
    let low = (1e-6 * least).max(f64::MIN_POSITIVE);
    let high = 1e6 * span.powi(3) * weight / 720.0;
    [low, high.clamp(low, f64::MAX)]
}

/// A local minimum of `f` in the bracket and its value there, by Brent's method: a parabola
/// through the three best points, or a golden section where that is not good enough (Brent
/// 1973, *Algorithms for Minimization Without Derivatives*, ch. 5).
fn minimum([mut a, mut b]: [f64; 2], mut f: impl FnMut(f64) -> f64) -> (f64, f64) {
    let golden = 0.5 * (3.0 - 5f64.sqrt());
    let start = a + golden * (b - a);
    let mut best = (start, f(start));
    let (mut second, mut third) = (best, best);
    let (mut step, mut step_before) = (0.0f64, 0.0f64);
    for _ in 0..60 {
        let middle = 0.5 * (a + b);
        if (best.0 - middle).abs() + 0.5 * (b - a) <= 2.0 * TOLERANCE {
            break;
        }
        let parabola = vertex(best, second, third).filter(|&move_by| {
            let to = best.0 + move_by;
            move_by.abs() < 0.5 * step_before.abs() && to > a + TOLERANCE && to < b - TOLERANCE
        });
        step_before = step;
        step = parabola.unwrap_or_else(|| {
            step_before = if best.0 < middle { b } else { a } - best.0;
            golden * step_before
        });
        let x = best.0 + step.signum() * step.abs().max(TOLERANCE);
        let new = (x, f(x));
        if new.1 <= best.1 {
            *(if x < best.0 { &mut b } else { &mut a }) = best.0;
            (third, second, best) = (second, best, new);
        } else {
            *(if x < best.0 { &mut a } else { &mut b }) = x;
            if new.1 <= second.1 || second.0 == best.0 {
                (third, second) = (second, new);
            } else if new.1 <= third.1 || third.0 == best.0 || third.0 == second.0 {
                third = new;
            }
        }
    }
    best
}

/// How far the vertex of the parabola through three points lies from the first, if it has one.
fn vertex(at: (f64, f64), second: (f64, f64), third: (f64, f64)) -> Option<f64> {
    let [d2, d3] = [second, third].map(|p| p.0 - at.0);
    let [f2, f3] = [second, third].map(|p| p.1 - at.1);
    let bottom = 2.0 * (d2 * f3 - d3 * f2);
    let distance = (d2 * d2 * f3 - d3 * d3 * f2) / bottom;
    distance.is_finite().then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_known_functions_is_found_in_few_steps() {
        let check = |bracket, f: &dyn Fn(f64) -> f64, expected: f64| {
            let mut calls = 0;
            let (x, _) = minimum(bracket, |x| {
                calls += 1;
                f(x)
            });
            assert!((x - expected).abs() <= 4.0 * TOLERANCE, "{x} {expected}");
            assert!(calls < 40, "{calls} calls");
        };
        check([-1.0, 4.0], &|x| (x - 1.3).powi(2), 1.3);
        check([0.0, 5.0], &|x| x - x.ln(), 1.0);
        check([-3.0, 2.0], &|x| (x - 0.5).abs(), 0.5);
        check([0.0, 1.0], &|x| -x, 1.0);
        check([0.0, 1.0], &|x| x.powi(3), 0.0);
    }
}
