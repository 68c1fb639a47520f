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

/// Appends what a cell reads at a knot: values (0 where missing), then the mask.
pub(crate) fn values_and_mask<T: Float>(series: &Observed<'_>, knot: usize, numbers: &mut Vec<T>) {
    let values = entries(series, knot);
    let shown = |x: f64| if x.is_nan() { T::ZERO } else { T::from_f64(x) };
    let mask = |x: f64| if x.is_nan() { T::ZERO } else { T::ONE };
    numbers.extend(values.iter().map(|&x| shown(x)));
    numbers.extend(values.iter().map(|&x| mask(x)));
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
