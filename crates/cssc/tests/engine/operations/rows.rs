//! Rows made from rows.

use super::{Matrix, Operation};
use cssc::nn::{Float, Graph, Var};

/// Terms (source, row, factor) of each row of [`Mix`]: several, one twice, none, one.
pub(crate) const MIX: [&[(usize, usize, f64)]; 4] = [
    &[(0, 1, 0.7), (1, 4, -1.3), (0, 2, 2.0)],
    &[(1, 0, 0.5), (1, 0, 0.25)],
    &[],
    &[(0, 1, -0.4)],
];

/// Any rows of any sources with any factors.
pub(crate) struct Mix;

impl Operation for Mix {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(3, 4, 21), Matrix::random(5, 4, 22)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.mix(operands, |rows| {
            for row in MIX {
                for &(source, row, factor) in row {
                    rows.term(source, row, T::from_f64(factor));
                }
                rows.end_row();
            }
        })
    }
}

/// Step lengths of the rows of [`AddScaled`].
pub(crate) const STEPS: [f64; 5] = [0.1, 0.0, 0.7, -0.3, 1.5];
/// Weights of its two slopes.
pub(crate) const WEIGHTS: [f64; 2] = [0.25, 0.75];

/// One stage of a Runge-Kutta step.
pub(crate) struct AddScaled;

impl Operation for AddScaled {
    fn operands(&self) -> Vec<Matrix> {
        (23..26).map(|seed| Matrix::random(5, 4, seed)).collect()
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        let terms = [0, 1].map(|j| (operands[j + 1], T::from_f64(WEIGHTS[j])));
        graph.add_scaled(operands[0], &terms, &STEPS.map(T::from_f64))
    }
}

/// (source, row) of each row of [`Collect`].
pub(crate) const PICKS: [(usize, usize); 6] = [(1, 3), (0, 0), (1, 3), (0, 2), (1, 0), (0, 1)];

/// Some rows, some twice.
pub(crate) struct Collect;

impl Operation for Collect {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(3, 4, 26), Matrix::random(5, 4, 27)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.collect(operands, PICKS)
    }
}

/// One row added to each.
pub(crate) struct AddRow;

impl Operation for AddRow {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(5, 4, 28), Matrix::random(1, 4, 29)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        graph.add_row(operands[0], operands[1])
    }
}

/// Where the groups of [`Groups`] begin and end; one is empty.
pub(crate) const OFFSETS: [usize; 4] = [0, 2, 2, 7];

/// Sums or means of the rows of each group.
pub(crate) struct Groups {
    pub(crate) mean: bool,
}

impl Operation for Groups {
    fn operands(&self) -> Vec<Matrix> {
        vec![Matrix::random(7, 3, 30)]
    }
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var {
        if self.mean {
            graph.group_means(operands[0], &OFFSETS)
        } else {
            graph.group_sums(operands[0], &OFFSETS)
        }
    }
}
