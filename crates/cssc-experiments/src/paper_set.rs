//! The paper's data sets as every table uses them: what trains, what validates, and what is observed of each test series.

use crate::ToyV1;
use crate::generate::hopper::{self, Hopper};
use crate::generate::moving_mnist::{self, MovingMnist};
use crate::generate::{Generator, mujoco};
use cssc::Error;
use cssc::data::{Dataset, Parts, Random, Scaler, Series, Split};
use cssc::evaluate::Interpolator;
use cssc::model::{FramesConfig, ModelConfig};
use cssc::train::{Masking, Sample};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// A frozen set, by its name in result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PaperSet {
    /// Sine curves.
    #[serde(rename = "toy-v1")]
    Toy,
    /// A one-legged robot in the air.
    #[serde(rename = "hopper-v1")]
    Hopper,
    /// Videos of two digits that fly through a box.
    #[serde(rename = "moving-mnist-v1")]
    MovingMnist,
}

/// How much of a set is loaded; by default everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetSize {
    /// A small set for a trial: so many series in all, four fifths of them to train.
    pub series: Option<usize>,
    /// So many training series at most; the others are not needed.
    pub training: Option<usize>,
}

impl PaperSet {
    /// All sets, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Toy, Self::Hopper, Self::MovingMnist];

    /// The name in result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toy => "toy-v1",
            Self::Hopper => "hopper-v1",
            Self::MovingMnist => "moving-mnist-v1",
        }
    }

    /// By its name, with or without its version.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let known = |set: &Self| set.name() == name || set.name().strip_suffix("-v1") == Some(name);
        Self::ALL.into_iter().find(known)
    }

    /// Points of a series.
    #[must_use]
    pub const fn points(self) -> usize {
        match self {
            Self::Toy | Self::Hopper => hopper::FRAMES,
            Self::MovingMnist => moving_mnist::FRAMES,
        }
    }

    /// The percentages of points that the paper observes.
    #[must_use]
    pub const fn observed(self) -> &'static [usize] {
        match self {
            Self::Toy | Self::Hopper => &[10, 30, 50],
            Self::MovingMnist => &[20, 30],
        }
    }

    /// The points that are so many percent.
    #[must_use]
    pub const fn count(self, percent: usize) -> usize {
        percent * self.points() / 100
    }

    /// A method's model for the data of this set.
    #[must_use]
    pub fn model(self, method: ModelConfig) -> ModelConfig {
        match self {
            Self::Toy | Self::Hopper => method,
            Self::MovingMnist => FramesConfig::around(method).into(),
        }
    }

    /// Brings the set: `toy-v1` from `data` of the repository, `hopper-v1` by MuJoCo, `moving-mnist-v1` from the digits
    /// that `scripts/get-mnist` brings.
    ///
    /// # Errors
    /// If the file, MuJoCo (`scripts/get-mujoco` brings it) or the digits are not there.
    pub fn load(self, repository: &Path, size: SetSize) -> Result<LoadedSet, Error> {
        let mut set = match self {
            Self::Toy => toy(repository, size.series)?,
            Self::Hopper => trajectories(size.series)?,
            Self::MovingMnist => return videos(repository, size),
        };
        if let Some(most) = size.training.filter(|most| *most < set.parts.train.len()) {
            let first: Vec<usize> = (0..most).collect();
            set.parts.train = set.parts.train.subset(&first);
        }
        Ok(set)
    }
}

impl fmt::Display for PaperSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set ready for training.
#[derive(Debug)]
pub struct LoadedSet {
    /// Series to train, to validate and to test on, scaled as the set prescribes.
    pub parts: Parts,
    /// SHA-256 of all times and values.
    pub hash: String,
    /// Observed points of each test series by percentage; none where they are drawn.
    observed: Vec<(usize, Vec<Vec<usize>>)>,
}

impl LoadedSet {
    /// The test series with `percent` of 100 points shown, for every method the same.
    #[must_use]
    pub fn test(&self, percent: usize) -> Vec<Sample> {
        let series = self.parts.test.series().iter();
        match self.observed.iter().find(|(known, _)| *known == percent) {
            Some((_, observed)) => {
                let shown = series.zip(observed);
                shown
                    .map(|(series, shown)| Sample::new(series, shown))
                    .collect()
            }
            None => {
                let mut random = Random::new(0);
                let points = self.parts.test.series().first().map_or(0, Series::len);
                let masking = Masking::Count(percent * points / 100);
                series
                    .map(|series| Sample::draw(series, &masking, &mut random))
                    .collect()
            }
        }
    }
}

