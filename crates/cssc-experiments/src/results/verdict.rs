//! What of the paper holds here: its claims, counted over the cells of table 1 that are there.

use super::tables::{METHODS, SPLINES};
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
        self.results.mse(self.dataset, method, self.observed)
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
    claims
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
            let (mut yes, mut all, mut not) = (0, 0, Vec::new());
            for dataset in PaperSet::ALL {
                for &observed in dataset.observed() {
                    let cell = Cell {
                        results: self,
                        dataset,
                        observed,
                    };
                    if let Some(holds) = holds(&cell) {
                        all += 1;
                        yes += i32::from(holds);
                        if !holds {
                            not.push(format!("{dataset} {observed} %"));
                        }
                    }
                }
            }
            if all > 0 {
                rows.push(vec![
                    claim.to_owned(),
                    yes.to_string(),
                    all.to_string(),
                    not.join(", "),
                ]);
            }
        }
        (rows.len() > 1).then(|| Section {
            title: "What of the paper holds".to_owned(),
            text: "Counted over the cells of table 1 that have been trained.".to_owned(),
            rows,
            ..Section::default()
        })
    }
}
