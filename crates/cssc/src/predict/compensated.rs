//! A prediction that knows the season and the other channels, compensated.
//!
//! ```text
//! o   what the season and the other channels say of the channel (`level`): it brings the shape
//! c   what is observed minus o, between and beside the values: it brings the curve to them
//! ô   their sum
//! ```
//!
//! c is the smoothing spline of the residuals (`smooth`), as strong as cross-validation says, or the best linear guess from
//! the residuals around a gap, by how they vary over time (`kriging`; geostatistics calls the sum regression kriging). Both take
//! observations to be noisy, where a regression goes through the values around a gap, noise and all. In a long gap the
//! guess goes back to 0, so that o stays; a spline goes on with slopes that have long changed.
//!
//! Where the other channels are missing in a gap as well, o falls back to the mean there, while beside the gap it says nearly
//! all of the values and leaves nothing to be carried into it: sensors that fail together came to twice the error of straight
//! lines. So with e the part of the variance that they explain, at a time and beside the gap, the part e(t)/e of the curve is
//! this one, and the rest the same without other channels.

use super::covariance::Covariance;
use super::design::{Design, Features, Profiles};
use super::joint::Use;
use super::kriging::{column, covariances, neighbours};
use super::level::Level;
use super::lookup::Dense;
use super::regression::Learner;
use super::stations::Stations;
use super::{Inputs, PredictOptions};
use crate::data::{Dataset, Series};
use crate::evaluate::{Curve, Gaps, Interpolator, observation_std_devs, set_column};
use crate::smooth::smoothing_spline;
use crate::{Error, Path, Side, SmoothOptions};
use rayon::prelude::*;
use std::sync::Arc;

/// Rows of all series that tell how residuals vary, at most.
const MOST_ROWS: usize = 8_000;

/// Other channels that tell this part of what they tell beside a gap tell enough.
const NEARLY: f64 = 0.9;

/// What c is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residuals {
    /// The smoothing spline of the residuals.
    Smoothed,
    /// The best linear guess from the residuals around a gap.
    Kriged,
}

/// A method that compensates what is seen of some inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Compensated {
    name: &'static str,
    inputs: Inputs,
    learner: Learner,
    residuals: Residuals,
    options: PredictOptions,
}

impl Compensated {
    /// Of some inputs, called `name`; what the channel itself says is left to the residuals.
    #[must_use]
    pub fn new(
        name: &'static str,
        inputs: Inputs,
        learner: Learner,
        residuals: Residuals,
        options: PredictOptions,
    ) -> Self {
        let inputs = Inputs {
            own: false,
            ..inputs
        };
        Self {
            name,
            inputs,
            learner,
            residuals,
            options,
        }
    }

    fn learn(&self, data: &Dataset) -> Result<Learned, Error> {
        let stations = Stations::of(data)?;
        let data = stations.as_ref().map_or(data, |stations| &stations.data);
        let gaps = Gaps::find(data);
        let part = |inputs| self.part(data, &gaps, inputs);
        let alone = Inputs {
            others: false,
            factors: false,
            ..self.inputs
        };
        Ok(Learned {
            name: self.name,
            told: part(self.inputs)?,
            alone: (alone != self.inputs).then(|| part(alone)).transpose()?,
            stations,
        })
    }

    fn part(&self, data: &Dataset, gaps: &Gaps, inputs: Inputs) -> Result<Part, Error> {
        let design = Design::new(data, gaps, inputs, &self.options);
        let profiles = design.profiles(data);
        let level = |channel| Level::learn(&design, &profiles, data, channel, self.learner);
        let mut part = Part {
            levels: (0..data.channels()).into_par_iter().map(level).collect(),
            design,
            profiles,
            covariances: None,
        };
        if self.residuals == Residuals::Kriged {
            let left = part.residuals(data)?;
            part.covariances = Some(covariances(&left, part.design.usual));
        }
        Ok(part)
    }
}

impl Interpolator for Compensated {
    fn name(&self) -> &str {
        self.name
    }

    /// Learned from this series alone.
    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let data = super::alone(series)?;
        self.learn(&data)?.curve(series, channels, times)
    }

    fn fitted_to(&self, data: &Dataset) -> Result<Option<Arc<dyn Interpolator>>, Error> {
        Ok(Some(Arc::new(self.learn(data)?)))
    }
}

/// What was learned of all channels.
#[derive(Clone, Debug)]
struct Learned {
    name: &'static str,
    told: Part,
    /// The same without other channels, for times at which they are missing too.
    alone: Option<Part>,
    stations: Option<Stations>,
}

/// A prediction and how what it leaves varies.
#[derive(Clone, Debug)]
struct Part {
    design: Design,
    profiles: Profiles,
    levels: Vec<Level>,
    /// Of the residuals of each channel; none: they are smoothed.
    covariances: Option<Vec<Option<Covariance>>>,
}

/// One channel at the times asked for.
struct Column {
    predicted: Vec<f64>,
    compensation: Vec<f64>,
    std_devs: Option<Vec<f64>>,
    /// How much of what the other channels tell beside a gap they tell inside, 0 to 1.
    told: Vec<f64>,
}

