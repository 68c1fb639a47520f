use crate::failure::{Failure, said};
use crate::filling::Request;
use crate::reading::{TableArguments, look, must_hold_values};
use crate::span::Span;
use crate::summary;
use crate::watching::{self, Talk, Watch};
use cssc::data::table::{Extras, Filled, TableWriter, apply};
use cssc::fill::choose;
use cssc::model::ModelError;
use serde_json::json;
use std::path::PathBuf;

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

    /// Add rows so that no two are further apart than this, such as 5min
    #[arg(long, value_name = "LENGTH", conflicts_with = "at")]
    every: Option<Span>,

    /// Give values at these times: a list with commas, or a file with one a line
    #[arg(long, value_name = "TIMES|FILE", allow_hyphen_values = true)]
    at: Option<String>,

    /// With --every or --at: leave out rows at other times
    #[arg(long)]
    only: bool,

    /// auto, or one or more methods to choose from: previous, linear, makima, natural, smoothing, cssc, hidden-cssc,
    /// smooth-cssc
    #[arg(long, value_name = "METHOD,...", default_value = "auto")]
    method: String,

    /// Time for training, such as 60s; 0s trains nothing
    #[arg(long, value_name = "LENGTH", default_value = "2min", value_parser = budget)]
    budget: f64,

    /// Steps of each training instead of a time: the same result on every run
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    steps: Option<u64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Leave longer gaps empty, such as 6h
    #[arg(long, value_name = "LENGTH")]
    max_gap: Option<Span>,

    /// Also fill before the first and after the last value of a column, with the nearest one
    #[arg(long)]
    extrapolate: bool,

    /// Nothing filled in is below this: a number for all columns, or COLUMN=NUMBER
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    min: Vec<String>,

    /// Nothing filled in is above this: a number for all columns, or COLUMN=NUMBER
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    max: Vec<String>,

    /// The same as --min 0
    #[arg(long)]
    nonnegative: bool,

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
    talk: Talk,
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
        let mut reader = self.table.open()?;
        let (dataset, all) = look(&mut reader, self.talk)?;
        must_hold_values(&dataset, &self.table.name())?;
        let dates = reader.shape().times_are_seconds();
        let plan = self.request().plan(&dataset, reader.shape())?;
        let gaps = summary::gaps(&dataset, dates);
        self.talk.text(&gaps);
        for note in &plan.notes {
            self.talk.note(&format!("note: {note}."));
        }
        let wants_nothing = self.output.is_none() && self.plot.is_none() && self.report.is_none();
        if wants_nothing && self.save_model.is_none() {
            self.talk.text(&plan.intention(&dataset));
            return Ok(());
        }
        if !all {
            self.talk
                .note("note: the table is large; methods are compared on its first series.");
        }
        let mut watch: Option<Watch> = None;
        watching::listen();
        let choice = choose(&dataset, &plan.auto, |method, _, progress| {
            if progress.step == 1 {
                watch = Some(Watch::new(self.talk, summary::training_name(method)));
            }
            let watch =
                watch.get_or_insert_with(|| Watch::new(self.talk, summary::training_name(method)));
            let control = watch.step(progress);
            if progress.step == progress.steps {
                watch.finish();
            }
            control
        })
        .map_err(|error| said(&error))?;
        if let Some(watch) = &watch {
            watch.finish();
        }
        self.talk
            .text(&summary::comparison(&choice, dataset.channel_names()));
        self.talk
            .event(&summary::comparison_event(&choice, dataset.channel_names()));
        for note in &choice.notes {
            self.talk.note(&format!("note: {note}."));
        }
        let filler = plan.filler(&choice);
        if let Some(path) = &self.save_model {
            save_model(path, &choice)?;
        }
        if let Some(path) = &self.output {
            let extras = Extras {
                filled: self.mark,
                bands: self.bands.is_some(),
            };
            let mut writer = TableWriter::create_with(path, reader.shape(), extras)
                .map_err(|error| said(&error))?;
            let counts = apply(
                &mut reader,
                &mut writer,
                |series| -> Result<Filled, ModelError> { Ok(filler.fill(series)?.into()) },
            )
            .map_err(|error| said(&error))?;
            writer.finish().map_err(|error| said(&error))?;
            self.talk.text(&summary::counts(&counts));
            self.talk.event(&json!({
                "event": "done", "series": counts.series, "rows": counts.rows, "filled": counts.filled,
                "added": counts.added,
            }));
        }
        if self.plot.is_some() || self.report.is_some() {
            crate::picture::draw(
                &self.table.name(),
                &dataset,
                reader.shape(),
                &choice,
                &filler,
                &plan.settings,
            )?
            .write(self.plot.as_deref(), self.report.as_deref())?;
        }
        Ok(())
    }

    fn request(&self) -> Request<'_> {
        Request {
            every: self.every,
            at: self.at.as_deref(),
            only: self.only,
            method: &self.method,
            budget: self.budget,
            steps: self.steps,
            seed: self.seed,
            max_gap: self.max_gap,
            extrapolate: self.extrapolate,
            min: &self.min,
            max: &self.max,
            nonnegative: self.nonnegative,
            bands: self.bands,
        }
    }
}

fn save_model(path: &std::path::Path, choice: &cssc::fill::Choice) -> Result<(), Failure> {
    let used = choice.interpolators.iter().find_map(|one| match one {
        cssc::fill::Interpolator::Model { model, .. } => Some(model),
        _ => None,
    });
    let model = used.or(choice.trained.first().map(|trained| &trained.model));
    match model {
        Some(model) => model.save(path).map_err(|error| said(&error)),
        None => Err(Failure::new(
            "no model was trained that could be saved. Give more --budget, or name a method that is trained.",
        )),
    }
}
