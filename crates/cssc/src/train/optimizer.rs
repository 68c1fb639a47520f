//! The optimisers: AdaMax, the paper's; Adam; and Muon, which learns several times faster where a model
//! is made of square matrices.
//!
//! With g the gradient, t the step, θ a number and Θ a matrix:
//!
//! ```text
//!   AdaMax   m ← β₁m + (1-β₁)g   u ← max(β₂u, |g|)        θ ← θ - rate/(1-β₁ᵗ) · m/(u + ε)
//!   Adam     m ← β₁m + (1-β₁)g   u ← β₂u + (1-β₂)g²       θ ← θ - rate · (m/(1-β₁ᵗ))/(√(u/(1-β₂ᵗ)) + ε)
//!   Muon     M ← μM + (1-μ)G     D = orthogonal part of (1-μ)G + μM
//!                                                          Θ ← Θ - rate · 0.2·√(longer side) · D
//! ```
//!
//! (Kingma and Ba 2014, sections 2 and 7.1; Jordan et al. 2024, with the size of a step as in Liu et al.
//! 2025.) Muon is for the weights inside a network; its other parameters go by Adam with the same rate.
//! Decay (Loshchilov and Hutter 2019) shrinks weights by rate·decay a step, beside the gradient.

use crate::nn::{Float, Orthogonalizer, ParameterInfo, ParameterRole};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const EPSILON: f64 = 1e-8;
const BETA_MEAN: f64 = 0.9;
const BETA_LARGEST: f64 = 0.999;
const BETA_SQUARE: f64 = 0.99;
const MOMENTUM: f64 = 0.95;
const STEP_SIZE: f64 = 0.2;

/// Which optimiser.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerKind {
    /// AdaMax, as in the paper.
    #[default]
    #[serde(rename = "adamax")]
    AdaMax,
    /// Adam.
    Adam,
    /// Muon for weights, Adam for the rest.
    Muon,
}

/// The state of an optimiser.
#[derive(Debug)]
pub struct Optimizer<T> {
    kind: OptimizerKind,
    decay: f64,
    /// Steps made.
    pub(crate) steps: u64,
    pub(crate) mean: Vec<T>,
    pub(crate) size: Vec<T>,
    /// The parts of the parameters, and how each is stepped.
    parts: Vec<Part<T>>,
}

#[derive(Debug)]
struct Part<T> {
    range: Range<usize>,
    /// Shape of a weight that Muon steps.
    matrix: Option<[usize; 2]>,
    direction: Vec<T>,
    orthogonalizer: Orthogonalizer<T>,
}

/// The numbers of an optimiser, kept to undo a step.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct OptimizerState<T> {
    pub(crate) steps: u64,
    pub(crate) mean: Vec<T>,
    pub(crate) size: Vec<T>,
}

impl<T: Float> Optimizer<T> {
    /// A new optimiser for the parameters described by `infos`.
    #[must_use]
    pub fn new(kind: OptimizerKind, decay: f64, infos: &[ParameterInfo]) -> Self {
        let count = infos.last().map_or(0, |info| info.range.end);
        let parts = infos.iter().map(|info| Part {
            range: info.range.clone(),
            matrix: (kind == OptimizerKind::Muon && info.role == ParameterRole::Weight)
                .then_some(info.shape),
            direction: Vec::new(),
            orthogonalizer: Orthogonalizer::default(),
        });
        Self {
            kind,
            decay,
            steps: 0,
            mean: vec![T::ZERO; count],
            size: vec![T::ZERO; count],
            parts: parts.collect(),
        }
    }

    /// One step: changes `parameters` by `gradient` times `factor` (for clipping).
    pub fn step(&mut self, parameters: &mut [T], gradient: &[T], factor: f64, rate: f64) {
        self.steps += 1;
        let shrink = T::from_f64(1.0 - rate * self.decay);
        if self.decay > 0.0 {
            parameters.iter_mut().for_each(|x| *x *= shrink);
        }
        match self.kind {
            OptimizerKind::AdaMax => self.adamax(parameters, gradient, factor, rate),
            OptimizerKind::Adam => {
                self.adam(0..gradient.len(), parameters, gradient, factor, rate);
            }
            OptimizerKind::Muon => self.muon(parameters, gradient, factor, rate),
        }
    }

    fn adamax(&mut self, parameters: &mut [T], gradient: &[T], factor: f64, rate: f64) {
        let rate = T::from_f64(rate / self.correction(BETA_MEAN));
        let (keep, add) = (T::from_f64(BETA_MEAN), T::from_f64(1.0 - BETA_MEAN));
        let (shrink, epsilon) = (T::from_f64(BETA_LARGEST), T::from_f64(EPSILON));
        let factor = T::from_f64(factor);
        let state = self.mean.iter_mut().zip(&mut self.size);
        for ((x, &g), (mean, size)) in parameters.iter_mut().zip(gradient).zip(state) {
            let g = g * factor;
            *mean = keep * *mean + add * g;
            *size = (shrink * *size).maximum(g.abs());
            *x -= rate * *mean / (*size + epsilon);
        }
    }

