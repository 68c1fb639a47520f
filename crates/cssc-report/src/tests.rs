//! Pictures and pages as their readers get them. With `CSSC_REPORT_DIRECTORY` set, those of real data stay there:
//! `scripts/test-report` opens them in a browser.

use crate::png::write_png;
use crate::svg::write_svg;
use crate::*;
use cssc::data::table::{Duplicates, ReadOptions, read_dataset};
use cssc::{Path as _, PiecewiseCubic, Side, SplineKind};
use jiff::tz::TimeZone;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

const EVIL: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&amp;<!--]]>\u{1}";

fn empty() -> Report {
    Report {
        title: "a report".to_owned(),
        time: TimeAxis::Number,
        series: Vec::new(),
        score_columns: Vec::new(),
        comparison: Vec::new(),
        training: Vec::new(),
        settings: Vec::new(),
        notes: Vec::new(),
    }
}

fn of_channels(channels: Vec<ChannelPicture>) -> Report {
    let series = SeriesPicture { id: None, channels };
    Report {
        series: vec![series],
        ..empty()
    }
}

fn svg(report: &Report) -> String {
    let mut bytes = Vec::new();
    write_svg(report, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn png(report: &Report) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_png(report, &mut bytes).unwrap();
    bytes
}

fn html(report: &Report) -> String {
    let mut bytes = Vec::new();
    write_html(report, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Leaves a file for a look or for the browser's test, if that is wanted.
fn keep(name: &str, bytes: &[u8]) {
    if let Some(directory) = std::env::var_os("CSSC_REPORT_DIRECTORY") {
        std::fs::write(PathBuf::from(directory).join(name), bytes).unwrap();
    }
}

/// The data of a page, as a browser reads them.
fn data(page: &str) -> Value {
    let start = r#"<script type="application/json" id="data">"#;
    let text = page.split_once(start).unwrap().1;
    serde_json::from_str(text.split_once("</script>").unwrap().0).unwrap()
}

/// A column of the page's data, decoded digit by digit.
fn column(data: &Value, place: &Value) -> Vec<f64> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [0; 128];
    for (value, digit) in digits.bytes().enumerate() {
        values[usize::from(digit)] = value as u32;
    }
    let text = data["packed"].as_str().unwrap().trim_end_matches('=');
    let mut deflated = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let bits = (four.iter()).fold(0, |bits, digit| bits << 6 | values[usize::from(*digit)]);
        let bits = bits << (6 * (4 - four.len()));
        deflated.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    let mut bytes = Vec::new();
    flate2::read::DeflateDecoder::new(&deflated[..])
        .read_to_end(&mut bytes)
        .unwrap();
    let column = &data["columns"][place.as_u64().unwrap() as usize];
    let [at, count] = ["at", "count"].map(|key| column[key].as_u64().unwrap() as usize);
    let [start, step] = ["start", "step"].map(|key| column[key].as_f64().unwrap());
    let mut n = 0_i64;
    let number = |k: usize| {
        let four = [0, 1, 2, 3].map(|plane| bytes[at + plane * count + k]);
        match u32::from_le_bytes(four) {
            u32::MAX => f64::NAN,
            zigzag => {
                n += i64::from(zigzag >> 1) ^ -i64::from(zigzag & 1);
                start + n as f64 * step
            }
        }
    };
    (0..count).map(number).collect()
}

/// A channel of a table: a tenth left out, a straight line as prediction, whose compensation gives the natural spline.
fn spline_picture(name: &str, times: &[f64], values: &[f64], step: f64) -> ChannelPicture {
    let shown = (0..times.len()).filter(|k| k % 10 != 5);
    let (shown_times, shown_values) = shown.map(|k| (times[k], values[k])).unzip();
    let observed = Points {
        times: shown_times,
        values: shown_values,
    };
    let gaps: Vec<(f64, f64)> = times
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > 2.1 * step)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let missing = gaps.iter().flat_map(|&(start, end)| {
        let count = ((end - start) / step) as usize;
        (1..count).map(move |k| start + step * k as f64)
    });
    let missing: Vec<f64> = missing.collect();
    let mut all = [times, &missing].concat();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let at = |kind: SplineKind, query: &[f64]| {
        let fitted = PiecewiseCubic::fit(&observed.times, 1, &observed.values, kind).unwrap();
        fitted.sample(query, Side::Left).unwrap().value
    };
    let (smoothed, predicted) = (at(SplineKind::Natural, &all), at(SplineKind::Linear, &all));
    let pairs = || smoothed.iter().zip(&predicted);
    let spread: Vec<f64> = pairs().map(|(a, b)| 0.5 + 1.5 * (a - b).abs()).collect();
    let shifted = |sign: f64| {
        smoothed
            .iter()
            .zip(&spread)
            .map(|(x, s)| x + sign * s)
            .collect()
    };
    ChannelPicture {
        name: name.to_owned(),
        filled: Points {
            values: at(SplineKind::Natural, &missing),
            times: missing,
        },
        curve: Some(Curve {
            compensation: Some(pairs().map(|(a, b)| a - b).collect()),
            band: Some((shifted(-1.0), shifted(1.0))),
            predicted: Some(predicted),
            smoothed: smoothed.clone(),
            times: all,
        }),
        observed,
        gaps,
    }
}

fn example(file: &str, step: f64) -> SeriesPicture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(file);
    let options = ReadOptions {
        duplicates: Duplicates::Average,
        ..ReadOptions::default()
    };
    let (dataset, _) = read_dataset(&path, &options).unwrap();
    let series = &dataset.series()[0];
    let channels = dataset
        .channel_names()
        .iter()
        .enumerate()
        .map(|(channel, name)| {
            let (times, values) = series.observed(channel);
            spline_picture(name, &times, &values, step)
        });
    SeriesPicture {
        id: Some(file.split('/').next().unwrap().to_owned()),
        channels: channels.collect(),
    }
}