/// What of a test series is shown, as a series.
///
/// # Errors
/// None for samples of this library.
pub fn shown(sample: &Sample) -> Result<Series, Error> {
    let channels = sample.targets.len() / sample.query.len().max(1);
    Series::new(None, channels, sample.times.clone(), sample.values.clone())
}

/// Values of a method that is not trained at all points asked of a sample.
///
/// # Errors
/// If a curve cannot be made.
pub fn interpolated(spline: &dyn Interpolator, sample: &Sample) -> Result<Vec<f64>, Error> {
    let series = shown(sample)?;
    let all: Vec<usize> = (0..series.channels()).collect();
    Ok(spline.curve(&series, &all, &sample.query)?.values)
}

fn toy(repository: &Path, series: Option<usize>) -> Result<LoadedSet, Error> {
    let toy = ToyV1::load(&repository.join("data/toy_v1.npz"))?;
    let hash = hash(&toy.dataset);
    let mut parts = toy.split.apply(&toy.dataset)?;
    let percents = [10, 30, 50].into_iter();
    let mut observed: Vec<_> = percents
        .filter_map(|percent| Some((percent, toy.test_observed(percent)?.to_vec())))
        .collect();
    if let Some(series) = series {
        parts = first(parts, series);
        for (_, points) in &mut observed {
            points.truncate(parts.test.len());
        }
    }
    Ok(LoadedSet {
        parts,
        hash,
        observed,
    })
}

/// The first part of every part.
fn first(parts: Parts, series: usize) -> Parts {
    let some = |data: &Dataset, most: usize| {
        let numbers: Vec<usize> = (0..data.len().min(most.max(1))).collect();
        data.subset(&numbers)
    };
    Parts {
        train: some(&parts.train, series * 8 / 10),
        validation: some(&parts.validation, series / 10),
        test: some(&parts.test, series / 10),
    }
}

fn trajectories(series: Option<usize>) -> Result<LoadedSet, Error> {
    let count = series.unwrap_or(hopper::SERIES);
    let training = count * hopper::TRAINING / hopper::SERIES;
    let mut machine = Hopper::new(&mujoco::directory(), 0)?;
    let made: Result<Vec<_>, _> = (0..count).map(|number| machine.series(number)).collect();
    let dataset = Dataset::new(machine.channel_names(), made?)?;
    let dataset = hopper::scaler().scale_all(&dataset)?;
    Ok(LoadedSet {
        parts: Split::paper(count, training)?.apply(&dataset)?,
        hash: hash(&dataset),
        observed: Vec::new(),
    })
}

/// One unit of scaled time is so many frames, so that a video is about as long as a toy curve.
const FRAMES_PER_UNIT: f64 = 4.0;

fn videos(repository: &Path, size: SetSize) -> Result<LoadedSet, Error> {
    // The few digits of the repository serve for a trial.
    let digits = match size.series {
        Some(_) => repository.join("data/mnist"),
        None => repository.join("target/mnist"),
    };
    let count = size.series.unwrap_or(moving_mnist::SERIES);
    let mut generator = MovingMnist::from_digits(0, count, &digits)?;
    let (tenth, names) = (count / 10, generator.channel_names());
    let scaler = Scaler::identity(names.len()).with_time(0.0, FRAMES_PER_UNIT)?;
    let mut part = |numbers: Range<usize>| {
        let made: Result<Vec<_>, _> = numbers.map(|number| generator.series(number)).collect();
        scaler.scale_all(&Dataset::new(names.clone(), made?)?)
    };
    let most = size.training.unwrap_or(count);
    let parts = Parts {
        train: part(0..most.min(count - 2 * tenth))?,
        validation: part(count - 2 * tenth..count - tenth)?,
        test: part(count - tenth..count)?,
    };
    Ok(LoadedSet {
        hash: hash(&parts.test),
        parts,
        observed: Vec::new(),
    })
}

fn hash(dataset: &Dataset) -> String {
    let mut sum = Sha256::new();
    for series in dataset.series() {
        for number in series.times().iter().chain(series.values()) {
            sum.update(number.to_bits().to_le_bytes());
        }
    }
    sum.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
