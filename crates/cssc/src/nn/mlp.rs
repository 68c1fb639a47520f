//! Fully connected networks and the passage of derivatives through them.
//!
//! Values and jets pass all layers ([`Layer`]); a [`Trace`] of a value pass lets directions
//! follow later, and the tangent of f along itself is h'' = (∂f/∂h) f.

use super::activation::Activation;
use super::float::Float;
use super::graph::Graph;
use super::layer::{Dense, Layer};
use super::memory::Var;
use super::parameters::{Initializer, Parameters};
use crate::Jets;
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

/// A fully connected network: `activation` after every layer but the last, `last` after that.
#[derive(Clone, PartialEq, Debug)]
pub struct Mlp {
    layers: Vec<Dense>,
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
        let count = widths.len() - 1;
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(i, pair)| {
                let name = format!("{name}.{i}");
                let activation = if i + 1 == count { last } else { activation };
                let widths = [pair[0], pair[1]];
                Dense::new(parameters, &name, widths, activation, initializer, random)
            })
            .collect();
        Self { layers }
    }

    pub(super) fn layers(&self) -> &[Dense] {
        &self.layers
    }

    /// Number of layers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Width of what goes in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.layers[0].linear.inputs()
    }

    /// Width of what comes out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers[self.depth() - 1].linear.outputs()
    }

    /// Like [`Layer::forward`], keeping what a tangent pass needs.
    pub fn forward_traced<T: Float>(&self, graph: &mut Graph<'_, T>, x: Var) -> Trace {
        // The first result of a layer is the source of its activation's derivatives.
        let stride = 1 + u32::from(self.layers[0].activation.source_is_input());
        let first = graph.next_var();
        let output = self
            .layers
            .iter()
            .fold(x, |y, layer| layer.forward(graph, y));
        Trace {
            first,
            stride,
            output,
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
            slope = graph.linear_tangent(slope, &layer.linear);
            if layer.activation != Activation::Identity {
                slope = activate(graph, i, slope, layer.activation);
            }
        }
        slope
    }
}

impl<T: Float> Layer<T> for Mlp {
    fn inputs(&self) -> usize {
        self.inputs()
    }

    fn outputs(&self) -> usize {
        self.outputs()
    }

    fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
        let [y] = in_parts(graph, [x], |graph, [x]| {
            let mut y = x;
            for (i, layer) in self.layers.iter().enumerate() {
                let next = layer.forward(graph, y);
                if i > 0 {
                    graph.forget(y);
                }
                y = next;
            }
            [y]
        });
        y
    }

    fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
        let x = [x.value, x.slope, x.curvature];
        let [value, slope, curvature] = in_parts(graph, x, |graph, [value, slope, curvature]| {
            let x = Jets {
                value,
                slope,
                curvature,
            };
            let y = self.layers.iter().fold(x, |x, layer| layer.jet(graph, x));
            [y.value, y.slope, y.curvature]
        });
        Jets {
            value,
            slope,
            curvature,
        }
    }

    fn jvp(&self, graph: &mut Graph<'_, T>, x: Var, slope: Var) -> (Var, Var) {
        let [value, slope] = in_parts(graph, [x, slope], |graph, [x, slope]| {
            let layers = self.layers.iter();
            let (y, slope) =
                layers.fold((x, slope), |(x, slope), layer| layer.jvp(graph, x, slope));
            [y, slope]
        });
        (value, slope)
    }
}
