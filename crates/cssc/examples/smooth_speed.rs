//! How long the compensation for noisy observations takes on one long series.
//!
//! ```sh
//! cargo run --release --no-default-features -p cssc --example smooth_speed -- 1000000
//! ```

use std::time::Instant;

use cssc::{Jets, Path, Penalty, Side, SmoothOptions, smooth};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let knots = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 1_000_000,
    };
    let mut state = 1u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut time = 0.0;
    let mut times = Vec::with_capacity(knots);
    let mut values = Vec::with_capacity(knots);
    for _ in 0..knots {
        time += 0.5 + uniform();
        times.push(time);
        let noise = uniform() + uniform() + uniform() - 1.5; // deviation 0.5
        values.push((0.01 * time).sin() + noise);
    }
    let zero = Jets::<Vec<f64>>::zeros(knots);
    let limits = zero.as_slices();
    for penalty in [Penalty::Given(1e6), Penalty::CrossValidated] {
        let options = SmoothOptions {
            penalty,
            ..SmoothOptions::default()
        };
        let start = Instant::now();
        let smoothed = smooth(&times, 1, &values, limits, limits, &options)?;
        let solved = start.elapsed();
        let std_devs = smoothed.std_devs(&times)?;
        let all = start.elapsed();
        let curve = smoothed.compensation.sample(&times, Side::Right)?.value;
        let off = |k: usize| (curve[k] - (0.01 * times[k]).sin()).powi(2);
        let error = ((0..knots).map(off).sum::<f64>() / knots as f64).sqrt();
        println!(
            "{knots} knots, {penalty:?}: {solved:.2?}, with bands {all:.2?}; penalty {:.3e}, noise \
             {:.4}, rms error {error:.4}, band {:.4}",
            smoothed.penalties[0],
            smoothed.noise[0],
            std_devs[knots / 2]
        );
    }
    Ok(())
}
