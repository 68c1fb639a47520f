use super::fill::level;
use crate::destination;
use crate::failure::{Failure, failure_from};
use crate::filling::Periods;
use crate::reading::{TableArguments, check_times, load_dataset, must_hold_values};
use crate::times::in_table;
use crate::watching::Verbosity;
use cssc::data::{Dataset, Span};
use cssc::evaluate::{
    EvaluateOptions, Evaluation, HoldOutOptions, Interpolator, Pattern, evaluate,
};
use cssc::fill::{METHODS, Method, ModelInterpolator};
use cssc::model::{Model, Truth};
use cssc::predict::PredictOptions;
use cssc_report::summary;
use std::path::PathBuf;
use std::sync::Arc;

/// Measure how well a model or a method finds values that are hidden from it
///
/// Hides a part of the known values and prints the errors: over all, for every column, and by the length of the gap.
/// Errors are in standard deviations of the column. A model must not have been trained on these data to be judged
/// fairly; cssc fill keeps what it hides from its own models.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc evaluate sensors.csv --method linear,natural\n  \
                  cssc evaluate other.csv --model curves.cssc --hide 0.5 --pattern single --output-format json"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,

    /// A trained model; may be given several times
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,

    /// Methods that need no training; all of them if neither methods nor models are given
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',')]
    method: Vec<String>,

    /// The part of the known values to be hidden in each of three rounds
    #[arg(long, value_name = "PART", default_value = "0.1", value_parser = level)]
    hide: f64,

    /// Hide in the pattern of the gaps, or values one by one
    #[arg(long, value_name = "gaps|single", default_value = "gaps")]
    pattern: HidePattern,

    /// Gaps longer than this, such as 6h, are not imitated
    #[arg(long, value_name = "LENGTH")]
    max_gap: Option<Span>,

    /// Level of the bands whose coverage is measured
    #[arg(long, value_name = "LEVEL", default_value = "0.9", value_parser = level)]
    bands: f64,

    #[command(flatten)]
    periods: Periods,

    /// Tell how far the models' curves can be from a truth whose fourth derivative is at most FOURTH and whose second
    /// derivatives at the ends of a series are START and END, instead of hiding values
    #[arg(long, value_name = "FOURTH,START,END", requires = "model", value_parser = truth, allow_hyphen_values = true)]
    bound: Option<Truth>,

    /// Seed of what is hidden
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// How the result is printed
    #[arg(
        long = "output-format",
        value_name = "table|json|csv",
        default_value = "table"
    )]
    output_format: Form,

    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum HidePattern {
    Gaps,
    Single,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    Table,
    Json,
    Csv,
}

fn truth(text: &str) -> Result<Truth, String> {
    let numbers = text.split(',').map(|part| part.trim().parse().ok());
    match numbers.collect::<Option<Vec<f64>>>().as_deref() {
        Some(&[fourth_derivative, start, end]) if fourth_derivative >= 0.0 => Ok(Truth {
            fourth_derivative,
            end_curvatures: [start, end],
        }),
        _ => Err(
            "give three numbers with commas, the first not below 0, such as 166,0,-2.5".to_owned(),
        ),
    }
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let models = self.models()?;
        let mut reader = self.table.open(self.verbosity)?;
        let dates = reader.shape().times_are_seconds();
        let candidates = self.candidates(&models, dates)?;
        let loaded = load_dataset(&mut reader, "values are hidden in", self.verbosity)?;
        must_hold_values(&loaded.dataset, &self.table.name())?;
        for model in &models {
            check_times(model, &reader, &loaded.dataset, self.verbosity)?;
        }
        if let Some(truth) = self.bound {
            let text = self.bounds(&models, &loaded.dataset, truth, dates)?;
            return destination::print(text.as_bytes());
        }
        let longest = self
            .max_gap
            .map(|span| in_table(span, dates, "--max-gap"))
            .transpose()?;
        let options = EvaluateOptions {
            hold_out: HoldOutOptions {
                part: self.hide,
                pattern: match self.pattern {
                    HidePattern::Gaps => Pattern::Gaps,
                    HidePattern::Single => Pattern::Single,
                },
                longest,
                seed: self.seed,
                ..HoldOutOptions::default()
            },
            bounds: None,
            bands: Some(self.bands),
            ..EvaluateOptions::default()
        };
        let found = evaluate(&candidates, &loaded.dataset, &options)
            .map_err(|error| failure_from(&error))?;
        if found.hidden == 0 {
            return Err(Failure::new(format!(
                "no value of {} could be hidden: there are too few. Give more data.",
                self.table.name()
            )));
        }
        let text = match self.output_format {
            Form::Table => summary::scores(&found, dates),
            Form::Json => json(&found)?,
            Form::Csv => summary::scores_csv(&found),
        };
        destination::print(text.as_bytes())
    }

    fn models(&self) -> Result<Vec<Model>, Failure> {
        let models = self.model.iter().map(|path| Model::load(path));
        models
            .collect::<Result<_, _>>()
            .map_err(|error| failure_from(&error))
    }

    /// The error bound of every model, series and column.
    fn bounds(
        &self,
        models: &[Model],
        dataset: &Dataset,
        truth: Truth,
        dates: bool,
    ) -> Result<String, Failure> {
        let names = self.model.iter().map(|path| path.display().to_string());
        let models: Vec<(String, &Model)> = names.zip(models).collect();
        summary::error_bounds(&models, dataset, truth, dates).map_err(|error| failure_from(&error))
    }

    fn candidates(
        &self,
        models: &[Model],
        dates: bool,
    ) -> Result<Vec<Arc<dyn Interpolator>>, Failure> {
        let options = PredictOptions {
            seconds: dates,
            periods: self.periods.in_table(dates)?,
            absent_rows: true,
            seed: self.seed,
            ..PredictOptions::default()
        };
        let mut candidates: Vec<Arc<dyn Interpolator>> = Vec::new();
        if self.method.is_empty() && self.model.is_empty() {
            let all = METHODS.iter().filter(|method| method.by_default);
            candidates.extend(all.filter_map(|method| method.untrained(&options)));
        }
        for name in &self.method {
            let method = Method::named(name).map_err(|error| failure_from(&error))?;
            candidates.push(method.untrained(&options).ok_or_else(|| {
                Failure::new(format!(
                    "the method {method} needs a trained model. Train one with cssc train and give it with --model."
                ))
            })?);
        }
        for (path, model) in self.model.iter().zip(models) {
            let name = path.display().to_string();
            candidates.push(Arc::new(ModelInterpolator::new(model.clone()).named(name)));
        }
        Ok(candidates)
    }
}

fn json(found: &Evaluation) -> Result<String, Failure> {
    // Through a value: names come in alphabetical order.
    let text = serde_json::to_value(found).and_then(|value| serde_json::to_string_pretty(&value));
    Ok(text.map_err(|error| failure_from(&error))? + "\n")
}
