use crate::failure::{Failure, failure_from, unless_pipe_closed};
use crate::filling::{Asking, Limiting};
use crate::picture;
use crate::reading::{TableArguments, load_dataset, must_hold_values};
use crate::settings::SettingArguments;
use crate::span::{Span, readable};
use crate::summary;
use crate::watching::{self, Verbosity, Watch};
use cssc::Error;
use cssc::data::Dataset;
use cssc::data::table::{Counts, Extras, Loaded, TableReader, TableWriter, apply};
use cssc::evaluate::Gaps;
use cssc::fill::{Asked, Event, Fitted, Imputer, METHODS, Method, find_steps};
use cssc_report::{FilledTable, TimeAxis};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Fill the gaps of a table, with the method that finds hidden values best
///
/// Hides a part of the known values in the pattern of the real gaps, compares methods on them (plain ones, and
/// models trained on the rest), and fills with the best one for each column. Missing cells are filled; with --every
/// or --at rows are added. Without -o the gaps are described and what would be done is said.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc fill sensors.csv                                   what is missing?\n  \
                  cssc fill sensors.csv -o filled.csv                     fill missing cells\n  \
                  cssc fill sensors.csv --every 5min --max-gap 6h -o filled.parquet --report filled.html\n  \
                  cat sensors.csv | cssc fill - --method makima -o - | head"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,

    /// The filled table; its ending tells the format, otherwise as DATA; - is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[arg(long, value_name = "METHOD,...", default_value = "auto", help = methods_help())]
    method: String,

    /// Time for training, such as 60s; 0s trains nothing
    #[arg(long, value_name = "LENGTH", default_value = "2min", value_parser = budget)]
    budget: f64,

    /// Steps of each training instead of a time: the same result on every run
    #[arg(long, value_name = "N")]
    steps: Option<u64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Add columns with the lower and upper end of a band that holds this part of the values, such as 0.9
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    bands: Option<f64>,

    /// Add a column `filled` with the names of the columns that were filled in the row
    #[arg(long)]
    mark: bool,

    /// Draw a picture: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write a page to look at data, curves and comparison: .html
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Keep the model that was trained, for cssc interpolate
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,

    #[command(flatten)]
    asking: Asking,

    #[command(flatten)]
    limiting: Limiting,

    #[command(flatten)]
    settings: SettingArguments,

    #[command(flatten)]
    verbosity: Verbosity,
}

fn methods_help() -> String {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    format!("auto, or methods to choose from: {}", names.join(", "))
}

fn budget(text: &str) -> Result<f64, String> {
    if ["0", "0s"].contains(&text) {
        return Ok(0.0);
    }
    text.parse::<Span>().map(Span::seconds)
}

