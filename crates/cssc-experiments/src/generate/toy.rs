//! Sine curves with a random frequency and offset (paper, section 4.2; after Rubanova et al. 2019).
//!
//! ```text
//! x_i(t) = a_i sin(2π f_i t) + z_i      f_i ~ U(0.4, 0.8)   z_i ~ N(1, 0.1²)   a_i = 1 or U(0.5, 1.5)
//! ```
//!
//! One grid serves all curves: 0 and 99 draws of U(0, 5), sorted, redrawn until every gap is at
//! least 0.005, because nearly equal noisy times make splines explode. Noise 0.01·U[0, 1) is added
//! to every point but the first: uniform and biased, as in the public code.
//! The frozen file of [`ToyV1`](crate::ToyV1) was made elsewhere and is no seed of this one.
use std::f64::consts::TAU;

use super::Generator;
use cssc::Error;
use cssc::data::Random;

/// Points of a curve.
const POINTS: usize = 100;
/// The last time at most.
const END: f64 = 5.0;
/// The smallest gap allowed.
const SMALLEST_GAP: f64 = 0.005;

/// What varies between toy sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToyOptions {
    /// Size of the noise: 0.01 for the paper's set, 0 for none.
    pub noise: f64,
    /// Frequencies are drawn from here.
    pub frequencies: (f64, f64),
    /// Whether the amplitude is drawn from U(0.5, 1.5); otherwise it is 1.
    pub draw_amplitude: bool,
}

impl Default for ToyOptions {
    fn default() -> Self {
        Self {
            noise: 0.01,
            frequencies: (0.4, 0.8),
            draw_amplitude: false,
        }
    }
}

/// The sine curves of a seed.
#[derive(Debug, Clone)]
pub struct Toy {
    seed: u64,
    options: ToyOptions,
    times: Vec<f64>,
}

impl Toy {
    /// Draws the grid of the seed.
    pub fn new(seed: u64, options: ToyOptions) -> Self {
        Self {
            seed,
            options,
            times: grid(&mut Random::stream(seed, 0)),
        }
    }
}

impl Generator for Toy {
    fn channel_names(&self) -> Vec<String> {
        vec!["x".to_owned()]
    }

    fn times(&self) -> Vec<f64> {
        self.times.clone()
    }

    fn values(&mut self, number: usize) -> Result<Vec<f64>, Error> {
        let mut random = Random::stream(self.seed, number as u64 + 1);
        let frequency = random.uniform(self.options.frequencies.0, self.options.frequencies.1);
        let offset = random.normal(1.0, 0.1);
        let amplitude = if self.options.draw_amplitude {
            random.uniform(0.5, 1.5)
        } else {
            1.0
        };
        let sine = |time: &f64| amplitude * (TAU * frequency * time).sin() + offset;
        let mut values: Vec<f64> = self.times.iter().map(sine).collect();
        values[1..]
            .iter_mut()
            .for_each(|value| *value += self.options.noise * random.unit());
        Ok(values)
    }
}

/// All gaps are wide enough with probability (1 - 99 · 0.005 / 5)⁹⁹ ≈ 3e-5, so some 30,000 grids
/// are drawn: about a tenth of a second.
fn grid(random: &mut Random) -> Vec<f64> {
    loop {
        let mut times: Vec<f64> = (1..POINTS).map(|_| random.uniform(0.0, END)).collect();
        times.push(0.0);
        times.sort_unstable_by(f64::total_cmp);
        if times
            .windows(2)
            .all(|pair| pair[1] - pair[0] >= SMALLEST_GAP)
        {
            return times;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_noise_every_curve_is_a_sine_of_the_stated_frequency_about_its_offset() {
        let options = ToyOptions {
            noise: 0.0,
            ..ToyOptions::default()
        };
        for curve in Toy::new(4, options).dataset(50).unwrap().series() {
            // x(0) = z; at t the sine is then x - z, never beyond 1.
            let offset = curve.values()[0];
            assert!((offset - 1.0).abs() < 0.5);
            assert!(curve.values().iter().all(|x| (x - offset).abs() <= 1.0));
            // Close to 0 the curve rises as 2π f t: the frequency is read off the second point.
            let (time, rise) = (curve.times()[1], curve.values()[1] - offset);
            let frequency = rise.asin() / (TAU * time);
            assert!((0.4..0.8).contains(&frequency), "{frequency}");
        }
    }

    #[test]
    fn the_grid_is_shared_starts_at_zero_and_keeps_its_smallest_gap() {
        let set = Toy::new(9, ToyOptions::default()).dataset(3).unwrap();
        let times = set.series()[0].times();
        assert!(set.series().iter().all(|curve| curve.times() == times));
        assert_eq!((times.len(), times[0]), (POINTS, 0.0));
        assert!(times[99] <= END);
        assert!(
            times
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= SMALLEST_GAP)
        );
    }

    #[test]
    fn the_noise_is_one_sided_and_spares_the_first_point() {
        let without = ToyOptions {
            noise: 0.0,
            ..ToyOptions::default()
        };
        let clean = Toy::new(1, without).dataset(20).unwrap();
        let noisy = Toy::new(1, ToyOptions::default()).dataset(20).unwrap();
        for (clean, noisy) in clean.series().iter().zip(noisy.series()) {
            assert_eq!(clean.values()[0], noisy.values()[0]);
            for (clean, noisy) in clean.values().iter().zip(noisy.values()) {
                assert!((0.0..0.0101).contains(&(noisy - clean)));
            }
        }
    }

    #[test]
    fn the_first_curves_do_not_depend_on_how_many_are_made() {
        let few = Toy::new(2, ToyOptions::default()).dataset(3).unwrap();
        let many = Toy::new(2, ToyOptions::default()).dataset(30).unwrap();
        assert_eq!(few.series(), &many.series()[..3]);
    }
}
