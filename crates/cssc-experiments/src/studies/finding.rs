//! What a study gives: a picture, numbers, or both.

use crate::reproduce::Options;
use cssc::Error;
use cssc_report::{Chart, Film};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Numbers as a table, with what they mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The heading.
    pub title: String,
    /// What was done and what came of it.
    pub about: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows: what each is about, and its numbers.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Version of the program.
    pub version: String,
}

impl Measurement {
    /// A table without rows.
    #[must_use]
    pub fn new(title: &str, about: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            about: about.to_owned(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Adds a row.
    pub fn add(&mut self, name: impl ToString, numbers: Vec<f64>) {
        self.rows.push((name.to_string(), numbers));
    }

    /// Reads one.
    ///
    /// # Errors
    /// If the file cannot be read or is none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        serde_json::from_str(&text).map_err(|error| Error::content(path, error))
    }
}

/// Videos: as a strip for documents, and finer in time, to be played by a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filmed {
    /// The strip, `NAME.png`.
    pub strip: Film,
    /// What is played, `NAME-film.png`.
    pub sheet: Film,
}

/// What a study gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// A picture.
    pub chart: Option<Chart>,
    /// Videos.
    pub film: Option<Filmed>,
    /// Numbers.
    pub measurement: Option<Measurement>,
}

impl Finding {
    /// A picture only.
    #[must_use]
    pub fn picture(chart: Chart) -> Self {
        Self {
            chart: Some(chart),
            ..Self::default()
        }
    }

    /// Writes what there is, in a quick run below `target`.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, name: &str, options: &Options) -> Result<Vec<PathBuf>, Error> {
        let mut written = Vec::new();
        let mut write = |directory: &Path, ending: &str, content: &[u8]| {
            std::fs::create_dir_all(directory).map_err(Error::writing(directory))?;
            let path = directory.join(format!("{name}{ending}"));
            cssc::io::write_whole(&path, |file| file.write_all(content))
                .map_err(Error::writing(&path))?;
            written.push(path);
            Ok::<(), Error>(())
        };
        if let Some(chart) = &self.chart {
            let mut svg = Vec::new();
            chart.write_svg(&mut svg).map_err(Error::other)?;
            write(&options.pictures, ".svg", &svg)?;
        }
        if let Some(film) = &self.film {
            let (mut strip, mut sheet) = (Vec::new(), Vec::new());
            film.strip.write_strip(&mut strip).map_err(Error::other)?;
            film.sheet.write_sheet(&mut sheet).map_err(Error::other)?;
            write(&options.pictures, ".png", &strip)?;
            write(&options.pictures, "-film.png", &sheet)?;
        }
        if let Some(measurement) = &self.measurement {
            let text = serde_json::to_string_pretty(measurement).map_err(Error::other)? + "\n";
            write(&options.measurements, ".json", text.as_bytes())?;
        }
        Ok(written)
    }
}
