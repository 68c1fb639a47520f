//! Checks of settings that many models have; every message names the setting, what it is and what
//! it may be.

use super::compensated::{Compensation, CompensationSettings};

const LARGEST: usize = 1 << 20;

/// Positive numbers of a model are of a usual size: a step of 1e-300 would walk forever.
const SMALLEST_NUMBER: f64 = 1e-9;
const LARGEST_NUMBER: f64 = 1e9;

/// Sizes of at least 1.
pub(crate) fn sizes(all: &[(&str, usize)]) -> Result<(), String> {
    match all.iter().find(|(_, size)| *size == 0 || *size > LARGEST) {
        Some((name, size)) => Err(format!(
            "`{name}` is {size}; give a number from 1 to {LARGEST}"
        )),
        None => Ok(()),
    }
}

/// Widths of hidden layers.
pub(crate) fn layers(all: &[(&str, &[usize])]) -> Result<(), String> {
    let wrong = |widths: &[usize]| {
        widths.iter().any(|&width| width == 0 || width > LARGEST) || widths.len() > 64
    };
    match all.iter().find(|(_, widths)| wrong(widths)) {
        Some((name, widths)) => Err(format!(
            "`{name}` is {widths:?}; give at most 64 widths of at least 1"
        )),
        None => Ok(()),
    }
}

/// Numbers above 0.
pub(crate) fn positive(all: &[(&str, f64)]) -> Result<(), String> {
    let usual = SMALLEST_NUMBER..=LARGEST_NUMBER;
    match all.iter().find(|(_, value)| !usual.contains(value)) {
        Some((name, value)) => Err(format!(
            "`{name}` is {value:?}; give a positive number, from {SMALLEST_NUMBER:e} to {LARGEST_NUMBER:e}"
        )),
        None => Ok(()),
    }
}

/// Numbers that are 0 or above.
pub(crate) fn not_negative(all: &[(&str, f64)]) -> Result<(), String> {
    let usual = 0.0..=LARGEST_NUMBER;
    match all.iter().find(|(_, value)| !usual.contains(value)) {
        Some((name, value)) => Err(format!(
            "`{name}` is {value:?}; give 0 or a positive number up to {LARGEST_NUMBER:e}"
        )),
        None => Ok(()),
    }
}

/// The compensation of a model that can compensate its output only.
pub(crate) fn output_only(model: &str, settings: &CompensationSettings) -> Result<(), String> {
    if settings.compensation == Compensation::Hidden {
        return Err(format!(
            "`compensation` is \"hidden\", and {model} has no state that follows a smooth path; \
             give \"output\" or \"none\""
        ));
    }
    not_negative(&[("compensation-weight", settings.weight)])
}
