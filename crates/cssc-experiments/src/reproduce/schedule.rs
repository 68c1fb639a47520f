//! Many cells, several side by side: what has its result is not done again, what was begun goes on.

use super::cell::{Cell, CellResult, files};
use super::run::{Run, Standing};
use crate::paper_set::{LoadedSet, PaperSet, SetSize};
use cssc::Error;
use cssc::model::Model;
use cssc::train::Control;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Series of a set and steps of a training in a quick run.
const QUICK: (usize, u64) = (60, 10);

/// Which cells are wanted; what is empty does not restrict.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Data sets.
    pub datasets: Vec<PaperSet>,
    /// Methods.
    pub methods: Vec<String>,
    /// Observed points of 100.
    pub observed: Vec<usize>,
    /// Seeds 0, 1, … below this instead of those that the cells ask for.
    pub seeds: Option<u64>,
}

impl Selection {
    fn wants(&self, cell: &Cell) -> bool {
        (self.datasets.is_empty() || self.datasets.contains(&cell.dataset))
            && (self.methods.is_empty() || self.methods.contains(&cell.method))
            && (self.observed.is_empty() || self.observed.contains(&cell.observed))
    }
}

/// Where things are and how much runs at once.
#[derive(Clone, Debug)]
pub struct Options {
    /// The repository, with `data` and `experiments`.
    pub repository: PathBuf,
    /// Where results go; `experiments/results` unless it is a quick run.
    pub results: PathBuf,
    /// Where checkpoints and models go.
    pub work: PathBuf,
    /// Where the pictures of studies go.
    pub pictures: PathBuf,
    /// Where their numbers go.
    pub measurements: PathBuf,
    /// Cells side by side.
    pub jobs: usize,
    /// Threads of each.
    pub threads: usize,
    /// A smoke test: few series, few steps. Its results are worth nothing.
    pub quick: bool,
}

impl Options {
    /// The places of a real or of a quick run below the repository.
    #[must_use]
    pub fn new(repository: &Path, quick: bool) -> Self {
        let experiments = repository.join("experiments");
        let [results, work, pictures, measurements] = match quick {
            true => ["results", "work", "pictures", "measurements"]
                .map(|name| format!("target/quick-{name}")),
            false => [
                "experiments/results",
                "experiments/work",
                "docs",
                "experiments/measurements",
            ]
            .map(str::to_owned),
        };
        Self {
            repository: experiments.parent().unwrap_or(repository).to_owned(),
            results: repository.join(results),
            work: repository.join(work),
            pictures: repository.join(pictures),
            measurements: repository.join(measurements),
            jobs: 1,
            threads: 1,
            quick,
        }
    }

    /// How much of a cell's set is loaded.
    #[must_use]
    pub fn size(&self, training: Option<usize>) -> SetSize {
        SetSize {
            series: self.series(),
            training,
        }
    }

    /// How many series of a set are used; none: all.
    #[must_use]
    pub fn series(&self) -> Option<usize> {
        self.quick.then_some(QUICK.0)
    }

    /// The steps of a training that should have so many.
    #[must_use]
    pub fn steps(&self, wanted: u64) -> u64 {
        if self.quick {
            wanted.min(QUICK.1)
        } else {
            wanted
        }
    }

    /// A cell as it is trained: shorter in a quick run.
    #[must_use]
    pub fn adapted(&self, mut cell: Cell) -> Cell {
        if self.quick {
            shorten(&mut cell);
        }
        cell
    }
}

/// What a reproduction tells while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// What there is to do: seeds of cells that are wanted, and those that have their result.
    Begin {
        /// All that is wanted.
        wanted: usize,
        /// What is done already.
        done: usize,
    },
    /// A training stands somewhere.
    Step {
        /// The cell's name.
        name: &'a str,
        /// Where it stands.
        standing: Standing,
    },
    /// A result was written.
    Done {
        /// The result.
        result: &'a CellResult,
    },
    /// A cell could not be trained; the others go on.
    Failed {
        /// The cell's name.
        name: &'a str,
        /// Why.
        error: &'a Error,
    },
}

