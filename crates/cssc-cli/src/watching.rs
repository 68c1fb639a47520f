//! A training as people see it: a bar on a terminal, a line every few seconds elsewhere, events for programs.

use crate::signals;
use cssc::train::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What takes less than this is not worth a word.
const BEFORE_FIRST_LINE: Duration = Duration::from_secs(2);
/// Between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// How much is said.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "What is said")]
pub(crate) struct Verbosity {
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Tell progress as JSON, one event a line, on standard error
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

impl Verbosity {
    /// A sentence for people, an event for programs.
    pub(crate) fn note(self, text: &str) {
        if self.json {
            event(&json!({ "event": "note", "text": text }));
        } else if !self.quiet {
            line(text);
        }
    }

    /// Text that is laid out for people.
    pub(crate) fn text(self, text: &str) {
        if !self.json && !self.quiet {
            line(text);
        }
    }

    /// Something for programs only.
    pub(crate) fn event(self, value: &serde_json::Value) {
        if self.json {
            event(value);
        }
    }
}

fn line(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(std::io::stderr(), "{}", crate::failure::printable(text));
}

fn event(value: &serde_json::Value) {
    let escaped = |letter: char| match letter {
        // JSON leaves these as they are, a terminal obeys them.
        '\u{7f}'..='\u{9f}' => format!("\\u{:04x}", u32::from(letter)),
        _ => letter.to_string(),
    };
    line(&value.to_string().chars().map(escaped).collect::<String>());
}

/// Says from time to time how something goes that may take long, and nothing if it does not.
pub(crate) struct Pulse {
    verbosity: Verbosity,
    next: Mutex<Instant>,
}

impl Pulse {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let next = Mutex::new(Instant::now() + BEFORE_FIRST_LINE);
        Self { verbosity, next }
    }

    /// To be called often, from any thread.
    pub(crate) fn tell(&self, text: impl FnOnce() -> String) {
        let Ok(mut next) = self.next.try_lock() else {
            return; // another thread is just telling
        };
        if Instant::now() >= *next {
            *next = Instant::now() + BETWEEN_LINES;
            self.verbosity.note(&text());
        }
    }
}

/// Says from time to time that something still goes on of which nothing more is known, until it is dropped.
pub(crate) struct Waiting {
    /// Closed when there is nothing to wait for any more.
    end: Option<Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl Waiting {
    pub(crate) fn new(verbosity: Verbosity, what: &'static str) -> Self {
        let (end, ended) = channel();
        let teller = std::thread::spawn(move || {
            let (began, mut pause) = (Instant::now(), BEFORE_FIRST_LINE);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                verbosity.note(&format!("{what}, {seconds} s so far"));
                pause = BETWEEN_LINES;
            }
        });
        Self {
            end: Some(end),
            teller: Some(teller),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end.take();
        // It only prints; should it have failed, there is nothing to be done.
        let _ = self.teller.take().map(JoinHandle::join);
    }
}

/// One training on display.
pub(crate) struct Watch {
    verbosity: Verbosity,
    name: String,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    /// The first step that was seen, and when.
    first: (u64, Instant),
    loss: f64,
    validation: Option<f64>,
}

impl Watch {
    /// Of the model called `model`.
    pub(crate) fn new(verbosity: Verbosity, model: &str) -> Self {
        let name = format!("training {model}");
        let bar =
            (!verbosity.quiet && !verbosity.json && std::io::stderr().is_terminal()).then(|| {
                let style = "{prefix} {bar:30} {pos}/{len} {msg}  {per_sec}  {eta} left";
                let style = ProgressStyle::with_template(style).expect("the template is correct");
                let style = style.with_key(
                    "per_sec",
                    |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                        let _ = write!(out, "{:.1} steps/s", state.per_sec());
                    },
                );
                ProgressBar::new(0)
                    .with_style(style)
                    .with_prefix(name.clone())
            });
        Self {
            verbosity,
            name,
            bar,
            last_line: None,
            first: (0, Instant::now()),
            loss: f64::NAN,
            validation: None,
        }
    }

    /// To be called after every step.
    pub(crate) fn step(&mut self, progress: &Progress) -> ControlFlow<()> {
        if self.first.0 == 0 {
            self.first = (progress.step, Instant::now());
        }
        if progress.loss.is_finite() {
            // The loss of single batches jumps about.
            self.loss = if self.loss.is_nan() {
                progress.loss
            } else {
                0.95 * self.loss + 0.05 * progress.loss
            };
        }
        if let Some(scores) = progress.validation {
            self.validation = Some(scores.mse_all);
        }
        if let Some(times) = progress.recovered {
            self.verbosity.note(&format!(
                "step {}: a number was not finite; the step was undone and the rate halved ({times} so far).",
                progress.step
            ));
        }
        self.show(progress);
        if signals::stopped_by().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn show(&mut self, progress: &Progress) {
        let last = progress.step == progress.steps;
        if let Some(bar) = &self.bar {
            bar.set_length(progress.steps);
            bar.set_position(progress.step);
            bar.set_message(self.message());
        } else if self.verbosity.json {
            if progress.validation.is_some()
                || progress.recovered.is_some()
                || self.is_time()
                || last
            {
                event(&json!({
                    "event": "step", "training": self.name, "step": progress.step, "steps": progress.steps,
                    "loss": progress.loss, "rate": progress.rate,
                    "validation": progress.validation.map(|scores| scores.mse_all),
                    "seconds": progress.elapsed.as_secs_f64(),
                }));
            }
        } else if !self.verbosity.quiet && (self.is_time() || last) {
            let text = format!(
                "{}: step {} of {}, {}{}",
                self.name,
                progress.step,
                progress.steps,
                self.message(),
                self.speed(progress)
            );
            line(&text);
        }
    }

    /// Since the first step that was seen, so nothing at that one.
    fn speed(&self, progress: &Progress) -> String {
        let (first, since) = self.first;
        if progress.step <= first {
            return String::new();
        }
        let speed = (progress.step - first) as f64 / since.elapsed().as_secs_f64().max(1e-9);
        let left = (progress.steps - progress.step) as f64 / speed;
        format!(", {speed:.1} steps/s, {left:.0} s left")
    }

    fn is_time(&mut self) -> bool {
        let due = self
            .last_line
            .is_none_or(|last| last.elapsed() >= BETWEEN_LINES);
        if due {
            self.last_line = Some(Instant::now());
        }
        due
    }

    fn message(&self) -> String {
        let validation = self
            .validation
            .map(|error| format!(", validation {error:.3e}"));
        format!("loss {:.3e}{}", self.loss, validation.unwrap_or_default())
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
