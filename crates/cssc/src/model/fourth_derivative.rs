//! The fourth derivative of a prediction, and the error bound of Theorem 2 with it.

use super::compensated::Compensation;
use super::config::ModelConfig;
use super::curve_options::CurveOptions;
use super::file::Model;
use super::network::Network;
use super::ode_rnn::{OdeRnn, OdeRnnConfig};
use crate::Error;
use crate::compensate::{EndRule, error_bound};
use crate::data::Series;
use crate::nn::{Graph, Memory, Parameters, Taylor};

/// Places in every interval at which the largest derivative is looked for.
const PLACES: usize = 16;

/// What is known of the truth x of one channel, in the user's units.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Truth {
    /// A bound of |x⁗|.
    pub fourth_derivative: f64,
    /// x'' at the first and the last observation.
    pub end_curvatures: [f64; 2],
}

/// How far a curve can be from the truth, and why, in the user's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// No point of the curve is further away.
    pub error: f64,
    /// The largest gap between observations.
    pub largest_gap: f64,
    /// The largest |o⁗| that was found between them.
    pub predicted_fourth_derivative: f64,
    /// x'' - ô'' at both ends.
    pub end_curvatures: [f64; 2],
}

impl Model {
    /// The fourth derivatives by time of the prediction o at increasing `times`, [times, channels], NaN outside the
    /// series: Taylor series of h' = f(h) from the state at each time, through the decoder.
    ///
    /// # Errors
    /// As [`Model::interpolate`], and for models other than one-sided ODE-RNNs and activations without such a series.
    pub fn fourth_derivatives(&self, series: &Series, times: &[f64]) -> Result<Vec<f64>, Error> {
        let config = self.one_sided()?;
        self.check(series, times, &CurveOptions::default())?;
        let scaled = self.scaled(&*self.without_season(series)?, times);
        // The states are what hidden CSSC compensates: the same parameters, read in that way.
        let config = OdeRnnConfig {
            compensation: Compensation::Hidden,
            ..config.clone()
        };
        let network = OdeRnn::new(&config, &mut Parameters::<f64>::blank(), 0);
        let mut memory = Memory::new();
        let mut graph = Graph::forward_only(&mut memory, &self.precise);
        let traces = Network::<f64>::trace(&network, &mut graph, &[scaled.observed()])?;
        let states = traces.and_then(|traces| traces.into_iter().next());
        let states = states.map(|trace| trace.signal.value).unwrap_or_default();

        let (scales, unit) = (self.info.scaler.scales(), self.unit());
        let mut found = vec![f64::NAN; times.len() * series.channels()];
        let inside = &mut found[scaled.inside.start * series.channels()..];
        let rows = inside.chunks_exact_mut(series.channels());
        for (row, state) in rows.zip(states.chunks_exact(config.hidden)) {
            let path = Taylor::flow(&self.precise, &network.forward.dynamics, state, 4)?;
            let o = path.through(&self.precise, &network.decoder)?;
            for ((y, x), scale) in row.iter_mut().zip(o.derivative(4)).zip(scales) {
                *y = x * scale / unit.powi(4);
            }
        }
        if let Some(season) = &self.info.season {
            season.add_derivative(4, times, &mut found);
        }
        Ok(found)
    }

    /// The error bound for one channel of `series`, which must be observed at all times of the others' too.
    ///
    /// (x - o)⁗ is bounded by |x⁗| + |o⁗|, the latter found at sixteen places of every interval.
    ///
    /// # Errors
    /// As [`Model::fourth_derivatives`], if the output is not compensated, and if the channel has holes.
    pub fn error_bound(
        &self,
        series: &Series,
        channel: usize,
        truth: Truth,
    ) -> Result<Bound, Error> {
        let config = self.one_sided()?;
        if config.compensation != Compensation::Output {
            return Err(Error::Setting(
                "the error bound is for models whose output is compensated; use `cssc`".into(),
            ));
        }
        let (knots, _) = series.observed(channel);
        let rows = (0..series.len()).filter(|&row| series.row(row).iter().any(|x| !x.is_nan()));
        if knots.len() < 2 || knots.len() != rows.count() {
            return Err(Error::Setting(format!(
                "channel {channel} is observed at {} of the times of the series; the error bound needs all, and two at \
                 least",
                knots.len()
            )));
        }
        let mut times = Vec::with_capacity(knots.len() * PLACES);
        for pair in knots.windows(2) {
            let place = |i: usize| pair[0] + (pair[1] - pair[0]) * (i as f64 + 0.5) / PLACES as f64;
            times.extend((0..PLACES).map(place));
        }
        let all = self.fourth_derivatives(series, &times)?;
        let own = all.iter().skip(channel).step_by(series.channels());
        let largest = own.fold(0.0, |most: f64, x| most.max(x.abs()));
        let gaps = knots.windows(2).map(|pair| pair[1] - pair[0]);
        let largest_gap = gaps.fold(0.0, f64::max);
        let end_curvatures = match config.end_rule {
            EndRule::Output => truth.end_curvatures,
            EndRule::Compensation => {
                let ends = [knots[0], knots[knots.len() - 1]];
                let curve = self.interpolate(series, &ends)?.smoothed.curvature;
                let at = |end: usize| {
                    truth.end_curvatures[end] - curve[end * series.channels() + channel]
                };
                [at(0), at(1)]
            }
        };
        Ok(Bound {
            error: error_bound(
                largest_gap,
                truth.fourth_derivative + largest,
                end_curvatures,
            ),
            largest_gap,
            predicted_fourth_derivative: largest,
            end_curvatures,
        })
    }

    fn one_sided(&self) -> Result<&OdeRnnConfig, Error> {
        match &self.info.model {
            ModelConfig::OdeRnn(config) if !config.two_sided => Ok(config),
            other => Err(Error::Setting(format!(
                "fourth derivatives are known of one-sided ODE-RNNs; this model is {}",
                other.method()
            ))),
        }
    }
}
