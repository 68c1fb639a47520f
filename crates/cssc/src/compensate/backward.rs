//! The gradient of the compensation: from a gradient with respect to c at any times to the
//! gradients with respect to the observations and all six limits.
//!
//! For fixed times $c = L(x, o^\pm, \dot o^\pm, \ddot o^\pm)$ with a linear map L, and this is
//! $L^T$: first evaluation transposed (each query adds the powers of its distance to the
//! gradient of its piece), then the solve, see `transpose.rs`. Cost: as the forward pass.

use super::plan::Plan;
use super::transpose::{GradientRows, Transposed};
use crate::error::{Error, check_length, check_query};
use crate::numeric::lanes::{for_each_pack, row};
use crate::numeric::real::Real;
use crate::path::{Jets, Side};
use crate::spline::{Cursor, PiecewiseCubic};

/// Memory for [`Plan::backward`], reused from call to call.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// The gradient with respect to the coefficients of the pieces.
    pieces: PiecewiseCubic,
}

/// Gradients with respect to the inputs of [`Plan::forward`], each a time-major block
/// `[knots, channels]`. Inputs that are not read get 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InputGradients<S = Vec<f64>> {
    /// With respect to the observations.
    pub values: S,
    /// With respect to the left limits.
    pub left: Jets<S>,
    /// With respect to the right limits.
    pub right: Jets<S>,
}

impl<T: Real> InputGradients<Vec<T>> {
    /// Blocks of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        InputGradients {
            values: vec![T::default(); len],
            left: Jets::zeros(len),
            right: Jets::zeros(len),
        }
    }

    /// The same blocks, borrowed for writing.
    pub fn as_mut_slices(&mut self) -> InputGradients<&mut [T]> {
        InputGradients {
            values: &mut self.values,
            left: self.left.as_mut_slices(),
            right: self.right.as_mut_slices(),
        }
    }
}

impl<T: Real> InputGradients<&mut [T]> {
    /// The same blocks, borrowed again.
    pub(super) fn reborrow(&mut self) -> InputGradients<&mut [T]> {
        InputGradients {
            values: self.values,
            left: self.left.reborrow(),
            right: self.right.reborrow(),
        }
    }

    /// The first `at` entries of each block, and the rest.
    pub(super) fn split_at(self, at: usize) -> (Self, Self) {
        let (values, values_rest) = self.values.split_at_mut(at);
        let (left, left_rest) = split_jets(self.left, at);
        let (right, right_rest) = split_jets(self.right, at);
        let rest = InputGradients {
            values: values_rest,
            left: left_rest,
            right: right_rest,
        };
        (
            InputGradients {
                values,
                left,
                right,
            },
            rest,
        )
    }

    pub(super) fn check_lengths(&mut self, expected: usize) -> Result<(), Error> {
        for (name, block) in self.named_mut() {
            check_length(name, block.len(), expected, "knots x channels")?;
        }
        Ok(())
    }

    fn named_mut(&mut self) -> [(&'static str, &mut [T]); 7] {
        [
            ("gradient of values", self.values),
            ("gradient of left value", self.left.value),
            ("gradient of left slope", self.left.slope),
            ("gradient of left curvature", self.left.curvature),
            ("gradient of right value", self.right.value),
            ("gradient of right slope", self.right.slope),
            ("gradient of right curvature", self.right.curvature),
        ]
    }
}

impl Plan {
    /// The gradients of a function of `c(query)` seen from `side`, given its gradient with
    /// respect to these values, `[query, channels]`. Query times are sorted as for
    /// [`PiecewiseCubic::values_into`]. `into` is overwritten.
    ///
    /// # Errors
    /// If the query decreases or is not finite, or lengths do not fit.
    pub fn backward<T: Real>(
        &self,
        query: &[f64],
        side: Side,
        gradient: &[T],
        workspace: &mut Workspace,
        into: InputGradients<&mut [T]>,
    ) -> Result<(), Error> {
        self.check_not_empty()?;
        check_query(query)?;
        let expected = query.len() * self.channels();
        check_length(
            "gradient",
            gradient.len(),
            expected,
            "query times x channels",
        )?;
        let pieces = &mut workspace.pieces;
        pieces.prepare(self.times(), self.channels());
        pieces.clear_coefficients();
        let mut cursor = Cursor::default();
        for (q, &time) in query.iter().enumerate() {
            let piece = cursor.advance(self.times(), time, side);
            pieces.add_powers(piece, time, row(gradient, q, self.channels()));
        }
        self.transpose(pieces, into)
    }

    /// The gradients of a function of the pieces of c, given its gradient with respect to
    /// their coefficients, `[pieces, 4, channels]`. `into` is overwritten.
    ///
    /// # Errors
    /// If lengths do not fit.
    pub fn backward_pieces<T: Real>(
        &self,
        gradient: &[T],
        workspace: &mut Workspace,
        into: InputGradients<&mut [T]>,
    ) -> Result<(), Error> {
        self.check_not_empty()?;
        let pieces = &mut workspace.pieces;
        pieces.prepare(self.times(), self.channels());
        pieces.set_coefficients(gradient)?;
        self.transpose(pieces, into)
    }

    fn transpose<T: Real>(
        &self,
        pieces: &mut PiecewiseCubic,
        mut into: InputGradients<&mut [T]>,
    ) -> Result<(), Error> {
        into.check_lengths(self.times().len() * self.channels())?;
        for (_, block) in into.named_mut() {
            block.fill(T::default());
        }
        for (channels, group) in self.groups() {
            for_each_pack!(channels, self.channels(), lanes => {
                let sweep = Transposed { plan: self, group, lanes: &lanes };
                sweep.run(pieces.rows_mut(), GradientRows::new(&mut into));
            });
        }
        Ok(())
    }
}

fn split_jets<T>(jets: Jets<&mut [T]>, at: usize) -> (Jets<&mut [T]>, Jets<&mut [T]>) {
    let (value, value_rest) = jets.value.split_at_mut(at);
    let (slope, slope_rest) = jets.slope.split_at_mut(at);
    let (curvature, curvature_rest) = jets.curvature.split_at_mut(at);
    let rest = Jets {
        value: value_rest,
        slope: slope_rest,
        curvature: curvature_rest,
    };
    (
        Jets {
            value,
            slope,
            curvature,
        },
        rest,
    )
}
