//! Where the windows of a convolution stand on an image, and how an image becomes a matrix of windows and back.
//!
//! An image is a block [height, width, channels], channels last: so a line of a window is one run of numbers in memory.
//! `unfold` lays every window of kernel x kernel pixels out as a row; what lies outside the image is 0. `fold` adds every
//! row back to where its numbers came from: it is the transpose of `unfold`.

use super::float::Float;

/// Height, width and channels of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageShape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
    /// Numbers of a pixel.
    pub channels: usize,
}

impl ImageShape {
    /// A shape.
    #[must_use]
    pub const fn new(height: usize, width: usize, channels: usize) -> Self {
        Self {
            height,
            width,
            channels,
        }
    }

    /// Numbers of an image.
    #[must_use]
    pub const fn len(self) -> usize {
        self.height * self.width * self.channels
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A kernel: its side in pixels, how far apart windows stand, and how far they reach over the edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Pixels of a side.
    pub side: usize,
    /// Pixels from window to window.
    pub stride: usize,
    /// Pixels over each edge.
    pub padding: usize,
}

/// The windows of a kernel on an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Windows {
    image: ImageShape,
    kernel: Kernel,
}

impl Windows {
    /// # Panics
    /// If the kernel is larger than the image with its padding, or the stride is 0.
    pub(crate) fn new(image: ImageShape, kernel: Kernel) -> Self {
        let reach = image.height.min(image.width) + 2 * kernel.padding;
        assert!(
            kernel.side > 0 && kernel.side <= reach,
            "a kernel of {} on an image of {} x {}",
            kernel.side,
            image.height,
            image.width
        );
        assert!(kernel.stride > 0, "windows that move");
        Self { image, kernel }
    }

    pub(crate) const fn kernel(self) -> Kernel {
        self.kernel
    }

    /// Windows below each other, and side by side.
    pub(crate) fn counts(self) -> (usize, usize) {
        let Kernel {
            side,
            stride,
            padding,
        } = self.kernel;
        let count = |length: usize| (length + 2 * padding - side) / stride + 1;
        (count(self.image.height), count(self.image.width))
    }

    /// Windows of an image.
    pub(crate) fn count(self) -> usize {
        let (down, across) = self.counts();
        down * across
    }

    /// Numbers of a window.
    pub(crate) fn width(self) -> usize {
        self.kernel.side * self.kernel.side * self.image.channels
    }

    /// Calls `line` for every line of every window that lies in the image at least in part: where it begins in the matrix
    /// of windows and in the image, and how many numbers it has; `outside` for every run of numbers outside.
    #[inline(always)]
    fn lines(
        self,
        mut line: impl FnMut(usize, usize, usize),
        mut outside: impl FnMut(usize, usize),
    ) {
        let (down, across) = self.counts();
        let Kernel {
            side,
            stride,
            padding,
        } = self.kernel;
        let ImageShape {
            height,
            width,
            channels,
        } = self.image;
        let whole = side * channels;
        let mut at = 0;
        for i in 0..down {
            for j in 0..across {
                // From the left edge of the window: pixels before the image, inside it, behind it.
                let left = j * stride;
                let before = padding.saturating_sub(left).min(side);
                let inside = (width + padding)
                    .saturating_sub(left + before)
                    .min(side - before);
                for row in 0..side {
                    let y = i * stride + row;
                    if y < padding || y >= height + padding || inside == 0 {
                        outside(at, whole);
                    } else {
                        let first = (y - padding) * width + left + before - padding;
                        let (skipped, length) = (before * channels, inside * channels);
                        if skipped > 0 {
                            outside(at, skipped);
                        }
                        line(at + skipped, first * channels, length);
                        if skipped + length < whole {
                            outside(at + skipped + length, whole - skipped - length);
                        }
                    }
                    at += whole;
                }
            }
        }
    }

    /// All windows of `image` as rows of `windows`.
    pub(crate) fn unfold<T: Float>(self, image: &[T], windows: &mut [T]) {
        assert_eq!(image.len(), self.image.len(), "an image");
        assert_eq!(windows.len(), self.count() * self.width(), "its windows");
        // Two passes would need a cell for `windows`; a line knows both of its ends.
        let windows = std::cell::Cell::from_mut(windows).as_slice_of_cells();
        self.lines(
            |to, from, length| {
                let numbers = &image[from..from + length];
                windows[to..to + length]
                    .iter()
                    .zip(numbers)
                    .for_each(|(cell, &x)| cell.set(x));
            },
            |to, length| {
                windows[to..to + length]
                    .iter()
                    .for_each(|cell| cell.set(T::ZERO));
            },
        );
    }

    /// Adds all rows of `windows` to `image` where they stand.
    pub(crate) fn fold<T: Float>(self, windows: &[T], image: &mut [T]) {
        assert_eq!(image.len(), self.image.len(), "an image");
        assert_eq!(windows.len(), self.count() * self.width(), "its windows");
        self.lines(
            |from, to, length| {
                let numbers = &windows[from..from + length];
                image[to..to + length]
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(sum, &x)| *sum += x);
            },
            |_, _| (),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// Every window by its definition, pixel by pixel.
    fn pixel_by_pixel(windows: Windows, image: &[f64]) -> Vec<f64> {
        let ImageShape {
            height,
            width,
            channels,
        } = windows.image;
        let Kernel {
            side,
            stride,
            padding,
        } = windows.kernel;
        let (down, across) = windows.counts();
        let mut found = Vec::new();
        for i in 0..down {
            for j in 0..across {
                for (row, column) in (0..side * side).map(|at| (at / side, at % side)) {
                    let (y, x) = (i * stride + row, j * stride + column);
                    for channel in 0..channels {
                        let inside = (padding..height + padding).contains(&y)
                            && (padding..width + padding).contains(&x);
                        found.push(match inside {
                            true => {
                                image[((y - padding) * width + x - padding) * channels + channel]
                            }
                            false => 0.0,
                        });
                    }
                }
            }
        }
        found
    }

    #[test]
    fn windows_are_cut_and_laid_back_as_defined() {
        let mut random = Random::new(1);
        for (height, width, channels) in [(5, 5, 1), (6, 4, 3), (8, 8, 2)] {
            for (side, stride, padding) in [(3, 1, 1), (3, 2, 1), (4, 2, 1), (1, 1, 0), (2, 3, 2)] {
                let kernel = Kernel {
                    side,
                    stride,
                    padding,
                };
                let windows = Windows::new(ImageShape::new(height, width, channels), kernel);
                let mut draw = |len: usize| -> Vec<f64> {
                    (0..len).map(|_| random.normal(0.0, 1.0)).collect()
                };
                let image = draw(windows.image.len());
                let mut cut = vec![f64::NAN; windows.count() * windows.width()];
                windows.unfold(&image, &mut cut);
                assert_eq!(cut, pixel_by_pixel(windows, &image), "{kernel:?}");
                // <unfold x, y> = <x, fold y>: one is the transpose of the other.
                let other = draw(cut.len());
                let mut laid = vec![0.0; image.len()];
                windows.fold(&other, &mut laid);
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                assert!(
                    (dot(&cut, &other) - dot(&image, &laid)).abs() < 1e-10,
                    "{kernel:?}"
                );
            }
        }
    }
}
