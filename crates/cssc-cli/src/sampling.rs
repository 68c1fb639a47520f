//! A path at the times a user asks for, in any order.

use cssc::{Error, Jets, Path, Side};
use std::io::Write;

/// Samples `path` at `times` in the order given; at a knot from the right.
pub(crate) fn sample(path: &impl Path, times: &[f64]) -> Result<Jets, Error> {
    if times.is_sorted() {
        return path.sample(times, Side::Right);
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let sorted: Vec<f64> = order.iter().map(|&index| times[index]).collect();
    let channels = path.channels();
    let restore = |block: Vec<f64>| {
        let mut restored = vec![0.0; block.len()];
        for (row, &index) in block.chunks_exact(channels).zip(&order) {
            restored[index * channels..(index + 1) * channels].copy_from_slice(row);
        }
        restored
    };
    Ok(path.sample(&sorted, Side::Right)?.map(restore))
}

/// Tells on standard error when some answers lie outside the data, whose ends are written by `write`.
pub(crate) fn note_extrapolation(
    times: &[f64],
    (start, end): (f64, f64),
    write: impl Fn(f64) -> String,
) {
    let outside = times
        .iter()
        .filter(|&&time| time < start || time > end)
        .count();
    if outside > 0 {
        let _ = writeln!(
            std::io::stderr(),
            "note: {outside} of the {} times asked for lie outside the data ({} to {}); \
             there the end pieces are extended, which is rarely accurate.",
            times.len(),
            write(start),
            write(end)
        );
    }
}
