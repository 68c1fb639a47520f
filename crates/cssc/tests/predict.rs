//! Predictions that know the season and the other channels: what they find, and what they must not see.
#![cfg(any(feature = "nn", feature = "tables"))]
#![allow(clippy::unwrap_used)] // a test may panic

use cssc::data::{Dataset, Random, Series};
use cssc::evaluate::{Bounds, Gaps, HoldOut, HoldOutOptions, Interpolator};
use cssc::fill::{Asked, Imputer, METHODS, Method};
use cssc::predict::{PredictOptions, predict_edges};
use proptest::prelude::*;
use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

const LEARNED: [&str; 13] = [
    "kriging",
    "seasonal",
    "low-rank",
    "regression",
    "trees",
    "smooth-seasonal",
    "smooth-low-rank",
    "smooth-regression",
    "kriged-seasonal",
    "kriged-low-rank",
    "kriged-regression",
    "smooth-trees",
    "kriged-trees",
];

fn method(name: &str) -> Arc<dyn Interpolator> {
    Method::named(name).unwrap().plain().unwrap()
}

/// One series; `value(row, channel)` is NaN where something is missing.
fn table(rows: usize, channels: usize, value: impl Fn(usize, usize) -> f64) -> Dataset {
    let values = (0..rows * channels).map(|at| value(at / channels, at % channels));
    let times = (0..rows).map(|row| row as f64).collect();
    let series = Series::new(None, channels, times, values.collect()).unwrap();
    let names = (0..channels).map(|channel| format!("c{channel}")).collect();
    Dataset::new(names, vec![series]).unwrap()
}

/// Reproducible noise, the same for every use of a place.
fn noise(seed: u64, at: usize) -> f64 {
    Random::stream(seed, at as u64).normal(0.0, 1.0)
}

/// Squared errors of a method on what is hidden, by channel.
fn errors(name: &str, data: &Dataset) -> Vec<f64> {
    errors_of(method(name).as_ref(), data)
}

fn errors_of(interpolator: &dyn Interpolator, data: &Dataset) -> Vec<f64> {
    let held = HoldOut::new(data, &Gaps::find(data), &HoldOutOptions::default()).unwrap();
    let bounds = Bounds::none(data.channels());
    let found = held.answers(interpolator, &bounds).unwrap();
    let mut sums = vec![(0.0, 0.0); data.channels()];
    for (hidden, value) in held.hidden.iter().zip(&found.values) {
        sums[hidden.channel].0 += (value - hidden.value).powi(2);
        sums[hidden.channel].1 += 1.0;
    }
    sums.iter().map(|(sum, count)| sum / count).collect()
}

#[test]
fn a_channel_is_found_from_another_that_moves_with_it() {
    let data = table(600, 2, |row, channel| match channel {
        0 if row % 13 < 3 => f64::NAN,
        0 => noise(1, row),
        _ => 5.0 - 2.0 * noise(1, row),
    });
    let error = errors("regression", &data)[0];
    assert!(error < 0.01, "{error}");
    let lines = errors("linear", &data)[0];
    assert!(lines > 1.0, "{lines}");
}

#[test]
fn what_repeats_itself_is_found_from_other_cycles() {
    let wave = |row: usize| [0.0, 3.0, 1.0, -2.0, 4.0, -6.0, 0.5][row % 7];
    let hole = |row: usize| row % 31 < 4;
    let data = table(
        500,
        1,
        |row, _| if hole(row) { f64::NAN } else { wave(row) },
    );
    for name in ["seasonal", "regression"] {
        let error = errors(name, &data)[0];
        assert!(error < 0.1, "{name}: {error}");
    }
}

#[test]
fn many_channels_that_share_factors_are_found_from_each_other() {
    let data = table(500, 9, |row, channel| {
        let shared = noise(1, row) + [1.0, -0.5, 2.0][channel % 3] * noise(2, row);
        let hole = (row + 11 * channel) % 41 < 3;
        if hole {
            f64::NAN
        } else {
            shared + 0.1 * noise(3 + channel as u64, row)
        }
    });
    let lines = errors("linear", &data);
    for (channel, error) in errors("low-rank", &data).iter().enumerate() {
        assert!(*error < 0.2 * lines[channel], "{channel}: {error}");
    }
}

