//! Values and times brought to a range that a model likes, and back.
//!
//! ```text
//! scaled value = (value - offset_j) / scale_j        scaled time = (time - origin) / unit
//! ```
//!
//! Offset and scale of each channel, origin and unit of time are fitted on the training part only
//! and are saved with the model. A channel that is constant, or never observed, keeps scale 1.
//!
//! Why times: a field learned where gaps are near 0.1 is stiff or idle where they are 300 (seconds
//! of a sensor). The unit makes the median gap of the training part the gap asked for.
use super::{Dataset, Series};
use crate::Error;

/// How the values of each channel are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    any(feature = "nn", feature = "tables"),
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum ValueScaling {
    /// Left as they are.
    None,
    /// Mean 0, standard deviation 1 (divided by the number of values).
    #[default]
    Standard,
    /// From 0 to 1.
    MinMax,
    /// From 0 to 1 by the smallest and largest value of all channels, as the pixels of images.
    MinMaxOfAll,
}

/// How times are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    any(feature = "nn", feature = "tables"),
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum TimeScaling {
    /// Left as they are.
    #[default]
    None,
    /// The earliest training time becomes 0 and the median gap between times becomes this.
    TypicalGap(f64),
}

/// Fitted constants. Serialisable, so that a model carries its own.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    any(feature = "nn", feature = "tables"),
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Written")
)]
pub struct Scaler {
    offsets: Vec<f64>,
    scales: Vec<f64>,
    time_origin: f64,
    time_unit: f64,
}

/// A scaler as it stands in a file, before it is checked.
#[cfg(any(feature = "nn", feature = "tables"))]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    offsets: Vec<f64>,
    scales: Vec<f64>,
    time_origin: f64,
    time_unit: f64,
}

#[cfg(any(feature = "nn", feature = "tables"))]
impl TryFrom<Written> for Scaler {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        Self::fixed(written.offsets, written.scales)?
            .with_time(written.time_origin, written.time_unit)
    }
}

/// Whether a number can be divided by and multiplied with: far outside of this, products of values
/// overflow or vanish.
fn is_usable(scale: f64) -> bool {
    (1e-100..=1e100).contains(&scale.abs())
}

impl Scaler {
    /// Leaves everything as it is.
    pub fn identity(channels: usize) -> Self {
        Self {
            offsets: vec![0.0; channels],
            scales: vec![1.0; channels],
            time_origin: 0.0,
            time_unit: 1.0,
        }
    }

    /// Fixed constants per channel, times left alone. The hopper set uses (x - minimum) / maximum:
    /// divided by the maximum and not by the range, as the public code does.
    pub fn fixed(offsets: Vec<f64>, scales: Vec<f64>) -> Result<Self, Error> {
        if offsets.len() != scales.len() {
            let (offsets, scales) = (offsets.len(), scales.len());
            return Err(Error::Scale(format!(
                "{offsets} offsets but {scales} scales given"
            )));
        }
        if let Some(offset) = offsets
            .iter()
            .find(|offset| offset.abs() > 1e200 || offset.is_nan())
        {
            return Err(Error::Scale(format!(
                "an offset is {offset:?}; at most 1e200 is possible"
            )));
        }
        if let Some(scale) = scales.iter().find(|scale| !is_usable(**scale)) {
            return Err(Error::Scale(format!(
                "a scale is {scale:?}; its size must be between 1e-100 and 1e100"
            )));
        }
        Ok(Self {
            offsets,
            scales,
            time_origin: 0.0,
            time_unit: 1.0,
        })
    }

    /// The same scales for values, with this origin and unit of time.
    pub fn with_time(self, origin: f64, unit: f64) -> Result<Self, Error> {
        if !(origin.abs() <= 1e100 && unit > 0.0 && is_usable(unit)) {
            let wrong = format!(
                "time needs an origin within ±1e100 and a unit between 1e-100 and 1e100, found {origin:?} and {unit:?}"
            );
            return Err(Error::Scale(wrong));
        }
        Ok(Self {
            time_origin: origin,
            time_unit: unit,
            ..self
        })
    }

