//! `corecast-bench man`: the manual pages of the benchmarks.

use std::path::PathBuf;

use clap::CommandFactory;
use corecast_cli::failure::Failure;
use corecast_cli::manual;
use corecast_cli::output::Output;

use crate::CommandLine;

/// Options of `man`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The benchmark to write the page of [default: corecast-bench itself].
    benchmark: Option<String>,
    /// Write the pages of all benchmarks into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "benchmark")]
    all: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        match &self.all {
            None => output.bytes(&manual::page(CommandLine::command(), self.benchmark.as_deref())?),
            Some(folder) => Ok(manual::write_pages(CommandLine::command(), folder)?),
        }
    }
}
