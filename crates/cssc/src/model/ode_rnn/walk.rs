//! The walk of an ODE-RNN over a batch (paper eq. 1-4), and how its states are read.
//!
//! Between stops the state follows h' = f(h); at a knot the cell updates it. The state before
//! the update is the limit from the left, the state after it the limit from the right; a walk
//! that comes back from the end sees them the other way round. Before its first observation
//! the state is 0.

use super::network::Walker;
use crate::nn::{Float, Graph, Trace, Var, parts};
use crate::ode::{Field, Row, Schedule, Tableau, advance, advance_from};
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

/// The recorded walk of a batch.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    walker: &'a Walker,
    tableau: &'a Tableau,
    direction: Direction,
    /// Steps of each row.
    steps: Vec<usize>,
    /// Whether a row's stop, counted along the walk, is a knot.
    is_knot: Vec<Vec<bool>>,
    /// States before and after the update at each stop, counted along the walk.
    before: Vec<Var>,
    after: Vec<Var>,
    /// First evaluation of f in each step, at the state after the stop's update.
    traces: Vec<Trace>,
}

impl<'a> Walk<'a> {
    /// Walks all rows of `schedule`; a traced walk can give jets. `inputs(item, knot)` appends
    /// what the cell reads at a knot: values, then mask.
    pub(crate) fn record<T: Float>(
        graph: &mut Graph<'_, T>,
        walker: &'a Walker,
        tableau: &'a Tableau,
        schedule: &Schedule,
        (direction, traced): (Direction, bool),
        mut inputs: impl FnMut(usize, usize, &mut Vec<T>),
    ) -> Self {
        let along = |row: &Row, i: usize| match direction {
            Direction::Forward => i,
            Direction::Backward => row.steps() - i,
        };
        let rows = &schedule.rows;
        let hidden = walker.dynamics.inputs();
        let mut walk = Self {
            walker,
            tableau,
            direction,
            steps: rows.iter().map(|row| row.steps()).collect(),
            is_knot: rows
                .iter()
                .map(|row| {
                    (0..row.stops.len())
                        .map(|i| row.stops[along(row, i)].knot.is_some())
                        .collect()
                })
                .collect(),
            before: Vec::with_capacity(schedule.steps() + 1),
            after: Vec::with_capacity(schedule.steps() + 1),
            traces: Vec::with_capacity(schedule.steps()),
        };
        let mut state = graph.input(rows.len(), hidden, &vec![T::ZERO; rows.len() * hidden]);
        let (mut lengths, mut updated, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
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
                let dynamics = &walker.dynamics;
                let start = traced.then(|| dynamics.forward_traced(graph, state));
                let flow = match start {
                    Some(trace) => trace.output,
                    None => dynamics.flow(graph, state),
                };
                walk.traces.extend(start);
                state = advance_from(graph, dynamics, tableau, [state, flow], &lengths);
            }
            walk.before.push(state);
            updated.clear();
            numbers.clear();
            for (r, row) in rows[..graph.rows(state)].iter().enumerate() {
                if let Some(knot) = row.stops[along(row, i)].knot {
                    updated.push(r);
                    inputs(row.item, knot, &mut numbers);
                }
            }
            state = update(graph, walker, state, &updated, &numbers);
            walk.after.push(state);
        }
        walk
    }

    /// The states picked, [picks, hidden].
    pub(crate) fn states<T: Float>(
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
    /// in any order, each [picks, hidden]. Where the next step started from the picked state,
    /// its evaluation of f is used again; the others go through f in stacked passes.
    pub(crate) fn jets<T: Float>(
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
    fn flow<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        picks: &[Pick],
        curvature: bool,
    ) -> (Var, Option<Var>) {
        let dynamics = &self.walker.dynamics;
        let known: Option<Vec<(usize, usize)>> = picks
            .iter()
            .map(|&pick| Some((self.next_step(pick)?, pick.row)))
            .collect();
        let Some(places) = known else {
            let states = self.states(graph, picks.iter().copied());
            let trace = dynamics.forward_traced(graph, states);
            let flow = trace.output;
            return (
                flow,
                curvature.then(|| dynamics.tangent(graph, &trace, flow)),
            );
        };
        let outputs: Vec<Var> = self.traces.iter().map(|trace| trace.output).collect();
        let flow = graph.collect(&outputs, places.iter().copied());
        let tangent = curvature.then(|| dynamics.tangent_rows(graph, &self.traces, &places, flow));
        (flow, tangent)
    }

    /// The step that started from a picked state, if one did.
    fn next_step(&self, pick: Pick) -> Option<usize> {
        let (i, after) = self.seen(pick);
        let goes_on = i < self.steps[pick.row];
        (goes_on && (after || !self.is_knot[pick.row][i])).then_some(i)
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
    pub(crate) fn follow<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        states: Var,
        distances: &[T],
    ) -> Var {
        let lengths: Vec<T> = match self.direction {
            Direction::Forward => distances.to_vec(),
            Direction::Backward => distances.iter().map(|&d| -d).collect(),
        };
        advance(graph, &self.walker.dynamics, self.tableau, states, &lengths)
    }
}

/// The cell on the rows `updated`; the others stay.
fn update<T: Float>(
    graph: &mut Graph<'_, T>,
    walker: &Walker,
    state: Var,
    updated: &[usize],
    numbers: &[T],
) -> Var {
    let rows = graph.rows(state);
    if updated.is_empty() {
        return state;
    }
    let inputs = graph.input(updated.len(), numbers.len() / updated.len(), numbers);
    if updated.len() == rows {
        return walker.cell.forward(graph, state, inputs);
    }
    let chosen = graph.collect(&[state], updated.iter().map(|&r| (0, r)));
    let new = walker.cell.forward(graph, chosen, inputs);
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
