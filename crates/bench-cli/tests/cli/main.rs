//! The benchmarks' program as users run it: exit codes, standard output and error, files.
#![allow(clippy::print_stdout, reason = "a test that plays a launcher tells the one that started it")]

mod bad_input;
mod busy;
mod channels;
mod coherence;
mod collectives;
mod fields;
mod fitting;
mod generated;
mod interrupted;
mod locking;
mod models;
mod mpi;
mod nodes;
mod openmp;
#[path = "../../../cli/tests/cli/program.rs"]
#[allow(dead_code, reason = "what the other program's tests need of it")]
mod program;
mod replicas;
mod reports;
mod simulating;
mod stressing;
mod tables;
mod tracing;
mod transactions;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_corecast-bench");
