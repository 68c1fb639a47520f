//! Which points of a long series are enough for a picture.
//!
//! The time axis is cut into buckets, one per pixel. A bucket keeps its first and last point and, for
//! every column, the smallest and the largest: drawn with that many pixels, the line through what is kept covers
//! the same pixels as the line through all. Holes (NaN) keep their first point, so that they stay holes.
//! Linear time; at most 2 + 3·columns points a bucket.

use std::ops::Range;

/// Indices, increasing, of the points to keep. Nothing is left out when there are no more points than
/// `buckets` could keep.
pub(crate) fn kept(times: &[f64], columns: &[&[f64]], buckets: usize) -> Vec<usize> {
    let (Some(&start), Some(&end)) = (times.first(), times.last()) else {
        return Vec::new();
    };
    if times.len() <= buckets.saturating_mul(2 + 2 * columns.len()) || buckets == 0 || end <= start
    {
        return (0..times.len()).collect();
    }
    let scale = buckets as f64 / (end - start);
    let bucket = |time: f64| (((time - start) * scale) as usize).min(buckets - 1);
    let mut kept = Vec::new();
    let mut from = 0;
    while from < times.len() {
        let this = bucket(times[from]);
        let count = times[from..]
            .iter()
            .take_while(|&&time| bucket(time) == this);
        let to = from + count.count();
        kept.extend(of_bucket(from..to, columns));
        from = to;
    }
    kept
}

fn of_bucket(range: Range<usize>, columns: &[&[f64]]) -> Vec<usize> {
    let mut kept = vec![range.start, range.end - 1];
    for column in columns {
        let known = || range.clone().filter(|&at| column[at].is_finite());
        let order = |&a: &usize, &b: &usize| column[a].total_cmp(&column[b]);
        kept.extend(known().min_by(order));
        kept.extend(known().max_by(order));
        kept.extend(range.clone().find(|&at| column[at].is_nan()));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::kept;

    /// A fixed sequence without pattern.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut random = cssc::data::Random::new(seed);
        (0..count).map(|_| random.uniform(-1.0, 1.0)).collect()
    }

    #[test]
    fn every_bucket_keeps_the_extremes_of_every_column() {
        let times: Vec<f64> = (0..10_000).map(|k| f64::from(k) * f64::from(k)).collect();
        let (a, b) = (noise(10_000, 1), noise(10_000, 2));
        let kept = kept(&times, &[&a, &b], 50);
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(kept.len() <= 50 * 6, "{}", kept.len());
        let width = times[9_999] / 50.0;
        for bucket in 0..50 {
            let inside = |at: &usize| ((times[*at] / width) as usize).min(49) == bucket;
            for column in [&a, &b] {
                let of = |indices: &mut dyn Iterator<Item = usize>| {
                    indices
                        .filter(inside)
                        .map(|at| column[at])
                        .fold((f64::MAX, f64::MIN), |(low, high), x| {
                            (low.min(x), high.max(x))
                        })
                };
                assert_eq!(
                    of(&mut (0..10_000)),
                    of(&mut kept.iter().copied()),
                    "bucket {bucket}"
                );
            }
        }
    }

    #[test]
    fn a_hole_stays_a_hole() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut values = times.clone();
        values[505] = f64::NAN;
        assert!(kept(&times, &[&values], 10).contains(&505));
    }

    #[test]
    fn a_short_series_is_left_alone() {
        let times: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(kept(&times, &[&times], 10), (0..40).collect::<Vec<_>>());
        assert!(kept(&[], &[&[]], 10).is_empty());
    }
}
