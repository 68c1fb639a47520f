//! What the networks of this library share: from series to rows of a block, and back.

use super::network::{Limits, Observed, Trace};
use super::walk::SidedJets;
use crate::Jets;
use crate::nn::{Float, Graph, Var};
use std::ops::Range;

/// Widths of a network's layers, input first.
pub(crate) fn widths(inputs: usize, hidden: &[usize], outputs: usize) -> Vec<usize> {
    [&[inputs], hidden, &[outputs]].concat()
}

/// A constant block of zeros.
pub(crate) fn zeros<T: Float>(graph: &mut Graph<'_, T>, rows: usize, columns: usize) -> Var {
    graph.input(rows, columns, &vec![T::ZERO; rows * columns])
}

/// The entries of a knot; NaN is missing.
pub(crate) fn entries<'a>(series: &Observed<'a>, knot: usize) -> &'a [f64] {
    let channels = series.values.len() / series.times.len();
    &series.values[knot * channels..(knot + 1) * channels]
}

/// What a cell reads at each of `knots` (series, knot): values (0 where missing), the mask, and what `more` appends. One
/// block of numbers, or learned values beside the rest; `numbers` is reused between calls.
pub(crate) fn cell_inputs<T: Float>(
    graph: &mut Graph<'_, T>,
    series: &[Observed<'_>],
    knots: impl ExactSizeIterator<Item = (usize, usize)> + Clone,
    numbers: &mut Vec<T>,
    mut more: impl FnMut((usize, usize), &mut Vec<T>),
) -> Var {
    let codes = codes_at(graph, series, knots.clone());
    let rows = knots.len();
    numbers.clear();
    for (item, knot) in knots {
        let values = entries(&series[item], knot);
        if codes.is_none() {
            numbers.extend(values.iter().map(|&x| shown::<T>(x)));
        }
        numbers.extend(values.iter().map(|&x| known::<T>(x)));
        more((item, knot), numbers);
    }
    let rest = graph.input(rows, numbers.len() / rows, numbers);
    codes.map_or(rest, |codes| graph.concat(codes, rest))
}

/// A value, 0 where it is missing.
pub(crate) fn shown<T: Float>(x: f64) -> T {
    if x.is_nan() { T::ZERO } else { T::from_f64(x) }
}

/// Whether a value is there.
pub(crate) fn known<T: Float>(x: f64) -> T {
    if x.is_nan() { T::ZERO } else { T::ONE }
}

/// The learned values of `knots` (series, knot), where there are such.
pub(crate) fn codes_at<T: Float>(
    graph: &mut Graph<'_, T>,
    series: &[Observed<'_>],
    knots: impl Iterator<Item = (usize, usize)> + Clone,
) -> Option<Var> {
    let first = knots.clone().next()?;
    let block = series[first.0].codes?.block;
    let row = |(item, knot): (usize, usize)| {
        let codes = series[item]
            .codes
            .expect("all series of a batch have codes");
        (0, codes.first + knot)
    };
    Some(graph.collect(&[block], knots.map(row)))
}

/// The learned values of all observations of all series, one after the other, where there are such.
pub(crate) fn codes_of<T: Float>(graph: &mut Graph<'_, T>, series: &[Observed<'_>]) -> Option<Var> {
    let of = |item: usize| (0..series[item].times.len()).map(move |knot| (item, knot));
    codes_at(graph, series, (0..series.len()).flat_map(of))
}

/// What the rows of a batch tell, from the given `order` back to that of the series. The signal passes
/// through `values` at the knots, or through the observations, which are known more precisely than
/// they entered the network.
pub(crate) fn traces<T: Float>(
    graph: &Graph<'_, T>,
    series: &[Observed<'_>],
    order: &[usize],
    signal: Option<Jets<Var>>,
    limits: Option<SidedJets>,
    values: Option<Var>,
) -> Vec<Trace> {
    let (mut query, mut knot) = (0, 0);
    let mut traces = vec![Trace::default(); series.len()];
    for &item in order {
        let asked = query..query + series[item].query.len();
        let knots = knot..knot + series[item].times.len();
        (query, knot) = (asked.end, knots.end);
        let jets = |vars: Jets<Var>, rows: &Range<usize>| vars.map(|var| cut(graph, var, rows));
        let limits = limits.map(|limits| Limits {
            values: values.map_or_else(Vec::new, |values| cut(graph, values, &knots)),
            left: jets(limits.left, &knots),
            right: jets(limits.right, &knots),
        });
        let signal = signal
            .map(|signal| jets(signal, &asked))
            .unwrap_or_default();
        traces[item] = Trace { signal, limits };
    }
    traces
}

fn cut<T: Float>(graph: &Graph<'_, T>, var: Var, rows: &Range<usize>) -> Vec<f64> {
    let columns = graph.columns(var);
    let numbers = &graph.value(var)[rows.start * columns..rows.end * columns];
    numbers.iter().map(|x| x.to_f64()).collect()
}
