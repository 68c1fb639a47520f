//! Trains the models that methods need: each once, within a budget of time.

use super::imputer::Event;
use super::learn::{LearnOptions, Learning};
use super::methods::Method;
use super::trained::ModelInterpolator;
use crate::Error;
use crate::data::Dataset;
use crate::evaluate::Interpolator;
use crate::model::{Model, ModelConfig};
use crate::train::{Control, TrainConfig, Trainer};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fewest steps of a training that is worth while.
const FEWEST_STEPS: u64 = 200;
/// Steps made to see how long one takes.
const TRIAL_STEPS: u64 = 8;
/// Rows that are walked to see how long it takes.
const TRIAL_ROWS: usize = 2000;
/// A training that takes so many times its share ends where it is.
const LATE: f64 = 1.25;
/// The part of the time for training that a trial gets, which decides whether the rest is spent.
const TRIAL: f64 = 0.2;
/// By so much of itself the error on hidden values must fall with what was tried.
const PROMISE: f64 = 0.01;
/// Most channels for which a model is trained unless it is asked for by name.
const MOST_CHANNELS: usize = 64;

/// A model and how it came to be.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What it is called.
    pub name: String,
    /// The model.
    pub model: Model,
    /// Loss of every step.
    pub losses: Vec<f64>,
    /// The candidates that are made of it.
    pub candidates: Vec<usize>,
}

/// What was trained, and why something was not.
#[derive(Debug, Default)]
pub(super) struct Trainings {
    pub(super) trained: Vec<Trained>,
    /// Names of models that were not trained, and the reasons.
    pub(super) failed: Vec<(String, Error)>,
}

/// Models of one kind that several methods share.
struct Plan {
    config: ModelConfig,
    methods: Vec<&'static Method>,
}

/// How much smaller the error on hidden values becomes with some more candidates, as a part of it.
type Gain<'a> = dyn Fn(&[Arc<dyn Interpolator>]) -> Result<f64, Error> + 'a;

/// All that a training needs.
pub(super) struct Training<'a> {
    pub(super) options: &'a LearnOptions,
    /// Time for all trainings together; `None`: as many steps as the options say.
    pub(super) budget: Option<Duration>,
    /// Whether the methods were named: then one that cannot be trained is an error.
    pub(super) required: bool,
    /// How long all models together may take to be compared and to fill; `None`: as long as they need.
    pub(super) use_within: Option<Duration>,
    /// Rows that are to be filled.
    pub(super) rows: usize,
    /// How often all of the data are asked in the comparison.
    pub(super) rounds: usize,
}

impl Training<'_> {
    /// Trains what `methods` need on `data` and adds their interpolators to `candidates`. Unless they were named, a
    /// short training of the first is tried before: where that brings no `gain`, nothing is trained.
    pub(super) fn run(
        &self,
        methods: &[&'static Method],
        data: &Dataset,
        candidates: &mut Vec<Arc<dyn Interpolator>>,
        gain: &Gain<'_>,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Trainings, Error> {
        let plans = plans(methods, &self.options.model);
        let mut done = Trainings::default();
        if plans.is_empty() {
            return Ok(done);
        }
        let begun = Instant::now();
        let count = plans.len();
        if let Ok(learning) = &self.prepare(data, &plans[0])
            && let Some(reason) = self.discouraged(learning, &plans[0], data, gain, watch)?
        {
            let refused = |plan: &Plan| (plan.config.method(), Error::Setting(reason.clone()));
            done.failed = plans.iter().map(refused).collect();
            return Ok(done);
        }
        for (number, plan) in plans.into_iter().enumerate() {
            // What an earlier training has left over is for the later ones.
            let left = self
                .budget
                .map(|budget| budget.saturating_sub(begun.elapsed()));
            let share = left.map(|left| left / (count - number) as u32);
            let name = plan.config.method();
            let trained = self.prepare(data, &plan).and_then(|learning| {
                self.check_use(&learning, &plan, data, count)?;
                train(&learning, share, watch)
            });
            match trained {
                Ok((model, losses)) => {
                    let first = candidates.len();
                    for recipe in plan.methods.iter().filter_map(|method| method.recipe()) {
                        candidates.push(Arc::new((recipe.apply)(model.clone())?));
                    }
                    done.trained.push(Trained {
                        name,
                        model,
                        losses,
                        candidates: (first..candidates.len()).collect(),
                    });
                }
                Err(error) if self.required => return Err(error),
                Err(error) => done.failed.push((name, error)),
            }
        }
        Ok(done)
    }

    /// Why nothing should be trained, after a short training of one model; `None` if it promises something, or was not
    /// tried.
    fn discouraged(
        &self,
        learning: &Learning,
        plan: &Plan,
        data: &Dataset,
        gain: &Gain<'_>,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Option<String>, Error> {
        let Some(share) = self.budget.filter(|_| !self.required) else {
            return Ok(None);
        };
        let begun = Instant::now();
        let tried = self
            .check_use(learning, plan, data, 1)
            .and_then(|()| train(learning, Some(share.mul_f64(TRIAL)), watch));
        // Too short a time for a trial: whoever trains for it will say the same of what it has.
        let Ok((model, _)) = tried else {
            return Ok(None);
        };
        let recipes = plan.methods.iter().filter_map(|method| method.recipe());
        let made = recipes.map(|recipe| {
            let made: Arc<dyn Interpolator> = Arc::new((recipe.apply)(model.clone())?);
            Ok(made)
        });
        let gain = gain(&made.collect::<Result<Vec<_>, Error>>()?)?;
        Ok((gain < PROMISE).then(|| {
            format!(
                "in a trial of {:.0} s networks brought the error on hidden values down by {:.1} %, less than {:.0} %; \
                 name a method, such as cssc, to train it anyway",
                begun.elapsed().as_secs_f64(),
                100.0 * gain.max(0.0),
                100.0 * PROMISE
            )
        }))
    }

    /// Refuses a model that would be too slow to use on a long table, before time is spent on training it. How fast
    /// it is does not depend on what it has learned.
    fn check_use(
        &self,
        learning: &Learning,
        plan: &Plan,
        data: &Dataset,
        plans: usize,
    ) -> Result<(), Error> {
        let Some(most) = self.use_within.map(|most| most / plans as u32) else {
            return Ok(());
        };
        let training = TrainConfig {
            steps: 0,
            ..learning.options.training.clone()
        };
        let model = learning.model(learning.trainer_of(&learning.options.model, &training)?)?;
        let series = data.series().iter().max_by_key(|series| series.len());
        let Some(series) = series.filter(|series| !series.is_empty()) else {
            return Ok(());
        };
        let some: Vec<usize> = (0..series.len().min(TRIAL_ROWS)).collect();
        let some = series.take(&some)?;
        let asked: Vec<f64> = some.times().iter().step_by(10).copied().collect();
        let channels: Vec<usize> = (0..some.channels()).collect();
        let begun = Instant::now();
        ModelInterpolator::new(model).curve(&some, &channels, &asked)?;
        let compared = data.rows();
        let rows = plan.methods.len() * (self.rows + self.rounds * compared);
        let time = begun.elapsed().mul_f64(rows as f64 / some.len() as f64);
        if time <= most {
            return Ok(());
        }
        Err(Error::Setting(format!(
            "to compare it and to fill {} rows with it would take about {:.0} s, more than {:.0} s; name the method, \
             or give a larger budget",
            self.rows,
            time.as_secs_f64(),
            most.as_secs_f64()
        )))
    }

    /// Data made ready for a model.
    fn prepare(&self, data: &Dataset, plan: &Plan) -> Result<Learning, Error> {
        if !self.required && data.channels() > MOST_CHANNELS {
            return Err(Error::Setting(format!(
                "there are {} channels, more than {MOST_CHANNELS}; name the method to train anyway",
                data.channels()
            )));
        }
        let options = LearnOptions {
            model: plan.config.clone(),
            ..self.options.clone()
        };
        Learning::new(data, &options)
    }
}

