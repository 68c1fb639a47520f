use super::fill::level;
use crate::failure::{Failure, failure_from, stopped_or};
use crate::filling::{Asking, Limiting};
use crate::outputs::{self, Output};
use crate::reading::{TableArguments, check_times, load_dataset, must_hold_values};
use crate::signals;
use crate::times::check_rows;
use crate::watching::Verbosity;
use cssc::Error;
use cssc::data::npz::{self, Array, Elements};
use cssc::data::table::{Extras, LoadedTable, TableReader, TableWriter};
use cssc::data::{Series, listed};
use cssc::evaluate::{BandCalibration, EvaluateOptions, HoldOutOptions, evaluate};
use cssc::fill::{Asked, Bounds, Filler, ModelInterpolator};
use cssc::model::{Compensation, Model};
use cssc_report::summary;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// Apply a trained model to the series of a table
///
/// Fills missing cells, and with --every or --at adds rows, by a model that cssc train or cssc fill --save-model has
/// written. The table needs the columns the model was trained with.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc interpolate curves.cssc new.csv --every 0.05 -o dense.csv\n  \
                  cssc interpolate curves.cssc new.csv -o dense.csv --export o,c,slopes --export-to curves.npz"
)]
pub(crate) struct Arguments {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    table: TableArguments,

    /// The filled table; its ending tells the format, otherwise as DATA; - is standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// The filled table may replace DATA
    #[arg(long)]
    in_place: bool,

    #[command(flatten)]
    asking: Asking,

    #[command(flatten)]
    limiting: Limiting,

    /// Pass near the values instead of through them (for noisy data; models trained with cssc)
    #[arg(long)]
    smooth: bool,

    /// Add columns with the lower and upper end of a band that holds this part of the values, such as 0.9
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    bands: Option<f64>,

    /// Add a column `filled` with the names of the columns that were filled in the row
    #[arg(long)]
    mark: bool,

