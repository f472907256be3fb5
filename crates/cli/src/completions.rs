//! `completions` of every program: what a shell needs to complete the command line, from the definition that parses it.

use std::path::Path;

use clap::ValueEnum;
use clap_complete::Shell;

use crate::failure::{Failure, NotWritten};
use crate::output::Output;

/// Options of `completions`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell to write for.
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the script of a program with this command line.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(&self, mut program: clap::Command, output: &Output) -> Result<(), Failure> {
        let name = program.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, name, &mut script);
        output.bytes(&script)
    }
}

/// Writes a completion script for every shell into a folder.
pub(crate) fn write_all(mut program: clap::Command, folder: &Path) -> Result<(), NotWritten> {
    let name = program.get_name().to_owned();
    for &shell in Shell::value_variants() {
        let written = clap_complete::generate_to(shell, &mut program, &name, folder);
        written.map_err(|error| NotWritten { what: "the completion scripts", path: folder.to_owned(), error })?;
    }
    Ok(())
}
