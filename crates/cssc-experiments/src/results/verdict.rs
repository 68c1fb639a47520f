//! What of the paper holds here: its claims, counted over the cells that are there.

use super::tables::{METHODS, OBSERVED, SPLINES};
use super::{Results, Section, published};
use crate::paper_set::PaperSet;

/// One cell of table 1: a data set and a share.
struct Cell<'a> {
    results: &'a Results,
    dataset: PaperSet,
    observed: usize,
}

impl Cell<'_> {
    fn ours(&self, method: &str) -> Option<f64> {
        let own = (self.dataset, "");
        self.results.mse(own, method, self.observed)
    }

    fn paper(&self, method: &str) -> Option<f64> {
        published::table_1(self.dataset, method, self.observed)
    }

    /// The smallest of our errors among these methods.
    fn best(&self, methods: &[&str]) -> Option<f64> {
        let errors = methods.iter().filter_map(|method| self.ours(method));
        errors.reduce(f64::min)
    }

    /// Whether a method is at or below `part` of the paper's error of `row`.
    fn reaches(&self, method: &str, row: &str, part: f64) -> Option<bool> {
        Some(self.ours(method)? <= part * self.paper(row)?)
    }

    /// Whether CSSC is the best of the paper's systems; only known when all of them are there.
    fn cssc_wins(&self) -> Option<bool> {
        let theirs = &METHODS[..METHODS.len() - 1];
        let all = theirs.iter().all(|method| self.ours(method).is_some());
        let best = self.best(theirs).filter(|_| all)?;
        Some(self.ours("cssc")? <= best)
    }

    /// Whether CSSC gains as much over the better spline as in the paper.
    fn gains(&self) -> Option<bool> {
        let gain = self.ours("cssc")? / self.best(SPLINES)?;
        Some(gain <= self.paper("cssc")? / self.paper("natural")?)
    }
}

type Claim = (&'static str, Box<dyn Fn(&Cell<'_>) -> Option<bool>>);

fn claims() -> Vec<Claim> {
    let mut claims: Vec<Claim> = vec![
        (
            "CSSC is the best of the paper's eight systems",
            Box::new(|cell| cell.cssc_wins()),
        ),
        (
            "CSSC is at or below the paper's error",
            Box::new(|cell| cell.reaches("cssc", "cssc", 1.0)),
        ),
        (
            "CSSC gains as much over the better spline as in the paper",
            Box::new(|cell| cell.gains()),
        ),
        (
            "hidden CSSC is at or below the paper's error",
            Box::new(|cell| cell.reaches("hidden-cssc", "hidden-cssc", 1.0)),
        ),
        (
            "hidden CSSC is better than ODE-RNN (in the paper not on toy curves at 10 and 30 %)",
            Box::new(|cell| smaller(["hidden-cssc", "ode-rnn"].map(|method| cell.ours(method)))),
        ),
    ];
    let baselines = [
        ("RNN-Δt is at or below the paper's error", "rnn-dt"),
        ("GRU-D is at or below the paper's error", "gru-d"),
        ("Latent-ODE is at or below the paper's error", "latent-ode"),
        (
            "GRU-ODE-Bayes is at or below the paper's error",
            "gru-ode-bayes",
        ),
        ("ODE-RNN is at or below the paper's error", "ode-rnn"),
    ];
    for (claim, method) in baselines {
        claims.push((
            claim,
            Box::new(move |cell| cell.reaches(method, method, 1.0)),
        ));
    }
    claims.push((
        "latent CSSC is at or below half of the paper's CSSC",
        Box::new(|cell| cell.reaches("latent-cssc", "cssc", 0.5)),
    ));
    claims.push((
        "videos: the best of hidden CSSC, one- and two-sided, and latent CSSC is at or below 0.8 of the paper's hidden CSSC",
        Box::new(|cell| {
            let video = cell.dataset == PaperSet::MovingMnist;
            let two_sided = (cell.dataset, "two-sided");
            let two_sided = cell.results.mse(two_sided, "hidden-cssc", cell.observed);
            let best = cell.best(&["hidden-cssc", "latent-cssc"]);
            let best = best.into_iter().chain(two_sided).reduce(f64::min);
            video.then(|| Some(best? <= 0.8 * cell.paper("hidden-cssc")?))?
        }),
    ));
    claims
}

