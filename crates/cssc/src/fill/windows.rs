//! Long series cut into windows that a model is trained on.

use crate::Error;
use crate::data::{Dataset, Series};
use serde::{Deserialize, Serialize};

/// Fewest rows that teach anything.
const FEWEST_ROWS: usize = 4;

/// How long series are cut, scaled, and freed from their season.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Windows {
    /// Rows of a window. Default 64.
    pub rows: usize,
    /// Rows from the start of one window to the start of the next. Default half a window.
    pub stride: usize,
    /// Typical distance of rows in the model's time. Default 0.2.
    pub typical_gap: f64,
    /// Whether waves of the periods of calendar and data are taken off before a network looks. Default: as suits the
    /// model ([`ModelConfig::suits_season`](crate::model::ModelConfig::suits_season)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub season: Option<bool>,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            rows: 64,
            stride: 32,
            typical_gap: 0.2,
            season: None,
        }
    }
}

impl Windows {
    /// Refuses settings that are out of range.
    ///
    /// # Errors
    /// Names the setting, what it is, and what it may be.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |text: String| Err(Error::Setting(text));
        if self.rows < FEWEST_ROWS {
            return refuse(format!(
                "`rows` is {}; give at least {FEWEST_ROWS}",
                self.rows
            ));
        }
        if self.stride == 0 {
            return refuse("`stride` is 0; give at least 1".to_owned());
        }
        if !(self.typical_gap > 0.0 && self.typical_gap.is_finite()) {
            let gap = self.typical_gap;
            return refuse(format!("`typical-gap` is {gap}; give a positive number"));
        }
        Ok(())
    }
}

/// Cuts every series into overlapping windows of rows that hold a value. Where neighbouring rows
/// are further apart than half a window usually lasts (`typical` is the usual distance), no window
/// reaches across.
///
/// # Errors
/// Only if series cannot be rebuilt, which would be a fault of this library.
pub(super) fn cut(
    dataset: &Dataset,
    typical: Option<f64>,
    windows: Windows,
) -> Result<Dataset, Error> {
    let longest = typical.unwrap_or(f64::INFINITY) * windows.rows as f64 / 2.0;
    let mut all = Vec::new();
    for (number, series) in dataset.series().iter().enumerate() {
        let known = |&row: &usize| series.row(row).iter().any(|value| !value.is_nan());
        let rows: Vec<usize> = (0..series.len()).filter(known).collect();
        let apart = |a: &usize, b: &usize| series.times()[*b] - series.times()[*a] <= longest;
        for stretch in rows.chunk_by(apart) {
            for start in starts(stretch.len(), windows) {
                let rows = &stretch[start..stretch.len().min(start.saturating_add(windows.rows))];
                let name = format!("{number}:{}", rows[0]);
                all.push(window(series, rows, name)?);
            }
        }
    }
    Dataset::new(dataset.channel_names().to_vec(), all)
}

/// Where windows begin; the last one ends with the stretch. Stretches of fewer than four rows
/// teach nothing.
fn starts(rows: usize, windows: Windows) -> Vec<usize> {
    if rows < FEWEST_ROWS {
        return Vec::new();
    }
    let last = rows.saturating_sub(windows.rows);
    let mut starts: Vec<usize> = (0..last).step_by(windows.stride.max(1)).collect();
    starts.push(last);
    starts
}

/// Rows of a series, their times counted from the first.
fn window(series: &Series, rows: &[usize], name: String) -> Result<Series, Error> {
    let taken = series.take(rows)?;
    let origin = taken.times()[0];
    let times = taken.times().iter().map(|time| time - origin).collect();
    Series::new(
        Some(name),
        series.channels(),
        times,
        taken.values().to_vec(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_cover_everything_and_do_not_reach_across_a_long_gap() {
        let mut times: Vec<f64> = (0..10).map(f64::from).collect();
        times.extend((0..5).map(|k| 100.0 + f64::from(k)));
        let values = (0..15).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        let data = Dataset::new(vec!["x".into()], vec![series]).unwrap();
        let windows = Windows {
            rows: 6,
            stride: 3,
            ..Windows::default()
        };
        let cut = cut(&data, Some(1.0), windows).unwrap();
        let values: Vec<&[f64]> = cut.series().iter().map(Series::values).collect();
        assert_eq!(
            values,
            [
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0][..],
                &[3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                &[4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                &[10.0, 11.0, 12.0, 13.0, 14.0],
            ]
        );
        assert!(cut.series().iter().all(|window| window.times()[0] == 0.0));
    }
}
