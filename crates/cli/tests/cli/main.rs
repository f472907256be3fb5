//! The program as users run it: exit codes, standard output and error, files.
#![allow(clippy::print_stdout, reason = "a test that plays a launcher tells the one that started it")]

mod bad_input;
mod benchmarks;
mod closed_output;
mod clusters;
mod comparing;
mod explaining;
mod file_limit;
mod generated;
mod hostile_names;
mod interrupted;
mod limits;
mod measuring;
mod picturing;
mod planning;
#[allow(dead_code, reason = "what the other program's tests need of it")]
mod program;
mod regions;
mod rings;
mod running;
mod screen;
mod serving;
mod shims;
mod store;
mod system_tree;
mod terminal;
mod topology;
mod tuning;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_corecast");