    /// Fits on the training part.
    pub fn fit(
        training: &Dataset,
        values: ValueScaling,
        times: TimeScaling,
    ) -> Result<Self, Error> {
        let mut scaler = Self::identity(training.channels());
        let of_all = (values == ValueScaling::MinMaxOfAll).then(|| {
            let known = (0..training.channels()).flat_map(|channel| training.known(channel));
            minimum_and_range(known)
        });
        for channel in 0..training.channels() {
            let (offset, scale) = match values {
                ValueScaling::None => (0.0, 1.0),
                ValueScaling::Standard => mean_and_deviation(training, channel),
                ValueScaling::MinMax => minimum_and_range(training.known(channel)),
                ValueScaling::MinMaxOfAll => of_all.unwrap_or((0.0, 1.0)),
            };
            scaler.offsets[channel] = offset;
            scaler.scales[channel] = scale;
        }
        if let TimeScaling::TypicalGap(gap) = times {
            (scaler.time_origin, scaler.time_unit) = origin_and_unit(training, gap)?;
        }
        let (origin, unit) = (scaler.time_origin, scaler.time_unit);
        Self::fixed(scaler.offsets, scaler.scales)?.with_time(origin, unit)
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.offsets.len()
    }

    /// What is subtracted from each channel.
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// What each channel is divided by: squared errors of scaled values times this squared are
    /// squared errors of the values themselves.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The scaled value of a channel.
    pub fn value(&self, channel: usize, value: f64) -> f64 {
        (value - self.offsets[channel]) / self.scales[channel]
    }

    /// The value of a channel from its scaled value.
    pub fn unscale_value(&self, channel: usize, scaled: f64) -> f64 {
        scaled * self.scales[channel] + self.offsets[channel]
    }

    /// The scaled time.
    pub fn time(&self, time: f64) -> f64 {
        (time - self.time_origin) / self.time_unit
    }

    /// The time from the scaled time.
    pub fn unscale_time(&self, scaled: f64) -> f64 {
        scaled * self.time_unit + self.time_origin
    }

    /// A scaled series.
    pub fn scale(&self, series: &Series) -> Result<Series, Error> {
        self.change(series, Self::time, Self::value)
    }

    /// The series from a scaled series.
    pub fn unscale(&self, scaled: &Series) -> Result<Series, Error> {
        self.change(scaled, Self::unscale_time, Self::unscale_value)
    }

    /// A scaled data set.
    pub fn scale_all(&self, dataset: &Dataset) -> Result<Dataset, Error> {
        dataset.map(|series| self.scale(series))
    }

    /// The data set from a scaled data set.
    pub fn unscale_all(&self, scaled: &Dataset) -> Result<Dataset, Error> {
        scaled.map(|series| self.unscale(series))
    }

    fn change(
        &self,
        series: &Series,
        time: fn(&Self, f64) -> f64,
        value: fn(&Self, usize, f64) -> f64,
    ) -> Result<Series, Error> {
        let channels = self.channels();
        if series.channels() != channels {
            return Err(Error::ChannelCount {
                series: series.label(),
                expected: channels,
                found: series.channels(),
            });
        }
        let times = series.times().iter().map(|&t| time(self, t)).collect();
        let values = series.values().iter().enumerate();
        let values = values
            .map(|(at, &x)| value(self, at % channels, x))
            .collect();
        Series::new(series.id().map(str::to_owned), channels, times, values)
    }
}

/// Two passes: the sum of squares minus the squared mean would lose digits far from zero.
pub(crate) fn mean_and_deviation(training: &Dataset, channel: usize) -> (f64, f64) {
    let count = training.known(channel).count().max(1) as f64;
    let mean = training.known(channel).sum::<f64>() / count;
    let variance = training
        .known(channel)
        .map(|x| (x - mean).powi(2))
        .sum::<f64>()
        / count;
    (mean, usable_scale(variance.sqrt(), mean))
}

fn minimum_and_range(known: impl Iterator<Item = f64>) -> (f64, f64) {
    let widen = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
    let (minimum, maximum) = known.fold((f64::INFINITY, f64::NEG_INFINITY), widen);
    if minimum > maximum {
        return (0.0, 1.0);
    }
    (minimum, usable_scale(maximum - minimum, minimum))
}

/// A spread that is only rounding (relative to the size of the values) counts as constant.
fn usable_scale(spread: f64, size: f64) -> f64 {
    if spread > 1e-13 * size.abs() {
        spread
    } else {
        1.0
    }
}

