//! Tridiagonal systems without pivoting (Thomas algorithm), factored once and then solved row
//! by row so that callers can build a right-hand side and use a solution in the same sweep.
//!
//! ```text
//!   ⎡ d₀ u₀          ⎤        forward:   y_i = (rhs_i - l_i y_{i-1}) / p_i
//!   ⎢ l₁ d₁ u₁       ⎥        backward:  x_i = y_i - (u_i / p_i) x_{i+1}
//!   ⎢    l₂ d₂ u₂    ⎥        pivots:    p_i = d_i - l_i u_{i-1} / p_{i-1}
//!   ⎣       ⋱  ⋱  ⋱ ⎦
//! ```
//!
//! All systems here are strictly diagonally dominant by rows, for which the elimination is
//! backward stable in every entry (Higham, *Accuracy and Stability*, sec. 9.6) and pivots never
//! vanish, whatever the ratio of the gaps.

use crate::lanes::Pack;

/// The factors of a tridiagonal matrix; row `i` of the caller is row `i` here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tridiagonal {
    factors: Vec<Factor>,
}

#[derive(Debug, Clone, Copy)]
struct Factor {
    lower: f64,
    inverse_pivot: f64,
    upper_ratio: f64,
}

impl Tridiagonal {
    /// Forgets all rows, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.factors.clear();
    }

    /// Factors one more row `(lower, diagonal, upper)`; `lower` of the first row after
    /// [`Self::clear`] must be 0.
    #[inline]
    pub(crate) fn push(&mut self, lower: f64, diagonal: f64, upper: f64) {
        let ratio_before = self.factors.last().map_or(0.0, |factor| factor.upper_ratio);
        let inverse_pivot = 1.0 / (diagonal - lower * ratio_before);
        self.factors.push(Factor {
            lower,
            inverse_pivot,
            upper_ratio: upper * inverse_pivot,
        });
    }

    /// Forward elimination of row `i`, given the eliminated row before it.
    #[inline(always)]
    pub(crate) fn eliminate<const W: usize>(
        &self,
        i: usize,
        rhs: Pack<W>,
        before: Pack<W>,
    ) -> Pack<W> {
        let factor = &self.factors[i];
        (rhs - before * factor.lower) * factor.inverse_pivot
    }

    /// Back substitution of row `i`, given the solution of the row after it.
    #[inline(always)]
    pub(crate) fn substitute<const W: usize>(
        &self,
        i: usize,
        eliminated: Pack<W>,
        after: Pack<W>,
    ) -> Pack<W> {
        eliminated - after * self.factors[i].upper_ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ⎡2 1 0⎤ ⎡1⎤   ⎡4⎤
    /// ⎢1 4 1⎥·⎢2⎥ = ⎢12⎥
    /// ⎣0 3 5⎦ ⎣3⎦   ⎣21⎦
    #[test]
    fn a_small_system_has_the_solution_it_was_made_from() {
        let mut matrix = Tridiagonal::default();
        for (lower, diagonal, upper) in [(0.0, 2.0, 1.0), (1.0, 4.0, 1.0), (3.0, 5.0, 0.0)] {
            matrix.push(lower, diagonal, upper);
        }
        let mut rows = [4.0, 12.0, 21.0].map(|rhs| Pack([rhs]));
        let mut before = Pack::ZERO;
        for (i, row) in rows.iter_mut().enumerate() {
            *row = matrix.eliminate(i, *row, before);
            before = *row;
        }
        let mut after = Pack::ZERO;
        for (i, row) in rows.iter_mut().enumerate().rev() {
            *row = matrix.substitute(i, *row, after);
            after = *row;
        }
        for (row, expected) in rows.iter().zip([1.0, 2.0, 3.0]) {
            assert!((row.0[0] - expected).abs() < 1e-14, "{rows:?}");
        }
    }
}
