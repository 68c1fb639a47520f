//! Sets and trained models for studies.

use crate::paper_set::{LoadedSet, PaperSet, interpolated, shown};
use crate::reproduce::schedule::{Event, train_model};
use crate::reproduce::{Cell, Options};
use cssc::Error;
use cssc::data::{Dataset, Random, Scaler, Series};
use cssc::fill::Method;
use cssc::model::{CurveOptions, Model, ModelConfig};
use cssc::train::{Control, Masking, OptimizerKind, Sample, TrainConfig, fit};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Steps of a brief training.
pub const BRIEF_STEPS: u64 = 300;

/// Where studies get what they need.
pub struct Workshop<'a> {
    options: &'a Options,
    watch: &'a (dyn Fn(Event<'_>) -> Control + Sync),
    /// By set, and the number of series to train on where not all are meant.
    sets: BTreeMap<(PaperSet, Option<usize>), Rc<LoadedSet>>,
}

impl<'a> Workshop<'a> {
    /// An empty one.
    #[must_use]
    pub fn new(options: &'a Options, watch: &'a (dyn Fn(Event<'_>) -> Control + Sync)) -> Self {
        Self {
            options,
            watch,
            sets: BTreeMap::new(),
        }
    }

    /// A set, loaded once.
    ///
    /// # Errors
    /// If its data are not there.
    pub fn set(&mut self, set: PaperSet) -> Result<Rc<LoadedSet>, Error> {
        self.part(set, None)
    }

    /// The set of a cell, with as many series to train on as it asks for.
    ///
    /// # Errors
    /// If there is no such cell, or its data are not there.
    pub fn set_of(&mut self, cell: &str) -> Result<Rc<LoadedSet>, Error> {
        let (set, training) = self.cell(cell)?.set();
        self.part(set, training)
    }

    fn part(&mut self, set: PaperSet, training: Option<usize>) -> Result<Rc<LoadedSet>, Error> {
        if let Some(loaded) = self.sets.get(&(set, training)) {
            return Ok(Rc::clone(loaded));
        }
        let size = self.options.size(training);
        let loaded = Rc::new(set.load(&self.options.repository, size)?);
        self.sets.insert((set, training), Rc::clone(&loaded));
        Ok(loaded)
    }

    fn cell(&self, name: &str) -> Result<Cell, Error> {
        let path = self.options.repository.join("experiments").join(name);
        let cell = Cell::read(&path.with_extension("toml"))?;
        Ok(self.options.adapted(cell))
    }

    /// The model of a cell, `table1/toy-cssc-10`, trained now if it is not there.
    ///
    /// # Errors
    /// If there is no such cell, or its training fails or is stopped.
    pub fn model(&mut self, cell: &str) -> Result<Model, Error> {
        let cell = self.cell(cell)?;
        let (set, training) = cell.set();
        let set = self.part(set, training)?;
        train_model(cell, &set, self.options, self.watch)
    }

    /// Errors on `samples` of an ODE-RNN, CSSC and latent CSSC that are briefly trained ([`BRIEF_STEPS`]) on series of a
    /// study's own, whose points are shown as `masking` says.
    ///
    /// # Errors
    /// If a training fails.
    pub fn briefly_trained(
        &self,
        masking: &Masking,
        train: &Dataset,
        validation: &Dataset,
        samples: &[Sample],
    ) -> Result<Vec<f64>, Error> {
        let errors = ["ode-rnn", "cssc", "latent-cssc"].map(|method| {
            let training = TrainConfig {
                steps: BRIEF_STEPS,
                validate_every: BRIEF_STEPS / 10,
                optimizer: OptimizerKind::Muon,
                rate: 0.006,
                clip: Some(1.0),
                masking: masking.clone(),
                ..TrainConfig::default()
            };
            let model = self.trained(method, training, train, validation)?;
            model_error(&model, &CurveOptions::default(), samples)
        });
        errors.into_iter().collect()
    }

    fn trained(
        &self,
        method: &str,
        training: TrainConfig,
        train: &Dataset,
        validation: &Dataset,
    ) -> Result<Model, Error> {
        let mut model = ModelConfig::of_method(method)
            .ok_or_else(|| Error::Setting(format!("there is no method {method}")))?;
        model.set_channels(train.channels());
        let training = TrainConfig {
            steps: self.options.steps(training.steps),
            ..training
        };
        let scaler = Scaler::identity(train.channels());
        fit(&model, &training, &scaler, train, validation, |_, _| {
            Control::Continue
        })
    }

    /// The steps of a training of a study's own.
    #[must_use]
    pub fn steps(&self, wanted: u64) -> u64 {
        self.options.steps(wanted)
    }

    /// The number of series a study draws: fewer in a quick run.
    #[must_use]
    pub fn series(&self, wanted: usize) -> usize {
        self.options.series().map_or(wanted, |few| wanted.min(few))
    }
}

/// The systems that a study of toy curves with 30 % observed compares, models as table 1 has trained them.
pub struct ToySystems([Model; 4]);

impl ToySystems {
    /// Their names.
    pub const NAMES: [&str; 6] = [
        "linear",
        "natural spline",
        "ODE-RNN",
        "hidden CSSC",
        "CSSC",
        "latent CSSC",
    ];

    /// Brings the models.
    ///
    /// # Errors
    /// As [`Workshop::model`].
    pub fn new(workshop: &mut Workshop<'_>) -> Result<Self, Error> {
        let mut model = |method: &str| workshop.model(&format!("table1/toy-{method}-30"));
        Ok(Self([
            model("ode-rnn")?,
            model("hidden-cssc")?,
            model("cssc")?,
            model("latent-cssc")?,
        ]))
    }

    /// The error of each.
    ///
    /// # Errors
    /// If a curve cannot be made.
    pub fn errors(&self, samples: &[Sample]) -> Result<Vec<f64>, Error> {
        let mut errors = vec![
            plain_error("linear", samples)?,
            plain_error("natural", samples)?,
        ];
        for model in &self.0 {
            errors.push(model_error(model, &CurveOptions::default(), samples)?);
        }
        Ok(errors)
    }
}

/// Series with points shown by chance, the same for every method.
#[must_use]
pub fn samples(series: &[Series], masking: &Masking) -> Vec<Sample> {
    let mut random = Random::new(0);
    let draw = |series| Sample::draw(series, masking, &mut random);
    series.iter().map(draw).collect()
}

/// Mean squared error at all points asked of a model's curves.
///
/// # Errors
/// If a curve cannot be made.
pub fn model_error(
    model: &Model,
    options: &CurveOptions,
    samples: &[Sample],
) -> Result<f64, Error> {
    mean_square(samples, |sample| {
        let curve = model.interpolate_with(&shown(sample)?, &sample.query, options)?;
        Ok(curve.smoothed.value)
    })
}

/// Mean squared error at all points asked of a method that is not trained.
///
/// # Errors
/// If there is no such method, or a curve cannot be made.
pub fn plain_error(method: &str, samples: &[Sample]) -> Result<f64, Error> {
    let spline = Method::named(method)?.plain();
    let spline = spline.ok_or_else(|| Error::Setting(format!("{method} is trained")))?;
    mean_square(samples, |sample| interpolated(&*spline, sample))
}

fn mean_square(
    samples: &[Sample],
    answer: impl Fn(&Sample) -> Result<Vec<f64>, Error>,
) -> Result<f64, Error> {
    let (mut sum, mut count) = (0.0, 0);
    for sample in samples {
        for (found, truth) in answer(sample)?.iter().zip(&sample.targets) {
            sum += (found - truth).powi(2);
            count += 1;
        }
    }
    Ok(sum / f64::from(count.max(1)))
}