/// One seed of one cell.
struct Task {
    cell: Cell,
    seed: u64,
}

/// Makes all results of `table` (a directory below `experiments`) that are wanted and not there. `watch` stops it.
/// Returns whether everything is done.
///
/// # Errors
/// If a description is wrong, data cannot be had, or a result cannot be written. Trainings that fail are told to `watch`.
pub fn reproduce(
    table: &str,
    selection: &Selection,
    options: &Options,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
) -> Result<bool, Error> {
    let directory = options.repository.join("experiments").join(table);
    for made in [&options.results, &options.work] {
        std::fs::create_dir_all(made).map_err(Error::writing(made))?;
    }
    let mut tasks = Vec::new();
    for path in files(&directory, "toml")? {
        let cell = Cell::read(&path)?;
        if !selection.wants(&cell) {
            continue;
        }
        let cell = options.adapted(cell);
        for seed in 0..selection.seeds.unwrap_or(cell.seeds) {
            tasks.push(Task {
                cell: cell.clone(),
                seed,
            });
        }
    }
    // The first seed of everything before the second of anything, and what gives its learning rate before what takes it.
    tasks.sort_by_key(|task| (task.seed, task.cell.rate_from.is_some()));
    let sets = load(&tasks, options)?;
    let wanted = tasks.len();
    tasks.retain(|task| !has_results(task, &sets[&task.cell.set()], options));
    watch(Event::Begin {
        wanted,
        done: wanted - tasks.len(),
    });
    let all = tasks.len();
    let finished = work_through(tasks, &sets, options, watch)?;
    Ok(finished == all)
}

/// A smoke test of a cell.
fn shorten(cell: &mut Cell) {
    let (_, steps) = QUICK;
    cell.seeds = 1;
    cell.training.steps = steps;
    cell.training.validate_every = steps / 2;
    cell.rates.truncate(1);
    cell.trial_steps = None;
    cell.rate_from = None;
}

/// Sets by what a cell asks of them.
type Sets = BTreeMap<(PaperSet, Option<usize>), LoadedSet>;

fn load(tasks: &[Task], options: &Options) -> Result<Sets, Error> {
    let mut sets = BTreeMap::new();
    for task in tasks {
        let (set, training) = task.cell.set();
        if let Entry::Vacant(place) = sets.entry((set, training)) {
            place.insert(set.load(&options.repository, options.size(training))?);
        }
    }
    Ok(sets)
}

