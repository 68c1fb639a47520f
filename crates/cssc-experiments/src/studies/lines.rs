//! Curves of models as lines of a picture: the prediction with its jumps, the smooth curve, and the hidden state.

use cssc::data::Series;
use cssc::model::{Compensation, Model, Observed};
use cssc::nn::{Graph, Memory};
use cssc::{Error, Path, Side, compensate};

/// Points of a line.
pub type Line = Vec<(f64, f64)>;

/// Points of a line on every interval.
const POINTS: usize = 40;
/// How close to a knot its left limit is read, as a part of the interval before it.
const LEFT: f64 = 1e-9;

/// Times along the whole series; just before every knot and at it, so that a jump is a vertical line.
#[must_use]
pub fn times(knots: &[f64]) -> Vec<f64> {
    let mut times = Vec::with_capacity(knots.len() * (POINTS + 1));
    for pair in knots.windows(2) {
        let length = pair[1] - pair[0];
        times.extend((0..POINTS).map(|i| pair[0] + length * i as f64 / POINTS as f64));
        times.push(pair[1] - LEFT * length);
    }
    times.extend(knots.last());
    times
}

/// One channel of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// o, with its jumps.
    pub predicted: Line,
    /// c.
    pub compensation: Line,
    /// ô; o where nothing is compensated.
    pub smoothed: Line,
}

/// The curves of one channel of a series.
///
/// # Errors
/// If the model cannot be applied to it.
pub fn curves(model: &Model, series: &Series, channel: usize) -> Result<Curves, Error> {
    let times = times(series.times());
    let curve = model.interpolate(series, &times)?;
    let channels = series.channels();
    let column = |block: &[f64]| -> Line {
        let values = block.iter().skip(channel).step_by(channels);
        times.iter().copied().zip(values.copied()).collect()
    };
    Ok(Curves {
        predicted: column(&curve.predicted),
        compensation: column(&curve.compensation),
        smoothed: column(&curve.smoothed.value),
    })
}

/// One number of the hidden state of an ODE-RNN along a series, as it jumps and as hidden CSSC makes it smooth.
///
/// # Errors
/// If the model has no such state, or cannot be applied to the series.
pub fn state(model: &Model, series: &Series, dimension: usize) -> Result<(Line, Line), Error> {
    let model = model.with_compensation(Compensation::Hidden)?;
    let times = times(series.times());
    let observed = Observed::new(series.times(), series.values(), &times);
    let (mut memory, parameters) = (Memory::new(), model.parameters().cast::<f64>());
    let mut graph = Graph::forward_only(&mut memory, &parameters);
    let network = model.network();
    let traces = network.trace(&mut graph, &[observed])?;
    let trace = traces.and_then(|traces| traces.into_iter().next());
    let missing = || Error::Setting("this model has no hidden state that is compensated".into());
    let trace = trace.ok_or_else(missing)?;
    let limits = trace.limits.ok_or_else(missing)?;
    let width = limits.values.len() / series.len();
    let c = compensate(
        series.times(),
        width,
        &limits.values,
        limits.left.as_slices(),
        limits.right.as_slices(),
        network.compensation().options(),
    )?;
    let c = c.sample(&times, Side::Right)?;
    let column = |block: &[f64]| -> Line {
        let values = block.iter().skip(dimension).step_by(width);
        times.iter().copied().zip(values.copied()).collect()
    };
    let jumping = column(&trace.signal.value);
    let added = column(&c.value).into_iter();
    let smooth = jumping.iter().zip(added);
    let smooth = smooth.map(|(h, c)| (h.0, h.1 + c.1)).collect();
    Ok((jumping, smooth))
}
