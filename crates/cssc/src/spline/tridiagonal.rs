//! Tridiagonal systems without pivoting, eliminated from both ends towards the middle
//! ("twisted" or "burn at both ends"), factored once and then solved row by row so that callers
//! can build a right-hand side and use a solution in the same sweep.
//!
//! ```text
//!   rows 0, 1, …            eliminated downwards   ↓      then solved   ↑
//!   row  m (the middle)     couples both halves                        ─
//!   rows …, n-2, n-1        eliminated upwards     ↑      then solved   ↓
//! ```
//!
//! In each half, with `toward` the coupling to the row eliminated just before and `away` that
//! to the next one, and pivots $p$,
//!
//! $$ y_i = (b_i - \mathrm{toward}_i\,y_{prev})/p_i,\qquad
//!    x_i = y_i - (\mathrm{away}_i/p_i)\,x_{next},\qquad
//!    p_i = d_i - \mathrm{toward}_i\,(\mathrm{away}_{prev}/p_{prev}). $$
//!
//! The halves do not need each other, so a long system takes two threads half the time; the
//! usual Thomas algorithm is one chain. All systems here are strictly diagonally dominant by
//! rows, for which the elimination is backward stable in every entry (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, sec. 9.6) and no pivot vanishes, whatever the ratio of
//! the gaps.

use crate::numeric::lanes::Pack;
use crate::numeric::parallel::both;

/// The factors of a tridiagonal matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tridiagonal {
    factors: Vec<Factor>,
}

/// One row; for the middle row `toward` and `away` are its plain entries.
#[derive(Debug, Clone, Copy, Default)]
struct Factor {
    toward: f64,
    inverse_pivot: f64,
    away: f64,
}

impl Tridiagonal {
    /// Factors the matrix of `size` rows `[lower, diagonal, upper]`, keeping the memory. The
    /// entries that stick out of the matrix must be 0.
    pub(crate) fn factor(&mut self, size: usize, row: impl Fn(usize) -> [f64; 3] + Sync) {
        self.factors.resize(size, Factor::default());
        let middle = self.middle();
        let (above, rest) = self.factors.split_at_mut(middle);
        let Some((center, below)) = rest.split_first_mut() else {
            return;
        };
        let (ratio_above, ratio_below) = both(
            size,
            || {
                eliminate(above.iter_mut().enumerate(), &row, |[lower, _, upper]| {
                    [lower, upper]
                })
            },
            || {
                let rows = below
                    .iter_mut()
                    .enumerate()
                    .map(|(i, f)| (middle + 1 + i, f))
                    .rev();
                eliminate(rows, &row, |[lower, _, upper]| [upper, lower])
            },
        );
        let [lower, diagonal, upper] = row(middle);
        let pivot = diagonal - lower * ratio_above - upper * ratio_below;
        *center = Factor {
            toward: lower,
            inverse_pivot: 1.0 / pivot,
            away: upper,
        };
    }

    /// The row where both halves meet.
    #[inline]
    pub(crate) fn middle(&self) -> usize {
        self.factors.len() / 2
    }

    /// Eliminates row `i` other than the middle, given the row eliminated just before it.
    #[inline(always)]
    pub(crate) fn eliminate<const W: usize>(
        &self,
        i: usize,
        rhs: Pack<W>,
        before: Pack<W>,
    ) -> Pack<W> {
        let factor = &self.factors[i];
        (rhs - before * factor.toward) * factor.inverse_pivot
    }

    /// Solves the middle row, given the eliminated rows beside it.
    pub(crate) fn solve_middle<const W: usize>(
        &self,
        rhs: Pack<W>,
        above: Pack<W>,
        below: Pack<W>,
    ) -> Pack<W> {
        let factor = &self.factors[self.middle()];
        (rhs - above * factor.toward - below * factor.away) * factor.inverse_pivot
    }

    /// Solves row `i` other than the middle, given the solution of its neighbour on the
    /// side of the middle.
    #[inline(always)]
    pub(crate) fn substitute<const W: usize>(
        &self,
        i: usize,
        eliminated: Pack<W>,
        solved: Pack<W>,
    ) -> Pack<W> {
        eliminated - solved * self.factors[i].away
    }

    /// Replaces right-hand sides by the solution, for callers that have them all at hand.
    pub(crate) fn solve<const W: usize>(&self, rows: &mut [Pack<W>]) {
        let (middle, last) = (self.middle(), rows.len() - 1);
        let (mut above, mut below) = (Pack::ZERO, Pack::ZERO);
        for (i, row) in rows.iter_mut().enumerate().take(middle) {
            above = self.eliminate(i, *row, above);
            *row = above;
        }
        for i in (middle + 1..=last).rev() {
            below = self.eliminate(i, rows[i], below);
            rows[i] = below;
        }
        rows[middle] = self.solve_middle(rows[middle], above, below);
        for i in (0..middle).rev() {
            rows[i] = self.substitute(i, rows[i], rows[i + 1]);
        }
        for i in middle + 1..=last {
            rows[i] = self.substitute(i, rows[i], rows[i - 1]);
        }
    }
}

/// Factors rows one after the other and returns the ratio the next row needs; `sides` gives
/// the coupling `[toward, away]` of a row.
fn eliminate<'a>(
    rows: impl Iterator<Item = (usize, &'a mut Factor)>,
    row: &impl Fn(usize) -> [f64; 3],
    sides: impl Fn([f64; 3]) -> [f64; 2],
) -> f64 {
    let mut ratio = 0.0;
    for (i, factor) in rows {
        let entries = row(i);
        let [toward, away] = sides(entries);
        let inverse_pivot = 1.0 / (entries[1] - toward * ratio);
        ratio = away * inverse_pivot;
        *factor = Factor {
            toward,
            inverse_pivot,
            away: ratio,
        };
    }
    ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows (1, 4, 1) times (1, 2, 3, …), for systems of one to seven rows.
    #[test]
    fn small_systems_have_the_solution_they_were_made_from() {
        for size in 1..8 {
            let entry = |inside: bool| if inside { 1.0 } else { 0.0 };
            let mut matrix = Tridiagonal::default();
            matrix.factor(size, |i| [entry(i > 0), 4.0, entry(i + 1 < size)]);
            let x = |i: usize| (i + 1) as f64;
            let mut rows: Vec<Pack<1>> = (0..size)
                .map(|i| {
                    let above = if i > 0 { x(i - 1) } else { 0.0 };
                    let below = if i + 1 < size { x(i + 1) } else { 0.0 };
                    Pack([above + 4.0 * x(i) + below])
                })
                .collect();
            matrix.solve(&mut rows);
            for (i, row) in rows.iter().enumerate() {
                assert!((row.0[0] - x(i)).abs() < 1e-14, "size {size}: {rows:?}");
            }
        }
    }
}
