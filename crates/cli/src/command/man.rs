//! `corecast man`: manual pages, from the same definitions that parse the command line.

use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;
use crate::output::Output;
use crate::{benchmarks, manual};

/// Options of `man`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The subcommand to write the page of [default: corecast itself].
    command: Option<String>,
    /// Write the pages of all subcommands and the completion scripts of all shells into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    all: Option<PathBuf>,
}

/// The pages of a program with this `command_line`.
pub(super) fn run(arguments: &Arguments, command_line: clap::Command, output: &Output) -> Result<(), Failure> {
    let Some(folder) = &arguments.all else {
        return output.bytes(&manual::page(command_line, arguments.command.as_deref())?);
    };
    manual::write_pages(command_line.clone(), folder)?;
    manual::write_completions(command_line, folder)?;
    let program = benchmarks::path()?;
    if !program.exists() {
        output.remark(&format!("the benchmarks have no pages without corecast-bench: {}", benchmarks::BUILD));
        return Ok(());
    }
    let status = Command::new(&program).args(["man", "--all"]).arg(folder).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::environment(format!("{} wrote no manual pages: {status}", program.display()))),
        Err(error) => Err(Failure::environment(format!("cannot start {}: {error}", program.display()))),
    }
}
