//! `cssc reproduce` and `cssc report`: cells of a table in a repository of their own, trained for real, but small.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A repository with the frozen toy set and two cells: 30 % tries two learning rates, 50 % takes the better one.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new(steps: u64) -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        let data = repository.path("data");
        fs::create_dir_all(&data).unwrap();
        fs::create_dir_all(repository.path("experiments/table1")).unwrap();
        let toy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/toy_v1.npz");
        fs::copy(toy, data.join("toy_v1.npz")).unwrap();
        let cell = |observed: u64, rates: &str| {
            let text = format!(
                "table = \"1\"\ndataset = \"toy-v1\"\nmethod = \"cssc\"\nobserved = {observed}\n{rates}\n\
                 readings = {{ pre-hoc = \"none\" }}\n\n\
                 [model]\nhidden = 4\ndynamics = [8]\ndecoder = [8]\ncell = 8\n\n\
                 [training]\nsteps = {steps}\nvalidate-every = 5\nbatch = 10\n"
            );
            fs::write(
                repository.path(&format!("experiments/table1/{observed}.toml")),
                text,
            )
            .unwrap();
        };
        cell(30, "rates = [0.001, 0.02]");
        cell(50, "rate-from = \"table1-toy-v1-cssc-30-seed0\"");
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cssc"));
        command
            .args(["reproduce", "table1", "--repository"])
            .arg(self.0.path());
        command
    }

    fn run(&self) -> Output {
        self.command().output().unwrap()
    }

    /// A result without what depends on the clock.
    fn result(&self, name: &str) -> Value {
        let path = self.path(&format!(
            "experiments/results/table1-toy-v1-cssc-{name}-seed0.json"
        ));
        let mut result: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        for timed in ["seconds", "cpu_seconds"] {
            result.as_object_mut().unwrap().remove(timed).unwrap();
        }
        result
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_cell_gets_a_result_that_tells_how_it_was_made() {
    let repository = Repository::new(10);
    let first = repository.run();
    assert!(first.status.success(), "{}", said(&first));
    assert!(
        said(&first).starts_with("2 results wanted, 0 there."),
        "{}",
        said(&first)
    );
    let result = repository.result("30");
    for (name, expected) in [
        ("table", "1"),
        ("variant", ""),
        ("dataset", "toy-v1"),
        ("method", "cssc"),
    ] {
        assert_eq!(result[name], expected, "{name}");
    }
    assert_eq!(
        (&result["observed"], &result["seed"], &result["steps"]),
        (&30.into(), &0.into(), &10.into())
    );
    assert_eq!(result["curve"].as_array().unwrap().len(), 2);
    assert_eq!(result["data"].as_str().unwrap().len(), 64);

    // Both rates were trained, and the one counts that validates best.
    let trials = result["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2);
    let best = trials.iter().min_by(|a, b| {
        a["validation"]
            .as_f64()
            .unwrap()
            .total_cmp(&b["validation"].as_f64().unwrap())
    });
    let best = best.unwrap();
    assert_eq!(result["settings"]["training"]["rate"], best["rate"]);
    assert_eq!(result["validation"], best["validation"]);
    assert_eq!(
        repository.result("50")["settings"]["training"]["rate"],
        best["rate"]
    );

    // The same parameters without their compensation are another reading, and a worse one.
    let bare = repository.result("pre-hoc-30");
    assert_eq!(
        (&bare["validation"], &bare["variant"]),
        (&result["validation"], &"pre-hoc".into())
    );
    assert!(bare["mse_all"].as_f64() > result["mse_all"].as_f64());

    let again = repository.run();
    assert_eq!(said(&again).trim(), "2 results wanted, 2 there.");
    let cell = repository.path("experiments/table1/50.toml");
    let changed = fs::read_to_string(&cell)
        .unwrap()
        .replace("batch = 10", "batch = 20");
    fs::write(&cell, changed).unwrap();
    let changed = repository.run();
    assert!(
        said(&changed).starts_with("2 results wanted, 1 there."),
        "{}",
        said(&changed)
    );
}

#[test]
fn short_trials_choose_the_rate_of_a_whole_training() {
    let repository = Repository::new(20);
    let cell = repository.path("experiments/table1/30.toml");
    let short = fs::read_to_string(&cell)
        .unwrap()
        .replace("\nreadings", "\ntrial-steps = 5\nreadings");
    fs::write(&cell, short).unwrap();
    let output = repository.run();
    assert!(output.status.success(), "{}", said(&output));
    let result = repository.result("30");
    assert_eq!(result["steps"], 20);
    assert_eq!(result["settings"]["training"]["steps"], 20);
    let trials = result["trials"].as_array().unwrap();
    assert!(trials.iter().all(|trial| trial["steps"] == 5), "{trials:?}");
    let better = usize::from(
        trials[1]["validation"].as_f64().unwrap() < trials[0]["validation"].as_f64().unwrap(),
    );
    assert_eq!(
        result["settings"]["training"]["rate"],
        trials[better]["rate"]
    );
    assert!(result["validation"].as_f64() < trials[better]["validation"].as_f64());
    assert_eq!(said(&repository.run()).trim(), "2 results wanted, 2 there.");
}

#[test]
fn a_cell_that_was_stopped_goes_on_and_ends_the_same() {
    let [whole, stopped] = [(); 2].map(|()| Repository::new(60));
    assert!(whole.run().status.success());
    let mut stops = 0;
    for wait in [150, 300, 450] {
        let mut child = stopped.command().stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let id = child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
        stops += u32::from(child.wait().unwrap().code() == Some(143));
    }
    assert!(stops > 0, "none was stopped before its end");
    let output = stopped.run();
    assert!(output.status.success(), "{}", said(&output));
    for name in ["30", "pre-hoc-30", "50"] {
        assert_eq!(stopped.result(name), whole.result(name), "{name}");
    }
    // Only the models stay.
    let left = fs::read_dir(stopped.path("experiments/work")).unwrap();
    let mut left: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "table1-toy-v1-cssc-30-seed0.cssc",
            "table1-toy-v1-cssc-50-seed0.cssc"
        ]
    );
}