/// A channel is another one, a daily course and a slow wave that neither of them has; a tenth of the variance of the first is noise.
#[test]
fn what_season_and_other_channels_leave_is_found_from_the_values_around() {
    let data = table(1200, 2, |row, channel| match channel {
        0 if row % 29 < 7 => f64::NAN,
        0 => {
            let day = 2.0 * (row as f64 * std::f64::consts::TAU / 24.0).sin();
            let slow = 2.0 * (row as f64 / 40.0).sin();
            noise(1, row) + day + slow + 0.3 * noise(2, row)
        }
        _ => noise(1, row),
    });
    let error = |name: &str| {
        let options = PredictOptions {
            periods: vec![24.0],
            ..PredictOptions::default()
        };
        let method = Method::named(name).unwrap().untrained(&options).unwrap();
        errors_of(method.as_ref(), &data)[0]
    };
    // Of a variance of 5, 0.09 is the noise of values that nobody has seen; the season and the other channel are learned from
    // 900 values.
    for name in ["smooth-regression", "kriged-regression"] {
        let error = error(name);
        assert!(error < 0.25, "{name}: {error}");
    }
    for name in ["smoothing", "kriging", "kriged-low-rank", "kriged-seasonal"] {
        let error = error(name);
        assert!(error > 0.5, "{name}: {error}");
    }
}

/// A channel is 3 where another one is above 1/2, and a slow wave: a line through the other leaves half of it.
#[test]
fn what_no_line_knows_is_found_by_trees_and_compensated() {
    let data = table(1600, 2, |row, channel| match channel {
        0 if row % 29 < 7 => f64::NAN,
        0 if noise(1, row) > 0.5 => 3.0 + 2.0 * (row as f64 / 40.0).sin(),
        0 => 2.0 * (row as f64 / 40.0).sin(),
        _ => noise(1, row),
    });
    let error = |name: &str| errors(name, &data)[0];
    for name in ["smooth-trees", "kriged-trees"] {
        let (trees, lines) = (error(name), error("kriged-regression"));
        // The steps have a variance of 1.9.
        assert!(trees < 0.45 && lines > 0.7, "{name}: {trees} {lines}");
    }
}

/// Three sensors of one slow motion fail together: what they say of each other beside a gap is nothing that holds inside.
#[test]
fn where_the_other_channels_are_missing_too_the_values_around_count() {
    let mut level = 0.0;
    let levels: Vec<f64> = (0..900)
        .map(|row| {
            level = 0.98 * level + 0.2 * noise(1, row);
            level
        })
        .collect();
    let data = table(900, 3, |row, channel| {
        let own = 0.05 * noise(2 + channel as u64, row);
        if row % 31 < 6 {
            f64::NAN
        } else {
            levels[row] + own
        }
    });
    let sum = |name: &str| errors(name, &data).iter().sum::<f64>();
    let (kriging, kriged) = (sum("kriging"), sum("kriged-regression"));
    assert!(kriged < 1.1 * kriging, "{kriged} and {kriging}");
}

/// The curve is the prediction and its compensation; the noise-aware form passes near the values, the other through them.
#[test]
fn a_compensated_prediction_is_a_sum() {
    let data = table(300, 2, |row, channel| match channel {
        0 if row % 19 < 3 => f64::NAN,
        0 => noise(1, row) + noise(2, row),
        _ => noise(1, row),
    });
    let series = &data.series()[0];
    for (name, exact) in [("smooth-regression", false), ("kriged-regression", true)] {
        let learned = method(name).fitted_to(&data).unwrap().unwrap();
        let curve = learned.curve(series, &[0], series.times()).unwrap();
        let [o, c] = [curve.predicted, curve.compensation].map(Option::unwrap);
        let mut largest: f64 = 0.0;
        for row in 3..297 {
            assert_eq!(curve.values[row], o[row] + c[row]);
            if let Some(value) = series.value(row, 0) {
                largest = largest.max((curve.values[row] - value).abs());
            }
        }
        assert_eq!(largest < 1e-12, exact, "{name}: {largest}");
    }
}

