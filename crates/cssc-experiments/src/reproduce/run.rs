//! One seed of one cell: a training for each learning rate that is tried, of which the one counts that validates best;
//! of each the parameters that validate best. Everything can be stopped at any moment and goes on where it was. The model
//! stays beside the checkpoints (`NAME.cssc`, in the units of the set), for the figures and for a look at it.

use super::cell::{Cell, CellResult, CellSettings, Trial};
use crate::paper_set::{LoadedSet, interpolated};
use cssc::Error;
use cssc::data::Scaler;
use cssc::fill::Method;
use cssc::model::{Compensation, Model};
use cssc::nn::InstructionSet;
use cssc::train::{Control, ParallelBatch, Summary, TrainConfig, Trainer};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// Where a training stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The learning rate.
    pub rate: f64,
    /// Steps made of `steps`, those of earlier rates included.
    pub step: u64,
    /// Steps of all rates.
    pub steps: u64,
    /// The last validation error, if this step was validated.
    pub validation: Option<f64>,
}

/// What is kept beside a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct State {
    asked: Option<CellSettings>,
    #[serde(default)]
    trial_steps: Option<u64>,
    data: String,
    /// Time of the training in progress.
    seconds: f64,
    cpu_seconds: f64,
    /// Rates that are done.
    trials: Vec<Trial>,
    /// The results of the best of them.
    best: Option<Vec<CellResult>>,
}

impl State {
    /// The trial that validated best.
    fn best_trial(&self) -> Option<&Trial> {
        let trials = self
            .trials
            .iter()
            .filter(|trial| trial.validation.is_some());
        trials.min_by(|a, b| {
            let error = |trial: &Trial| trial.validation.unwrap_or(f64::INFINITY);
            error(a).total_cmp(&error(b))
        })
    }
}

impl Standing {
    const fn new(rate: f64, step: u64, steps: u64, validation: Option<f64>) -> Self {
        Self {
            rate,
            step,
            steps,
            validation,
        }
    }
}

/// Makes the result of one seed.
#[derive(Debug)]
pub struct Run<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Which seed.
    pub seed: u64,
    /// The learning rate, where another result gives it.
    pub rate: Option<f64>,
    /// Its data.
    pub set: &'a LoadedSet,
    /// Where checkpoints are kept.
    pub work: &'a Path,
}

/// Time that was used, on the clock and on processors.
struct Clock {
    begun: Instant,
    processors: Option<f64>,
}

impl Clock {
    fn start() -> Self {
        Self {
            begun: Instant::now(),
            processors: processor_seconds(),
        }
    }

    /// Adds the time since the last call.
    fn charge(&mut self, state: &mut State) {
        let now = Self::start();
        state.seconds += now.begun.duration_since(self.begun).as_secs_f64();
        if let (Some(before), Some(after)) = (self.processors, now.processors) {
            state.cpu_seconds += after - before;
        }
        *self = now;
    }
}

/// Processor time of all threads of the current pool, where the system tells (Linux).
fn processor_seconds() -> Option<f64> {
    let seconds = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
        Some(nanoseconds * 1e-9)
    };
    rayon::broadcast(|_| seconds()).into_iter().sum()
}

