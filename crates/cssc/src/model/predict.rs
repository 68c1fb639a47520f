//! From observations to a prediction, recorded for training.

use super::config::Compensation;
use super::limits::States;
use super::network::Network;
use crate::nn::{Float, Graph, KnotLimits, Layer, SeriesKnots, Var};
use crate::ode::{Item, Schedule, Stepping};
use crate::{Error, Side};

/// The observations of one series, in the model's units, and the times asked for.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// Strictly increasing times of the observations.
    pub times: &'a [f64],
    /// Values [times, channels]; NaN is missing.
    pub values: &'a [f64],
    /// Times asked for, increasing, between the first and the last observation.
    pub query: &'a [f64],
}

/// A batch to be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The series.
    pub series: &'a [Observed<'a>],
    /// How the walk steps.
    pub stepping: Stepping,
    /// What is made of the states; the model's own method in end-to-end training.
    pub method: Compensation,
}

/// A recorded prediction: blocks over the query times of all series.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// ô: what the method answers, [queries, channels].
    pub smoothed: Var,
    /// c: what was added to o ([queries, channels]) or to the state ([queries, hidden]).
    pub compensation: Option<Var>,
    /// The series in the order of the blocks.
    pub order: Vec<usize>,
}

impl Network {
    /// Predicts a batch.
    ///
    /// # Errors
    /// If the compensation of a series cannot be computed: nothing observed, or the
    /// prediction is not finite.
    pub fn predict<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        request: &Request<'_>,
    ) -> Result<Prediction, Error> {
        let schedule = request.schedule();
        let traced = request.method != Compensation::None;
        let states = self.walk(graph, request, &schedule, traced);
        let (smoothed, compensation) = match request.method {
            Compensation::None => {
                let query = states.at_query(graph, &schedule, Side::Right);
                (self.decoder.forward(graph, query), None)
            }
            Compensation::Output => {
                let limits = self.cssc_limits(graph, request, &schedule, &states);
                let query = states.at_query(graph, &schedule, Side::Left);
                let predicted = self.decoder.forward(graph, query);
                let c = request.compensate(graph, &schedule, limits, self, true)?;
                (graph.sum(predicted, c), Some(c))
            }
            Compensation::Hidden => {
                let limits = self.hidden_limits(graph, &schedule, &states);
                let query = states.at_query(graph, &schedule, Side::Left);
                let c = request.compensate(graph, &schedule, limits, self, false)?;
                let smoothed = graph.sum(query, c);
                (self.decoder.forward(graph, smoothed), Some(c))
            }
        };
        let order = schedule.rows.iter().map(|row| row.item).collect();
        Ok(Prediction {
            smoothed,
            compensation,
            order,
        })
    }

    pub(crate) fn walk<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        request: &Request<'_>,
        schedule: &Schedule,
        traced: bool,
    ) -> States<'_> {
        let channels = self.config.channels;
        States::record(graph, self, schedule, traced, |item, knot, numbers| {
            let values = &request.series[item].values[knot * channels..(knot + 1) * channels];
            let shown = |x: f64| if x.is_nan() { T::ZERO } else { T::from_f64(x) };
            numbers.extend(values.iter().map(|&x| shown(x)));
            numbers.extend(
                values
                    .iter()
                    .map(|x| if x.is_nan() { T::ZERO } else { T::ONE }),
            );
        })
    }

    /// Observations and limits of o at all knots.
    pub(crate) fn cssc_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        request: &Request<'_>,
        schedule: &Schedule,
        states: &States<'_>,
    ) -> KnotLimits {
        let channels = self.config.channels;
        // Right of the last knot only the value of an unobserved channel is ever read.
        let last_right = request.series.iter().any(|s| {
            s.values[s.values.len() - channels..]
                .iter()
                .any(|x| x.is_nan())
        });
        let limits = states.output_limits(graph, self, schedule, last_right);
        let values: Vec<T> = schedule
            .rows
            .iter()
            .flat_map(|row| request.series[row.item].values)
            .map(|&x| T::from_f64(x))
            .collect();
        let values = graph.input(values.len() / channels, channels, &values);
        KnotLimits {
            values,
            left: limits.left,
            right: limits.right,
        }
    }

    /// States after their updates and limits of the state at all knots.
    pub(crate) fn hidden_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        states: &States<'_>,
    ) -> KnotLimits {
        let limits = states.hidden_limits(graph, self, schedule);
        let values = states.updated(graph, schedule);
        KnotLimits {
            values,
            left: limits.left,
            right: limits.right,
        }
    }
}

impl Request<'_> {
    pub(crate) fn schedule(&self) -> Schedule {
        let items: Vec<Item<'_>> = self
            .series
            .iter()
            .map(|s| Item {
                knots: s.times,
                query: s.query,
            })
            .collect();
        Schedule::new(&items, self.stepping)
    }

    fn compensate<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        limits: KnotLimits,
        network: &Network,
        holes: bool,
    ) -> Result<Var, Error> {
        let masks: Vec<Vec<bool>> = schedule
            .rows
            .iter()
            .map(|row| {
                self.series[row.item]
                    .values
                    .iter()
                    .map(|x| !x.is_nan())
                    .collect()
            })
            .collect();
        let series = schedule.rows.iter().zip(&masks).map(|(row, mask)| {
            let one = &self.series[row.item];
            SeriesKnots {
                times: one.times,
                observed: holes.then_some(mask),
                query: one.query,
            }
        });
        let result = graph.compensate(series, limits, network.config.options());
        result.map_err(|error| match error {
            Error::InSeries { series, error } => Error::InSeries {
                series: schedule.rows[series].item,
                error,
            },
            other => other,
        })
    }
}
