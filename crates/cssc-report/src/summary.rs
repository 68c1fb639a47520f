//! What people read while a table is filled, and the same for programs: gaps, comparisons, counts.

use crate::number::{grouped, percent, readable, several, short};
use crate::text_table::TextTable;
use cssc::Error;
use cssc::data::Dataset;
use cssc::data::table::Counts;
use cssc::evaluate::{Evaluation, Gaps, Pattern, Score};
use cssc::fill::Fitted;
use cssc::fill::{Asked, Imputer, Method};
use cssc::model::{Model, Truth};
use serde_json::{Value, json};
use std::fmt::Write;

/// Columns shown one by one; the others are summed up.
const MOST_COLUMNS: usize = 20;

/// What is missing, as a table.
#[must_use]
pub fn gaps(dataset: &Dataset, gaps: &Gaps, dates: bool) -> String {
    let rows: usize = dataset.series().iter().map(|series| series.len()).sum();
    let mut text = format!("{} rows", grouped(rows));
    if dataset.len() != 1 {
        let _ = write!(text, " in {} series", grouped(dataset.len()));
    }
    if let Some(gap) = gaps.typical {
        let _ = write!(text, ", typically {} apart", readable(gap, dates));
    }
    text.push('\n');
    let mut table = TextTable::new(&[
        "column",
        "missing cells",
        "gaps",
        "missing rows",
        "longest gap",
    ]);
    let columns = gaps.by_channel(dataset);
    let or_dash = |number: usize, text: String| if number > 0 { text } else { "-".to_owned() };
    for column in columns.iter().take(MOST_COLUMNS) {
        let missing = column.missing_cells;
        table.row(vec![
            column.column.clone(),
            format!("{} ({})", grouped(missing), percent(missing, rows)),
            grouped(column.gaps - column.missing_rows),
            or_dash(
                column.missing_rows,
                several(column.missing_rows as u64, "place"),
            ),
            or_dash(column.gaps, readable(column.longest_gap, dates)),
        ]);
    }
    text += &table.text();
    if columns.len() > MOST_COLUMNS {
        let _ = writeln!(text, "and {} more columns", columns.len() - MOST_COLUMNS);
    }
    let absent = columns.first().map_or(0, |column| column.missing_rows);
    if let (true, Some(gap)) = (absent > 0, gaps.typical) {
        let every = readable(gap, dates).replace(' ', "");
        let _ = writeln!(
            text,
            "Rows are missing in {}; --every {every} adds them.",
            several(absent as u64, "place")
        );
    }
    text
}

/// The same for programs.
#[must_use]
pub fn gaps_event(dataset: &Dataset, gaps: &Gaps) -> Value {
    json!({
        "event": "gaps", "series": dataset.len(),
        "rows": dataset.series().iter().map(|series| series.len()).sum::<usize>(),
        "columns": gaps.by_channel(dataset),
    })
}

/// Methods side by side.
#[must_use]
pub fn comparison(evaluation: &Evaluation, names: &[String]) -> String {
    let pattern = match evaluation.pattern {
        Pattern::Gaps => "in the pattern of the gaps",
        Pattern::Single => "one by one",
    };
    let mut text = format!(
        "{} known values were hidden {pattern}. Errors in standard deviations of the column:\n",
        grouped(evaluation.hidden)
    );
    let errors = evaluation.methods.iter().map(|row| row.all.mse);
    let best = errors.fold(f64::INFINITY, f64::min);
    let mut table = TextTable::new(&[
        "method",
        "mean squared",
        "mean absolute",
        "relative to linear",
        "best for",
    ]);
    let mut row = |name: String, score: Score, columns: String| {
        let relative = evaluation.relative(score.mse);
        table.row(vec![
            name,
            short(score.mse),
            short(score.mae),
            relative.map_or("-".to_owned(), |relative| format!("{relative:.3}")),
            columns,
        ]);
    };
    for (number, method) in evaluation.methods.iter().enumerate() {
        let columns = evaluation.chosen_for(number);
        let columns: Vec<&str> = columns.map(|channel| names[channel].as_str()).collect();
        let columns = match columns.len() {
            count if count > 4 => format!("{count} columns"),
            _ => columns.join(", "),
        };
        let mark = if method.all.mse == best { " *" } else { "" };
        row(format!("{}{mark}", method.name), method.all, columns);
    }
    let together = evaluation
        .best_of_each
        .filter(|_| evaluation.chosen.windows(2).any(|pair| pair[0] != pair[1]));
    if let Some(score) = together {
        row("best of each".to_owned(), score, String::new());
    }
    text += &table.text();
    if together.is_some() {
        text += "best of each: every round of hiding is judged by the methods that the other rounds choose.\n";
    }
    text + &coverage(evaluation)
}

