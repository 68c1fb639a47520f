//! Trains on toy-v1 and prints test scores: `toy PERCENT METHOD STEPS RATE [key=value…]`.
use cssc::batch::Stepping;
use cssc::data::ToyV1;
use cssc::model::{Method, ModelConfig};
use cssc::train::{Control, Observation, RateSchedule, Sample, Shards, TrainConfig, Trainer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let percent: usize = args[0].parse()?;
    let method: Method = serde_json::from_str(&format!("\"{}\"", args[1]))?;
    let mut config = TrainConfig {
        steps: args[2].parse()?,
        rate: args[3].parse()?,
        observation: Observation::Count(percent),
        ..Default::default()
    };
    let mut model = ModelConfig {
        method,
        ..Default::default()
    };
    let mut threads = 2;
    for pair in &args[4..] {
        let (key, value) = pair.split_once('=').unwrap();
        match key {
            "seed" => config.seed = value.parse()?,
            "threads" => threads = value.parse()?,
            "end" => model.end_rule = serde_json::from_str(&format!("\"{value}\""))?,
            "schedule" => config.schedule = serde_json::from_str::<RateSchedule>(value)?,
            "alpha" => model.compensation_weight = value.parse()?,
            "clip" => config.clip = Some(value.parse()?),
            "batch" => config.batch = value.parse()?,
            "two" => model.two_sided = value.parse()?,
            "init" => model.initial_deviation = value.parse()?,
            "solver" => model.solver = serde_json::from_str(&format!("\"{value}\""))?,
            _ => panic!("{key}"),
        }
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()?;
    let toy = ToyV1::load(std::path::Path::new("data/toy_v1.npz"))?;
    let parts = toy.split.apply(&toy.dataset)?;
    let test: Vec<Sample> = parts
        .test
        .series()
        .iter()
        .zip(toy.test_observed(percent).unwrap())
        .map(|(s, o)| Sample::new(s, o))
        .collect();
    let mut trainer = Trainer::new(&model, &config, &parts.train, &parts.validation)?;
    let mut sum = 0.0;
    let mut n = 0;
    let stepping = Stepping {
        longest: model.step,
        stop_at_query: true,
    };
    let mut shards = Shards::new();
    trainer.run(|t, p| {
        sum += p.loss;
        n += 1;
        if let Some(r) = p.recovered {
            eprintln!("recovered {r} at {}", p.step);
        }
        if let Some(v) = p.validation {
            let s = shards
                .score(t.network(), t.parameters(), &test, method, stepping)
                .unwrap();
            println!(
                "{:6} {:7.1}s {:.1} ms/step loss {:.6} val {:.7} test {:.7} o-only {:.6}",
                p.step,
                p.elapsed.as_secs_f64(),
                p.elapsed.as_secs_f64() * 1e3 / p.step as f64,
                sum / f64::from(n),
                v.mse_all,
                s.mse_all,
                shards
                    .score(t.network(), t.parameters(), &test, Method::OdeRnn, stepping)
                    .unwrap()
                    .mse_all
            );
            sum = 0.0;
            n = 0;
        }
        Control::Continue
    })?;
    let (network, parameters, summary) = trainer.into_best();
    let s = shards.score(&network, &parameters, &test, method, stepping)?;
    println!("best {:?} test {:?}", summary.best_validation, s);
    Ok(())
}
