//! Results beside the paper's numbers, with figures and studies, as Markdown and as a page.
//!
//! | file | holds |
//! |---|---|
//! | `published` | the paper's numbers |
//! | `tables` | tables 1 to 4 |
//! | `verdict` | which of the paper's claims hold |
//! | `text` | Markdown and HTML |

mod published;
mod tables;
mod text;
mod verdict;

use crate::paper_set::PaperSet;
use crate::reproduce::CellResult;
use crate::reproduce::cell::files;
use crate::studies::{Kind, Measurement, STUDIES};
use cssc::Error;
use std::path::Path;

/// All results there are.
#[derive(Clone, Debug, Default)]
pub struct Results {
    results: Vec<CellResult>,
    /// What studies found, in their order.
    studies: Vec<Found>,
}

/// What is there of a study.
#[derive(Clone, Debug)]
struct Found {
    name: &'static str,
    kind: Kind,
    /// The picture, as SVG.
    picture: Option<String>,
    measurement: Option<Measurement>,
}

/// A part of the page: text, a picture, and rows of a table whose first has the names of the columns.
#[derive(Default)]
struct Section {
    title: String,
    text: String,
    /// The name of the picture, and its SVG.
    picture: Option<(String, String)>,
    rows: Vec<Vec<String>>,
}

impl Results {
    /// Reads what there is below `experiments` and `docs` of a repository.
    ///
    /// # Errors
    /// If a file cannot be read or is no result.
    pub fn read(repository: &Path) -> Result<Self, Error> {
        let experiments = repository.join("experiments");
        let paths = files(&experiments.join("results"), "json")?;
        let results = paths.iter().map(|path| CellResult::read(path));
        let mut studies = Vec::new();
        for study in STUDIES {
            let numbers = experiments.join(format!("measurements/{}.json", study.name));
            let picture = repository.join(format!("docs/{}.svg", study.name));
            let picture = match picture.exists() {
                true => Some(std::fs::read_to_string(&picture).map_err(Error::reading(&picture))?),
                false => None,
            };
            let measurement = match numbers.exists() {
                true => Some(Measurement::read(&numbers)?),
                false => None,
            };
            if picture.is_some() || measurement.is_some() {
                studies.push(Found {
                    name: study.name,
                    kind: study.kind,
                    picture,
                    measurement,
                });
            }
        }
        Ok(Self {
            results: results.collect::<Result<_, _>>()?,
            studies,
        })
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = self.verdict().into_iter().collect();
        for dataset in PaperSet::ALL {
            sections.extend(self.table_1_sections(dataset));
        }
        sections.extend(self.found(Kind::Figure));
        let ablations = ["2", "3", "4"].iter();
        sections.extend(ablations.filter_map(|table| self.ablation(table)));
        sections.extend(self.found(Kind::Theory));
        sections.extend(self.found(Kind::Limit));
        sections
    }

    /// The studies of a kind.
    fn found(&self, kind: Kind) -> impl Iterator<Item = Section> {
        let studies = self.studies.iter().filter(move |found| found.kind == kind);
        studies.map(Found::section)
    }
}

impl Found {
    fn section(&self) -> Section {
        let picture = self.picture.clone();
        let picture = picture.map(|svg| (self.name.to_owned(), svg));
        let Some(measurement) = &self.measurement else {
            let title = picture.as_ref().and_then(|(_, svg)| title(svg));
            return Section {
                title: title.unwrap_or_else(|| self.name.to_owned()),
                picture,
                ..Section::default()
            };
        };
        let mut rows = vec![vec![String::new()]];
        rows[0].extend(measurement.columns.iter().cloned());
        for (name, numbers) in &measurement.rows {
            let mut row = vec![name.clone()];
            row.extend(numbers.iter().map(|&number| tables::error(number, None)));
            rows.push(row);
        }
        Section {
            title: measurement.title.clone(),
            text: measurement.about.clone(),
            picture,
            rows,
        }
    }
}

/// The title of an SVG.
fn title(svg: &str) -> Option<String> {
    let (_, rest) = svg.split_once("<title>")?;
    let (title, _) = rest.split_once("</title>")?;
    let plain = title.replace("&lt;", "<").replace("&gt;", ">");
    Some(
        plain
            .replace("&#39;", "'")
            .replace("&quot;", "\"")
            .replace("&amp;", "&"),
    )
}
