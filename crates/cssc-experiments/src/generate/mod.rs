//! The paper's three kinds of data, made from a seed.
//!
//! Every series draws from its own stream of [`Random`](cssc::data::Random) (stream number = number of
//! the series + 1; stream 0 is for what all series share). So series can be made one at a time and
//! in any order, and the first ones are the same however many are made.
pub mod hopper;
pub mod idx;
pub mod moving_mnist;
pub mod mujoco;
pub mod toy;
mod write;

pub use write::write;

use cssc::Error;
use cssc::data::{Dataset, Series};

/// Makes series one at a time, all on the same times.
pub trait Generator {
    /// Names of the channels.
    fn channel_names(&self) -> Vec<String>;

    /// Rows and columns of the image that the channels are, if they are one.
    fn frame(&self) -> Option<[usize; 2]> {
        None
    }

    /// The times of every series.
    fn times(&self) -> Vec<f64>;

    /// The values of one series, time-major.
    ///
    /// # Errors
    /// What keeps the generator from making it.
    fn values(&mut self, number: usize) -> Result<Vec<f64>, Error>;

    /// One series; its id is its number.
    ///
    /// # Errors
    /// Those of [`values`](Self::values).
    fn series(&mut self, number: usize) -> Result<Series, Error> {
        let channels = self.channel_names().len();
        Series::new(
            Some(number.to_string()),
            channels,
            self.times(),
            self.values(number)?,
        )
    }

    /// The first `count` series.
    ///
    /// # Errors
    /// Those of [`values`](Self::values).
    fn dataset(&mut self, count: usize) -> Result<Dataset, Error> {
        let series = (0..count)
            .map(|number| self.series(number))
            .collect::<Result<_, _>>()?;
        Dataset::new(self.channel_names(), series)
    }
}
