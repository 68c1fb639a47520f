//! Time series with gaps: what they are, how they are split and scaled.
//!
//! | file | holds |
//! |---|---|
//! | [`series`] | one series: times, values, what is missing |
//! | [`dataset`] | many series with the same channels |
//! | [`filled`] | a series with its gaps filled |
//! | `names` | many names in one line |
//! | [`span`] | lengths of time as people write them |
//! | [`split`] | which series train, validate and test |
//! | [`scale`] | values and times brought to a range a model likes, and back |
//! | [`random`] | the seeded source of chance (`nn` or `tables`) |
//! | [`npz`] | NumPy archives (`tables`) |
//! | [`table`] | people's own tables, read and written (`tables`) |
pub mod dataset;
pub mod filled;
mod names;
#[cfg(feature = "tables")]
pub mod npz;
#[cfg(any(feature = "nn", feature = "tables"))]
pub mod random;
pub mod scale;
pub mod series;
pub mod span;
pub mod split;
#[cfg(feature = "tables")]
pub mod table;

pub use dataset::Dataset;
pub use filled::Filled;
pub use names::listed;
#[cfg(any(feature = "nn", feature = "tables"))]
pub use random::Random;
pub use scale::{Scaler, TimeScaling, ValueScaling};
pub use series::Series;
pub use span::Span;
pub use split::{Parts, Split};
