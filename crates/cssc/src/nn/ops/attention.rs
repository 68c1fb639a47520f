//! Multi-head softmax attention over groups of rows: each query sees the keys of its series.
//!
//! For each series and each head, with Q, K, V its rows in the head's columns (d of them):
//!
//! ```text
//!   S = Q Kᵀ/√d     P = softmax of the rows of S     O = P V
//! ```
//!
//! Backward, with G the gradient of O: dV = Pᵀ G; dP = G Vᵀ; dS = P ⊙ (dP - rows Σ P dP);
//! dQ = dS K/√d; dK = dSᵀ Q/√d. The groups are ragged: nothing is padded, nothing is masked.
//!
//! All six products run through the kernels of the layers, with the keys and values of one head
//! packed like weights. Cost: 4·d·(queries × keys) operations a head forward and 8 backward.
//! P is kept behind the result, in the same block: queries × keys × heads numbers.

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::kernel::{Orientation, Output, Packed, Use, outer_product, product};
use super::super::memory::Var;
use super::super::softmax::{softmax, softmax_back};
use super::Op;
use std::ops::Range;

/// Which rows belong to which series: those of series i are `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct AttentionGroups<'a> {
    /// Offsets of the queries: from 0 to their number, one more than there are series.
    pub queries: &'a [usize],
    /// Offsets of the keys and values, as many.
    pub keys: &'a [usize],
}

/// The groups of all attentions of a computation, and memory for one head's matrix.
#[derive(Debug, Default)]
pub(crate) struct Attentions<T> {
    groups: Vec<Group>,
    pub(super) packed: Packed<T>,
}

impl<T> Attentions<T> {
    pub(crate) fn clear(&mut self) {
        self.groups.clear();
    }
}

/// One series: its queries and its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    queries: [u32; 2],
    keys: [u32; 2],
}

impl Group {
    pub(super) fn queries(self) -> Range<usize> {
        self.queries[0] as usize..self.queries[1] as usize
    }

    pub(super) fn keys(self) -> Range<usize> {
        self.keys[0] as usize..self.keys[1] as usize
    }

    pub(super) fn pairs(self) -> usize {
        self.queries().len() * self.keys().len()
    }
}

/// The most queries, keys and pairs of a series: what the memory for one must hold.
pub(super) fn most(groups: impl Iterator<Item = Group>) -> [usize; 3] {
    groups.fold([0; 3], |[queries, keys, pairs], group| {
        [
            queries.max(group.queries().len()),
            keys.max(group.keys().len()),
            pairs.max(group.pairs()),
        ]
    })
}

/// An attention on the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(super) operands: [Var; 3],
    pub(super) heads: usize,
    /// Its part of [`Attentions`].
    first: usize,
    count: usize,
}

/// The columns of one head in rows of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    first: usize,
    pub(super) width: usize,
    columns: usize,
}

impl Head {
    pub(super) fn all(columns: usize, heads: usize) -> impl Iterator<Item = Self> {
        let width = columns / heads;
        (0..heads).map(move |head| Self {
            first: head * width,
            width,
            columns,
        })
    }

    /// 1/√d.
    pub(super) fn scale<T: Float>(self) -> T {
        T::from_f64(1.0 / (self.width as f64).sqrt())
    }

    /// The head's columns of some rows, times `factor`, without gaps.
    pub(super) fn gather<'t, T: Float>(
        self,
        block: &[T],
        rows: Range<usize>,
        factor: T,
        target: &'t mut [T],
    ) -> &'t [T] {
        let target = &mut target[..rows.len() * self.width];
        for (row, out) in rows.zip(target.chunks_exact_mut(self.width)) {
            let source = &block[row * self.columns + self.first..][..self.width];
            out.iter_mut()
                .zip(source)
                .for_each(|(y, &x)| *y = factor * x);
        }
        target
    }

    /// Hands each row of `source` and its place in `block` to `f`.
    pub(super) fn scatter<T: Float>(
        self,
        source: &[T],
        rows: Range<usize>,
        block: &mut [T],
        f: impl Fn(&mut T, T),
    ) {
        for (row, numbers) in rows.zip(source.chunks_exact(self.width)) {
            let target = &mut block[row * self.columns + self.first..][..self.width];
            target.iter_mut().zip(numbers).for_each(|(y, &x)| f(y, x));
        }
    }
}

