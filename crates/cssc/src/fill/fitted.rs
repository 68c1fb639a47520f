//! What was found out about a table: methods, their weights and bands, ready to fill series.

use super::asked::Asked;
use super::combined::{COMBINED, Combined};
use super::filler::{Answer, Filler};
use super::imputer::Event;
#[cfg(feature = "nn")]
use super::training::Trained;
use crate::Error;
use crate::data::{Dataset, Filled, Series};
use crate::evaluate::{
    Answers, Bounds, Combination, Criterion, Evaluation, HoldOut, Interpolator, Judging, Roles,
};
#[cfg(feature = "nn")]
use crate::model::Model;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The method where nothing can be compared, and where another has nothing to say.
pub(super) const PLAINEST: &str = "linear";
/// The method that is believed as much as the plainest before anything is known: it has been drawn towards
/// straight lines by its own cross-validation.
const FAVOURED: &str = "regression";
/// These and the plainest know the column alone and do not go far: a combination of them stays where that of all brings
/// nothing. Kriging knows how the column varies over time, monotone cubics know smooth curves.
const SIMPLE: [&str; 2] = ["kriging", "pchip"];
/// Methods that go on with the slopes around a gap.
const BENDING: [&str; 4] = ["makima", "natural", "not-a-knot", "smoothing"];

/// A choice of methods, ready to fill series.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub(super) filler: Filler,
    pub(super) combination: Option<Combination>,
    pub(super) evaluation: Option<Evaluation>,
    pub(super) hidden: usize,
    pub(super) notes: Vec<String>,
    #[cfg(feature = "nn")]
    pub(super) trained: Vec<Trained>,
}

/// The best combination of methods of these names, and what it says of what is hidden; none without the plainest.
pub(super) fn combine(
    held: &HoldOut,
    names: &[&str],
    answers: &[Answers],
    bounds: &Bounds,
    criterion: Criterion,
) -> Option<(Combination, Answers)> {
    let place = |name: &&str| names.iter().position(|other| other == name);
    let roles = Roles {
        reference: place(&PLAINEST)?,
        favoured: place(&FAVOURED),
        simple: SIMPLE.iter().filter_map(place).collect(),
        bending: BENDING.iter().filter_map(place).collect(),
    };
    let all: Vec<&Answers> = answers.iter().collect();
    let (combination, mut combined) = Combination::find(held, &all, &roles, criterion);
    for (hidden, value) in held.hidden.iter().zip(&mut combined.values) {
        *value = bounds.apply(hidden.channel, *value);
    }
    Some((combination, combined))
}

