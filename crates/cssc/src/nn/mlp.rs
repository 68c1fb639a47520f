//! Fully connected networks and the passage of derivatives through them.
//!
//! A [`Jet`] is a value with its first and, if wanted, second derivative by time. A linear
//! layer maps each by the same matrix; an activation by the chain rule (`ops/jet.rs`). So
//! (h, h', h'') through g gives o, ȯ, ö exactly, Hessian included, for about three forward
//! passes (method notes, section 4), and the tangent pass of f along itself gives
//! h'' = (∂f/∂h) f.

use super::activation::Activation;
use super::float::Float;
use super::graph::Graph;
use super::memory::Var;
use super::ops::Linear;
use super::parameters::{Initializer, Parameters};
use crate::data::Random;
use std::ops::Range;

/// Rows that pass all layers together at most: their blocks (96 rows of 300 numbers are 115 kB)
/// stay in the second-level cache from one layer to the next.
const ROWS_TOGETHER: usize = 96;

/// `rows` in as few equal parts of at most [`ROWS_TOGETHER`] as possible.
pub(crate) fn parts(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let count = rows.div_ceil(ROWS_TOGETHER).max(1);
    (0..count).map(move |i| rows * i / count..rows * (i + 1) / count)
}

/// Runs `f` on the rows of `inputs` part by part and puts the results together again.
fn in_parts<T: Float, const N: usize>(
    graph: &mut Graph<'_, T>,
    inputs: [Var; N],
    mut f: impl FnMut(&mut Graph<'_, T>, [Var; N]) -> [Var; N],
) -> [Var; N] {
    let rows = graph.rows(inputs[0]);
    if rows <= ROWS_TOGETHER {
        return f(graph, inputs);
    }
    let mut results = Vec::with_capacity(rows.div_ceil(ROWS_TOGETHER));
    for part in parts(rows) {
        let some = inputs.map(|x| graph.collect(&[x], part.clone().map(|r| (0, r))));
        results.push(f(graph, some));
        some.into_iter().for_each(|x| graph.forget(x));
    }
    std::array::from_fn(|i| {
        let blocks: Vec<Var> = results.iter().map(|result| result[i]).collect();
        let picks = parts(rows).enumerate();
        let picks = picks.flat_map(|(block, part)| (0..part.len()).map(move |r| (block, r)));
        let all = graph.collect(&blocks, picks);
        blocks.into_iter().for_each(|x| graph.forget(x));
        all
    })
}

/// A value with its derivatives by time, each [rows, columns].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jet {
    /// Value.
    pub value: Var,
    /// First derivative.
    pub slope: Var,
    /// Second derivative.
    pub curvature: Option<Var>,
}

impl Jet {
    /// A value with its first derivative.
    fn first(value: Var, slope: Var) -> Self {
        let curvature = None;
        Self {
            value,
            slope,
            curvature,
        }
    }
}

/// A fully connected network: `activation` after every layer but the last, `last` after that.
#[derive(Clone, PartialEq, Debug)]
pub struct Mlp {
    layers: Vec<Linear>,
    activation: Activation,
    last: Activation,
}

/// The sources of the activations of one pass, layer by layer: what a tangent pass needs.
/// They lie on the record at even distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trace {
    first: Var,
    stride: u32,
    /// What came out of the network.
    pub output: Var,
}

impl Trace {
    /// Source of the activation after layer `layer`.
    #[must_use]
    pub fn source(&self, layer: usize) -> Var {
        Var(self.first.0 + self.stride * layer as u32)
    }
}