fn origin_and_unit(training: &Dataset, gap: f64) -> Result<(f64, f64), Error> {
    if !(gap.is_finite() && gap > 0.0) {
        return Err(Error::Scale(format!(
            "the typical gap must be above 0, found {gap}"
        )));
    }
    let starts = training
        .series()
        .iter()
        .filter_map(|series| series.times().first());
    let origin = starts.copied().fold(f64::INFINITY, f64::min);
    let typical = training.typical_step().ok_or_else(|| {
        Error::Scale("no training series has two times, so no gap is typical".to_owned())
    })?;
    Ok((origin, typical / gap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dataset(times: Vec<f64>, values: Vec<f64>) -> Dataset {
        let series = Series::new(None, 2, times, values).unwrap();
        Dataset::new(vec!["x".into(), "y".into()], vec![series]).unwrap()
    }

    /// Channel x is 1, missing, 5: mean 3, deviation 2. Channel y is 7 throughout: scale 1.
    #[test]
    fn standard_scaling_ignores_what_is_missing_and_leaves_constants_at_scale_one() {
        let data = dataset(vec![0.0, 1.0, 2.0], vec![1.0, 7.0, f64::NAN, 7.0, 5.0, 7.0]);
        let scaler = Scaler::fit(&data, ValueScaling::Standard, TimeScaling::None).unwrap();
        assert_eq!(
            (scaler.offsets(), scaler.scales()),
            (&[3.0, 7.0][..], &[2.0, 1.0][..])
        );
        let scaled = scaler.scale_all(&data).unwrap();
        assert_eq!(scaled.series()[0].observed(0).1, [-1.0, 1.0]);
    }

    #[test]
    fn a_channel_that_is_never_observed_is_left_alone() {
        let data = dataset(vec![0.0, 1.0], vec![1.0, f64::NAN, 3.0, f64::NAN]);
        for scaling in [ValueScaling::Standard, ValueScaling::MinMax] {
            let scaler = Scaler::fit(&data, scaling, TimeScaling::None).unwrap();
            assert_eq!((scaler.offsets()[1], scaler.scales()[1]), (0.0, 1.0));
        }
    }

    /// Gaps 300, 300, 600: the median is 300, so 0.1 asked for makes the unit 3000.
    #[test]
    fn the_median_gap_becomes_the_gap_asked_for() {
        let data = dataset(vec![1000.0, 1300.0, 1600.0, 2200.0], vec![0.0; 8]);
        let times = TimeScaling::TypicalGap(0.1);
        let scaler = Scaler::fit(&data, ValueScaling::None, times).unwrap();
        assert_eq!(scaler.time(1000.0), 0.0);
        assert!((scaler.time(1300.0) - 0.1).abs() < 1e-15);
        assert!((scaler.unscale_time(0.4) - 2200.0).abs() < 1e-9);
    }

    #[test]
    fn every_wrong_scaling_is_refused() {
        let data = dataset(vec![0.0], vec![1.0, 2.0]);
        let fit = |gap| Scaler::fit(&data, ValueScaling::None, TimeScaling::TypicalGap(gap));
        let message = |result: Result<Scaler, Error>| result.unwrap_err().to_string();
        assert!(message(fit(0.0)).contains("must be above 0, found 0"));
        assert!(message(fit(1.0)).contains("no training series has two times"));
        assert!(message(Scaler::fixed(vec![0.0], vec![])).contains("1 offsets but 0 scales"));
        assert!(message(Scaler::fixed(vec![0.0], vec![0.0])).contains("a scale is 0"));
        let timeless = Scaler::identity(1).with_time(0.0, -1.0);
        assert!(message(timeless).contains("a unit between 1e-100 and 1e100, found 0.0 and -1.0"));
        let narrow = Scaler::identity(1)
            .scale_all(&data)
            .unwrap_err()
            .to_string();
        assert!(
            narrow.contains("has 2 channels, the data set has 1"),
            "{narrow}"
        );
    }

    #[cfg(any(feature = "nn", feature = "tables"))]
    #[test]
    fn a_saved_scaler_comes_back_bit_for_bit() {
        let scaler = Scaler::fixed(vec![0.1, -1.0 / 3.0], vec![2.0 / 7.0, 1e-3]).unwrap();
        let text = serde_json::to_string(&scaler).unwrap();
        assert_eq!(serde_json::from_str::<Scaler>(&text).unwrap(), scaler);
    }

    proptest! {
        /// Two roundings, each relative to the larger of value and offset.
        #[test]
        fn unscaling_undoes_scaling(
            values in prop::collection::vec(-1e6..1e6f64, 8), start in -1e9..1e9f64,
            gap in 1e-3..1e3f64, min_max: bool,
        ) {
            let times = (0..4).map(|k| start + gap * f64::from(k)).collect();
            let data = dataset(times, values);
            let scaling = if min_max { ValueScaling::MinMax } else { ValueScaling::Standard };
            let scaler = Scaler::fit(&data, scaling, TimeScaling::TypicalGap(0.1)).unwrap();
            let back = scaler.unscale_all(&scaler.scale_all(&data).unwrap()).unwrap();
            let (before, after) = (&data.series()[0], &back.series()[0]);
            for (a, b) in before.values().iter().zip(after.values()) {
                prop_assert!((a - b).abs() <= 1e-9);
            }
            for (a, b) in before.times().iter().zip(after.times()) {
                prop_assert!((a - b).abs() <= 1e-6);
            }
        }
    }
}
