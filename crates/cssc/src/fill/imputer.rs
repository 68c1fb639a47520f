//! Fills gaps by the method that finds hidden values best: from data to a filler in one call.
//!
//! ```
//! # #[cfg(feature = "tables")]
//! # fn main() -> Result<(), cssc::Error> {
//! use cssc::data::table::{ReadOptions, TableReader, TableWriter, apply, read_dataset};
//! use cssc::fill::{Asked, Imputer};
//! use std::{ops::ControlFlow, path::Path, time::Duration};
//!
//! # let folder = tempfile::tempdir().map_err(cssc::Error::other)?;
//! # let (input, output) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
//! # let row = |k: u32| format!("{k},{}\n", if k % 9 == 4 { String::new() } else { (0.2 * f64::from(k)).sin().to_string() });
//! # std::fs::write(&input, format!("time,x\n{}", (0..200).map(row).collect::<String>())).map_err(cssc::Error::other)?;
//! # let (input, output): (&Path, &Path) = (&input, &output);
//! let (data, _) = read_dataset(input, &ReadOptions::default())?;
//! let imputer = Imputer { budget: Some(Duration::ZERO), ..Imputer::default() }; // no training
//! let fitted = imputer.fit(&data, |_| ControlFlow::Continue(()))?;
//! let evaluation = fitted.evaluation().expect("there is enough to hide");
//! println!("{}: squared error {}", fitted.method(0), evaluation.methods[evaluation.chosen[0]].all.mse);
//!
//! let mut reader = TableReader::open(input, ReadOptions::default())?;
//! let mut writer = TableWriter::create(output, reader.shape())?;
//! apply(&mut reader, &mut writer, |series| fitted.fill(series, &Asked::Holes))?;
//! writer.finish()?;
//! # assert_eq!(fitted.method(0), "combined");
//! # assert!(!std::fs::read_to_string(output).map_err(cssc::Error::other)?.contains(",\n"));
//! # Ok(()) }
//! # #[cfg(not(feature = "tables"))]
//! # fn main() {}
//! ```

use super::filler::Filler;
#[cfg(feature = "nn")]
use super::fitted::combine;
use super::fitted::{Fitted, PLAINEST};
#[cfg(feature = "nn")]
use super::learn::LearnOptions;
use super::methods::{METHODS, Method};
use super::sample::sample;
#[cfg(feature = "nn")]
use super::training::{Training, Trainings};
use crate::Error;
use crate::data::Dataset;
#[cfg(feature = "nn")]
use crate::evaluate::Answers;
use crate::evaluate::{
    Bound, Bounds, Criterion, Gaps, HoldOut, HoldOutOptions, Interpolator, Judging,
};
use crate::predict::{PredictOptions, predict_edges};
#[cfg(feature = "nn")]
use crate::train::Progress;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Fewest hidden values from which a method is chosen.
const FEWEST_HIDDEN: usize = 10;
/// The part of the budget that is for training; the rest is for the comparison of what was trained.
#[cfg(feature = "nn")]
const FOR_TRAINING: f64 = 0.5;

/// How gaps are to be filled.
#[derive(Clone, Debug, Default)]
pub struct Imputer {
    /// Methods to choose from, one for each channel. Default `None`: those of [`METHODS`] that take part
    /// by default, trained ones where they can be trained, are combined with weights for each channel
    /// and length of gap. One that is named and cannot be trained is an error.
    pub methods: Option<Vec<&'static Method>>,
    /// What counts: the mean squared or the mean absolute error.
    pub criterion: Criterion,
    /// Names of the channels to be filled; the others only help. Default `None`: all.
    pub targets: Option<Vec<String>>,
    /// Interpolators of your own, compared with the methods.
    pub others: Vec<Arc<dyn Interpolator>>,
    /// What is hidden to compare them; its seed and its longest gap are those below.
    pub hold_out: HoldOutOptions,
    /// What is known about the data: whether times are dates, periods; its seed is that below.
    pub predict: PredictOptions,
    /// How models are trained; its seed and its longest gap are those below.
    #[cfg(feature = "nn")]
    pub learn: LearnOptions,
    /// Time for all trainings together. Default `None`: as many steps as `learn` says, which gives
    /// the same result on every run. With zero nothing is trained.
    pub budget: Option<Duration>,
    /// Longer gaps stay empty, and are not imitated.
    pub longest_gap: Option<f64>,
    /// Fill outside the first and the last value of a channel with the nearer of them.
    pub extrapolate: bool,
    /// Fill there with what the other channels and the season say, where values that are cut off for it are
    /// found better that way. It extrapolates, whatever `extrapolate` says.
    pub predict_edges: bool,
    /// Smallest and largest values. Channels of integers stay integers.
    pub bounds: Vec<Bound>,
    /// Level of the bands around filled values, between 0 and 1. Default `None`: no bands.
    pub bands: Option<f64>,
    /// Seed of everything random.
    pub seed: u64,
}