    fn adam(
        &mut self,
        range: Range<usize>,
        parameters: &mut [T],
        gradient: &[T],
        factor: f64,
        rate: f64,
    ) {
        let rate = T::from_f64(rate / self.correction(BETA_MEAN));
        let unbiased = T::from_f64(1.0 / self.correction(BETA_SQUARE));
        let (keep, add) = (T::from_f64(BETA_MEAN), T::from_f64(1.0 - BETA_MEAN));
        let (shrink, more) = (T::from_f64(BETA_SQUARE), T::from_f64(1.0 - BETA_SQUARE));
        let (factor, epsilon) = (T::from_f64(factor), T::from_f64(EPSILON));
        let state = (self.mean[range.clone()].iter_mut()).zip(&mut self.size[range.clone()]);
        let numbers = parameters[range.clone()].iter_mut().zip(&gradient[range]);
        for ((x, &g), (mean, size)) in numbers.zip(state) {
            let g = g * factor;
            *mean = keep * *mean + add * g;
            *size = shrink * *size + more * g * g;
            *x -= rate * *mean / ((*size * unbiased).sqrt() + epsilon);
        }
    }

    fn muon(&mut self, parameters: &mut [T], gradient: &[T], factor: f64, rate: f64) {
        let mut parts = std::mem::take(&mut self.parts);
        let (keep, add) = (T::from_f64(MOMENTUM), T::from_f64(1.0 - MOMENTUM));
        let factor_in = T::from_f64(factor);
        for part in &mut parts {
            if part.matrix.is_none() {
                self.adam(part.range.clone(), parameters, gradient, factor, rate);
                continue;
            }
            part.direction.clear();
            let means = &mut self.mean[part.range.clone()];
            for (mean, &g) in means.iter_mut().zip(&gradient[part.range.clone()]) {
                let g = g * factor_in;
                *mean = keep * *mean + add * g;
                part.direction.push(add * g + keep * *mean);
            }
        }
        // Each matrix by one thread, so that bits do not depend on their number.
        parts.par_iter_mut().for_each(|part| {
            if let Some(shape) = part.matrix {
                part.orthogonalizer.run(&mut part.direction, shape);
            }
        });
        for part in &parts {
            let Some([rows, columns]) = part.matrix else {
                continue;
            };
            let size = T::from_f64(rate * STEP_SIZE * (rows.max(columns) as f64).sqrt());
            let numbers = parameters[part.range.clone()].iter_mut();
            for (x, &direction) in numbers.zip(&part.direction) {
                *x -= size * direction;
            }
        }
        self.parts = parts;
    }

    /// 1 - βᵗ.
    fn correction(&self, beta: f64) -> f64 {
        1.0 - beta.powi(i32::try_from(self.steps).unwrap_or(i32::MAX))
    }

    /// Copies the state, into memory that is kept.
    pub(crate) fn save(&self, state: &mut OptimizerState<T>) {
        state.steps = self.steps;
        state.mean.clone_from(&self.mean);
        state.size.clone_from(&self.size);
    }

    /// Goes back to a state.
    pub(crate) fn restore(&mut self, state: &OptimizerState<T>) {
        self.steps = state.steps;
        self.mean.copy_from_slice(&state.mean);
        self.size.copy_from_slice(&state.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;
    use crate::nn::{Initializer, Parameters};

    fn store(shape: [usize; 2]) -> Parameters<f64> {
        let mut parameters = Parameters::new();
        let mut random = Random::new(1);
        let role = ParameterRole::Weight;
        parameters.add("w", role, shape, Initializer::Normal(1.0), &mut random);
        parameters
    }

    /// By hand: with g = 2 at both steps, m = 0.2 then 0.38, u = 2 then 2; the corrections are
    /// 0.1 and 0.19, so that each step is exactly the rate (but for ε). The same for Adam, whose u
    /// is 4 after its correction.
    #[test]
    fn a_constant_gradient_moves_by_the_rate() {
        for kind in [OptimizerKind::AdaMax, OptimizerKind::Adam] {
            let mut optimizer = Optimizer::<f64>::new(kind, 0.0, store([1, 1]).infos());
            let mut x = [1.0];
            for expected in [0.9, 0.8] {
                optimizer.step(&mut x, &[2.0], 1.0, 0.1);
                assert!((x[0] - expected).abs() < 1e-8, "{kind:?} {}", x[0]);
            }
        }
    }

    #[test]
    fn every_optimiser_finds_the_bottom_of_a_bowl_and_decay_pulls_to_zero() {
        let target: Vec<f64> = (0..12).map(|i| f64::from(i).sin()).collect();
        for kind in [
            OptimizerKind::AdaMax,
            OptimizerKind::Adam,
            OptimizerKind::Muon,
        ] {
            let mut parameters = store([3, 4]);
            let mut optimizer = Optimizer::new(kind, 0.0, parameters.infos());
            for step in 0..2000 {
                let at = parameters.values();
                let gradient: Vec<f64> = at.iter().zip(&target).map(|(x, t)| x - t).collect();
                let rate = 0.05 * (1.0 - f64::from(step) / 2000.0);
                optimizer.step(parameters.values_mut(), &gradient, 1.0, rate);
            }
            for (x, t) in parameters.values().iter().zip(&target) {
                assert!((x - t).abs() < 1e-2, "{kind:?}: {x} {t}");
            }
            let mut shrinking = Optimizer::new(kind, 0.5, parameters.infos());
            let before = parameters.values().to_vec();
            shrinking.step(parameters.values_mut(), &[0.0; 12], 1.0, 0.1);
            for (after, before) in parameters.values().iter().zip(before) {
                assert!((after - 0.95 * before).abs() < 1e-12, "{kind:?}");
            }
        }
    }
}
