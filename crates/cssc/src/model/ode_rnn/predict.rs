//! From observations to a prediction: recorded for training, and traced for curves.

use super::limits::States;
use super::network::OdeRnn;
use crate::data::Random;
use crate::model::compensated::observations;
use crate::model::network::{Batch, Limits, Network, Observed, Prediction, Trace};
use crate::model::{Compensation, CompensationSettings};
use crate::nn::{Float, Graph, KnotLimits, Layer, Var};
use crate::ode::{Item, Schedule, Stepping};
use crate::{Error, Jets, Side};
use std::ops::Range;

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
        let schedule = self.schedule(batch.series, true);
        let order: Vec<usize> = schedule.rows.iter().map(|row| row.item).collect();
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
        let schedule = self.schedule(series, false);
        let states = self.walk(graph, series, &schedule, true);
        let signal = asked.then(|| {
            let last = match compensation {
                Compensation::None => Side::Right,
                _ => Side::Left,
            };
            let jets = states.jets_at_query(graph, &schedule, last, 2);
            let state = Jets {
                value: jets[0],
                slope: jets[1],
                curvature: jets[2],
            };
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
        Ok(Some(cut_rows(
            graph,
            &schedule,
            signal,
            limits,
            compensation,
        )))
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
    /// The steps of a batch: in training they end at the times asked, for a curve they do not look at
    /// them.
    fn schedule(&self, series: &[Observed<'_>], stop_at_query: bool) -> Schedule {
        let items: Vec<Item<'_>> = series
            .iter()
            .map(|s| Item {
                knots: s.times,
                query: s.query,
            })
            .collect();
        let stepping = Stepping {
            longest: self.config.step,
            stop_at_query,
        };
        Schedule::new(&items, stepping)
    }

    fn walk<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        schedule: &Schedule,
        traced: bool,
    ) -> States<'_> {
        let channels = self.config.channels;
        States::record(graph, self, schedule, traced, |item, knot, numbers| {
            let values = &series[item].values[knot * channels..(knot + 1) * channels];
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
    fn output_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        schedule: &Schedule,
        states: &States<'_>,
    ) -> KnotLimits {
        let channels = self.config.channels;
        // Right of the last knot only the value of an unobserved channel is ever read.
        let last_right = series.iter().any(|s| {
            s.values[s.values.len() - channels..]
                .iter()
                .any(|x| x.is_nan())
        });
        let limits = states.output_limits(graph, self, schedule, last_right);
        let order: Vec<usize> = schedule.rows.iter().map(|row| row.item).collect();
        KnotLimits {
            values: observations(graph, series, &order, channels),
            left: limits.left,
            right: limits.right,
        }
    }

    /// States after their updates and limits of the state at all knots.
    fn hidden_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        states: &States<'_>,
    ) -> KnotLimits {
        let limits = states.hidden_limits(graph, self, schedule);
        KnotLimits {
            values: states.updated(graph, schedule),
            left: limits.left,
            right: limits.right,
        }
    }
}

/// What the rows of a batch tell, in the order of its series.
fn cut_rows<T: Float>(
    graph: &Graph<'_, T>,
    schedule: &Schedule,
    signal: Option<Jets<Var>>,
    limits: Option<KnotLimits>,
    compensation: Compensation,
) -> Vec<Trace> {
    let (mut query, mut knot) = (0, 0);
    let mut traces: Vec<(usize, Trace)> = Vec::with_capacity(schedule.rows.len());
    for row in &schedule.rows {
        let asked = query..query + row.places.len();
        let knots = knot..knot + row.knot_stops.len();
        (query, knot) = (asked.end, knots.end);
        let jets = |vars: Jets<Var>, rows: &Range<usize>| vars.map(|var| cut(graph, var, rows));
        let limits = limits.map(|limits| Limits {
            // Observations are known more precisely than they entered the walk.
            values: match compensation {
                Compensation::Hidden => cut(graph, limits.values, &knots),
                _ => Vec::new(),
            },
            left: jets(limits.left, &knots),
            right: jets(limits.right, &knots),
        });
        let signal = signal
            .map(|signal| jets(signal, &asked))
            .unwrap_or_default();
        traces.push((row.item, Trace { signal, limits }));
    }
    traces.sort_by_key(|(item, _)| *item);
    traces.into_iter().map(|(_, trace)| trace).collect()
}

fn cut<T: Float>(graph: &Graph<'_, T>, var: Var, rows: &Range<usize>) -> Vec<f64> {
    let columns = graph.columns(var);
    let numbers = &graph.value(var)[rows.start * columns..rows.end * columns];
    numbers.iter().map(|x| x.to_f64()).collect()
}
