//! Draws: filled tables as they might have been, for people who carry uncertainty on.
//!
//! A band tells how far a value may be off, not how the errors of neighbours belong together. So a draw adds to
//! what is filled in a process along the gap, scaled to the band:
//!
//! $$ x(t) = \hat x(t) + s(t)\, z(t), \qquad \operatorname{corr}(z(t), z(t')) = e^{-|t-t'|/\tau}, $$
//!
//! with z normal, s the standard deviation that the band stands for and τ from the errors of neighbouring
//! hidden values. Known values stay as they are, and each gap has a process of its own. Channels are drawn
//! independently of each other.

use super::asked::Asked;
use super::filler::Filler;
use crate::Error;
use crate::data::{Filled, Random, Series};
use crate::evaluate::normal_factor;

impl Filler {
    /// Fills a series with draw number `number`: the same for the same number and seed.
    ///
    /// # Errors
    /// If there are no bands, or if the series does not fit an interpolator.
    pub fn draw(
        &self,
        series: &Series,
        asked: &Asked,
        number: u64,
        seed: u64,
    ) -> Result<Filled, Error> {
        let Some(calibration) = &self.bands else {
            return Err(Error::Setting(
                "draws need bands: give the level of the bands, and a table of which enough can be hidden to \
                 calibrate them"
                    .to_owned(),
            ));
        };
        let mut filled = self.fill(series, asked)?;
        let channels = series.channels();
        // Rows of the series and new ones in the order of time, with their numbers.
        let old = series.times().iter().enumerate();
        let old = old.map(|(row, &time)| (time, false, row));
        let new = filled.new_times.iter().enumerate();
        let new = new.map(|(row, &time)| (time, true, row));
        let mut rows: Vec<(f64, bool, usize)> = old.chain(new).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let label = series.label();
        let series_number = label.bytes().fold(number, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let deviations = 1.0 / normal_factor(calibration.level);
        for channel in 0..channels {
            let memory = calibration.memories.get(channel).copied().unwrap_or(0.0);
            let stream = series_number.wrapping_mul(channels as u64) + channel as u64;
            let mut random = Random::stream(seed ^ 0x6472_6177, stream);
            let mut before: Option<(f64, f64)> = None;
            for &(time, is_new, row) in &rows {
                let at = row * channels + channel;
                let (values, bands) = match is_new {
                    true => (&mut filled.new_values, &filled.new_bands),
                    false => (&mut filled.values, &filled.bands),
                };
                let half = bands.as_ref().map_or(f64::NAN, |[lower, upper]| {
                    (upper[at] - values[at]).max(values[at] - lower[at])
                });
                // Known values part the gaps.
                if half.is_nan() {
                    before = None;
                    continue;
                }
                let correlation = before.map_or(0.0, |(last, _)| {
                    if memory > 0.0 {
                        ((last - time) / memory).exp()
                    } else {
                        0.0
                    }
                });
                let fresh = random.normal(0.0, 1.0);
                let old = before.map_or(0.0, |(_, z)| z);
                let z = correlation * old + (1.0 - correlation * correlation).sqrt() * fresh;
                before = Some((time, z));
                values[at] = self
                    .bounds
                    .apply(channel, values[at] + half * deviations * z);
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Dataset, Series};
    use crate::fill::{Asked, Imputer};
    use std::ops::ControlFlow;
    use std::time::Duration;

    /// A random walk of which every tenth stretch of five rows is missing.
    fn walk() -> Dataset {
        let mut random = crate::data::Random::new(1);
        let mut level = 0.0;
        let value = |row: usize| {
            level += random.normal(0.0, 1.0);
            if row % 50 >= 45 && row < 1990 {
                f64::NAN
            } else {
                level
            }
        };
        let values: Vec<f64> = (0..2000).map(value).collect();
        let times = (0..2000).map(f64::from).collect();
        let series = Series::new(None, 1, times, values).unwrap();
        Dataset::new(vec!["x".into()], vec![series]).unwrap()
    }

    #[test]
    fn draws_scatter_as_wide_as_the_bands_move_together_and_leave_known_values() {
        let data = walk();
        let imputer = Imputer {
            budget: Some(Duration::ZERO),
            bands: Some(0.9),
            ..Imputer::default()
        };
        let fitted = imputer.fit(&data, |_| ControlFlow::Continue(())).unwrap();
        let series = &data.series()[0];
        let mean = fitted.fill(series, &Asked::Holes).unwrap();
        let draws: Vec<Vec<f64>> = (0..200)
            .map(|number| {
                fitted
                    .filler()
                    .draw(series, &Asked::Holes, number, 7)
                    .unwrap()
                    .values
            })
            .collect();
        let again = fitted.filler().draw(series, &Asked::Holes, 3, 7).unwrap();
        assert_eq!(again.values, draws[3]);
        let off = |draw: &Vec<f64>, row: usize| draw[row] - mean.values[row];
        let moment = |a: usize, b: usize| {
            let all = draws.iter().map(|draw| off(draw, a) * off(draw, b));
            all.sum::<f64>() / draws.len() as f64
        };
        let [lower, upper] = mean.bands.as_ref().unwrap();
        let std_dev = (upper[47] - lower[47]) / 2.0 / 1.645;
        assert!((moment(47, 47).sqrt() / std_dev - 1.0).abs() < 0.2);
        let together = moment(47, 48) / (moment(47, 47) * moment(48, 48)).sqrt();
        assert!(together > 0.3, "{together}");
        let apart = moment(47, 97) / (moment(47, 47) * moment(97, 97)).sqrt();
        assert!(apart.abs() < 0.25, "{apart}");
        for row in (0..1990).filter(|row| row % 50 < 45) {
            assert_eq!(draws[0][row], series.values()[row]);
        }
    }
}
