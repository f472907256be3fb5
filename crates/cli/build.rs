//! Tells the program which commit it was built from, so that a benchmark's JSON can say what it measured. Outside a git
//! checkout, or without git, it tells nothing.

#![allow(clippy::print_stdout, reason = "a build script talks to cargo this way")]

use std::process::Command;

fn main() {
    // The log of HEAD grows with every commit and checkout; a file that is not there only means to look each time.
    println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
    let asked = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    if let Some(output) = asked.ok().filter(|output| output.status.success()) {
        println!("cargo::rustc-env=CORECAST_COMMIT={}", String::from_utf8_lossy(&output.stdout).trim());
    }
}
