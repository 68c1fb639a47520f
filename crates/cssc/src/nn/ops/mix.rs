//! Rows as sums of factors times rows: the one operation behind everything that is linear and
//! row-wise.
//!
//! ```text
//!   out[r] = Σ_j  factor_j · source_j[row_j]
//! ```
//!
//! A Runge-Kutta step is a mix of the state and the slopes with each row's own Δt; selecting
//! the rows that are observed, merging updated rows back, stacking the states of all steps,
//! and the Hermite dense output are mixes too. Gradient: the same factors, the other way.

use super::super::float::Float;
use super::super::graph::{Backward, Graph};
use super::super::memory::Var;
use super::Op;

/// The rows of all mixes of a computation, one list after the other.
#[derive(Debug)]
pub(crate) struct MixRecord<T> {
    sources: Vec<Var>,
    offsets: Vec<u32>,
    entries: Vec<MixEntry<T>>,
}

impl<T> Default for MixRecord<T> {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            offsets: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<T> MixRecord<T> {
    pub(crate) fn clear(&mut self) {
        self.sources.clear();
        self.offsets.clear();
        self.entries.clear();
    }

    /// The terms of row `row` of a mix.
    fn row(&self, range: MixRange, row: usize) -> &[MixEntry<T>] {
        let at = range.offsets as usize + row;
        &self.entries[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    fn source(&self, range: MixRange, entry: &MixEntry<T>) -> Var {
        self.sources[(range.sources + entry.source) as usize]
    }

    /// The source and its row behind row `row` of picks.
    fn picked(&self, range: MixRange, row: usize) -> (Var, u32) {
        let entry = &self.row(range, row)[0];
        (self.source(range, entry), entry.row)
    }
}

/// One term of a row.
#[derive(Clone, Copy, Debug)]
struct MixEntry<T> {
    source: u32,
    row: u32,
    factor: T,
}

/// The part of [`MixRecord`] that belongs to one mix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MixRange {
    sources: u32,
    /// rows + 1 offsets into the entries start here.
    offsets: u32,
}

/// Collects the rows of a mix; see [`Graph::mix`].
#[derive(Debug)]
pub struct MixRows<'a, T> {
    entries: &'a mut Vec<MixEntry<T>>,
    offsets: &'a mut Vec<u32>,
}

impl<T: Float> MixRows<'_, T> {
    /// Adds `factor` · row `row` of the mix's `source`-th source to the current row.
    pub fn term(&mut self, source: usize, row: usize, factor: T) -> &mut Self {
        self.entries.push(MixEntry {
            source: source as u32,
            row: row as u32,
            factor,
        });
        self
    }

    /// Adds rows of one term each: (source, row).
    pub(crate) fn pick(&mut self, picks: impl IntoIterator<Item = (usize, usize)>) {
        for (source, row) in picks {
            self.term(source, row, T::ONE).end_row();
        }
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.offsets.push(self.entries.len() as u32);
    }
}