/// What is combined for each of these columns, one line a column.
#[must_use]
pub fn weights(fitted: &Fitted, names: &[String], columns: &[usize]) -> String {
    let mut text = String::new();
    for &channel in columns.iter().take(MOST_COLUMNS) {
        let name = &names[channel];
        let weights = fitted.weights(channel).into_iter();
        // What rounds to nothing is not worth a word.
        let weights = weights.filter(|(_, weight)| *weight >= 0.005);
        let weights = weights.map(|(method, weight)| format!("{method} {:.0} %", 100.0 * weight));
        let weights: Vec<String> = weights.collect();
        if !weights.is_empty() {
            let _ = writeln!(text, "combined for {name}: {}", weights.join(", "));
        }
    }
    text
}

/// What bands of the chosen methods cover, one line a column.
#[must_use]
pub fn coverage(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let Some(level) = evaluation.level else {
        return text;
    };
    for channel in evaluation.chosen_scores().take(MOST_COLUMNS) {
        let name = &channel.column;
        let (Some(coverage), Some(factor)) = (channel.coverage, channel.band_factor) else {
            continue;
        };
        if channel.score.count == 0 {
            let _ = writeln!(
                text,
                "bands of {name}: nothing was hidden, so they are not calibrated"
            );
            continue;
        }
        let _ = writeln!(
            text,
            "bands of {name}: {:.1} % of hidden values inside bands calibrated on other gaps ({:.1} % wanted, {:.1} % before calibration; width x {})",
            100.0 * coverage.after,
            100.0 * level,
            100.0 * coverage.before,
            short(factor)
        );
    }
    if let Some(found) = &evaluation.reliability {
        let levels = found.levels.iter();
        let levels = levels.map(|(level, inside)| {
            format!("{:.1} % in those of {:.0} %", 100.0 * inside, 100.0 * level)
        });
        let levels: Vec<String> = levels.collect();
        let _ = writeln!(
            text,
            "bands of all columns: {}; CRPS {} standard deviations",
            levels.join(", "),
            short(found.crps)
        );
    }
    text
}

/// The comparison for programs.
#[must_use]
pub fn comparison_event(evaluation: &Evaluation, names: &[String]) -> Value {
    let methods = evaluation.methods.iter().map(|row| {
        json!({ "method": row.name, "mse": row.all.mse, "mae": row.all.mae, "hidden": row.all.count })
    });
    let chosen = evaluation.chosen.iter().zip(names);
    let chosen: serde_json::Map<String, Value> = chosen
        .map(|(&method, name)| (name.clone(), json!(evaluation.methods[method].name)))
        .collect();
    let bands = evaluation.level.map(|level| {
        let rows = evaluation.chosen_scores().filter_map(|channel| {
            let coverage = channel.coverage?;
            Some(json!({
                "column": channel.column, "before": coverage.before, "after": coverage.after,
                "hidden": channel.score.count,
            }))
        });
        json!({
            "level": level, "columns": rows.collect::<Vec<_>>(), "reliability": evaluation.reliability,
        })
    });
    json!({
        "event": "comparison", "hidden": evaluation.hidden, "methods": methods.collect::<Vec<_>>(), "chosen": chosen,
        "best_of_each": evaluation.best_of_each, "bands": bands,
    })
}

/// What went through.
#[must_use]
pub fn counts(counts: &Counts) -> String {
    let mut text = format!("{} filled", several(counts.filled, "cell"));
    if counts.added > 0 {
        let _ = write!(text, ", {} added", several(counts.added, "row"));
    }
    let _ = write!(text, "; {} read.", several(counts.rows, "row"));
    text
}

/// All scores of an evaluation: over all, for every column, and by the length of the gap.
#[must_use]
pub fn scores(found: &Evaluation, dates: bool) -> String {
    let mut table = TextTable::new(&[
        "method",
        "part",
        "values",
        "mean squared",
        "mean absolute",
        "in bands",
    ]);
    for method in &found.methods {
        let mut row = |part: &str, score: &Score, coverage: Option<f64>| {
            if score.count > 0 {
                table.row(vec![
                    method.name.clone(),
                    part.to_owned(),
                    grouped(score.count),
                    short(score.mse),
                    short(score.mae),
                    coverage.map_or(String::new(), |part| format!("{:.1} %", 100.0 * part)),
                ]);
            }
        };
        row("all", &method.all, method.coverage);
        for channel in &method.channels {
            let coverage = channel.coverage.map(|coverage| coverage.after);
            row(&channel.column, &channel.score, coverage);
        }
        for length in &method.lengths {
            let part = format!("gaps to {}", readable(length.gap_to, dates));
            row(&part, &length.score, length.coverage);
        }
    }
    format!(
        "{} values hidden. Errors in standard deviations of the column.\n{}",
        grouped(found.hidden),
        table.text()
    )
}