/// Both examples filled by natural splines, with made-up scores.
fn real() -> Report {
    let score = |name: &str, mse: f64, chosen: bool| MethodScore {
        name: name.to_owned(),
        mse,
        mae: 0.7 * mse.sqrt(),
        relative_error: mse / 41.0,
        by_column: vec![mse, 1.1 * mse],
        coverage: chosen.then_some(0.942),
        chosen,
        note: (mse > 30.0).then(|| "overshoots in the long gaps".to_owned()),
    };
    let falling = |start: f64, every: u64| {
        let steps = (0..=60).map(|k| k * every);
        steps
            .map(|k| (k, start * (-0.002 * k as f64).exp() + 0.01))
            .collect()
    };
    Report {
        title: "glucose.csv.gz and co2.csv".to_owned(),
        time: TimeAxis::Timestamp(TimeZone::UTC),
        series: vec![
            example("glucose/glucose.csv.gz", 300.0),
            example("co2/co2.csv", 7.0 * 86_400.0),
        ],
        score_columns: vec!["isig".to_owned(), "glucose".to_owned()],
        comparison: vec![
            score("linear", 17.3, false),
            score("natural spline", 12.8, true),
            score("not-a-knot", 41.0, false),
        ],
        training: vec![TrainingCurve {
            method: "an exponential".to_owned(),
            loss: falling(1.3, 25),
            validation: falling(0.8, 50),
        }],
        settings: vec![
            ("method".to_owned(), "natural".to_owned()),
            ("seed".to_owned(), "0".to_owned()),
        ],
        notes: vec!["Scores and training are made up; curves are not.".to_owned()],
    }
}

#[test]
fn pictures_and_page_of_real_data_are_complete_and_small() {
    let report = real();
    let (svg, png, html) = (svg(&report), png(&report), html(&report));
    assert!(svg.len() < 1_500_000, "{} bytes of SVG", svg.len());
    assert!(png.len() < 1_500_000, "{} bytes of PNG", png.len());
    assert!(html.len() < 1_500_000, "{} bytes of HTML", html.len());
    for text in [
        "glucose · isig",
        "co2 · co2",
        "Apr",
        "1980",
        "prediction o",
        "Filled by natural spline",
    ] {
        assert!(svg.contains(text), "{text} is missing");
    }
    keep("report.svg", svg.as_bytes());
    keep("report.png", &png);
    keep("report.html", html.as_bytes());
}

