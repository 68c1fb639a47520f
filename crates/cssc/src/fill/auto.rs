//! Choice of the method by evidence: hides what is known, trains, compares, chooses.

use super::bands::{BandCalibration, Coverage};
use super::bounds::Bounds;
use super::compare::{Comparison, MethodScore, predict_hidden, std_devs};
use super::hold_out::{HoldOut, HoldOutOptions, Pattern};
use super::interpolator::{Interpolator, hidden_std_devs};
use super::learn::{LearnOptions, Learning};
use super::method::Method;
use crate::Error;
use crate::data::Dataset;
use crate::model::{Compensation, Model};
use crate::train::{Control, Progress, Trainer};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fewest hidden values from which a method is chosen.
const FEWEST_HIDDEN: usize = 10;
/// Fewest steps of a training that is worth while.
const FEWEST_STEPS: u64 = 200;
/// Steps made to see how long one takes.
const TRIAL_STEPS: u64 = 8;
/// Most channels for which a model is trained unless it is asked for by name.
const MOST_CHANNELS: usize = 64;

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct AutoOptions {
    /// Methods to compare; trained ones are left out where they cannot be trained.
    pub methods: Vec<Method>,
    /// Whether the user named the methods: then one that cannot be trained is an error.
    pub require_all: bool,
    /// What is hidden.
    pub hold_out: HoldOutOptions,
    /// How models are trained; its steps are the most that are made.
    pub learn: LearnOptions,
    /// Time for all trainings together; `None`: as many steps as `learn` says.
    pub budget: Option<Duration>,
    /// Level of the bands, if they are wanted.
    pub bands: Option<f64>,
    /// Bounds of what is filled in.
    pub limits: Bounds,
}

/// A model and how it came to be.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The method it was trained with.
    pub method: Compensation,
    /// The model.
    pub model: Arc<Model>,
    /// Loss of every step.
    pub losses: Vec<f64>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Methods side by side; empty if nothing could be hidden.
    pub comparison: Comparison,
    /// The interpolators that were compared.
    pub candidates: Vec<Interpolator>,
    /// The interpolator of every channel.
    pub interpolators: Vec<Interpolator>,
    /// Calibrated bands, if they were wanted, and what they cover in every channel.
    pub bands: Option<(BandCalibration, Vec<Coverage>)>,
    /// Values that were hidden, and whether in the pattern of gaps.
    pub hidden: usize,
    /// How values were hidden.
    pub pattern: Pattern,
    /// Models that were trained.
    pub trained: Vec<Trained>,
    /// What the user should know, one sentence each.
    pub notes: Vec<String>,
}

