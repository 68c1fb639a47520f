//! Fixed-step solvers of h' = f(h) and the smooth curve between their steps.

mod dense;
mod step;
mod tableau;

pub use dense::{HermiteFactors, hermite};
pub use step::{Step, advance};
pub use tableau::{Solver, Tableau};
