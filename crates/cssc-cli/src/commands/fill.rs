use crate::failure::{Failure, failure_from, stopped_or, unless_pipe_closed};
use crate::filling::{Asking, Limiting, Periods};
use crate::outputs::{self, Output};
use crate::picture;
use crate::reading::{TableArguments, load_dataset, must_hold_values, times_of};
use crate::settings::SettingArguments;
use crate::signals;
use crate::times::check_rows;
use crate::watching::{Pulse, Verbosity, Watch};
use cssc::Error;
use cssc::data::table::{Counts, Extras, LoadedTable, TableReader, TableWriter};
use cssc::data::{Dataset, Filled, Series, Span};
use cssc::evaluate::{Criterion, Gaps};
use cssc::fill::{Asked, Event, Fitted, Imputer, METHODS, Method, find_steps};
use cssc::io::numbered;
use cssc::model::TimeInfo;
use cssc::predict::PredictOptions;
use cssc_report::{FilledTable, TimeAxis, grouped, summary};
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Fill the gaps of a table, with the methods that find hidden values best
///
/// Hides a part of the known values in the pattern of the real gaps, compares methods on them (plain ones, regressions
/// on season and other columns, models trained on the rest), and fills with their best combination for each column. Missing cells are filled; with --every
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

    /// Replace DATA by the filled table, whole or not at all
    #[arg(long, conflicts_with = "output")]
    in_place: bool,

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

    /// Also write so many draws of what might have been there, as wide as the bands: OUTPUT-1.csv and so on
    #[arg(long, value_name = "N", default_value_t = 0, requires = "output")]
    samples: usize,

    /// Add a column `filled` with the names of the columns that were filled in the row
    #[arg(long, visible_alias = "filled-column")]
    mark: bool,

    /// Columns to be filled; the others only help
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    targets: Vec<String>,

    /// What counts: the mean squared error, or the mean absolute one, which a few large errors rule less
    #[arg(long, value_name = "mse|mae", default_value = "mse")]
    criterion: Counted,

    #[command(flatten)]
    periods: Periods,

    /// Draw a picture: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write a page to look at data, curves and comparison: .html
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Keep the model that was trained, for cssc interpolate
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,

    /// After Ctrl-C in a training: go on with what it has learned so far, instead of writing nothing
    #[arg(long)]
    keep_partial: bool,

    #[command(flatten)]
    asking: Asking,

    #[command(flatten)]
    limiting: Limiting,

    #[command(flatten)]
    settings: SettingArguments,

    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Counted {
    Mse,
    Mae,
}

/// Names of methods; those that compensate others by the others' names: `smooth-cssc` is `smooth-` before `cssc`.
fn methods_help() -> String {
    const PREFIXES: [&str; 2] = ["smooth-", "kriged-"];
    let other = |name: &'static str, prefix: &str| {
        let other = name.strip_prefix(prefix);
        other.filter(|other| Method::named(other).is_ok())
    };
    let names = || METHODS.iter().map(|method| method.name);
    let own = names().filter(|name| PREFIXES.iter().all(|prefix| other(name, prefix).is_none()));
    let own: Vec<&str> = own.collect();
    let [smooth, kriged] = PREFIXES.map(|prefix| {
        let others = names().filter_map(|name| other(name, prefix));
        others.collect::<Vec<_>>().join(", ")
    });
    format!(
        "auto combines what promises most; or methods to choose from: {}; smooth-, compensated near the values \
         instead of through them, before {smooth}; kriged-, with the best linear guess of what they leave, before {kriged}",
        own.join(", ")
    )
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

