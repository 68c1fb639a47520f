//! The compensation of Theorem 1, for two series at once.

use super::{Matrix, Operation};
use cssc::nn::{Float, Graph, KnotLimits, SeriesKnots, Var};
use cssc::{CompensationOptions, EndRule, Jets};

/// Knots of the two series.
pub(crate) const TIMES: [&[f64]; 2] = [&[0.0, 0.6, 1.0, 1.7, 2.5], &[0.2, 0.9, 1.1]];
/// Where c is wanted: before, on and between knots.
pub(crate) const QUERY: [&[f64]; 2] = [&[0.0, 0.3, 0.6, 1.2, 1.7, 2.2, 2.5], &[0.2, 0.5, 1.05]];
/// Channels.
pub(crate) const CHANNELS: usize = 2;

/// Values to pass through, and six limits, each [8 knots, 2 channels].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compensation {
    /// By series, [knots, channels]; `None`: all are observed.
    pub(crate) observed: Option<[&'static [bool]; 2]>,
    pub(crate) end_rule: EndRule,
}

/// The first channel has holes to be folded, the second is not observed at the ends: there
/// the curve is pinned to the prediction.
const HOLES: [&[bool]; 2] = [
    &[
        true, false, false, true, false, true, true, true, true, false,
    ],
    &[true, true, false, false, true, false],
];

impl Compensation {
    /// Observations with holes, both end rules.
    pub(crate) fn of_observations() -> [Self; 2] {
        [EndRule::Output, EndRule::Compensation].map(|end_rule| Self {
            observed: Some(HOLES),
            end_rule,
        })
    }

    /// Values that are themselves results: hidden CSSC, Theorem 3.
    pub(crate) fn of_tracked_values() -> [Self; 2] {
        [EndRule::Output, EndRule::Compensation].map(|end_rule| Self {
            observed: None,
            end_rule,
        })
    }
}

impl Operation for Compensation {
    fn operands(&self) -> Vec<Matrix> {
        let knots = TIMES.iter().map(|times| times.len()).sum();
        (51..58)
            .map(|seed| Matrix::random(knots, CHANNELS, seed))
            .collect()
    }

    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let jets = |first| Jets {
            value: operands[first],
            slope: operands[first + 1],
            curvature: operands[first + 2],
        };
        let limits = KnotLimits {
            values: operands[0],
            left: jets(1),
            right: jets(4),
        };
        let series = (0..2).map(|i| SeriesKnots {
            times: TIMES[i],
            observed: self.observed.map(|mask| mask[i]),
            query: QUERY[i],
        });
        let options = CompensationOptions {
            end_rule: self.end_rule,
            ..CompensationOptions::default()
        };
        graph
            .compensate(series, limits, options)
            .expect("valid knots")
    }
}
