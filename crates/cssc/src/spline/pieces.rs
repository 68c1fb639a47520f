//! A piecewise cubic with many channels: knots, and on each interval between neighbours
//!
//! $$ p(t) = a_0 + a_1 s + a_2 s^2 + a_3 s^3, \qquad s = t - t_k. $$
//!
//! Coefficients are stored as `[piece, power, channel]`, so that one time is evaluated for all
//! channels with contiguous reads. Sampling m sorted times costs O(m · channels) and finds
//! the pieces in O(m log(knots / m)). Outside the knots the end pieces are extended.

use crate::error::{Error, check_knots, check_length, check_query};
use crate::numeric::lanes::{Lanes, Pack, row, row_mut};
use crate::numeric::parallel::WORTH_SPLITTING;
use crate::numeric::real::Real;
use crate::path::{Jets, Path, Side};

/// Knots, and a cubic for each interval between them and each channel. A single knot carries
/// one constant piece.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PiecewiseCubic {
    knots: Vec<f64>,
    channels: usize,
    coefficients: Vec<f64>,
}

impl PiecewiseCubic {
    /// A piecewise cubic from its coefficients `[pieces, 4, channels]`, the constant first, in
    /// powers of the distance from the piece's left knot. There is one piece for each
    /// interval between neighbouring `knots`, or a single one if there is only one knot.
    ///
    /// # Errors
    /// If the knots do not increase or the lengths do not fit.
    pub fn new(knots: Vec<f64>, channels: usize, coefficients: Vec<f64>) -> Result<Self, Error> {
        check_knots(&knots)?;
        if channels == 0 {
            return Err(Error::NoChannels);
        }
        let expected = piece_count(knots.len()) * 4 * channels;
        check_length(
            "coefficients",
            coefficients.len(),
            expected,
            "pieces x 4 x channels",
        )?;
        Ok(PiecewiseCubic {
            knots,
            channels,
            coefficients,
        })
    }

    /// The knots.
    #[must_use]
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// Number of pieces: one less than the knots, but at least 1.
    #[must_use]
    pub fn pieces(&self) -> usize {
        piece_count(self.knots.len())
    }

    /// All coefficients, `[pieces, 4, channels]`.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The four coefficients of one piece in one channel, the constant first.
    #[must_use]
    pub fn piece(&self, piece: usize, channel: usize) -> [f64; 4] {
        std::array::from_fn(|power| {
            self.coefficients[(piece * 4 + power) * self.channels + channel]
        })
    }

    /// The values alone at sorted `times`, into a block `[times, channels]` of the caller.
    ///
    /// # Errors
    /// If `times` decrease or are not finite, or `into` has another length.
    pub fn values_into<T: Real>(
        &self,
        times: &[f64],
        side: Side,
        into: &mut [T],
    ) -> Result<(), Error> {
        self.check_query(times)?;
        check_length(
            "into",
            into.len(),
            times.len() * self.channels,
            "query times x channels",
        )?;
        self.fill_values(times, side, into);
        Ok(())
    }

    /// Long queries are halved until they fit a thread.
    fn fill_values<T: Real>(&self, times: &[f64], side: Side, into: &mut [T]) {
        if times.len() >= WORTH_SPLITTING {
            let (times, later_times) = times.split_at(times.len() / 2);
            let (into, later) = into.split_at_mut(times.len() * self.channels);
            let first = || self.fill_values(times, side, into);
            rayon::join(first, || self.fill_values(later_times, side, later));
            return;
        }
        let mut cursor = Cursor::default();
        for (k, &time) in times.iter().enumerate() {
            let piece = cursor.advance(&self.knots, time, side);
            self.value_row(piece, time, row_mut(into, k, self.channels));
        }
    }

    /// A path that was never filled has no value anywhere.
    fn check_query(&self, times: &[f64]) -> Result<(), Error> {
        if self.knots.is_empty() {
            return Err(Error::NoKnots);
        }
        check_query(times)
    }

