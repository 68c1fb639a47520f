//! `cssc bench`: times fixed workloads on made data.

use crate::destination::Destination;
use crate::failure::Failure;
use cssc::nn::InstructionSet;
use cssc_experiments::workload::{Workload, write_arrays};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Time fixed workloads of the engine on made data
///
/// Workloads: field, ode-rnn, cssc-10, cssc-30, cssc-50, hidden-10, hidden-30, hidden-50, infer, ragged, load,
/// and cssc-dN, hidden-dN for N = 1, 10, 100, 1000 channels.
/// scripts/bench-peers compares them with PyTorch and JAX in one run. The environment variable
/// CSSC_SIMD=scalar|avx2|avx512 chooses the vector instructions, which are the best of the processor otherwise.
///
/// Example: cssc bench --threads 2 field ode-rnn
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to time; all if none is named
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Timed iterations, after three to warm up
    #[arg(long, default_value_t = 15)]
    repeats: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Do not time: write inputs, loss and gradients of each workload to DIR/WORKLOAD.safetensors
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
    #[command(flatten)]
    destination: Destination,
}

#[derive(Serialize)]
struct Timing {
    workload: String,
    threads: usize,
    instructions: &'static str,
    min_ms: f64,
    median_ms: f64,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let all = || {
            Workload::ALL
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect()
        };
        let names: Vec<String> = if self.workloads.is_empty() {
            all()
        } else {
            self.workloads.clone()
        };
        if self.repeats == 0 {
            return Err(Failure::new("--repeats must be at least 1"));
        }
        let threads = rayon::current_num_threads();
        let timings = names
            .iter()
            .filter_map(|name| self.one(name, threads).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        self.print(&timings)
    }

    fn one(&self, name: &str, threads: usize) -> Result<Option<Timing>, Failure> {
        let workload = Workload::named(name).ok_or_else(|| {
            let known: Vec<&str> = Workload::ALL.iter().map(|(name, _)| *name).collect();
            Failure::new(format!(
                "unknown workload `{name}`; known: {}",
                known.join(", ")
            ))
        })?;
        let mut program = workload.prepare();
        if let Some(directory) = &self.check {
            let path = directory.join(format!("{name}.safetensors"));
            write_arrays(&path, &program.arrays().map_err(failed)?)
                .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
            return Ok(None);
        }
        for _ in 0..3 {
            program.run().map_err(failed)?;
        }
        let mut times = Vec::with_capacity(self.repeats);
        for _ in 0..self.repeats {
            let start = Instant::now();
            program.run().map_err(failed)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let workload = name.to_owned();
        let median_ms = times[times.len() / 2];
        Ok(Some(Timing {
            workload,
            threads,
            instructions: InstructionSet::in_use().name(),
            min_ms: times[0],
            median_ms,
        }))
    }

    fn print(&self, timings: &[Timing]) -> Result<(), Failure> {
        if self.check.is_some() {
            return Ok(());
        }
        let text = if self.json {
            serde_json::to_string_pretty(timings).expect("numbers and names") + "\n"
        } else {
            let mut text = format!(
                "{:12} {:>7} {:>12} {:>10} {:>10}\n",
                "workload", "threads", "instructions", "min ms", "median ms"
            );
            for t in timings {
                text += &format!(
                    "{:12} {:>7} {:>12} {:>10.2} {:>10.2}\n",
                    t.workload, t.threads, t.instructions, t.min_ms, t.median_ms
                );
            }
            text
        };
        self.destination
            .write(|writer| writer.write_all(text.as_bytes()))
    }
}

fn failed(error: cssc::Error) -> Failure {
    Failure::new(error.to_string())
}
