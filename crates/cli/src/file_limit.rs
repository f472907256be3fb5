//! The signal by which the system ends a program that writes more than its limit on the size of files allows.
//!
//! Held back, the write fails instead, so that the program can say which file is too large and remove what it began. A program
//! that is started inherits what is held back, so it is let through while `corecast run` starts one.

use nix::sys::signal::{SigSet, Signal};

use crate::failure::Failure;

/// Holds it back in this thread and those that it starts.
///
/// # Errors
/// A `Failure` with its exit code: bad input, or trouble of the environment.
pub fn hold() -> Result<(), Failure> {
    let held = set().thread_block();
    held.map_err(|error| Failure::environment(format!("cannot hold back SIGXFSZ: {error}")))
}

/// Lets it through again in this thread.
///
/// # Errors
/// A `Failure` with its exit code: bad input, or trouble of the environment.
pub fn let_through() -> Result<(), Failure> {
    let let_through = set().thread_unblock();
    let_through.map_err(|error| Failure::environment(format!("cannot let SIGXFSZ through: {error}")))
}

fn set() -> SigSet {
    std::iter::once(Signal::SIGXFSZ).collect()
}