impl<T: Float> Graph<'_, T> {
    /// Attention of `queries` [rows, columns] over `keys` and `values` [other rows, columns],
    /// with columns divided among `heads`: [rows, columns].
    ///
    /// # Panics
    /// If shapes do not fit, columns are not divisible by `heads`, the offsets of `groups` do not
    /// cover all rows, or a series has queries and no keys.
    pub fn attention(
        &mut self,
        [queries, keys, values]: [Var; 3],
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Var {
        let attention = self.record_attention([queries, keys, values], heads, groups);
        let (rows, columns) = (self.rows(queries), self.columns(queries));
        let len = rows * columns;
        let width = columns / heads;
        let pairs: usize = self.groups_of(&attention).map(Group::pairs).sum();
        let [most_queries, most_keys, _] = most(self.groups_of(&attention));
        let mut block = self.memory.pool.take(len + pairs * heads);
        let mut scratch = self
            .memory
            .pool
            .take((2 * most_queries + most_keys) * width);
        let mut packed = std::mem::take(&mut self.memory.workspaces.attentions.packed);
        let blocks = attention.operands.map(|var| self.value(var));
        let (out, mut weights) = block.split_at_mut(len);
        let (query_part, rest) = scratch.split_at_mut(most_queries * width);
        let (key_part, out_part) = rest.split_at_mut(most_keys * width);
        for group in self.groups_of(&attention) {
            for head in Head::all(columns, heads) {
                let (p, others) = weights.split_at_mut(group.pairs());
                weights = others;
                let (rows, count) = (group.queries(), group.keys().len());
                let q = head.gather(blocks[0], rows.clone(), head.scale(), query_part);
                let k = head.gather(blocks[1], group.keys(), T::ONE, key_part);
                packed.pack(self.arch, k, count, width, Orientation::Transposed);
                product(self.arch, q, &packed, None, p, Output::Store);
                softmax(self.arch, p, count);
                let v = head.gather(blocks[2], group.keys(), T::ONE, key_part);
                packed.pack(self.arch, v, count, width, Orientation::Straight);
                let o = &mut out_part[..rows.len() * width];
                product(self.arch, p, &packed, None, o, Output::Store);
                head.scatter(o, rows, out, |y, x| *y = x);
            }
        }
        let tracked = attention.operands.iter().any(|&v| self.node(v).tracked);
        self.memory.workspaces.attentions.packed = packed;
        self.memory.pool.give(scratch);
        self.push(Op::Attention(attention), rows, columns, block, tracked)
    }

    /// Checks and records the groups.
    pub(super) fn record_attention(
        &mut self,
        operands: [Var; 3],
        heads: usize,
        groups: AttentionGroups<'_>,
    ) -> Attention {
        let [queries, keys, values] = operands;
        let columns = self.columns(queries);
        assert!(
            heads > 0 && columns.is_multiple_of(heads),
            "{columns} columns are not divisible by {heads} heads"
        );
        assert!(
            self.columns(keys) == columns && self.columns(values) == columns,
            "keys and values as wide as queries"
        );
        assert_eq!(self.rows(keys), self.rows(values), "a value for every key");
        let covers = |offsets: &[usize], rows: usize| {
            offsets.first() == Some(&0) && offsets.last() == Some(&rows) && offsets.is_sorted()
        };
        assert!(
            groups.queries.len() == groups.keys.len()
                && covers(groups.queries, self.rows(queries))
                && covers(groups.keys, self.rows(keys)),
            "offsets from 0 to the number of rows, for as many series"
        );
        let list = &mut self.memory.workspaces.attentions.groups;
        let first = list.len();
        for (queries, keys) in groups.queries.windows(2).zip(groups.keys.windows(2)) {
            let group = Group {
                queries: [queries[0] as u32, queries[1] as u32],
                keys: [keys[0] as u32, keys[1] as u32],
            };
            assert!(
                group.queries().is_empty() || !group.keys().is_empty(),
                "series {} has queries and no keys",
                list.len() - first
            );
            list.push(group);
        }
        Attention {
            operands,
            heads,
            first,
            count: list.len() - first,
        }
    }

    /// The series of an attention that have queries.
    pub(super) fn groups_of(&self, attention: &Attention) -> impl Iterator<Item = Group> {
        let all = &self.memory.workspaces.attentions.groups;
        let groups = &all[attention.first..attention.first + attention.count];
        groups.iter().copied().filter(|group| group.pairs() > 0)
    }
}