/// What is hidden may be anything: what is said about it stays the same to the last bit. The second
/// channel copies the first and has holes of its own.
#[test]
fn nothing_of_a_hidden_value_reaches_what_is_said_about_it() {
    let hole = |row: usize, channel: usize| (row + 7 * channel) % 17 < 3;
    let plain = |row: usize, channel: usize| match channel {
        _ if hole(row, channel) => f64::NAN,
        0 | 1 => noise(1, row),
        _ => noise(1, row) + noise(channel as u64, row),
    };
    let data = table(400, 7, plain);
    let options = HoldOutOptions::default();
    let held = HoldOut::new(&data, &Gaps::find(&data), &options).unwrap();
    let first = held.rounds().next().unwrap();
    let hidden: Vec<_> = held.hidden[first.clone()]
        .iter()
        .map(|h| (h.row, h.channel))
        .collect();
    let changed = table(400, 7, |row, channel| {
        let more = if hidden.contains(&(row, channel)) {
            1e6
        } else {
            0.0
        };
        plain(row, channel) + more
    });
    let again = HoldOut::new(&changed, &Gaps::find(&changed), &options).unwrap();
    let bounds = Bounds::none(7);
    for name in LEARNED {
        let said = |held: &HoldOut| held.answers(method(name).as_ref(), &bounds).unwrap().values;
        assert_eq!(
            said(&held)[first.clone()],
            said(&again)[first.clone()],
            "{name}"
        );
    }
}

/// Two channels of the same noise that always miss the same rows: neither can tell the other.
#[test]
fn channels_that_are_missing_together_do_not_pretend_to_know_each_other() {
    let data = table(600, 2, |row, _| {
        if row % 11 < 2 {
            f64::NAN
        } else {
            noise(1, row)
        }
    });
    for error in errors("regression", &data) {
        assert!(error > 0.8, "{error}");
    }
}

/// Stations measured at the same times are each other's columns.
#[test]
fn series_that_share_their_times_help_each_other() {
    let station = |number: usize| {
        let hole = |row: usize| (row + 9 * number) % 23 < 3;
        let value = |row: usize| {
            if hole(row) {
                f64::NAN
            } else {
                noise(1, row) + number as f64
            }
        };
        let times = (0..400).map(|row| row as f64).collect();
        Series::new(
            Some(number.to_string()),
            1,
            times,
            (0..400).map(value).collect(),
        )
        .unwrap()
    };
    let data = Dataset::new(vec!["x".into()], (0..3).map(station).collect()).unwrap();
    let (error, lines) = (errors("regression", &data)[0], errors("linear", &data)[0]);
    assert!(error < 0.25 * lines, "{error} and {lines}");
}

/// How much of the error of the nearest value stays where channel 0, known in its first 540 of 1,200 rows, is predicted beyond.
fn left_beyond(value: impl Fn(usize) -> f64, other: impl Fn(usize) -> f64) -> f64 {
    let data = table(1200, 2, |row, channel| match channel {
        0 if row < 540 => value(row),
        0 => f64::NAN,
        _ => other(row),
    });
    let options = PredictOptions {
        periods: vec![24.0],
        ..PredictOptions::default()
    };
    let series = &data.series()[0];
    let Some(edges) = predict_edges(&data, &options).unwrap() else {
        return 1.0;
    };
    let found = edges.curve(series, &[0], series.times()).unwrap().values;
    let sums = (540..1200).fold([0.0; 2], |[own, nearest], row| {
        let square = |said: f64| (said - value(row)).powi(2);
        [own + square(found[row]), nearest + square(value(539))]
    });
    sums[0] / sums[1]
}

#[test]
fn a_channel_that_ends_early_is_known_from_others_but_not_from_those_that_were_rarely_known_with_it()
 {
    let value = |row: usize| 3.0 * (row as f64 / 24.0 * TAU).sin() + noise(2, row / 9);
    let copy = left_beyond(value, |row| value(row) + 0.1 * noise(3, row));
    assert!(copy < 0.02, "{copy}");
    // It knows what the season leaves of the first rows, and is something else, far larger, beyond the end.
    let rare = left_beyond(value, |row| match row {
        0..90 => noise(2, row / 9),
        90..540 => f64::NAN,
        _ => 20.0 * noise(6, row),
    });
    assert!(rare < 0.6, "{rare}");
}

