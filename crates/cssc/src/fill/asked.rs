//! What is asked of a series beside its holes.

use crate::data::Series;

/// Which rows are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Asked {
    /// Nothing: missing cells are filled.
    #[default]
    Holes,
    /// Rows added so that no two are further apart than this, counted from the row before.
    Every(f64),
    /// Rows at multiples of this from the first row, and no others.
    Grid(f64),
    /// Rows at these times, increasing.
    At(Vec<f64>),
    /// Rows at these times, increasing, and no others.
    OnlyAt(Vec<f64>),
}

impl Asked {
    /// Times of new rows, and the rows that stay (`None`: all).
    #[must_use]
    pub fn rows(&self, series: &Series) -> (Vec<f64>, Option<Vec<usize>>) {
        let times = series.times();
        match self {
            Self::Holes => (Vec::new(), None),
            Self::Every(step) => {
                let between = times
                    .windows(2)
                    .flat_map(|pair| inside(pair[0], pair[1], *step));
                (between.collect(), None)
            }
            Self::Grid(step) => split(series, &grid(times, *step)),
            Self::At(asked) => (split(series, asked).0, None),
            Self::OnlyAt(asked) => split(series, asked),
        }
    }

    /// Times of all rows of the result, increasing.
    #[must_use]
    pub fn times(&self, series: &Series) -> Vec<f64> {
        let (new, kept) = self.rows(series);
        let mut times = match kept {
            Some(kept) => kept.iter().map(|&row| series.times()[row]).collect(),
            None => series.times().to_vec(),
        };
        times.extend(new);
        times.sort_by(f64::total_cmp);
        times
    }
}

/// Times between two rows, `step` apart; none within half a step of the second.
fn inside(from: f64, to: f64, step: f64) -> impl Iterator<Item = f64> {
    let count = ((to - from) / step - 0.5).ceil().max(1.0) as usize - 1;
    (1..=count).map(move |k| from + k as f64 * step)
}

fn grid(times: &[f64], step: f64) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Vec::new();
    };
    // A thousandth of a step of tolerance, so that rounding does not lose the last row.
    let count = ((last - first) / step + 1e-3).floor() as usize;
    (0..=count).map(|k| first + k as f64 * step).collect()
}

/// Asked times that are no rows yet, and the rows that were asked for.
fn split(series: &Series, asked: &[f64]) -> (Vec<f64>, Option<Vec<usize>>) {
    let times = series.times();
    let row = |time: &f64| times.binary_search_by(|t| t.total_cmp(time));
    let new = asked.iter().filter(|time| row(time).is_err());
    let kept = asked.iter().filter_map(|time| row(time).ok());
    (new.copied().collect(), Some(kept.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(times: &[f64]) -> Series {
        Series::new(None, 1, times.to_vec(), times.to_vec()).unwrap()
    }

    #[test]
    fn rows_are_added_in_gaps_counted_from_the_row_before() {
        let series = series(&[0.0, 1.0, 4.6, 5.0]);
        assert_eq!(Asked::Every(1.0).rows(&series), (vec![2.0, 3.0, 4.0], None));
        let all = [0.0, 1.0, 2.0, 3.0, 4.0, 4.6, 5.0];
        assert_eq!(Asked::Every(1.0).times(&series), all);
        assert_eq!(Asked::Holes.times(&series), series.times());
    }

    #[test]
    fn a_grid_keeps_only_its_rows() {
        let series = series(&[0.0, 1.5, 2.0, 3.0]);
        let (new, kept) = Asked::Grid(1.0).rows(&series);
        assert_eq!((new, kept), (vec![1.0], Some(vec![0, 2, 3])));
        assert_eq!(Asked::Grid(1.0).times(&series), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn times_asked_for_become_rows_beside_or_instead_of_the_others() {
        let series = series(&[0.0, 1.0, 2.0]);
        let asked = vec![-1.0, 0.5, 1.0];
        let new = vec![-1.0, 0.5];
        assert_eq!(Asked::At(asked.clone()).rows(&series), (new.clone(), None));
        assert_eq!(Asked::OnlyAt(asked).rows(&series), (new, Some(vec![1])));
    }
}