impl Run<'_> {
    /// Trains, or goes on, and tests. `watch` may stop it at any step; then there is no result yet.
    ///
    /// # Errors
    /// If a training fails, or files cannot be read or written.
    pub fn results(
        &self,
        watch: &mut dyn FnMut(Standing) -> Control,
    ) -> Result<Option<Vec<CellResult>>, Error> {
        let Some(asked) = self.cell.settings(self.seed, self.rate) else {
            return self.plain().map(|result| Some(vec![result]));
        };
        let mut state = self.load(&asked);
        let tried = self.cell.rates(self.seed);
        let own = [asked.training.rate];
        let rates = if tried.is_empty() { &own[..] } else { tried };
        let each = match tried {
            [] => asked.training.steps,
            _ => self.cell.trial_steps.unwrap_or(asked.training.steps),
        };
        let short = each < asked.training.steps;
        let all = each * rates.len() as u64 + if short { asked.training.steps } else { 0 };
        while state.trials.len() < rates.len() {
            let rate = rates[state.trials.len()];
            let before = state.trials.len() as u64 * each;
            let trained = self.train(&self.with(&asked, rate, each), &mut state, |step, error| {
                watch(Standing::new(rate, before + step, all, error))
            });
            let trained = match trained {
                Ok(Some(trained)) => Some(trained),
                Ok(None) => return Ok(None),
                // A rate that is too high ends a training; with one rate alone that is an error.
                Err(error) if rates.len() == 1 => return Err(error),
                Err(_) => None,
            };
            let validation = trained
                .as_ref()
                .and_then(|(_, results)| results[0].validation);
            let best = state.best_trial().and_then(|trial| trial.validation);
            let steps = short.then_some(each);
            state.trials.push(Trial {
                rate,
                validation,
                steps,
            });
            if let Some((model, results)) = trained
                && validation.is_some_and(|new| best.is_none_or(|best| new < best))
            {
                model.save(&self.file("cssc"))?;
                state.best = Some(results);
            }
            self.next_training(&mut state)?;
        }
        let diverged = Error::Diverged {
            step: each,
            cause: None,
        };
        let Some(rate) = state.best_trial().map(|trial| trial.rate) else {
            return Err(diverged);
        };
        if short {
            let before = each * rates.len() as u64;
            let whole = self.with(&asked, rate, asked.training.steps);
            let trained = self.train(&whole, &mut state, |step, error| {
                watch(Standing::new(rate, before + step, all, error))
            })?;
            let Some((model, results)) = trained else {
                return Ok(None);
            };
            model.save(&self.file("cssc"))?;
            state.best = Some(results);
        }
        let trials = if tried.is_empty() {
            Vec::new()
        } else {
            state.trials
        };
        let whole = |result| CellResult {
            trials: trials.clone(),
            asked: Some(asked.clone()),
            ..result
        };
        let best = state.best.ok_or(diverged)?;
        Ok(Some(best.into_iter().map(whole).collect()))
    }

    /// The model of a result that is there: one training with the learning rate that was chosen for it.
    ///
    /// # Errors
    /// Those of [`Run::results`].
    pub fn again(
        &self,
        rate: f64,
        watch: &mut dyn FnMut(Standing) -> Control,
    ) -> Result<Option<Model>, Error> {
        let Some(asked) = self.cell.settings(self.seed, self.rate) else {
            return Err(Error::Setting(format!(
                "{} is not trained",
                self.cell.method
            )));
        };
        let mut state = self.load(&asked);
        let settings = self.with(&asked, rate, asked.training.steps);
        let steps = asked.training.steps;
        let trained = self.train(&settings, &mut state, |step, error| {
            watch(Standing::new(rate, step, steps, error))
        })?;
        if trained.is_some() {
            self.clear();
        }
        Ok(trained.map(|(model, _)| model))
    }

    /// The settings of one training.
    fn with(&self, asked: &CellSettings, rate: f64, steps: u64) -> CellSettings {
        let mut settings = asked.clone();
        settings.model.set_channels(self.set.parts.train.channels());
        settings.training.rate = rate;
        settings.training.steps = steps;
        settings
    }

    /// Makes room for the next training.
    fn next_training(&self, state: &mut State) -> Result<(), Error> {
        (state.seconds, state.cpu_seconds) = (0.0, 0.0);
        // What is not there need not be removed.
        let _ = std::fs::remove_file(self.file("checkpoint"));
        self.save(state)
    }

    fn train(
        &self,
        settings: &CellSettings,
        state: &mut State,
        mut watch: impl FnMut(u64, Option<f64>) -> Control,
    ) -> Result<Option<(Model, Vec<CellResult>)>, Error> {
        let mut clock = Clock::start();
        let checkpoint = self.file("checkpoint");
        let mut trainer = if checkpoint.exists() {
            let parts = &self.set.parts;
            Trainer::resume(&checkpoint, &parts.train, &parts.validation, |_| ())?
        } else {
            self.trainer(settings, &settings.training)?
        };
        let mut saved = Instant::now();
        let mut failed = None;
        let mut stopped = false;
        trainer.run(|trainer, progress| {
            let validation = progress.validation.map(|scores| scores.mse_all);
            let control = watch(progress.step, validation);
            stopped |= control == Control::Stop;
            if control == Control::Stop || saved.elapsed() >= CHECKPOINT_EVERY {
                clock.charge(state);
                let kept = trainer.save_checkpoint(&checkpoint);
                if let Err(error) = kept.and_then(|()| self.save(state)) {
                    failed = Some(error);
                    return Control::Stop;
                }
                saved = Instant::now();
            }
            control
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if stopped {
            return Ok(None);
        }
        clock.charge(state);
        let summary = trainer.summary().clone();
        let channels = &self.set.parts.train;
        let scaler = Scaler::identity(channels.channels());
        let model = trainer.into_model(scaler, channels.channel_names().to_vec())?;
        let results = self.test(&model, &summary, settings, state)?;
        Ok(Some((model, results)))
    }

    /// The parameters that validated best, on the test series, read in every way that is asked for.
    fn test(
        &self,
        model: &Model,
        summary: &Summary,
        settings: &CellSettings,
        state: &State,
    ) -> Result<Vec<CellResult>, Error> {
        let parameters = model.parameters();
        let samples = self.set.test(self.cell.observed);
        let own = (&self.cell.variant, settings.model.compensation());
        let others = self.cell.readings.iter();
        let readings = others.map(|(variant, compensation)| (variant, *compensation));
        let test = |(variant, compensation): (&String, Compensation)| {
            let model = settings.model.with_compensation(compensation)?;
            let (network, _) = model.build::<f32>(self.seed)?;
            let scores = ParallelBatch::new().score(&*network, parameters, &samples, self.seed)?;
            Ok(CellResult {
                variant: variant.clone(),
                mse_all: scores.mse_all,
                mse_unobserved: scores.mse_hidden,
                validation: summary.best_validation.map(|best| best.0),
                best_step: summary.best_validation.map(|best| best.1),
                steps: summary.steps,
                seconds: state.seconds,
                cpu_seconds: (state.cpu_seconds > 0.0).then_some(state.cpu_seconds),
                parameters: parameters.values().len(),
                settings: Some(settings.clone()),
                curve: summary.validations.clone(),
                ..self.blank()
            })
        };
        std::iter::once(own).chain(readings).map(test).collect()
    }

    /// A spline through what is shown.
    fn plain(&self) -> Result<CellResult, Error> {
        let begun = Instant::now();
        let method = Method::named(&self.cell.method)?;
        let spline = method.plain().ok_or_else(|| {
            Error::Setting(format!("the method {method} is neither plain nor a model"))
        })?;
        let (mut all, mut hidden) = ((0.0, 0), (0.0, 0));
        for sample in self.set.test(self.cell.observed) {
            let found = interpolated(&*spline, &sample)?;
            for (place, (found, truth)) in found.iter().zip(&sample.targets).enumerate() {
                let error = (found - truth).powi(2);
                all = (all.0 + error, all.1 + 1);
                if !sample.shown[place] {
                    hidden = (hidden.0 + error, hidden.1 + 1);
                }
            }
        }
        Ok(CellResult {
            mse_all: all.0 / f64::from(all.1),
            mse_unobserved: hidden.0 / f64::from(hidden.1.max(1)),
            seconds: begun.elapsed().as_secs_f64(),
            ..self.blank()
        })
    }

    /// What is known before anything is done.
    fn blank(&self) -> CellResult {
        let cell = self.cell;
        CellResult {
            table: cell.table.clone(),
            variant: cell.variant.clone(),
            dataset: cell.dataset,
            method: cell.method.clone(),
            observed: cell.observed,
            seed: self.seed,
            mse_all: f64::NAN,
            mse_unobserved: f64::NAN,
            validation: None,
            best_step: None,
            steps: 0,
            seconds: 0.0,
            cpu_seconds: None,
            threads: rayon::current_num_threads(),
            instructions: InstructionSet::in_use().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.set.hash.clone(),
            training_series: self.set.parts.train.len(),
            parameters: 0,
            trials: Vec::new(),
            asked: cell.settings(self.seed, self.rate),
            settings: None,
            curve: Vec::new(),
        }
    }

    fn trainer(
        &self,
        settings: &CellSettings,
        training: &TrainConfig,
    ) -> Result<Trainer<'_>, Error> {
        let parts = &self.set.parts;
        Trainer::new(&settings.model, training, &parts.train, &parts.validation)
    }

    fn file(&self, ending: &str) -> PathBuf {
        self.work
            .join(format!("{}.{ending}", self.cell.name(self.seed)))
    }

    /// What an earlier run has left, if it was of the same settings and data; otherwise a new beginning.
    fn load(&self, asked: &CellSettings) -> State {
        let text = std::fs::read_to_string(self.file("state")).ok();
        let state: Option<State> = text.and_then(|text| serde_json::from_str(&text).ok());
        let same = |state: &State| {
            state.asked.as_ref() == Some(asked)
                && state.trial_steps == self.cell.trial_steps
                && state.data == self.set.hash
                && state
                    .trials
                    .iter()
                    .zip(self.cell.rates(self.seed))
                    .all(|(trial, rate)| trial.rate == *rate)
        };
        state.filter(same).unwrap_or_else(|| {
            self.clear();
            State {
                asked: Some(asked.clone()),
                trial_steps: self.cell.trial_steps,
                data: self.set.hash.clone(),
                ..State::default()
            }
        })
    }

    fn save(&self, state: &State) -> Result<(), Error> {
        let path = self.file("state");
        let text = serde_json::to_string(state).map_err(Error::other)?;
        cssc::io::write_whole(&path, |file| file.write_all(text.as_bytes()))
            .map_err(Error::writing(&path))
    }

    /// Removes what was kept to go on from.
    pub fn clear(&self) {
        for ending in ["checkpoint", "state"] {
            // What is not there need not be removed.
            let _ = std::fs::remove_file(self.file(ending));
        }
    }
}
