//! From observations to a prediction: recorded for training, and traced for curves.

use super::network::OdeRnn;
use crate::data::Random;
use crate::model::compensated::observations;
use crate::model::network::{Batch, Network, Observed, Prediction, Trace};
use crate::model::rows::traces;
use crate::model::walk::{Direction, Manner, SidedJets, States, order, schedule};
use crate::model::{Compensation, CompensationSettings};
use crate::nn::{Float, Graph, KnotLimits, Layer, Mlp, Var};
use crate::ode::Schedule;
use crate::{Error, Jets, Side};

impl<T: Float> Network<T> for OdeRnn {
    fn compensation(&self) -> CompensationSettings {
        self.config.compensation_settings()
    }

    fn sees_future(&self) -> bool {
        self.config.two_sided
    }

    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        _: &mut Random,
    ) -> Result<Prediction, Error> {
        let settings = self.config.compensation_settings();
        let schedule = schedule(batch.series, self.config.step, true)?;
        let order = order(&schedule);
        let traced = settings.compensation != Compensation::None;
        let states = self.walk(graph, batch.series, &schedule, traced);
        let answer = match settings.compensation {
            Compensation::None => {
                let query = states.at_query(graph, &schedule, Side::Right);
                (self.decoder.forward(graph, query), None)
            }
            Compensation::Output => {
                let limits = self.output_limits(graph, batch.series, &schedule, &states);
                let query = states.at_query(graph, &schedule, Side::Left);
                let predicted = self.decoder.forward(graph, query);
                let c = settings.at_query(graph, batch.series, &order, limits)?;
                (graph.sum(predicted, c), Some(c))
            }
            Compensation::Hidden => {
                let limits = self.hidden_limits(graph, &schedule, &states);
                let query = states.at_query(graph, &schedule, Side::Left);
                let c = settings.at_query(graph, batch.series, &order, limits)?;
                let smoothed = graph.sum(query, c);
                (self.decoder.forward(graph, smoothed), Some(c))
            }
        };
        Ok(settings.prediction(graph, batch, answer, order))
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        let compensation = self.config.compensation;
        let asked = series.iter().any(|series| !series.query.is_empty());
        if compensation == Compensation::None && !asked {
            return Ok(Some(vec![Trace::default(); series.len()]));
        }
        let schedule = schedule(series, self.config.step, false)?;
        let states = self.walk(graph, series, &schedule, true);
        let signal = asked.then(|| {
            let last = self.config.compensation_settings().last_side();
            let state = states.jets_at_query(graph, &schedule, last);
            match compensation {
                Compensation::Hidden => state,
                _ => self.decoder.jet(graph, state),
            }
        });
        let limits = match compensation {
            Compensation::None => None,
            Compensation::Output => Some(self.output_limits(graph, series, &schedule, &states)),
            Compensation::Hidden => Some(self.hidden_limits(graph, &schedule, &states)),
        };
        let values = limits.filter(|_| compensation == Compensation::Hidden);
        let values = values.map(|limits| limits.values);
        let limits = limits.map(|KnotLimits { left, right, .. }| SidedJets { left, right });
        let order = order(&schedule);
        Ok(Some(traces(graph, series, &order, signal, limits, values)))
    }

    // With the Hessian, whatever the training used: for people who ask for derivatives.
    fn decode(&self, graph: &mut Graph<'_, T>, signal: Jets<Var>) -> Jets<Var> {
        match self.config.compensation {
            Compensation::Hidden => self.decoder.jet(graph, signal),
            _ => signal,
        }
    }
}

impl OdeRnn {
    fn walk<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        schedule: &Schedule,
        traced: bool,
    ) -> States<'_, T, Mlp> {
        let walkers = [
            (Some(&self.forward), Direction::Forward),
            (self.backward.as_ref(), Direction::Backward),
        ];
        let walks = walkers
            .into_iter()
            .filter_map(|(walker, direction)| Some((walker?, direction)))
            .map(|(walker, direction)| {
                let manner = Manner {
                    tableau: self.config.solver.tableau(),
                    direction,
                    traced,
                };
                walker.walk(graph, manner, series, schedule)
            })
            .collect();
        States { walks }
    }

    /// Observations and limits of o at all knots.
    fn output_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        schedule: &Schedule,
        states: &States<'_, T, Mlp>,
    ) -> KnotLimits {
        let channels = self.config.channels;
        // Right of the last knot only the value of an unobserved channel is ever read.
        let last_right = series.iter().any(|s| {
            s.values[s.values.len() - channels..]
                .iter()
                .any(|x| x.is_nan())
        });
        let limits = self.limits_of_output(graph, schedule, states, last_right);
        KnotLimits {
            values: observations(graph, series, &order(schedule), channels),
            left: limits.left,
            right: limits.right,
        }
    }

    /// States after their updates and limits of the state at all knots.
    fn hidden_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        states: &States<'_, T, Mlp>,
    ) -> KnotLimits {
        let limits = self.limits_of_state(graph, schedule, states);
        KnotLimits {
            values: states.updated(graph, schedule),
            left: limits.left,
            right: limits.right,
        }
    }
}
