//! A *path*: a function of time with many channels, known with its first two derivatives from
//! the left and from the right.
//!
//! The prediction $o$, the compensation $c$, the smoothed result $\hat o = o + c$ and every
//! plain spline are paths, so sampling, plotting and testing are written once. At a knot a
//! path may jump; [`Side`] says which limit is meant:
//!
//! ```text
//!            Right:  o(t_k⁺)  •───── piece k
//!   piece k-1 ──────◦  Left:  o(t_k⁻)
//!                  t_k
//! ```
//!
//! **Outside `[start, end]`** a path made of pieces extends its first and last piece, as scipy
//! does. **Query times** must be finite and must not decrease (equal times are fine).

use crate::error::Error;
use crate::numeric::real::Real;
pub use crate::numeric::side::Side;

/// Value, first and second time derivative, each a time-major block `[times, channels]`:
/// entry `k * channels + j` belongs to time `k` and channel `j`.
///
/// The storage `S` is a vector, a slice or a mutable slice, so the same type is the answer of
/// [`Path::sample`], an input (the one-sided limits of a prediction) and a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Jets<S = Vec<f64>> {
    /// The function itself.
    pub value: S,
    /// Its first derivative.
    pub slope: S,
    /// Its second derivative.
    pub curvature: S,
}

impl<S> Jets<S> {
    /// Applies `f` to each of the three blocks.
    pub fn map<U>(self, mut f: impl FnMut(S) -> U) -> Jets<U> {
        Jets {
            value: f(self.value),
            slope: f(self.slope),
            curvature: f(self.curvature),
        }
    }

    /// Applies `f` to each of the three blocks together with that of `other`.
    pub fn zip<R, U>(self, other: Jets<R>, mut f: impl FnMut(S, R) -> U) -> Jets<U> {
        Jets {
            value: f(self.value, other.value),
            slope: f(self.slope, other.slope),
            curvature: f(self.curvature, other.curvature),
        }
    }

    /// The three blocks with their names, in the order value, slope, curvature.
    pub fn by_name(self) -> [(&'static str, S); 3] {
        [
            ("value", self.value),
            ("slope", self.slope),
            ("curvature", self.curvature),
        ]
    }
}

impl<T: Real> Jets<Vec<T>> {
    /// Three blocks of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Jets {
            value: vec![T::default(); len],
            slope: vec![T::default(); len],
            curvature: vec![T::default(); len],
        }
    }

    /// Makes each block `len` zeros long, keeping its memory.
    pub fn reset(&mut self, len: usize) {
        for block in [&mut self.value, &mut self.slope, &mut self.curvature] {
            block.clear();
            block.resize(len, T::default());
        }
    }

    /// The same blocks, borrowed.
    #[must_use]
    pub fn as_slices(&self) -> Jets<&[T]> {
        Jets {
            value: &self.value,
            slope: &self.slope,
            curvature: &self.curvature,
        }
    }

    /// The same blocks, borrowed for writing.
    pub fn as_mut_slices(&mut self) -> Jets<&mut [T]> {
        Jets {
            value: &mut self.value,
            slope: &mut self.slope,
            curvature: &mut self.curvature,
        }
    }
}

impl<T> Jets<&mut [T]> {
    /// The same blocks, borrowed again.
    pub(crate) fn reborrow(&mut self) -> Jets<&mut [T]> {
        Jets {
            value: self.value,
            slope: self.slope,
            curvature: self.curvature,
        }
    }
}

/// A function of time with many channels.
///
/// ```
/// use cssc::{SplineKind, Path, PiecewiseCubic, Side};
/// let line = PiecewiseCubic::fit(&[0.0, 2.0], 1, &[1.0, 5.0], SplineKind::Linear)?;
/// let jets = line.sample(&[0.5, 1.0], Side::Right)?;
/// assert_eq!(jets.value, [2.0, 3.0]);
/// assert_eq!(jets.slope, [2.0, 2.0]);
/// # Ok::<(), cssc::Error>(())
/// ```
pub trait Path {
    /// Number of channels.
    fn channels(&self) -> usize;

    /// First time at which the path is defined by data.
    fn start(&self) -> f64;

    /// Last time at which the path is defined by data.
    fn end(&self) -> f64;

    /// Value, slope and curvature at sorted `times` from `side`, in one pass; `into` is
    /// resized to `[times, channels]` and keeps its memory.
    ///
    /// # Errors
    /// If `times` decrease or are not finite.
    fn sample_into(&self, times: &[f64], side: Side, into: &mut Jets) -> Result<(), Error>;

    /// As [`Path::sample_into`], into new memory.
    ///
    /// # Errors
    /// If `times` decrease or are not finite.
    fn sample(&self, times: &[f64], side: Side) -> Result<Jets, Error> {
        let mut into = Jets::default();
        self.sample_into(times, side, &mut into)?;
        Ok(into)
    }

    /// As [`Path::sample`] at `times` in any order; the answers keep it.
    ///
    /// # Errors
    /// If `times` are not finite.
    fn sample_in_any_order(&self, times: &[f64], side: Side) -> Result<Jets, Error> {
        if times.is_sorted() {
            return self.sample(times, side);
        }
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let sorted: Vec<f64> = order.iter().map(|&index| times[index]).collect();
        let channels = self.channels();
        let restore = |block: Vec<f64>| {
            let mut restored = vec![0.0; block.len()];
            for (row, &index) in block.chunks_exact(channels).zip(&order) {
                restored[index * channels..(index + 1) * channels].copy_from_slice(row);
            }
            restored
        };
        Ok(self.sample(&sorted, side)?.map(restore))
    }
}

impl<P: Path + ?Sized> Path for &P {
    fn channels(&self) -> usize {
        (**self).channels()
    }

    fn start(&self) -> f64 {
        (**self).start()
    }

    fn end(&self) -> f64 {
        (**self).end()
    }

    fn sample_into(&self, times: &[f64], side: Side, into: &mut Jets) -> Result<(), Error> {
        (**self).sample_into(times, side, into)
    }
}

/// The sum of two paths; *smoothed = predicted + compensation* is one.
#[derive(Debug, Clone)]
pub struct Sum<A, B> {
    first: A,
    second: B,
}

impl<A: Path, B: Path> Sum<A, B> {
    /// The path `first + second`.
    ///
    /// # Errors
    /// If the two have different numbers of channels.
    pub fn new(first: A, second: B) -> Result<Self, Error> {
        if first.channels() != second.channels() {
            return Err(Error::ChannelMismatch {
                left: first.channels(),
                right: second.channels(),
            });
        }
        Ok(Sum { first, second })
    }

    /// The two terms.
    pub fn into_parts(self) -> (A, B) {
        (self.first, self.second)
    }
}

impl<A: Path, B: Path> Path for Sum<A, B> {
    fn channels(&self) -> usize {
        self.first.channels()
    }

    /// The later of the two starts.
    fn start(&self) -> f64 {
        self.first.start().max(self.second.start())
    }

    /// The earlier of the two ends.
    fn end(&self) -> f64 {
        self.first.end().min(self.second.end())
    }

    fn sample_into(&self, times: &[f64], side: Side, into: &mut Jets) -> Result<(), Error> {
        self.first.sample_into(times, side, into)?;
        let second = self.second.sample(times, side)?;
        let pairs = [
            (&mut into.value, second.value),
            (&mut into.slope, second.slope),
            (&mut into.curvature, second.curvature),
        ];
        for (sum, term) in pairs {
            sum.iter_mut()
                .zip(term)
                .for_each(|(sum, term)| *sum += term);
        }
        Ok(())
    }
}
