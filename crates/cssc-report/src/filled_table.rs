//! From a table that was filled to what the report shows.

use crate::content::{
    ChannelPicture, Curve, MethodScore, Points, Report, SeriesPicture, TimeAxis, TrainingCurve,
};
use crate::number::grouped;
use cssc::Error;
use cssc::data::{Dataset, Series};
use cssc::evaluate::{Evaluation, Gap, Gaps};
use cssc::fill::{Answer, Asked, Fitted, Trained};
use cssc::train::Summary;

/// Most series that are drawn.
const MOST_SERIES: usize = 50;
/// Most times of a curve; a longer one is drawn at its rows only, or at some of them.
const MOST_TIMES: usize = 400_000;
/// Most gaps that are marked; of more an even selection is taken.
const MOST_GAPS: usize = 20_000;

/// A table, the methods that were chosen for it, and what is told beside them.
#[derive(Clone, Debug)]
pub struct FilledTable<'a> {
    /// For example the name of the table.
    pub title: &'a str,
    /// What the times are.
    pub time: TimeAxis,
    /// The series as they were read.
    pub dataset: &'a Dataset,
    /// Their gaps.
    pub gaps: &'a Gaps,
    /// The comparison and what came of it: fills the gaps.
    pub fitted: &'a Fitted,
    /// Which rows are wanted.
    pub asked: &'a Asked,
    /// Names and values, in the order shown.
    pub settings: Vec<(String, String)>,
}

impl FilledTable<'_> {
    /// All that is shown.
    ///
    /// # Errors
    /// Those of the methods that fill.
    pub fn report(&self) -> Result<Report, Error> {
        let names = self.dataset.channel_names();
        let series = self.dataset.series().iter().enumerate().take(MOST_SERIES);
        let series = series.map(|(number, series)| {
            let own = self.gaps.all.iter().filter(|gap| gap.series == number);
            self.draw_series(series, &own.collect::<Vec<_>>())
        });
        let comparison = self.fitted.evaluation();
        let comparison = comparison.map(|found| scores(found, names));
        Ok(Report {
            title: self.title.to_owned(),
            time: self.time.clone(),
            series: series.collect::<Result<_, _>>()?,
            score_columns: names.to_vec(),
            comparison: comparison.unwrap_or_default(),
            training: self.fitted.trained().iter().map(training).collect(),
            settings: self.settings.clone(),
            notes: self.notes(),
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.fitted.notes().to_vec();
        if self.dataset.len() > MOST_SERIES {
            notes.push(format!(
                "{} series are shown, {} are left out",
                MOST_SERIES,
                grouped(self.dataset.len() - MOST_SERIES)
            ));
        }
        if self.gaps.all.len() > MOST_GAPS {
            notes.push(format!(
                "of {} gaps about {} are marked, spread evenly",
                grouped(self.gaps.all.len()),
                grouped(MOST_GAPS)
            ));
        }
        if self.fitted.hidden() > 0 {
            notes.push(format!(
                "methods were compared on {} known values that were hidden; errors are in standard deviations of the \
                 column, the relative error is the mean squared error divided by that of straight lines",
                grouped(self.fitted.hidden())
            ));
        }
        notes
    }

    /// What is drawn as the curve of a channel: what the method says, inside the bounds, wherever something is filled in
    /// or known. Filling leaves observations as they are and rounds integers; drawn so, a curve that passes near noisy
    /// values would have a spike at every one of them.
    fn smooth(&self, channel: usize, filled: &[f64], method: &[f64]) -> Vec<f64> {
        let bounds = &self.fitted.filler().bounds;
        let draw = |(&filled, &method): (&f64, &f64)| match filled.is_nan() || method.is_nan() {
            true => filled,
            false => bounds.clamp(channel, method),
        };
        filled.iter().zip(method).map(draw).collect()
    }

    fn draw_series(&self, series: &Series, gaps: &[&Gap]) -> Result<SeriesPicture, Error> {
        let (names, channels) = (self.dataset.channel_names(), series.channels());
        let filled = self.fitted.fill(series, self.asked)?;
        let marked = evenly(gaps, MOST_GAPS / self.dataset.len().min(MOST_SERIES));
        let times = dense_times(series, &marked);
        let Answer {
            values,
            bands,
            curve: parts,
        } = self.fitted.at(series, &times)?;
        let column = |block: &[f64], channel: usize| -> Vec<f64> {
            block
                .iter()
                .skip(channel)
                .step_by(channels)
                .copied()
                .collect()
        };
        // A column that is filled without a model has no prediction.
        let told = |block: &Option<Vec<f64>>, channel: usize| {
            let column = block.as_ref().map(|block| column(block, channel));
            column.filter(|values| values.iter().any(|value| !value.is_nan()))
        };
        let draw = |channel: usize| {
            let (known_times, known) = series.observed(channel);
            let mut ours: Vec<(f64, f64)> = (0..series.len())
                .filter(|&row| series.value(row, channel).is_none())
                .map(|row| (series.times()[row], filled.values[row * channels + channel]))
                .collect();
            let new = filled.new_times.iter().enumerate();
            ours.extend(
                new.map(|(row, &time)| (time, filled.new_values[row * channels + channel])),
            );
            ours.retain(|(_, value)| !value.is_nan());
            ours.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (filled_times, filled_values) = ours.into_iter().unzip();
            ChannelPicture {
                name: names[channel].clone(),
                observed: Points {
                    times: known_times,
                    values: known,
                },
                filled: Points {
                    times: filled_times,
                    values: filled_values,
                },
                curve: Some(Curve {
                    times: times.clone(),
                    smoothed: self.smooth(
                        channel,
                        &column(&values, channel),
                        &column(&parts.values, channel),
                    ),
                    predicted: told(&parts.predicted, channel),
                    compensation: told(&parts.compensation, channel),
                    band: bands
                        .as_ref()
                        .map(|[lower, upper]| (column(lower, channel), column(upper, channel))),
                }),
                gaps: marked
                    .iter()
                    .filter(|gap| gap.channel == channel)
                    .map(|gap| (gap.start, gap.end))
                    .collect(),
            }
        };
        Ok(SeriesPicture {
            id: series.id().map(str::to_owned),
            channels: (0..channels).map(draw).collect(),
        })
    }
}

fn scores(evaluation: &Evaluation, names: &[String]) -> Vec<MethodScore> {
    let coverage = evaluation.level.and(evaluation.coverage());
    let rows = evaluation.methods.iter().enumerate().map(|(number, row)| {
        let best_for: Vec<&str> = evaluation
            .chosen_for(number)
            .map(|channel| names[channel].as_str())
            .collect();
        let chosen = !best_for.is_empty();
        MethodScore {
            name: row.name.clone(),
            mse: row.all.mse,
            mae: row.all.mae,
            relative_error: evaluation.relative(row.all.mse).unwrap_or(f64::NAN),
            coverage: coverage.filter(|_| chosen),
            chosen,
            note: chosen.then(|| format!("best for {}", best_for.join(", "))),
            by_column: row
                .channels
                .iter()
                .map(|channel| channel.score.mse)
                .collect(),
        }
    });
    let mut rows: Vec<MethodScore> = rows.collect();
    let differ = evaluation.chosen.windows(2).any(|pair| pair[0] != pair[1]);
    rows.extend(evaluation.best_of_each.filter(|_| differ).map(|score| {
        MethodScore {
            name: "best of each".to_owned(),
            mse: score.mse,
            mae: score.mae,
            relative_error: evaluation.relative(score.mse).unwrap_or(f64::NAN),
            note: Some(
                "every round of hiding is judged by the methods that the other rounds choose"
                    .to_owned(),
            ),
            ..MethodScore::default()
        }
    }));
    rows
}

fn training(trained: &Trained) -> TrainingCurve {
    let every = (trained.losses.len() / 500).max(1);
    let losses = trained.losses.chunks(every).enumerate();
    TrainingCurve {
        method: trained.name.clone(),
        loss: losses
            .map(|(k, part)| {
                (
                    ((k + 1) * every) as u64,
                    part.iter().sum::<f64>() / part.len() as f64,
                )
            })
            .collect(),
        validation: Summary::of(&trained.model)
            .map_or_else(|_| Vec::new(), |summary| summary.validations),
    }
}

/// At most so many of them, spread evenly.
fn evenly<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    let every = all.len().div_ceil(most.max(1)).max(1);
    all.iter().step_by(every).copied().collect()
}

