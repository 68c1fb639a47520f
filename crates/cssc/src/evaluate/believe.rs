//! What is believed of answers before they are weighted: how far they go.

use super::hold_out::HoldOut;

/// Curves that bend differ from the reference at most so many times what 99 of 100 values do.
const LARGEST: f64 = 1.5;
const MOST_TRUSTED: f64 = 20.0;

/// How far values differ from the reference: [channels][classes]; that of all classes where one has few values.
pub(super) fn limits(held: &HoldOut, reference: &[f64], edges: &[f64]) -> Vec<Vec<f64>> {
    let classes = edges.len() + 1;
    let mut sizes = vec![vec![Vec::new(); classes]; held.visible.channels()];
    for (one, reference) in held.hidden.iter().zip(reference) {
        let class = edges.partition_point(|&edge| edge < one.gap);
        sizes[one.channel][class].push((one.value - reference).abs());
    }
    let largest = |mut sizes: Vec<f64>| {
        let place = (0.99 * sizes.len().saturating_sub(1) as f64).ceil() as usize;
        match sizes.is_empty() {
            true => f64::INFINITY,
            false => LARGEST * *sizes.select_nth_unstable_by(place, f64::total_cmp).1,
        }
    };
    let of_channel = |classes: &Vec<Vec<f64>>| {
        let all = largest(classes.concat());
        let own = classes.iter().cloned();
        own.map(|sizes| {
            if sizes.len() < 20 {
                all
            } else {
                largest(sizes)
            }
        })
        .collect()
    };
    sizes.iter().map(of_channel).collect()
}

/// How many times more than usual a method is believed: 1/√q where it leaves the part q of the squares, for every channel.
pub(super) fn trusted(
    held: &HoldOut,
    reference: &[f64],
    rows: &[f64],
    methods: usize,
    method: usize,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); held.visible.channels()];
    for (at, one) in held.hidden.iter().enumerate() {
        let target = one.value - reference[at];
        let left = target - rows[at * methods + method];
        let (all, sum) = &mut sums[one.channel];
        *all += target * target;
        *sum += left * left;
    }
    let trusted = |(all, left): (f64, f64)| match left > 0.0 {
        true => (all / left).sqrt().clamp(1.0, MOST_TRUSTED),
        false => 1.0,
    };
    sums.into_iter().map(trusted).collect()
}
