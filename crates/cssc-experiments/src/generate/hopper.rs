//! hopper-v1: a one-legged robot thrown into the air, real MuJoCo physics (paper, section 4.3).
//!
//! dm_control's hopper model without control. The state is the 7 positions; a frame is 4 steps of
//! 5 ms, a trajectory 100 frames, the first of them the start:
//!
//! ```text
//! position 0 ~ U(0, 0.5)   position 1 (height) ~ U(0, 2)   5 joints ~ U(-2, 2)   7 velocities ~ U(-5, 5)
//! ```
//!
//! drawn in this order. 10,000 trajectories, the first 8,000 train, the last 2,000 test. [`scaler`]
//! has the fixed constants of the set.
use std::path::Path;

use super::Generator;
use super::mujoco::Mujoco;
use cssc::Error;
use cssc::data::{Random, Scaler};

/// Frames of a trajectory.
pub const FRAMES: usize = 100;
/// Trajectories of the whole set.
pub const SERIES: usize = 10_000;
/// Training trajectories of the whole set, validation included.
pub const TRAINING: usize = 8_000;
/// Seconds from frame to frame: 4 steps of 5 ms.
const FRAME_SECONDS: f64 = 0.02;
const STEPS_PER_FRAME: usize = 4;
const POSITIONS: usize = 7;
const MODEL: &str = "hopper.xml";

/// Smallest value of each position over the reference set.
const MINIMUM: [f64; POSITIONS] = [
    -9.726928977273012,
    -1.003332896560897,
    -14.765038479486062,
    -1.9990150811658913,
    -2.9436096957119093,
    -1.99986423216883,
    -1.9999326595954972,
];
/// Largest value of each position over the reference set.
const MAXIMUM: [f64; POSITIONS] = [
    9.395386827693635,
    4.1757675512845704,
    17.586699253228858,
    1.999950463990829,
    1.9996269671723805,
    2.9283465258358103,
    1.9993958749916705,
];
/// One unit of scaled time is this many seconds, so frames are 0.05 apart, as points of the toy set.
const TIME_UNIT: f64 = 0.4;

/// The fixed constants of hopper-v1: (x - minimum) / maximum, divided by the maximum and not by
/// the range, as the public code does.
pub fn scaler() -> Scaler {
    Scaler::fixed(MINIMUM.to_vec(), MAXIMUM.to_vec())
        .and_then(|scaler| scaler.with_time(0.0, TIME_UNIT))
        .expect("the constants are finite and not 0")
}

/// The trajectories of a seed.
pub struct Hopper {
    seed: u64,
    machine: Mujoco,
}

impl Hopper {
    /// Opens MuJoCo and the model in `directory` (see [`super::mujoco::directory`]).
    ///
    /// # Errors
    /// If the library is not there or not MuJoCo, or its model is no hopper.
    pub fn new(directory: &Path, seed: u64) -> Result<Self, Error> {
        let machine = Mujoco::open(directory, MODEL).map_err(Error::other)?;
        if (machine.positions(), machine.velocities()) != (POSITIONS, POSITIONS) {
            let found = format!(
                "expected 7 positions and velocities, found {}",
                machine.positions()
            );
            return Err(Error::content(&directory.join(MODEL), found));
        }
        Ok(Self { seed, machine })
    }

    /// The frames from a given start: 7 positions, then 7 velocities.
    pub fn trajectory(&mut self, start: &[f64; 2 * POSITIONS]) -> Vec<f64> {
        let mut frames = vec![0.0; FRAMES * POSITIONS];
        self.machine.start(start);
        for (number, frame) in frames.chunks_mut(POSITIONS).enumerate() {
            let steps = if number == 0 { 0 } else { STEPS_PER_FRAME };
            (0..steps).for_each(|_| self.machine.step());
            self.machine.read_positions(frame);
        }
        frames
    }
}

fn draw_start(random: &mut Random) -> [f64; 2 * POSITIONS] {
    let mut start = [0.0; 2 * POSITIONS];
    start[0] = random.uniform(0.0, 0.5);
    start[1] = random.uniform(0.0, 2.0);
    start[2..POSITIONS].fill_with(|| random.uniform(-2.0, 2.0));
    start[POSITIONS..].fill_with(|| random.uniform(-5.0, 5.0));
    start
}

impl Generator for Hopper {
    fn channel_names(&self) -> Vec<String> {
        ["rootx", "rootz", "rooty", "waist", "hip", "knee", "ankle"]
            .map(str::to_owned)
            .into()
    }

    fn times(&self) -> Vec<f64> {
        (0..FRAMES)
            .map(|frame| frame as f64 * FRAME_SECONDS)
            .collect()
    }

    fn values(&mut self, number: usize) -> Result<Vec<f64>, Error> {
        let start = draw_start(&mut Random::stream(self.seed, number as u64 + 1));
        Ok(self.trajectory(&start))
    }
}
