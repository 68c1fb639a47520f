//! Italy air quality by the protocol of TSI-Bench, to compare with its published rows: windows of
//! 12 hours, the last 20 % test, values standardised by the others, cells hidden at random.
//!
//! ```sh
//! cargo run --release --example italy_air -- 10 nan
//! cargo run --release --example italy_air -- 50 keep steps=1000
//! ```
//!
//! First the percentage of cells that is hidden, then what -200 means: `nan` (missing) or `keep` (a
//! value, as in the published runs); then settings of `TrainConfig` and `OdeRnnConfig` as NAME=VALUE.
//! `auto` is for every channel the method that is best on the last tenth of the other windows,
//! which the models are not trained on.
//! Published (MAE/MSE, -200 kept): linear .135/.106 at 10 %, .214/.252 at 50 %; SAITS .185/.099 and
//! .285/.236; Transformer .191/.101 and .279/.230; BRITS .235/.146 and .321/.283.

use cssc::EndRule;
use cssc::data::table::{ReadOptions, TimeFormat, read_dataset};
use cssc::data::{Dataset, Random, Scaler, Series, TimeScaling, ValueScaling};
use cssc::evaluate::Interpolator;
use cssc::fill::{Asked, Bounds, Filler, LearnOptions, METHODS, ModelInterpolator};
use cssc::model::{Model, ModelConfig, OdeRnnConfig};
use cssc::train::{Control, Masking, TrainConfig, fit};
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

const ROWS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let percent: f64 = arguments
        .next()
        .ok_or("how many percent are hidden?")?
        .parse()?;
    let keep = arguments.next().ok_or("`nan` or `keep`?")? == "keep";
    let windows = windows(keep)?;
    let first_test = windows.len() * 8 / 10;
    let (training, test) = windows.series().split_at(first_test);
    let names = windows.channel_names().to_vec();
    let training = Dataset::new(names.clone(), training.to_vec())?;
    let scaler = Scaler::fit(
        &training,
        ValueScaling::Standard,
        TimeScaling::TypicalGap(0.2),
    )?;
    let known = scaler.scale_all(&training)?;
    let numbers: Vec<usize> = (0..known.len()).collect();
    let (training, validation) = numbers.split_at(known.len() * 9 / 10);
    let (training, validation) = (known.subset(training), known.subset(validation));
    let test = scaler.scale_all(&Dataset::new(names.clone(), test.to_vec())?)?;

    let model = OdeRnnConfig {
        channels: names.len(),
        dynamics: vec![100; 2],
        decoder: vec![100],
        two_sided: true,
        end_rule: EndRule::Output, // as `fill` trains
        step: 0.2,
        ..OdeRnnConfig::default()
    };
    let mut settings = LearnOptions {
        model: model.into(),
        training: TrainConfig {
            steps: 1000,
            masking: Masking::Cells(1.0 - percent / 100.0),
            ..TrainConfig::default()
        },
        ..LearnOptions::default()
    };
    for pair in arguments {
        settings.set(&pair)?;
    }

    let part = percent / 100.0;
    let (tried, hidden) = (hide(&validation, part), hide(&test, part));
    println!(
        "{} test windows, {} cells hidden",
        test.len(),
        hidden.iter().map(|(_, cells)| cells.len()).sum::<usize>()
    );
    let mut trained: Vec<(ModelConfig, Model)> = Vec::new();
    // For every channel the smallest error so far, and what its method makes of the test.
    let mut auto = vec![(f64::INFINITY, Errors::default()); names.len()];
    for method in METHODS.iter().filter(|method| method.by_default) {
        let interpolator = match (method.plain(), method.model(&settings.model)) {
            (Some(plain), _) => plain,
            (None, None) => continue,
            (None, Some(config)) => {
                if !trained.iter().any(|(known, _)| *known == config) {
                    let model = fit(
                        &config,
                        &settings.training,
                        &Scaler::identity(names.len()),
                        &training,
                        &validation,
                        |_, _| Control::Continue,
                    )?;
                    trained.push((config.clone(), model));
                }
                let (_, model) = trained.iter().find(|one| one.0 == config).expect("trained");
                let model = model.clone();
                Arc::new(match method.name {
                    "smooth-cssc" => ModelInterpolator::smooth(model)?,
                    _ => ModelInterpolator::new(model),
                })
            }
        };
        let before = score(&interpolator, &tried)?;
        let errors = score(&interpolator, &hidden)?;
        println!("{:12} {}", method.to_string(), Errors::sum(&errors));
        for (best, (before, errors)) in auto.iter_mut().zip(before.iter().zip(errors)) {
            if before.squared < best.0 {
                *best = (before.squared, errors);
            }
        }
    }
    let auto: Vec<Errors> = auto.into_iter().map(|best| best.1).collect();
    println!("auto         {}", Errors::sum(&auto));
    Ok(())
}

