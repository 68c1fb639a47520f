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
    picture: Option<Picture>,
    measurement: Option<Measurement>,
}

/// A picture of a study.
#[derive(Clone, Debug)]
struct Picture {
    /// Its file in `docs`.
    file: String,
    /// It as a part of a page.
    html: String,
}

/// A part of the page: text, a picture, and rows of a table whose first has the names of the columns.
#[derive(Default)]
struct Section {
    title: String,
    text: String,
    picture: Option<Picture>,
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
            let measurement = match numbers.exists() {
                true => Some(Measurement::read(&numbers)?),
                false => None,
            };
            let rows = measurement.iter().flat_map(|table| &table.rows);
            let names: Vec<&str> = std::iter::once("truth")
                .chain(rows.map(|(name, _)| name.as_str()))
                .collect();
            let picture = Picture::read(study.name, &names, &repository.join("docs"))?;
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
        let Some(measurement) = &self.measurement else {
            let title = picture.as_ref().and_then(|picture| title(&picture.html));
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

impl Picture {
    /// The picture of a study, if it has one: an SVG, or a strip of frames and the sheet that a page plays, whose rows
    /// have `names`.
    fn read(study: &str, names: &[&str], docs: &Path) -> Result<Option<Self>, Error> {
        let svg = docs.join(format!("{study}.svg"));
        if svg.exists() {
            return Ok(Some(Self {
                file: format!("{study}.svg"),
                html: std::fs::read_to_string(&svg).map_err(Error::reading(&svg))?,
            }));
        }
        let sheet = docs.join(format!("{study}-film.png"));
        if !sheet.exists() {
            return Ok(None);
        }
        let strip = docs.join(format!("{study}.png"));
        let read = |path: &Path| std::fs::read(path).map_err(Error::reading(path));
        let html = cssc_report::film_html(&read(&sheet)?, &read(&strip)?, names);
        Ok(Some(Self {
            file: format!("{study}.png"),
            html: html.map_err(|problem| Error::content(&sheet, problem))?,
        }))
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
