//! The commands, in the order of the data flow. To add one, write its file and add it to the two lists below.

mod bench;
mod compensate;
mod fill;
mod generate;
mod spline;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Fill(Box<fill::Arguments>),
    Generate(generate::Arguments),
    Compensate(compensate::Arguments),
    Spline(spline::Arguments),
    Bench(bench::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Fill(arguments) => arguments.run(),
            Self::Generate(arguments) => arguments.run(),
            Self::Compensate(arguments) => arguments.run(),
            Self::Spline(arguments) => arguments.run(),
            Self::Bench(arguments) => arguments.run(),
        }
    }
}
