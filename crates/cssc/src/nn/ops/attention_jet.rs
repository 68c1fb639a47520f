//! Attention along a curve of queries q(t), keys and values fixed: value, slope and curvature.
//!
//! With S' = Q'Kᵀ/√d and S'' = Q''Kᵀ/√d the weights have the derivatives P' and P'' of
//! `softmax.rs`, and O' = P'V, O'' = P''V: three times the cost of the value. A decoder that
//! lets features of time attend to encoded observations gets its slope and curvature by time
//! this way (method notes, section 11).

use super::super::float::Float;
use super::super::graph::Graph;
use super::super::kernel::{Orientation, Output, product};
use super::super::memory::Var;
use super::super::softmax::softmax_jet;
use super::Op;
use super::attention::{AttentionGroups, Head, most};
use crate::Jets;

impl<T: Float> Graph<'_, T> {
    /// [`Graph::attention`] of queries that change with time.
    ///
    /// # Panics
    /// As [`Graph::attention`], and in a computation that is recorded: slope and curvature have
    /// no gradient here.
    pub fn attention_jet(
        &mut self,
        queries: Jets<Var>,
        [keys, values]: [Var; 2],
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Jets<Var> {
        self.assert_not_recording("the jet of an attention");
        let value = self.attention([queries.value, keys, values], heads, groups);
        let (rows, columns) = (self.rows(value), self.columns(value));
        let len = rows * columns;
        let derivatives = [queries.slope, queries.curvature];
        assert!(
            derivatives.iter().all(|&v| self.node(v).len() == len),
            "derivatives in the shape of the queries"
        );
        let Op::Attention(attention) = self.node(value).op else {
            unreachable!("recorded just now");
        };
        let mut results = [0, 1].map(|_| self.memory.pool.take(len));
        let width = columns / heads;
        let [most_queries, most_keys, most_pairs] = most(self.groups_of(&attention));
        let mut scratch = self
            .memory
            .pool
            .take((most_queries + most_keys) * width + 2 * most_pairs);
        let mut packed = std::mem::take(&mut self.memory.workspaces.attentions.packed);
        let mut all_weights = &self.node(value).block[len..];
        for group in self.groups_of(&attention) {
            let (rows, keys_of) = (group.queries(), group.keys());
            let (q_len, k_len, pairs) = (rows.len() * width, keys_of.len() * width, group.pairs());
            for head in Head::all(columns, heads) {
                let (q_part, rest) = scratch.split_at_mut(q_len);
                let (k_part, rest) = rest.split_at_mut(k_len);
                let (slopes, rest) = rest.split_at_mut(pairs);
                let curvatures = &mut rest[..pairs];
                let k = head.gather(self.value(keys), keys_of.clone(), T::ONE, k_part);
                packed.pack(self.arch, k, keys_of.len(), width, Orientation::Transposed);
                for (var, scores) in derivatives
                    .into_iter()
                    .zip([&mut *slopes, &mut *curvatures])
                {
                    let q = head.gather(self.value(var), rows.clone(), head.scale(), q_part);
                    product(self.arch, q, &packed, None, scores, Output::Store);
                }
                let (weights, others) = all_weights.split_at(pairs);
                all_weights = others;
                softmax_jet(self.arch, weights, slopes, curvatures, keys_of.len());
                let v = head.gather(self.value(values), keys_of.clone(), T::ONE, k_part);
                packed.pack(self.arch, v, keys_of.len(), width, Orientation::Straight);
                for (scores, result) in [&*slopes, &*curvatures].into_iter().zip(&mut results) {
                    product(self.arch, scores, &packed, None, q_part, Output::Store);
                    head.scatter(q_part, rows.clone(), result, |y, x| *y = x);
                }
            }
        }
        self.memory.workspaces.attentions.packed = packed;
        self.memory.pool.give(scratch);
        let [slope, curvature] = results;
        Jets {
            value,
            slope: self.push(Op::Leaf, rows, columns, slope, false),
            curvature: self.push(Op::Leaf, rows, columns, curvature, false),
        }
    }
}
