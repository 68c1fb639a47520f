use crate::failure::{Failure, failure_from};
use crate::signals;
use cssc::train::Control;
use cssc_experiments::PaperSet;
use cssc_experiments::reproduce::schedule::Event;
use cssc_experiments::reproduce::{Options, Progress, Selection, reproduce};
use cssc_experiments::studies::{self, carry_out};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

/// Make the numbers of the paper's tables, cell by cell, its figures, and what they leave open
///
/// Every cell is described by a file in experiments/TABLE and gives one result in experiments/results for each seed. What
/// has its result is not trained again unless its settings changed; what was stopped goes on where it was. Figures, theory
/// (the error bound, appendix C.3) and limits (noise, long gaps, jumps, ...) use the tables' models and train those that are
/// not there; they go to docs and experiments/measurements.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc reproduce table1\n  cssc reproduce table1 --dataset toy --method cssc,latent-cssc \
                  --observed 30 --jobs 2\n  cssc reproduce table1 --quick"
)]
pub(crate) struct Arguments {
    /// table1 to table4, or figures, theory or limits, or one of those: figure1, error-bound, limit-noise, ...
    #[arg(value_name = "WHAT", value_parser = studies::known)]
    what: String,

    /// Only these data sets: toy, hopper, moving-mnist
    #[arg(long, value_delimiter = ',', value_name = "SET,...", value_parser = dataset)]
    dataset: Vec<PaperSet>,

    /// Only these methods
    #[arg(long, value_delimiter = ',', value_name = "METHOD,...")]
    method: Vec<String>,

    /// Only these numbers of observed points of 100
    #[arg(long, value_delimiter = ',', value_name = "PERCENT,...")]
    observed: Vec<usize>,

    /// So many seeds of every cell, instead of what its file says
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,

    /// Cells side by side
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// Threads of each cell
    #[arg(long, value_name = "N", default_value_t = 1)]
    cell_threads: usize,

    /// A smoke test in two minutes: few series, few steps, results under target/ that are worth nothing
    #[arg(long)]
    quick: bool,

    /// The repository, with data and experiments
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    repository: PathBuf,
}

fn dataset(text: &str) -> Result<PaperSet, String> {
    PaperSet::named(text).ok_or_else(|| "give toy, hopper or moving-mnist".to_owned())
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        signals::listen();
        let selection = Selection {
            datasets: self.dataset,
            methods: self.method,
            observed: self.observed,
            seeds: self.seeds,
        };
        let options = Options {
            jobs: self.jobs,
            threads: self.cell_threads,
            ..Options::new(&self.repository, self.quick)
        };
        let progress = Mutex::new(Progress::default());
        let watch = |event: Event<'_>| {
            let told = progress.lock().map(|mut progress| progress.tell(&event));
            if let Some(line) = told.ok().flatten() {
                // Nobody is left to tell when standard error is closed.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            match signals::stopped_by() {
                Some(_) => Control::Stop,
                None => Control::Continue,
            }
        };
        let tell = |line: &str| {
            let _ = writeln!(std::io::stderr(), "{line}");
        };
        let done = match &studies::named(&self.what)[..] {
            [] => reproduce(&self.what, &selection, &options, &watch),
            some => carry_out(some, &options, &watch, &tell).map(|()| true),
        };
        if signals::stopped_by().is_some() {
            return Err(Failure::new(
                "stopped; the same command goes on where it was.",
            ));
        }
        match done.map_err(|error| failure_from(&error))? {
            true => Ok(()),
            false => Err(Failure::new("some cells could not be trained; see above.")),
        }
    }
}
