//! Appendix C.3, measured: how much the jumps of the second derivative weigh beside those of the first in the right-hand
//! side of the spline's system,
//!
//! ```text
//! s_k = |2 r̈_k τ_(k-1) + r̈_(k+1) τ_k| / |6 ṙ_k|
//! ```
//!
//! The paper argues that s is small, and that it grows as observations become denser because τ shrinks. τ stands in the
//! numerator: if the jumps stayed alike, s would shrink with it.

use super::finding::{Finding, Measurement};
use super::workshop::Workshop;
use crate::paper_set::{PaperSet, shown};
use cssc::Error;
use cssc::model::{Model, Observed};
use cssc::nn::{Graph, Memory};
use cssc::train::Sample;

/// Test series that are looked at.
const SERIES: usize = 100;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let mut table = Measurement::new(
        "Appendix C.3: how much second derivatives matter",
        "The terms of r̈ against those of ṙ in the spline's system, s = |2 r̈ₖ τₖ₋₁ + r̈ₖ₊₁ τₖ| / |6 ṙₖ|, at all inner \
         knots and channels of 100 test series, from the trained models of table 1. The paper writes that s grows as more \
         is observed because τ shrinks. τ stands in its numerator: were the jumps alike, it would shrink too. What can make it grow is \
         that the jumps of the curvature grow against those of the slope, which s / τ tells.",
        &[
            "mean gap τ",
            "median of s",
            "median of s / mean gap",
            "sum of |r̈ terms| / sum of |ṙ terms|",
        ],
    );
    for (set, name) in [(PaperSet::Toy, "toy"), (PaperSet::Hopper, "hopper")] {
        let loaded = workshop.set(set)?;
        for percent in [10, 30, 50] {
            let model = workshop.model(&format!("table1/{name}-cssc-{percent}"))?;
            let mut terms = Terms::default();
            for sample in loaded.test(percent).iter().take(SERIES) {
                terms.add(&model, sample)?;
            }
            table.add(format!("{set}, {percent} %"), terms.summary());
        }
    }
    Ok(Finding {
        chart: None,
        measurement: Some(table),
        ..Finding::default()
    })
}

/// Both kinds of terms at every inner knot of every channel, and all gaps.
#[derive(Default)]
struct Terms {
    gaps: Vec<f64>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

impl Terms {
    fn add(&mut self, model: &Model, sample: &Sample) -> Result<(), Error> {
        let series = shown(sample)?;
        let observed = Observed::new(series.times(), series.values(), &[]);
        let (mut memory, parameters) = (Memory::new(), model.parameters().cast::<f64>());
        let mut graph = Graph::forward_only(&mut memory, &parameters);
        let traces = model.network().trace(&mut graph, &[observed])?;
        let limits = traces
            .and_then(|traces| traces.into_iter().next()?.limits)
            .ok_or_else(|| Error::Setting("the model compensates nothing".into()))?;
        let channels = series.channels();
        let jump = |right: &[f64], left: &[f64], knot: usize, channel: usize| {
            right[knot * channels + channel] - left[knot * channels + channel]
        };
        let (left, right) = (&limits.left, &limits.right);
        let gaps: Vec<f64> = series
            .times()
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        // The last knot has nothing right of it, so its jump is not one of the curve's.
        for knot in 1..series.len() - 2 {
            for channel in 0..channels {
                let slope = jump(&right.slope, &left.slope, knot, channel);
                let curvature = |at| jump(&right.curvature, &left.curvature, at, channel);
                let both =
                    2.0 * curvature(knot) * gaps[knot - 1] + curvature(knot + 1) * gaps[knot];
                self.slopes.push((6.0 * slope).abs());
                self.curvatures.push(both.abs());
            }
        }
        self.gaps.extend(gaps);
        Ok(())
    }

    fn summary(&self) -> Vec<f64> {
        let ratios = self.curvatures.iter().zip(&self.slopes);
        let mut ratios: Vec<f64> = ratios.map(|(curvature, slope)| curvature / slope).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let gap = sum(&self.gaps) / self.gaps.len() as f64;
        let median = ratios[ratios.len() / 2];
        vec![
            gap,
            median,
            median / gap,
            sum(&self.curvatures) / sum(&self.slopes),
        ]
    }
}
