//! The program `corecast`: measures what messages between the CPUs of a machine cost, plans collectives for them, and
//! races the plans against what is used today.
//!
//! - `command_line`, `command`: what the user can ask for, one file per subcommand;
//! - `machine_args`, `cpus_arg`: which machine and which of its CPUs; `bytes_arg`: how long, and how much;
//! - `planner_args`, `cost_args`: who plans how hard, and which costs count; `bounding`, `comparison`: how good it is;
//! - `service_plan`: plans made by a plan service;
//! - `measuring`, `race_checks`, `drift`: measuring this machine, and checking the model by races; `meter` shows how far a long
//!   run is, `interrupt` stops it;
//! - `members`, `forwarding`: processes started as the members of a group, and signals passed on to them;
//! - `region_dirs`: where regions of shared memory are; `html_arg`: where a page goes;
//! - `output`, `printable`, `failure`: results, remarks, errors and exit codes; `file_limit`: files that grow too large;
//! - `own_program`, `plan_threads`: what is needed of the system to start processes, and threads that plan;
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
mod drift;
mod failure;
mod file_limit;
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
mod own_program;
mod plan_threads;
mod planner_args;
mod printable;
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
use crate::failure::Failure;
use crate::output::Output;

fn main() -> ExitCode {
    let line = match CommandLine::read() {
        Ok(line) => line,
        Err(told) => return end(output::usage(&told)),
    };
    let output = Output::new(line.json, line.quiet);
    end(file_limit::hold().and_then(|()| line.into_command().run(&output)).map(|()| ExitCode::SUCCESS))
}

/// Tells what went wrong, if something did.
fn end(done: Result<ExitCode, Failure>) -> ExitCode {
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
