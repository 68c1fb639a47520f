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

use cssc::fill::LearnOptions;
use cssc::model::{Compensation, ModelConfig, Network};
use cssc::settings::name_and_value;
use cssc::train::{Control, Masking, ParallelBatch, TrainConfig, Trainer};
use cssc_experiments::{PaperSet, SetSize};
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
    let model = ModelConfig::of_method(&method).ok_or("there is no such method")?;
    let training = TrainConfig {
        masking: Masking::Count(percent),
        ..TrainConfig::default()
    };
    let mut settings = LearnOptions {
        training: training.suited_to(&model)?,
        model,
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

    let set = PaperSet::named(&set).ok_or("the sets are toy, hopper and moving-mnist")?;
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let loaded = set.load(&repository, SetSize::default())?;
    let (parts, test) = (&loaded.parts, loaded.test(percent));
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
