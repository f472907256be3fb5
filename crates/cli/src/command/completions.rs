//! `corecast completions`: what a shell needs to complete the command line, from the same definitions that parse it.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::command_line::CommandLine;
use crate::failure::Failure;
use crate::output::Output;

/// Options of `completions`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell to write for.
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "corecast", &mut script);
    output.bytes(&script)
}
