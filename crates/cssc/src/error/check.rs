//! Checks shared by everything that takes times and blocks of values.

use super::Error;

/// Checks that an input has the length it must have.
pub(crate) fn check_length(
    what: &'static str,
    found: usize,
    expected: usize,
    reason: &'static str,
) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch {
        what,
        found,
        expected,
        reason,
    })
}

/// Checks that knots are finite and strictly increase, and that there is at least one.
pub(crate) fn check_knots(times: &[f64]) -> Result<(), Error> {
    if times.is_empty() {
        return Err(Error::NoKnots);
    }
    // NaN fails the comparison, so one pass over neighbours and a look at both ends see all.
    let increasing = times.windows(2).all(|pair| pair[0] < pair[1]);
    if increasing && times[0].is_finite() && times[times.len() - 1].is_finite() {
        return Ok(());
    }
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Error::TimeNotFinite {
                what: "times",
                index,
                time,
            });
        }
        if index > 0 && time <= times[index - 1] {
            return Err(Error::KnotsNotIncreasing {
                index,
                time,
                previous: times[index - 1],
            });
        }
    }
    Ok(())
}

/// Checks that query times are finite and do not decrease.
pub(crate) fn check_query(times: &[f64]) -> Result<(), Error> {
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Error::TimeNotFinite {
                what: "query",
                index,
                time,
            });
        }
        if index > 0 && time < times[index - 1] {
            return Err(Error::QueryNotSorted {
                index,
                time,
                previous: times[index - 1],
            });
        }
    }
    Ok(())
}
