//! The states of a model's walks, and the limits of its prediction at the knots.
//!
//! A two-sided model has a second walk that comes back from the end; its states stand beside
//! those of the first. From the right of a knot one sees the first walk after its update and
//! the second before its own; from the left the other way round (method notes, section 8).

use super::config::{Derivatives, OdeRnnConfig, StopGradient};
use super::network::OdeRnn;
use super::walk::{Direction, Pick, Walk};
use crate::nn::{Float, Graph, Layer, Mlp, Var};
use crate::ode::{Place, Schedule, hermite};
use crate::{Jets, Side};

/// The walks of a model over one batch.
#[derive(Debug)]
pub(crate) struct States<'a> {
    walks: Vec<Walk<'a>>,
}

/// Limits of a prediction at all knots of all rows, each [knots, channels].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) left: Jets<Var>,
    pub(crate) right: Jets<Var>,
}

/// Which limits exist at the knots of a batch, in the order they are computed.
#[derive(Debug)]
struct KnotPicks {
    picks: Vec<Pick>,
    /// For every knot of every row: the pick that stands for its left and its right limit.
    left: Vec<usize>,
    right: Vec<usize>,
}

impl KnotPicks {
    /// Nothing is computed on the outer sides of the series, where the compensation reads
    /// nothing; the other limit stands there. `last_right` asks for it at the last knots.
    fn new(schedule: &Schedule, last_right: bool) -> Self {
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
                if has_left {
                    all.picks.push(Pick {
                        row,
                        stop,
                        side: Side::Left,
                    });
                }
                if has_right {
                    all.picks.push(Pick {
                        row,
                        stop,
                        side: Side::Right,
                    });
                }
                all.left.push(first);
                all.right.push(all.picks.len() - 1);
            }
        }
        all
    }
}

impl<'a> States<'a> {
    /// Records the walks of `network`.
    pub(crate) fn record<T: Float>(
        graph: &mut Graph<'_, T>,
        network: &'a OdeRnn,
        schedule: &Schedule,
        traced: bool,
        mut inputs: impl FnMut(usize, usize, &mut Vec<T>),
    ) -> Self {
        let tableau = network.config.solver.tableau();
        let walkers = [
            (Some(&network.forward), Direction::Forward),
            (network.backward.as_ref(), Direction::Backward),
        ];
        let walks = walkers
            .into_iter()
            .filter_map(|(walker, direction)| Some((walker?, direction)))
            .map(|(walker, direction)| {
                let how = (direction, traced);
                Walk::record(graph, walker, tableau, schedule, how, &mut inputs)
            })
            .collect();
        Self { walks }
    }

    /// States picked, [picks, hidden] or [picks, 2·hidden].
    fn read<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        picks: impl Iterator<Item = Pick> + Clone,
    ) -> Var {
        self.each(graph, |graph, walk| walk.states(graph, picks.clone()))
    }

    fn each<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        mut f: impl FnMut(&mut Graph<'_, T>, &Walk<'_>) -> Var,
    ) -> Var {
        let mut all = f(graph, &self.walks[0]);
        for walk in &self.walks[1..] {
            let other = f(graph, walk);
            all = graph.concat(all, other);
        }
        all
    }

    fn jets<T: Float>(
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
    pub(crate) fn at_query<T: Float>(
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
        self.jets_at_query(graph, schedule, last, 0)[0]
    }

    /// States at the query times with their derivatives by time up to `highest` (0, 1 or 2).
    pub(crate) fn jets_at_query<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        last: Side,
        highest: usize,
    ) -> Vec<Var> {
        // Both ends of the steps that are asked, and where each query reads.
        let mut picks = Vec::new();
        let mut reads: Vec<(usize, Option<(f64, f64)>)> = Vec::new();
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
        let ends = self.jets(graph, &picks, true);
        let sources = [ends.value, ends.slope, ends.curvature];
        (0..=highest)
            .map(|derivative| {
                graph.mix(&sources, |rows| {
                    for &(first, inside) in &reads {
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
            })
            .collect()
    }

    /// Limits of o = g(h) at the knots. `last_right`: also to the right of the last knots.
    pub(crate) fn output_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        network: &OdeRnn,
        schedule: &Schedule,
        last_right: bool,
    ) -> Limits {
        let knots = KnotPicks::new(schedule, last_right);
        let config = &network.config;
        let decoder = &network.decoder;
        let jets = match config.derivatives {
            Derivatives::Numerical(step) => {
                self.differences(graph, &knots.picks, step, |graph, h| {
                    decoder.forward(graph, h)
                })
            }
            _ => {
                let jets = self.jets(graph, &knots.picks, !config.drop_curvature);
                decode(graph, decoder, jets, config)
            }
        };
        self.limits(graph, config, jets, &knots)
    }

    /// Limits of the state itself at the knots.
    pub(crate) fn hidden_limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        network: &OdeRnn,
        schedule: &Schedule,
    ) -> Limits {
        let knots = KnotPicks::new(schedule, false);
        let config = &network.config;
        let jets = match config.derivatives {
            Derivatives::Numerical(step) => self.differences(graph, &knots.picks, step, |_, h| h),
            _ => self.jets(graph, &knots.picks, !config.drop_curvature),
        };
        self.limits(graph, config, jets, &knots)
    }

    /// The states that know each knot's observation, in the order of the knots of all rows:
    /// what hidden CSSC passes through.
    pub(crate) fn updated<T: Float>(&self, graph: &mut Graph<'_, T>, schedule: &Schedule) -> Var {
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
    fn differences<T: Float>(
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

    /// Applies `stop_gradient` and `drop_curvature`, and lays the limits out knot by knot.
    fn limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        config: &OdeRnnConfig,
        mut jets: Jets<Var>,
        knots: &KnotPicks,
    ) -> Limits {
        if matches!(
            config.stop_gradient,
            StopGradient::Slope | StopGradient::Both
        ) {
            jets.slope = graph.detach(jets.slope);
        }
        if matches!(
            config.stop_gradient,
            StopGradient::Curvature | StopGradient::Both
        ) {
            jets.curvature = graph.detach(jets.curvature);
        }
        if config.drop_curvature {
            jets.curvature = graph.zeros_like(jets.curvature);
        }
        let mut side = |picks: &[usize]| {
            jets.map(|block| graph.collect(&[block], picks.iter().map(|&pick| (0, pick))))
        };
        Limits {
            left: side(&knots.left),
            right: side(&knots.right),
        }
    }
}

fn pick(row: usize, stop: usize, last_stop: usize, last: Side) -> Pick {
    Pick {
        row,
        stop,
        side: if stop == last_stop { last } else { Side::Right },
    }
}

/// (o, ȯ, ö) from (h, h', h''), as the settings of the training say.
fn decode<T: Float>(
    graph: &mut Graph<'_, T>,
    decoder: &Mlp,
    state: Jets<Var>,
    config: &OdeRnnConfig,
) -> Jets<Var> {
    if config.drop_curvature {
        let (value, slope) = decoder.jvp(graph, state.value, state.slope);
        let curvature = graph.zeros_like(slope);
        return Jets {
            value,
            slope,
            curvature,
        };
    }
    if config.derivatives == Derivatives::NoHessian {
        let trace = decoder.forward_traced(graph, state.value);
        return Jets {
            value: trace.output,
            slope: decoder.tangent(graph, &trace, state.slope),
            curvature: decoder.tangent(graph, &trace, state.curvature),
        };
    }
    decoder.jet(graph, state)
}
