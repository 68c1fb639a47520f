//! What people read on standard error: gaps, comparisons, counts.

use crate::span::{readable, short};
use cssc::data::Dataset;
use cssc::data::table::Counts;
use cssc::fill::{BandCalibration, Choice, Coverage, Gap, Method, gaps as find_gaps, typical_gap};
use cssc::model::Compensation;
pub(crate) use cssc_report::grouped;
use serde_json::{Value, json};
use std::fmt::Write;

/// Columns shown one by one; the others are summed up.
const MOST_COLUMNS: usize = 20;

/// What is missing, as a table.
pub(crate) fn gaps(dataset: &Dataset, dates: bool) -> String {
    let all = find_gaps(dataset);
    let rows: usize = dataset.series().iter().map(|series| series.len()).sum();
    let mut text = format!("{} rows", grouped(rows));
    if dataset.len() != 1 {
        let _ = write!(text, " in {} series", grouped(dataset.len()));
    }
    if let Some(gap) = typical_gap(dataset) {
        let _ = write!(text, ", typically {} apart", readable(gap, dates));
    }
    text.push('\n');
    let mut table = Table::new(&[
        "column",
        "missing cells",
        "gaps",
        "missing rows",
        "longest gap",
    ]);
    for (channel, name) in dataset
        .channel_names()
        .iter()
        .enumerate()
        .take(MOST_COLUMNS)
    {
        let missing: usize = dataset
            .series()
            .iter()
            .map(|series| {
                (0..series.len())
                    .filter(|&row| series.value(row, channel).is_none())
                    .count()
            })
            .sum();
        let own: Vec<&Gap> = all.iter().filter(|gap| gap.channel == channel).collect();
        let absent = own.iter().filter(|gap| gap.cells == 0).count();
        let longest = own.iter().map(|gap| gap.length()).fold(0.0, f64::max);
        table.row(vec![
            name.clone(),
            format!("{} ({})", grouped(missing), percent(missing, rows)),
            grouped(own.len() - absent),
            if absent == 0 {
                "-".to_owned()
            } else {
                format!("{} places", grouped(absent))
            },
            if longest > 0.0 {
                readable(longest, dates)
            } else {
                "-".to_owned()
            },
        ]);
    }
    text += &table.text();
    if dataset.channels() > MOST_COLUMNS {
        let _ = writeln!(
            text,
            "and {} more columns",
            dataset.channels() - MOST_COLUMNS
        );
    }
    let absent = all
        .iter()
        .filter(|gap| gap.cells == 0 && gap.channel == 0)
        .count();
    if let (true, Some(gap)) = (absent > 0, typical_gap(dataset)) {
        let every = readable(gap, dates).replace(' ', "");
        let _ = writeln!(
            text,
            "Rows are missing in {} places; --every {every} adds them.",
            grouped(absent)
        );
    }
    text
}

/// The same for programs.
pub(crate) fn gaps_event(dataset: &Dataset) -> Value {
    let all = find_gaps(dataset);
    let columns = dataset.channel_names().iter().enumerate().map(|(channel, name)| {
        let own = || all.iter().filter(move |gap| gap.channel == channel);
        json!({
            "column": name, "gaps": own().count(), "missing_cells": own().map(|gap| gap.cells).sum::<usize>(),
            "longest_gap": own().map(Gap::length).fold(0.0, f64::max),
        })
    });
    json!({
        "event": "gaps", "series": dataset.len(),
        "rows": dataset.series().iter().map(|series| series.len()).sum::<usize>(),
        "columns": columns.collect::<Vec<_>>(),
    })
}

