//! `corecast bench`, `cc`, `sim` and `measure coherence`: started as the program `corecast-bench`, which lies beside this one.
//!
//! The benchmarks are a program of their own because they are built from many rival libraries, and from generic code over every
//! channel and lock. A user who only measures, plans and races collectives does not build them.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::output::Output;
use crate::{benchmarks, file_limit};

/// Options of `bench`, `cc`, `sim` and `measure coherence`, which the benchmarks' program reads.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// The benchmark to run, with its options; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<OsString>,
}

/// Runs `corecast-bench` with `first` and these arguments in the place of this process. Returns only if it cannot.
pub(super) fn run(first: Option<&str>, arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let program = benchmarks::path()?;
    let mut command = Command::new(&program);
    command.args(output.options()).args(first).args(&arguments.rest);
    let wants_help = arguments.rest.iter().any(|word| word == "--help" || word == "-h");
    if wants_help && !program.exists() {
        return output.text(&benchmarks::summary());
    }
    file_limit::let_through()?;
    Err(not_started(&program, &command.exec()))
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    let path = program.display();
    if error.kind() == io::ErrorKind::NotFound {
        let words = format!("the benchmarks are a program of their own, and there is no {path}");
        return Failure::environment(words).with_help(benchmarks::BUILD);
    }
    Failure::environment(format!("cannot start {path}: {error}"))
}
