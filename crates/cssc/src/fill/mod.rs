//! From series with gaps to filled series that can be trusted.
//!
//! ```text
//! gaps ──> hold-out ──> training ──> comparison ──> fill
//! where    hide what    on what is   every method   the best one,
//! is it    is known,    left         on what was    inside limits,
//! missing  like gaps                 hidden         with bands
//! ```
//!
//! | file | |
//! |---|---|
//! | `gap` | stretches in which something is missing |
//! | `hold_out` | hides known values in the pattern of the real gaps |
//! | `method` | the methods by name |
//! | `interpolator` | a method, ready to give curves |
//! | `windows`, `learn` | from long series to a trained model |
//! | `compare` | scores on what was hidden, and the choice for every channel |
//! | `bands` | how sure a value is, calibrated on what was hidden |
//! | `bounds` | smallest and largest values, integers |
//! | `steps` | channels that move in steps, where no smooth curve can help |
//! | `auto` | all of it: the choice of the method by evidence |
//! | `filler` | fills a series |

mod auto;
mod bands;
mod bounds;
mod compare;
mod filler;
mod gap;
mod hold_out;
mod interpolator;
mod learn;
mod method;
mod steps;
mod windows;

pub use auto::{AutoOptions, Choice, Trained, choose};
pub use bands::{BandCalibration, Coverage};
pub use bounds::Bounds;
pub use compare::{Comparison, MethodScore, Score, predict_hidden, std_devs};
pub use filler::{Answer, Asked, Filler};
pub use gap::{Gap, gaps, typical_gap};
pub use hold_out::{Hidden, HoldOut, HoldOutOptions, Pattern};
pub use interpolator::{Curve, Interpolator, hidden_std_devs};
pub use learn::{LearnOptions, Learning, learn};
pub use method::Method;
pub use steps::{Steps, find_steps};
pub use windows::{Windows, cut};
