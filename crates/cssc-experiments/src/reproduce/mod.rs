//! The paper's tables, cell by cell.
//!
//! ```text
//! experiments/table1/*.toml ──> Cell ──> Runner: trials of rates, training with checkpoints ──> CellResult
//!                                                                                                 │
//! docs/results.md <── results <── published numbers beside ours <── experiments/results/*.json <───┘
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`cell`] | how a number is made, and what came out |
//! | [`run`] | one seed of one cell: trials, training, test; goes on where it was |
//! | [`schedule`] | many cells side by side; what is done is not done again |
//! | [`progress`] | what people see meanwhile |

pub mod cell;
pub mod progress;
pub mod run;
pub mod schedule;

pub use cell::{Cell, CellResult, CellSettings};
pub use progress::Progress;
pub use schedule::{Options, Selection, reproduce};
