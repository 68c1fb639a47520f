//! The methods by name.

use crate::SplineKind;
use std::fmt;
use std::str::FromStr;

/// A way to fill gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// The value before the gap.
    Previous,
    /// Straight lines.
    Linear,
    /// Modified Akima: local cubics with little overshoot.
    Makima,
    /// The natural cubic spline.
    Natural,
    /// The cubic smoothing spline: near the values, not through them; for noisy data.
    Smoothing,
    /// A trained model with the compensation of its output.
    Cssc,
    /// A trained model with the compensation of its state.
    HiddenCssc,
    /// A trained model with the noise-aware compensation: near the values, not through them.
    SmoothCssc,
}

impl Method {
    /// All methods, the simpler first.
    pub const ALL: [Self; 8] = [
        Self::Previous,
        Self::Linear,
        Self::Makima,
        Self::Natural,
        Self::Smoothing,
        Self::Cssc,
        Self::HiddenCssc,
        Self::SmoothCssc,
    ];

    /// Whether a model must be trained for it.
    #[must_use]
    pub fn is_trained(self) -> bool {
        matches!(self, Self::Cssc | Self::HiddenCssc | Self::SmoothCssc)
    }

    /// The plain interpolator it is, if it is one.
    #[must_use]
    pub fn kind(self) -> Option<SplineKind> {
        match self {
            Self::Linear => Some(SplineKind::Linear),
            Self::Makima => Some(SplineKind::Makima),
            Self::Natural => Some(SplineKind::Natural),
            _ => None,
        }
    }

    /// Its name, as it is given on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Previous => "previous",
            Self::Linear => "linear",
            Self::Makima => "makima",
            Self::Natural => "natural",
            Self::Smoothing => "smoothing",
            Self::Cssc => "cssc",
            Self::HiddenCssc => "hidden-cssc",
            Self::SmoothCssc => "smooth-cssc",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no method `{name}`; the methods are {names}")
        })
    }
}
