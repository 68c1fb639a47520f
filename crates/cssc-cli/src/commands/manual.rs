use crate::failure::Failure;
use clap::CommandFactory;
use std::path::PathBuf;

/// Write the manual pages (man) of all commands into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cssc manual ~/.local/share/man/man1 && man cssc-fill")]
pub(crate) struct Arguments {
    /// The directory; it is made if it is not there
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(format!(
                "cannot write manual pages to {}: {error}. Give a directory you may write to.",
                self.directory.display()
            ))
        };
        std::fs::create_dir_all(&self.directory).map_err(failed)?;
        clap_mangen::generate_to(crate::Arguments::command(), &self.directory).map_err(failed)
    }
}
