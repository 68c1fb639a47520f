//! Chooses the values of a round: real gaps laid over other places.
//!
//! ```text
//! real          ●  ●  ○  ○  ○  ●  ●  ○  ●         a gap of 4, a gap of 2
//! laid here     ●  ○  ●  ●  ○  ●  ●  ●  ●         a pair of known values 4 apart: what is known
//!               ▲────────────▲                    between them is hidden
//! ```
//!
//! Where the value at the far end is missing itself, the next one up to a fifth farther serves. What lies between may be
//! thin already: a table with half of its values missing is judged with half of them missing around what is hidden. How many values are hidden in gaps of a length is as it
//! is among the missing cells (a quota per doubling of the length). A length that fits nowhere is
//! halved until it does. A channel whose gaps are long is hidden as far as one of them needs, up to two fifths of it in
//! a round: what is learned and judged in short gaps does not hold in long ones. One gap says little, so one that
//! is more than a twentieth of its channel is laid at its length, at half of it and at a quarter in turn, and what one
//! round has judged may be judged by another in a gap of its own.
//!
//! Other channels: if k is missing at the rows where j is with frequency q, and elsewhere with p, the
//! rows of k that are missing beside the template are hidden with the probability r that makes it q
//! again, p + (1-p) r q = q. It is 0 for channels that miss values independently of each other, and 1
//! for those that always miss them together.

use super::gap::{Gap, Gaps};
use super::hold_out::{Hidden, HoldOutOptions, Pattern};
use super::spread::part_of_others;
use crate::data::{Dataset, Random, Series};

/// Tries in a row without a place after which a length is halved.
const TRIES: usize = 400;
/// Rows drawn until one of them has a value.
const DRAWS: usize = 64;
/// Most gaps that are templates; of more an even selection is taken.
const MOST_TEMPLATES: usize = 50_000;
/// Rows that tell which channels miss values together, and most channels for which it is looked at.
const SAMPLED_ROWS: usize = 1 << 14;
const MOST_CHANNELS: usize = 2000;
/// Channels that miss values together more rarely than this do so by chance.
const LEAST_TOGETHER: f64 = 0.05;
/// The part of a channel that a round hides at most for the sake of its long gaps.
const MOST_OF_CHANNEL: f64 = 0.4;
/// Gaps that are a larger part of their channel are laid at several lengths, so many times halved at most.
const LONG_PART: f64 = 0.05;
const MOST_HALVES: f64 = 2.0;

/// Judged in one of the rounds.
const JUDGED: u8 = 1;
/// Out of sight in this round.
const HIDDEN: u8 = 2;
/// An end of a gap of this round: it stays in sight.
const KEPT: u8 = 4;

/// A value of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) series: usize,
    pub(super) row: usize,
    pub(super) channel: usize,
}

/// What a round hides, in order of series, row and channel.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Values that methods are judged by.
    pub(super) judged: Vec<Cell>,
    /// Values that are out of sight as well.
    pub(super) beside: Vec<Cell>,
}

/// A gap to be imitated, from the row before it to the row after it.
#[derive(Clone, Copy, Debug)]
struct Template {
    series: usize,
    channel: usize,
    start: usize,
    end: usize,
    length: f64,
    /// Cells that it misses.
    cells: f64,
}

/// Templates of similar length.
#[derive(Debug, Default)]
struct Class {
    templates: Vec<Template>,
    /// The part of the missing cells that lies in such gaps.
    share: f64,
    /// Values hidden in this round.
    hidden: usize,
    misses: usize,
    /// By how much they are shortened so that they fit; 0 when they never do.
    scale: f64,
}