#[test]
fn the_report_has_the_papers_numbers_beside_ours() {
    let repository = Repository::new(10);
    assert!(repository.run().status.success());
    let page = repository.path("results.html");
    let output = Command::new(env!("CARGO_BIN_EXE_cssc"))
        .args(["report", "--repository"])
        .arg(repository.path(""))
        .arg("--html")
        .arg(&page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text
        .lines()
        .find(|line| line.starts_with("| cssc |"))
        .unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(
        (cells[2], cells[3], cells[5], cells[7]),
        ("-", "0.0247", "0.000457", "0.000128")
    );
    let ours = repository.result("30")["mse_all"].as_f64().unwrap();
    let printed: f64 = cells[4].trim_matches('*').parse().unwrap();
    assert!((printed / ours - 1.0).abs() < 0.01, "{printed} for {ours}");
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .contains("<td>0.000457</td>")
    );
}

#[test]
fn wrong_descriptions_are_refused_by_name() {
    let repository = Repository::new(10);
    let cell = repository.path("experiments/table1/30.toml");
    let good = fs::read_to_string(&cell).unwrap();
    for (from, to, words) in [
        (
            "method = \"cssc\"",
            "method = \"magic\"",
            "`method` is magic; give",
        ),
        ("steps = 10", "stops = 10", "unknown field `stops`"),
        (
            "observed = 30",
            "observed = 1",
            "`observed` is 1; give 2 to 100",
        ),
        ("hidden = 4", "hidden = 0", "hidden"),
        ("toy-v1", "toy-v9", "toy-v9"),
    ] {
        fs::write(&cell, good.replace(from, to)).unwrap();
        let output = repository.run();
        let message = said(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains("30.toml") && message.contains(words),
            "{message}"
        );
    }
    fs::remove_file(&cell).unwrap();
    let begun = Instant::now();
    let output = repository.run();
    assert!(
        said(&output).contains("which has no result yet"),
        "{}",
        said(&output)
    );
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// Every number of the page comes from a result that is committed.
#[test]
fn the_committed_page_is_made_of_the_committed_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO_BIN_EXE_cssc"))
        .args(["report", "--repository"])
        .arg(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = fs::read_to_string(root.join("docs/results.md")).unwrap();
    let made = String::from_utf8(output.stdout).unwrap();
    assert!(
        page == made,
        "docs/results.md is old: run `cargo run --release -- report --output docs/results.md`"
    );
}
