//! From the observations of a series to tokens that know each other.
//!
//! A token is an observation: its values (0 where missing), its mask, features of its time. Each
//! layer is x ← x + A(LN x), x ← x + F(LN x), with self-attention A over the tokens of the series and
//! a network F of one hidden layer (norm first: Xiong et al. 2020). The order of the tokens does not matter.

use super::config::LatentCsscConfig;
use super::features::{self, Span};
use crate::data::Random;
use crate::model::Observed;
use crate::model::rows::cell_inputs;
use crate::nn::{
    Activation, AttentionGroups, Dense, Float, Graph, Initializer, Layer, LayerNorm, Mlp,
    Parameters, Var,
};

/// Self-attention with its network.
#[derive(Clone, PartialEq, Debug)]
struct Block {
    norm: LayerNorm,
    projections: [Dense; 3],
    merge: Dense,
    second_norm: LayerNorm,
    network: Mlp,
}

/// The encoder.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Encoder {
    heads: usize,
    frequencies: usize,
    input: Dense,
    blocks: Vec<Block>,
    norm: LayerNorm,
}

/// A layer without activation.
pub(super) fn linear<T: Float>(
    parameters: &mut Parameters<T>,
    name: &str,
    sizes: [usize; 2],
    random: &mut Random,
) -> Dense {
    let initializer = Initializer::FanIn;
    Dense::new(
        parameters,
        name,
        sizes,
        Activation::Identity,
        initializer,
        random,
    )
}

/// A network of one hidden layer, from `width` to `width`.
pub(super) fn feed_forward<T: Float>(
    parameters: &mut Parameters<T>,
    name: &str,
    config: &LatentCsscConfig,
    random: &mut Random,
) -> Mlp {
    let widths = [config.width, config.feed_forward, config.width];
    let activations = [Activation::Silu, Activation::Identity];
    Mlp::new(
        parameters,
        name,
        &widths,
        activations,
        Initializer::FanIn,
        random,
    )
}

impl Block {
    fn new<T: Float>(
        parameters: &mut Parameters<T>,
        name: &str,
        config: &LatentCsscConfig,
        random: &mut Random,
    ) -> Self {
        let square = [config.width, config.width];
        let mut dense = |parameters: &mut Parameters<T>, part: &str| {
            linear(parameters, &format!("{name}.{part}"), square, random)
        };
        let projections = ["queries", "keys", "values"].map(|part| dense(parameters, part));
        let merge = dense(parameters, "merge");
        Self {
            norm: LayerNorm::new(parameters, &format!("{name}.norm"), config.width),
            projections,
            merge,
            second_norm: LayerNorm::new(parameters, &format!("{name}.second-norm"), config.width),
            network: feed_forward(parameters, &format!("{name}.network"), config, random),
        }
    }

    fn forward<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        x: Var,
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Var {
        let normal = graph.layer_norm(x, &self.norm);
        let parts = self.projections.map(|dense| dense.forward(graph, normal));
        let seen = graph.attention(parts, heads, groups);
        let seen = self.merge.forward(graph, seen);
        let x = graph.sum(x, seen);
        let normal = graph.layer_norm(x, &self.second_norm);
        let more = self.network.forward(graph, normal);
        graph.sum(x, more)
    }
}

impl Encoder {
    pub(super) fn new<T: Float>(
        parameters: &mut Parameters<T>,
        config: &LatentCsscConfig,
        random: &mut Random,
    ) -> Self {
        let inputs = 2 * config.channels + features::count(config.frequencies);
        let input = linear(parameters, "encoder.input", [inputs, config.width], random);
        let blocks = (0..config.layers)
            .map(|i| Block::new(parameters, &format!("encoder.{i}"), config, random))
            .collect();
        parameters.embed("encoder.input");
        Self {
            heads: config.heads,
            frequencies: config.frequencies,
            input,
            blocks,
            norm: LayerNorm::new(parameters, "encoder.norm", config.width),
        }
    }

    /// The tokens of all series, one after the other: [observations, width].
    pub(super) fn forward<T: Float>(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        offsets: &[usize],
    ) -> Var {
        let knots: Vec<(usize, usize)> = (0..series.len())
            .flat_map(|item| (0..series[item].times.len()).map(move |knot| (item, knot)))
            .collect();
        let spans: Vec<Span> = series.iter().map(|one| Span::of(one.times)).collect();
        let features = |(item, knot): (usize, usize), numbers: &mut Vec<T>| {
            let time = series[item].times[knot];
            features::append(numbers, self.frequencies, spans[item], time, 0);
        };
        let all = knots.iter().copied();
        let tokens = cell_inputs(graph, series, all, &mut Vec::new(), features);
        let mut x = self.input.forward(graph, tokens);
        let groups = AttentionGroups {
            queries: offsets,
            keys: offsets,
        };
        for block in &self.blocks {
            x = block.forward(graph, x, self.heads, groups);
        }
        graph.layer_norm(x, &self.norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Memory;

    /// Tokens of observations that are given in some order, row by row.
    fn tokens(order: &[usize]) -> Vec<Vec<f64>> {
        let config = LatentCsscConfig {
            channels: 2,
            ..LatentCsscConfig::default()
        };
        let mut parameters = Parameters::<f64>::new();
        let encoder = Encoder::new(&mut parameters, &config, &mut Random::new(1));
        parameters.pack();
        let all = [
            (0.0, [1.0, f64::NAN]),
            (0.3, [0.5, 2.0]),
            (1.1, [f64::NAN, -1.0]),
            (2.0, [0.2, 0.1]),
        ];
        let times: Vec<f64> = order.iter().map(|&row| all[row].0).collect();
        let values: Vec<f64> = order.iter().flat_map(|&row| all[row].1).collect();
        let series = [Observed::new(&times, &values, &[])];
        let mut memory = Memory::new();
        let mut graph = Graph::forward_only(&mut memory, &parameters);
        let found = encoder.forward(&mut graph, &series, &[0, order.len()]);
        let rows = graph.value(found).chunks(config.width);
        rows.map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn observations_in_another_order_give_the_same_tokens() {
        let order = [2, 0, 3, 1];
        let (sorted, shuffled) = (tokens(&[0, 1, 2, 3]), tokens(&order));
        for (place, &row) in order.iter().enumerate() {
            for (a, b) in shuffled[place].iter().zip(&sorted[row]) {
                assert!((a - b).abs() < 1e-12, "row {row}: {a} and {b}");
            }
        }
        assert!((sorted[0][0] - sorted[1][0]).abs() > 1e-3, "tokens differ");
    }
}
