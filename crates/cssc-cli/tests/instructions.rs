//! `CSSC_SIMD` chooses the vector instructions of the engine, and the command says which ones ran.

mod support;

use support::{Outcome, Place};

fn run(set: &str, arguments: &[&str]) -> Outcome {
    run_at(&Place::new(), set, arguments)
}

fn run_at(place: &Place, set: &str, arguments: &[&str]) -> Outcome {
    let output = place
        .command(arguments)
        .env("CSSC_SIMD", set)
        .output()
        .expect("the binary runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn waves() -> String {
    (0..400).fold(String::from("t,x\n"), |table, row| {
        let x = (0.3 * f64::from(row)).sin();
        let cell = if row % 9 == 4 {
            String::new()
        } else {
            x.to_string()
        };
        table + &format!("{row},{cell}\n")
    })
}

/// Sets of this processor, as the message of a refusal names them.
fn available() -> Vec<String> {
    let refusal = run("none", &["bench", "load"]);
    let names = refusal.complaint().split_once("set it to ").expect("names");
    let (names, _) = names.1.split_once(',').expect("then a comma");
    names.split(" or ").map(str::to_owned).collect()
}

#[test]
fn every_set_of_the_processor_is_named_by_what_ran_on_it() {
    let sets = available();
    assert_eq!(sets[0], "scalar");
    for set in sets {
        let load = ["bench", "--repeats", "1", "--threads", "1", "load"];
        let table = run(&set, &load);
        assert!(table.result().contains(&format!(" {set} ")), "{table:?}");
        let json = run(&set, &[&load[..], &["--json"]].concat());
        let timings: serde_json::Value = serde_json::from_str(json.result()).expect("JSON");
        assert_eq!(timings[0]["instructions"], set);
    }
}

#[test]
fn a_training_names_its_set_and_ends_with_the_same_bits_on_all_vector_sets() {
    let place = Place::with("waves.csv", &waves());
    let mut models = Vec::new();
    for set in available() {
        let train = ["train", "waves.csv", "-o", "model.cssc", "--steps", "5"];
        let small = [
            "--set",
            "model.dynamics=[20]",
            "--set",
            "model.decoder=[20]",
        ];
        let trained = run_at(&place, &set, &[&train[..], &small].concat());
        assert_eq!(trained.code, Some(0), "{trained:?}");
        let note = format!("; {set} instructions.");
        assert!(trained.stderr.contains(&note), "{trained:?}");
        models.push(std::fs::read(place.path("model.cssc")).expect("written"));
    }
    for pair in models[1..].windows(2) {
        assert!(pair[0] == pair[1], "the models differ");
    }
}

#[test]
fn a_set_that_does_not_exist_is_refused() {
    for set in ["", "sse2", "AVX2", "avx2,avx512"] {
        let outcome = run(set, &["bench", "load"]);
        let message = outcome.complaint();
        let start = format!("CSSC_SIMD is `{set}`, which is no instruction set of the engine; ");
        assert!(message.starts_with(&start), "{message}");
    }
}

#[test]
fn a_set_that_the_processor_lacks_is_refused() {
    let sets = available();
    let lacking = ["avx2", "avx512", "neon"].map(str::to_owned);
    let lacking = lacking.iter().filter(|set| !sets.contains(set));
    for set in lacking.clone() {
        let outcome = run(set, &["bench", "load"]);
        let message = outcome.complaint();
        assert!(
            message.contains("which this processor does not have"),
            "{message}"
        );
    }
    assert!(lacking.count() > 0, "no processor has both AVX and NEON");
}