/// Hides values of one data set, round by round.
pub(super) struct Hider<'a> {
    dataset: &'a Dataset,
    random: Random,
    /// Channels of which values are judged.
    channels: Vec<usize>,
    usual: f64,
    classes: Vec<Class>,
    /// For every channel the others that miss values together with it, and r.
    together: Vec<Vec<(usize, f64)>>,
    /// Marks of all values of each series.
    marks: Vec<Vec<u8>>,
    /// How many values of each series and channel may still be judged.
    left: Vec<Vec<usize>>,
    /// First row of each series in a common numbering, to draw series by their length.
    starts: Vec<usize>,
    /// Values to be judged in a round.
    pub(super) wanted: usize,
    /// Longer gaps are laid at several lengths.
    long: f64,
    /// Whether a round has about one gap of a channel; then values may be judged in several rounds.
    pub(super) few: bool,
    cells: Cells,
}

impl<'a> Hider<'a> {
    pub(super) fn new(dataset: &'a Dataset, gaps: &Gaps, options: &HoldOutOptions) -> Self {
        let counts = |series: &Series| known_counts(series);
        let known: Vec<Vec<usize>> = dataset.series().iter().map(counts).collect();
        let may = |known: &usize| (*known as f64 * options.largest_part) as usize;
        let mut starts = vec![0];
        for series in dataset.series() {
            starts.push(starts[starts.len() - 1] + series.len());
        }
        let usual = gaps.typical.unwrap_or(0.0);
        let templates = templates(dataset, gaps, usual, options);
        // Of channels without gaps nothing is hidden, so they do not count.
        let gappy = |channel: &usize| templates.iter().any(|one| one.channel == *channel);
        let own = |row: &Vec<usize>| -> usize {
            let own = row.iter().enumerate();
            let own = own.filter(|(channel, _)| templates.is_empty() || gappy(channel));
            own.map(|(_, known)| *known).sum()
        };
        let all: usize = known.iter().map(own).sum();
        let usually = (all as f64 * options.part).round() as usize;
        let wanted = usually
            .max(for_long_gaps(&templates, &known))
            .min(options.most / options.rounds.max(1));
        let gappy = (0..dataset.channels()).filter(gappy).count().max(1);
        Self {
            random: Random::stream(options.seed, 0x686f_6c64),
            channels: match &options.channels {
                Some(channels) => channels.clone(),
                None => (0..dataset.channels()).collect(),
            },
            usual,
            classes: classes(&templates, usual),
            together: together(dataset),
            marks: dataset
                .series()
                .iter()
                .map(|series| vec![0; series.values().len()])
                .collect(),
            left: known
                .iter()
                .map(|row| row.iter().map(may).collect())
                .collect(),
            starts,
            long: LONG_PART * all as f64 / gappy as f64 * usual,
            few: wanted > usually,
            wanted,
            cells: Cells::default(),
            dataset,
        }
    }

    /// Hides the values of another round.
    pub(super) fn round(&mut self, pattern: Pattern) -> Cells {
        for marks in &mut self.marks {
            marks.iter_mut().for_each(|mark| *mark &= JUDGED);
        }
        match pattern {
            Pattern::Gaps => self.lay(),
            Pattern::Single => self.single(),
        }
        self.cells.judged.sort_unstable();
        std::mem::take(&mut self.cells)
    }

    /// A value of the round that was hidden last.
    pub(super) fn described(&self, cell: Cell) -> Hidden {
        let series = &self.dataset.series()[cell.series];
        let times = series.times();
        let in_sight = |row: &usize| self.in_sight(Cell { row: *row, ..cell });
        let before = (0..cell.row).rev().find(in_sight);
        let after = (cell.row + 1..times.len()).find(in_sight);
        let (gap, part) = match (before, after) {
            (Some(before), Some(after)) => {
                let gap = times[after] - times[before];
                (gap, (times[cell.row] - times[before]) / gap)
            }
            _ => (f64::INFINITY, 0.5),
        };
        Hidden {
            series: cell.series,
            row: cell.row,
            channel: cell.channel,
            value: series.row(cell.row)[cell.channel],
            gap,
            part,
            alone: self.alone(cell),
        }
    }

    /// The part of the other channels that are out of sight in the row of a value.
    fn alone(&self, cell: Cell) -> f64 {
        let others = (0..self.dataset.channels()).filter(|&channel| channel != cell.channel);
        let unknown = others.filter(|&channel| !self.in_sight(Cell { channel, ..cell }));
        part_of_others(unknown.count(), self.dataset.channels())
    }

