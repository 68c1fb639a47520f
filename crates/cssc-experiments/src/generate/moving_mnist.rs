//! moving-mnist-v1: two handwritten digits that fly through a box (paper, section 4.4).
//!
//! ```text
//! canvas 64 x 64    start ~ U inside    3.6 pixels a frame at an angle ~ U(0, 2π)    20 frames
//! drawn at rounded positions, reflected at the border, overlap by maximum, 2 x 2 means -> 32 x 32
//! ```
//!
//! A video is a series of 20 times with 1,024 channels in [0, 1], row by row. The first nine
//! tenths of the videos (train and validation, 80 + 10 %) take their digits from the training
//! file, the last tenth (test) from the test file.
use std::f64::consts::TAU;
use std::path::Path;

use super::Generator;
use super::idx::Images;
use cssc::Error;
use cssc::data::Random;

/// Frames of a video.
pub const FRAMES: usize = 20;
/// Side of the finished picture.
pub const SIDE: usize = 32;
/// Videos of the whole set.
pub const SERIES: usize = 10_000;
const CANVAS: usize = 2 * SIDE;
const DIGITS: usize = 2;
const SPEED: f64 = 3.6;

/// The videos of a seed.
#[derive(Debug, Clone)]
pub struct MovingMnist {
    seed: u64,
    count: usize,
    training_digits: Images,
    test_digits: Images,
}

impl MovingMnist {
    /// `count` videos in all: it says where the test videos begin.
    ///
    /// # Errors
    /// If the digits are larger than the canvas.
    pub fn new(
        seed: u64,
        count: usize,
        training_digits: Images,
        test_digits: Images,
    ) -> Result<Self, Error> {
        for digits in [&training_digits, &test_digits] {
            if digits.rows > CANVAS || digits.columns > CANVAS {
                let (rows, columns) = (digits.rows, digits.columns);
                let found = format!("digits of {rows} x {columns} do not fit {CANVAS} x {CANVAS}");
                return Err(Error::other(format!("cannot generate: {}", found)));
            }
        }
        Ok(Self {
            seed,
            count,
            training_digits,
            test_digits,
        })
    }

    /// The same with digits from the files of a directory: training digits in `train*`, test digits in `t10k*` or `test*`.
    ///
    /// # Errors
    /// If they are not there, or larger than the canvas.
    pub fn from_digits(seed: u64, count: usize, directory: &Path) -> Result<Self, Error> {
        let training = Images::find(directory, &["train"])?;
        let test = Images::find(directory, &["t10k", "test"])?;
        Self::new(seed, count, training, test)
    }

    /// Number of the first test video.
    pub fn first_test(&self) -> usize {
        self.count - self.count / 10
    }
}

impl Generator for MovingMnist {
    fn frame(&self) -> Option<[usize; 2]> {
        Some([SIDE; 2])
    }

    fn channel_names(&self) -> Vec<String> {
        (0..SIDE * SIDE)
            .map(|at| format!("r{:02}c{:02}", at / SIDE, at % SIDE))
            .collect()
    }

    fn times(&self) -> Vec<f64> {
        (0..FRAMES).map(|frame| frame as f64).collect()
    }

    fn values(&mut self, number: usize) -> Result<Vec<f64>, Error> {
        let mut random = Random::stream(self.seed, number as u64 + 1);
        let testing = number >= self.first_test();
        let digits = if testing {
            &self.test_digits
        } else {
            &self.training_digits
        };
        let mut flights: Vec<Flight> = (0..DIGITS)
            .map(|_| Flight::draw(digits, &mut random))
            .collect();
        let mut values = Vec::with_capacity(FRAMES * SIDE * SIDE);
        for _ in 0..FRAMES {
            let mut canvas = [0u8; CANVAS * CANVAS];
            flights.iter().for_each(|flight| flight.paint(&mut canvas));
            flights.iter_mut().for_each(Flight::advance);
            values.extend(halve(&canvas));
        }
        Ok(values)
    }
}

/// One digit on its way. Vertical first: `[row, column]`.
struct Flight<'a> {
    pixels: &'a [u8],
    columns: usize,
    /// Of the upper left corner.
    position: [f64; 2],
    velocity: [f64; 2],
    /// The largest position at which the digit is still inside.
    limit: [f64; 2],
}