/// What [`Imputer::fit`] tells while it works. The answer [`ControlFlow::Break`] to a step of a training
/// ends that training with what it has reached; to anything else it ends the whole work with
/// [`Error::Stopped`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A training has made a step.
    #[cfg(feature = "nn")]
    Training {
        /// What is trained.
        name: &'a str,
        /// How it goes.
        progress: &'a Progress,
    },
    /// A candidate is about to be judged.
    Comparing {
        /// Its name.
        name: &'a str,
        /// Its number.
        number: usize,
        /// How many there are.
        candidates: usize,
    },
}

impl Imputer {
    /// The methods that are compared, the simpler first.
    #[must_use]
    pub fn candidates(&self) -> Vec<&'static Method> {
        let trains = self.budget != Some(Duration::ZERO);
        match &self.methods {
            Some(named) => named.clone(),
            None => METHODS
                .iter()
                .filter(|method| method.by_default && (trains || !method.is_trained()))
                .collect(),
        }
    }

    /// Hides known values of `data`, trains models on the rest, compares all methods on what was
    /// hidden and chooses one for every channel.
    ///
    /// `watch` hears how it goes.
    ///
    /// # Errors
    /// If a bound or a target is no column, a method that was named cannot be trained, or `watch` stops it.
    pub fn fit(
        &self,
        data: &Dataset,
        watch: impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Fitted, Error> {
        self.fit_with(data, &Gaps::find(data), watch)
    }

    /// The same where the gaps of `data` are known already.
    ///
    /// # Errors
    /// As [`Imputer::fit`].
    pub fn fit_with(
        &self,
        data: &Dataset,
        gaps: &Gaps,
        mut watch: impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Fitted, Error> {
        let bounds = self.bounds(data)?;
        let targets = self.target_channels(data)?;
        let hold_out = HoldOutOptions {
            channels: targets.clone(),
            absent_rows: self.predict.absent_rows,
            largest_part: match self.candidates().iter().any(|method| method.is_trained()) {
                true => self.hold_out.largest_part,
                false => 1.0, // what no round hides is only for trainings
            },
            ..self.hold_out()
        };
        // A sample lives on in what is hidden from it: a second copy of a long table would be its largest part.
        let (held, is_sample) = match sample(data)? {
            Some(part) => (HoldOut::new(&part, &Gaps::find(&part), &hold_out)?, true),
            None => (HoldOut::new(data, gaps, &hold_out)?, false),
        };
        let mut fitted = Fitted {
            combination: None,
            filler: Filler {
                candidates: Vec::new(),
                chosen: vec![0; data.channels()],
                bounds,
                targets,
                longest_gap: self.longest_gap,
                extrapolate: self.extrapolate || self.predict_edges,
                beyond: None,
                bands: None,
            },
            evaluation: None,
            hidden: held.hidden.len(),
            notes: Vec::new(),
            #[cfg(feature = "nn")]
            trained: Vec::new(),
        };
        if is_sample {
            fitted.notes.push(format!(
                "the table is long: methods were compared on {} of its {} rows, spread evenly, and learn from them",
                held.visible.rows(),
                data.rows()
            ));
        }
        if self.methods.is_none() && held.hidden.len() < FEWEST_HIDDEN {
            fitted.notes.push(format!(
                "only {} values could be hidden to compare methods, fewer than {FEWEST_HIDDEN}: a \
                 plain interpolator ({PLAINEST}) is used",
                held.hidden.len()
            ));
            let plainest = Method::named(PLAINEST)?.plain();
            fitted.filler.candidates.extend(plainest);
            return Ok(fitted);
        }
        let methods = self.candidates();
        let options = PredictOptions {
            seed: self.seed,
            ..self.predict.clone()
        };
        let plain = methods
            .iter()
            .filter_map(|method| method.untrained(&options));
        fitted.filler.candidates = plain.chain(self.others.iter().cloned()).collect();
        // What costs little is asked first: what takes long to train must promise more.
        // What is trained adds its answers.
        #[cfg_attr(not(feature = "nn"), expect(unused_mut))]
        let mut answers = fitted.ask(0, &held, &mut watch)?;
        #[cfg(feature = "nn")]
        {
            let rows = data.rows();
            self.train(&mut fitted, &methods, (&held, &answers), rows, &mut watch)?;
            answers.extend(fitted.ask(answers.len(), &held, &mut watch)?);
        }
        if fitted.filler.candidates.is_empty() {
            return Err(Error::Setting(
                "there is no method to fill with; name at least one".to_owned(),
            ));
        }
        let judging = Judging {
            bands: self.bands,
            criterion: self.criterion,
            combined: None,
        };
        fitted.compare(&held, answers, judging, self.methods.is_none());
        // What stands for the whole in the comparison does so here: memory and time do not grow with the table.
        match is_sample {
            true => fitted.learn(&held.into_whole()?)?,
            false => fitted.learn(data)?,
        }
        if self.predict_edges {
            fitted.filler.beyond = predict_edges(data, &options)?;
        }
        Ok(fitted)
    }

    fn hold_out(&self) -> HoldOutOptions {
        HoldOutOptions {
            longest: self.longest_gap,
            seed: self.seed,
            ..self.hold_out.clone()
        }
    }

    fn target_channels(&self, data: &Dataset) -> Result<Option<Vec<usize>>, Error> {
        let names = data.channel_names();
        let place = |target: &String| {
            let found = names.iter().position(|name| name == target);
            found.ok_or_else(|| {
                Error::Setting(format!(
                    "there is no column of values `{target}` to be filled; there are {}",
                    names.join(", ")
                ))
            })
        };
        let places = self
            .targets
            .as_ref()
            .map(|all| all.iter().map(place).collect());
        places.transpose()
    }

    /// The bounds of every channel of `data`.
    ///
    /// # Errors
    /// If a bound is for no column of it.
    pub fn bounds(&self, data: &Dataset) -> Result<Bounds, Error> {
        let mut bounds = Bounds::of(data);
        for bound in &self.bounds {
            bounds.restrict(bound, data.channel_names())?;
        }
        Ok(bounds)
    }

    #[cfg(feature = "nn")]
    fn train(
        &self,
        fitted: &mut Fitted,
        methods: &[&'static Method],
        (held, answers): (&HoldOut, &[Answers]),
        rows: usize,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut options = self.learn.clone();
        options.training.seed = self.seed;
        options.longest_gap = self.longest_gap;
        options.known = self.predict.clone();
        let training = Training {
            options: &options,
            budget: self.budget.map(|budget| budget.mul_f64(FOR_TRAINING)),
            required: self.methods.is_some(),
            use_within: self.budget.filter(|_| self.methods.is_none()),
            rows,
            rounds: held.rounds().count(),
        };
        let bounds = &fitted.filler.bounds;
        let cheap = fitted.filler.candidates.clone();
        let gain = |networks: &[Arc<dyn Interpolator>]| {
            let mut names: Vec<&str> = cheap.iter().map(|one| one.name()).collect();
            let mut all: Vec<Answers> = answers.to_vec();
            let before = combine(held, &names, &all, bounds, self.criterion);
            for network in networks {
                names.push(network.name());
                all.push(held.answers(network.as_ref(), bounds)?);
            }
            let after = combine(held, &names, &all, bounds, self.criterion);
            Ok(match (before, after) {
                (Some((_, before)), Some((_, after))) => {
                    1.0 - held.ratio(&after, &before, self.criterion)
                }
                _ => 1.0,
            })
        };
        let candidates = &mut fitted.filler.candidates;
        let Trainings { trained, failed } =
            training.run(methods, &held.visible, candidates, &gain, watch)?;
        match (failed.first(), trained.is_empty()) {
            (Some((_, error)), true) => fitted.notes.push(format!("no model was trained: {error}")),
            _ => {
                let notes = failed.iter();
                let notes = notes.map(|(name, error)| format!("{name} was not trained: {error}"));
                fitted.notes.extend(notes);
            }
        }
        fitted.trained = trained;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::asked::Asked;
    use super::super::combined::COMBINED;
    use super::*;
    #[cfg(feature = "nn")]
    use crate::data::{Random, Series};

    /// Two waves of 300 rows with gaps.
    fn waves() -> Dataset {
        let values = (0..300).flat_map(|k| {
            let t = 0.1 * f64::from(k);
            let gap = k % 23 == 7;
            [t.sin(), if gap { f64::NAN } else { t.cos() }]
        });
        let times = (0..300).map(|k| 0.1 * f64::from(k)).collect();
        let series = Series::new(None, 2, times, values.collect()).unwrap();
        Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap()
    }

    #[test]
    fn methods_are_combined_and_every_step_is_told() {
        let data = waves();
        let imputer = Imputer {
            budget: Some(Duration::ZERO),
            bands: Some(0.9),
            ..Imputer::default()
        };
        let mut told = Vec::new();
        let fitted = imputer.fit(&data, |event| {
            if let Event::Comparing { name, .. } = event {
                told.push(name.to_owned());
            }
            ControlFlow::Continue(())
        });
        let fitted = fitted.unwrap();
        let all = METHODS
            .iter()
            .filter(|method| method.by_default && !method.is_trained());
        let all: Vec<&str> = all.map(|method| method.name).collect();
        assert_eq!(told, all);
        assert_eq!(fitted.method(1), COMBINED);
        let weights: f64 = fitted.weights(1).iter().map(|(_, weight)| weight).sum();
        assert!((weights - 1.0).abs() < 1e-9);
        assert!(fitted.notes().is_empty());
        let filled = fitted.fill(&data.series()[0], &Asked::Holes).unwrap();
        let off = filled.values.chunks(2).enumerate();
        for (k, row) in off {
            assert!((row[1] - (0.1 * k as f64).cos()).abs() < 1e-3, "{k}");
        }
        assert!(fitted.filler().bands.is_some() && filled.bands.is_some());
    }

    #[test]
    fn too_few_values_are_filled_plainly_and_it_says_so() {
        let series = Series::new(None, 1, vec![0.0, 1.0, 2.0], vec![0.0, f64::NAN, 4.0]).unwrap();
        let data = Dataset::new(vec!["x".into()], vec![series.clone()]).unwrap();
        let fitted = Imputer::default().fit(&data, |_| ControlFlow::Continue(()));
        let fitted = fitted.unwrap();
        assert!(fitted.notes()[0].contains("(linear) is used"));
        assert!(fitted.evaluation().is_none());
        let filled = fitted.fill(&series, &Asked::Holes).unwrap();
        assert_eq!(filled.values, [0.0, 2.0, 4.0]);
    }

    /// Columns that copy each other leave nothing to learn: a trial tells, and nothing is trained.
    #[cfg(feature = "nn")]
    #[test]
    fn networks_that_promise_nothing_are_not_trained_and_it_says_so() {
        let mut random = Random::new(3);
        let mut hole = |value: f64| match random.unit() < 0.1 {
            true => f64::NAN,
            false => value,
        };
        let values: Vec<f64> = (0..400)
            .flat_map(|k| {
                [
                    hole((0.37 * f64::from(k)).sin()),
                    (0.37 * f64::from(k)).sin(),
                ]
            })
            .collect();
        let times = (0..400).map(f64::from).collect();
        let series = Series::new(None, 2, times, values).unwrap();
        let data = Dataset::new(vec!["a".into(), "b".into()], vec![series]).unwrap();
        let mut imputer = Imputer {
            budget: Some(Duration::from_secs(600)),
            ..Imputer::default()
        };
        imputer.learn.training.steps = 210;
        imputer.learn.model = crate::model::OdeRnnConfig {
            dynamics: vec![4],
            decoder: vec![4],
            cell: 4,
            hidden: 3,
            ..Default::default()
        }
        .into();
        let mut tried = Vec::new();
        let fitted = imputer.fit(&data, |event| {
            if let Event::Training { name, progress } = event
                && progress.step == 1
            {
                tried.push(name.to_owned());
            }
            ControlFlow::Continue(())
        });
        let fitted = fitted.unwrap();
        assert_eq!(tried, ["cssc"]);
        assert!(fitted.trained().is_empty());
        assert!(
            fitted.notes()[0].contains("in a trial of"),
            "{:?}",
            fitted.notes()
        );
    }

    /// Equal settings are trained once; a model that is named fails loudly.
    #[cfg(feature = "nn")]
    #[test]
    fn models_are_trained_once_for_the_methods_that_share_them() {
        let mut imputer = Imputer {
            methods: Method::list(["linear", "ode-rnn", "cssc", "smooth-cssc"]).ok(),
            ..Imputer::default()
        };
        imputer.learn.training.steps = 2;
        imputer.learn.model = crate::model::OdeRnnConfig {
            dynamics: vec![8],
            decoder: vec![8],
            ..Default::default()
        }
        .into();
        let fitted = imputer
            .fit(&waves(), |_| ControlFlow::Continue(()))
            .unwrap();
        let trained = fitted.trained().iter();
        let trained: Vec<_> = trained
            .map(|one| (&one.name[..], &one.candidates[..]))
            .collect();
        assert_eq!(trained, [("ode-rnn", &[1][..]), ("cssc", &[2, 3])]);
        let names = fitted.filler().candidates.iter().map(|one| one.name());
        let names: Vec<&str> = names.collect();
        assert_eq!(names, ["linear", "ode-rnn", "cssc", "smooth-cssc"]);
        assert!(fitted.model().is_some());

        imputer.budget = Some(Duration::ZERO);
        let wrong = imputer.fit(&waves(), |_| ControlFlow::Continue(()));
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains("only 0 steps"), "{wrong}");
    }
}
