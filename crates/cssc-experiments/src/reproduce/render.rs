//! Results beside the paper's numbers, as Markdown and as a page.

use super::cell::{CellResult, files};
use super::published;
use crate::paper_set::PaperSet;
use cssc::Error;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The systems of table 1: the paper's eight (the spline twice), then ours.
const METHODS: [&str; 10] = [
    "natural",
    "not-a-knot",
    "rnn-dt",
    "gru-d",
    "latent-ode",
    "gru-ode-bayes",
    "ode-rnn",
    "hidden-cssc",
    "cssc",
    "latent-cssc",
];
/// The first rows: what needs no training.
const SPLINES: &[&str] = &["natural", "not-a-knot"];
const OBSERVED: [usize; 3] = [10, 30, 50];

/// All results there are.
#[derive(Clone, Debug, Default)]
pub struct Results {
    results: Vec<CellResult>,
}

/// The seeds of one cell.
struct Seeds<'a>(Vec<&'a CellResult>);

impl Seeds<'_> {
    fn mean(&self, number: impl Fn(&CellResult) -> f64) -> f64 {
        self.0.iter().map(|result| number(result)).sum::<f64>() / self.0.len() as f64
    }

    fn mse(&self) -> f64 {
        self.mean(|result| result.mse_all)
    }

    /// Half of the distance between the largest and the smallest, where there are several.
    fn spread(&self) -> Option<f64> {
        let errors = || self.0.iter().map(|result| result.mse_all);
        let (least, most) = (errors().reduce(f64::min)?, errors().reduce(f64::max)?);
        (self.0.len() > 1).then_some((most - least) / 2.0)
    }
}

/// Text before and rows of a table; the first row has the names of the columns.
struct Section {
    title: String,
    text: String,
    rows: Vec<Vec<String>>,
}

impl Results {
    /// Reads every result in a directory.
    ///
    /// # Errors
    /// If a file cannot be read or is no result.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let paths = files(directory, "json")?;
        let results = paths.iter().map(|path| CellResult::read(path));
        Ok(Self {
            results: results.collect::<Result<_, _>>()?,
        })
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// The table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Results\n\n{}\n", preface());
        for section in self.sections() {
            let _ = write!(text, "\n## {}\n\n{}\n\n", section.title, section.text);
            for (number, row) in section.rows.iter().enumerate() {
                let _ = writeln!(text, "| {} |", row.join(" | "));
                if number == 0 {
                    let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
                }
            }
        }
        text
    }

    /// The same as a page that needs nothing else.
    #[must_use]
    pub fn html(&self) -> String {
        let mut text = String::from(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cssc: results</title>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n\
             body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }\n\
             div { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n\
             th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }\n\
             th:first-child, td:first-child { text-align: left; }\n</style></head><body>\n<h1>Results</h1>\n",
        );
        let _ = writeln!(text, "<p>{}</p>", inline(&preface()));
        for section in self.sections() {
            let (title, about) = (inline(&section.title), inline(&section.text));
            let _ = writeln!(text, "<h2>{title}</h2>\n<p>{about}</p>\n<div><table>");
            for (number, row) in section.rows.iter().enumerate() {
                let tag = if number == 0 { "th" } else { "td" };
                let cells = row
                    .iter()
                    .map(|cell| format!("<{tag}>{}</{tag}>", inline(cell)));
                let _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
            }
            text += "</table></div>\n";
        }
        text + "</body></html>\n"
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        for dataset in PaperSet::ALL {
            let cells = self.table_1(dataset);
            if !cells.is_empty() {
                sections.push(overview(dataset, &cells));
                sections.extend(OBSERVED.map(|observed| details(dataset, observed, &cells)));
            }
        }
        sections.extend(
            ["2", "3", "4"]
                .iter()
                .filter_map(|table| self.ablation(table)),
        );
        sections
    }

    /// Tables 2, 3 and 4: variants below each other, those of the paper first.
    fn ablation(&self, table: &str) -> Option<Section> {
        let results: Vec<&CellResult> = (self.results.iter())
            .filter(|result| result.table == table)
            .collect();
        let dataset = results.first()?.dataset;
        let mut variants: Vec<&str> = published::variants(table).collect();
        for result in &results {
            if !variants.contains(&result.variant.as_str()) {
                variants.push(&result.variant);
            }
        }
        let mut rows = vec![vec!["variant".to_owned()]];
        for observed in OBSERVED {
            rows[0].push(format!("{observed} %"));
            rows[0].push("paper".to_owned());
        }
        for variant in variants {
            let mut line = vec![variant.to_owned()];
            for observed in OBSERVED {
                let of_cell = |result: &&&CellResult| {
                    result.variant == variant && result.observed == observed
                };
                let seeds = Seeds(results.iter().filter(of_cell).copied().collect());
                line.push(match seeds.0.is_empty() {
                    true => dash(),
                    false => error(seeds.mse(), seeds.spread()),
                });
                let published = published::ablation(table, variant, observed);
                line.push(published.map_or_else(dash, |mse| error(mse, None)));
            }
            rows.push(line);
        }
        Some(Section {
            title: format!("Table {table}: {dataset}"),
            text: about(table).to_owned(),
            rows,
        })
    }

    /// The cells of table 1 by share and method.
    fn table_1(&self, dataset: PaperSet) -> BTreeMap<(usize, usize), Seeds<'_>> {
        let mut cells: BTreeMap<_, Seeds<'_>> = BTreeMap::new();
        let wanted = |result: &&CellResult| {
            result.table == "1" && result.variant.is_empty() && result.dataset == dataset
        };
        for result in self.results.iter().filter(wanted) {
            if let Some(row) = METHODS.iter().position(|method| *method == result.method) {
                let seeds = cells.entry((result.observed, row));
                seeds.or_insert(Seeds(Vec::new())).0.push(result);
            }
        }
        cells
    }
}

