//! Times the compensation on request: reads commands from standard input, one a line, and
//! answers each with the seconds it took. `scripts/bench-scipy` talks to it so that both
//! programs run in turn on the same machine at the same time.
//!
//! ```text
//! batch              10,000 series x 100 knots x 7 channels, own times each: plan, solve, evaluate
//! batch-backward     the gradients of the same
//! long KNOTS         one series, one channel: plan, solve, evaluate
//! spline KNOTS       the plain natural spline of the same: fit, evaluate
//! ```
//!
//! Everything is evaluated at as many times as there are knots, and memory is reused, as
//! in training. Each command runs once before it is timed if its size is new.

use std::io::{BufRead, Write};
use std::time::Instant;

use cssc::compensate::{BatchInputs, BatchKnots, BatchQuery, Compensator, InputGradients, Plan};
use cssc::{CompensationOptions, Jets, PiecewiseCubic, Side, SplineKind};

const SERIES: usize = 10_000;
const KNOTS: usize = 100;
const CHANNELS: usize = 7;

/// Reproducible numbers in [-1, 1) (a 64-bit linear congruential generator).
struct Numbers(u64);

impl Iterator for Numbers {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Some((self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    }
}

impl Numbers {
    fn block(&mut self, len: usize) -> Vec<f64> {
        self.take(len).collect()
    }

    fn jets(&mut self, len: usize) -> Jets {
        Jets {
            value: self.block(len),
            slope: self.block(len),
            curvature: self.block(len),
        }
    }

    /// Increasing times with uneven gaps, and one query time in each gap.
    fn times(&mut self, knots: usize) -> (Vec<f64>, Vec<f64>) {
        let mut time = 0.0;
        let mut step = || {
            time += 1.1 + self.next().unwrap_or_default();
            time
        };
        (0..knots).map(|_| (step(), step())).unzip()
    }
}

/// The batch and its results.
struct Batch {
    offsets: Vec<usize>,
    times: Vec<f64>,
    query: Vec<f64>,
    values: Vec<f64>,
    left: Jets,
    right: Jets,
    compensator: Compensator,
    into: Vec<f64>,
    gradient: InputGradients,
}

impl Batch {
    fn new() -> Self {
        let mut numbers = Numbers(1);
        let (knots, len) = (SERIES * KNOTS, SERIES * KNOTS * CHANNELS);
        let (times, query) = numbers.times(knots);
        Batch {
            offsets: (0..=SERIES).map(|i| i * KNOTS).collect(),
            times,
            query,
            values: numbers.block(len),
            left: numbers.jets(len),
            right: numbers.jets(len),
            compensator: Compensator::new(CompensationOptions::default()),
            into: vec![0.0; len],
            gradient: InputGradients::zeros(len),
        }
    }

    fn run(&mut self, backward: bool) -> Result<(), cssc::Error> {
        let (offsets, times) = (&self.offsets, &self.times);
        let knots = BatchKnots {
            offsets,
            times,
            channels: CHANNELS,
            observed: None,
        };
        let query = BatchQuery {
            offsets,
            times: &self.query,
            side: Side::Right,
        };
        if backward {
            let into = self.gradient.as_mut_slices();
            return self.compensator.backward(knots, query, &self.values, into);
        }
        let (left, right) = (self.left.as_slices(), self.right.as_slices());
        let inputs = BatchInputs {
            values: &self.values,
            left,
            right,
        };
        self.compensator
            .evaluate(knots, inputs, query, &mut self.into)
    }
}

/// One series of one channel and its results.
struct Long {
    times: Vec<f64>,
    query: Vec<f64>,
    values: Vec<f64>,
    left: Jets,
    right: Jets,
    plan: Plan,
    pieces: PiecewiseCubic,
    into: Vec<f64>,
}

impl Long {
    fn new(knots: usize) -> Self {
        let mut numbers = Numbers(2);
        let (times, query) = numbers.times(knots);
        Long {
            times,
            query,
            values: numbers.block(knots),
            left: numbers.jets(knots),
            right: numbers.jets(knots),
            plan: Plan::default(),
            pieces: PiecewiseCubic::default(),
            into: vec![0.0; knots],
        }
    }

    fn compensate(&mut self) -> Result<(), cssc::Error> {
        self.plan
            .prepare(&self.times, 1, None, CompensationOptions::default())?;
        let (left, right) = (self.left.as_slices(), self.right.as_slices());
        self.plan
            .forward(&self.values, left, right, &mut self.pieces)?;
        self.pieces
            .values_into(&self.query, Side::Right, &mut self.into)
    }

    fn spline(&mut self) -> Result<(), cssc::Error> {
        let spline = PiecewiseCubic::fit(&self.times, 1, &self.values, SplineKind::Natural)?;
        spline.values_into(&self.query, Side::Right, &mut self.into)
    }
}

fn seconds(work: impl FnOnce() -> Result<(), cssc::Error>) -> Result<f64, cssc::Error> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut batch, mut long): (Option<Batch>, Option<Long>) = (None, None);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (command, knots) = (words.next().unwrap_or_default(), words.next());
        let taken = match (command, knots) {
            ("batch" | "batch-backward", None) => {
                let backward = command == "batch-backward";
                if batch.is_none() {
                    batch.insert(Batch::new()).run(backward)?;
                }
                let batch = batch.as_mut().ok_or("the batch was just made")?;
                seconds(|| batch.run(backward))?
            }
            ("long" | "spline", Some(knots)) => {
                let knots: usize = knots.parse()?;
                if long.as_ref().is_none_or(|long| long.times.len() != knots) {
                    long = None; // free the old one first
                    long.insert(Long::new(knots)).compensate()?;
                }
                let long = long.as_mut().ok_or("the series was just made")?;
                let spline = command == "spline";
                seconds(|| {
                    if spline {
                        long.spline()
                    } else {
                        long.compensate()
                    }
                })?
            }
            _ => return Err(format!("unknown command `{line}`").into()),
        };
        println!("{taken}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
