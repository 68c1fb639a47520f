//! The result for noisy observations, and how sure it is.

use super::channel::{Channel, Fit};
use crate::error::{Error, check_query};
use crate::spline::PiecewiseCubic;

/// A compensation for noisy observations; see [`smooth`](super::smooth).
#[derive(Debug, Clone)]
pub struct Smoothed {
    /// c, to be added to the prediction.
    pub compensation: PiecewiseCubic,
    /// λ of each channel.
    pub penalties: Vec<f64>,
    /// Estimated standard deviation of the noise of an observation of weight 1, for each
    /// channel; NaN if its observations do not tell (fewer than three own knots).
    pub noise: Vec<f64>,
    problems: Vec<Channel>,
    /// σ²/λ of each channel.
    intensities: Vec<f64>,
}

impl Smoothed {
    pub(super) fn new(
        compensation: PiecewiseCubic,
        problems: Vec<Channel>,
        fits: Vec<Fit>,
    ) -> Self {
        Smoothed {
            compensation,
            noise: fits
                .iter()
                .map(|fit| (fit.penalty * fit.intensity).sqrt())
                .collect(),
            penalties: fits.iter().map(|fit| fit.penalty).collect(),
            intensities: fits.iter().map(|fit| fit.intensity).collect(),
            problems,
        }
    }

    /// The posterior standard deviation of the smoothed curve at sorted `times`,
    /// `[times, channels]`: of the curve, not of a new observation, whose deviation is
    /// $\sqrt{\mathrm{deviation}^2 + \mathrm{noise}^2}$.
    ///
    /// It is that of a random motion whose second derivative is the prediction's plus white
    /// noise: it grows inside gaps and outside the ends, like $t^{3/2}$ in the end. NaN
    /// where the noise is. λ counts as known, so in short series the truth is a little wider.
    ///
    /// Costs O(knots + times) for each channel.
    ///
    /// # Errors
    /// If `times` decrease or are not finite.
    pub fn std_devs(&self, times: &[f64]) -> Result<Vec<f64>, Error> {
        check_query(times)?;
        let channels = self.problems.len();
        let mut std_devs = vec![f64::NAN; times.len() * channels];
        for (j, channel) in self.problems.iter().enumerate() {
            let intensity = self.intensities[j];
            channel.variances(self.penalties[j], times, |at, variance| {
                std_devs[at * channels + j] = (intensity * variance).sqrt();
            });
        }
        Ok(std_devs)
    }
}