    fn place(&self, cell: Cell) -> usize {
        cell.row * self.dataset.channels() + cell.channel
    }

    fn mark(&self, cell: Cell) -> u8 {
        self.marks[cell.series][self.place(cell)]
    }

    fn set(&mut self, cell: Cell, mark: u8) {
        let place = self.place(cell);
        self.marks[cell.series][place] |= mark;
    }

    fn known(&self, cell: Cell) -> bool {
        let series = &self.dataset.series()[cell.series];
        !series.row(cell.row)[cell.channel].is_nan()
    }

    fn in_sight(&self, cell: Cell) -> bool {
        self.known(cell) && self.mark(cell) & HIDDEN == 0
    }

    /// Whether no round has judged a value.
    fn is_new(&self, cell: Cell) -> bool {
        self.mark(cell) & JUDGED == 0
    }

    /// Whether this round may judge it: where values are few, what another has judged too.
    fn may_be_judged(&self, cell: Cell) -> bool {
        self.few || self.is_new(cell)
    }

    fn judge(&mut self, cell: Cell) {
        if self.is_new(cell) {
            self.left[cell.series][cell.channel] -= 1;
        }
        self.set(cell, JUDGED | HIDDEN);
        self.cells.judged.push(cell);
    }

    fn hide_beside(&mut self, cell: Cell) {
        self.set(cell, HIDDEN);
        self.cells.beside.push(cell);
    }

    fn random_row(&mut self) -> Option<(usize, usize)> {
        let all = self.starts[self.starts.len() - 1];
        if all == 0 {
            return None;
        }
        let place = self.random.below(all);
        let series = self.starts.partition_point(|&start| start <= place) - 1;
        Some((series, place - self.starts[series]))
    }

    /// Single values, with known ones on both sides.
    fn single(&mut self) {
        let mut misses = 0;
        while self.cells.judged.len() < self.wanted && misses < TRIES + self.wanted {
            let Some((series, row)) = self.random_row() else {
                return;
            };
            if self.channels.is_empty() {
                return;
            }
            let channel = self.channels[self.random.below(self.channels.len())];
            let cell = Cell {
                series,
                row,
                channel,
            };
            let inner = row > 0 && row + 1 < self.dataset.series()[series].len();
            let ends = |hider: &Self| {
                [row - 1, row + 1]
                    .into_iter()
                    .all(|row| hider.in_sight(Cell { row, ..cell }))
            };
            let free = inner && self.left[series][channel] > 0 && self.in_sight(cell);
            if free && self.mark(cell) == 0 && ends(self) {
                self.judge(cell);
                misses = 0;
            } else {
                misses += 1;
            }
        }
    }

    /// Lays templates at random places until enough is hidden or no place is found any more.
    fn lay(&mut self) {
        for class in &mut self.classes {
            (class.hidden, class.misses, class.scale) = (0, 0, 1.0);
        }
        while self.cells.judged.len() < self.wanted {
            let hidden = self.cells.judged.len() as f64 + 1.0;
            let lacks = |class: &Class| class.share * hidden - class.hidden as f64;
            let open = (0..self.classes.len()).filter(|&at| self.classes[at].scale > 0.0);
            let by_lack = |a: &usize, b: &usize| {
                lacks(&self.classes[*a]).total_cmp(&lacks(&self.classes[*b]))
            };
            let Some(at) = open.max_by(by_lack) else {
                return;
            };
            let class = &self.classes[at];
            let template = class.templates[self.random.below(class.templates.len())];
            let (mut scale, before) = (class.scale, self.cells.judged.len());
            let doublings = (template.length * scale / self.long).log2().ceil().max(0.0);
            if doublings > 0.0 && doublings.is_finite() {
                let halves = self.random.below(1 + doublings.min(MOST_HALVES) as usize);
                scale *= 0.5f64.powi(halves as i32);
            }
            self.try_lay(&template, scale);
            let laid = self.cells.judged.len() - before;
            let usual = self.usual;
            let class = &mut self.classes[at];
            class.hidden += laid;
            class.misses = if laid > 0 { 0 } else { class.misses + 1 };
            if class.misses > TRIES {
                class.misses = 0;
                let shorter = 0.5 * class.scale;
                let fits = template.length * shorter >= 1.5 * usual && shorter > 0.01;
                class.scale = if fits { shorter } else { 0.0 };
            }
        }
    }