pub(super) fn level(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("give a number between 0 and 1, such as 0.9".to_owned()),
    }
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(path) = &self.plot {
            picture::kind(path)?;
        }
        let mut reader = self.table.open()?;
        let loaded = load_dataset(&mut reader, "methods are compared on", self.verbosity)?;
        let dataset = &loaded.dataset;
        must_hold_values(dataset, &self.table.name())?;
        let dates = reader.shape().times_are_seconds();
        let asked = self.asking.asked(reader.shape())?;
        let imputer = self.imputer(dataset, dates)?;
        let gaps = Gaps::find(dataset);
        self.verbosity.text(&summary::gaps(dataset, &gaps, dates));
        self.verbosity.event(&summary::gaps_event(dataset, &gaps));
        self.warn_of_steps(dataset);
        let outputs = [&self.output, &self.plot, &self.report, &self.save_model];
        if outputs.iter().all(|path| path.is_none()) {
            let intention = self.intention(&imputer, &asked, dataset, dates);
            self.verbosity.text(&intention);
            return Ok(());
        }
        let fitted = self.fit(&imputer, dataset, &gaps)?;
        if let Some(path) = &self.save_model {
            save_model(path, &fitted)?;
        }
        if let Some(path) = &self.output {
            let written = self.write(path, &mut reader, &loaded, &fitted, &asked);
            let counts = unless_pipe_closed(written)?.unwrap_or_default();
            self.verbosity.text(&summary::counts(&counts));
            self.verbosity.event(&json!({
                "event": "done", "series": counts.series, "rows": counts.rows, "filled": counts.filled,
                "added": counts.added,
            }));
        }
        if self.plot.is_some() || self.report.is_some() {
            let table = FilledTable {
                title: &self.table.name(),
                time: TimeAxis::of_table(reader.shape()),
                dataset,
                gaps: &gaps,
                fitted: &fitted,
                asked: &asked,
                settings: self.told_settings(imputer.longest_gap, dates),
            };
            let report = table.report().map_err(|error| failure_from(&error))?;
            picture::write(&report, self.plot.as_deref(), self.report.as_deref())?;
        }
        Ok(())
    }

    fn imputer(&self, dataset: &Dataset, dates: bool) -> Result<Imputer, Failure> {
        let mut learn = self.settings.options()?;
        learn.training.steps = self.steps.unwrap_or(learn.training.steps);
        let budget = Duration::from_secs_f64(self.budget);
        Ok(Imputer {
            methods: self.methods()?,
            learn,
            budget: self.steps.is_none().then_some(budget),
            longest_gap: self.limiting.longest_gap(dates)?,
            extrapolate: self.limiting.extrapolate,
            bounds: self.limiting.bounds(dataset)?,
            bands: self.bands,
            seed: self.seed,
            ..Imputer::default()
        })
    }

    fn methods(&self) -> Result<Option<Vec<&'static Method>>, Failure> {
        if self.method == "auto" {
            return Ok(None);
        }
        let methods = Method::list(self.method.split(',')).map_err(|problem| {
            Failure::new(format!(
                "--method: {problem}, or auto to choose from all of them."
            ))
        })?;
        Ok(Some(methods))
    }

    fn warn_of_steps(&self, dataset: &Dataset) {
        for found in find_steps(dataset) {
            self.verbosity.note(&format!(
                "note: `{}` moves in steps ({:.0} % of its movement happens in a twentieth of its changes). No smooth \
                 curve can follow a jump: do not trust what is filled in near one.",
                dataset.channel_names()[found.channel],
                100.0 * found.movement
            ));
        }
    }

    fn fit(&self, imputer: &Imputer, dataset: &Dataset, gaps: &Gaps) -> Result<Fitted, Failure> {
        watching::listen();
        let mut watch: Option<Watch> = None;
        let fitted = imputer.fit_with(dataset, gaps, |event| {
            let Event::Training { name, progress } = event else {
                return ControlFlow::Continue(());
            };
            if progress.step == 1 {
                watch.take().inspect(Watch::finish);
            }
            let watch = watch.get_or_insert_with(|| Watch::new(self.verbosity, name));
            watch.step(progress)
        });
        watch.inspect(Watch::finish);
        let fitted = fitted.map_err(|error| failure_from(&error))?;
        let names = dataset.channel_names();
        if let Some(evaluation) = fitted.evaluation() {
            self.verbosity.text(&summary::comparison(evaluation, names));
            self.verbosity
                .event(&summary::comparison_event(evaluation, names));
        }
        for note in fitted.notes() {
            self.verbosity.note(&format!("note: {note}."));
        }
        Ok(fitted)
    }

    fn write(
        &self,
        path: &Path,
        reader: &mut TableReader,
        loaded: &Loaded,
        fitted: &Fitted,
        asked: &Asked,
    ) -> Result<Counts, Error> {
        let extras = Extras {
            filled: self.mark,
            bands: self.bands.is_some(),
        };
        let mut writer = TableWriter::create_with(path, reader.shape(), extras)?;
        let mut rows = loaded.rows(reader)?;
        let counts = apply(&mut rows, &mut writer, |series| fitted.fill(series, asked))?;
        writer.finish()?;
        Ok(counts)
    }

    /// What would be done, for a user who has given no output.
    fn intention(
        &self,
        imputer: &Imputer,
        asked: &Asked,
        dataset: &Dataset,
        dates: bool,
    ) -> String {
        let methods = imputer.candidates();
        let mut names: Vec<&str> = methods.iter().map(|method| method.name).collect();
        let mut text = String::from("Nothing was written. With -o FILE, ");
        if let [one] = names[..] {
            text += &format!("gaps are filled by the method {one}");
        } else {
            let last = names.pop().unwrap_or_default();
            text += &format!(
                "known values are hidden like the gaps, a tenth in each of three rounds, {} and {last} are compared on them, \
                 and the best one for each of the {} columns fills the gaps",
                names.join(", "),
                dataset.channels()
            );
        }
        text += match asked {
            Asked::Holes => "; missing cells are filled",
            _ => "; missing cells are filled and rows added",
        };
        if let Some(longest) = imputer.longest_gap {
            text += &format!(", gaps longer than {} stay empty", readable(longest, dates));
        }
        if !self.limiting.extrapolate {
            text += ", nothing before the first and after the last value";
        }
        text + "."
    }

    /// Settings for the report.
    fn told_settings(&self, longest_gap: Option<f64>, dates: bool) -> Vec<(String, String)> {
        let training = match self.steps {
            Some(steps) => format!("{steps} steps each"),
            None => format!("{} s in all", self.budget),
        };
        let longest = longest_gap.map_or("any".to_owned(), |gap| readable(gap, dates));
        let settings = [
            ("methods", self.method.clone()),
            ("training", training),
            ("seed", self.seed.to_string()),
            ("longest gap filled", longest),
            ("cssc", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        settings
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    }
}

fn save_model(path: &Path, fitted: &Fitted) -> Result<(), Failure> {
    match fitted.model() {
        Some(model) => model.save(path).map_err(|error| failure_from(&error)),
        None => Err(Failure::new(
            "no model was trained that could be saved. Give more --budget, or name a method that is trained.",
        )),
    }
}
