//! The one source of chance: ChaCha with 8 rounds, whose stream is fixed by its definition, so a
//! seed means the same numbers on every machine and in every version.
//!
//! Draws are defined here and not by a distribution crate, which may change its ways:
//! uniform = the upper 53 bits of a 64-bit word times 2⁻⁵³; normal = Box and Muller, the cosine half.
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded generator.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Starts the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Starts stream number `stream` of `seed`: independent numbers for each series, whatever the
    /// order in which series are made.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Normal with the given mean and standard deviation.
    pub fn normal(&mut self, mean: f64, std_dev: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        mean + std_dev * radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An integer below `bound`, each equally likely (bias below `bound` · 2⁻⁶⁴).
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "nothing is below 0");
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Brings the items into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Chooses which of `points` points are observed: `observed` of them in increasing order,
    /// the first and the last always among them.
    ///
    /// # Panics
    /// When `observed` is below 2 or above `points`.
    pub fn observed_points(&mut self, points: usize, observed: usize) -> Vec<usize> {
        assert!(
            (2..=points).contains(&observed),
            "cannot observe {observed} of {points} points"
        );
        let mut inner: Vec<usize> = (1..points - 1).collect();
        let wanted = observed - 2;
        for place in 0..wanted {
            let other = place + self.below(inner.len() - place);
            inner.swap(place, other);
        }
        inner.truncate(wanted);
        inner.extend([0, points - 1]);
        inner.sort_unstable();
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_stream_of_a_seed_is_frozen() {
        let mut random = Random::new(1);
        let draws: Vec<usize> = (0..6).map(|_| random.below(1000)).collect();
        assert_eq!(draws, [402, 80, 596, 219, 283, 710]);
    }

    #[test]
    fn uniform_and_normal_draws_have_their_moments() {
        let mut random = Random::new(3);
        let mut moments = |draw: fn(&mut Random) -> f64| {
            let draws: Vec<f64> = (0..100_000).map(|_| draw(&mut random)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let square = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            (mean, square / draws.len() as f64)
        };
        // Four standard errors of 100,000 draws.
        let (mean, variance) = moments(|random| random.uniform(-1.0, 3.0));
        assert!((mean - 1.0).abs() < 0.015 && (variance - 4.0 / 3.0).abs() < 0.016);
        let (mean, variance) = moments(|random| random.normal(1.0, 0.5));
        assert!((mean - 1.0).abs() < 0.0064 && (variance - 0.25).abs() < 0.0045);
    }

    #[test]
    fn every_inner_point_is_observed_equally_often() {
        let mut random = Random::new(5);
        let mut counts = [0; 12];
        for _ in 0..10_000 {
            random
                .observed_points(12, 5)
                .into_iter()
                .for_each(|point| counts[point] += 1);
        }
        assert_eq!((counts[0], counts[11]), (10_000, 10_000));
        // 3 of the 10 inner points each time; four standard deviations are 183.
        assert!(
            counts[1..11]
                .iter()
                .all(|&count| (count - 3000i32).abs() < 183),
            "{counts:?}"
        );
    }

    proptest! {
        #[test]
        fn observed_points_increase_and_keep_both_ends(
            points in 2usize..60, part in 0.0..1.0f64, seed: u64,
        ) {
            let observed = 2 + (part * (points - 2) as f64) as usize;
            let chosen = Random::new(seed).observed_points(points, observed);
            prop_assert_eq!(chosen.len(), observed);
            prop_assert_eq!((chosen[0], chosen[observed - 1]), (0, points - 1));
            prop_assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