/// Compares methods on hidden values of `dataset` and chooses one for every channel.
///
/// `progress` is called after every step of a training and may stop it.
///
/// # Errors
/// If a method that was asked for by name cannot be trained.
pub fn choose(
    dataset: &Dataset,
    options: &AutoOptions,
    mut progress: impl FnMut(Compensation, &Trainer<'_>, &Progress) -> Control,
) -> Result<Choice, Error> {
    let held = HoldOut::new(dataset, &options.hold_out)?;
    let mut choice = Choice {
        hidden: held.hidden.len(),
        pattern: held.pattern,
        ..Choice::default()
    };
    let few = held.hidden.len() < FEWEST_HIDDEN;
    if few && !options.require_all {
        choice.notes.push(format!(
            "only {} values could be hidden to compare methods, fewer than {FEWEST_HIDDEN}: a \
             plain interpolator (linear) is used",
            held.hidden.len()
        ));
        choice.interpolators =
            vec![Interpolator::Plain(crate::SplineKind::Linear); dataset.channels()];
        return Ok(choice);
    }
    let mut candidates = Vec::new();
    for &method in &options.methods {
        if let Some(plain) = Interpolator::plain(method) {
            candidates.push(plain);
        }
    }
    let kinds = trainings(options);
    for (number, &kind) in kinds.iter().enumerate() {
        let share = options.budget.map(|budget| budget / kinds.len() as u32);
        let result = if !options.require_all && dataset.channels() > MOST_CHANNELS {
            Err(Error::Setting(format!(
                "there are {} channels, more than {MOST_CHANNELS}; name the method to train anyway",
                dataset.channels()
            )))
        } else {
            train(&held, options, kind, share, &mut progress)
        };
        match result {
            Ok(trained) => {
                let wanted = |method: &&Method| kind_of(**method) == Some(kind);
                for &method in options.methods.iter().filter(wanted) {
                    candidates.push(Interpolator::Model {
                        model: trained.model.clone(),
                        smooth: method == Method::SmoothCssc,
                    });
                }
                choice.trained.push(trained);
            }
            Err(error) if options.require_all => return Err(error),
            Err(error) if number == 0 => choice.notes.push(format!(
                "no model was trained, a plain interpolator is used: {error}"
            )),
            Err(_) => {}
        }
    }
    choice.compare(&held, candidates, options)?;
    Ok(choice)
}

fn kind_of(method: Method) -> Option<Compensation> {
    match method {
        Method::Cssc | Method::SmoothCssc => Some(Compensation::Output),
        Method::HiddenCssc => Some(Compensation::Hidden),
        _ => None,
    }
}

/// The kinds of models that the methods need, each once.
fn trainings(options: &AutoOptions) -> Vec<Compensation> {
    let mut kinds: Vec<Compensation> = Vec::new();
    for kind in options.methods.iter().filter_map(|&method| kind_of(method)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn train(
    held: &HoldOut,
    options: &AutoOptions,
    kind: Compensation,
    share: Option<Duration>,
    progress: &mut impl FnMut(Compensation, &Trainer<'_>, &Progress) -> Control,
) -> Result<Trained, Error> {
    let mut learning = Learning::new(&held.visible, &options.learn.with_method(kind))?;
    if let Some(share) = share {
        let steps = steps_within(&learning, share)?;
        if steps < FEWEST_STEPS {
            return Err(Error::Setting(format!(
                "only {steps} steps of training would fit into {:.0} s, fewer than \
                 {FEWEST_STEPS}; give a larger budget",
                share.as_secs_f64()
            )));
        }
        let training = &mut learning.options.training;
        training.steps = training.steps.min(steps);
        training.validate_every = (training.steps / 15).max(20);
    }
    let mut losses = Vec::new();
    let mut trainer = learning.trainer()?;
    trainer.run(|trainer, step| {
        losses.push(step.loss);
        progress(kind, trainer, step)
    })?;
    Ok(Trained {
        method: kind,
        model: Arc::new(learning.model(trainer)?),
        losses,
    })
}

/// How many steps fit into a time: a few are made to see.
fn steps_within(learning: &Learning, share: Duration) -> Result<u64, Error> {
    let mut trial = learning.clone();
    trial.options.training.steps = TRIAL_STEPS;
    trial.options.training.validate_every = TRIAL_STEPS + 1;
    let mut trainer = trial.trainer()?;
    // The first steps get their memory, the last one validates: neither is typical.
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

impl Choice {
    fn compare(
        &mut self,
        held: &HoldOut,
        candidates: Vec<Interpolator>,
        options: &AutoOptions,
    ) -> Result<(), Error> {
        let scales = std_devs(&held.visible);
        let mut rows = Vec::new();
        let mut answers = Vec::new();
        for candidate in &candidates {
            let found = predict_hidden(candidate, held, &options.limits)?;
            let method = candidate.method();
            rows.push(MethodScore::new(method, &held.hidden, &found, &scales));
            answers.push(found);
        }
        self.comparison = Comparison::new(rows);
        let number = |method: &Method| candidates.iter().position(|c| c.method() == *method);
        let chosen: Vec<usize> = self
            .comparison
            .chosen
            .iter()
            .map(|method| number(method).unwrap_or(0))
            .collect();
        self.interpolators = chosen.iter().map(|&n| candidates[n].clone()).collect();
        self.candidates = candidates;
        if let Some(level) = options.bands {
            let found: Vec<f64> = held
                .hidden
                .iter()
                .enumerate()
                .map(|(at, hidden)| answers[chosen[hidden.channel]][at])
                .collect();
            let widths = hidden_std_devs(held)?;
            let channels = held.visible.channels();
            self.bands = Some(BandCalibration::calibrate(
                level,
                channels,
                &held.hidden,
                &found,
                &widths,
            ));
        }
        Ok(())
    }
}
