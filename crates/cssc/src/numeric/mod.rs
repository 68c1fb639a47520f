//! What all arithmetic stands on: number types, vectors of channels, work in two halves.

pub(crate) mod lanes;
pub(crate) mod parallel;
pub(crate) mod real;
pub(crate) mod side;
pub(crate) mod vector;
