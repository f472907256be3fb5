//! The program `corecast`: measures what messages between the CPUs of a machine cost, plans collectives for them, and
//! races the plans against what is used today.
//!
//! - `command_line`, `command`: what the user can ask for, one file per subcommand;
//! - `machine_args`, `cpus_arg`: which machine and which of its CPUs; `bytes_arg`: how long, and how much;
//! - `planner_args`, `cost_args`: who plans how hard, and which costs count; `bounding`, `comparison`: how good it is;
//! - `service_plan`: plans made by a plan service;
//! - `measuring`, `race_checks`: measuring this machine, and checking the model by races; `meter` shows how far a long
//!   run is, `interrupt` stops it;
//! - `members`, `forwarding`: processes started as the members of a group, and signals passed on to them;
//! - `region_dirs`: where regions of shared memory are; `html_arg`: where a page goes;
//! - `output`, `failure`: results, remarks, errors and exit codes;
//! - `machine_text`, `race_text`, `gate_text`, `tree_text`, `coherence_grid`, `coherence_text`, `table`, `skipped`,
//!   `row_outcome`, `report`: how results are shown.

mod bounding;
mod bytes_arg;
mod channel_text;
mod coherence_grid;
mod coherence_text;
mod command;
mod command_line;
mod comparison;
mod cost_args;
mod cpus_arg;
mod dot;
mod failure;
mod flips_text;
mod forwarding;
mod gate_text;
mod html_arg;
mod interrupt;
mod levels;
mod lock_situation;
mod machine_args;
mod machine_text;
mod measuring;
mod members;
mod meter;
mod output;
mod planner_args;
mod published_text;
mod race_checks;
mod race_text;
mod readers_text;
mod region_dirs;
mod report;
mod row_outcome;
mod service_plan;
mod skipped;
mod table;
mod target_folder;
mod tree_text;

use std::process::ExitCode;

use crate::command_line::CommandLine;
use crate::output::Output;

fn main() -> ExitCode {
    let line = CommandLine::read().unwrap_or_else(|error| error.exit());
    let output = Output::new(line.json, line.quiet);
    match line.into_command().run(&output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let code = failure.exit_code();
            if failure.is_worth_telling() {
                output::complain(failure);
            }
            code
        }
    }
}