/// The table, cut into windows whose times count from 0.
fn windows(keep: bool) -> Result<Dataset, Box<dyn Error>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/air-quality/AirQualityUCI.csv");
    let options = ReadOptions {
        time: vec!["Date".into(), "Time".into()],
        time_format: TimeFormat::Pattern("%d/%m/%Y %H:%M:%S".into()),
        missing: if keep { vec![] } else { vec!["-200".into()] },
        ..ReadOptions::default()
    };
    let (table, _) = read_dataset(&path, &options)?;
    let all = &table.series()[0];
    let window = |start: usize| -> Result<Series, Box<dyn Error>> {
        let rows: Vec<usize> = (start..start + ROWS).collect();
        let taken = all.take(&rows)?;
        let times = (0..ROWS).map(|row| row as f64).collect();
        Ok(Series::new(
            None,
            all.channels(),
            times,
            taken.values().to_vec(),
        )?)
    };
    let starts = (0..all.len() / ROWS).map(|k| k * ROWS);
    let series = starts.map(window).collect::<Result<_, _>>()?;
    Ok(Dataset::new(table.channel_names().to_vec(), series)?)
}

/// Every window with a part of its known cells hidden, and these.
fn hide(test: &Dataset, part: f64) -> Vec<(Series, Vec<(usize, f64)>)> {
    let mut random = Random::new(2024);
    let windows = test.series().iter().map(|series| {
        let mut values = series.values().to_vec();
        let mut cells = Vec::new();
        for (at, value) in values.iter_mut().enumerate() {
            if !value.is_nan() && random.unit() < part {
                cells.push((at, *value));
                *value = f64::NAN;
            }
        }
        (series.with_values(values).expect("the same times"), cells)
    });
    windows.collect()
}

/// Sums over hidden cells.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    absolute: f64,
    squared: f64,
    count: f64,
}

impl Errors {
    fn add(&mut self, other: Self) {
        self.absolute += other.absolute;
        self.squared += other.squared;
        self.count += other.count;
    }

    fn sum(all: &[Self]) -> Self {
        let mut sum = Self::default();
        all.iter().for_each(|&one| sum.add(one));
        sum
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mae, mse) = (self.absolute / self.count, self.squared / self.count);
        write!(f, "mae {mae:.3} mse {mse:.3}")
    }
}

/// The errors in every channel. Outside the values of a channel the nearest one stands; a channel
/// without any has its mean, 0.
fn score(
    interpolator: &Arc<dyn Interpolator>,
    hidden: &[(Series, Vec<(usize, f64)>)],
) -> Result<Vec<Errors>, Box<dyn Error>> {
    let mut errors = Vec::new();
    for (series, cells) in hidden {
        let channels = series.channels();
        errors.resize(channels, Errors::default());
        let mut filler = Filler::new(interpolator.clone(), Bounds::none(channels), channels);
        filler.extrapolate = true;
        let filled = filler.fill(series, &Asked::Holes)?;
        for &(at, truth) in cells {
            let value = filled.values[at];
            let error: f64 = if value.is_nan() { truth } else { value - truth };
            errors[at % channels].add(Errors {
                absolute: error.abs(),
                squared: error * error,
                count: 1.0,
            });
        }
    }
    Ok(errors)
}
