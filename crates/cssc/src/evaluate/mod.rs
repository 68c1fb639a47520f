//! How well methods find values that are hidden from them.
//!
//! ```text
//! data ──> gaps ──> hold-out ──> answers ──> scores ──> choice
//!          where    hide what    of every    errors,    for every
//!          is it    is known,    candidate   bands      channel
//!          missing  like gaps
//! ```
//!
//! | file | |
//! |---|---|
//! | `interpolator` | the trait of everything that gives curves |
//! | `gap` | stretches in which something is missing |
//! | `hold_out`, `hide` | hides known values in the pattern of the real gaps |
//! | `bounds` | smallest and largest values, integers |
//! | `score` | errors in standard deviations |
//! | `combine`, `simplex`, `believe`, `follow` | weights for all methods instead of a choice of one |
//! | `spread`, `bands`, `normal` | how sure a value is, calibrated on what was hidden |
//! | `judge`, `compare` | one candidate, and all of them side by side: [`evaluate()`] |
//!
//! A method of your own is compared with the ones that are built in:
//!
//! ```
//! use cssc::data::{Dataset, Series};
//! use cssc::evaluate::{Curve, EvaluateOptions, Interpolator, evaluate};
//! use cssc::fill::Method;
//! use std::sync::Arc;
//!
//! /// The nearer of the two values around a gap.
//! #[derive(Debug)]
//! struct Nearest;
//!
//! impl Interpolator for Nearest {
//!     fn name(&self) -> &str {
//!         "nearest"
//!     }
//!
//!     fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, cssc::Error> {
//!         Curve::by_channel(series, channels, times, |knots, values| {
//!             let nearest = |time: &f64| {
//!                 let distance = |k: &usize| (knots[*k] - time).abs();
//!                 let best = (0..knots.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
//!                 best.map_or(f64::NAN, |k| values[k])
//!             };
//!             Ok(times.iter().map(nearest).collect())
//!         })
//!     }
//! }
//!
//! let times: Vec<f64> = (0..100).map(f64::from).collect();
//! let wave = times.iter().map(|t| (0.3 * t).sin()).collect();
//! let data = Dataset::new(vec!["wave".into()], vec![Series::new(None, 1, times, wave)?])?;
//! let linear = Method::named("linear")?.plain().expect("it needs no training");
//! let found = evaluate(&[linear, Arc::new(Nearest)], &data, &EvaluateOptions::default())?;
//! assert!(found.methods[0].all.mse < found.methods[1].all.mse);
//! assert_eq!(found.chosen, [0]);
//! # Ok::<(), cssc::Error>(())
//! ```

mod bands;
mod believe;
mod bounds;
mod combine;
mod compare;
mod follow;
mod gap;
mod hide;
mod hold_out;
mod interpolator;
mod judge;
mod normal;
mod score;
mod simplex;
mod spread;

pub(crate) use bands::observation_std_devs;
pub use bands::{BandCalibration, Coverage, Reliability};
pub use bounds::{Bound, Bounds};
pub(crate) use combine::length_edges;
pub use combine::{Combination, Criterion, Roles};

pub use compare::{
    ChannelScore, EvaluateOptions, Evaluation, Judging, LengthScore, MethodScore, evaluate,
};
pub(crate) use gap::is_within;
pub use gap::{ChannelGaps, Gap, Gaps};
pub use hold_out::{Answers, Hidden, HoldOut, HoldOutOptions, Pattern};
pub(crate) use interpolator::set_column;
pub use interpolator::{Curve, Interpolator, curve_within};
pub(crate) use normal::normal_factor;
pub use score::{Score, std_devs};
pub(crate) use score::{believed, slope};
pub use spread::Spread;
pub(crate) use spread::part_of_others;
