//! The walk of a state over a batch (paper eq. 1-4), and how its states are read.
//!
//! Between stops the state follows h' = f(h); at a knot it may be updated. The state before
//! the update is the limit from the left, the state after it the limit from the right; a walk
//! that comes back from the end sees them the other way round.

use crate::nn::{Float, Graph, Var, parts};
use crate::ode::{Row, Schedule, SmoothField, Tableau, advance, advance_from};
use crate::{Jets, Side};

/// Which way a walk goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// From the first knot to the last.
    Forward,
    /// From the last knot to the first.
    Backward,
}

/// A state of the walk: a row, a stop (counted from the start of the series), a side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pick {
    pub(crate) row: usize,
    pub(crate) stop: usize,
    pub(crate) side: Side,
}

/// The update of some rows at their knots: from their states [rows, width] and the (item, knot) of
/// each to their new states.
pub(crate) type Update<'u, T> = dyn FnMut(&mut Graph<'_, T>, Var, &[(usize, usize)]) -> Var + 'u;

/// How a batch is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<'a> {
    pub(crate) tableau: &'a Tableau,
    pub(crate) direction: Direction,
    /// Whether derivatives of the states will be asked for.
    pub(crate) traced: bool,
}

/// The recorded walk of a batch.
#[derive(Debug)]
pub(crate) struct Walk<'a, T: Float, F: SmoothField<T>> {
    field: &'a F,
    tableau: &'a Tableau,
    direction: Direction,
    /// Steps of each row.
    steps: Vec<usize>,
    /// Whether a row's state is updated at a stop, counted along the walk.
    is_updated: Vec<Vec<bool>>,
    /// States before and after the update at each stop, counted along the walk.
    before: Vec<Var>,
    after: Vec<Var>,
    /// First evaluation of f in each step, at the state after the stop's update.
    flows: Vec<Var>,
    /// The same, as derivatives need it.
    traces: Vec<F::Trace>,
}

impl<'a, T: Float, F: SmoothField<T>> Walk<'a, T, F> {
    /// Walks all rows of `schedule` from the states `start` [rows, width]; without `update` the flow
    /// is all there is.
    pub(crate) fn record(
        graph: &mut Graph<'_, T>,
        field: &'a F,
        manner: Manner<'a>,
        schedule: &Schedule,
        start: Var,
        mut update: Option<&mut Update<'_, T>>,
    ) -> Self {
        let Manner {
            tableau,
            direction,
            traced,
        } = manner;
        let along = |row: &Row, i: usize| match direction {
            Direction::Forward => i,
            Direction::Backward => row.steps() - i,
        };
        let rows = &schedule.rows;
        let updates = update.is_some();
        let is_updated = |row: &Row| {
            (0..row.stops.len())
                .map(|i| updates && row.stops[along(row, i)].knot.is_some())
                .collect()
        };
        let mut walk = Self {
            field,
            tableau,
            direction,
            steps: rows.iter().map(|row| row.steps()).collect(),
            is_updated: rows.iter().map(is_updated).collect(),
            before: Vec::with_capacity(schedule.steps() + 1),
            after: Vec::with_capacity(schedule.steps() + 1),
            flows: Vec::with_capacity(schedule.steps()),
            traces: Vec::with_capacity(schedule.steps()),
        };
        let mut state = start;
        let (mut lengths, mut updated, mut knots) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..=schedule.steps() {
            if i > 0 {
                let active = schedule.active(i - 1);
                if active < graph.rows(state) {
                    state = graph.collect(&[state], (0..active).map(|r| (0, r)));
                }
                lengths.clear();
                lengths.extend(rows[..active].iter().map(|row| {
                    let [from, to] = [i - 1, i].map(|i| row.stops[along(row, i)].time);
                    T::from_f64((to - from).abs())
                }));
                let flow = walk.flow_from(graph, state, traced);
                state = advance_from(graph, field, tableau, [state, flow], &lengths);
            }
            walk.before.push(state);
            if let Some(update) = &mut update {
                updated.clear();
                knots.clear();
                for (r, row) in rows[..graph.rows(state)].iter().enumerate() {
                    if let Some(knot) = row.stops[along(row, i)].knot {
                        updated.push(r);
                        knots.push((row.item, knot));
                    }
                }
                state = update_rows(graph, state, &updated, |graph, chosen| {
                    update(graph, chosen, &knots)
                });
            }
            walk.after.push(state);
        }
        walk
    }

    /// f at the start of the next step.
    fn flow_from(&mut self, graph: &mut Graph<'_, T>, state: Var, traced: bool) -> Var {
        if !traced {
            return self.field.flow(graph, state);
        }
        let (flow, trace) = self.field.trace(graph, state);
        self.flows.push(flow);
        self.traces.push(trace);
        flow
    }

    /// The states picked, [picks, width].
    pub(crate) fn states(
        &self,
        graph: &mut Graph<'_, T>,
        picks: impl Iterator<Item = Pick>,
    ) -> Var {
        let sources = self.sources();
        graph.collect(&sources, picks.map(|pick| (self.source(pick), pick.row)))
    }

    /// States before and after all stops, as one list.
    fn sources(&self) -> Vec<Var> {
        self.before
            .iter()
            .zip(&self.after)
            .flat_map(|(&b, &a)| [b, a])
            .collect()
    }