/// The models that methods need, each once.
fn plans(methods: &[&'static Method], base: &ModelConfig) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    for &method in methods {
        let Some(recipe) = method.recipe() else {
            continue;
        };
        let config = recipe.config(base);
        match plans.iter_mut().find(|plan| plan.config == config) {
            Some(plan) => plan.methods.push(method),
            None => plans.push(Plan {
                config,
                methods: vec![method],
            }),
        }
    }
    plans
}

fn train(
    learning: &Learning,
    share: Option<Duration>,
    watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
) -> Result<(Model, Vec<f64>), Error> {
    let config = &learning.options.model;
    let name = config.method();
    let begun = Instant::now();
    let mut training = learning.options.training_of(config)?;
    if let Some(share) = share {
        let steps = steps_within(learning, &training, share)?;
        if steps < FEWEST_STEPS {
            return Err(Error::Setting(format!(
                "only {steps} steps of training would fit into {:.0} s, fewer than \
                 {FEWEST_STEPS}; give a larger budget",
                share.as_secs_f64()
            )));
        }
        training.steps = training.steps.min(steps);
        training.validate_every = (training.steps / 15).max(20);
    }
    // The machine may have become slower since the steps were counted.
    let late = |begun: Instant| share.is_some_and(|share| begun.elapsed() > share.mul_f64(LATE));
    let mut losses = Vec::new();
    let mut trainer = learning.trainer_of(config, &training)?;
    trainer.run(|_, progress| {
        losses.push(progress.loss);
        match watch(Event::Training {
            name: &name,
            progress,
        }) {
            ControlFlow::Continue(()) if late(begun) => Control::Stop,
            ControlFlow::Continue(()) => Control::Continue,
            ControlFlow::Break(()) => Control::Stop,
        }
    })?;
    Ok((learning.model(trainer)?, losses))
}

/// How many steps fit into a time: a few are made to see.
fn steps_within(
    learning: &Learning,
    training: &TrainConfig,
    share: Duration,
) -> Result<u64, Error> {
    let trial = TrainConfig {
        steps: TRIAL_STEPS,
        ..training.clone()
    };
    let nothing = learning.validation.subset(&[]);
    let mut trainer = Trainer::new(&learning.options.model, &trial, &learning.train, &nothing)?;
    // The first steps get their memory, and the last one is followed by the end: neither is typical.
    let mut marks = Vec::new();
    trainer.run(|_, _| {
        marks.push(Instant::now());
        Control::Continue
    })?;
    let steps = (marks.len() - 4) as f64;
    let time = marks[marks.len() - 2]
        .duration_since(marks[2])
        .as_secs_f64()
        / steps;
    // Some of the time is for validating.
    Ok((0.9 * share.as_secs_f64() / time.max(1e-6)) as u64)
}
