//! What all networks share when their signal is compensated.

use super::network::{Observed, Prediction};
use super::rows::codes_at;
use super::walk::SidedJets;
use crate::compensate::DEFAULT_MAX_FOLD;
use crate::nn::{Float, Graph, KnotLimits, SeriesKnots, Var};
use crate::{CompensationOptions, EndRule, Error, Side};
use serde::{Deserialize, Serialize};

/// What is compensated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compensation {
    /// Nothing: the prediction as it is, with its jumps (paper eq. 1-4).
    #[serde(alias = "ode-rnn")]
    None,
    /// The output: smooth, through every observation (Theorem 1).
    #[default]
    #[serde(alias = "cssc")]
    Output,
    /// The state, which is then decoded (Theorem 3).
    #[serde(alias = "hidden-cssc")]
    Hidden,
}

/// What is compensated, and how: common to all models.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CompensationSettings {
    /// What is compensated.
    pub compensation: Compensation,
    /// What holds at the two ends.
    pub end_rule: EndRule,
    /// Jumps folded in a hole before one is pinned; none: all are folded.
    pub max_fold: Option<usize>,
    /// Weight α of the squared compensation in the loss.
    pub weight: f64,
}

impl CompensationSettings {
    /// Nothing is compensated.
    pub const NONE: Self = Self {
        compensation: Compensation::None,
        end_rule: EndRule::Compensation,
        max_fold: Some(DEFAULT_MAX_FOLD),
        weight: 0.0,
    };

    /// The settings of the solve.
    #[must_use]
    pub fn options(&self) -> CompensationOptions {
        CompensationOptions {
            end_rule: self.end_rule,
            max_fold: self.max_fold,
            ..CompensationOptions::default()
        }
    }

    /// The side from which a signal is read at the last knot: right of it a compensated output has no
    /// curve.
    pub(crate) fn last_side(&self) -> Side {
        match self.compensation {
            Compensation::None => Side::Right,
            _ => Side::Left,
        }
    }

    /// c at the query times of all series, from `limits` at their knots; both in the given `order` of the
    /// series. The output has holes where nothing is observed, a state has none.
    ///
    /// # Errors
    /// If the compensation of a series cannot be computed.
    pub fn at_query<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        order: &[usize],
        limits: KnotLimits,
    ) -> Result<Var, Error> {
        let holes = self.compensation == Compensation::Output;
        let masks: Vec<Vec<bool>> = (order.iter())
            .map(|&item| series[item].values.iter().map(|x| !x.is_nan()).collect())
            .collect();
        let knots = order.iter().zip(&masks).map(|(&item, mask)| SeriesKnots {
            times: series[item].times,
            observed: holes.then_some(mask),
            query: series[item].query,
        });
        let result = graph.compensate(knots, limits, self.options());
        result.map_err(|error| match error {
            Error::InSeries { series, error } => error.in_series(order[series]),
            other => other,
        })
    }

    /// The prediction of a model whose output may be compensated: `values` at the query times of all
    /// series in the given `order`, and c on top if there are `limits` at their knots.
    ///
    /// # Errors
    /// If the compensation of a series cannot be computed.
    pub(crate) fn complete<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &super::Batch<'_>,
        order: Vec<usize>,
        values: Var,
        limits: Option<SidedJets>,
    ) -> Result<Prediction, Error> {
        let Some(SidedJets { left, right }) = limits else {
            return Ok(self.prediction(graph, batch, (values, None), order));
        };
        let channels = graph.columns(values);
        let limits = KnotLimits {
            values: observations(graph, batch.series, &order, channels),
            left,
            right,
        };
        let c = self.at_query(graph, batch.series, &order, limits)?;
        let smoothed = graph.sum(values, c);
        Ok(self.prediction(graph, batch, (smoothed, Some(c)), order))
    }

    /// The prediction `values`, with α|c|² as its penalty in training.
    pub fn prediction<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &super::Batch<'_>,
        (values, c): (Var, Option<Var>),
        order: Vec<usize>,
    ) -> Prediction {
        let penalty = c
            .zip(batch.training)
            .map(|(c, training)| graph.square(c, None, None, training.scale * self.weight));
        Prediction {
            values,
            penalty,
            order,
        }
    }
}

impl Prediction {
    /// Adds a term of the loss.
    pub(crate) fn add_penalty<T: Float>(&mut self, graph: &mut Graph<'_, T>, term: Var) {
        self.penalty = Some(match self.penalty {
            Some(penalty) => graph.sum(penalty, term),
            None => term,
        });
    }
}

/// The observations of all series in the given order, [knots, channels]; NaN is missing. Learned values as they are.
pub fn observations<T: Float>(
    graph: &mut Graph<'_, T>,
    series: &[Observed<'_>],
    order: &[usize],
    channels: usize,
) -> Var {
    let knots = order.iter();
    let knots = knots.flat_map(|&item| (0..series[item].times.len()).map(move |knot| (item, knot)));
    if let Some(codes) = codes_at(graph, series, knots) {
        return codes;
    }
    let values: Vec<T> = (order.iter())
        .flat_map(|&item| series[item].values)
        .map(|&x| T::from_f64(x))
        .collect();
    graph.input(values.len() / channels, channels, &values)
}
