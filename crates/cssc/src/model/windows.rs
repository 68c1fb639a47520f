//! A long series cut into overlapping windows.
//!
//! A model is trained on series of some hundred observations and may be applied to many more.
//! Each window walks from some observations before the intervals it is responsible for
//! (*warm-up*: its state starts from nothing), in a two-sided model to as many after them:
//!
//! ```text
//!   knots      0 1 2 3 4 5 6 7 8 9 …             length 6, warm-up 2, one-sided
//!   window 0   [─ ─ ─ ─ ─]                       [ ] responsible   w warm-up
//!   window 1         w w [─ ─ ─]
//!   window 2               w w [─ ─ ─]
//! ```
//!
//! On every interval between neighbouring knots the prediction is that of the one window
//! responsible for it; the limits at the knots come from there too, and enter one compensation
//! of the whole series. So the curve is as smooth at the borders of windows as everywhere.

use std::ops::Range;

/// A part of a series that is walked on its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    /// The knots it walks through.
    pub(crate) walk: Range<usize>,
    /// The intervals it is responsible for; interval k begins at knot k.
    pub(crate) own: Range<usize>,
}

/// How a series is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// Most observations in a window.
    pub(crate) length: usize,
    /// Observations before the first interval of a window.
    pub(crate) before: usize,
    /// Observations after its last one.
    pub(crate) after: usize,
}

impl Cut {
    /// The windows of a series of `knots` knots, at least one.
    pub(crate) fn windows(&self, knots: usize) -> Vec<Window> {
        let mut windows = Vec::new();
        let mut start = 0;
        while start + 1 < knots {
            let from = start.saturating_sub(self.before);
            let to = (from + self.length).min(knots);
            let end = if to == knots {
                knots - 1
            } else {
                to - 1 - self.after
            };
            windows.push(Window {
                walk: from..to,
                own: start..end,
            });
            start = end;
        }
        if windows.is_empty() {
            windows.push(whole(knots));
        }
        windows
    }
}

/// The window that is the whole series.
pub(crate) fn whole(knots: usize) -> Window {
    Window {
        walk: 0..knots,
        own: 0..knots.saturating_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_share_all_intervals_and_walk_no_more_than_their_length() {
        for knots in 1..40 {
            for length in 2..20 {
                for (before, after) in [(0, 0), (3, 0), (2, 2), (0, 5)] {
                    if length < before + after + 2 {
                        continue;
                    }
                    let cut = Cut {
                        length,
                        before,
                        after,
                    };
                    let windows = cut.windows(knots);
                    let mut next = 0;
                    for window in &windows {
                        let Window { walk, own } = window;
                        assert!(walk.len() <= length && walk.end <= knots);
                        assert_eq!(own.start, next);
                        assert_eq!(walk.start, own.start.saturating_sub(before));
                        assert!(walk.end == knots || walk.end == own.end + 1 + after);
                        next = own.end;
                    }
                    assert_eq!(next, knots - 1);
                    if length >= knots {
                        assert_eq!(windows, [whole(knots)]);
                    }
                }
            }
        }
    }
}