    /// Lays a template between two known values, if there is such a pair at a random place.
    fn try_lay(&mut self, template: &Template, scale: f64) {
        let Some(start) = self.random_value(template.channel) else {
            return;
        };
        let times = self.dataset.series()[start.series].times();
        // A quarter of a step of tolerance: times are seldom exact.
        let length = template.length * scale;
        let tolerance = 0.25 * self.usual.min(length);
        let (from, to) = (
            times[start.row] + length - tolerance,
            times[start.row] + 1.2 * length + tolerance,
        );
        let first = start.row + times[start.row..].partition_point(|&time| time < from);
        let mut near = (first..times.len()).take_while(|&row| times[row] <= to);
        let Some(after) = near.find(|&row| self.in_sight(Cell { row, ..start })) else {
            return;
        };
        if self.hide_between(start, after) {
            self.lay_beside(template, start, after);
        }
    }

    /// A value in sight of a channel, at random; none where nearly nothing is.
    fn random_value(&mut self, channel: usize) -> Option<Cell> {
        (0..DRAWS).find_map(|_| {
            let (series, row) = self.random_row()?;
            let cell = Cell {
                series,
                row,
                channel,
            };
            self.in_sight(cell).then_some(cell)
        })
    }

    /// Hides what is in sight of a channel strictly between two rows, and says so; not if a value there
    /// has to stay, or if none or too few may be judged.
    fn hide_between(&mut self, start: Cell, after: usize) -> bool {
        let inside = |row: usize| Cell { row, ..start };
        let (mut judged, mut new, mut stays) = (0, 0, false);
        for row in start.row + 1..after {
            let cell = inside(row);
            if self.in_sight(cell) {
                judged += usize::from(self.may_be_judged(cell));
                new += usize::from(self.is_new(cell));
                stays |= self.mark(cell) & KEPT != 0;
            }
        }
        if stays || judged == 0 || new > self.left[start.series][start.channel] {
            return false;
        }
        for row in start.row + 1..after {
            let cell = inside(row);
            match self.may_be_judged(cell) {
                _ if !self.in_sight(cell) => {}
                true => self.judge(cell),
                false => self.hide_beside(cell),
            }
        }
        self.set(start, KEPT);
        self.set(inside(after), KEPT);
        true
    }

    /// Hides beside a laid template what is missing beside the real gap.
    fn lay_beside(&mut self, template: &Template, start: Cell, after: usize) {
        let source = &self.dataset.series()[template.series];
        let missing = |row: usize, channel: usize| source.value(row, channel).is_none();
        // Missing rows miss all channels; missing cells those that usually go together.
        let others: Vec<(usize, f64)> = if template.end == template.start + 1 {
            let others = (0..self.dataset.channels()).filter(|&k| k != start.channel);
            others.map(|k| (k, 1.0)).collect()
        } else {
            self.together[start.channel].clone()
        };
        for (channel, part) in others {
            if self.random.unit() >= part {
                continue;
            }
            let ends = [template.start, template.end].map(|row| !missing(row, channel));
            let whole = (template.start + 1..template.end).all(|row| missing(row, channel));
            let other = Cell { channel, ..start };
            let end = Cell {
                row: after,
                ..other
            };
            let judged = self.channels.contains(&channel);
            if judged && ends == [true; 2] && whole && self.in_sight(other) && self.in_sight(end) {
                self.hide_between(other, after);
                continue;
            }
            let rows = (template.end - template.start) as f64 / (after - start.row) as f64;
            for row in start.row + 1..after {
                let like = template.start + ((row - start.row) as f64 * rows).round() as usize;
                let cell = Cell { row, ..other };
                if missing(like.min(template.end), channel)
                    && self.in_sight(cell)
                    && self.mark(cell) & KEPT == 0
                {
                    self.hide_beside(cell);
                }
            }
        }
    }
}