/// Hears how many rows are about to be filled, and may end it.
type Watching<'a> = &'a (dyn Fn(usize) -> ControlFlow<()> + Sync);

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let outputs = self.outputs()?;
        let mut reader = self.table.open(self.verbosity)?;
        let loaded = load_dataset(&mut reader, "methods are compared on", self.verbosity)?;
        let dataset = &loaded.dataset;
        must_hold_values(dataset, &self.table.name())?;
        let dates = reader.shape().times_are_seconds();
        let asked = self.asking.asked(reader.shape())?;
        check_rows(&asked, dataset)?;
        let imputer = self.imputer(dataset, dates, &asked)?;
        let writer = self.early_writer(&reader)?;
        let gaps = Gaps::find(dataset);
        self.verbosity.text(&summary::gaps(dataset, &gaps, dates));
        self.verbosity.event(&summary::gaps_event(dataset, &gaps));
        self.warn_of_steps(dataset);
        if outputs == 0 {
            let intention = summary::intention(&imputer, &asked, dataset, dates);
            self.verbosity.text(&intention);
            return Ok(());
        }
        let fitted = self.fit(&imputer, dataset, &gaps)?;
        drop(gaps); // of a long table a million: no memory for them while it is filled
        if let Some(path) = &self.save_model {
            save_model(path, &fitted, times_of(&reader, dataset))?;
        }
        if let Some(path) = self.table_output() {
            let written = self.write(path, writer, &mut reader, &loaded, &|series, watch| {
                fitted.fill_with(series, &asked, watch)
            });
            let counts = unless_pipe_closed(written)?.unwrap_or_default();
            self.verbosity.text(&summary::counts(&counts));
            self.verbosity.event(&json!({
                "event": "done", "series": counts.series, "rows": counts.rows, "filled": counts.filled,
                "added": counts.added,
            }));
            for (number, path) in (0..).zip(self.drawn()) {
                let draw = |series: &Series, watch: Watching<'_>| {
                    if watch(series.len()).is_break() {
                        return Err(Error::Stopped);
                    }
                    fitted.filler().draw(series, &asked, number, self.seed)
                };
                let written = self.write(&path, None, &mut reader, &loaded, &draw);
                written.map_err(|error| failure_from(&error))?;
            }
        }
        if self.plot.is_some() || self.report.is_some() {
            let table = FilledTable {
                title: &self.table.name(),
                time: TimeAxis::of_table(reader.shape()),
                dataset,
                gaps: &Gaps::find(dataset),
                fitted: &fitted,
                asked: &asked,
                settings: summary::settings(&imputer, &self.method, dates),
            };
            let report = table.report().map_err(|error| failure_from(&error))?;
            if signals::stopped_by().is_some() && !self.keep_partial {
                let text =
                    "stopped while the page or the picture was drawn; they were not written.";
                return Err(Failure::new(text));
            }
            picture::write(&report, self.plot.as_deref(), self.report.as_deref())?;
        }
        match signals::stopped_by() {
            None => Ok(()),
            Some(_) => Err(Failure::new(
                "stopped before its end; what was written uses what was there until then.",
            )),
        }
    }

    /// Where the filled table goes.
    fn table_output(&self) -> Option<&Path> {
        match self.in_place {
            true => Some(&self.table.data),
            false => self.output.as_deref(),
        }
    }

    /// Where the draws go.
    fn drawn(&self) -> Vec<PathBuf> {
        let numbers = 1..=self.samples;
        let output = self.output.iter();
        output
            .flat_map(|path| numbers.clone().map(|number| numbered(path, number)))
            .collect()
    }

    /// Checks all outputs before any work is done; gives their number.
    fn outputs(&self) -> Result<usize, Failure> {
        if self.samples > 0 && self.table_output() == Some(Path::new("-")) {
            return Err(Failure::new(
                "--samples writes several files. Give -o a file name.",
            ));
        }
        if self.in_place && self.table.data == Path::new("-") {
            return Err(Failure::new(
                "--in-place needs a file that can be replaced, and standard input is none. Give -o.",
            ));
        }
        if let Some(path) = &self.plot {
            picture::kind(path)?;
        }
        if let Some(path) = &self.report {
            picture::check_page(path)?;
        }
        let drawn = self.drawn();
        let mut given = vec![
            ("-o", self.table_output()),
            ("--plot", self.plot.as_deref()),
            ("--report", self.report.as_deref()),
            ("--save-model", self.save_model.as_deref()),
        ];
        given.extend(drawn.iter().map(|path| ("--samples", Some(path.as_path()))));
        let outputs = Output::given(&given);
        if let Some(path) = self.table_output() {
            outputs::check_table_ending("-o", path)?;
        }
        let mut inputs = vec![self.table.data.as_path()];
        inputs.extend(self.settings.file());
        let in_place = self.in_place.then_some(self.table.data.as_path());
        outputs::check(&inputs, &outputs, in_place)?;
        Ok(outputs.len())
    }

    /// The table's writer, opened before any work is done; standard output waits until there is something to write.
    fn early_writer(&self, reader: &TableReader) -> Result<Option<TableWriter>, Failure> {
        let Some(path) = self.table_output() else {
            return Ok(None);
        };
        let format = &reader.shape().format;
        outputs::check_terminal(path, format.is_text(), format.name())?;
        if path == Path::new("-") {
            return Ok(None);
        }
        let writer = TableWriter::create_with(path, reader.shape(), self.extras());
        let writer = writer.map_err(|error| failure_from(&error))?;
        for loss in writer.losses() {
            self.verbosity.note(&format!("note: {loss}."));
        }
        Ok(Some(writer))
    }

    fn extras(&self) -> Extras {
        Extras {
            filled: self.mark,
            bands: self.bands.is_some(),
        }
    }

    fn imputer(&self, dataset: &Dataset, dates: bool, asked: &Asked) -> Result<Imputer, Failure> {
        let mut learn = self.settings.options()?;
        learn.training.steps = self.steps.unwrap_or(learn.training.steps);
        let budget = Duration::from_secs_f64(self.budget);
        Ok(Imputer {
            methods: self.methods()?,
            criterion: match self.criterion {
                Counted::Mse => Criterion::Mse,
                Counted::Mae => Criterion::Mae,
            },
            targets: (!self.targets.is_empty()).then(|| self.targets.clone()),
            predict: PredictOptions {
                seconds: dates,
                periods: self.periods.in_table(dates)?,
                absent_rows: *asked != Asked::Holes,
                ..PredictOptions::default()
            },
            learn,
            budget: self.steps.is_none().then_some(budget),
            longest_gap: self.limiting.longest_gap(dates)?,
            extrapolate: self.limiting.extrapolates(),
            predict_edges: self.limiting.predicts_edges(),
            bounds: self.limiting.bounds(dataset)?,
            bands: self.bands.or((self.samples > 0).then_some(0.9)),
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
        signals::listen();
        let mut watch: Option<Watch> = None;
        let pulse = Pulse::new(self.verbosity);
        let fitted = imputer.fit_with(dataset, gaps, |event| match event {
            Event::Training { name, progress } => {
                if progress.step == 1 {
                    watch.take().inspect(Watch::finish);
                }
                let watch = watch.get_or_insert_with(|| Watch::new(self.verbosity, name));
                watch.step(progress)
            }
            _ if signals::stopped_by().is_some() && !self.keep_partial => ControlFlow::Break(()),
            Event::Comparing {
                name,
                number,
                candidates,
            } => {
                watch.take().inspect(Watch::finish);
                pulse.tell(|| format!("comparing {name}, {} of {candidates}", number + 1));
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        });
        watch.inspect(Watch::finish);
        let fitted = fitted.map_err(|error| stopped_or(&error))?;
        let names = dataset.channel_names();
        if let Some(evaluation) = fitted.evaluation() {
            self.verbosity.text(&summary::comparison(evaluation, names));
            // A column without gaps between its values is combined only at times that are asked for.
            let gappy = gaps.all.iter().filter(|gap| gap.cells > 0);
            let gappy: BTreeSet<usize> = gappy.map(|gap| gap.channel).collect();
            let all = (0..names.len())
                .filter(|channel| imputer.predict.absent_rows || gappy.contains(channel));
            let columns: Vec<usize> = all.collect();
            let weights = summary::weights(&fitted, names, &columns);
            self.verbosity.text(weights.trim_end());
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
        writer: Option<TableWriter>,
        reader: &mut TableReader,
        loaded: &LoadedTable,
        fill: &(dyn Fn(&Series, Watching<'_>) -> Result<Filled, Error> + Sync),
    ) -> Result<Counts, Error> {
        let mut writer = match writer {
            Some(writer) => writer,
            None => TableWriter::create_with(path, reader.shape(), self.extras())?,
        };
        let (pulse, rows) = (Pulse::new(self.verbosity), AtomicUsize::new(0));
        let watch = |more: usize| {
            if signals::stopped_by().is_some() && !self.keep_partial {
                return ControlFlow::Break(());
            }
            let rows = rows.fetch_add(more, Ordering::Relaxed);
            pulse.tell(|| format!("{} rows filled so far", grouped(rows)));
            ControlFlow::Continue(())
        };
        let counts = loaded.apply(reader, &mut writer, |series: &Series| fill(series, &watch))?;
        writer.finish()?;
        Ok(counts)
    }
}

fn save_model(path: &Path, fitted: &Fitted, times: Option<TimeInfo>) -> Result<(), Failure> {
    let nothing = "no model was trained that could be saved. Give more --budget, or name a method that is trained.";
    let model = fitted.model().ok_or_else(|| Failure::new(nothing))?;
    let saved = model.clone().with_times(times).save(path);
    saved.map_err(|error| failure_from(&error))
}