impl Mlp {
    /// Adds layers `NAME.0`, `NAME.1`, … for the given widths (input first) to the store.
    ///
    /// # Panics
    /// With fewer than two widths.
    pub fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        widths: &[usize],
        [activation, last]: [Activation; 2],
        initializer: Initializer,
        random: &mut Random,
    ) -> Self {
        assert!(
            widths.len() > 1,
            "a network needs an input and an output width"
        );
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(i, pair)| {
                let layer = format!("{name}.{i}");
                Linear::new(parameters, &layer, pair[0], pair[1], initializer, random)
            })
            .collect();
        Self {
            layers,
            activation,
            last,
        }
    }

    /// Number of layers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Width of what goes in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.layers[0].inputs()
    }

    /// Width of what comes out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers[self.depth() - 1].outputs()
    }

    fn activation_of(&self, layer: usize) -> Activation {
        if layer + 1 == self.depth() {
            self.last
        } else {
            self.activation
        }
    }

    /// The network of x [rows, inputs]: [rows, outputs].
    pub fn forward<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        let [y] = in_parts(graph, [x], |graph, [x]| [self.forward_part(graph, x)]);
        y
    }

    fn forward_part<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        let mut y = x;
        for (i, layer) in self.layers.iter().enumerate() {
            let next = graph.linear(y, layer, self.activation_of(i));
            if i > 0 {
                graph.forget(y);
            }
            y = next;
        }
        y
    }

    /// Like [`Mlp::forward`], keeping what a tangent pass needs.
    pub fn forward_traced<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> Trace {
        let stride = if self.activation.source_is_input() {
            2
        } else {
            1
        };
        let first = graph.next_var();
        let mut y = x;
        for (i, layer) in self.layers.iter().enumerate() {
            y = graph.linear(y, layer, self.activation_of(i));
        }
        Trace {
            first,
            stride,
            output: y,
        }
    }

    /// First derivative of the output along x' = `slope`, given the trace of a value pass.
    pub fn tangent<T: Float>(&self, graph: &mut Graph<'_, T>, trace: &Trace, slope: Var) -> Var {
        self.pass_tangent(graph, slope, |graph, layer, slope, activation| {
            graph.tangent(trace.source(layer), slope, activation)
        })
    }

    /// The same where each row of `slope` belongs to a (trace, row) of `picks`.
    pub fn tangent_rows<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        traces: &[Trace],
        picks: &[(usize, usize)],
        slope: Var,
    ) -> Var {
        self.pass_tangent(graph, slope, |graph, layer, slope, activation| {
            let sources: Vec<Var> = traces.iter().map(|trace| trace.source(layer)).collect();
            graph.tangent_rows(&sources, picks.iter().copied(), slope, activation)
        })
    }

    fn pass_tangent<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        mut slope: Var,
        activate: impl Fn(&mut Graph<'_, T>, usize, Var, Activation) -> Var,
    ) -> Var {
        for (i, layer) in self.layers.iter().enumerate() {
            slope = graph.linear_tangent(slope, layer);
            let activation = self.activation_of(i);
            if activation != Activation::Identity {
                slope = activate(graph, i, slope, activation);
            }
        }
        slope
    }

    /// Value and derivatives of the output from those of the input.
    pub fn jet<T: Float>(&self, graph: &mut Graph<'_, T>, x: Jet) -> Jet {
        let Some(curvature) = x.curvature else {
            let [value, slope] = in_parts(graph, [x.value, x.slope], |graph, [value, slope]| {
                let jet = self.jet_part(graph, Jet::first(value, slope));
                [jet.value, jet.slope]
            });
            return Jet::first(value, slope);
        };
        let inputs = [x.value, x.slope, curvature];
        let [value, slope, curvature] = in_parts(graph, inputs, |graph, [value, slope, c]| {
            let curvature = Some(c);
            let x = Jet {
                value,
                slope,
                curvature,
            };
            let jet = self.jet_part(graph, x);
            [jet.value, jet.slope, jet.curvature.unwrap_or(c)]
        });
        let curvature = Some(curvature);
        Jet {
            value,
            slope,
            curvature,
        }
    }

    fn jet_part<T: Float>(&self, graph: &mut Graph<'_, T>, x: Jet) -> Jet {
        let mut jet = x;
        for (i, layer) in self.layers.iter().enumerate() {
            let activation = self.activation_of(i);
            let before = graph.next_var();
            let value = graph.linear(jet.value, layer, activation);
            let source = if activation.source_is_input() {
                before
            } else {
                value
            };
            let slope = graph.linear_tangent(jet.slope, layer);
            let curvature = jet.curvature.map(|c| graph.linear_tangent(c, layer));
            jet = Jet {
                value,
                slope,
                curvature,
            };
            if activation != Activation::Identity {
                jet = Jet {
                    value,
                    slope: graph.tangent(source, slope, activation),
                    curvature: curvature.map(|c| graph.curve(source, slope, c, activation)),
                };
            }
        }
        jet
    }
}