/// Values to be hidden in a round so that every channel has room for a gap as long as its usual ones, but not for more
/// than a part of it.
fn for_long_gaps(templates: &[Template], known: &[Vec<usize>]) -> usize {
    let channels = known.first().map_or(0, Vec::len);
    // Of every channel: cells, and the sum of their gaps' cells.
    let mut sums = vec![(0.0, 0.0); channels];
    for template in templates {
        let (cells, squares) = &mut sums[template.channel];
        *cells += template.cells;
        *squares += template.cells * template.cells;
    }
    let needs = sums.iter().enumerate().map(|(channel, (cells, squares))| {
        let known: usize = known.iter().map(|row| row[channel]).sum();
        (squares / f64::max(*cells, 1.0)).min(MOST_OF_CHANNEL * known as f64)
    });
    needs.sum::<f64>() as usize
}

fn known_counts(series: &Series) -> Vec<usize> {
    let mut counts = vec![0; series.channels()];
    for row in 0..series.len() {
        for (count, value) in counts.iter_mut().zip(series.row(row)) {
            *count += usize::from(!value.is_nan());
        }
    }
    counts
}

/// The gaps that are imitated, with their rows.
fn templates(
    dataset: &Dataset,
    gaps: &Gaps,
    usual: f64,
    options: &HoldOutOptions,
) -> Vec<Template> {
    let wanted = |channel| {
        options
            .channels
            .as_ref()
            .is_none_or(|all: &Vec<usize>| all.contains(channel))
    };
    let imitated = gaps.all.iter().filter(|gap| gap.is_within(options.longest));
    let imitated = imitated.filter(|gap| wanted(&gap.channel));
    let cells = imitated.clone().any(|gap| gap.cells > 0);
    let imitated = imitated.filter(|gap| options.absent_rows || gap.cells > 0 || !cells);
    let every = imitated.clone().count().div_ceil(MOST_TEMPLATES).max(1);
    let template = |gap: &Gap| {
        let times = dataset.series()[gap.series].times();
        let row = |time: f64| times.partition_point(|&t| t < time);
        let absent = (gap.length() / usual.max(f64::MIN_POSITIVE)).round() - 1.0;
        Template {
            series: gap.series,
            channel: gap.channel,
            start: row(gap.start),
            end: row(gap.end),
            length: gap.length(),
            cells: (gap.cells as f64)
                .max(if gap.cells == 0 { absent } else { 1.0 })
                .max(1.0),
        }
    };
    imitated.step_by(every).map(template).collect()
}

/// Templates by doublings of their length, from short to long.
fn classes(templates: &[Template], usual: f64) -> Vec<Class> {
    let all: f64 = templates.iter().map(|template| template.cells).sum();
    let mut classes: Vec<Class> = Vec::new();
    for template in templates {
        let doublings = (template.length / usual.max(f64::MIN_POSITIVE))
            .max(1.0)
            .log2();
        let number = (doublings as usize).min(30);
        if classes.len() <= number {
            classes.resize_with(number + 1, Class::default);
        }
        classes[number].templates.push(*template);
        classes[number].share += template.cells / all;
    }
    classes.retain(|class| !class.templates.is_empty());
    classes
}