impl<T: Float> Backward<'_, T> {
    pub(crate) fn attention(&mut self, out: Var, attention: Attention, g: Vec<T>) {
        let Attentions { groups, mut packed } = std::mem::take(&mut self.workspaces.attentions);
        let list = &groups[attention.first..attention.first + attention.count];
        let list = list.iter().copied().filter(|group| group.pairs() > 0);
        let (nodes, arch) = (self.nodes, self.arch);
        let node = &nodes[out.index()];
        let (columns, heads) = (node.columns, attention.heads);
        let width = columns / heads;
        let mut weights = &node.block[node.len()..];
        let blocks = attention.operands.map(|v| nodes[v.index()].value());
        let [most_queries, most_keys, most_pairs] = most(list.clone());
        let len = (3 * most_queries + 2 * most_keys) * width + most_pairs;
        let mut scratch = self.pool.take(len);
        for group in list {
            let (rows, keys) = (group.queries(), group.keys());
            let (q_len, k_len) = (rows.len() * width, keys.len() * width);
            let (q_part, rest) = scratch.split_at_mut(q_len);
            let (g_part, rest) = rest.split_at_mut(q_len);
            let (d_query, rest) = rest.split_at_mut(q_len);
            let (k_part, rest) = rest.split_at_mut(k_len);
            let (d_key, rest) = rest.split_at_mut(k_len);
            let d_scores = &mut rest[..group.pairs()];
            for head in Head::all(columns, heads) {
                let (p, others) = weights.split_at(group.pairs());
                weights = others;
                let dy = head.gather(&g, rows.clone(), T::ONE, g_part);
                d_key.fill(T::ZERO);
                let uses = [Use { x: p, dy }];
                outer_product(arch, &uses, keys.len(), width, d_key, self.scratch);
                self.collect_head(head, attention.operands[2], d_key, keys.clone());
                let v = head.gather(blocks[2], keys.clone(), T::ONE, k_part);
                packed.pack(arch, v, keys.len(), width, Orientation::Transposed);
                product(arch, dy, &packed, None, d_scores, Output::Store);
                softmax_back(arch, p, d_scores, keys.len());
                let k = head.gather(blocks[1], keys.clone(), head.scale(), k_part);
                packed.pack(arch, k, keys.len(), width, Orientation::Straight);
                product(arch, d_scores, &packed, None, d_query, Output::Store);
                self.collect_head(head, attention.operands[0], d_query, rows.clone());
                let q = head.gather(blocks[0], rows.clone(), head.scale(), q_part);
                d_key.fill(T::ZERO);
                let uses = [Use { x: d_scores, dy: q }];
                outer_product(arch, &uses, keys.len(), width, d_key, self.scratch);
                self.collect_head(head, attention.operands[1], d_key, keys.clone());
            }
        }
        self.workspaces.attentions = Attentions { groups, packed };
        self.pool.give(scratch);
        self.pool.give(g);
    }

    fn collect_head(&mut self, head: Head, operand: Var, part: &[T], rows: Range<usize>) {
        if self.tracked(operand) {
            head.scatter(part, rows, self.slot(operand), |sum, d| *sum += d);
        }
    }
}
