//! Runs the real binary, each time in a fresh directory of its own.

#![allow(dead_code, reason = "each test file uses its part of these helpers")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A directory with the input files of one test, removed when the test ends.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

/// What the command left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program under test: the one that was just built, or `CSSC_PROGRAM`, to see what another one does.
pub(crate) fn program() -> std::ffi::OsString {
    std::env::var_os("CSSC_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_cssc").into())
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory can be made"),
        }
    }

    /// A place with one input file.
    pub(crate) fn with(name: &str, content: &str) -> Self {
        let place = Self::new();
        place.put(name, content);
        place
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).expect("the place is writable");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the command wrote it")
    }

    /// A command that has not been started yet, for tests that need their own pipes.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.directory.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with_input(arguments, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // A command that fails early may not read all of it.
        let _ = child
            .stdin
            .take()
            .expect("stdin is piped")
            .write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the binary ends");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("results are UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }

    /// The names of all files here, sorted: shows what a command left lying around.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).expect("the place can be listed");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .into_string()
                    .expect("names are UTF-8")
            })
            .collect();
        names.sort();
        names
    }
}

impl Outcome {
    /// Standard output of a command that succeeded without a word on standard error.
    pub(crate) fn result(&self) -> &str {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (Some(0), ""),
            "{}",
            self.stdout
        );
        &self.stdout
    }

    /// The one line on standard error of a command that could not run.
    pub(crate) fn complaint(&self) -> &str {
        assert_eq!(
            (self.code, self.stdout.as_str()),
            (Some(2), ""),
            "{}",
            self.stderr
        );
        let message = self
            .stderr
            .strip_prefix("error: ")
            .expect("starts with error:");
        assert!(
            !message.trim_end().contains('\n'),
            "one paragraph, not {message:?}"
        );
        message.trim_end()
    }
}
