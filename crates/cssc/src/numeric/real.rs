//! The two number types accepted at the border: `f32` (training) and `f64` (everything else).
//!
//! Inside, all arithmetic on times, splines and limits is `f64`.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A floating-point number a caller may hand in or take out: `f32` or `f64`.
pub trait Real: sealed::Sealed + Copy + Debug + Default + Send + Sync + 'static {
    /// The number as `f64`, which holds every `f32` exactly.
    fn to_f64(self) -> f64;
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
}

impl Real for f32 {
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // rounding to the border type is the purpose
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }
}