#[test]
fn names_from_tables_cannot_become_markup() {
    let mut report = of_channels(vec![ChannelPicture {
        name: EVIL.to_owned(),
        observed: Points {
            times: vec![0.0, 1.0],
            values: vec![1.0, 2.0],
        },
        ..ChannelPicture::default()
    }]);
    report.title = EVIL.to_owned();
    report.series[0].id = Some(EVIL.to_owned());
    report.settings.push((EVIL.to_owned(), EVIL.to_owned()));
    report.notes.push(EVIL.to_owned());
    report.notes.push("/*script*/ <!--title-->".to_owned());
    report.comparison.push(MethodScore {
        name: EVIL.to_owned(),
        note: Some(EVIL.to_owned()),
        chosen: true,
        ..MethodScore::default()
    });
    report.training.push(TrainingCurve {
        method: EVIL.to_owned(),
        ..TrainingCurve::default()
    });

    let picture = svg(&report);
    assert!(
        !picture.contains("<script") && !picture.contains("<img") && !picture.contains('\u{1}')
    );
    let page = html(&report);
    keep("evil.html", page.as_bytes());
    let plain = html(&empty());
    for mark in ["<script", "</script", "<img", "<!--"] {
        assert_eq!(
            page.matches(mark).count(),
            plain.matches(mark).count(),
            "{mark}"
        );
    }
    let data = data(&page);
    assert_eq!(data["series"][0]["channels"][0]["name"], EVIL);
    assert_eq!(data["settings"][0][1], EVIL);
    assert_eq!(data["notes"][1], "/*script*/ <!--title-->");
}

#[test]
fn the_page_has_the_numbers_of_the_report() {
    let report = real();
    let data = data(&html(&report));
    for (series, written) in report.series.iter().zip(data["series"].as_array().unwrap()) {
        for (channel, written) in series
            .channels
            .iter()
            .zip(written["channels"].as_array().unwrap())
        {
            let curve = channel.curve.as_ref().unwrap();
            let written_curve = &written["curve"];
            let pairs = [
                (&channel.observed.times, &written["observed"][0]),
                (&channel.observed.values, &written["observed"][1]),
                (&channel.filled.values, &written["filled"][1]),
                (&curve.times, &written_curve["times"]),
                (&curve.smoothed, &written_curve["smoothed"]),
            ];
            for (meant, place) in pairs {
                let found = column(&data, place);
                assert_eq!(meant.len(), found.len());
                let (low, high) = (meant.iter()).fold((f64::MAX, f64::MIN), |(low, high), &x| {
                    (low.min(x), high.max(x))
                });
                let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * (high - low);
                assert!(meant.iter().zip(&found).all(same));
            }
            let band =
                ["times", "lower", "upper"].map(|key| column(&data, &written_curve["band"][key]));
            assert_eq!(band[0].len(), band[2].len());
            let inside = |time: &f64| {
                channel
                    .gaps
                    .iter()
                    .any(|(start, end)| start <= time && time <= end)
            };
            assert!(band[0].iter().all(inside), "bands are kept in gaps");
            for (lower, upper) in band[1].iter().zip(&band[2]) {
                assert!(lower.is_nan() && upper.is_nan() || lower <= upper);
            }
            let model = ["times", "predicted", "compensation"];
            let model = model.map(|key| column(&data, &written_curve["model"][key]));
            assert!(
                model[0].len() <= 8_000,
                "{} points that nobody sees at first",
                model[0].len()
            );
            assert_eq!(
                (model[1].len(), model[2].len()),
                (model[0].len(), model[0].len())
            );
        }
    }
}

/// Tenths of a degree, and one mark of an error far away.
#[test]
fn decimals_of_a_sensor_are_shown_as_they_were_written() {
    let values: Vec<f64> = (0..500)
        .map(|k| f64::from(200 + k * 7 % 31) / 10.0)
        .collect();
    let values = [values, vec![-200.0]].concat();
    let times: Vec<f64> = (0..501).map(|k| f64::from(k) * 600.0).collect();
    let observed = Points { times, values };
    let report = of_channels(vec![ChannelPicture {
        observed: observed.clone(),
        ..ChannelPicture::default()
    }]);
    let data = data(&html(&report));
    let places = &data["series"][0]["channels"][0]["observed"];
    assert_eq!(column(&data, &places[0]), observed.times);
    let found = column(&data, &places[1]);
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    assert!(observed.values.iter().zip(&found).all(near));
}

#[test]
fn a_very_long_report_is_thinned_and_says_so() {
    let times: Vec<f64> = (0..400_000).map(f64::from).collect();
    let values: Vec<f64> = times.iter().map(|time| (time / 1000.0).sin()).collect();
    let channel = |name: &str| ChannelPicture {
        name: name.to_owned(),
        observed: Points {
            times: times.clone(),
            values: values.clone(),
        },
        curve: Some(Curve {
            times: times.clone(),
            smoothed: values.clone(),
            ..Curve::default()
        }),
        ..ChannelPicture::default()
    };
    let page = html(&of_channels(vec![channel("a"), channel("b")]));
    assert!(page.len() < 1_500_000, "{}", page.len());
    let data = data(&page);
    assert_eq!(data["thinned"], true);
    assert_eq!(data["series"][0]["channels"][0]["counts"][0], 400_000);
    let kept = column(
        &data,
        &data["series"][0]["channels"][0]["curve"]["smoothed"],
    );
    assert!(kept.len() > 20_000, "{}", kept.len());
}