/// What the paper reads from tables 2, 3 and 4: in which table, the claim, and the two variants of which the first should
/// have the smaller error.
const COMPARISONS: &[(&str, &str, [&str; 2])] = &[
    (
        "2",
        "training end to end is better than compensating afterwards",
        ["end-to-end", "post-hoc"],
    ),
    (
        "2",
        "compensating an ODE-RNN afterwards is better than not at all (in the paper not at 10 %)",
        ["post-hoc", "ode-rnn"],
    ),
    (
        "2",
        "without its compensation a CSSC is worse than an ODE-RNN",
        ["ode-rnn", "pre-hoc"],
    ),
    (
        "3",
        "training through slopes is better than blocking them",
        ["analytical", "block-slope"],
    ),
    (
        "3",
        "training through curvatures is better than blocking them (in the paper at 10 % only)",
        ["analytical", "block-curvature"],
    ),
    (
        "3",
        "curvatures are better than none (in the paper at 10 % only)",
        ["analytical", "drop-curvature"],
    ),
    (
        "3",
        "derivatives from formulas are better than differences (in the paper at 10 % only)",
        ["analytical", "numerical"],
    ),
    (
        "4",
        "a compensation that costs (α = 1000) is better than one that is free (α = 0)",
        ["alpha-1000", "alpha-0"],
    ),
];

/// The systems that were all trained on few videos, by their error in the paper.
const ON_FEW_VIDEOS: [&str; 6] = [
    "hidden-cssc",
    "ode-rnn",
    "gru-ode-bayes",
    "latent-ode",
    "gru-d",
    "rnn-dt",
];

/// Whether the first of two errors is the smaller one.
fn smaller([first, second]: [Option<f64>; 2]) -> Option<bool> {
    Some(first? < second?)
}

/// In how many cells a claim holds, and in which it does not.
#[derive(Default)]
struct Count {
    yes: usize,
    all: usize,
    not: Vec<String>,
}

impl Count {
    /// Counts a cell, if it tells.
    fn add(&mut self, holds: Option<bool>, cell: impl FnOnce() -> String) {
        let Some(holds) = holds else { return };
        self.all += 1;
        match holds {
            true => self.yes += 1,
            false => self.not.push(cell()),
        }
    }

    /// The row of a claim that some cell tells of.
    fn row(self, claim: String) -> Option<Vec<String>> {
        let (yes, all) = (self.yes.to_string(), self.all.to_string());
        (self.all > 0).then(|| vec![claim, yes, all, self.not.join(", ")])
    }
}

impl Results {
    /// Every claim, in how many of the cells that tell it holds.
    pub(super) fn verdict(&self) -> Option<Section> {
        let mut rows = vec![
            ["", "holds in", "of cells", "not in"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (claim, holds) in claims() {
            let mut count = Count::default();
            for dataset in PaperSet::ALL {
                for &observed in dataset.observed() {
                    let cell = Cell {
                        results: self,
                        dataset,
                        observed,
                    };
                    count.add(holds(&cell), || format!("{dataset} {observed} %"));
                }
            }
            rows.extend(count.row(format!("table 1: {claim}")));
        }
        rows.extend(self.order_on_videos().row(
            "table 1, 2,000 videos: of two systems the one that is better in the paper is better"
                .to_owned(),
        ));
        for &(table, claim, pair) in COMPARISONS {
            let (mut count, mut late) = (Count::default(), Count::default());
            for observed in OBSERVED {
                let cell = || format!("{observed} %");
                let plain = pair.map(|variant| self.variant_mse(table, variant, observed));
                count.add(smaller(plain), cell);
                // What was not trained with a late fit, such as an ODE-RNN, stays what it is.
                let own = pair
                    .map(|variant| self.variant_mse(table, &format!("{variant}-late"), observed));
                if own != [None, None] {
                    late.add(smaller([own[0].or(plain[0]), own[1].or(plain[1])]), cell);
                }
            }
            rows.extend(count.row(format!("table {table}: {claim}")));
            rows.extend(late.row(format!("table {table}, with a late fit: the same")));
        }
        (rows.len() > 1).then(|| Section {
            title: "What of the paper holds".to_owned(),
            text: "Counted over the cells that have been trained.".to_owned(),
            rows,
            ..Section::default()
        })
    }

    /// Of how many pairs of systems the paper's order is ours.
    fn order_on_videos(&self) -> Count {
        let mut count = Count::default();
        let set = PaperSet::MovingMnist;
        for &observed in set.observed() {
            let ours = |method| self.mse((set, "2000-videos"), method, observed);
            for (place, better) in ON_FEW_VIDEOS.into_iter().enumerate() {
                for worse in &ON_FEW_VIDEOS[place + 1..] {
                    count.add(smaller([ours(better), ours(worse)]), || {
                        format!("{better} and {worse} {observed} %")
                    });
                }
            }
        }
        count
    }
}
