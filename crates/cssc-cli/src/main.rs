//! The command line of cssc: one file a command in `commands/`, no mathematics of its own.
//!
//! Results go to standard output or to `--output`, everything else to standard error. Exit code 0: done;
//! 1: a check failed; 2: the command could not run.

mod commands;
mod destination;
mod failure;
mod filling;
mod picture;
mod prediction;
mod query;
mod reading;
mod report;
mod settings;
mod source;
mod span;
mod summary;
mod table;
mod watching;
mod workload;

use clap::Parser;
use cssc::nn::InstructionSet;
use failure::{Failure, said};
use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Smooth, trainable interpolation of time series with gaps
///
/// Results go to standard output (or to --output), everything else to standard error. Exit code 0: done;
/// 1: a check failed; 2: the command could not run. A file name of - means standard input.
#[derive(Debug, Parser)]
#[command(name = "cssc", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(command: commands::Command) -> Result<(), Failure> {
    InstructionSet::asked_for().map_err(|error| said(&error))?;
    command.run()
}
