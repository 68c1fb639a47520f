//! Random compensation problems.

use cssc::compensate::Plan;
use cssc::{CompensationOptions, EndRule, Error, Jets, PiecewiseCubic, Side};
use proptest::prelude::*;

use super::random::Random;

/// Everything a compensation is computed from.
#[derive(Debug, Clone)]
pub struct Problem {
    pub times: Vec<f64>,
    pub channels: usize,
    pub observed: Vec<bool>,
    pub values: Vec<f64>,
    pub left: Jets,
    pub right: Jets,
    pub options: CompensationOptions,
}

/// What a random problem looks like; small shapes come first when a failure is shrunk.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub seed: u64,
    pub knots: usize,
    pub channels: usize,
    /// Part of the entries that are missing.
    pub missing: f64,
    /// Gaps spread over this many powers of ten.
    pub decades: f64,
    pub options: CompensationOptions,
}

pub fn options() -> impl Strategy<Value = CompensationOptions> {
    let max_fold = prop_oneof![
        Just(Some(0)),
        Just(Some(1)),
        Just(Some(2)),
        Just(Some(3)),
        Just(Some(8)),
        Just(None)
    ];
    let end_rule = prop_oneof![Just(EndRule::Output), Just(EndRule::Compensation)];
    let last_value = prop_oneof![Just(Side::Right), Just(Side::Left)];
    (end_rule, max_fold, last_value).prop_map(|(end_rule, max_fold, last_value)| {
        CompensationOptions {
            end_rule,
            max_fold,
            last_value,
        }
    })
}

/// Shapes with up to `knots` knots and gaps over `decades` powers of ten.
pub fn shape(knots: usize, decades: f64) -> impl Strategy<Value = Shape> {
    let knots = prop_oneof![2 => 1..=6usize, 2 => 1..=40usize, 1 => 1..=knots];
    let missing = prop_oneof![Just(0.0), 0.0..0.5f64, 0.5..0.97f64];
    (any::<u64>(), knots, 1..=8usize, missing, options()).prop_map(
        move |(seed, knots, channels, missing, options)| Shape {
            seed,
            knots,
            channels,
            missing,
            decades,
            options,
        },
    )
}

impl Shape {
    pub fn problem(self) -> Problem {
        let mut random = Random::new(self.seed);
        let len = self.knots * self.channels;
        let mut time = random.signed();
        let mut times = vec![time];
        for _ in 1..self.knots {
            time += 10f64.powf(-self.decades * random.unit());
            times.push(time);
        }
        let mut observed: Vec<bool> = (0..len).map(|_| random.unit() >= self.missing).collect();
        observed[(random.bits() % len as u64) as usize] = true;
        let mut jets = || Jets {
            value: random.block(len),
            slope: random.block(len),
            curvature: random.block(len),
        };
        let (left, right) = (jets(), jets());
        let values = random.block(len);
        let channels = self.channels;
        Problem {
            times,
            channels,
            observed,
            values,
            left,
            right,
            options: self.options,
        }
    }
}

impl Problem {
    pub fn plan(&self) -> Result<Plan, Error> {
        Plan::new(
            &self.times,
            self.channels,
            Some(&self.observed),
            self.options,
        )
    }

    pub fn compensation(&self) -> PiecewiseCubic {
        let plan = self.plan().unwrap();
        let mut c = PiecewiseCubic::default();
        plan.forward(
            &self.values,
            self.left.as_slices(),
            self.right.as_slices(),
            &mut c,
        )
        .unwrap();
        c
    }

    pub fn gap(&self, piece: usize) -> f64 {
        self.times[piece + 1] - self.times[piece]
    }

    pub fn limits(&self, side: Side) -> &Jets {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}
