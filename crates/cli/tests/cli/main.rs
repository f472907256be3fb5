//! The program as users run it: exit codes, standard output and error, files.
#![allow(clippy::print_stdout, reason = "a test that plays a launcher tells the one that started it")]

mod bad_input;
mod busy;
mod channels;
mod closed_output;
mod coherence;
mod collectives;
mod comparing;
mod explaining;
mod file_limit;
mod generated;
mod hostile_names;
mod interrupted;
mod limits;
mod locking;
mod measuring;
mod picturing;
mod planning;
mod program;
mod regions;
mod rings;
mod running;
mod serving;
mod stressing;
mod system_tree;
mod tables;
mod terminal;
mod topology;
mod tuning;