/// For every channel, the others that miss values at the same rows, and the probability r.
fn together(dataset: &Dataset) -> Vec<Vec<(usize, f64)>> {
    let channels = dataset.channels();
    if channels > MOST_CHANNELS {
        return vec![Vec::new(); channels];
    }
    let rows = dataset.rows();
    let every = rows.div_ceil(SAMPLED_ROWS).max(1);
    let mut masks: Vec<Vec<u64>> = vec![Vec::new(); channels];
    let sampled = dataset
        .series()
        .iter()
        .flat_map(|series| (0..series.len()).map(move |row| series.row(row)));
    let mut count = 0;
    for row in sampled.step_by(every) {
        for (mask, value) in masks.iter_mut().zip(row) {
            if count % 64 == 0 {
                mask.push(0);
            }
            mask[count / 64] |= u64::from(value.is_nan()) << (count % 64);
        }
        count += 1;
    }
    let size = |mask: &[u64]| mask.iter().map(|word| word.count_ones()).sum::<u32>();
    let sizes: Vec<f64> = masks.iter().map(|mask| f64::from(size(mask))).collect();
    let probability = |j: usize, k: usize| {
        let words = masks[j].iter().zip(&masks[k]);
        let both = f64::from(words.map(|(a, b)| (a & b).count_ones()).sum::<u32>());
        let own = both / sizes[j].max(1.0);
        let elsewhere = (sizes[k] - both) / (count as f64 - sizes[j]).max(1.0);
        (own - elsewhere) / ((1.0 - elsewhere) * own).max(f64::MIN_POSITIVE)
    };
    let others = |j: usize| {
        let others = (0..channels).filter(|&k| k != j && sizes[j] > 0.0 && sizes[k] > 0.0);
        let found = others.map(|k| (k, probability(j, k).min(1.0)));
        found.filter(|(_, part)| *part > LEAST_TOGETHER).collect()
    };
    (0..channels).map(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the cells of one channel are missing at random.
    #[test]
    fn where_half_is_missing_hidden_values_are_as_far_from_known_ones_as_missing_ones() {
        let mut random = Random::new(3);
        let rows = 4000;
        let values = (0..rows).map(|_| if random.unit() < 0.5 { f64::NAN } else { 1.0 });
        let times = (0..rows).map(f64::from).collect();
        let series = Series::new(None, 1, times, values.collect()).unwrap();
        let data = Dataset::new(vec!["x".into()], vec![series]).unwrap();
        let gaps = Gaps::find(&data);
        let cells: usize = gaps.all.iter().map(|gap| gap.cells).sum();
        let real = gaps
            .all
            .iter()
            .map(|gap| gap.length() * gap.cells as f64)
            .sum::<f64>();
        let real = real / cells as f64;
        let mut hider = Hider::new(&data, &gaps, &HoldOutOptions::default());
        let hidden = hider.round(Pattern::Gaps).judged;
        let laid = hidden
            .iter()
            .map(|&cell| hider.described(cell).gap)
            .sum::<f64>();
        let laid = laid / hidden.len() as f64;
        assert!((laid / real - 1.0).abs() < 0.1, "{laid} for {real}");
    }

    /// Channels 0 and 1 always miss values together, channel 2 by itself.
    #[test]
    fn channels_are_hidden_together_as_often_as_they_miss_together() {
        let mut random = Random::new(3);
        let mut values = vec![1.0; 3 * 2000];
        for row in 1..1999 {
            if random.unit() < 0.1 {
                values[3 * row..3 * row + 2].fill(f64::NAN);
            }
            if random.unit() < 0.1 {
                values[3 * row + 2] = f64::NAN;
            }
        }
        let times = (0..2000).map(f64::from).collect();
        let series = Series::new(None, 3, times, values).unwrap();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let data = Dataset::new(names, vec![series]).unwrap();
        let mut hider = Hider::new(&data, &Gaps::find(&data), &HoldOutOptions::default());
        let cells = hider.round(Pattern::Gaps);
        let rows = |channel: usize| {
            let own = cells.judged.iter().chain(&cells.beside);
            let own = own
                .filter(|cell| cell.channel == channel)
                .map(|cell| cell.row);
            own.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(rows(0), rows(1));
        let both = rows(0).intersection(&rows(2)).count();
        assert!(
            rows(0).len() > 50 && rows(2).len() > 50 && both < 20,
            "{both}"
        );
    }
}
