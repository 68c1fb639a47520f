//! Which limits exist at the knots of a batch.

use super::record::Pick;
use crate::nn::{Float, Graph, Var};
use crate::ode::Schedule;
use crate::{Jets, Side};

/// A signal on both sides of all knots of all rows, each [knots, width].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SidedJets {
    pub(crate) left: Jets<Var>,
    pub(crate) right: Jets<Var>,
}

/// The limits at the knots of a batch, in the order they are computed.
#[derive(Debug)]
pub(crate) struct KnotPicks {
    pub(crate) picks: Vec<Pick>,
    /// For every knot of every row: the pick that stands for its left and its right limit.
    left: Vec<usize>,
    right: Vec<usize>,
}

impl KnotPicks {
    /// Nothing is computed on the outer sides of the series, where the compensation reads
    /// nothing; the other limit stands there. `last_right` asks for it at the last knots.
    pub(crate) fn new(schedule: &Schedule, last_right: bool) -> Self {
        let mut all = Self {
            picks: Vec::new(),
            left: Vec::new(),
            right: Vec::new(),
        };
        for (row, walk) in schedule.rows.iter().enumerate() {
            let last = walk.knot_stops.len() - 1;
            for (knot, &stop) in walk.knot_stops.iter().enumerate() {
                let first = all.picks.len();
                let (has_left, has_right) = (knot > 0, knot < last || last == 0 || last_right);
                let side = |side| Pick { row, stop, side };
                all.picks.extend(has_left.then(|| side(Side::Left)));
                all.picks.extend(has_right.then(|| side(Side::Right)));
                all.left.push(first);
                all.right.push(all.picks.len() - 1);
            }
        }
        all
    }

    /// What was computed for the picks, knot by knot.
    pub(crate) fn lay_out<T: Float>(&self, graph: &mut Graph<'_, T>, jets: Jets<Var>) -> SidedJets {
        let mut side = |picks: &[usize]| {
            jets.map(|block| graph.collect(&[block], picks.iter().map(|&pick| (0, pick))))
        };
        SidedJets {
            left: side(&self.left),
            right: side(&self.right),
        }
    }
}
