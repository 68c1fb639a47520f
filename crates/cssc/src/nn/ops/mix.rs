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

/// One term of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MixEntry<T> {
    source: u32,
    row: u32,
    factor: T,
}

/// The part of the arenas that belongs to one mix.
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
            let entries = row_entries(&memory.mix_offsets, &memory.mix_entries, range, r);
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
        let memory = &mut *self.memory;
        let range = MixRange {
            sources: memory.mix_sources.len() as u32,
            offsets: memory.mix_offsets.len() as u32,
        };
        memory.mix_sources.extend_from_slice(sources);
        memory.mix_offsets.push(memory.mix_entries.len() as u32);
        rows(&mut MixRows {
            entries: &mut memory.mix_entries,
            offsets: &mut memory.mix_offsets,
        });
        (range, memory.mix_offsets.len() - range.offsets as usize - 1)
    }

    /// base + Σ_j weight_j · scale · x_j: one stage of a Runge-Kutta step with a step
    /// length per row.
    pub fn add_scaled(&mut self, base: Var, terms: &[(Var, T)], scale: &[T]) -> Var {
        let mut sources = [base; 8];
        for (slot, term) in sources[1..].iter_mut().zip(terms) {
            *slot = term.0;
        }
        self.mix(&sources[..=terms.len()], |rows| {
            for (r, &scale) in scale.iter().enumerate() {
                rows.term(0, r, T::ONE);
                for (j, term) in terms.iter().enumerate() {
                    rows.term(j + 1, r, scale * term.1);
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
        let memory = &*self.memory;
        let entry = row_entries(&memory.mix_offsets, &memory.mix_entries, range, row)[0];
        let source = memory.mix_sources[(range.sources + entry.source) as usize];
        (source, entry.row)
    }
}

/// Row `row` of a block.
pub(crate) fn row_of<T>(block: &[T], columns: usize, row: u32) -> &[T] {
    &block[row as usize * columns..][..columns]
}

fn row_entries<'a, T>(
    offsets: &[u32],
    entries: &'a [MixEntry<T>],
    range: MixRange,
    row: usize,
) -> &'a [MixEntry<T>] {
    let at = range.offsets as usize + row;
    &entries[offsets[at] as usize..offsets[at + 1] as usize]
}

impl<T: Float> Backward<'_, T> {
    /// The source and its row behind row `row` of picks.
    pub(crate) fn picked(&self, range: MixRange, row: usize) -> (Var, u32) {
        let entry = row_entries(self.mix_offsets, self.mix_entries, range, row)[0];
        (
            self.mix_sources[(range.sources + entry.source) as usize],
            entry.row,
        )
    }

    pub(crate) fn mix(&mut self, out: Var, range: MixRange, g: Vec<T>) {
        let columns = self.nodes[out.index()].columns;
        for r in 0..self.nodes[out.index()].rows {
            let gradient = &g[r * columns..(r + 1) * columns];
            for entry in row_entries(self.mix_offsets, self.mix_entries, range, r) {
                let source = self.mix_sources[(range.sources + entry.source) as usize];
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
        self.pool.give(g);
    }
}