    /// Also write, for researchers: o (the model's own prediction), c (what was added to it), slopes, curvatures
    #[arg(
        long,
        value_name = "o,c,slopes,curvatures",
        value_delimiter = ',',
        requires = "export_to"
    )]
    export: Vec<Part>,

    /// Where to: an .npz with one row for each row of the result
    #[arg(long, value_name = "FILE", requires = "export")]
    export_to: Option<PathBuf>,

    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Part {
    O,
    C,
    Slopes,
    Curvatures,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        outputs::check_table_ending("-o", &self.output)?;
        let outputs = Output::given(&[
            ("-o", Some(self.output.as_path())),
            ("--export-to", self.export_to.as_deref()),
        ]);
        let in_place = self.in_place.then_some(self.output.as_path());
        outputs::check(&[&self.table.data, &self.model], &outputs, in_place)?;
        let interpolator = self.interpolator()?;
        let mut reader = self.table.open(self.verbosity)?;
        let loaded = load_dataset(
            &mut reader,
            "bands and integers are judged by",
            self.verbosity,
        )?;
        let dataset = &loaded.dataset;
        must_hold_values(dataset, &self.table.name())?;
        let trained_on = &interpolator.model().info().channel_names;
        if dataset.channel_names() != trained_on {
            return Err(Failure::new(format!(
                "the model was trained on the columns {}, the table has {}. Name the columns with --values, in that \
                 order.",
                listed(trained_on),
                listed(dataset.channel_names())
            )));
        }
        check_times(interpolator.model(), &reader, dataset, self.verbosity)?;
        let asked = self.asking.asked(reader.shape())?;
        check_rows(&asked, &loaded.dataset)?;
        let filler = self.filler(interpolator.clone(), &loaded, &reader)?;
        let extras = Extras {
            filled: self.mark,
            bands: self.bands.is_some(),
        };
        let write = |reader: &mut TableReader| {
            let mut writer = TableWriter::create_with(&self.output, reader.shape(), extras)?;
            for loss in writer.losses() {
                self.verbosity.note(&format!("note: {loss}."));
            }
            let watch = |_: usize| match signals::stopped_by() {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            };
            let fill = |series: &Series| filler.fill_with(series, &asked, &watch);
            let counts = loaded.apply(reader, &mut writer, fill)?;
            writer.finish()?;
            Ok(counts)
        };
        let format = &reader.shape().format;
        outputs::check_terminal(&self.output, format.is_text(), format.name())?;
        signals::listen();
        let counts = write(&mut reader).map_err(|error: Error| stopped_or(&error))?;
        self.verbosity.note(&summary::counts(&counts));
        if let Some(path) = &self.export_to {
            let arrays = self
                .arrays(&interpolator, &asked, &loaded, &mut reader)
                .map_err(|error| failure_from(&error))?;
            npz::write(path, &arrays).map_err(|error| failure_from(&error))?;
        }
        Ok(())
    }

    fn interpolator(&self) -> Result<Arc<ModelInterpolator>, Failure> {
        let model = Model::load(&self.model).map_err(|error| failure_from(&error))?;
        if !self.smooth {
            return Ok(Arc::new(ModelInterpolator::new(model)));
        }
        if model.info().model.compensation() != Compensation::Output {
            return Err(Failure::new(
                "--smooth is for models trained with --method cssc. Leave it out, or train such a model.",
            ));
        }
        let smooth = ModelInterpolator::smooth(model);
        Ok(Arc::new(smooth.map_err(|error| failure_from(&error))?))
    }

    fn filler(
        &self,
        interpolator: Arc<ModelInterpolator>,
        loaded: &LoadedTable,
        reader: &TableReader,
    ) -> Result<Filler, Failure> {
        let dataset = &loaded.dataset;
        let mut bounds = Bounds::of(dataset);
        for bound in self.limiting.bounds(dataset)? {
            bounds
                .restrict(&bound, dataset.channel_names())
                .map_err(|error| failure_from(&error))?;
        }
        let mut filler = Filler::new(interpolator, bounds, dataset.channels());
        let dates = reader.shape().times_are_seconds();
        filler.longest_gap = self.limiting.longest_gap(dates)?;
        filler.extrapolate = self.limiting.extrapolates();
        if self.bands.is_some() {
            filler.bands = self.calibrated(loaded, &filler)?;
        }
        Ok(filler)
    }

    fn calibrated(
        &self,
        loaded: &LoadedTable,
        filler: &Filler,
    ) -> Result<Option<BandCalibration>, Failure> {
        let options = EvaluateOptions {
            hold_out: HoldOutOptions {
                longest: filler.longest_gap,
                ..HoldOutOptions::default()
            },
            bounds: Some(filler.bounds.clone()),
            bands: self.bands,
            ..EvaluateOptions::default()
        };
        let found = evaluate(&filler.candidates, &loaded.dataset, &options)
            .map_err(|error| failure_from(&error))?;
        self.verbosity.text(summary::coverage(&found).trim_end());
        Ok(found.bands())
    }

    /// The parts asked for at all rows of the result, series after series.
    fn arrays(
        &self,
        interpolator: &ModelInterpolator,
        asked: &Asked,
        loaded: &LoadedTable,
        reader: &mut TableReader,
    ) -> Result<Vec<Array>, Error> {
        let (mut numbers, mut times) = (Vec::new(), Vec::new());
        let mut parts: Vec<Vec<f64>> = vec![Vec::new(); self.export.len() + 1];
        for (number, rows) in loaded.rows(reader)?.enumerate() {
            let series = rows?.series;
            let asked = asked.times(&series);
            let options = interpolator.options();
            let model = interpolator.model();
            let curve = model.interpolate_with(&series, &asked, options)?;
            numbers.extend(vec![number as i64; asked.len()]);
            times.extend_from_slice(&asked);
            parts[0].extend_from_slice(&curve.smoothed.value);
            for (part, to) in self.export.iter().zip(&mut parts[1..]) {
                to.extend_from_slice(match part {
                    Part::O => &curve.predicted,
                    Part::C => &curve.compensation,
                    Part::Slopes => &curve.smoothed.slope,
                    Part::Curvatures => &curve.smoothed.curvature,
                });
            }
        }
        let (rows, channels) = (times.len(), loaded.dataset.channels());
        let array = |name: &str, shape: Vec<usize>, elements| Array {
            name: name.to_owned(),
            shape,
            elements,
        };
        let mut arrays = vec![
            array("series", vec![rows], Elements::Integer(numbers)),
            array("times", vec![rows], Elements::Float(times)),
        ];
        let names = std::iter::once("values").chain(self.export.iter().map(|part| match part {
            Part::O => "o",
            Part::C => "c",
            Part::Slopes => "slopes",
            Part::Curvatures => "curvatures",
        }));
        for (name, part) in names.zip(parts) {
            arrays.push(array(name, vec![rows, channels], Elements::Float(part)));
        }
        Ok(arrays)
    }
}
