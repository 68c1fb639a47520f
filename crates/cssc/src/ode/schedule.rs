//! Many series of different length and different times in one block.
//!
//! Known libraries put a batch on the union of all time points and pay for the union. Here
//! every series has its own list of *stops*: its observations (knots), the query times if
//! wanted, and enough stops between them that no step is longer than allowed. The batch
//! advances by step index: the k-th step of every series together, each row with its own Δt
//! and its own "update now" (method notes, section 7). Rows are sorted by their number of
//! steps, so that the rows still going are always the first ones.
//!
//! ```text
//!   series 0   o───┬───o─┬─┬─o     o knot   ┬ other stop
//!   series 1   o─┬───o───o         step 0, 1, 2, … of all rows together
//! ```

/// One series to be walked: where it is observed and where it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Times of its knots, strictly increasing, at least one.
    pub knots: &'a [f64],
    /// Times asked for, increasing, not before the first knot and not after the last.
    pub query: &'a [f64],
}

/// How the steps of a walk are chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stepping {
    /// No step is longer than this.
    pub longest: f64,
    /// Whether a step ends at every query time. If not, answers there come from the smooth
    /// curve between steps and do not depend on what else was asked.
    pub stop_at_query: bool,
}

/// A place where a step ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stop {
    /// Its time.
    pub time: f64,
    /// Which knot it is, if one.
    pub knot: Option<usize>,
}

/// Where a query time lies in the walk of its series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Place {
    /// At this stop.
    At(usize),
    /// Between this stop and the next, at this fraction of the step.
    After(usize, f64),
}

/// The walk of one series.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Which item of the batch it is.
    pub item: usize,
    /// Its stops; the first and the last are knots.
    pub stops: Vec<Stop>,
    /// The stop of each knot.
    pub knot_stops: Vec<usize>,
    /// The place of each query time.
    pub places: Vec<Place>,
}

impl Row {
    /// Number of steps.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.stops.len() - 1
    }
}

/// The walks of a batch, longest first.
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// One row a series.
    pub rows: Vec<Row>,
}

impl Schedule {
    /// Plans the walks of `items`.
    #[must_use]
    pub fn new(items: &[Item<'_>], stepping: Stepping) -> Self {
        let mut rows: Vec<Row> = items
            .iter()
            .enumerate()
            .map(|(i, item)| plan_row(i, item, stepping))
            .collect();
        // Stable: rows of equal length keep the order of the items.
        rows.sort_by_key(|row| std::cmp::Reverse(row.steps()));
        Self { rows }
    }

    /// Steps of the longest walk.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.rows.first().map_or(0, Row::steps)
    }

    /// Rows that still make step `step`: the first so many.
    #[must_use]
    pub fn active(&self, step: usize) -> usize {
        self.rows.partition_point(|row| row.steps() > step)
    }
}

fn plan_row(item: usize, series: &Item<'_>, stepping: Stepping) -> Row {
    let mut stops = Vec::new();
    let mut knot_stops = Vec::with_capacity(series.knots.len());
    let extra: &[f64] = if stepping.stop_at_query {
        series.query
    } else {
        &[]
    };
    let mut extra = extra.iter().copied().peekable();
    for (knot, &time) in series.knots.iter().enumerate() {
        while let Some(query) = extra.next_if(|&query| query < time) {
            go_to(
                &mut stops,
                Stop {
                    time: query,
                    knot: None,
                },
                stepping.longest,
            );
        }
        while extra.next_if(|&query| query == time).is_some() {}
        go_to(
            &mut stops,
            Stop {
                time,
                knot: Some(knot),
            },
            stepping.longest,
        );
        knot_stops.push(stops.len() - 1);
    }
    let places = series
        .query
        .iter()
        .map(|&time| place(&stops, time))
        .collect();
    Row {
        item,
        stops,
        knot_stops,
        places,
    }
}

/// Adds `stop`, after as many equal steps as the longest one asks for.
fn go_to(stops: &mut Vec<Stop>, stop: Stop, longest: f64) {
    if let Some(&last) = stops.last() {
        let gap = stop.time - last.time;
        if gap == 0.0 && stop.knot.is_none() {
            return;
        }
        // A hair of tolerance, so that a gap of 3 x 0.1 makes 3 steps and not 4.
        let count = (gap / longest * (1.0 - 1e-9)).ceil().max(1.0) as usize;
        for i in 1..count {
            let time = last.time + gap * (i as f64 / count as f64);
            stops.push(Stop { time, knot: None });
        }
    }
    stops.push(stop);
}

fn place(stops: &[Stop], time: f64) -> Place {
    let after = stops.partition_point(|stop| stop.time <= time);
    let before = after.saturating_sub(1);
    let start = stops[before].time;
    if start == time || after == stops.len() || after == 0 {
        return Place::At(before);
    }
    Place::After(before, (time - start) / (stops[after].time - start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn increasing(len: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(0.001_f64..2.0, 1..=len).prop_map(|gaps| {
            gaps.iter()
                .scan(0.0, |time, gap| {
                    *time += gap;
                    Some(*time)
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn stops_increase_hit_every_knot_and_never_lie_too_far_apart(
            knots in increasing(12),
            fractions in prop::collection::vec(0.0_f64..=1.0, 0..20),
            longest in 0.01_f64..3.0,
            stop_at_query: bool,
        ) {
            let (start, end) = (knots[0], knots[knots.len() - 1]);
            let mut query: Vec<f64> = fractions.iter().map(|f| start + f * (end - start)).collect();
            query.push(knots[knots.len() / 2]);
            query.sort_by(f64::total_cmp);
            let item = Item { knots: &knots, query: &query };
            let schedule = Schedule::new(&[item], Stepping { longest, stop_at_query });
            let row = &schedule.rows[0];
            for pair in row.stops.windows(2) {
                prop_assert!(pair[0].time < pair[1].time);
                prop_assert!(pair[1].time - pair[0].time <= longest * (1.0 + 1e-6));
            }
            for (knot, &stop) in row.knot_stops.iter().enumerate() {
                prop_assert_eq!(row.stops[stop], Stop { time: knots[knot], knot: Some(knot) });
            }
            for (place, time) in row.places.iter().zip(&query) {
                match *place {
                    Place::At(stop) => prop_assert_eq!(row.stops[stop].time, *time),
                    Place::After(stop, fraction) => {
                        prop_assert!(!stop_at_query && fraction > 0.0 && fraction < 1.0);
                        let [from, to] = [stop, stop + 1].map(|i| row.stops[i].time);
                        prop_assert!((from + fraction * (to - from) - time).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn rows_still_going_are_always_the_first() {
        let knots = [vec![0.0, 1.0], vec![0.0, 1.0, 2.0, 3.0], vec![5.0]];
        let items: Vec<Item<'_>> = knots
            .iter()
            .map(|k| Item {
                knots: k,
                query: &[],
            })
            .collect();
        let stepping = Stepping {
            longest: 10.0,
            stop_at_query: false,
        };
        let schedule = Schedule::new(&items, stepping);
        assert_eq!(
            schedule.rows.iter().map(|row| row.item).collect::<Vec<_>>(),
            [1, 0, 2]
        );
        assert_eq!([0, 1, 2, 3].map(|step| schedule.active(step)), [2, 1, 1, 0]);
    }
}