/// The model of a cell's first seed, trained if it is not there. Where its results are there, one training with the
/// learning rate that they tell is enough; otherwise they are made as well.
///
/// # Errors
/// If the training fails or is stopped.
pub fn train_model(
    cell: Cell,
    set: &LoadedSet,
    options: &Options,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
) -> Result<Model, Error> {
    std::fs::create_dir_all(&options.work).map_err(Error::writing(&options.work))?;
    std::fs::create_dir_all(&options.results).map_err(Error::writing(&options.results))?;
    let task = Task { cell, seed: 0 };
    let name = task.cell.name(0);
    let path = options.work.join(format!("{name}.cssc"));
    let known = has_results(&task, set, options);
    if known && path.exists() {
        return Model::load(&path);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
    let pool = pool.build().map_err(Error::other)?;
    let made = match known {
        true => pool.install(|| once_more(&task, set, options, watch))?,
        false => pool.install(|| one(&task, set, options, watch))? == Some(true),
    };
    match made {
        true => Model::load(&path),
        false => Err(Error::Setting(format!(
            "{name}, which is needed here, was not trained to its end"
        ))),
    }
}

/// Trains the model of results that are there. It is kept apart from trials that may be under way.
fn once_more(
    task: &Task,
    set: &LoadedSet,
    options: &Options,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
) -> Result<bool, Error> {
    let result = CellResult::read(&file(task, &task.cell.variant, options))?;
    let chosen = result.settings.map(|settings| settings.training.rate);
    let work = options.work.join("again");
    std::fs::create_dir_all(&work).map_err(Error::writing(&work))?;
    let run = Run {
        cell: &task.cell,
        seed: task.seed,
        rate: rate(task, options)?,
        set,
        work: &work,
    };
    let name = task.cell.name(task.seed);
    let model = run.again(chosen.unwrap_or(task.cell.training.rate), &mut |standing| {
        watch(Event::Step {
            name: &name,
            standing,
        })
    })?;
    if let Some(model) = &model {
        model.save(&options.work.join(format!("{name}.cssc")))?;
    }
    Ok(model.is_some())
}

/// The file of one variant of a task.
fn file(task: &Task, variant: &str, options: &Options) -> PathBuf {
    let name = task.cell.name_of(variant, task.seed);
    options.results.join(format!("{name}.json"))
}

fn has_results(task: &Task, set: &LoadedSet, options: &Options) -> bool {
    task.cell.variants().all(|variant| {
        let result = CellResult::read(&file(task, variant, options));
        let rate = rate(task, options);
        rate.is_ok_and(|rate| {
            result.is_ok_and(|result| result.answers(&task.cell, task.seed, rate, &set.hash))
        })
    })
}

/// The learning rate that another result gives, if one is to.
fn rate(task: &Task, options: &Options) -> Result<Option<f64>, Error> {
    let Some(source) = task.cell.rate_source(task.seed) else {
        return Ok(None);
    };
    let path = options.results.join(format!("{source}.json"));
    if !path.exists() {
        return Err(Error::Setting(format!(
            "its learning rate is that of {source}, which has no result yet; make that first"
        )));
    }
    let settings = CellResult::read(&path)?.settings;
    Ok(settings.map(|settings| settings.training.rate))
}

/// Lets `jobs` threads take tasks in order; how many were finished.
fn work_through(
    tasks: Vec<Task>,
    sets: &Sets,
    options: &Options,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
) -> Result<usize, Error> {
    let queue = Mutex::new((tasks.into_iter(), 0, Ok(())));
    let work = || -> Result<(), Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
        let pool = pool.build().map_err(Error::other)?;
        loop {
            let next = locked(&queue, |queue| queue.0.next());
            let Some(task) = next else { return Ok(()) };
            let finished = pool.install(|| one(&task, &sets[&task.cell.set()], options, watch))?;
            locked(&queue, |queue| {
                queue.1 += usize::from(finished == Some(true))
            });
            if finished.is_none() {
                return Ok(());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                if let Err(error) = work() {
                    locked(&queue, |queue| queue.2 = Err(error));
                }
            });
        }
    });
    let (_, finished, outcome) = queue
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    outcome.map(|()| finished)
}

fn locked<T, R>(shared: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    let mut held = shared
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    work(&mut held)
}

/// `Some(true)`: it has its result; `Some(false)`: it failed; none: it was stopped.
fn one(
    task: &Task,
    set: &LoadedSet,
    options: &Options,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
) -> Result<Option<bool>, Error> {
    let name = task.cell.name(task.seed);
    let rate = match rate(task, options) {
        Ok(rate) => rate,
        Err(error) => {
            let (name, error) = (&name, &error);
            watch(Event::Failed { name, error });
            return Ok(Some(false));
        }
    };
    let run = Run {
        cell: &task.cell,
        seed: task.seed,
        rate,
        set,
        work: &options.work,
    };
    let made = run.results(&mut |standing| {
        watch(Event::Step {
            name: &name,
            standing,
        })
    });
    match made {
        Ok(Some(results)) => {
            for result in &results {
                result.write(&file(task, &result.variant, options))?;
            }
            run.clear();
            watch(Event::Done {
                result: &results[0],
            });
            Ok(Some(true))
        }
        Ok(None) => Ok(None),
        Err(error) => {
            watch(Event::Failed {
                name: &name,
                error: &error,
            });
            Ok(Some(false))
        }
    }
}
