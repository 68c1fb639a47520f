//! The network of latent CSSC: prediction for training, trace for curves.

use super::bumps::{Bumps, Reach};
use super::config::LatentCsscConfig;
use super::decoder::{Decoder, Flow};
use super::encoder::Encoder;
use super::features::Span;
use crate::data::Random;
use crate::model::compensated::observations;
use crate::model::network::{Batch, Limits, Network, Observed, Prediction, Trace};
use crate::model::{Compensation, CompensationSettings};
use crate::nn::{AttentionGroups, Float, Graph, KnotLimits, Parameters, Var};
use crate::{Error, Jets};
use std::ops::Range;

/// Latent CSSC; its numbers are in [`Parameters`].
#[derive(Clone, PartialEq, Debug)]
pub struct LatentCssc {
    config: LatentCsscConfig,
    encoder: Encoder,
    decoder: Decoder,
    bumps: Option<Bumps>,
}

/// The times of a batch at which o is wanted, each once: those asked and the knots.
struct Asked {
    /// Series, its span, time; series by series, times increasing.
    places: Vec<(usize, Span, f64)>,
    /// Where the places of each series begin; one more than there are series.
    offsets: Vec<usize>,
    /// Where the tokens of each series begin; one more than there are series.
    tokens: Vec<usize>,
    /// The place of every query of every series, and of every knot.
    queries: Vec<usize>,
    knots: Vec<usize>,
}

impl LatentCssc {
    /// The networks, with parameters drawn from `seed` and added to the store.
    pub fn new<T: Float>(
        config: &LatentCsscConfig,
        parameters: &mut Parameters<T>,
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed);
        Self {
            config: config.clone(),
            encoder: Encoder::new(parameters, config, &mut random),
            decoder: Decoder::new(parameters, config, &mut random),
            bumps: (config.sweeps > 0).then(|| Bumps::new(parameters, config, &mut random)),
        }
    }

    /// o at all places asked, and its bumps where the curve is to pass `through` the observations.
    fn curve<T: Float, F: Flow<T>>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        asked: &Asked,
        through: bool,
    ) -> (F, Option<F>) {
        let tokens = self.encoder.forward(graph, series, &asked.tokens);
        let groups = AttentionGroups {
            queries: &asked.offsets,
            keys: &asked.tokens,
        };
        let curve: F = self.decoder.forward(graph, tokens, groups, &asked.places);
        let bumps = self.bumps.as_ref().filter(|_| through).map(|bumps| {
            let reach = Reach::new(series, &asked.places);
            bumps.forward(graph, series, tokens, &asked.knots, (curve, &reach))
        });
        (curve, bumps)
    }

    /// Everything of the curve, with its derivatives.
    fn traces<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        through: bool,
    ) -> Vec<Trace> {
        let asked = Asked::new(series);
        let (curve, bumps): (Jets<Var>, _) = self.curve(graph, series, &asked, through);
        let compensated = self.compensated();
        let curve = bumps.map_or(curve, |bumps| curve.plus(graph, bumps));
        let (mut query, mut knot) = (0, 0);
        let traces = series.iter().map(|series| {
            let queries = query..query + series.query.len();
            let knots = knot..knot + series.times.len();
            (query, knot) = (queries.end, knots.end);
            let rows = |places: &[usize], range: &Range<usize>| {
                curve.map(|var| pick(graph, var, &places[range.clone()]))
            };
            let limit = rows(&asked.knots, &knots);
            Trace {
                signal: rows(&asked.queries, &queries),
                limits: compensated.then(|| Limits {
                    values: Vec::new(),
                    left: limit.clone(),
                    right: limit,
                }),
            }
        });
        traces.collect()
    }

    fn compensated(&self) -> bool {
        self.config.compensation != Compensation::None
    }
}

impl<T: Float> Network<T> for LatentCssc {
    fn compensation(&self) -> CompensationSettings {
        self.config.compensation_settings()
    }