impl Fitted {
    /// What the candidates from the one of this number on say of what is hidden.
    pub(super) fn ask(
        &self,
        first: usize,
        held: &HoldOut,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<Answers>, Error> {
        let Filler {
            candidates, bounds, ..
        } = &self.filler;
        let ask = |(number, candidate): (usize, &Arc<dyn Interpolator>)| {
            let event = Event::Comparing {
                name: candidate.name(),
                number,
                candidates: candidates.len(),
            };
            match watch(event) {
                ControlFlow::Break(()) => Err(Error::Stopped),
                ControlFlow::Continue(()) => held.answers(candidate.as_ref(), bounds),
            }
        };
        let some = candidates.iter().enumerate().skip(first);
        some.map(ask).collect()
    }

    /// Scores the answers of all candidates, and finds how to combine them.
    pub(super) fn compare(
        &mut self,
        held: &HoldOut,
        mut answers: Vec<Answers>,
        mut judging: Judging,
        combined: bool,
    ) {
        let Filler {
            candidates, bounds, ..
        } = &self.filler;
        let mut names: Vec<&str> = candidates.iter().map(|one| one.name()).collect();
        if combined
            && let Some((combination, values)) =
                combine(held, &names, &answers, bounds, judging.criterion)
        {
            judging.combined = Some(answers.len());
            names.push(COMBINED);
            answers.push(values);
            self.combination = Some(combination);
        }
        let answers: Vec<(&str, Answers)> = names.into_iter().zip(answers).collect();
        let evaluation = Evaluation::new(held, &answers, &judging);
        self.filler.chosen.clone_from(&evaluation.chosen);
        self.filler.bands = evaluation.bands();
        self.evaluation = Some(evaluation);
    }

    /// Fits what fills to all data: what was hidden is in sight again.
    pub(super) fn learn(&mut self, data: &Dataset) -> Result<(), Error> {
        let candidates = &mut self.filler.candidates;
        let (count, chosen) = (candidates.len(), &self.filler.chosen);
        let channels: Vec<usize> = (0..chosen.len()).collect();
        let weighted = self.combination.as_ref();
        for (number, candidate) in candidates.iter_mut().enumerate() {
            let used = weighted.is_some_and(|weighted| weighted.uses(number, &channels));
            if (used || chosen.contains(&number))
                && let Some(learned) = candidate.fitted_to(data)?
            {
                *candidate = learned;
            }
        }
        let reference = candidates.iter().position(|one| one.name() == PLAINEST);
        if let (Some(combination), Some(reference)) = (&self.combination, reference) {
            let all = candidates[..count].to_vec();
            candidates.push(Arc::new(Combined::new(all, reference, combination.clone())));
        }
        Ok(())
    }

    /// The mean weights of the methods that are combined in a channel, the largest first; empty where one
    /// method fills it.
    #[must_use]
    pub fn weights(&self, channel: usize) -> Vec<(&str, f64)> {
        let Some(combination) = &self.combination else {
            return Vec::new();
        };
        if self.method(channel) != COMBINED {
            return Vec::new();
        }
        let names = self.filler.candidates.iter().map(|one| one.name());
        let weights = names.zip(combination.mean_weights(channel));
        let mut weights: Vec<_> = weights.filter(|(_, weight)| *weight > 0.0).collect();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights
    }

    /// Fills a series.
    ///
    /// # Errors
    /// If the series has other channels than the data.
    pub fn fill(&self, series: &Series, asked: &Asked) -> Result<Filled, Error> {
        self.filler.fill(series, asked)
    }

    /// The same; `watch` hears how many rows are about to be filled, part by part of a long series, and may end it.
    ///
    /// # Errors
    /// As [`Fitted::fill`], and [`Error::Stopped`] if `watch` ends it.
    pub fn fill_with(
        &self,
        series: &Series,
        asked: &Asked,
        watch: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
    ) -> Result<Filled, Error> {
        self.filler.fill_with(series, asked, watch)
    }

    /// Values, bands and curves at increasing times.
    ///
    /// # Errors
    /// If the series has other channels than the data.
    pub fn at(&self, series: &Series, times: &[f64]) -> Result<Answer, Error> {
        self.filler.at(series, times)
    }

    /// What fills: methods, choice, bounds and bands.
    #[must_use]
    pub fn filler(&self) -> &Filler {
        &self.filler
    }

    /// The name of the method that fills a channel.
    #[must_use]
    pub fn method(&self, channel: usize) -> &str {
        self.filler.candidates[self.filler.chosen[channel]].name()
    }

    /// The comparison; `None` if too little could be hidden to compare.
    #[must_use]
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.evaluation.as_ref()
    }

    /// Values that were hidden.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// What the user should know, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The models that were trained.
    #[cfg(feature = "nn")]
    #[must_use]
    pub fn trained(&self) -> &[Trained] {
        &self.trained
    }

    /// The model that fills the first channel that one fills, otherwise the first that was trained.
    #[cfg(feature = "nn")]
    #[must_use]
    pub fn model(&self) -> Option<&Model> {
        let made_of = |candidate: &usize| {
            let trained = self.trained.iter();
            let mut found = trained.filter(|trained| trained.candidates.contains(candidate));
            found.next()
        };
        let used = self.filler.chosen.iter().find_map(made_of);
        used.or(self.trained.first()).map(|trained| &trained.model)
    }
}
