//! The program `corecast-bench`, which `corecast bench` and `corecast cc` start: races of corecast against what people use
//! today, load tests, and what single operations on a cache line cost.
//!
//! - `command`: what the user can ask for, one file per benchmark;
//! - `channel_text`, `coherence_text` with `coherence_grid`, `flips_text`, `readers_text`, `published_text`,
//!   `lock_situation`: results in a terminal; `page`: as pages, which `html_arg` writes;
//! - what it shares with `corecast` (output, errors, interruption, tables, drawing) is in the library of that program.

mod channel_text;
mod coherence_grid;
mod coherence_text;
mod command;
mod flips_text;
mod html_arg;
mod lock_situation;
mod page;
mod published_text;
mod readers_text;

use std::process::ExitCode;

use clap::Parser;
use corecast_cli::output::{self, Output};
use corecast_cli::{command_line, end, file_limit};

/// Races corecast against what people use today, and runs its load tests.
#[derive(Debug, Parser)]
#[command(name = "corecast-bench", bin_name = "corecast bench", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 trouble of the environment, 2 bad input, 130 interrupted.")]
struct CommandLine {
    /// Print results as JSON with documented fields.
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,
    /// Print results and errors only, neither progress nor remarks.
    #[arg(long, short, global = true, help_heading = "Output")]
    quiet: bool,
    #[command(subcommand)]
    benchmark: command::Benchmark,
}

fn main() -> ExitCode {
    let line: CommandLine = match command_line::parse() {
        Ok(line) => line,
        Err(told) => return end(output::usage(&told)),
    };
    let output = Output::new(line.json, line.quiet);
    end(file_limit::hold().and_then(|()| line.benchmark.run(&output)).map(|()| ExitCode::SUCCESS))
}
