//! The data of the page as JSON.
//!
//! Long columns are base64: times as `f64`, or as integers from the first when they are seconds; values as `f32` counted
//! from the middle of their range if zero is outside it, so that 16 million steps cover the range however far it is from zero. Equal columns, like the times that channels share, are stored
//! once. A report of more than [`MOST_NUMBERS`] numbers is thinned like a picture is; of very many
//! series the first are kept.

use crate::content::{
    ChannelPicture, Curve, MethodScore, Points, Report, SeriesPicture, TimeAxis, TrainingCurve,
};
use crate::decimate;
use serde::Serialize;
use std::collections::HashMap;

/// About six megabytes.
pub(crate) const MOST_NUMBERS: usize = 1_200_000;
/// Channels of all series together.
pub(crate) const MOST_CHANNELS: usize = 240;

#[derive(Serialize)]
pub(crate) struct Payload<'a> {
    title: &'a str,
    program: String,
    time: Time,
    columns: Vec<Column>,
    series: Vec<SeriesData<'a>>,
    /// Series that are not in the page.
    left_out: usize,
    /// Whether points were left out where they stand too close to be told apart.
    thinned: bool,
    comparison: &'a [MethodScore],
    training: &'a [TrainingCurve],
    settings: &'a [(String, String)],
    notes: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum Time {
    Number,
    /// Named, or at a fixed distance from UTC in seconds.
    Timestamp {
        zone: Option<String>,
        offset: i32,
    },
}

/// Numbers: `offset` plus what is stored.
#[derive(Serialize)]
struct Column {
    form: &'static str,
    offset: f64,
    base64: String,
}

/// Places in the list of columns.
type Place = usize;

#[derive(Serialize)]
struct SeriesData<'a> {
    id: Option<&'a str>,
    channels: Vec<ChannelData<'a>>,
}

#[derive(Serialize)]
struct ChannelData<'a> {
    name: &'a str,
    observed: [Place; 2],
    filled: [Place; 2],
    curve: Option<CurveData>,
    gaps: &'a [(f64, f64)],
    /// How many there are, also when the page is thinned.
    counts: [usize; 2],
}

#[derive(Serialize)]
struct CurveData {
    times: Place,
    smoothed: Place,
    predicted: Option<Place>,
    compensation: Option<Place>,
    band: Option<[Place; 2]>,
}

impl<'a> Payload<'a> {
    pub(crate) fn new(report: &'a Report) -> Self {
        let shown = shown(&report.series);
        let numbers: usize = channels(shown).map(count).sum();
        let share = match numbers > MOST_NUMBERS {
            true => Some(MOST_NUMBERS / channels(shown).count()),
            false => None,
        };
        let mut store = Store::default();
        let series = shown.iter().map(|series| SeriesData {
            id: series.id.as_deref(),
            channels: series
                .channels
                .iter()
                .map(|channel| store.channel(channel, share))
                .collect(),
        });
        Self {
            title: &report.title,
            program: format!("cssc {}", env!("CARGO_PKG_VERSION")),
            time: Time::of(report),
            series: series.collect(),
            columns: store.columns,
            left_out: report.series.len() - shown.len(),
            thinned: share.is_some(),
            comparison: &report.comparison,
            training: &report.training,
            settings: &report.settings,
            notes: &report.notes,
        }
    }
}

/// The first series, at least one, with at most [`MOST_CHANNELS`] channels together.
fn shown(series: &[SeriesPicture]) -> &[SeriesPicture] {
    let mut room = MOST_CHANNELS;
    let fitting = series.iter().take_while(|series| {
        let fits = series.channels.len() <= room;
        room = room.saturating_sub(series.channels.len());
        fits
    });
    let count = fitting.count().max(1).min(series.len());
    &series[..count]
}

fn channels(series: &[SeriesPicture]) -> impl Iterator<Item = &ChannelPicture> {
    series.iter().flat_map(|series| &series.channels)
}

fn count(channel: &ChannelPicture) -> usize {
    let points = [&channel.observed, &channel.filled];
    let points: usize = points.iter().map(|points| 2 * points.times.len()).sum();
    let curve = channel.curve.as_ref();
    points + curve.map_or(0, |curve| curve.times.len() * (1 + curve.columns().len()))
}

