//! Fitting a plain spline to points, some of which may be missing in some channels.

use super::moments::MomentSystem;
use super::pieces::{PiecewiseCubic, shift};
use super::{SharedKnots, SplineKind};
use super::{makima, pchip};
use crate::error::{Error, check_knots, check_length};
use crate::numeric::lanes::{Lanes, Pack, for_each_pack};
use crate::numeric::real::Real;
use crate::path::Path;

impl PiecewiseCubic {
    /// The spline of the given kind through `values`, a time-major block `[times, channels]`
    /// in which NaN means missing; each channel runs through its own observed points, and
    /// before its first and after its last one its end pieces are extended.
    ///
    /// ```
    /// use cssc::{SplineKind, Path, PiecewiseCubic, Side};
    /// let missing = f64::NAN;
    /// // two channels at times 0, 1, 2, 3; the second one lacks its value at 1
    /// let values = [0.0, 0.0, 1.0, missing, 0.0, 4.0, -1.0, 6.0];
    /// let spline = PiecewiseCubic::fit(&[0.0, 1.0, 2.0, 3.0], 2, &values, SplineKind::Linear)?;
    /// assert_eq!(spline.sample(&[0.5, 1.0], Side::Right)?.value, [0.5, 1.0, 1.0, 2.0]);
    /// # Ok::<(), cssc::Error>(())
    /// ```
    ///
    /// # Errors
    /// If times do not strictly increase, lengths do not fit, a value is infinite, or a
    /// channel has no value at all.
    pub fn fit<T: Real>(
        times: &[f64],
        channels: usize,
        values: &[T],
        kind: SplineKind,
    ) -> Result<Self, Error> {
        check_knots(times)?;
        if channels == 0 {
            return Err(Error::NoChannels);
        }
        check_length(
            "values",
            values.len(),
            times.len() * channels,
            "times x channels",
        )?;
        let observed = observed(times, channels, values)?;
        let mut shared = SharedKnots::default();
        shared.prepare(channels, observed.as_deref());
        let mut fitted = PiecewiseCubic::default();
        fitted.prepare(times, channels);
        for group in shared.groups() {
            let points: Vec<usize> = match &observed {
                None => (0..times.len()).collect(),
                Some(mask) => (0..times.len())
                    .filter(|k| mask[k * channels + group[0]])
                    .collect(),
            };
            if points.is_empty() {
                let (knots, start, end) = (times.len(), times[0], times[times.len() - 1]);
                return Err(Error::EmptyChannel {
                    channel: group[0],
                    knots,
                    start,
                    end,
                });
            }
            fit_group(times, &points, group, values, kind, &mut fitted);
        }
        Ok(fitted)
    }
}

/// Which values are there, or `None` if all are.
fn observed<T: Real>(
    times: &[f64],
    channels: usize,
    values: &[T],
) -> Result<Option<Vec<bool>>, Error> {
    let is_missing = |value: &T| value.to_f64().is_nan();
    if let Some(at) = values.iter().position(|value| value.to_f64().is_infinite()) {
        let (index, channel) = (at / channels, at % channels);
        let value = values[at].to_f64();
        return Err(Error::ValueNotFinite {
            channel,
            index,
            time: times[index],
            value,
        });
    }
    let any_missing = values.iter().any(is_missing);
    Ok(any_missing.then(|| values.iter().map(|value| !is_missing(value)).collect()))
}

/// Fits the channels of one group, which are all observed at `points`.
fn fit_group<T: Real>(
    times: &[f64],
    points: &[usize],
    group: &[usize],
    values: &[T],
    kind: SplineKind,
    into: &mut PiecewiseCubic,
) {
    let curved = matches!(
        kind,
        SplineKind::Natural | SplineKind::NotAKnot | SplineKind::Clamped { .. }
    );
    if points.len() == 1 {
        for_each_pack!(group, into.channels(), lanes => constant(points, &lanes, values, into));
    } else if curved {
        let system = MomentSystem::new(times, points, kind);
        for_each_pack!(group, into.channels(), lanes => system.solve(points, &lanes, values, into));
    } else {
        for &channel in group {
            from_slopes(times, points, channel, values, kind, into);
        }
    }
    if points.len() < times.len() {
        for_each_pack!(group, into.channels(), lanes => re_expand(times, points, &lanes, into));
    }
}

fn constant<const W: usize, T: Real>(
    points: &[usize],
    lanes: &Lanes<W>,
    values: &[T],
    into: &mut PiecewiseCubic,
) {
    let value = lanes.gather(values, points[0]);
    let piece = points[0].min(into.pieces() - 1);
    into.rows_mut()
        .store(piece, lanes, [value, Pack::ZERO, Pack::ZERO, Pack::ZERO]);
}

/// Linear, modified Akima and monotone pieces: on each gap the cubic with given values and slopes.
fn from_slopes<T: Real>(
    times: &[f64],
    points: &[usize],
    channel: usize,
    values: &[T],
    kind: SplineKind,
    into: &mut PiecewiseCubic,
) {
    let lanes = Lanes::<1>::new(channel, into.channels());
    let gaps: Vec<f64> = points
        .windows(2)
        .map(|pair| times[pair[1]] - times[pair[0]])
        .collect();
    let channels = into.channels();
    let column: Vec<f64> = points
        .iter()
        .map(|k| values[k * channels + channel].to_f64())
        .collect();
    let slopes = match kind {
        SplineKind::Makima => Some(makima::slopes(&gaps, &column)),
        SplineKind::Pchip => Some(pchip::slopes(&gaps, &column)),
        _ => None,
    };
    for (i, &gap) in gaps.iter().enumerate() {
        let chord = (column[i + 1] - column[i]) / gap;
        let [left, right] = slopes
            .as_ref()
            .map_or([chord; 2], |slope| [slope[i], slope[i + 1]]);
        let excess = (left + right - 2.0 * chord) / gap;
        let cubic = [column[i], left, (chord - left) / gap - excess, excess / gap];
        into.rows_mut()
            .store(points[i], &lanes, cubic.map(|a| Pack([a])));
    }
}

/// Fills the pieces between a channel's own points, and beyond its first and last one, with
/// its cubics re-expanded about the common knots.
fn re_expand<const W: usize>(
    times: &[f64],
    points: &[usize],
    lanes: &Lanes<W>,
    into: &mut PiecewiseCubic,
) {
    let pieces = into.pieces();
    // With a single point its constant sits at the last piece if the point is the last knot.
    let source = points[0].min(pieces - 1);
    let first = into.rows_mut().load(source, lanes);
    for k in 0..source {
        into.rows_mut()
            .store(k, lanes, shift(first, times[k] - times[points[0]]));
    }
    let mut cubic = first;
    let mut own = points.iter().skip(1).peekable();
    let end = points[points.len() - 1];
    for k in source + 1..pieces {
        if own.peek() == Some(&&k) && k < end {
            own.next();
            cubic = into.rows_mut().load(k, lanes);
        } else {
            cubic = shift(cubic, times[k] - times[k - 1]);
            into.rows_mut().store(k, lanes, cubic);
        }
    }
}
