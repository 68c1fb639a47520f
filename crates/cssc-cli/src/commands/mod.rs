//! The commands, in the order of the data flow. To add one, write its file and add it to the two lists below.
//! `generate`, `bench`, `reproduce` and `report` come with the feature `experiments`.

#[cfg(feature = "experiments")]
mod bench;
mod compensate;
mod completions;
mod evaluate;
mod fill;
#[cfg(feature = "experiments")]
mod generate;
mod info;
mod interpolate;
mod manual;
#[cfg(feature = "experiments")]
mod report;
#[cfg(feature = "experiments")]
mod reproduce;
mod spline;
mod train;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Fill(Box<fill::Arguments>),
    Train(Box<train::Arguments>),
    Interpolate(Box<interpolate::Arguments>),
    Evaluate(Box<evaluate::Arguments>),
    Info(info::Arguments),
    #[cfg(feature = "experiments")]
    Generate(generate::Arguments),
    Compensate(compensate::Arguments),
    Spline(Box<spline::Arguments>),
    #[cfg(feature = "experiments")]
    Bench(bench::Arguments),
    #[cfg(feature = "experiments")]
    Reproduce(reproduce::Arguments),
    #[cfg(feature = "experiments")]
    Report(report::Arguments),
    Manual(manual::Arguments),
    Completions(completions::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Fill(arguments) => arguments.run(),
            Self::Train(arguments) => arguments.run(),
            Self::Interpolate(arguments) => arguments.run(),
            Self::Evaluate(arguments) => arguments.run(),
            Self::Info(arguments) => arguments.run(),
            #[cfg(feature = "experiments")]
            Self::Generate(arguments) => arguments.run(),
            Self::Compensate(arguments) => arguments.run(),
            Self::Spline(arguments) => arguments.run(),
            #[cfg(feature = "experiments")]
            Self::Bench(arguments) => arguments.run(),
            #[cfg(feature = "experiments")]
            Self::Reproduce(arguments) => arguments.run(),
            #[cfg(feature = "experiments")]
            Self::Report(arguments) => arguments.run(),
            Self::Manual(arguments) => arguments.run(),
            Self::Completions(arguments) => arguments.run(),
        }
    }
}
