//! The states of a model's walks at the times asked and at the knots.
//!
//! A two-sided model has a second walk that comes back from the end; its states stand beside
//! those of the first. From the right of a knot one sees the first walk after its update and
//! the second before its own; from the left the other way round (method notes, section 8).

use super::record::{Pick, Walk};
use crate::nn::{Float, Graph, Var};
use crate::ode::{Place, Schedule, SmoothField, hermite};
use crate::{Jets, Side};

/// The walks of a model over one batch.
#[derive(Debug)]
pub(crate) struct States<'a, T: Float, F: SmoothField<T>> {
    pub(crate) walks: Vec<Walk<'a, T, F>>,
}

impl<T: Float, F: SmoothField<T>> States<'_, T, F> {
    /// States picked, [picks, width] or [picks, 2·width].
    pub(crate) fn read(
        &self,
        graph: &mut Graph<'_, T>,
        picks: impl Iterator<Item = Pick> + Clone,
    ) -> Var {
        self.each(graph, |graph, walk| walk.states(graph, picks.clone()))
    }

    fn each(
        &self,
        graph: &mut Graph<'_, T>,
        mut f: impl FnMut(&mut Graph<'_, T>, &Walk<'_, T, F>) -> Var,
    ) -> Var {
        let mut all = f(graph, &self.walks[0]);
        for walk in &self.walks[1..] {
            let other = f(graph, walk);
            all = graph.concat(all, other);
        }
        all
    }

    /// States picked with their derivatives by time.
    pub(crate) fn jets(
        &self,
        graph: &mut Graph<'_, T>,
        picks: &[Pick],
        curvature: bool,
    ) -> Jets<Var> {
        let mut all = self.walks[0].jets(graph, picks, curvature);
        for walk in &self.walks[1..] {
            let other = walk.jets(graph, picks, curvature);
            all = Jets {
                value: graph.concat(all.value, other.value),
                slope: graph.concat(all.slope, other.slope),
                curvature: graph.concat(all.curvature, other.curvature),
            };
        }
        all
    }

    /// States at the query times of all rows; at a knot from the right, at the last knot from
    /// the side `last`. Between stops: the smooth curve of `ode::hermite`.
    pub(crate) fn at_query(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        last: Side,
    ) -> Var {
        let between = schedule.rows.iter().flat_map(|row| &row.places);
        if between
            .into_iter()
            .all(|place| matches!(place, Place::At(_)))
        {
            let picks = schedule.rows.iter().enumerate().flat_map(|(row, walk)| {
                walk.places.iter().map(move |place| match *place {
                    Place::At(stop) | Place::After(stop, _) => pick(row, stop, walk.steps(), last),
                })
            });
            return self.read(graph, picks);
        }
        let (ends, reads) = self.ends_at_query(graph, schedule, last);
        read_inside(graph, ends, &reads, 0)
    }

    /// States at the query times with their derivatives by time.
    pub(crate) fn jets_at_query(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        last: Side,
    ) -> Jets<Var> {
        let (ends, reads) = self.ends_at_query(graph, schedule, last);
        let mut derivative = |derivative| read_inside(graph, ends, &reads, derivative);
        Jets {
            value: derivative(0),
            slope: derivative(1),
            curvature: derivative(2),
        }
    }

    /// The states at the ends of the steps that are asked, and where each query reads: at such a
    /// state, or from there on at a fraction of a step of some length.
    fn ends_at_query(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        last: Side,
    ) -> (Jets<Var>, Vec<Read>) {
        // Both ends of the steps that are asked, and where each query reads.
        let mut picks = Vec::new();
        let mut reads: Vec<Read> = Vec::new();
        for (row, walk) in schedule.rows.iter().enumerate() {
            let mut open: Option<(usize, usize)> = None;
            for place in &walk.places {
                match *place {
                    Place::At(stop) => {
                        reads.push((picks.len(), None));
                        picks.push(pick(row, stop, walk.steps(), last));
                        open = None;
                    }
                    Place::After(stop, fraction) => {
                        let first = match open {
                            Some((step, first)) if step == stop => first,
                            _ => {
                                picks.push(Pick {
                                    row,
                                    stop,
                                    side: Side::Right,
                                });
                                picks.push(Pick {
                                    row,
                                    stop: stop + 1,
                                    side: Side::Left,
                                });
                                open = Some((stop, picks.len() - 2));
                                picks.len() - 2
                            }
                        };
                        let length = walk.stops[stop + 1].time - walk.stops[stop].time;
                        reads.push((first, Some((fraction, length))));
                    }
                }
            }
        }
        (self.jets(graph, &picks, true), reads)
    }

    /// The states that know each knot's observation, in the order of the knots of all rows:
    /// what hidden CSSC passes through.
    pub(crate) fn updated(&self, graph: &mut Graph<'_, T>, schedule: &Schedule) -> Var {
        self.each(graph, |graph, walk| {
            let side = walk.updated_side();
            let picks = schedule.rows.iter().enumerate().flat_map(|(row, walk)| {
                walk.knot_stops
                    .iter()
                    .map(move |&stop| Pick { row, stop, side })
            });
            walk.states(graph, picks)
        })
    }

    /// Slope and curvature of `read`(state) by differences along the flow: ±Δ, ±2Δ.
    pub(crate) fn differences(
        &self,
        graph: &mut Graph<'_, T>,
        picks: &[Pick],
        step: f64,
        read: impl Fn(&mut Graph<'_, T>, Var) -> Var,
    ) -> Jets<Var> {
        let signs: Vec<f64> = picks
            .iter()
            .map(|p| if p.side == Side::Left { -1.0 } else { 1.0 })
            .collect();
        let distances: Vec<T> = signs.iter().map(|sign| T::from_f64(sign * step)).collect();
        let mut values = Vec::with_capacity(3);
        for distance in 0..3 {
            let states = self.each(graph, |graph, walk| {
                let mut states = walk.states(graph, picks.iter().copied());
                for _ in 0..distance {
                    states = walk.follow(graph, states, &distances);
                }
                states
            });
            values.push(read(graph, states));
        }
        let slope = graph.mix(&values, |rows| {
            for (r, sign) in signs.iter().enumerate() {
                let factor = T::from_f64(sign / step);
                rows.term(1, r, factor).term(0, r, -factor).end_row();
            }
        });
        let curvature = graph.mix(&values, |rows| {
            let factor = 1.0 / (step * step);
            for r in 0..signs.len() {
                for (source, weight) in [(2, 1.0), (1, -2.0), (0, 1.0)] {
                    rows.term(source, r, T::from_f64(weight * factor));
                }
                rows.end_row();
            }
        });
        Jets {
            value: values[0],
            slope,
            curvature,
        }
    }
}

/// A state, and fraction and length of the step from there on if it is read inside.
type Read = (usize, Option<(f64, f64)>);

/// A derivative of the curve through the ends of steps.
fn read_inside<T: Float>(
    graph: &mut Graph<'_, T>,
    ends: Jets<Var>,
    reads: &[Read],
    derivative: usize,
) -> Var {
    let sources = [ends.value, ends.slope, ends.curvature];
    graph.mix(&sources, |rows| {
        for &(first, inside) in reads {
            match inside {
                None => {
                    rows.term(derivative, first, T::ONE);
                }
                Some((fraction, length)) => {
                    let factors = hermite(fraction, length, derivative);
                    for j in 0..3 {
                        rows.term(j, first, T::from_f64(factors.start[j]));
                        rows.term(j, first + 1, T::from_f64(factors.end[j]));
                    }
                }
            }
            rows.end_row();
        }
    })
}

fn pick(row: usize, stop: usize, last_stop: usize, last: Side) -> Pick {
    Pick {
        row,
        stop,
        side: if stop == last_stop { last } else { Side::Right },
    }
}
