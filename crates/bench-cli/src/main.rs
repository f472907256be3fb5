//! The program `corecast-bench`, which `corecast bench`, `corecast cc` and `corecast sim` start: races of corecast against what
//! people use today, load tests, what single operations on a cache line cost, and corecast's own code on simulated machines.
//!
//! - `command`: what the user can ask for, one file per benchmark;
//! - `channel_text`, `coherence_text` with `coherence_grid`, `flips_text`, `readers_text`, `published_text`,
//!   `lock_situation`, `tm_situation`: results in a terminal; `columns`: the tables of terminal and pages; `page`: results as
//!   pages, which `html_arg` writes; `tell`: results as text or as JSON;
//! - `simulated`: which machine is simulated, the points of a sweep, and their figures;
//! - what it shares with `corecast` (output, errors, interruption, tables, drawing) is in the library of that program.

mod channel_text;
mod coherence_grid;
mod coherence_text;
mod columns;
mod command;
mod flips_text;
mod html_arg;
mod lock_situation;
mod page;
mod published_text;
mod readers_text;
mod simulated;
mod svg_arg;
mod tell;
mod tm_situation;

use std::process::ExitCode;

use clap::Parser;
use corecast_cli::output::{self, Output};
use corecast_cli::{command_line, end, file_limit};

/// Races corecast against what people use today, and runs its load tests.
#[derive(Debug, Parser)]
#[command(name = "corecast-bench", bin_name = "corecast bench", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 trouble of the environment, 2 bad input, 130 interrupted.\n\nExamples:\n  corecast bench locks --quick\n  corecast bench collectives --op barrier --html race.html"
)]
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use corecast_cli::{benchmarks, manual};

    use super::*;

    #[test]
    fn the_program_and_every_benchmark_have_an_example_that_parses() {
        let program = CommandLine::command();
        let shown = program.get_subcommands().filter(|benchmark| !benchmark.is_hide_set());
        for benchmark in shown.chain([&program]) {
            let examples = manual::examples(benchmark);
            assert!(!examples.is_empty(), "{}", benchmark.get_name());
            for example in examples {
                let words = example
                    .split_whitespace()
                    .skip(1)
                    .map(|word| if word == "bench" { "corecast-bench" } else { word });
                let words: Vec<&str> = words.collect();
                let words =
                    if ["cc", "sim"].contains(&words[0]) { [&["corecast-bench"], &words[..]].concat() } else { words };
                CommandLine::try_parse_from(words).unwrap_or_else(|error| panic!("{example}: {error}"));
            }
        }
    }

    #[test]
    fn corecast_knows_the_names_of_all_benchmarks() {
        const OTHERS: [&str; 4] = ["cc", "sim", "completions", "man"];
        let program = CommandLine::command();
        let shown = program.get_subcommands().filter(|benchmark| !benchmark.is_hide_set());
        let names: Vec<&str> = shown.map(clap::Command::get_name).filter(|name| !OTHERS.contains(name)).collect();
        assert_eq!(names, benchmarks::NAMES);
    }
}
