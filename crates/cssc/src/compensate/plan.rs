//! Everything about a compensation that depends on times and mask only: the knots of each
//! channel, and the factored equations on them.
//!
//! A channel's *own knots* are those where it is observed, and those where it is *pinned* to
//! the prediction: all before its first and after its last observation (so always both ends of
//! the series), and every (`max_fold` + 1)-th inside a hole. At all others the prediction's
//! jump is *folded*:
//!
//! ```text
//!   observed  ·  ·  x  ·  ·  ·  ·  x  x  ·        max_fold = 2
//!   role      P  P  O  F  F  P  F  O  O  P
//! ```
//!
//! Channels with the same own knots share one [`Group`]. Planning again into the same plan
//! reuses its memory.

use super::options::CompensationOptions;
use crate::error::{Error, check_knots, check_length};
use crate::spline::SharedKnots;
use crate::spline::tridiagonal::Tridiagonal;

/// What a knot is for a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The smoothed curve passes through the observation.
    Observed,
    /// The smoothed curve passes through the prediction after its update.
    Pinned,
    /// The smoothed curve is free; the jump of the prediction is taken away.
    Folded,
}

/// Knots, mask and options of one series, made ready: own knots of every channel and the
/// factored equations. See the [module documentation](mod@crate::compensate).
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub(super) times: Vec<f64>,
    pub(super) channels: usize,
    pub(super) options: CompensationOptions,
    pub(super) shared: SharedKnots,
    /// One for each group of channels; those beyond `group_count` only keep their memory.
    groups: Vec<Group>,
    group_count: usize,
}

/// The own knots of the channels of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub(crate) own: Vec<OwnKnot>,
    pub(super) matrix: Tridiagonal,
}

/// A knot at which a channel has a prescribed value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnKnot {
    /// Index among all knots.
    pub(crate) index: usize,
    /// Is the value the prediction's own?
    pub(crate) pinned: bool,
}

impl Plan {
    /// A plan for one series: as [`Plan::prepare`], in new memory.
    ///
    /// # Errors
    /// As [`Plan::prepare`].
    pub fn new(
        times: &[f64],
        channels: usize,
        observed: Option<&[bool]>,
        options: CompensationOptions,
    ) -> Result<Self, Error> {
        let mut plan = Plan::default();
        plan.prepare(times, channels, observed, options)?;
        Ok(plan)
    }

    /// Plans for the knots `times` and the mask `observed`, a time-major block
    /// `[times, channels]`, or `None` if every channel is observed at every knot. No memory is
    /// allocated once the plan has seen a series as long and as varied as this one.
    ///
    /// # Errors
    /// If times do not strictly increase, lengths do not fit, or nothing is observed at all.
    /// The plan is then empty.
    pub fn prepare(
        &mut self,
        times: &[f64],
        channels: usize,
        observed: Option<&[bool]>,
        options: CompensationOptions,
    ) -> Result<(), Error> {
        self.times.clear();
        self.channels = 0;
        self.group_count = 0;
        check(times, channels, observed)?;
        self.times.extend_from_slice(times);
        self.channels = channels;
        self.options = options;
        self.shared.prepare(channels, observed);
        for channels_of_group in self.shared.groups() {
            if self.groups.len() == self.group_count {
                self.groups.push(Group::default());
            }
            let column = Column {
                observed,
                channels,
                channel: channels_of_group[0],
            };
            self.groups[self.group_count].prepare(times, column, options.max_fold);
            self.group_count += 1;
        }
        Ok(())
    }

    /// The knots.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Number of channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The options it was planned with.
    #[must_use]
    pub fn options(&self) -> CompensationOptions {
        self.options
    }

    /// What knot `index` is for `channel`.
    ///
    /// # Panics
    /// If there is no such knot or channel.
    #[must_use]
    pub fn role(&self, index: usize, channel: usize) -> Role {
        assert!(
            index < self.times.len(),
            "knot {index} of {}",
            self.times.len()
        );
        let (_, group) = self
            .groups()
            .find(|(channels, _)| channels.contains(&channel))
            .expect("every channel belongs to a group");
        match group.own.binary_search_by_key(&index, |knot| knot.index) {
            Ok(place) if group.own[place].pinned => Role::Pinned,
            Ok(_) => Role::Observed,
            Err(_) => Role::Folded,
        }
    }

    /// A plan that was never prepared, or not with success, has nothing to offer.
    pub(super) fn check_not_empty(&self) -> Result<(), Error> {
        if self.times.is_empty() {
            Err(Error::NoKnots)
        } else {
            Ok(())
        }
    }

    /// The channels of each group and the group.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&[usize], &Group)> {
        self.shared.groups().zip(&self.groups[..self.group_count])
    }
}

impl Group {
    fn prepare(&mut self, times: &[f64], column: Column<'_>, max_fold: Option<usize>) {
        self.find_own_knots(times.len(), column, max_fold);
        self.factor(times);
    }

    fn find_own_knots(&mut self, knots: usize, column: Column<'_>, max_fold: Option<usize>) {
        let inside = column.span(knots);
        let mut folded = 0;
        self.own.clear();
        for index in 0..knots {
            let observed = column.is_observed(index);
            let fold = !observed && inside.contains(&index) && max_fold != Some(folded);
            folded = if fold { folded + 1 } else { 0 };
            if !fold {
                self.own.push(OwnKnot {
                    index,
                    pinned: !observed,
                });
            }
        }
    }

    /// Factors the moment equations of the own knots. The first and last row stand for the
    /// moments there, which are known.
    fn factor(&mut self, times: &[f64]) {
        let Group { own, matrix } = self;
        let last = own.len() - 1;
        let gap = |i: usize| times[own[i + 1].index] - times[own[i].index];
        matrix.factor(own.len(), |i| {
            if i == 0 || i == last {
                return [0.0, 1.0, 0.0];
            }
            let (before, after) = (gap(i - 1), gap(i));
            [before, 2.0 * (before + after), after]
        });
    }
}

/// One channel's column of the mask.
#[derive(Clone, Copy)]
struct Column<'a> {
    observed: Option<&'a [bool]>,
    channels: usize,
    channel: usize,
}

impl Column<'_> {
    #[inline]
    fn is_observed(&self, index: usize) -> bool {
        self.observed
            .is_none_or(|mask| mask[index * self.channels + self.channel])
    }

    /// From the first to the last observation; empty if there is none.
    fn span(&self, knots: usize) -> std::ops::Range<usize> {
        let first = (0..knots).find(|&k| self.is_observed(k)).unwrap_or(knots);
        let last = (first..knots)
            .rev()
            .find(|&k| self.is_observed(k))
            .unwrap_or(first);
        first..last
    }
}

fn check(times: &[f64], channels: usize, observed: Option<&[bool]>) -> Result<(), Error> {
    check_knots(times)?;
    if channels == 0 {
        return Err(Error::NoChannels);
    }
    let Some(mask) = observed else { return Ok(()) };
    check_length(
        "observed",
        mask.len(),
        times.len() * channels,
        "times x channels",
    )?;
    if mask.contains(&true) {
        return Ok(());
    }
    let (knots, start, end) = (times.len(), times[0], times[times.len() - 1]);
    Err(Error::NoObservation { knots, start, end })
}
