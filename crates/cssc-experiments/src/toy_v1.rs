//! toy-v1: the frozen sine curves on which all toy results stand (paper, section 4.2).
//!
//! The file `data/toy_v1.npz` of the repository *is* the set; [`generate::toy`](crate::generate::toy)
//! makes others like it. 1,000 curves on one grid of 100 times: the first 800 train (the last tenth
//! of them validates), the last 200 test. Which points of the test curves are observed is part of
//! the file, so that every method sees the same ones.
use std::path::Path;

use cssc::Error;
use cssc::data::npz::{self, Array, Elements};
use cssc::data::{Dataset, Series, Split};

/// Number of training curves, validation included.
const TRAINING: usize = 800;

/// The frozen set.
#[derive(Debug, Clone)]
pub struct ToyV1 {
    /// All 1,000 curves, one channel `x`.
    pub dataset: Dataset,
    /// The paper's protocol on them.
    pub split: Split,
    observed: Vec<(usize, Vec<Vec<usize>>)>,
}

impl ToyV1 {
    /// Reads the frozen file.
    ///
    /// # Errors
    /// If it cannot be read or is another file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let arrays = npz::read(path)?;
        let wrong = |name: &str| {
            Error::content(
                path,
                format!("array `{name}` has another shape than toy-v1"),
            )
        };
        let times = npz::find(&arrays, "times", path)?
            .floats()
            .ok_or_else(|| wrong("times"))?;
        let values = npz::find(&arrays, "values", path)?;
        let dataset = curves(&times, values).ok_or_else(|| wrong("values"))??;
        let split = Split::paper(dataset.len(), TRAINING)?;
        let mut observed = Vec::new();
        for percent in [10, 30, 50] {
            let name = format!("test_observed_{percent}");
            let points = chosen_points(npz::find(&arrays, &name, path)?);
            let points = points.filter(|points| points.len() == split.test().len());
            observed.push((percent, points.ok_or_else(|| wrong(&name))?));
        }
        Ok(Self {
            dataset,
            split,
            observed,
        })
    }

    /// For each test curve the observed points, increasing; `percent` is 10, 30 or 50.
    pub fn test_observed(&self, percent: usize) -> Option<&[Vec<usize>]> {
        self.observed
            .iter()
            .find(|(known, _)| *known == percent)
            .map(|(_, points)| &points[..])
    }
}

fn curves(times: &[f64], values: &Array) -> Option<Result<Dataset, Error>> {
    let [_, length] = values.shape[..] else {
        return None;
    };
    let flat = values
        .floats()
        .filter(|_| length == times.len() && length > 0)?;
    let series = flat.chunks(length).enumerate().map(|(number, curve)| {
        Series::new(Some(number.to_string()), 1, times.to_vec(), curve.to_vec())
    });
    let series = series.collect::<Result<Vec<_>, _>>();
    Some(series.and_then(|series| Dataset::new(vec!["x".to_owned()], series)))
}

fn chosen_points(mask: &Array) -> Option<Vec<Vec<usize>>> {
    let ([_, length], Elements::Boolean(flags)) = (&mask.shape[..], &mask.elements) else {
        return None;
    };
    let points = |row: &[bool]| (0..row.len()).filter(|&point| row[point]).collect();
    Some(flags.chunks((*length).max(1)).map(points).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toy() -> ToyV1 {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/toy_v1.npz");
        ToyV1::load(Path::new(path)).unwrap()
    }

    #[test]
    fn the_frozen_set_has_800_training_and_200_test_curves_of_100_points() {
        let toy = toy();
        assert_eq!(toy.dataset.len(), 1000);
        assert!(toy.dataset.series().iter().all(|curve| curve.len() == 100));
        let split = &toy.split;
        assert_eq!(
            [
                split.train().len(),
                split.validation().len(),
                split.test().len()
            ],
            [720, 80, 200]
        );
    }

    #[test]
    fn every_test_mask_observes_its_share_and_both_ends() {
        let toy = toy();
        for percent in [10, 30, 50] {
            let masks = toy.test_observed(percent).unwrap();
            assert_eq!(masks.len(), 200);
            for points in masks {
                assert_eq!(
                    (points.len(), points[0], points[percent - 1]),
                    (percent, 0, 99)
                );
            }
        }
        assert!(toy.test_observed(20).is_none());
    }

    #[test]
    fn another_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let elements = Elements::Float(vec![0.0, 1.0]);
        let times = Array {
            name: "times".into(),
            shape: vec![2],
            elements: elements.clone(),
        };
        let values = Array {
            name: "values".into(),
            shape: vec![2],
            elements,
        };
        npz::write(file.path(), &[times, values]).unwrap();
        let message = ToyV1::load(file.path()).unwrap_err().to_string();
        assert!(
            message.contains("array `values` has another shape than toy-v1"),
            "{message}"
        );
    }
}
