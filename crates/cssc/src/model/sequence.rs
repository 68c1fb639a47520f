//! Recurrent networks without a flow: a state after each observation, and answers that are read
//! from the last state and the time since.
//!
//! ```text
//!   knots     o──────────o────o             state after each knot
//!   asked       ^  ^   ^    ^               reading: the state before it, and how long ago
//! ```
//!
//! Rows are sorted by their number of knots, so that the rows still going are always the first.

use super::network::Observed;
use super::rows::zeros;
use super::walk::SidedJets;
use crate::nn::{Float, Graph, Var};
use crate::{Jets, Side};

/// The rows of a batch, most knots first.
#[derive(Debug)]
pub(crate) struct Sequence<'a> {
    series: &'a [Observed<'a>],
    /// The series of each row.
    pub(crate) order: Vec<usize>,
}

/// A time of a row, seen from the state after one of its knots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) row: usize,
    pub(crate) item: usize,
    pub(crate) knot: usize,
    pub(crate) time: f64,
}

impl<'a> Sequence<'a> {
    pub(crate) fn new(series: &'a [Observed<'a>]) -> Self {
        let mut order: Vec<usize> = (0..series.len()).collect();
        // Stable: series of equal length keep their order.
        order.sort_by_key(|&item| std::cmp::Reverse(series[item].times.len()));
        Self { series, order }
    }

    /// The states after each knot, each [rows that have it, hidden]. `update` makes them from the
    /// states before (0 at first) and the series; all rows are at the same number of knot.
    pub(crate) fn states<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        hidden: usize,
        mut update: impl FnMut(&mut Graph<'_, T>, Var, &[usize], usize) -> Var,
    ) -> Vec<Var> {
        let length = |row: usize| self.series[self.order[row]].times.len();
        let mut state = zeros(graph, self.order.len(), hidden);
        let mut states = Vec::with_capacity(length(0));
        for knot in 0..length(0) {
            let active = (0..self.order.len())
                .take_while(|&row| length(row) > knot)
                .count();
            if active < graph.rows(state) {
                state = graph.collect(&[state], (0..active).map(|row| (0, row)));
            }
            state = update(graph, state, &self.order[..active], knot);
            states.push(state);
        }
        states
    }

    /// The query times of all rows; at a knot after its update, at the last knot from the side `last`.
    pub(crate) fn at_query(&self, last: Side) -> Vec<Reading> {
        self.each_row(|series, row, item, readings| {
            let end = series.times.len() - 1;
            let newest = if last == Side::Left {
                end.max(1) - 1
            } else {
                end
            };
            readings.extend(series.query.iter().map(|&time| {
                let seen = series.times.partition_point(|&knot| knot <= time);
                let knot = seen.max(1) - 1;
                let knot = if knot == end { newest } else { knot };
                Reading {
                    row,
                    item,
                    knot,
                    time,
                }
            }));
        })
    }

    /// The knots of all rows from one side; nothing is left of the first, the other side stands there.
    pub(crate) fn at_knots(&self, side: Side) -> Vec<Reading> {
        self.each_row(|series, row, item, readings| {
            readings.extend(series.times.iter().enumerate().map(|(knot, &time)| {
                let knot = if side == Side::Left {
                    knot.max(1) - 1
                } else {
                    knot
                };
                Reading {
                    row,
                    item,
                    knot,
                    time,
                }
            }));
        })
    }

    /// A signal on both sides of all knots.
    pub(crate) fn limits(&self, mut jets: impl FnMut(&[Reading]) -> Jets<Var>) -> SidedJets {
        SidedJets {
            left: jets(&self.at_knots(Side::Left)),
            right: jets(&self.at_knots(Side::Right)),
        }
    }

    fn each_row(
        &self,
        mut f: impl FnMut(&Observed<'_>, usize, usize, &mut Vec<Reading>),
    ) -> Vec<Reading> {
        let mut readings = Vec::new();
        for (row, &item) in self.order.iter().enumerate() {
            f(&self.series[item], row, item, &mut readings);
        }
        readings
    }
}

/// The states that are read, [readings, hidden].
pub(crate) fn read<T: Float>(
    graph: &mut Graph<'_, T>,
    states: &[Var],
    readings: &[Reading],
) -> Var {
    graph.collect(states, readings.iter().map(|at| (at.knot, at.row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_from_the_last_state_before_it_and_the_end_from_the_side_asked() {
        let series = [
            Observed::new(&[1.0], &[0.0], &[1.0]),
            Observed::new(&[0.0, 2.0, 3.0], &[0.0; 3], &[0.0, 1.5, 2.0, 3.0]),
        ];
        let sequence = Sequence::new(&series);
        assert_eq!(sequence.order, [1, 0]);
        let knots = |readings: Vec<Reading>| readings.iter().map(|at| at.knot).collect::<Vec<_>>();
        assert_eq!(knots(sequence.at_query(Side::Right)), [0, 0, 1, 2, 0]);
        assert_eq!(knots(sequence.at_query(Side::Left)), [0, 0, 1, 1, 0]);
        assert_eq!(knots(sequence.at_knots(Side::Left)), [0, 0, 1, 0]);
        assert_eq!(knots(sequence.at_knots(Side::Right)), [0, 1, 2, 0]);
    }
}
