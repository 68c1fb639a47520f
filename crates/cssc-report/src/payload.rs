//! The data of the page as JSON.
//!
//! Numbers are packed ([`Columns`]). A report of more than [`MOST_NUMBERS`] numbers is thinned like a picture is, layers
//! that are not shown at first are thinner always, and bands are kept where they matter, in gaps. Of very many series the
//! first are kept.

use crate::columns::{Column, Columns, Place};
use crate::content::{
    ChannelPicture, Curve, MethodScore, Points, Report, SeriesPicture, TimeAxis, TrainingCurve,
};
use crate::decimate;
use serde::Serialize;
use std::io;
use std::ops::Range;

/// Between one and two megabytes.
pub(crate) const MOST_NUMBERS: usize = 1_500_000;
/// Points of a layer that is not shown at first: a few for every pixel of a wide screen.
const MOST_HIDDEN: usize = 6_000;
/// Channels of all series together.
pub(crate) const MOST_CHANNELS: usize = 240;

#[derive(Serialize)]
pub(crate) struct Payload<'a> {
    title: &'a str,
    program: String,
    time: Time,
    columns: Vec<Column>,
    /// The bytes of all columns, deflated, as base64.
    packed: String,
    series: Vec<SeriesData<'a>>,
    /// Series that are not in the page.
    left_out: usize,
    /// Whether points were left out where they stand too close to be told apart.
    thinned: bool,
    /// Names of the columns whose errors the comparison tells.
    score_columns: &'a [String],
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
    band: Option<BandData>,
    model: Option<ModelData>,
}

/// The band inside gaps.
#[derive(Serialize)]
struct BandData {
    times: Place,
    lower: Place,
    upper: Place,
}

/// What a model says for itself.
#[derive(Serialize)]
struct ModelData {
    times: Place,
    predicted: Option<Place>,
    compensation: Option<Place>,
}

