//! Prints the contents of a machine's system files as a table for `machines/systems/`.
//!
//! Run it on the machine itself, `cargo run --package corecast-machine --example capture_system > NAME.txt`, or give it
//! the root folder of a captured tree. The README of `machines/` says what else belongs into the file.
#![allow(clippy::print_stdout, reason = "this is a program")]

#[allow(dead_code, reason = "the tests read tables, this writes one")]
#[path = "../tests/discovery/table.rs"]
mod table;

use std::path::PathBuf;

fn main() {
    let root = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("/"), PathBuf::from);
    print!("{}", table::render(&table::collect(&root)));
}
