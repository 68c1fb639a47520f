//! Criterion benchmarks of the compensation: `cargo bench -p cssc --no-default-features`.
//! `scripts/bench-scipy` compares with scipy.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cssc::compensate::{InputGradients, Plan, Workspace};
use cssc::{CompensationOptions, Jets, Path, PiecewiseCubic, Side, SplineKind};

/// Uneven times and a wavy block `[knots, channels]` for each input.
fn wave(len: usize, speed: f64) -> Vec<f64> {
    (0..len).map(|i| (speed * i as f64).sin()).collect()
}

fn jets(len: usize, speed: f64) -> Jets {
    Jets {
        value: wave(len, speed),
        slope: wave(len, 1.3 * speed),
        curvature: wave(len, 1.7 * speed),
    }
}

fn times(knots: usize) -> Vec<f64> {
    (0..knots)
        .map(|k| k as f64 + 0.4 * (k as f64).sin())
        .collect()
}

/// Plan, solve and evaluate, and the gradient, with everything observed and with holes.
fn series(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one series");
    for (knots, channels) in [(100, 7), (10_000, 1)] {
        let (len, times) = (knots * channels, times(knots));
        let (values, left, right) = (wave(len, 0.7), jets(len, 0.9), jets(len, 1.1));
        let holes: Vec<bool> = (0..len).map(|i| i % 3 != 0 || i < channels).collect();
        let (mut plan, mut c) = (Plan::default(), PiecewiseCubic::default());
        let (mut gradient, mut workspace) = (InputGradients::zeros(len), Workspace::default());
        let mut into = vec![0.0; len];
        let name = format!("{knots} knots x {channels} channels");
        group.throughput(Throughput::Elements(len as u64));
        for (mask_name, mask) in [("full", None), ("holes", Some(&holes[..]))] {
            group.bench_function(
                BenchmarkId::new(format!("forward, {mask_name}"), &name),
                |bench| {
                    bench.iter(|| -> Result<(), cssc::Error> {
                        plan.prepare(
                            black_box(&times),
                            channels,
                            mask,
                            CompensationOptions::default(),
                        )?;
                        plan.forward(&values, left.as_slices(), right.as_slices(), &mut c)?;
                        c.values_into(&times, Side::Right, &mut into)
                    });
                },
            );
            group.bench_function(
                BenchmarkId::new(format!("backward, {mask_name}"), &name),
                |bench| {
                    bench.iter(|| {
                        let into = gradient.as_mut_slices();
                        plan.backward(
                            black_box(&times),
                            Side::Right,
                            &values,
                            &mut workspace,
                            into,
                        )
                    });
                },
            );
        }
    }
    group.finish();
}

/// The plain splines: fit and sample all derivatives.
fn plain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plain spline, 100 knots x 7 channels");
    let (times, values) = (times(100), wave(700, 0.7));
    let kinds = [
        ("linear", SplineKind::Linear),
        ("natural", SplineKind::Natural),
        ("not-a-knot", SplineKind::NotAKnot),
        ("clamped", SplineKind::clamped()),
        ("makima", SplineKind::Makima),
    ];
    for (name, kind) in kinds {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                PiecewiseCubic::fit(black_box(&times), 7, &values, kind)
                    .and_then(|spline| spline.sample(&times, Side::Right))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, series, plain);
criterion_main!(benches);