fn about(table: &str) -> &'static str {
    match table {
        "2" => {
            "Two trainings, each read with and without the compensation: an ODE-RNN (post-hoc: compensated afterwards) and \
             CSSC (pre-hoc: without its compensation)."
        }
        "3" => {
            "Which derivatives of the prediction are trained through, kept, or found by differences. The paper's own form \
             leaves out the Hessian of the decoder; variants with `-exact` keep it."
        }
        _ => "The weight α of the compensation in the loss.",
    }
}

type Cells<'a> = BTreeMap<(usize, usize), Seeds<'a>>;

fn preface() -> String {
    "Made by `cssc report` from the files in `experiments/results`, which `cssc reproduce table1` writes. Mean squared \
     error over all points of the test series (`mse_all`); settings and steps are chosen on validation series. The \
     paper's data are not public: our sets are like them, not the same, so its numbers are a guide and no target of \
     equality. In bold: the best of the paper's systems, and ours where it is better still."
        .to_owned()
}

/// The smallest error among some rows.
fn best(cells: &Cells<'_>, observed: usize, rows: std::ops::Range<usize>) -> Option<f64> {
    let errors = rows.filter_map(|row| Some(cells.get(&(observed, row))?.mse()));
    errors.reduce(f64::min)
}

fn overview(dataset: PaperSet, cells: &Cells<'_>) -> Section {
    let mut rows = vec![vec!["method".to_owned()]];
    for observed in OBSERVED {
        rows[0].push(format!("{observed} %"));
        rows[0].push("paper".to_owned());
    }
    for (row, method) in METHODS.iter().enumerate() {
        let mut line = vec![(*method).to_owned()];
        for observed in OBSERVED {
            let ours = cells.get(&(observed, row)).map(|seeds| {
                let text = error(seeds.mse(), seeds.spread());
                let best = best(cells, observed, 0..METHODS.len().min(row.max(9)));
                if best.is_some_and(|best| seeds.mse() <= best) {
                    format!("**{text}**")
                } else {
                    text
                }
            });
            line.push(ours.unwrap_or_else(dash));
            let published = published::table_1(dataset, method, observed);
            line.push(published.map_or_else(dash, |mse| error(mse, None)));
        }
        rows.push(line);
    }
    Section {
        title: format!("Table 1: {dataset}"),
        text: "Points observed of 100, ours and the paper's.".to_owned(),
        rows,
    }
}

fn details(dataset: PaperSet, observed: usize, cells: &Cells<'_>) -> Section {
    let names = [
        "method",
        "mse_all",
        "unobserved",
        "of the paper's",
        "of the best spline",
        "seeds",
        "rate",
        "steps",
        "CPU minutes",
        "parameters",
    ];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    let spline = best(cells, observed, 0..SPLINES.len());
    for (row, method) in METHODS.iter().enumerate() {
        let Some(seeds) = cells.get(&(observed, row)) else {
            continue;
        };
        let first = seeds.0[0];
        let mse = seeds.mse();
        let ratio = |to: Option<f64>| to.map_or_else(dash, |to| error(mse / to, None));
        let trained = |text: String| if first.steps > 0 { text } else { dash() };
        let rate = first
            .settings
            .as_ref()
            .map(|settings| settings.training.rate);
        let minutes = seeds.mean(|result| result.cpu_seconds.unwrap_or(result.seconds)) / 60.0;
        rows.push(vec![
            (*method).to_owned(),
            error(mse, seeds.spread()),
            error(seeds.mean(|result| result.mse_unobserved), None),
            ratio(published::table_1(dataset, method, observed)),
            ratio(spline),
            trained(seeds.0.len().to_string()),
            rate.map_or_else(dash, |rate| rate.to_string()),
            trained(first.steps.to_string()),
            trained(format!("{minutes:.1}")),
            trained(first.parameters.to_string()),
        ]);
    }
    Section {
        title: format!("{dataset}, {observed} % observed"),
        text: "Spread: half of the distance between the largest and the smallest seed.".to_owned(),
        rows,
    }
}

fn dash() -> String {
    "-".to_owned()
}

/// Three digits, with the spread where there is one.
fn error(mse: f64, spread: Option<f64>) -> String {
    let decimals = (2.0 - mse.abs().max(1e-12).log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{mse:.decimals$}");
    match spread {
        Some(spread) => format!("{text} ± {spread:.decimals$}"),
        None => text,
    }
}

/// Markdown inside a line, as HTML: bold and code.
fn inline(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let mut out = String::new();
    for (mark, open, close) in [("**", "<b>", "</b>"), ("`", "<code>", "</code>")] {
        let source = if out.is_empty() {
            text.clone()
        } else {
            std::mem::take(&mut out)
        };
        for (number, part) in source.split(mark).enumerate() {
            if number > 0 {
                out += if number % 2 == 1 { open } else { close };
            }
            out += part;
        }
    }
    out
}
