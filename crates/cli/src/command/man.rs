//! `corecast man`: the manual pages of `corecast`, and with `--all` those of `corecast-bench`.

use std::path::Path;
use std::process::Command;

use crate::benchmarks;
use crate::failure::Failure;
use crate::manual::ManualArgs;
use crate::output::Output;

/// The pages of a program with this `command_line`.
pub(super) fn run(arguments: &ManualArgs, command_line: clap::Command, output: &Output) -> Result<(), Failure> {
    arguments.write(command_line, output)?;
    arguments.folder().map_or(Ok(()), |folder| write_benchmarks(folder, output))
}

/// Has the benchmarks' program write what belongs to it. It comes second: its page `corecast-bench` is that of a program, and
/// takes the place of the subcommand's.
fn write_benchmarks(folder: &Path, output: &Output) -> Result<(), Failure> {
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
