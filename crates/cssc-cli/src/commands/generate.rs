//! `cssc generate`: the paper's three kinds of data, from a seed.

use crate::failure::{Failure, failure_from};
use cssc_experiments::generate::hopper::{self, Hopper};
use cssc_experiments::generate::moving_mnist::{self, MovingMnist};
use cssc_experiments::generate::toy::{Toy, ToyOptions};
use cssc_experiments::generate::{Generator, mujoco, write};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// Make one of the paper's data sets from a seed
///
/// The same seed gives the same series, whatever the number of series asked for. The file is a long table (id, time,
/// channels) or a NumPy archive (times, channel_names, values), as its ending says; values are 32-bit floats.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cssc generate toy --seed 1 --series 1000 --out toy.parquet")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    set: Set,
}

#[derive(Debug, clap::Subcommand)]
enum Set {
    /// Sine curves with a random frequency and offset, on one irregular grid of 100 times
    Toy {
        #[command(flatten)]
        common: Common<1000>,

        /// Size of the noise, uniform between 0 and this
        #[arg(long, default_value_t = 0.01)]
        noise: f64,

        /// Draw the amplitude between 0.5 and 1.5 instead of 1
        #[arg(long)]
        draw_amplitude: bool,
    },
    /// A one-legged robot thrown into the air: 7 positions at 100 frames, by the MuJoCo library
    Hopper {
        #[command(flatten)]
        common: Common<{ hopper::SERIES }>,

        /// Directory of the MuJoCo library and the hopper model, as scripts/get-mujoco makes it [default: the
        /// environment variable CSSC_MUJOCO, else target/mujoco]
        #[arg(long, value_name = "DIRECTORY")]
        mujoco: Option<PathBuf>,
    },
    /// Two handwritten digits that fly through a box: 20 frames of 32 x 32 pixels
    MovingMnist {
        #[command(flatten)]
        common: Common<{ moving_mnist::SERIES }>,

        /// Directory of the digit images (idx3-ubyte, plain or gzip): a few come with the repository, all of them by
        /// scripts/get-mnist
        #[arg(long, value_name = "DIRECTORY", default_value = "data/mnist")]
        digits: PathBuf,
    },
}

/// What all sets share; `SERIES` is how many series the paper's set has.
#[derive(Debug, clap::Args)]
struct Common<const SERIES: usize> {
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Number of series
    #[arg(long, default_value_t = SERIES)]
    series: usize,

    /// The file to write: .parquet, .npz, .arrow, .csv or .tsv; text may end in .gz or .zst
    #[arg(long, visible_alias = "output", short = 'o', value_name = "FILE")]
    out: PathBuf,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.set {
            Set::Toy {
                common,
                noise,
                draw_amplitude,
            } => {
                if !(noise.is_finite() && noise >= 0.0) {
                    return Err(Failure::new(format!(
                        "--noise must be 0 or more, found {noise}."
                    )));
                }
                let options = ToyOptions {
                    noise,
                    draw_amplitude,
                    ..ToyOptions::default()
                };
                common.write(&mut Toy::new(common.seed, options))
            }
            Set::Hopper { common, mujoco } => {
                let directory = mujoco.unwrap_or_else(mujoco::directory);
                let mut hopper =
                    Hopper::new(&directory, common.seed).map_err(|error| failure_from(&error))?;
                common.write(&mut hopper)
            }
            Set::MovingMnist { common, digits } => {
                let videos = MovingMnist::from_digits(common.seed, common.series, &digits);
                common.write(&mut videos.map_err(|error| failure_from(&error))?)
            }
        }
    }
}

impl<const SERIES: usize> Common<SERIES> {
    fn write(&self, generator: &mut dyn Generator) -> Result<(), Failure> {
        // Hidden by itself when standard error is no terminal.
        let bar = ProgressBar::new(self.series as u64).with_style(
            ProgressStyle::with_template("{bar:40} {pos}/{len} series, {eta} left")
                .expect("the template is correct"),
        );
        let written = write(generator, self.series, &self.out, || bar.inc(1));
        bar.finish_and_clear();
        written.map_err(|error| failure_from(&error))
    }
}
