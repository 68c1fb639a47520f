//! What a report shows, in the user's units. NaN is "not known" everywhere and leaves a hole.

use cssc::data::table::Shape;
use jiff::tz::TimeZone;

/// Everything a picture or a page shows.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// For example the name of the table.
    pub title: String,
    /// What the times are.
    pub time: TimeAxis,
    /// In the order shown; a picture shows the first ones.
    pub series: Vec<SeriesPicture>,
    /// Names of the columns whose errors the comparison tells.
    pub score_columns: Vec<String>,
    /// The methods that were compared on hidden points.
    pub comparison: Vec<MethodScore>,
    /// The models that were trained.
    pub training: Vec<TrainingCurve>,
    /// Names and values, in the order shown.
    pub settings: Vec<(String, String)>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// What the times are.
#[derive(Clone, Debug, Default)]
pub enum TimeAxis {
    /// Numbers of any unit.
    #[default]
    Number,
    /// Seconds since 1970-01-01 UTC, shown in this zone.
    Timestamp(TimeZone),
}

impl TimeAxis {
    /// The times of a table: seconds in its time zone if it has dates.
    #[must_use]
    pub fn of_table(shape: &Shape) -> Self {
        if shape.times_are_seconds() {
            Self::Timestamp(shape.time_zone())
        } else {
            Self::Number
        }
    }
}

/// One series.
#[derive(Clone, Debug, Default)]
pub struct SeriesPicture {
    /// Its name in the table.
    pub id: Option<String>,
    /// Its columns.
    pub channels: Vec<ChannelPicture>,
}

/// One channel of a series.
#[derive(Clone, Debug, Default)]
pub struct ChannelPicture {
    /// The name of the column.
    pub name: String,
    /// The known values.
    pub observed: Points,
    /// The cells that were filled.
    pub filled: Points,
    /// What the method answers between and at the points.
    pub curve: Option<Curve>,
    /// Start and end of the stretches without observations that are to be marked.
    pub gaps: Vec<(f64, f64)>,
}

/// Times, increasing, and as many values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Increasing.
    pub times: Vec<f64>,
    /// One per time.
    pub values: Vec<f64>,
}

/// A curve at increasing times. An equal time twice is a jump.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Where the curve is known; every column below has one value per time.
    pub times: Vec<f64>,
    /// ô, what the method answers.
    pub smoothed: Vec<f64>,
    /// o, the model's own prediction.
    pub predicted: Option<Vec<f64>>,
    /// c = ô - o.
    pub compensation: Option<Vec<f64>>,
    /// Lower and upper end of a band around ô.
    pub band: Option<(Vec<f64>, Vec<f64>)>,
}

/// How well a method did on hidden points.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct MethodScore {
    /// The name of the method.
    pub name: String,
    /// Mean squared error.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Error relative to a yardstick that the caller explains in the notes.
    pub relative_error: f64,
    /// Share of the hidden points inside the band, from 0 to 1.
    pub coverage: Option<f64>,
    /// Mean squared error in every column, NaN where nothing was hidden.
    pub by_column: Vec<f64>,
    /// Whether the table was filled by this method.
    pub chosen: bool,
    /// Anything else, such as the columns it was chosen for.
    pub note: Option<String>,
}

/// How a training went, each point a step and a number.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct TrainingCurve {
    /// What was trained.
    pub method: String,
    /// Loss on training data.
    pub loss: Vec<(u64, f64)>,
    /// Mean squared error on validation data.
    pub validation: Vec<(u64, f64)>,
}

impl Points {
    /// Pairs of time and value, those that are known.
    pub(crate) fn known(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let pairs = self.times.iter().copied().zip(self.values.iter().copied());
        pairs.filter(|(time, value)| time.is_finite() && value.is_finite())
    }
}

impl SeriesPicture {
    /// First and last time of anything shown.
    pub(crate) fn span(&self) -> Option<(f64, f64)> {
        let ends = |times: &[f64]| times.first().copied().zip(times.last().copied());
        let spans = self.channels.iter().flat_map(|channel| {
            let curve = channel
                .curve
                .as_ref()
                .map_or(&[][..], |curve| &curve.times[..]);
            let points = [&channel.observed, &channel.filled];
            let points = points.into_iter().map(|points| &points.times[..]);
            points.chain([curve]).filter_map(ends).collect::<Vec<_>>()
        });
        spans.reduce(|(a, b), (start, end)| (a.min(start), b.max(end)))
    }
}
