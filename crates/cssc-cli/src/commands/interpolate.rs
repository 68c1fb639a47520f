use super::fill::level;
use crate::failure::{Failure, failure_from};
use crate::filling::{Asking, Limiting};
use crate::reading::{TableArguments, load_dataset, must_hold_values};
use crate::summary;
use crate::watching::Verbosity;
use cssc::Error;
use cssc::data::npz::{self, Array, Elements};
use cssc::data::table::{Extras, Filled, TableWriter, apply};
use cssc::data::{Dataset, Series};
use cssc::fill::{
    Asked, BandCalibration, Filler, HoldOut, HoldOutOptions, Interpolator, hidden_std_devs,
    predict_hidden,
};
use cssc::model::{Compensation, Model};
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
        let model = Model::load(&self.model).map_err(|error| failure_from(&error))?;
        let mut reader = self.table.open()?;
        let (dataset, _) = load_dataset(&mut reader, self.verbosity)?;
        must_hold_values(&dataset, &self.table.name())?;
        let about = model.info();
        if dataset.channel_names() != about.channel_names {
            return Err(Failure::new(format!(
                "the model was trained on the columns {}, the table has {}. Name the columns with --values, in that \
                 order.",
                about.channel_names.join(", "),
                dataset.channel_names().join(", ")
            )));
        }
        if self.smooth && about.model.compensation() != Compensation::Output {
            return Err(Failure::new(
                "--smooth is for models trained with --method cssc. Leave it out, or train such a model.",
            ));
        }
        let interpolator = Interpolator::Model {
            model: Arc::new(model),
            smooth: self.smooth,
        };
        let dates = reader.shape().times_are_seconds();
        let limits = self.limiting.limits(&dataset)?;
        let longest_gap = self.limiting.longest_gap(dates)?;
        let mut filler = Filler {
            interpolators: vec![interpolator; dataset.channels()],
            limits,
            asked: self.asking.asked(reader.shape())?,
            longest_gap,
            extrapolate: self.limiting.extrapolate,
            bands: None,
        };
        if let Some(level) = self.bands {
            filler.bands = Some(self.calibrated(level, &dataset, &filler)?);
        }
        let extras = Extras {
            filled: self.mark,
            bands: self.bands.is_some(),
        };
        let mut writer = TableWriter::create_with(&self.output, reader.shape(), extras)
            .map_err(|error| failure_from(&error))?;
        let counts = apply(
            &mut reader,
            &mut writer,
            |series| -> Result<Filled, Error> { filler.fill(series) },
        )
        .map_err(|error| failure_from(&error))?;
        writer.finish().map_err(|error| failure_from(&error))?;
        self.verbosity.note(&summary::counts(&counts));
        if let Some(path) = &self.export_to {
            let arrays = self
                .arrays(&dataset, &filler)
                .map_err(|error| failure_from(&error))?;
            npz::write(path, &arrays).map_err(|error| failure_from(&error))?;
        }
        Ok(())
    }

    fn calibrated(
        &self,
        level: f64,
        dataset: &Dataset,
        filler: &Filler,
    ) -> Result<BandCalibration, Failure> {
        let calibrate = || -> Result<_, Error> {
            let options = HoldOutOptions {
                longest: filler.longest_gap,
                ..HoldOutOptions::default()
            };
            let held = HoldOut::new(dataset, &options)?;
            let found = predict_hidden(&filler.interpolators[0], &held, &filler.limits)?;
            let widths = hidden_std_devs(&held)?;
            Ok(BandCalibration::calibrate(
                level,
                dataset.channels(),
                &held.hidden,
                &found,
                &widths,
            ))
        };
        let (bands, coverage) = calibrate().map_err(|error| failure_from(&error))?;
        let text = summary::coverage(&bands, &coverage, dataset.channel_names());
        self.verbosity.text(text.trim_end());
        Ok(bands)
    }

    /// The parts asked for at all rows of the result, series after series.
    fn arrays(&self, dataset: &Dataset, filler: &Filler) -> Result<Vec<Array>, Error> {
        let Some(Interpolator::Model { model, .. }) = filler.interpolators.first() else {
            return Ok(Vec::new());
        };
        let options = filler.interpolators[0].curve_options().unwrap_or_default();
        let (mut numbers, mut times) = (Vec::new(), Vec::new());
        let mut parts: Vec<Vec<f64>> = vec![Vec::new(); self.export.len() + 1];
        for (number, series) in dataset.series().iter().enumerate() {
            let asked = all_times(series, &filler.asked);
            let curve = model.interpolate_with(series, &asked, &options)?;
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
        let (rows, channels) = (times.len(), dataset.channels());
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

/// Times of all rows of the result.
fn all_times(series: &Series, asked: &Asked) -> Vec<f64> {
    let (new, kept) = asked.rows(series);
    let mut times = match kept {
        Some(kept) => kept.iter().map(|&row| series.times()[row]).collect(),
        None => series.times().to_vec(),
    };
    times.extend(new);
    times.sort_by(f64::total_cmp);
    times
}