/// Methods side by side.
pub(crate) fn comparison(choice: &Choice, names: &[String]) -> String {
    let rows = &choice.comparison.methods;
    if rows.is_empty() {
        return String::new();
    }
    let pattern = match choice.pattern {
        cssc::fill::Pattern::Gaps => "in the pattern of the gaps",
        cssc::fill::Pattern::Single => "one by one",
    };
    let mut text = format!(
        "{} known values were hidden {pattern}. Errors in standard deviations of the column:\n",
        grouped(choice.hidden)
    );
    let linear = choice
        .comparison
        .method(Method::Linear)
        .map(|row| row.all.mse);
    let best = rows
        .iter()
        .map(|row| row.all.mse)
        .fold(f64::INFINITY, f64::min);
    let mut table = Table::new(&[
        "method",
        "mean squared",
        "mean absolute",
        "relative to linear",
        "best for",
    ]);
    for row in rows {
        let columns: Vec<&str> = choice
            .comparison
            .chosen
            .iter()
            .zip(names)
            .filter(|(method, _)| **method == row.method)
            .map(|(_, name)| name.as_str())
            .collect();
        let columns = match columns.len() {
            count if count > 4 => format!("{count} columns"),
            _ => columns.join(", "),
        };
        table.row(vec![
            format!(
                "{}{}",
                row.method,
                if row.all.mse == best { " *" } else { "" }
            ),
            short(row.all.mse),
            short(row.all.mae),
            linear.map_or("-".to_owned(), |linear| {
                format!("{:.3}", row.all.mse / linear)
            }),
            columns,
        ]);
    }
    if choice
        .comparison
        .chosen
        .windows(2)
        .any(|pair| pair[0] != pair[1])
    {
        let together = choice.comparison.together;
        table.row(vec![
            "best of each".to_owned(),
            short(together.mse),
            short(together.mae),
            linear.map_or("-".to_owned(), |linear| {
                format!("{:.3}", together.mse / linear)
            }),
            String::new(),
        ]);
    }
    text += &table.text();
    if let Some((bands, found)) = &choice.bands {
        text += &coverage(bands, found, names);
    }
    text
}

/// What bands cover, one line a column.
pub(crate) fn coverage(bands: &BandCalibration, coverage: &[Coverage], names: &[String]) -> String {
    let mut text = String::new();
    let rows = names.iter().zip(coverage).zip(&bands.factors);
    for ((name, coverage), factor) in rows.take(MOST_COLUMNS) {
        if coverage.count == 0 {
            let _ = writeln!(
                text,
                "bands of {name}: nothing was hidden, so they are not calibrated"
            );
            continue;
        }
        let _ = writeln!(
            text,
            "bands of {name}: {:.1} % of hidden values inside ({:.1} % wanted, {:.1} % before calibration; width x {})",
            100.0 * coverage.after,
            100.0 * bands.level,
            100.0 * coverage.before,
            short(*factor)
        );
    }
    text
}

/// The same for programs.
pub(crate) fn comparison_event(choice: &Choice, names: &[String]) -> Value {
    let methods = choice.comparison.methods.iter().map(|row| {
        json!({ "method": row.method.name(), "mse": row.all.mse, "mae": row.all.mae, "hidden": row.all.count })
    });
    let chosen = choice.comparison.chosen.iter().zip(names);
    let chosen: serde_json::Map<String, Value> = chosen
        .map(|(method, name)| (name.clone(), json!(method.name())))
        .collect();
    let coverage = choice.bands.as_ref().map(|(bands, coverage)| {
        let rows = coverage.iter().zip(names).map(|(one, name)| {
            json!({ "column": name, "before": one.before, "after": one.after, "hidden": one.count })
        });
        json!({ "level": bands.level, "columns": rows.collect::<Vec<_>>() })
    });
    json!({
        "event": "comparison", "hidden": choice.hidden, "methods": methods.collect::<Vec<_>>(), "chosen": chosen,
        "bands": coverage,
    })
}

/// What went through.
pub(crate) fn counts(counts: &Counts) -> String {
    let mut text = format!("{} cells filled", grouped(counts.filled as usize));
    if counts.added > 0 {
        let _ = write!(text, ", {} rows added", grouped(counts.added as usize));
    }
    let _ = write!(text, "; {} rows read.", grouped(counts.rows as usize));
    text
}

/// The name of a training.
pub(crate) fn training_name(method: Compensation) -> &'static str {
    match method {
        Compensation::None => "training ode-rnn",
        Compensation::Output => "training cssc",
        Compensation::Hidden => "training hidden-cssc",
    }
}

pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}

/// Text in columns: the first to the left, the others to the right, the last free.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(names: &[&str]) -> Self {
        Self {
            rows: vec![names.iter().map(|&name| name.to_owned()).collect()],
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn text(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (column, cell) in row.iter().enumerate() {
                let fill = " ".repeat(widths[column] - cell.chars().count());
                match column {
                    0 => line += &format!("{cell}{fill}"),
                    _ => line += &format!("   {fill}{cell}"),
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_laid_out() {
        let mut table = Table::new(&["a", "number"]);
        table.row(vec!["long name".into(), "5".into()]);
        assert_eq!(table.text(), "  a           number\n  long name        5\n");
    }
}
