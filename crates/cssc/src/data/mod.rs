//! Time series with gaps: what they are, how they are split and scaled.
//!
//! | file | holds |
//! |---|---|
//! | [`series`] | one series: times, values, what is missing |
//! | [`dataset`] | many series with the same channels |
//! | [`split`] | which series train, validate and test |
//! | [`scale`] | values and times brought to a range a model likes, and back |
pub mod dataset;
pub mod error;
#[cfg(any(feature = "nn", feature = "tables"))]
pub mod random;
pub mod scale;
pub mod series;
pub mod split;

pub use dataset::Dataset;
pub use error::DataError;
#[cfg(any(feature = "nn", feature = "tables"))]
pub use random::Random;
pub use scale::{Scaler, TimeScaling, ValueScaling};
pub use series::Series;
pub use split::{Parts, Split};
