//! What a report shows, in the user's units. NaN is "not known" everywhere and leaves a hole.

use jiff::tz::TimeZone;

/// Everything a picture or a page shows.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// For example the name of the table.
    pub(crate) title: String,
    pub(crate) time: TimeAxis,
    pub(crate) series: Vec<SeriesPicture>,
    /// The methods that were compared on hidden points.
    pub(crate) comparison: Vec<MethodScore>,
    pub(crate) training: Vec<TrainingCurve>,
    /// Names and values, in the order shown.
    pub(crate) settings: Vec<(String, String)>,
    /// Sentences for the reader.
    pub(crate) notes: Vec<String>,
}

/// What the times are.
#[derive(Clone, Debug)]
pub(crate) enum TimeAxis {
    /// Numbers of any unit.
    Number,
    /// Seconds since 1970-01-01 UTC, shown in this zone.
    Timestamp(TimeZone),
}

/// One series.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesPicture {
    pub(crate) id: Option<String>,
    pub(crate) channels: Vec<ChannelPicture>,
}

/// One channel of a series.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelPicture {
    pub(crate) name: String,
    pub(crate) observed: Points,
    /// Points that were hidden to compare methods, with their true values; may be empty.
    pub(crate) hidden: Points,
    /// The cells that were filled.
    pub(crate) filled: Points,
    pub(crate) curve: Option<Curve>,
    /// Start and end of the stretches without observations that are to be marked.
    pub(crate) gaps: Vec<(f64, f64)>,
}

/// Times, increasing, and as many values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Points {
    pub(crate) times: Vec<f64>,
    pub(crate) values: Vec<f64>,
}

/// A curve at increasing times. An equal time twice is a jump.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    pub(crate) times: Vec<f64>,
    /// ô, what the method answers.
    pub(crate) smoothed: Vec<f64>,
    /// o, the model's own prediction.
    pub(crate) predicted: Option<Vec<f64>>,
    /// c = ô - o.
    pub(crate) compensation: Option<Vec<f64>>,
    /// Lower and upper end of a band around ô.
    pub(crate) band: Option<(Vec<f64>, Vec<f64>)>,
}

/// How well a method did on hidden points.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(crate) struct MethodScore {
    pub(crate) name: String,
    /// Mean squared error.
    pub(crate) mse: f64,
    /// Mean absolute error.
    pub(crate) mae: f64,
    /// Error relative to a yardstick that the caller explains in the notes.
    pub(crate) relative_error: f64,
    /// Share of the hidden points inside the band, from 0 to 1.
    pub(crate) coverage: Option<f64>,
    /// Whether the table was filled by this method.
    pub(crate) chosen: bool,
    pub(crate) note: Option<String>,
}

/// How a training went, each point a step and a number.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(crate) struct TrainingCurve {
    pub(crate) method: String,
    pub(crate) loss: Vec<(u64, f64)>,
    /// Mean squared error on validation data.
    pub(crate) validation: Vec<(u64, f64)>,
}

impl Points {
    /// Pairs of time and value, those that are known.
    pub(super) fn known(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let pairs = self.times.iter().copied().zip(self.values.iter().copied());
        pairs.filter(|(time, value)| time.is_finite() && value.is_finite())
    }
}

impl Curve {
    /// The rows that are there, ô first.
    pub(super) fn columns(&self) -> Vec<&[f64]> {
        let mut columns = vec![&self.smoothed[..]];
        columns.extend(self.predicted.as_deref());
        columns.extend(self.compensation.as_deref());
        if let Some((lower, upper)) = &self.band {
            columns.extend([&lower[..], &upper[..]]);
        }
        columns
    }

    /// The curve at some of its times only.
    pub(super) fn take(&self, kept: &[usize]) -> Self {
        let pick = |column: &Vec<f64>| kept.iter().map(|&at| column[at]).collect::<Vec<f64>>();
        Self {
            times: pick(&self.times),
            smoothed: pick(&self.smoothed),
            predicted: self.predicted.as_ref().map(pick),
            compensation: self.compensation.as_ref().map(pick),
            band: self
                .band
                .as_ref()
                .map(|(lower, upper)| (pick(lower), pick(upper))),
        }
    }
}

impl SeriesPicture {
    /// First and last time of anything shown.
    pub(super) fn span(&self) -> Option<(f64, f64)> {
        let ends = |times: &[f64]| times.first().copied().zip(times.last().copied());
        let spans = self.channels.iter().flat_map(|channel| {
            let curve = channel
                .curve
                .as_ref()
                .map_or(&[][..], |curve| &curve.times[..]);
            let points = [&channel.observed, &channel.hidden, &channel.filled];
            let points = points.into_iter().map(|points| &points.times[..]);
            points.chain([curve]).filter_map(ends).collect::<Vec<_>>()
        });
        spans.reduce(|(a, b), (start, end)| (a.min(start), b.max(end)))
    }
}
