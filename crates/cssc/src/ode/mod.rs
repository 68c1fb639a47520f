//! h' = f(h): fields, fixed-step solvers, the steps of a batch, and the smooth curve between.
//!
//! - A [`Field`] says h' = f(h); a [`SmoothField`] also h'' = (∂f/∂h) f. Networks are both, and
//!   anything composed from the engine's operations can be.
//! - A solver is a [`Tableau`]; [`advance`] makes one step of a batch with it.
//! - A [`Schedule`] says which steps: each series goes through its own times.
//! - [`hermite`] joins the steps to a C² curve.

mod dense;
mod field;
mod schedule;
mod step;
mod tableau;

pub use dense::{HermiteFactors, hermite};
pub use field::{Field, SmoothField};
pub use schedule::{Item, Place, Row, Schedule, Stepping, Stop};
pub use step::{advance, advance_from, advance_with_error};
pub use tableau::{Embedded, Solver, Tableau};
