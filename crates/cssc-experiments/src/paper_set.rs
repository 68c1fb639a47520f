//! The paper's data sets as every table uses them: what trains, what validates, and what is observed of each test series.

use crate::ToyV1;
use crate::generate::hopper::{self, Hopper};
use crate::generate::{Generator, mujoco};
use cssc::Error;
use cssc::data::{Dataset, Parts, Random, Series, Split};
use cssc::evaluate::Interpolator;
use cssc::train::{Masking, Sample};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
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
}

impl PaperSet {
    /// All sets, in the paper's order.
    pub const ALL: [Self; 2] = [Self::Toy, Self::Hopper];

    /// The name in result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toy => "toy-v1",
            Self::Hopper => "hopper-v1",
        }
    }

    /// By its name, with or without its version.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let known = |set: &Self| set.name() == name || set.name().strip_suffix("-v1") == Some(name);
        Self::ALL.into_iter().find(known)
    }

    /// Brings the set: `toy-v1` from `data` of the repository, `hopper-v1` by MuJoCo. `series` makes it smaller, for a
    /// trial: so many series in all, four fifths of them to train.
    ///
    /// # Errors
    /// If the file or MuJoCo is not there (`scripts/get-mujoco` brings it).
    pub fn load(self, repository: &Path, series: Option<usize>) -> Result<LoadedSet, Error> {
        match self {
            Self::Toy => toy(repository, series),
            Self::Hopper => trajectories(series),
        }
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
                let masking = Masking::Count(percent);
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