impl<'a> Payload<'a> {
    /// # Errors
    /// Only if bytes cannot be packed in memory.
    pub(crate) fn new(report: &'a Report) -> io::Result<Self> {
        let shown = shown(&report.series);
        let numbers: usize = channels(shown).map(count).sum();
        let share = match numbers > MOST_NUMBERS {
            true => Some(MOST_NUMBERS / channels(shown).count()),
            false => None,
        };
        let mut columns = Columns::default();
        let series = shown.iter().map(|series| SeriesData {
            id: series.id.as_deref(),
            channels: {
                let mut store = Store {
                    columns: &mut columns,
                    span: series.span().unwrap_or_default(),
                    share,
                };
                let channels = series.channels.iter();
                channels.map(|channel| store.channel(channel)).collect()
            },
        });
        let series = series.collect();
        let (columns, packed) = columns.finish()?;
        Ok(Self {
            title: &report.title,
            program: format!("cssc {}", env!("CARGO_PKG_VERSION")),
            time: Time::of(report),
            series,
            columns,
            packed,
            left_out: report.series.len() - shown.len(),
            thinned: share.is_some(),
            score_columns: &report.score_columns,
            comparison: &report.comparison,
            training: &report.training,
            settings: &report.settings,
            notes: &report.notes,
        })
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

/// About how many numbers a channel has in the page.
fn count(channel: &ChannelPicture) -> usize {
    let points = [&channel.observed, &channel.filled];
    let points: usize = points.iter().map(|points| points.times.len()).sum();
    let curve = channel.curve.as_ref().map_or(0, |curve| {
        let in_gaps = channel.gaps.iter().map(|gap| inside(curve, gap).len());
        let band = curve.band.as_ref().map_or(0, |_| in_gaps.sum());
        let model = curve
            .predicted
            .as_ref()
            .map_or(0, |all| all.len().min(MOST_HIDDEN));
        2 * curve.times.len() + 3 * band + 3 * model
    });
    2 * points + curve
}

/// The points of a curve inside a gap, with its two ends.
fn inside(curve: &Curve, &(start, end): &(f64, f64)) -> Range<usize> {
    let from = curve.times.partition_point(|&time| time < start);
    from..curve.times.partition_point(|&time| time <= end)
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

/// Packs the channels of one series.
struct Store<'c> {
    columns: &'c mut Columns,
    /// First and last time of the series.
    span: (f64, f64),
    /// Numbers that a channel may have, if there are too many.
    share: Option<usize>,
}

impl Store<'_> {
    fn channel<'a>(&mut self, channel: &'a ChannelPicture) -> ChannelData<'a> {
        let points = [&channel.observed, &channel.filled];
        let counts = points.map(|points| points.times.len());
        // Half of the channel's share is for its curve, half for its points.
        let [observed, filled] = points.map(|points| {
            let buckets = self.share.map(|share| share / 2 / 2 / (2 * 4));
            self.points(points, buckets)
        });
        let curve = channel.curve.as_ref().map(|curve| {
            let [times, smoothed] = self.line(&curve.times, &curve.smoothed);
            CurveData {
                times,
                smoothed,
                band: self.band(curve, &channel.gaps),
                model: self.model(curve),
            }
        });
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
        [self.times(&times), self.columns.values(&values)]
    }

    /// Times and values of ô.
    fn line(&mut self, times: &[f64], values: &[f64]) -> [Place; 2] {
        // Two numbers a point, at most four points a bucket, and half of the share.
        let buckets = self
            .share
            .map_or(usize::MAX, |share| (share / 2 / 8).max(1));
        let kept = decimate::kept(times, &[values], buckets);
        let [times, values] = [times, values].map(|all| take(all, &kept));
        [self.times(&times), self.columns.values(&values)]
    }

    /// The band inside the gaps; a point that is not known keeps those of two gaps apart.
    fn band(&mut self, curve: &Curve, gaps: &[(f64, f64)]) -> Option<BandData> {
        let (lower, upper) = curve.band.as_ref()?;
        let (mut times, mut ends) = (Vec::new(), [Vec::new(), Vec::new()]);
        for gap in gaps {
            let own = inside(curve, gap);
            times.extend_from_slice(&curve.times[own.clone()]);
            times.push(gap.1);
            for (ends, column) in ends.iter_mut().zip([lower, upper]) {
                ends.extend_from_slice(&column[own.clone()]);
                ends.push(f64::NAN);
            }
        }
        let columns = [&ends[0][..], &ends[1][..]];
        let buckets = self
            .share
            .map_or(usize::MAX, |share| (share / 4 / 18).max(1));
        let kept = decimate::kept(&times, &columns, buckets);
        let [lower, upper] = columns.map(|column| self.columns.values(&take(column, &kept)));
        let times = self.times(&take(&times, &kept));
        Some(BandData {
            times,
            lower,
            upper,
        })
    }

    fn model(&mut self, curve: &Curve) -> Option<ModelData> {
        let parts = [&curve.predicted, &curve.compensation];
        let columns: Vec<&[f64]> = parts.iter().filter_map(|part| part.as_deref()).collect();
        if columns.is_empty() {
            return None;
        }
        let most = self
            .share
            .map_or(MOST_HIDDEN, |share| MOST_HIDDEN.min(share / 4));
        let kept = decimate::kept(
            &curve.times,
            &columns,
            (most / (2 + 2 * columns.len())).max(1),
        );
        let [predicted, compensation] = parts.map(|part| {
            let part = part.as_ref()?;
            Some(self.columns.values(&take(part, &kept)))
        });
        Some(ModelData {
            times: self.times(&take(&curve.times, &kept)),
            predicted,
            compensation,
        })
    }

    fn times(&mut self, times: &[f64]) -> Place {
        self.columns.times(times, self.span)
    }
}

fn take(all: &[f64], kept: &[usize]) -> Vec<f64> {
    kept.iter().map(|&at| all[at]).collect()
}
