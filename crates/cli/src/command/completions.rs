//! `corecast completions`: scripts for shells that complete the command line, made from the definitions that parse it.

use clap_complete::Shell;

use crate::failure::Failure;
use crate::output::Output;

/// Options of `completions`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell to write for.
    shell: Shell,
}

/// The script of a program with this `command_line`.
pub(super) fn run(arguments: &Arguments, mut command_line: clap::Command, output: &Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_line, "corecast", &mut script);
    output.bytes(&script)
}