    #[inline]
    fn value_row<T: Real>(&self, piece: usize, time: f64, into: &mut [T]) {
        let s = time - self.knots[piece];
        let [a0, a1, a2, a3] = self.rows(piece);
        for (j, value) in into.iter_mut().enumerate() {
            *value = T::from_f64(a0[j] + s * (a1[j] + s * (a2[j] + s * a3[j])));
        }
    }

    /// The four rows of coefficients of a piece, each `[channels]`.
    #[inline]
    fn rows(&self, piece: usize) -> [&[f64]; 4] {
        std::array::from_fn(|power| row(&self.coefficients, piece * 4 + power, self.channels))
    }

    /// Takes over new knots and makes room for the coefficients, keeping the memory. What the
    /// coefficients hold is unspecified until every one is written.
    pub(crate) fn prepare(&mut self, knots: &[f64], channels: usize) {
        self.knots.clear();
        self.knots.extend_from_slice(knots);
        self.channels = channels;
        self.coefficients
            .resize(piece_count(knots.len()) * 4 * channels, 0.0);
    }

    /// Sets every coefficient to 0.
    pub(crate) fn clear_coefficients(&mut self) {
        self.coefficients.fill(0.0);
    }

    /// Takes over all coefficients, `[pieces, 4, channels]`.
    pub(crate) fn set_coefficients<T: Real>(&mut self, from: &[T]) -> Result<(), Error> {
        check_length(
            "gradient",
            from.len(),
            self.coefficients.len(),
            "pieces x 4 x channels",
        )?;
        self.coefficients
            .iter_mut()
            .zip(from)
            .for_each(|(to, from)| *to = from.to_f64());
        Ok(())
    }

    /// Adds `gradient` (`[channels]`) times the powers of the distance to `time` to the
    /// coefficients: the transpose of evaluating the piece there.
    #[inline]
    pub(crate) fn add_powers<T: Real>(&mut self, piece: usize, time: f64, gradient: &[T]) {
        let s = time - self.knots[piece];
        let mut factor = 1.0;
        for power in 0..4 {
            let sums = row_mut(&mut self.coefficients, piece * 4 + power, self.channels);
            sums.iter_mut()
                .zip(gradient)
                .for_each(|(sum, g)| *sum += factor * g.to_f64());
            factor *= s;
        }
    }

    /// All pieces, for the sweeps that fill them.
    pub(crate) fn rows_mut(&mut self) -> PieceRows<'_> {
        PieceRows {
            coefficients: &mut self.coefficients,
            first: 0,
            channels: self.channels,
        }
    }
}

/// The coefficients of consecutive pieces, numbered as in the whole.
#[derive(Debug)]
pub(crate) struct PieceRows<'a> {
    coefficients: &'a mut [f64],
    first: usize,
    channels: usize,
}

impl PieceRows<'_> {
    /// The pieces before `piece`, and it and those after.
    pub(crate) fn split_at(&mut self, piece: usize) -> (PieceRows<'_>, PieceRows<'_>) {
        let (first, channels) = (self.first, self.channels);
        let at = (piece - first) * 4 * channels;
        let (before, after) = self.coefficients.split_at_mut(at);
        (
            PieceRows {
                coefficients: before,
                first,
                channels,
            },
            PieceRows {
                coefficients: after,
                first: piece,
                channels,
            },
        )
    }

    /// Writes one piece of some channels.
    #[inline(always)]
    pub(crate) fn store<const W: usize>(
        &mut self,
        piece: usize,
        lanes: &Lanes<W>,
        cubic: [Pack<W>; 4],
    ) {
        let [a0, a1, a2, a3] = cubic;
        let row = (piece - self.first) * 4;
        lanes.scatter(a0, self.coefficients, row);
        lanes.scatter(a1, self.coefficients, row + 1);
        lanes.scatter(a2, self.coefficients, row + 2);
        lanes.scatter(a3, self.coefficients, row + 3);
    }

    /// Writes the coefficients of s² of one piece of some channels.
    #[inline(always)]
    pub(crate) fn store_square<const W: usize>(
        &mut self,
        piece: usize,
        lanes: &Lanes<W>,
        square: Pack<W>,
    ) {
        lanes.scatter(square, self.coefficients, (piece - self.first) * 4 + 2);
    }

    /// Reads one piece of some channels.
    #[inline(always)]
    pub(crate) fn load<const W: usize>(&self, piece: usize, lanes: &Lanes<W>) -> [Pack<W>; 4] {
        let row = (piece - self.first) * 4;
        [
            lanes.gather(self.coefficients, row),
            lanes.gather(self.coefficients, row + 1),
            lanes.gather(self.coefficients, row + 2),
            lanes.gather(self.coefficients, row + 3),
        ]
    }
}

