//! The paper's tables, cell by cell.
//!
//! ```text
//! experiments/table1/*.toml ──> Cell ──> Runner: trials of rates, training with checkpoints ──> CellResult
//!                                                                                                 │
//! docs/results.md <── render <── published numbers beside ours <── experiments/results/*.json <───┘
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`cell`] | how a number is made, and what came out |
//! | [`run`] | one seed of one cell: trials, training, test; goes on where it was |
//! | [`schedule`] | many cells side by side; what is done is not done again |
//! | [`progress`] | what people see meanwhile |
//! | [`published`] | the paper's numbers |
//! | [`render`] | tables as Markdown and HTML |

pub mod cell;
pub mod progress;
pub mod published;
pub mod render;
pub mod run;
pub mod schedule;

pub use cell::{Cell, CellResult, CellSettings};
pub use progress::Progress;
pub use render::Results;
pub use schedule::{Options, Selection, reproduce};
