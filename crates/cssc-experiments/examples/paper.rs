//! Trains on one of the paper's sets and prints validation and test errors as it goes.
//!
//! ```sh
//! cargo run --release --example paper -- toy 30 cssc
//! cargo run --release --example paper -- hopper 10 hidden-cssc steps=3000 rate=0.02 seed=1
//! ```
//!
//! First the set: `toy` (the frozen toy-v1 in `data`) or `hopper` (made by MuJoCo, which
//! `scripts/get-mujoco` brings); then the percentage of points that are observed (10, 30 or 50), the
//! method (`ode-rnn`, `cssc`, `hidden-cssc`), and any settings of the training or the model as
//! NAME=VALUE, with the names of `TrainConfig` and `ModelConfig`; `threads=N` as well. A line every
//! `validate-every` steps: errors over all points (`mse_all`), of the method and of the bare
//! prediction o. Only the last line, of the parameters that validated best, is a result.

use cssc::data::{Dataset, Parts, Random, Split};
use cssc::fill::LearnOptions;
use cssc::model::{Compensation, ModelConfig, Network};
use cssc::settings::name_and_value;
use cssc::train::{Control, Masking, ParallelBatch, Sample, TrainConfig, Trainer};
use cssc_experiments::ToyV1;
use cssc_experiments::generate::hopper::{self, Hopper};
use cssc_experiments::generate::{Generator, mujoco};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let set = arguments.next().ok_or("which set: toy or hopper?")?;
    let percent: usize = arguments
        .next()
        .ok_or("which percentage is observed?")?
        .parse()?;
    let method = arguments.next().ok_or("which method?")?;
    let mut settings = LearnOptions {
        model: ModelConfig::of_method(&method).ok_or("there is no such method")?,
        training: TrainConfig {
            masking: Masking::Count(percent),
            ..TrainConfig::default()
        },
        ..LearnOptions::default()
    };
    for pair in arguments {
        match name_and_value(&pair) {
            Some(("threads", threads)) => rayon::ThreadPoolBuilder::new()
                .num_threads(threads.parse()?)
                .build_global()?,
            _ => settings.set(&pair)?,
        }
    }
    let LearnOptions {
        mut model,
        training,
        ..
    } = settings;

    let (parts, test) = match set.as_str() {
        "toy" => curves(percent)?,
        "hopper" => trajectories(percent)?,
        _ => return Err("the sets are toy and hopper".into()),
    };
    model.set_channels(parts.train.channels());
    let bare = model.with_compensation(Compensation::None)?;
    let [network, bare] = [&model, &bare].map(|config| config.build::<f32>(0));
    let (network, bare) = (network?.0, bare?.0);
    let mut shards = ParallelBatch::new();
    let mut trainer = Trainer::new(&model, &training, &parts.train, &parts.validation)?;
    let mut losses = (0.0, 0);
    trainer.run(|trainer, progress| {
        losses = (losses.0 + progress.loss, losses.1 + 1);
        if let Some(times) = progress.recovered {
            println!("step {}: not finite, undone ({times})", progress.step);
        }
        if let Some(validation) = progress.validation {
            let mut score = |network: &dyn Network<f32>| {
                shards
                    .score(network, trainer.parameters(), &test, 0)
                    .map_or(f64::NAN, |scores| scores.mse_all)
            };
            println!(
                "step {:5}  {:6.1} s  loss {:.6}  validation {:.7}  test {:.7}  o alone {:.6}",
                progress.step,
                progress.elapsed.as_secs_f64(),
                losses.0 / f64::from(losses.1),
                validation.mse_all,
                score(&*network),
                score(&*bare)
            );
            losses = (0.0, 0);
        }
        Control::Continue
    })?;
    let (parameters, summary) = trainer.into_best();
    let scores = shards.score(&*network, &parameters, &test, 0)?;
    println!(
        "best step {:?}: test mse_all {:.7}, unobserved {:.7}, mae unobserved {:.6}",
        summary.best_validation.map(|best| best.1),
        scores.mse_all,
        scores.mse_hidden,
        scores.mae_hidden
    );
    Ok(())
}

/// The frozen set, whose file says what is observed of the test curves.
fn curves(percent: usize) -> Result<(Parts, Vec<Sample>), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/toy_v1.npz");
    let toy = ToyV1::load(&path)?;
    let parts = toy.split.apply(&toy.dataset)?;
    let observed = toy
        .test_observed(percent)
        .ok_or("toy-v1 knows 10, 30 and 50 percent")?;
    let test = parts.test.series().iter().zip(observed);
    let test = test.map(|(series, shown)| Sample::new(series, shown));
    let test = test.collect();
    Ok((parts, test))
}

/// All 10,000 trajectories of seed 0.
fn trajectories(percent: usize) -> Result<(Parts, Vec<Sample>), Box<dyn Error>> {
    let mut machine = Hopper::new(&mujoco::directory(), 0)?;
    let series = (0..hopper::SERIES).map(|number| machine.series(number));
    let series = series.collect::<Result<Vec<_>, _>>()?;
    let dataset = Dataset::new(machine.channel_names(), series)?;
    let dataset = hopper::scaler().scale_all(&dataset)?;
    let parts = Split::paper(hopper::SERIES, hopper::TRAINING)?.apply(&dataset)?;
    let mut random = Random::new(0);
    let masking = Masking::Count(percent);
    let test = parts.test.series().iter();
    let test = test.map(|series| Sample::draw(series, &masking, &mut random));
    let test = test.collect();
    Ok((parts, test))
}
