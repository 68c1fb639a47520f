//! What a layer is: rows in, rows out, and how time derivatives pass it.
//!
//! [`Jets<Var>`](crate::Jets) is a value with its first two derivatives by time. A linear map
//! takes each by the same matrix; an activation by the chain rule (`ops/jet.rs`). So
//! (h, h', h'') through g gives o, ȯ, ö exactly, Hessian included, for about three forward
//! passes (method notes, section 4).

use super::activation::Activation;
use super::float::Float;
use super::graph::Graph;
use super::memory::Var;
use super::ops::Linear;
use super::parameters::{Initializer, Parameters};
use crate::Jets;
use crate::data::Random;
use std::fmt::Debug;

/// A function of each row, with its passage of time derivatives.
///
/// A layer of one's own is composed from the operations of [`Graph`] and needs no gradient:
///
/// ```
/// use cssc::Jets;
/// use cssc::nn::{Float, Graph, Layer, Var};
///
/// /// x + L(x).
/// #[derive(Debug)]
/// struct Residual<L>(L);
///
/// impl<T: Float, L: Layer<T>> Layer<T> for Residual<L> {
///     fn inputs(&self) -> usize {
///         self.0.inputs()
///     }
///     fn outputs(&self) -> usize {
///         self.0.outputs()
///     }
///     fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
///         let y = self.0.forward(graph, x);
///         graph.sum(x, y)
///     }
///     fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
///         let y = self.0.jet(graph, x);
///         x.zip(y, |x, y| graph.sum(x, y))
///     }
/// }
/// ```
pub trait Layer<T: Float>: Debug + Send + Sync {
    /// Width of what goes in.
    fn inputs(&self) -> usize;

    /// Width of what comes out.
    fn outputs(&self) -> usize;

    /// The layer of x `[rows, inputs]`: `[rows, outputs]`.
    fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var;

    /// Value, slope and curvature of the output from those of the input.
    fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var>;

    /// Value and slope only (a Jacobian-vector product). As it stands it throws a curvature
    /// away: layers that are used without curvature should say how to leave it out.
    fn jvp(&self, graph: &mut Graph<'_, T>, x: Var, slope: Var) -> (Var, Var) {
        let curvature = graph.zeros_like(x);
        let y = self.jet(
            graph,
            Jets {
                value: x,
                slope,
                curvature,
            },
        );
        (y.value, y.slope)
    }
}

/// A fully connected layer with its activation: φ(x·W + b).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dense {
    pub(super) linear: Linear,
    pub(super) activation: Activation,
}

impl Dense {
    /// Adds `NAME.weight` and `NAME.bias` (zero) to the store.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        [inputs, outputs]: [usize; 2],
        activation: Activation,
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        let linear = Linear::new(parameters, name, inputs, outputs, initializer, random);
        Self { linear, activation }
    }

    /// φ(x·W + b), and the source of φ's derivatives there.
    fn value_and_source<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> (Var, Var) {
        let first = graph.next_var();
        let value = graph.linear(x, &self.linear, self.activation);
        let from_input = self.activation.source_is_input();
        (value, if from_input { first } else { value })
    }
}

impl<T: Float> Layer<T> for Dense {
    fn inputs(&self) -> usize {
        self.linear.inputs()
    }

    fn outputs(&self) -> usize {
        self.linear.outputs()
    }

    fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        graph.linear(x, &self.linear, self.activation)
    }

    fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
        let value = self.value_and_source(graph, x.value);
        let slope = graph.linear_tangent(x.slope, &self.linear);
        let curvature = graph.linear_tangent(x.curvature, &self.linear);
        jet_through(graph, value, [slope, curvature], self.activation)
    }

    fn jvp(&self, graph: &mut Graph<'_, T>, x: Var, slope: Var) -> (Var, Var) {
        let (value, source) = self.value_and_source(graph, x);
        let slope = graph.linear_tangent(slope, &self.linear);
        if self.activation == Activation::Identity {
            return (value, slope);
        }
        (value, graph.tangent(source, slope, self.activation))
    }
}

/// The jet of φ(a): from its value and the source of φ's derivatives, and the slope and curvature of a.
pub(crate) fn jet_through<T: Float>(
    graph: &mut Graph<'_, T>,
    (value, source): (Var, Var),
    [slope, curvature]: [Var; 2],
    activation: Activation,
) -> Jets<Var> {
    if activation == Activation::Identity {
        return Jets {
            value,
            slope,
            curvature,
        };
    }
    Jets {
        value,
        slope: graph.tangent(source, slope, activation),
        curvature: graph.curve(source, slope, curvature, activation),
    }
}
