//! The paper's data sets and the workloads that the engine is measured on.
//!
//! | module | holds |
//! |---|---|
//! | [`generate`] | the paper's three kinds of data, made from a seed |
//! | [`toy_v1`] | the frozen toy set |
//! | [`paper_set`] | the sets as the tables use them: training, validation, what is seen of each test series |
//! | [`reproduce`] | the paper's tables, cell by cell |
//! | [`studies`] | its figures, its theory, and where the method fails |
//! | [`results`] | all of it beside the paper's numbers, as one document |
//! | [`workload`] | what `cssc bench` times |
//!
//! The programs under `examples` train on these sets and on the tables of the repository. Nothing here is needed to fill a
//! table, and nothing here promises to stay as it is.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod generate;
pub mod paper_set;
pub mod reproduce;
pub mod results;
pub mod studies;
pub mod toy_v1;
pub mod workload;

pub use paper_set::{LoadedSet, PaperSet, SetSize};
pub use toy_v1::ToyV1;