    /// The index in [`Walk::sources`] of a pick.
    fn source(&self, pick: Pick) -> usize {
        let (i, after) = self.seen(pick);
        2 * i + usize::from(after)
    }

    /// The stop along the walk, and whether the state after its update is meant.
    fn seen(&self, pick: Pick) -> (usize, bool) {
        match self.direction {
            Direction::Forward => (pick.stop, pick.side == Side::Right),
            Direction::Backward => (self.steps[pick.row] - pick.stop, pick.side == Side::Left),
        }
    }

    /// States with slope h' = f and, if wanted, curvature h'' = (∂f/∂h) f by time, for picks
    /// in any order, each [picks, width]. Where the next step started from the picked state,
    /// its evaluation of f is used again; the others go through f in stacked passes.
    pub(crate) fn jets(
        &self,
        graph: &mut Graph<'_, T>,
        picks: &[Pick],
        curvature: bool,
    ) -> Jets<Var> {
        let value = self.states(graph, picks.iter().copied());
        let (known, fresh): (Vec<usize>, Vec<usize>) =
            (0..picks.len()).partition(|&p| self.next_step(picks[p]).is_some());
        let mut blocks = Vec::new();
        let mut places = vec![(0, 0); picks.len()];
        for list in [known, fresh] {
            for part in parts(list.len()).map(|range| &list[range]) {
                for (row, &pick) in part.iter().enumerate() {
                    places[pick] = (blocks.len(), row);
                }
                if !part.is_empty() {
                    let part: Vec<Pick> = part.iter().map(|&pick| picks[pick]).collect();
                    blocks.push(self.flow(graph, &part, curvature));
                }
            }
        }
        let mut together = |blocks: Vec<Var>| graph.collect(&blocks, places.iter().copied());
        let flow = together(blocks.iter().map(|block| block.0).collect());
        let curvature = match blocks.iter().map(|block| block.1).collect() {
            Some(blocks) => together(blocks),
            None => graph.zeros_like(flow),
        };
        let slope = match self.direction {
            Direction::Forward => flow,
            // Against the walk's own time: h' changes its sign, h'' does not.
            Direction::Backward => negated(graph, flow),
        };
        Jets {
            value,
            slope,
            curvature,
        }
    }

    /// f and, if wanted, (∂f/∂h) f at picks that are all known from the walk or all new.
    fn flow(
        &self,
        graph: &mut Graph<'_, T>,
        picks: &[Pick],
        curvature: bool,
    ) -> (Var, Option<Var>) {
        let field = self.field;
        let known: Option<Vec<(usize, usize)>> = picks
            .iter()
            .map(|&pick| Some((self.next_step(pick)?, pick.row)))
            .collect();
        let Some(places) = known else {
            let states = self.states(graph, picks.iter().copied());
            let (flow, trace) = field.trace(graph, states);
            return (flow, curvature.then(|| field.tangent(graph, &trace, flow)));
        };
        let flow = graph.collect(&self.flows, places.iter().copied());
        let tangent = curvature.then(|| field.tangent_rows(graph, &self.traces, &places, flow));
        (flow, tangent)
    }

    /// The step that started from a picked state, if one did.
    fn next_step(&self, pick: Pick) -> Option<usize> {
        let (i, after) = self.seen(pick);
        let goes_on = i < self.steps[pick.row];
        (goes_on && (after || !self.is_updated[pick.row][i])).then_some(i)
    }

    /// The side of a knot on which this walk knows its observation.
    pub(crate) fn updated_side(&self) -> Side {
        match self.direction {
            Direction::Forward => Side::Right,
            Direction::Backward => Side::Left,
        }
    }

    /// States `distance` after the given states in the time of the series (negative: before),
    /// by one step of the solver along the flow, never across a knot.
    pub(crate) fn follow(&self, graph: &mut Graph<'_, T>, states: Var, distances: &[T]) -> Var {
        let lengths: Vec<T> = match self.direction {
            Direction::Forward => distances.to_vec(),
            Direction::Backward => distances.iter().map(|&d| -d).collect(),
        };
        advance(graph, self.field, self.tableau, states, &lengths)
    }
}

/// `update` of the rows `updated`; the others stay.
fn update_rows<T: Float>(
    graph: &mut Graph<'_, T>,
    state: Var,
    updated: &[usize],
    update: impl FnOnce(&mut Graph<'_, T>, Var) -> Var,
) -> Var {
    let rows = graph.rows(state);
    if updated.is_empty() {
        return state;
    }
    if updated.len() == rows {
        return update(graph, state);
    }
    let chosen = graph.collect(&[state], updated.iter().map(|&r| (0, r)));
    let new = update(graph, chosen);
    let mut next = updated.iter().copied().enumerate().peekable();
    graph.collect(
        &[state, new],
        (0..rows).map(|r| match next.next_if(|&(_, u)| u == r) {
            Some((i, _)) => (1, i),
            None => (0, r),
        }),
    )
}

fn negated<T: Float>(graph: &mut Graph<'_, T>, var: Var) -> Var {
    let count = graph.rows(var);
    graph.mix(&[var], |rows| {
        for r in 0..count {
            rows.term(0, r, -T::ONE).end_row();
        }
    })
}