    fn sees_future(&self) -> bool {
        true
    }

    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        _: &mut Random,
    ) -> Result<Prediction, Error> {
        let settings = self.config.compensation_settings();
        let order: Vec<usize> = (0..batch.series.len()).collect();
        let asked = Asked::new(batch.series);
        let through = self.compensated();
        let (curve, bumps): (Var, _) = self.curve(graph, batch.series, &asked, through);
        let predicted = asked.at_queries(graph, curve);
        if settings.compensation == Compensation::None {
            return Ok(settings.prediction(graph, batch, (predicted, None), order));
        }
        let whole = bumps.map_or(curve, |bumps| graph.sum(curve, bumps));
        let at_knots = graph.collect(&[whole], asked.knots.iter().map(|&place| (0, place)));
        // No jumps: the limits agree, and only their differences count.
        let zeros = graph.zeros_like(at_knots);
        let limit = Jets {
            value: at_knots,
            slope: zeros,
            curvature: zeros,
        };
        let limits = KnotLimits {
            values: observations(graph, batch.series, &order, self.config.channels),
            left: limit,
            right: limit,
        };
        let c = settings.at_query(graph, batch.series, &order, limits)?;
        let added = bumps.map_or(c, |bumps| {
            let bumps = asked.at_queries(graph, bumps);
            graph.sum(c, bumps)
        });
        let smoothed = graph.sum(predicted, added);
        Ok(settings.prediction(graph, batch, (smoothed, Some(added)), order))
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        Ok(Some(self.traces(graph, series, self.compensated())))
    }

    /// Bumps lead a curve through the noise of its observations; a curve that passes near them has none.
    fn trace_near(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        Ok(Some(self.traces(graph, series, false)))
    }
}

fn pick<T: Float>(graph: &Graph<'_, T>, var: Var, places: &[usize]) -> Vec<f64> {
    let columns = graph.columns(var);
    let rows = places
        .iter()
        .flat_map(|&place| &graph.value(var)[place * columns..(place + 1) * columns]);
    rows.map(|x| x.to_f64()).collect()
}

impl Asked {
    fn at_queries<T: Float>(&self, graph: &mut Graph<'_, T>, curve: Var) -> Var {
        graph.collect(&[curve], self.queries.iter().map(|&place| (0, place)))
    }

    fn new(series: &[Observed<'_>]) -> Self {
        let mut asked = Self {
            places: Vec::new(),
            offsets: vec![0],
            tokens: vec![0],
            queries: Vec::new(),
            knots: Vec::new(),
        };
        for (number, series) in series.iter().enumerate() {
            let span = Span::of(series.times);
            let (mut queries, mut knots) = (
                series.query.iter().copied().peekable(),
                series.times.iter().copied().peekable(),
            );
            while let Some(time) = earliest(queries.peek(), knots.peek()) {
                let place = asked.places.len();
                asked.places.push((number, span, time));
                while queries.next_if_eq(&time).is_some() {
                    asked.queries.push(place);
                }
                if knots.next_if_eq(&time).is_some() {
                    asked.knots.push(place);
                }
            }
            asked.offsets.push(asked.places.len());
            asked.tokens.push(asked.knots.len());
        }
        asked
    }
}

fn earliest(a: Option<&f64>, b: Option<&f64>) -> Option<f64> {
    match (a, b) {
        (Some(&a), Some(&b)) => Some(a.min(b)),
        (one, other) => one.or(other).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_asked_once() {
        let series = [
            Observed::new(&[0.0, 1.0], &[1.0, 2.0], &[0.0, 0.5, 0.5, 1.0]),
            Observed::new(&[2.0], &[1.0], &[]),
        ];
        let asked = Asked::new(&series);
        let times: Vec<f64> = asked.places.iter().map(|place| place.2).collect();
        assert_eq!(times, [0.0, 0.5, 1.0, 2.0]);
        assert_eq!(asked.queries, [0, 1, 1, 2]);
        assert_eq!(asked.knots, [0, 2, 3]);
        assert_eq!(asked.offsets, [0, 3, 4]);
        assert_eq!(asked.tokens, [0, 2, 3]);
    }
}
