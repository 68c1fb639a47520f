//! Numbers in whole cache lines: a register read from a packed panel never straddles two.

use super::super::float::Float;
use std::marker::PhantomData;

/// One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A growing block of numbers that starts on a cache line.
#[derive(Clone, Debug)]
pub(crate) struct Aligned<T> {
    lines: Vec<Line>,
    numbers: PhantomData<T>,
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            numbers: PhantomData,
        }
    }
}

impl<T: Float> Aligned<T> {
    /// At least `len` numbers, with any content; grows, but never shrinks.
    pub(crate) fn at_least(&mut self, len: usize) -> &mut [T] {
        let lines = (len * size_of::<T>()).div_ceil(64);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
        // SAFETY: the lines hold at least `len` numbers, initialised (any bytes are a number),
        // and are aligned for them.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast::<T>(), len) }
    }

    /// The first number.
    pub(crate) fn as_ptr(&self) -> *const T {
        self.lines.as_ptr().cast()
    }
}
