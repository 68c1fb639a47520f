//! What the tests share: random problems, an independent solution of the defining constraints,
//! and the one check "is this a correct compensation?".
#![allow(dead_code, unreachable_pub)] // each test file uses its own part
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // tests may; knots are numbers here

pub mod check;
pub mod dense;
#[cfg(feature = "nn")]
pub mod models;
pub mod problem;
pub mod random;
pub mod smoothing;
#[cfg(feature = "nn")]
pub mod systems;