impl Time {
    fn of(report: &Report) -> Self {
        let TimeAxis::Timestamp(zone) = &report.time else {
            return Self::Number;
        };
        // A zone without a name has its distance from UTC at the beginning.
        let start = report.series.iter().find_map(SeriesPicture::span);
        let start = start.map_or(0, |(start, _)| start as i64);
        let start = jiff::Timestamp::from_second(start).unwrap_or_default();
        Self::Timestamp {
            zone: zone.iana_name().map(str::to_owned),
            offset: zone.to_offset(start).seconds(),
        }
    }
}

/// The columns so far, and where each of them is.
#[derive(Default)]
struct Store {
    columns: Vec<Column>,
    places: HashMap<(&'static str, u64, Vec<u8>), Place>,
}

impl Store {
    fn channel<'a>(
        &mut self,
        channel: &'a ChannelPicture,
        share: Option<usize>,
    ) -> ChannelData<'a> {
        let points = [&channel.observed, &channel.filled];
        let counts = points.map(|points| points.times.len());
        // Half of the channel's share is for its curve, half for its points.
        let [observed, filled] = points.map(|points| {
            let buckets = share.map(|share| share / 2 / 2 / (2 * 4));
            self.points(points, buckets)
        });
        let curve = channel.curve.as_ref();
        let curve = curve.map(|curve| self.curve(curve, share.map(|share| share / 2)));
        ChannelData {
            name: &channel.name,
            observed,
            filled,
            curve,
            gaps: &channel.gaps,
            counts,
        }
    }

    fn points(&mut self, points: &Points, buckets: Option<usize>) -> [Place; 2] {
        let (mut times, mut values): (Vec<f64>, Vec<f64>) = points.known().unzip();
        if let Some(buckets) = buckets {
            let kept = decimate::kept(&times, &[&values], buckets.max(1));
            times = kept.iter().map(|&at| times[at]).collect();
            values = kept.iter().map(|&at| values[at]).collect();
        }
        [self.times(&times), self.values(&values)]
    }

    fn curve(&mut self, curve: &Curve, share: Option<usize>) -> CurveData {
        let columns = curve.columns();
        let thin = share.map(|share| {
            let each = (1 + columns.len()) * (2 + 2 * columns.len());
            curve.take(&decimate::kept(
                &curve.times,
                &columns,
                (share / each).max(1),
            ))
        });
        let curve = thin.as_ref().unwrap_or(curve);
        CurveData {
            times: self.times(&curve.times),
            smoothed: self.values(&curve.smoothed),
            predicted: curve.predicted.as_ref().map(|values| self.values(values)),
            compensation: curve
                .compensation
                .as_ref()
                .map(|values| self.values(values)),
            band: curve
                .band
                .as_ref()
                .map(|(lower, upper)| [lower, upper].map(|values| self.values(values))),
        }
    }

    fn times(&mut self, times: &[f64]) -> Place {
        let start = times.first().copied().unwrap_or(0.0);
        let whole = |time: &f64| f64::from((time - start) as u32) == time - start;
        if times.iter().all(whole) {
            let counted = times.iter().map(|time| (time - start) as u32);
            let bytes = counted.flat_map(u32::to_le_bytes).collect();
            return self.column("u32", start, bytes);
        }
        let bytes = times.iter().flat_map(|time| time.to_le_bytes()).collect();
        self.column("f64", 0.0, bytes)
    }

    fn values(&mut self, values: &[f64]) -> Place {
        let known = || values.iter().copied().filter(|value| value.is_finite());
        let ends = (known().reduce(f64::min), known().reduce(f64::max));
        let middle = match ends {
            // Around zero small numbers keep their digits.
            (Some(low), Some(high)) if low > 0.0 || high < 0.0 => 0.5 * low + 0.5 * high,
            _ => 0.0,
        };
        let stored = values.iter().map(|value| (value - middle) as f32);
        let bytes = stored.flat_map(f32::to_le_bytes).collect();
        self.column("f32", middle, bytes)
    }

    fn column(&mut self, form: &'static str, offset: f64, bytes: Vec<u8>) -> Place {
        let key = (form, offset.to_bits(), bytes);
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        let base64 = base64(&key.2);
        self.columns.push(Column {
            form,
            offset,
            base64,
        });
        self.places.insert(key, self.columns.len() - 1);
        self.columns.len() - 1
    }
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let known = digit <= three.len();
            let index = (bits >> (18 - 6 * digit)) as usize % 64;
            text.push(if known {
                char::from(DIGITS[index])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_the_standard() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