impl Path for PiecewiseCubic {
    fn channels(&self) -> usize {
        self.channels
    }

    fn start(&self) -> f64 {
        self.knots.first().copied().unwrap_or(f64::NAN)
    }

    fn end(&self) -> f64 {
        self.knots.last().copied().unwrap_or(f64::NAN)
    }

    fn sample_into(&self, times: &[f64], side: Side, into: &mut Jets) -> Result<(), Error> {
        self.check_query(times)?;
        into.reset(times.len() * self.channels);
        let mut cursor = Cursor::default();
        for (k, &time) in times.iter().enumerate() {
            let piece = cursor.advance(&self.knots, time, side);
            let s = time - self.knots[piece];
            let [a0, a1, a2, a3] = self.rows(piece);
            let value = row_mut(&mut into.value, k, self.channels);
            let slope = row_mut(&mut into.slope, k, self.channels);
            let curvature = row_mut(&mut into.curvature, k, self.channels);
            for j in 0..self.channels {
                value[j] = a0[j] + s * (a1[j] + s * (a2[j] + s * a3[j]));
                slope[j] = a1[j] + s * (2.0 * a2[j] + s * 3.0 * a3[j]);
                curvature[j] = 2.0 * a2[j] + s * 6.0 * a3[j];
            }
        }
        Ok(())
    }
}

/// Number of pieces between `knots` knots; a single knot carries one.
pub(crate) fn piece_count(knots: usize) -> usize {
    knots.saturating_sub(1).max(1)
}

/// Walks forward through the pieces as query times increase.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    piece: usize,
}

impl Cursor {
    /// The piece that holds `time` seen from `side`; times of successive calls must not
    /// decrease. The end pieces hold everything outside the knots.
    #[inline]
    pub(crate) fn advance(&mut self, knots: &[f64], time: f64, side: Side) -> usize {
        let last = piece_count(knots.len()) - 1;
        let passed = |knot: f64| match side {
            Side::Left => knot < time,
            Side::Right => knot <= time,
        };
        // Neighbouring queries mostly lie within a few pieces; beyond that, search.
        for _ in 0..4 {
            if self.piece >= last || !passed(knots[self.piece + 1]) {
                return self.piece;
            }
            self.piece += 1;
        }
        let mut step = 4;
        while self.piece + step < last && passed(knots[self.piece + step]) {
            self.piece += step;
            step *= 2;
        }
        let ahead = &knots[self.piece + 1..=(self.piece + step).min(last)];
        self.piece += ahead.partition_point(|&knot| passed(knot));
        self.piece
    }
}

/// The same cubic in powers of the distance from a point `by` further on.
#[inline(always)]
pub(crate) fn shift<const W: usize>(cubic: [Pack<W>; 4], by: f64) -> [Pack<W>; 4] {
    let [a0, a1, a2, a3] = cubic;
    [
        a0 + (a1 + (a2 + a3 * by) * by) * by,
        a1 + (a2 * 2.0 + a3 * (3.0 * by)) * by,
        a2 + a3 * (3.0 * by),
        a3,
    ]
}
