//! The limits of the prediction and of the state at the knots, as the settings say.

use super::config::{Derivatives, OdeRnnConfig, StopGradient};
use super::network::OdeRnn;
use crate::Jets;
use crate::model::walk::{KnotPicks, SidedJets, States};
use crate::nn::{Float, Graph, Layer, Mlp, Var};
use crate::ode::Schedule;

impl OdeRnn {
    /// Limits of o = g(h) at the knots. `last_right`: also to the right of the last knots.
    pub(crate) fn limits_of_output<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        states: &States<'_, T, Mlp>,
        last_right: bool,
    ) -> SidedJets {
        let knots = KnotPicks::new(schedule, last_right);
        let (config, decoder) = (&self.config, &self.decoder);
        let jets = match config.derivatives {
            Derivatives::Numerical(step) => {
                states.differences(graph, &knots.picks, step, |graph, h| {
                    decoder.forward(graph, h)
                })
            }
            _ => {
                let jets = states.jets(graph, &knots.picks, !config.drop_curvature);
                decode(graph, decoder, jets, config)
            }
        };
        self.limits(graph, jets, &knots)
    }

    /// Limits of the state itself at the knots.
    pub(crate) fn limits_of_state<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        schedule: &Schedule,
        states: &States<'_, T, Mlp>,
    ) -> SidedJets {
        let knots = KnotPicks::new(schedule, false);
        let jets = match self.config.derivatives {
            Derivatives::Numerical(step) => states.differences(graph, &knots.picks, step, |_, h| h),
            _ => states.jets(graph, &knots.picks, !self.config.drop_curvature),
        };
        self.limits(graph, jets, &knots)
    }

    /// Applies `stop_gradient` and `drop_curvature`, and lays the limits out knot by knot.
    fn limits<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        mut jets: Jets<Var>,
        knots: &KnotPicks,
    ) -> SidedJets {
        let stopped = self.config.stop_gradient;
        if matches!(stopped, StopGradient::Slope | StopGradient::Both) {
            jets.slope = graph.detach(jets.slope);
        }
        if matches!(stopped, StopGradient::Curvature | StopGradient::Both) {
            jets.curvature = graph.detach(jets.curvature);
        }
        if self.config.drop_curvature {
            jets.curvature = graph.zeros_like(jets.curvature);
        }
        knots.lay_out(graph, jets)
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
