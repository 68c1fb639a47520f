use crate::failure::{Failure, failure_from};
use crate::outputs::{self, Output};
use cssc_experiments::results::Results;
use std::path::PathBuf;

/// Render the results of cssc reproduce beside the paper's numbers
///
/// Markdown goes to standard output or to --output, a page to --html.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cssc report --output docs/results.md --html results.html")]
pub(crate) struct Arguments {
    /// The repository, with experiments and docs
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    repository: PathBuf,

    /// Markdown file; standard output if it is left out
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let flags = [
            ("--output", self.output.as_deref()),
            ("--html", self.html.as_deref()),
        ];
        outputs::check(&[], &Output::given(&flags), None)?;
        let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "html");
        if let Some(path) = self.output.as_ref().filter(|path| is_page(path)) {
            return Err(Failure::new(format!(
                "-o {} would hold Markdown. Give --html for a page.",
                path.display()
            )));
        }
        let results = Results::read(&self.repository).map_err(|error| failure_from(&error))?;
        if results.is_empty() {
            return Err(Failure::new(format!(
                "{} holds no results. `cssc reproduce table1` makes them.",
                self.repository.join("experiments").display()
            )));
        }
        let write = |path: &PathBuf, text: String| {
            cssc::io::write_whole(path, |file| file.write_all(text.as_bytes()))
                .map_err(|error| Failure::new(format!("cannot write {}: {error}.", path.display())))
        };
        if let Some(path) = &self.html {
            write(path, results.html())?;
        }
        match &self.output {
            Some(path) => write(path, results.markdown()),
            None => crate::destination::print(results.markdown().as_bytes()),
        }
    }
}