/// The same as CSV.
#[must_use]
pub fn scores_csv(found: &Evaluation) -> String {
    let mut text = String::from("method,part,values,mse,mae\n");
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    for method in &found.methods {
        let name = quoted(&method.name);
        let mut row = |part: String, score: &Score| {
            let Score { mse, mae, count } = score;
            text += &format!("{name},{part},{count},{mse},{mae}\n");
        };
        row("all".to_owned(), &method.all);
        for channel in &method.channels {
            row(quoted(&channel.column), &channel.score);
        }
        for length in &method.lengths {
            row(format!("gaps to {}", length.gap_to), &length.score);
        }
    }
    text
}

/// How gaps were filled by the methods a user asked for, for a report.
#[must_use]
pub fn settings(imputer: &Imputer, methods: &str, dates: bool) -> Vec<(String, String)> {
    let training = match imputer.budget {
        None => format!("{} steps each", imputer.learn.training.steps),
        Some(budget) => format!("{} s in all", budget.as_secs_f64()),
    };
    let longest = imputer.longest_gap;
    let longest = longest.map_or("any".to_owned(), |gap| readable(gap, dates));
    let settings = [
        ("methods", methods.to_owned()),
        ("training", training),
        ("seed", imputer.seed.to_string()),
        ("longest gap filled", longest),
        ("cssc", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    settings
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
}

/// What would be done, for a user who has given no output.
#[must_use]
pub fn intention(imputer: &Imputer, asked: &Asked, dataset: &Dataset, dates: bool) -> String {
    let methods = imputer.candidates();
    let mut names: Vec<&str> = methods.iter().map(|method| method.name).collect();
    let mut text = String::from("Nothing was written. With -o FILE, ");
    if let [one] = names[..] {
        text += &format!("gaps are filled by the method {one}");
    } else {
        let last = names.pop().unwrap_or_default();
        text += &format!(
            "known values are hidden like the gaps, a tenth in each of three rounds, {} and {last} are compared on them, \
             and {} for {} fills the gaps",
            names.join(", "),
            if imputer.methods.is_none() {
                "their best combination"
            } else {
                "the best one"
            },
            match dataset.channels() {
                1 => "the column".to_owned(),
                several => format!("each of the {several} columns"),
            }
        );
    }
    text += match asked {
        Asked::Holes => "; missing cells are filled",
        _ => "; missing cells are filled and rows added",
    };
    text += &training_intention(imputer, &methods);
    if let Some(longest) = imputer.longest_gap {
        text += &format!(", gaps longer than {} stay empty", readable(longest, dates));
    }
    if !imputer.extrapolate && !imputer.predict_edges {
        text += ", nothing before the first and after the last value";
    }
    text + "."
}

/// What would be trained, how long it would take, and how to avoid it.
fn training_intention(imputer: &Imputer, methods: &[&Method]) -> String {
    let trained = methods.iter().filter(|method| method.is_trained());
    let trained: Vec<&str> = trained.map(|method| method.name).collect();
    if trained.is_empty() {
        return ", without any training".to_owned();
    }
    let effort = match imputer.budget {
        None => format!(
            "{} steps each",
            grouped(imputer.learn.training.steps as usize)
        ),
        Some(budget) => format!("at most {} in all", readable(budget.as_secs_f64(), true)),
    };
    let trial = match imputer.methods {
        None if imputer.budget.is_some() => ", if a short trial promises a gain",
        _ => "",
    };
    format!(
        "; models are trained for {}{trial} ({effort}; --budget 0s trains none)",
        trained.join(", ")
    )
}

/// How far the curves of models can be from a truth, for every series and column.
///
/// # Errors
/// If a model has no such bound.
pub fn error_bounds(
    models: &[(String, &Model)],
    dataset: &Dataset,
    truth: Truth,
    dates: bool,
) -> Result<String, Error> {
    let mut table = TextTable::new(&[
        "model",
        "series",
        "column",
        "largest gap",
        "fourth derivative",
        "error at most",
    ]);
    for (model_name, model) in models {
        for (number, series) in dataset.series().iter().enumerate() {
            for (channel, name) in dataset.channel_names().iter().enumerate() {
                let bound = model.error_bound(series, channel, truth)?;
                let id = series
                    .id()
                    .map_or_else(|| number.to_string(), str::to_owned);
                table.row(vec![
                    model_name.clone(),
                    id,
                    name.clone(),
                    readable(bound.largest_gap, dates),
                    short(bound.predicted_fourth_derivative),
                    short(bound.error),
                ]);
            }
        }
    }
    Ok(table.text())
}