impl<'a> Flight<'a> {
    /// Draws digit, row, column, angle, in this order.
    fn draw(digits: &'a Images, random: &mut Random) -> Self {
        let pixels = digits.image(random.below(digits.count()));
        let limit = [digits.rows, digits.columns].map(|size| (CANVAS - size) as f64);
        let position = limit.map(|limit| random.uniform(0.0, limit));
        let angle = random.uniform(0.0, TAU);
        let velocity = [SPEED * angle.sin(), SPEED * angle.cos()];
        Self {
            pixels,
            columns: digits.columns,
            position,
            velocity,
            limit,
        }
    }

    fn paint(&self, canvas: &mut [u8; CANVAS * CANVAS]) {
        let [top, left] = self.position.map(|at| at.round() as usize);
        for (row, line) in self.pixels.chunks(self.columns).enumerate() {
            let start = (top + row) * CANVAS + left;
            for (place, &pixel) in canvas[start..start + self.columns].iter_mut().zip(line) {
                *place = pixel.max(*place);
            }
        }
    }

    fn advance(&mut self) {
        for axis in 0..2 {
            let (moved, limit) = (self.position[axis] + self.velocity[axis], self.limit[axis]);
            let inside = moved.clamp(0.0, limit);
            if moved != inside {
                self.velocity[axis] = -self.velocity[axis];
            }
            // Mirror at the border that was crossed; a digit as large as the canvas stays.
            self.position[axis] = (2.0 * inside - moved).clamp(0.0, limit);
        }
    }
}

/// Means of 2 x 2 pixels, in [0, 1].
fn halve(canvas: &[u8; CANVAS * CANVAS]) -> impl Iterator<Item = f64> {
    (0..SIDE * SIDE).map(|at| {
        let corner = 2 * (at / SIDE) * CANVAS + 2 * (at % SIDE);
        let four = [0, 1, CANVAS, CANVAS + 1].map(|step| f64::from(canvas[corner + step]));
        four.iter().sum::<f64>() / (4.0 * 255.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn digits(name: &str) -> Images {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/mnist/");
        Images::read(&Path::new(directory).join(name)).unwrap()
    }

    fn videos(count: usize) -> MovingMnist {
        let training = digits("train2000-images-idx3-ubyte.gz");
        let test = digits("test500-images-idx3-ubyte.gz");
        MovingMnist::new(3, count, training, test).unwrap()
    }

    #[test]
    fn a_flight_moves_its_speed_and_mirrors_at_the_border() {
        let pixels = [0u8; 28 * 28];
        let mut flight = Flight {
            pixels: &pixels,
            columns: 28,
            position: [35.0, 1.0],
            velocity: [2.0, -3.0],
            limit: [36.0, 36.0],
        };
        flight.advance();
        assert_eq!(
            (flight.position, flight.velocity),
            ([35.0, 2.0], [-2.0, 3.0])
        );
        flight.advance();
        assert_eq!(
            (flight.position, flight.velocity),
            ([33.0, 5.0], [-2.0, 3.0])
        );
    }

    #[test]
    fn the_brightness_of_a_video_is_that_of_its_digits_where_they_do_not_overlap() {
        let mut set = videos(20);
        for number in 0..20 {
            let video = set.series(number).unwrap();
            assert_eq!((video.len(), video.channels()), (FRAMES, SIDE * SIDE));
            assert!(video.values().iter().all(|x| (0.0..=1.0).contains(x)));
            // Means keep the total; it changes from frame to frame only by overlap, downwards.
            let totals: Vec<f64> = (0..FRAMES).map(|k| video.row(k).iter().sum()).collect();
            let largest = totals.iter().copied().fold(0.0, f64::max);
            let apart = totals
                .iter()
                .filter(|&&total| (total - largest).abs() < 1e-9);
            assert!(apart.count() >= 2, "video {number}: {totals:?}");
            assert!(totals.iter().all(|total| *total > 0.4 * largest));
        }
    }

    #[test]
    fn test_videos_take_their_digits_from_the_test_file() {
        let mut with = videos(20);
        assert_eq!(with.first_test(), 18);
        let mut without = MovingMnist {
            test_digits: with.training_digits.clone(),
            ..with.clone()
        };
        assert_eq!(with.values(17).unwrap(), without.values(17).unwrap());
        assert_ne!(with.values(18).unwrap(), without.values(18).unwrap());
    }

    #[test]
    fn digits_larger_than_the_canvas_are_refused() {
        let mut large = digits("test500-images-idx3-ubyte.gz");
        large.rows = 65;
        let small = digits("test500-images-idx3-ubyte.gz");
        let message = MovingMnist::new(0, 1, large, small)
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "cannot generate: digits of 65 x 28 do not fit 64 x 64"
        );
    }
}
