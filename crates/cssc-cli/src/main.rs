//! The command line of cssc: one file a command in `commands/`, no mathematics of its own.
//!
//! Results go to standard output or to `--output`, everything else to standard error. Exit code 0: done;
//! 1: a check failed; 2: the command could not run; 130, 143: it was stopped by a signal.

mod commands;
mod destination;
mod failure;
mod filling;
mod outputs;
mod picture;
mod reading;
mod settings;
mod signals;
mod times;
mod watching;

use clap::Parser;
use cssc::nn::InstructionSet;
use failure::{Failure, failure_from};
use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Smooth, trainable interpolation of time series with gaps
///
/// Results go to standard output (or to --output), everything else to standard error. Exit code 0: done;
/// 1: a check failed; 2: the command could not run; 128 and the signal's number: it was stopped. A file name of - means standard input.
#[derive(Debug, Parser)]
#[command(name = "cssc", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,

    /// Threads to work with; otherwise as many as there are processors. Results do not depend on it
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Damaged files can make their readers panic; that is told as an error, not as a crash.
fn quiet_where_panics_are_errors() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !cssc::data::table::panics_are_errors() {
            usual(panic);
        }
    }));
}

fn main() -> ExitCode {
    quiet_where_panics_are_errors();
    let arguments = Arguments::parse();
    signals::handle();
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global()
            .expect("nothing has used the pool so far");
    }
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn run(command: commands::Command) -> Result<(), Failure> {
    InstructionSet::asked_for().map_err(|error| failure_from(&error))?;
    command.run()
}
