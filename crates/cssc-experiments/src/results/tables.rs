//! Tables of results beside the paper's numbers.

use super::{Results, Section, published};
use crate::paper_set::PaperSet;
use crate::reproduce::CellResult;
use std::collections::{BTreeMap, BTreeSet};

/// The systems of table 1: the paper's eight (the spline twice), then ours.
pub(super) const METHODS: [&str; 10] = [
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
pub(super) const SPLINES: &[&str] = &["natural", "not-a-knot"];
pub(super) const OBSERVED: [usize; 3] = [10, 30, 50];

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

impl Results {
    /// Tables 2, 3 and 4: variants below each other, those of the paper first.
    pub(super) fn ablation(&self, table: &str) -> Option<Section> {
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
                let seeds = self.variant(table, variant, observed);
                line.push(seeds.map_or_else(dash, |seeds| error(seeds.mse(), seeds.spread())));
                let published = published::ablation(table, variant, observed);
                line.push(published.map_or_else(dash, |mse| error(mse, None)));
            }
            rows.push(line);
        }
        Some(Section {
            title: format!("Table {table}: {dataset}"),
            text: about(table).to_owned(),
            rows,
            ..Section::default()
        })
    }

    /// The seeds of a cell of tables 2, 3 and 4, if there are any.
    fn variant(&self, table: &str, variant: &str, observed: usize) -> Option<Seeds<'_>> {
        let of_cell = |result: &&CellResult| {
            result.table == table && result.variant == variant && result.observed == observed
        };
        let seeds: Vec<_> = self.results.iter().filter(of_cell).collect();
        (!seeds.is_empty()).then_some(Seeds(seeds))
    }

    /// Our error in a cell of tables 2, 3 and 4, a mean over its seeds.
    pub(super) fn variant_mse(&self, table: &str, variant: &str, observed: usize) -> Option<f64> {
        Some(self.variant(table, variant, observed)?.mse())
    }

    /// An overview of one set, then each share by itself; the paper's own form first, then others.
    pub(super) fn table_1_sections(&self, dataset: PaperSet) -> Vec<Section> {
        let of_set = |result: &&CellResult| result.table == "1" && result.dataset == dataset;
        let own = self.results.iter().filter(of_set);
        let variants: BTreeSet<&str> = own.map(|result| result.variant.as_str()).collect();
        let mut sections = Vec::new();
        for variant in variants {
            let cells = self.table_1(dataset, variant);
            let name = match variant {
                "" => dataset.to_string(),
                variant => format!("{dataset}, {variant}"),
            };
            sections.push(overview(dataset, &name, &cells));
            let shares = dataset.observed().iter();
            sections.extend(shares.map(|&observed| details((dataset, &name), observed, &cells)));
        }
        sections
    }

    /// Our error in a cell of table 1, a mean over its seeds.
    pub(super) fn mse(
        &self,
        (dataset, variant): (PaperSet, &str),
        method: &str,
        observed: usize,
    ) -> Option<f64> {
        let row = METHODS.iter().position(|known| *known == method)?;
        Some(self.table_1(dataset, variant).get(&(observed, row))?.mse())
    }

    /// The cells of table 1 by share and method.
    fn table_1(&self, dataset: PaperSet, variant: &str) -> BTreeMap<(usize, usize), Seeds<'_>> {
        let mut cells: BTreeMap<_, Seeds<'_>> = BTreeMap::new();
        let wanted = |result: &&CellResult| {
            result.table == "1" && result.variant == variant && result.dataset == dataset
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
             CSSC (pre-hoc: without its compensation). Variants with `-late` are trained as CSSC in table 1, with a fit that \
             weighs more towards the end."
        }
        "3" => {
            "Which derivatives of the prediction are trained through, kept, or found by differences. The paper's own form \
             leaves out the Hessian of the decoder; variants with `-exact` keep it. \
             Variants with `-late` are trained with a fit that weighs more towards the end, as CSSC in table 1."
        }
        _ => {
            "The weight α of the compensation in the loss. Variants with `-late` are trained with a fit that weighs more \
             towards the end, as CSSC in table 1."
        }
    }
}

type Cells<'a> = BTreeMap<(usize, usize), Seeds<'a>>;

/// The smallest error among some rows.
fn best(cells: &Cells<'_>, observed: usize, rows: std::ops::Range<usize>) -> Option<f64> {
    let errors = rows.filter_map(|row| Some(cells.get(&(observed, row))?.mse()));
    errors.reduce(f64::min)
}

fn overview(dataset: PaperSet, name: &str, cells: &Cells<'_>) -> Section {
    let mut rows = vec![vec!["method".to_owned()]];
    for &observed in dataset.observed() {
        rows[0].push(format!("{observed} %"));
        rows[0].push("paper".to_owned());
    }
    for (row, method) in METHODS.iter().enumerate() {
        let known = |&observed: &usize| {
            cells.contains_key(&(observed, row))
                || published::table_1(dataset, method, observed).is_some()
        };
        if !dataset.observed().iter().any(known) {
            continue;
        }
        let mut line = vec![(*method).to_owned()];
        for &observed in dataset.observed() {
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
        title: format!("Table 1: {name}"),
        text: "Points observed of 100, ours and the paper's.".to_owned(),
        rows,
        ..Section::default()
    }
}

fn details((dataset, name): (PaperSet, &str), observed: usize, cells: &Cells<'_>) -> Section {
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
        title: format!("{name}, {observed} % observed"),
        text: "Spread: half of the distance between the largest and the smallest seed.".to_owned(),
        rows,
        ..Section::default()
    }
}

fn dash() -> String {
    "-".to_owned()
}

/// Three digits, with the spread where there is one.
pub(super) fn error(mse: f64, spread: Option<f64>) -> String {
    let decimals = (2.0 - mse.abs().max(1e-12).log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{mse:.decimals$}");
    match spread {
        Some(spread) => format!("{text} ± {spread:.decimals$}"),
        None => text,
    }
}