impl<T: Float> Graph<'_, T> {
    /// Rows of terms over `sources` (all of the same width), as told by `rows`.
    pub fn mix(&mut self, sources: &[Var], rows: impl FnOnce(&mut MixRows<'_, T>)) -> Var {
        let columns = self.columns(sources[0]);
        assert!(
            sources.iter().all(|&s| self.columns(s) == columns),
            "sources of one width"
        );
        let (range, count) = self.record_rows(sources, rows);
        let mut block = self.memory.pool.take(count * columns);
        let memory = &*self.memory;
        for (r, out) in block[..count * columns]
            .chunks_exact_mut(columns)
            .enumerate()
        {
            let entries = memory.workspaces.mixes.row(range, r);
            let mut terms = entries.iter().map(|entry| {
                let source = &memory.nodes[sources[entry.source as usize].index()];
                (entry.factor, row_of(source.value(), columns, entry.row))
            });
            match terms.next() {
                Some((factor, x)) if factor == T::ONE => out.copy_from_slice(x),
                Some((factor, x)) => out.iter_mut().zip(x).for_each(|(y, &x)| *y = factor * x),
                None => out.fill(T::ZERO),
            }
            for (factor, x) in terms {
                out.iter_mut().zip(x).for_each(|(y, &x)| *y += factor * x);
            }
        }
        let tracked = sources.iter().any(|&s| self.node(s).tracked);
        self.push(Op::Mix(range), count, columns, block, tracked)
    }

    /// Puts the rows of a mix over `sources` on record; their place and their number.
    fn record_rows(
        &mut self,
        sources: &[Var],
        rows: impl FnOnce(&mut MixRows<'_, T>),
    ) -> (MixRange, usize) {
        let record = &mut self.memory.workspaces.mixes;
        let range = MixRange {
            sources: record.sources.len() as u32,
            offsets: record.offsets.len() as u32,
        };
        record.sources.extend_from_slice(sources);
        record.offsets.push(record.entries.len() as u32);
        rows(&mut MixRows {
            entries: &mut record.entries,
            offsets: &mut record.offsets,
        });
        (range, record.offsets.len() - range.offsets as usize - 1)
    }

    /// base + Σ_j weight_j · scale · x_j: one stage of a Runge-Kutta step with a step
    /// length per row.
    pub fn add_scaled(&mut self, base: Var, terms: &[(Var, T)], scale: &[T]) -> Var {
        let mut sources = self.take_vars();
        sources.push(base);
        sources.extend(terms.iter().map(|term| term.0));
        let sum = self.mix(&sources, |rows| {
            for (r, &scale) in scale.iter().enumerate() {
                rows.term(0, r, T::ONE);
                for (j, term) in terms.iter().enumerate() {
                    rows.term(j + 1, r, scale * term.1);
                }
                rows.end_row();
            }
        });
        self.give_vars(sources);
        sum
    }

    /// x + `row` [1, columns] on every row.
    pub fn add_row(&mut self, x: Var, row: Var) -> Var {
        let count = self.rows(x);
        self.mix(&[x, row], |rows| {
            for r in 0..count {
                rows.term(0, r, T::ONE).term(1, 0, T::ONE).end_row();
            }
        })
    }

    /// Σ of the rows of each group, [groups, columns]; the rows of group i are
    /// `offsets[i]..offsets[i + 1]`.
    pub fn group_sums(&mut self, x: Var, offsets: &[usize]) -> Var {
        self.grouped(x, offsets, |_| T::ONE)
    }

    /// Mean of the rows of each group; 0 for a group without rows. See [`Graph::group_sums`].
    pub fn group_means(&mut self, x: Var, offsets: &[usize]) -> Var {
        self.grouped(x, offsets, |count| T::from_f64(1.0 / count as f64))
    }

    fn grouped(&mut self, x: Var, offsets: &[usize], factor: impl Fn(usize) -> T) -> Var {
        self.mix(&[x], |rows| {
            for group in offsets.windows(2) {
                let factor = factor(group[1] - group[0]);
                for row in group[0]..group[1] {
                    rows.term(0, row, factor);
                }
                rows.end_row();
            }
        })
    }

    /// Picks rows: (source, row) for each row of the result.
    pub fn collect(
        &mut self,
        sources: &[Var],
        picks: impl IntoIterator<Item = (usize, usize)>,
    ) -> Var {
        self.mix(sources, |rows| rows.pick(picks))
    }

    /// Puts picked rows on record; their place and their number.
    pub(crate) fn record_picks(
        &mut self,
        sources: &[Var],
        picks: impl IntoIterator<Item = (usize, usize)>,
    ) -> (MixRange, usize) {
        self.record_rows(sources, |rows| rows.pick(picks))
    }

    /// The source and its row behind row `row` of picks.
    pub(crate) fn picked(&self, range: MixRange, row: usize) -> (Var, u32) {
        self.memory.workspaces.mixes.picked(range, row)
    }
}

/// Row `row` of a block.
pub(crate) fn row_of<T>(block: &[T], columns: usize, row: u32) -> &[T] {
    &block[row as usize * columns..][..columns]
}

impl<T: Float> Backward<'_, T> {
    /// The source and its row behind row `row` of picks.
    pub(crate) fn picked(&self, range: MixRange, row: usize) -> (Var, u32) {
        self.workspaces.mixes.picked(range, row)
    }

    pub(crate) fn mix(&mut self, out: Var, range: MixRange, g: Vec<T>) {
        let columns = self.nodes[out.index()].columns;
        let record = std::mem::take(&mut self.workspaces.mixes);
        for r in 0..self.nodes[out.index()].rows {
            let gradient = &g[r * columns..(r + 1) * columns];
            for entry in record.row(range, r) {
                let source = record.source(range, entry);
                if !self.tracked(source) {
                    continue;
                }
                let row = entry.row as usize;
                let target = &mut self.slot(source)[row * columns..(row + 1) * columns];
                target
                    .iter_mut()
                    .zip(gradient)
                    .for_each(|(t, &g)| *t += entry.factor * g);
            }
        }
        self.workspaces.mixes = record;
        self.pool.give(g);
    }
}