/// The rows, times between them where there are few, and times inside gaps. Of a series with too many rows some, and
/// times inside some gaps.
fn dense_times(series: &Series, gaps: &[&Gap]) -> Vec<f64> {
    let rows = series.times();
    let mut times = evenly(rows, MOST_TIMES);
    let between = 2_000 / times.len().max(1);
    for pair in rows
        .windows(2)
        .take(if between > 0 { rows.len() } else { 0 })
    {
        times.extend((1..=between).map(|k| {
            let part = k as f64 / (between + 1) as f64;
            pair[0] + part * (pair[1] - pair[0])
        }));
    }
    let drawn = match rows.len() > MOST_TIMES {
        true => evenly(gaps, MOST_TIMES / 64),
        false => gaps.to_vec(),
    };
    let mut inside: Vec<f64> = Vec::new();
    for gap in drawn {
        inside.extend([gap.start, gap.end]);
        inside.extend((1..32).map(|k| gap.start + f64::from(k) / 32.0 * gap.length()));
    }
    if rows.len() > MOST_TIMES || times.len() + inside.len() <= MOST_TIMES {
        times.extend(inside);
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_curve_are_bounded_and_some_gaps_are_drawn_closely() {
        let rows = 3 * MOST_TIMES;
        let times: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        let series = Series::new(None, 1, times.clone(), times).expect("a series");
        let gap = |number: usize| Gap {
            series: 0,
            channel: 0,
            start: 10.0 * number as f64,
            end: 10.0 * number as f64 + 5.0,
            cells: 4,
        };
        let gaps: Vec<Gap> = (0..90_000).map(gap).collect();
        let gaps: Vec<&Gap> = gaps.iter().collect();
        let times = dense_times(&series, &gaps);
        assert!(
            (MOST_TIMES..2 * MOST_TIMES).contains(&times.len()),
            "{}",
            times.len()
        );
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(times.windows(2).any(|pair| pair[1] - pair[0] < 0.2));
    }
}