#[test]
fn series_beyond_the_room_are_counted() {
    let channel = |name: usize| ChannelPicture {
        name: format!("channel {name}"),
        observed: Points {
            times: vec![0.0, 1.0, 2.0],
            values: vec![1.0, 2.0, 0.0],
        },
        ..ChannelPicture::default()
    };
    let one = SeriesPicture {
        id: None,
        channels: vec![channel(1), channel(2)],
    };
    let report = Report {
        series: vec![one; 200],
        ..empty()
    };
    assert!(svg(&report).contains("The first 12 of 400 panels are shown."));
    let data = data(&html(&report));
    assert_eq!(data["series"].as_array().unwrap().len(), 120);
    assert_eq!(data["left_out"], 80);
}

#[test]
fn a_straight_line_is_straight_in_the_png() {
    let line = Curve {
        times: vec![0.0, 1.0],
        smoothed: vec![0.0, 1.0],
        ..Curve::default()
    };
    let report = of_channels(vec![ChannelPicture {
        curve: Some(line),
        ..ChannelPicture::default()
    }]);
    let pixels = tiny_skia::Pixmap::decode_png(&png(&report)).unwrap();
    let [red, green, blue] = canvas::SMOOTHED.rgb;
    let width = pixels.width() as usize;
    let painted = pixels.pixels().iter().enumerate().filter(|(at, pixel)| {
        // Below the legend, which has the colour too.
        at / width > 200 && (pixel.red(), pixel.green(), pixel.blue()) == (red, green, blue)
    });
    let places: Vec<(f64, f64)> = painted
        .map(|(at, _)| ((at % width) as f64, (at / width) as f64))
        .collect();
    assert!(places.len() > 500, "{} pixels", places.len());
    let by_column = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
    let (first, last) = (
        *places.iter().min_by(by_column).unwrap(),
        *places.iter().max_by(by_column).unwrap(),
    );
    assert!(
        last.0 - first.0 > 1700.0 && first.1 - last.1 > 250.0,
        "{first:?} to {last:?}"
    );
    for (x, y) in places {
        let straight = first.1 + (last.1 - first.1) * (x - first.0) / (last.0 - first.0);
        assert!(
            (y - straight).abs() <= 3.0,
            "({x}, {y}) lies beside the line at {straight}"
        );
    }
}

#[test]
fn odd_content_is_drawn_without_failing() {
    let nan = f64::NAN;
    let of = |times: Vec<f64>, values: Vec<f64>| {
        let curve = Curve {
            times: times.clone(),
            smoothed: values.clone(),
            predicted: Some(values.clone()),
            compensation: Some(values.clone()),
            band: Some((values.clone(), values.clone())),
        };
        let observed = Points { times, values };
        ChannelPicture {
            observed,
            curve: Some(curve),
            gaps: vec![(-5.0, 700.0)],
            ..ChannelPicture::default()
        }
    };
    let channels = vec![
        ChannelPicture::default(),
        of(vec![3.0], vec![5.0]),
        of(vec![0.0, 1.0], vec![nan, nan]),
        of(vec![0.0, 1.0, 1.0, 2.0], vec![0.0, 1.0, -1e300, 1e300]),
        of(vec![0.0, 1.0, 2.0], vec![0.0, f64::INFINITY, nan]),
    ];
    for time in [TimeAxis::Number, TimeAxis::Timestamp(TimeZone::UTC)] {
        for report in [empty(), of_channels(channels.clone())] {
            let report = Report {
                time: time.clone(),
                ..report
            };
            let picture = svg(&report);
            assert!(
                !picture.contains("NaN") && !picture.contains("inf"),
                "{picture}"
            );
            let pixels = tiny_skia::Pixmap::decode_png(&png(&report)).unwrap();
            let size = format!(
                "width=\"{}\" height=\"{}\"",
                pixels.width() / 2,
                pixels.height() / 2
            );
            assert!(picture.contains(&size), "{size}");
            data(&html(&report));
        }
    }
}
