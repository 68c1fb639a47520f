//! Which series are used to train, to validate and to test: never one series for two of them.
//!
//! The frozen sets are split in order, as the paper does: the first series train, the last test,
//! and the last tenth of the training series validates.
use super::Dataset;
use crate::Error;

/// Part of the training series that validates in the paper's protocol: the last tenth.
const VALIDATION_PART: f64 = 0.1;

/// Numbers of the series of each part. The parts share no series: only this module makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    any(feature = "nn", feature = "tables"),
    derive(serde::Serialize, serde::Deserialize)
)]
pub struct Split {
    train: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
}

/// The three parts of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Series to fit with.
    pub train: Dataset,
    /// Series to stop and choose by.
    pub validation: Dataset,
    /// Series to report on.
    pub test: Dataset,
}

impl Split {
    /// The paper's protocol: the first `training` of `series` series train, except the last tenth
    /// of them (rounded), which validates; the rest test.
    pub fn paper(series: usize, training: usize) -> Result<Self, Error> {
        let validation = (training as f64 * VALIDATION_PART).round() as usize;
        Self::in_order(series, training.saturating_sub(validation), validation)
    }

    /// The first `train` series train, the next `validation` validate, the rest test.
    pub fn in_order(series: usize, train: usize, validation: usize) -> Result<Self, Error> {
        if train + validation > series {
            let reason = format!("{train} to train and {validation} to validate were asked for");
            return Err(Error::Split { series, reason });
        }
        Ok(Self {
            train: (0..train).collect(),
            validation: (train..train + validation).collect(),
            test: (train + validation..series).collect(),
        })
    }

    /// Numbers of the training series, increasing.
    pub fn train(&self) -> &[usize] {
        &self.train
    }

    /// Numbers of the validation series, increasing.
    pub fn validation(&self) -> &[usize] {
        &self.validation
    }

    /// Numbers of the test series, increasing.
    pub fn test(&self) -> &[usize] {
        &self.test
    }

    /// The three parts of `dataset`, which must have as many series as this split.
    pub fn apply(&self, dataset: &Dataset) -> Result<Parts, Error> {
        let expected = self.train.len() + self.validation.len() + self.test.len();
        if dataset.len() != expected {
            let reason = format!("the split was made for {expected} series");
            return Err(Error::Split {
                series: dataset.len(),
                reason,
            });
        }
        Ok(Parts {
            train: dataset.subset(&self.train),
            validation: dataset.subset(&self.validation),
            test: dataset.subset(&self.test),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_validates_on_the_last_tenth_of_the_training_series() {
        let split = Split::paper(1000, 800).unwrap();
        assert_eq!(split.train(), (0..720).collect::<Vec<_>>());
        assert_eq!(split.validation(), (720..800).collect::<Vec<_>>());
        assert_eq!(split.test(), (800..1000).collect::<Vec<_>>());
    }

    #[test]
    fn asking_for_more_series_than_there_are_is_refused() {
        assert_eq!(
            Split::in_order(5, 4, 2).unwrap_err().to_string(),
            "cannot split 5 series: 4 to train and 2 to validate were asked for"
        );
    }

    #[test]
    fn a_split_made_for_another_data_set_is_refused() {
        let empty = Dataset::new(vec![], vec![]).unwrap();
        let wrong = Split::paper(10, 8).unwrap().apply(&empty).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "cannot split 0 series: the split was made for 10 series"
        );
    }
}
