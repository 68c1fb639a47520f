use crate::destination;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cssc completions bash > ~/.local/share/bash-completion/completions/cssc\n  \
                  cssc completions zsh > ~/.zfunc/_cssc"
)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut crate::Arguments::command(),
            "cssc",
            &mut text,
        );
        destination::print(&text)
    }
}
