//! The program `corecast`: measures what messages between the CPUs of a machine cost, plans collectives for them, and
//! races the plans against what is used today.
//!
//! - `command_line`, `command`: what the user can ask for, one file per subcommand; `manual`, `completions`: what follows
//!   from that definition;
//! - `machine_args`, `cpus_arg`: which machine and which of its CPUs; `bytes_arg`, `number_arg`: how long, and how many;
//! - `planner_args`, `cost_args`: who plans how hard, and which costs count; `bounding`, `comparison`: how good it is;
//! - `service_plan`: plans made by a plan service;
//! - `measuring`, `model_source`, `added_costs`: measuring this machine, getting its model, and adding to it; `race_checks`,
//!   `drift`: checking the model by races; `meter` shows how far a long
//!   run is, `interrupt` stops it;
//! - `members`, `forwarding`: processes started as the members of a group, and signals passed on to them;
//! - `shim`, `shim_args`: preload objects under programs that were not built with corecast;
//! - `region_dirs`: where regions of shared memory are; `html_arg`: where a page goes;
//! - `output`, `printable`, `failure`: results, remarks, errors and exit codes; `file_limit`: files that grow too large;
//! - `own_program`: starts processes of this program;
//! - `kv`: a replicated store, served in the protocol of Redis;
//! - `resolution`: figures that a timer cannot tell;
//! - `screen`, `shade`, `table`, `skipped`, `row_outcome`: how wide the screen is, colours, tables, and contenders without
//!   a figure;
//! - `nesting`, `box_text`, `cost_matrix`: the machine as boxes in boxes, and its costs from core to core;
//! - `machine_text`, `race_text`, `gate_text`, `tree_text`, `report`: how results are shown.

pub mod added_costs;
pub mod benchmarks;
mod bounding;
mod box_text;
pub mod bytes_arg;
mod cluster;
mod command;
pub mod command_line;
mod comparison;
pub mod completions;
mod cost_args;
mod cost_matrix;
mod cpus_arg;
mod dot;
mod drift;
pub mod failure;
pub mod file_limit;
mod form;
mod forwarding;
pub mod gate_text;
pub mod interrupt;
mod kv;
mod levels;
pub mod machine_args;
mod machine_text;
pub mod manual;
mod measuring;
mod members;
pub mod meter;
mod model_source;
mod nesting;
pub mod number_arg;
pub mod output;
pub mod own_program;
pub mod planner_args;
pub mod printable;
mod race_checks;
mod race_json;
pub mod race_text;
mod region_dirs;
pub mod report;
pub mod resolution;
pub mod row_outcome;
pub mod screen;
mod service_plan;
mod shade;
pub mod shim;
mod shim_args;
pub mod skipped;
pub mod table;
pub mod target_folder;
mod tree_text;

use std::process::ExitCode;

use clap::CommandFactory;

use crate::command_line::CommandLine;
use crate::failure::Failure;
use crate::output::Output;

/// The program `corecast`, from its command line to its exit code.
#[must_use]
pub fn run() -> ExitCode {
    let line = match CommandLine::read() {
        Ok(line) => line,
        Err(told) => return end(output::usage(&told)),
    };
    let output = Output::new(line.json, line.quiet);
    end(file_limit::hold()
        .and_then(|()| line.into_command().run(CommandLine::command(), &output))
        .map(|()| ExitCode::SUCCESS))
}

/// Prints why a program stops early, if it does.
#[must_use]
pub fn end(done: Result<ExitCode, Failure>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(failure) => {
            let code = failure.exit_code();
            if failure.is_worth_telling() {
                output::complain(failure);
            }
            code
        }
    }
}