impl Part {
    /// What the levels leave of known values; of long tables, of a stretch of each series.
    fn residuals(&self, data: &Dataset) -> Result<Dataset, Error> {
        let part = (MOST_ROWS as f64 / data.rows().max(1) as f64).min(1.0);
        let of_series = |series: &Series| -> Result<Series, Error> {
            let count = (part * series.len() as f64).ceil() as usize;
            let first = (series.len() - count) / 2;
            let rows: Vec<usize> = (first..first + count).collect();
            let series = series.take(&rows)?;
            let (dense, width) = (Dense::new(&series), series.channels());
            let mut values = vec![f64::NAN; series.values().len()];
            for (channel, level) in self.levels.iter().enumerate() {
                let mut features = self.features(&dense, channel);
                for (row, &time) in series.times().iter().enumerate() {
                    if let Some(value) = series.value(row, channel) {
                        values[row * width + channel] = value - level.at(&mut features, time);
                    }
                }
            }
            series.with_values(values)
        };
        let all = data.series().par_iter().map(of_series);
        Dataset::new(
            data.channel_names().to_vec(),
            all.collect::<Result<_, _>>()?,
        )
    }

    fn features<'a>(&'a self, dense: &'a Dense<'a>, channel: usize) -> Features<'a> {
        let profiles = &self.profiles[channel];
        Features::new(&self.design, profiles, dense, channel, Use::Filling)
    }

    fn column(
        &self,
        dense: &Dense<'_>,
        channel: usize,
        (knots, known): (&[f64], &[f64]),
        times: &[f64],
    ) -> Result<Column, Error> {
        let mut features = self.features(dense, channel);
        // What is said, and the part of the variance that the other channels explain there.
        let mut at = |time: f64| {
            let value = self.levels[channel].at(&mut features, time);
            (value, features.explained)
        };
        let (predicted, inside): (Vec<f64>, Vec<f64>) = times.iter().map(|&time| at(time)).unzip();
        let mut residuals = vec![f64::NAN; knots.len()];
        let mut beside = vec![1.0; knots.len()];
        let mut look = |place: usize| {
            if residuals[place].is_nan() {
                let (value, explained) = at(knots[place]);
                residuals[place] = known[place] - value;
                beside[place] = explained;
            }
        };
        let (compensation, std_devs) = match &self.covariances {
            None => {
                (0..knots.len()).for_each(look);
                let spline = smoothing_spline(knots, 1, &residuals, &SmoothOptions::default())?;
                let compensation = spline.compensation.sample(times, Side::Left)?.value;
                (compensation, Some(observation_std_devs(&spline, times)?))
            }
            Some(covariances) => {
                // Of a long series only what is near the times counts.
                for &time in times {
                    let exact = knots.partition_point(|&knot| knot < time);
                    neighbours(knots, time).for_each(&mut look);
                    if exact < knots.len() {
                        look(exact);
                    }
                }
                let covariance = covariances[channel].as_ref();
                (column(knots, &residuals, covariance, times), None)
            }
        };
        let told = |(&time, inside): (&f64, f64)| {
            let after = knots.partition_point(|&knot| knot < time);
            let ends = [after.checked_sub(1), Some(after)].into_iter().flatten();
            let beside = ends.filter_map(|place| beside.get(place)).copied();
            let beside = NEARLY * beside.fold(1.0, f64::min);
            match beside > 0.0 {
                true => (inside / beside).min(1.0),
                false => 1.0,
            }
        };
        Ok(Column {
            predicted,
            compensation,
            std_devs,
            told: times.iter().zip(inside).map(told).collect(),
        })
    }
}

impl Learned {
    /// `None` of a channel that is not known.
    fn column(
        &self,
        dense: &Dense<'_>,
        channel: usize,
        times: &[f64],
    ) -> Result<Option<Column>, Error> {
        let (knots, known) = dense.series.observed(channel);
        if knots.is_empty() {
            return Ok(None);
        }
        let observed = (&knots[..], &known[..]);
        let mut found = self.told.column(dense, channel, observed, times)?;
        let Some(alone) = &self.alone else {
            return Ok(Some(found));
        };
        let told = std::mem::take(&mut found.told);
        if told.iter().all(|&told| told == 1.0) {
            return Ok(Some(found));
        }
        let alone = alone.column(dense, channel, observed, times)?;
        let mix = |found: &mut Vec<f64>, alone: &[f64]| {
            for ((found, alone), told) in found.iter_mut().zip(alone).zip(&told) {
                *found = told * *found + (1.0 - told) * alone;
            }
        };
        mix(&mut found.predicted, &alone.predicted);
        mix(&mut found.compensation, &alone.compensation);
        if let (Some(found), Some(alone)) = (&mut found.std_devs, &alone.std_devs) {
            mix(found, alone);
        }
        Ok(Some(found))
    }
}

impl Interpolator for Learned {
    fn name(&self) -> &str {
        self.name
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let expected = self.told.levels.len();
        let wide = Stations::wide(self.stations.as_ref(), series, expected)?;
        let (series, first) = wide
            .as_ref()
            .map_or((series, 0), |(wide, first)| (wide, *first));
        let dense = Dense::new(series);
        let columns: Vec<Option<Column>> = channels
            .par_iter()
            .map(|&channel| self.column(&dense, first + channel, times))
            .collect::<Result<_, _>>()?;
        let width = channels.len();
        let unknown = vec![f64::NAN; times.len() * width];
        let [mut predicted, mut compensation, mut std_devs] = [&unknown; 3].map(Vec::clone);
        for (place, column) in columns.iter().enumerate() {
            if let Some(column) = column {
                set_column(&mut predicted, width, place, &column.predicted);
                set_column(&mut compensation, width, place, &column.compensation);
                if let Some(own) = &column.std_devs {
                    set_column(&mut std_devs, width, place, own);
                }
            }
        }
        let sums = predicted.iter().zip(&compensation).map(|(o, c)| o + c);
        Ok(Curve {
            values: sums.collect(),
            predicted: Some(predicted),
            compensation: Some(compensation),
            std_devs: self.told.covariances.is_none().then_some(std_devs),
        })
    }
}
