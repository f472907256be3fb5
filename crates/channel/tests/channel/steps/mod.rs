//! Calls that are interrupted for ever after each of their machine instructions, and the state that the dead end leaves at
//! every step.
//!
//! A forked child attaches to a region with a name and makes one call under `ptrace`, instruction by instruction
//! (`corecast_testing::stepped`); it is killed, and those who are left look at what they get (`scene`). No process that looks on
//! can tell two steps apart between which the shared memory did not change, so all that change it are tried, and as many others
//! as time allows.

#[cfg(target_arch = "x86_64")]
mod ff;
#[cfg(target_arch = "x86_64")]
mod mcast;
#[cfg(target_arch = "x86_64")]
mod scene;
#[cfg(target_arch = "x86_64")]
mod stopped;
#[cfg(target_arch = "x86_64")]
mod ump;

/// Tells what a test has to say besides that it passed.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::print_stderr, reason = "the only way for a test to say so")]
fn say(what: &str) {
    eprintln!("{what}");
}

/// Why there are no steps to look at. Other tests kill processes at random points.
#[cfg(target_arch = "x86_64")]
const NOT_TRACED: &str = "processes may not be traced here";

#[cfg(not(target_arch = "x86_64"))]
#[test]
fn skipped_on_this_cpu() {
    corecast_testing::skipped("calls step by step", "on x86-64 only; elsewhere processes are killed at random points");
}