/// Windows of half a day that share a daily course none of them shows: one channel, and a copy of it beside noise. A few
/// windows know nothing of the first, most know little of it.
#[test]
fn short_series_learn_from_each_other_what_lies_beyond_their_values() {
    let (rows, windows) = (12, 120);
    let truth = |window: usize, row: usize| {
        let hour = (window * rows + row) as f64;
        let day = (hour / 24.0 * TAU).sin();
        3.0 * day + noise(5, window) + 0.1 * noise(6, window * rows + row)
    };
    let seen = |window: usize, row: usize| window % 12 != 5 && noise(7, window * rows + row) > 0.7;
    let window = |number: usize| {
        let times = (0..rows).map(|row| 3600.0 * (number * rows + row) as f64);
        let values = (0..rows).flat_map(|row| {
            let value = truth(number, row);
            let first = if seen(number, row) { value } else { f64::NAN };
            [first, noise(5, number) + noise(8, number * rows + row)]
        });
        let id = Some(number.to_string());
        Series::new(id, 2, times.collect(), values.collect()).unwrap()
    };
    let names = ["x", "y"].map(str::to_owned).to_vec();
    let data = Dataset::new(names, (0..windows).map(window).collect()).unwrap();
    let errors = |predict_edges: bool| {
        let mut imputer = Imputer {
            budget: Some(Duration::ZERO),
            extrapolate: true,
            predict_edges,
            ..Imputer::default()
        };
        imputer.predict.seconds = true;
        let fitted = imputer.fit(&data, |_| ControlFlow::Continue(())).unwrap();
        // Beyond what is known, and where nothing is: sums of squares, cells, cells left empty.
        let mut sums = [(0.0, 0, 0); 2];
        for (number, series) in data.series().iter().enumerate() {
            let filled = fitted.fill(series, &Asked::Holes).unwrap().values;
            let known: Vec<usize> = (0..rows).filter(|&row| seen(number, row)).collect();
            for row in 0..rows {
                let sum = match (known.first(), known.last()) {
                    (Some(first), Some(last)) if (first..=last).contains(&&row) => continue,
                    (Some(_), _) => &mut sums[0],
                    _ => &mut sums[1],
                };
                let value = filled[2 * row];
                sum.1 += 1;
                if value.is_nan() {
                    sum.2 += 1;
                } else {
                    sum.0 += (value - truth(number, row)).powi(2);
                }
            }
        }
        sums.map(|(sum, cells, empty)| (sum / f64::from(cells - empty), empty, cells))
    };
    let [(nearest, none, _), (_, empty, cells)] = errors(false);
    assert!(none == 0 && empty == cells && cells > 0);
    let [(edges, none, _), (unseen, empty, _)] = errors(true);
    assert!(none == 0 && empty == 0);
    assert!(edges < 0.5 * nearest, "{edges} and {nearest}");
    // Without a value there is no level, whose variance is 1; that of the daily course is 4.5.
    assert!(unseen < 2.5, "{unseen}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let data = table(300, 6, |row, channel| {
        let hole = (row * 7 + channel * 3) % 19 < 2;
        if hole {
            f64::NAN
        } else {
            (row as f64 / 9.0).sin() + noise(channel as u64, row)
        }
    });
    let fill = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let imputer = Imputer {
            budget: Some(Duration::ZERO),
            ..Imputer::default()
        };
        pool.install(|| {
            let fitted = imputer.fit(&data, |_| ControlFlow::Continue(())).unwrap();
            fitted
                .fill(&data.series()[0], &Asked::Holes)
                .unwrap()
                .values
        })
    };
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(fill(1)), bits(fill(3)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever the holes: known values stay as they are, and inside them every gap gets a finite value.
    #[test]
    fn known_values_stay_and_gaps_are_filled(seed in 0_u64..1000, part in 0.05..0.6_f64, rows in 20_usize..150) {
        let mut random = Random::new(seed);
        let holes: Vec<bool> = (0..3 * rows).map(|_| random.unit() < part).collect();
        let data = table(rows, 3, |row, channel| {
            let value = (row as f64 / 5.0).sin() * (channel + 1) as f64 + noise(seed, row * 3 + channel);
            if holes[row * 3 + channel] { f64::NAN } else { value }
        });
        let series = &data.series()[0];
        let combined = Imputer { budget: Some(Duration::ZERO), ..Imputer::default() };
        let fitted = combined.fit(&data, |_| ControlFlow::Continue(())).unwrap();
        let mut curves = vec![fitted.fill(series, &Asked::Holes).unwrap().values];
        for method in METHODS.iter().filter(|method| !method.name.starts_with("smooth")) {
            if let Some(plain) = method.plain() {
                let learned = plain.fitted_to(&data).unwrap().unwrap_or(plain);
                curves.push(learned.curve(series, &[0, 1, 2], series.times()).unwrap().values);
            }
        }
        for curve in curves {
            for (at, &known) in series.values().iter().enumerate() {
                let channel = at % 3;
                let (knots, _) = series.observed(channel);
                let time = series.times()[at / 3];
                let inside = knots.first().is_some_and(|first| time > *first)
                    && knots.last().is_some_and(|last| time < *last);
                if !known.is_nan() {
                    prop_assert!((curve[at] - known).abs() <= 1e-12 * (1.0 + known.abs()));
                } else if inside {
                    prop_assert!(curve[at].is_finite());
                }
            }
        }
    }
}
